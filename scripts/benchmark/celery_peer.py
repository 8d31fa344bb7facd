"""Celery with RabbitMQ: late acknowledgement, durable queue, publisher confirms and results, on a worker that is warm."""

import os
import sqlite3

from bystanders import call, python_with
from machine import output
from ways import SLOTS, Way

HERE = os.path.dirname(os.path.abspath(__file__))
PACKAGES = "python3-celery python3-sqlalchemy"


class Celery(Way):
    """One worker with its own queue. Each task is one `true`, of which only the exit code is kept."""

    sent = "durable queue, persistent messages, confirms, late acknowledgement; "

    def start(self, site):
        python = python_with(self.needs, PACKAGES)
        broker, version = site.need_broker()
        queue = "celery-" + self.results(site)[0]
        self.command = [python, os.path.join(HERE, "celery_tasks.py")]
        self.environment = dict(os.environ, BENCH_BROKER=broker, BENCH_RESULTS=self.results(site)[1], BENCH_QUEUE=queue,
                                PYTHONPATH=HERE, PYTHONDONTWRITEBYTECODE="1")
        # Gossip and mingle are how workers get to know each other; without them it is a little faster.
        self.worker = site.serve(f"{self.name} worker", [
            python, "-m", "celery", "-A", "celery_tasks", "worker", "-c", str(SLOTS), "-Q", queue, "-n", f"{queue}@bench",
            "--loglevel", "WARNING", "--without-gossip", "--without-mingle"], env=self.environment, cwd=site.folder(queue))
        return f"Celery {output(python, '-c', 'import celery; print(celery.__version__)')}, {version}"

    def run(self, _, count):
        """The time is that from sending the first task to having the last result; the client is connected before."""
        self.worker.check()
        return float(call(*self.command, "run", str(count), env=self.environment))


class CeleryReplies(Celery):
    """The results go back to the client: nothing keeps them, and it is the fastest that Celery has on RabbitMQ."""

    name, needs = "Celery, replies", "celery"
    keeps = Celery.sent + "results as messages to the client (rpc://), not kept; output not kept"

    accepts = 10000

    def results(self, site):
        return "replies", "rpc://"

    def accept(self):
        return float(call(*self.command, "send", str(self.accepts), env=self.environment))


class CeleryStored(Celery):
    """The results are kept in SQLite with the settings that run-tasks has: what lasts is the same."""

    name, needs = "Celery, SQLite", "celery, sqlalchemy"
    keeps = Celery.sent + "results in SQLite (WAL, synchronous=FULL); output not kept"

    def results(self, site):
        file = os.path.join(site.folder("celery-stored"), "results.db")
        database = sqlite3.connect(file)
        database.execute("PRAGMA journal_mode=WAL")  # stays with the file; FULL is what a new connection has
        database.close()
        return "stored", "db+sqlite:///" + file
