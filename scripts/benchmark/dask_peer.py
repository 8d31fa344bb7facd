"""Dask: its distributed scheduler and workers, which are warm."""

import os

from bystanders import call, python_with
from machine import output
from ways import SLOTS, Way

HERE = os.path.dirname(os.path.abspath(__file__))


class Dask(Way):
    """A worker process for each slot. Each task is one `true`, of which only the exit code goes back."""

    name, keeps = "Dask", "nothing: results are in memory; output not kept"

    def start(self, site):
        python = python_with("distributed", "python3-distributed")
        address = os.path.join(site.folder("dask"), "address")
        self.command = [python, os.path.join(HERE, "dask_tasks.py")]
        self.environment = dict(os.environ, BENCH_SCHEDULER=address, PYTHONPATH=HERE, PYTHONDONTWRITEBYTECODE="1")
        self.cluster = site.serve("Dask", [*self.command, "serve", str(SLOTS)], env=self.environment, cwd=site.folder("dask"))
        self.cluster.wait(lambda: os.path.exists(address))
        return f"Dask {output(python, '-c', 'import distributed; print(distributed.__version__)')}"

    def run(self, _, count):
        """The time is that from sending the first task to having the last result; the client is connected before."""
        self.cluster.check()
        return float(call(*self.command, "run", str(count), env=self.environment))
