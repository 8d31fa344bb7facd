"""Ways to run many commands that need nothing beside them: xargs, run-tasks --local and GNU parallel."""

import os
import time

from bystanders import Absent, Failed, call
from machine import output

SLOTS = 2
BIN = os.path.join(os.getcwd(), "bin")


class Way:
    """One way to run commands. Ways that need services start them once, before the rounds."""

    name = keeps = ""  # keeps: what of a task is durable
    ours = False
    anything = False  # it runs every load, not only `true`

    def __init__(self):
        self.rates, self.accepted = {}, []  # tasks per second, by round: run, by load, and accepted
        self.singles = {}  # seconds of a sweep of one task, by round, by load
        self.version = self.why = ""  # why: it is not measured, or not to the end
        self.broken = False  # it is installed and does not work

    def start(self, site):
        """Prepares the rounds, and gives the version. Absent says what is not installed."""
        raise NotImplementedError

    def run(self, load, count):
        """Runs count tasks of a load in the current folder, a new one for each round. The time of this call is what counts,
        unless it returns another, in seconds."""
        raise NotImplementedError

    def single(self, load):
        """Runs one task of a load in the current folder, which run was called in before; the seconds."""
        raise NotImplementedError

    accepts = 0  # the tasks of one measurement of accept; 0: there is nothing that accepts tasks

    def accept(self):
        """Hands over accepts tasks, durably; the seconds until the last is accepted. None of them has to run."""
        raise NotImplementedError


def numbers(count):
    return "".join(f"{n}\n" for n in range(count))


class Xargs(Way):
    name, keeps, anything = "xargs", "nothing: the floor of this machine", True

    def start(self, site):
        return output("xargs", "--version") or "(no version)"

    def run(self, load, count):
        """The time is that of xargs: it needs the files of a project, and no copy of them."""
        load.project(count)
        begin = time.monotonic()
        call("xargs", f"-P{SLOTS}", "-n1", *load.command, input="".join(f"--n={n}\n" for n in range(count)), env=load.environment())
        return time.monotonic() - begin


class Parallel(Way):
    name, keeps = "GNU parallel", "a job log, not synced; output not kept"

    def start(self, site):
        version = output("parallel", "--version") or ""
        if not version.startswith("GNU"):  # there are others of this name
            raise Absent("GNU parallel is not installed (Debian, Ubuntu: apt-get install parallel)")
        return version

    def run(self, _, count):
        call("parallel", "--will-cite", f"-j{SLOTS}", "--joblog", "joblog", "true", input=numbers(count))


class Unpackaged(Way):
    """Another way to run commands, which the bench names and does not measure."""

    def __init__(self, name, site):
        super().__init__()
        self.name, self.at = name, site

    def start(self, site):
        raise Absent(f"neither Debian nor Ubuntu has a package of it, and the bench does not start it ({self.at})")


class Ours(Way):
    """run-tasks, whoever runs the tasks."""

    ours = anything = True

    def sweep(self, definition):
        """Runs a sweep of the current folder's project to its end; its id."""
        return call(os.path.join(BIN, "run-tasks"), *self.where, "--quiet", definition).strip()

    def run(self, load, count):
        """The time is that of run-tasks, from its start to its end. Where a project is large a first sweep brings it in."""
        load.project(count)
        if load.files:
            self.sweep("first")
        begin = time.monotonic()
        sweep = self.sweep("load")
        seconds = time.monotonic() - begin
        kept(os.path.join(self.outputs, sweep), count)
        return seconds

    def single(self, _):
        begin = time.monotonic()
        self.sweep("first")
        return time.monotonic() - begin


class Local(Ours):
    name = "run-tasks --local"
    keeps = "tasks and results in SQLite (WAL, synchronous=FULL), group commits; output files"
    where, outputs = ("--local", "--slots", str(SLOTS)), "outputs"

    def start(self, site):
        return commit()


def commit():
    return output("git", "describe", "--always", "--dirty") or "commit unknown"


def kept(folder, count):
    """Makes sure that each task has left the file with its output, whatever run-tasks said."""
    files = sum(name == "stdout.log" for _, _, names in os.walk(folder) for name in names)
    if files < count:
        raise Failed(f"run-tasks kept the output of {files} tasks of {count}")
