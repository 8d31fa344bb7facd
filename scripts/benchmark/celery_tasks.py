"""The task and the client of the Celery ways. The Python that has Celery runs it: the worker imports it, the client is

    python celery_tasks.py run COUNT     runs so many tasks: the seconds from sending the first to having all results
    python celery_tasks.py send COUNT    sends as many to a queue that nobody reads: the seconds

BENCH_BROKER is the broker's folder, BENCH_RESULTS the URL where results go, BENCH_QUEUE the name of the queue.
"""


import os
import sqlite3
import subprocess
import sys
import time

import celery
import celery.result

LIMIT = 600  # seconds


def address(folder):
    with open(os.path.join(folder, "url")) as f, open(os.path.join(folder, "credentials")) as g:
        return f.read().strip().replace("://", f"://{g.read().strip()}@") + "/"  # the virtual host /, as kombu writes it


results = os.environ["BENCH_RESULTS"]
app = celery.Celery("bench", broker=address(os.environ["BENCH_BROKER"]), backend=results)
app.conf.update(
    task_acks_late=True,
    worker_prefetch_multiplier=1,
    broker_transport_options={"confirm_publish": True},
    task_default_queue=os.environ["BENCH_QUEUE"],  # durable, and its messages persistent, unless told otherwise
)


@app.task(name="noop")
def noop(n):
    return subprocess.call(["true", f"--n={n}"])  # as run-tasks calls it: with one argument it does more than with none


def until_stored(database, count):
    """Waits for count results in SQLite, and counts them there: to ask Celery for each would cost more than to make them."""
    end = time.monotonic() + LIMIT
    while (have := stored(database)) < count:
        if time.monotonic() > end:
            sys.exit(f"{have} results of {count} after {LIMIT} s")
        time.sleep(0.01)


def stored(database):
    return database.execute("SELECT count(*) FROM celery_taskmeta WHERE status = 'SUCCESS'").fetchone()[0]


def send(count):
    parked = app.conf.task_default_queue + "-parked"
    try:
        noop.apply_async((-1,), queue=parked)  # so that the connection and the queue are there
        begin = time.monotonic()
        for n in range(count):
            noop.apply_async((n,), queue=parked)
        return time.monotonic() - begin
    finally:
        with app.connection() as connection:
            connection.default_channel.queue_delete(parked)


def run(count):
    noop.delay(-1).get(timeout=60)  # so that the connection, the worker and, in SQLite, the tables are there
    file = results.partition("sqlite:///")[2]
    database = sqlite3.connect(file) if file else None
    before = stored(database) if file else 0

    begin = time.monotonic()
    sent = [noop.delay(n) for n in range(count)]
    if file:
        until_stored(database, before + count)
    else:
        celery.result.ResultSet(sent).join_native(timeout=LIMIT)
    return time.monotonic() - begin


if __name__ == "__main__":
    print({"run": run, "send": send}[sys.argv[1]](int(sys.argv[2])))
