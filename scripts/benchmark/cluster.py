"""run-tasks against a master: sweepd master, one sweepd worker and the broker, which run beside the rounds."""

import os
import subprocess
import threading
import time

from bystanders import READY, Failed, call
from loads import LOADS
from ways import BIN, SLOTS, Ours, commit


class Cluster(Ours):
    name = "sweepd"
    keeps = "quorum queues, confirms; tasks and results in SQLite (WAL, synchronous=FULL), group commits; output files"

    def start(self, site):
        broker, version = site.need_broker()
        with open(os.path.join(broker, "url")) as f:
            url = f.read().strip()
        sweepd, users = os.path.join(BIN, "sweepd"), site.folder("cluster", "users")
        call(sweepd, "broker-users", "--folder", users, "--worker", "bench")
        call(os.path.join(os.getcwd(), "scripts", "broker"), "ctl", broker, "import_definitions", os.path.join(users, "definitions.json"))
        common = ["--revisions", site.folder("cluster", "revisions"), "--broker", url]
        as_user = lambda user: ["--credentials", os.path.join(users, user)]
        self.outputs = site.folder("cluster", "outputs")
        self.socket = os.path.join(site.short_folder(), "master.sock")
        self.where = "--master", self.socket
        master = site.serve("sweepd master", [sweepd, "master", "--store", site.folder("cluster", "store"),
                                              "--socket", self.socket] + common + as_user("master"))
        master.wait(lambda: os.path.exists(self.socket))
        self.worker = site.serve("sweepd worker", [sweepd, "worker", "--name", "bench", "--slots", str(SLOTS),
                                                   "--outputs", self.outputs] + common + as_user("worker-bench"))
        return f"{commit()}, {version}"

    def run(self, load, count):
        self.worker.check()
        return super().run(load, count)

    accepts = 100000

    def accept(self):
        """The time from the start of run-tasks until it prints the sweep's id: then the master has it on disk."""
        LOADS[0].project(self.accepts)
        command = [os.path.join(BIN, "run-tasks"), *self.where, "--quiet", "load"]
        begin = time.monotonic()
        with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True) as follower:
            limit = threading.Timer(READY, follower.kill)
            limit.start()
            try:
                sweep = follower.stdout.readline().strip()
                seconds = time.monotonic() - begin
                if not sweep:
                    raise Failed(f"run-tasks did not say in {READY} s that {self.accepts} tasks were accepted")
                call(command[0], *self.where, "cancel", sweep)
                follower.wait()
            finally:
                limit.cancel()
                follower.kill()
        return seconds
