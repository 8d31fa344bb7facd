"""asynq with Redis, which has every write on disk before it answers, on a worker that is warm."""

import os
import subprocess

from bystanders import Absent, call
from machine import output
from ways import BIN, SLOTS, Way

MODULE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "testdata", "asynq")  # run-tasks does not need it


class Asynq(Way):
    """One worker with its own Redis server. Each task is one `true`, of which only the exit code is kept."""

    name, keeps = "asynq", "queue and results in Redis (append-only file, appendfsync always); output not kept"
    accepts = 10000

    def start(self, site):
        version = output("redis-server", "--version")
        if not version:
            raise Absent("redis-server is not installed (Debian, Ubuntu: apt-get install redis-server)")
        self.program = self.build()
        self.socket = os.path.join(site.short_folder(), "redis.sock")
        redis = site.serve("Redis", ["redis-server", "--port", "0", "--unixsocket", self.socket, "--save", "",
                                     "--appendonly", "yes", "--appendfsync", "always", "--dir", site.folder("redis")])
        redis.wait(lambda: os.path.exists(self.socket))
        self.worker = site.serve("asynq worker", [self.program, "work", self.socket, str(SLOTS)])
        module = output("go", "-C", MODULE, "list", "-m", "-f", "{{.Version}}", "github.com/hibiken/asynq")
        return f"asynq {module}, Redis {version.partition('v=')[2].split()[0]}"

    def build(self):
        """Builds its program, which is a module of its own."""
        program = os.path.join(BIN, "bench-asynq")
        built = subprocess.run(["go", "build", "-C", MODULE, "-o", program, "."],
                               stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if built.returncode != 0:
            raise Absent("asynq is not installed (the network or a Go module proxy is needed once): "
                         + " ".join(built.stderr.split())[-300:])
        return program

    def run(self, _, count):
        """The time is that from sending the first task to the end of the last; the worker is connected before."""
        self.worker.check()
        return float(call(self.program, "run", self.socket, str(count)))

    def accept(self):
        return float(call(self.program, "send", self.socket, str(self.accepts)))
