"""Ways to run many commands that need nothing beside them: xargs, run-tasks --local and GNU parallel."""

import os

from bystanders import Absent, Failed, call
from machine import output

SLOTS = 2
BIN = os.path.join(os.getcwd(), "bin")


class Way:
    """One way to run commands. Ways that need services start them once, before the rounds."""

    name = keeps = ""  # keeps: what of a task is durable
    ours = False

    def __init__(self):
        self.rates, self.accepted = [], []  # tasks per second, by round: run, and accepted
        self.version = self.why = ""  # why: it is not measured, or not to the end
        self.broken = False  # it is installed and does not work

    def start(self, site):
        """Prepares the rounds, and gives the version. Absent says what is not installed."""
        raise NotImplementedError

    def run(self, count):
        """Runs count x true in the current folder, a new one for each round. The time of this call is what counts, unless it
        returns another, in seconds."""
        raise NotImplementedError

    accepts = 0  # the tasks of one measurement of accept; 0: there is nothing that accepts tasks

    def accept(self):
        """Hands over accepts tasks, durably; the seconds until the last is accepted. None of them has to run."""
        raise NotImplementedError


def numbers(count):
    return "".join(f"{n}\n" for n in range(count))


class Xargs(Way):
    name, keeps = "xargs", "nothing: the floor of this machine"

    def start(self, site):
        return output("xargs", "--version") or "(no version)"

    def run(self, count):
        call("xargs", f"-P{SLOTS}", "-n1", "true", input=numbers(count))


class Parallel(Way):
    name, keeps = "GNU parallel", "a job log, not synced; output not kept"

    def start(self, site):
        version = output("parallel", "--version") or ""
        if not version.startswith("GNU"):  # there are others of this name
            raise Absent("GNU parallel is not installed (Debian, Ubuntu: apt-get install parallel)")
        return version

    def run(self, count):
        call("parallel", "--will-cite", f"-j{SLOTS}", "--joblog", "joblog", "true", input=numbers(count))


class Local(Way):
    name, ours = "run-tasks --local", True
    keeps = "tasks and results in SQLite (WAL, synchronous=FULL), group commits; output files"

    def start(self, site):
        return commit()

    def run(self, count):
        project(count)
        call(os.path.join(BIN, "run-tasks"), "--local", "--slots", str(SLOTS), "--quiet", "noop")
        kept("outputs", count)


def commit():
    return output("git", "describe", "--always", "--dirty") or "commit unknown"


def project(count):
    """Makes the current folder one with the task definition noop. The flag --n=5 that each task gets means nothing to true."""
    with open("parameters.yml", "w") as f:
        f.write(f"n: !interval [0, {count}]\n")
    with open("tasks.yml", "w") as f:
        f.write('tasks:\n  noop:\n    command: ["true"]\n    parameters: parameters.yml\n')


def kept(folder, count):
    """Makes sure that each task has left the file with its output, whatever run-tasks said."""
    files = sum(name == "stdout.log" for _, _, names in os.walk(folder) for name in names)
    if files < count:
        raise Failed(f"run-tasks kept the output of {files} tasks of {count}")
