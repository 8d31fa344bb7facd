"""The task and the client of the Dask way. The Python that has Dask runs it:

    python dask_tasks.py serve SLOTS     runs a scheduler and so many workers until SIGTERM
    python dask_tasks.py run COUNT       runs so many tasks: the seconds from sending the first to having all results

BENCH_SCHEDULER is the file with the scheduler's address.
"""

import os
import signal
import subprocess
import sys
import time

import distributed

FILE = os.environ["BENCH_SCHEDULER"]


def noop(n):
    return subprocess.call(["true", f"--n={n}"])  # as run-tasks calls it: with one argument it does more than with none


def serve(slots):
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    with distributed.LocalCluster(n_workers=slots, threads_per_worker=1, dashboard_address=None) as cluster:
        with open(FILE + ".new", "w") as f:
            f.write(cluster.scheduler_address)
        os.rename(FILE + ".new", FILE)
        while True:
            signal.pause()


def run(count):
    import dask_tasks  # the workers import it, too: a function of __main__ would travel with every task
    with open(FILE) as f, distributed.Client(f.read()) as client:
        client.submit(dask_tasks.noop, -1, pure=False).result()  # so that every connection is there
        begin = time.monotonic()
        codes = client.gather(client.map(dask_tasks.noop, range(count), pure=False))
        seconds = time.monotonic() - begin
    if any(codes):
        sys.exit(f"{sum(map(bool, codes))} tasks failed")
    return seconds


if __name__ == "__main__":
    said = {"run": run, "serve": serve}[sys.argv[1]](int(sys.argv[2]))
    print(said)
