"""Rounds of 3,000 x true on two slots, ours and others'; scripts/bench runs it."""

import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

TASKS = 3000
SLOTS = 2
BIN = os.path.join(os.getcwd(), "bin")


class Way:
    """One way to run the tasks: run does it in the current folder, a new one for each round. Either may be None."""

    def __init__(self, name, keeps, version, run):
        self.name, self.keeps, self.version, self.run = name, keeps, version, run  # version: None when not installed
        self.rates = []  # tasks per second, by round


def output(*argv):
    """The first line that a command prints; None when it is not installed or fails."""
    try:
        done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    except FileNotFoundError:
        return None
    return done.stdout.splitlines()[0] if done.returncode == 0 and done.stdout else None


def numbers():
    return "".join(f"{n}\n" for n in range(TASKS))


def xargs():
    subprocess.run(["xargs", f"-P{SLOTS}", "-n1", "true"], input=numbers(), text=True, check=True)


def run_tasks():
    """The flag --n=5 that each task gets means nothing to true."""
    with open("parameters.yml", "w") as f:
        f.write(f"n: !interval [0, {TASKS}]\n")
    with open("tasks.yml", "w") as f:
        f.write('tasks:\n  noop:\n    command: ["true"]\n    parameters: parameters.yml\n')
    command = [os.path.join(BIN, "run-tasks"), "--local", "--slots", str(SLOTS), "--quiet", "noop"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    kept = sum(len(names) for _, _, names in os.walk("outputs"))
    if kept < TASKS:
        sys.exit(f"run-tasks kept {kept} output files of {TASKS} tasks")


def parallel():
    subprocess.run(["parallel", f"-j{SLOTS}", "--joblog", "joblog", "true"], input=numbers(), text=True, check=True)


def ways():
    commit = output("git", "describe", "--always", "--dirty") or "commit unknown"
    return [
        Way("xargs", "nothing: the floor of this machine", output("xargs", "--version") or "(no version)", xargs),
        Way("run-tasks --local", "tasks and results in SQLite (WAL, synchronous=FULL), group commits; output files",
            commit, run_tasks),
        Way("GNU parallel", "a job log, not synced; output not kept", output("parallel", "--version"), parallel),
        Way("Celery", "late acknowledgement, confirms, results", output("celery", "--version"), None),
    ]


def measure(way, disk):
    """Runs one round in a new folder and notes its rate.

    The folder stays until the end of the bench: for half a minute after thousands of files were deleted, ext4 passes over
    their inodes one by one whenever it makes a file, and the next round would pay for the deletion of this one's.
    """
    folder = tempfile.mkdtemp(prefix="round-", dir=disk)
    home = os.getcwd()
    os.chdir(folder)
    try:
        begin = time.monotonic()
        way.run()
        way.rates.append(TASKS / (time.monotonic() - begin))
    finally:
        os.chdir(home)
    if hasattr(os, "sync"):
        os.sync()  # what one leaves to write is not the next one's load


def cpu():
    try:
        with open("/proc/cpuinfo") as f:
            return next(line.split(":", 1)[1].strip() for line in f if line.startswith("model name"))
    except (OSError, StopIteration):
        return output("sysctl", "-n", "machdep.cpu.brand_string") or platform.processor() or "unknown processor"


def table(rows):
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())


def main():
    rounds = int(sys.argv[1])
    every = ways()
    present = [w for w in every if w.version and w.run]
    with tempfile.TemporaryDirectory(prefix="bench-", dir=BIN) as disk:
        kind = output("stat", "-f", "-c", "%T", disk) or "unknown"
        print(f"machine:  {cpu()}, {os.cpu_count()} cores, {platform.system()} {platform.release()}, file system {kind}")
        print(f"versions: {output('go', 'version')}, Python {platform.python_version()}")
        print(f"load:     {TASKS} x {shutil.which('true')} on {SLOTS} slots, {rounds} rounds, interleaved\n")
        for n in range(rounds):
            for way in present:
                measure(way, disk)
            print(f"round {n + 1}:  " + ", ".join(f"{w.name} {w.rates[-1]:.0f}/s" for w in present), flush=True)

    floor = present[0]
    rows = [["", "tasks/s", "range", "of xargs", "range by round", "version", "keeps"]]
    for way in every:
        if not way.rates:
            rows.append([way.name, "not measured yet" if way.version else "not installed", "", "", "", "", way.keeps])
            continue
        ratios = [mine / its for mine, its in zip(way.rates, floor.rates)]
        ratio = statistics.median(way.rates) / statistics.median(floor.rates)
        rows.append([way.name, f"{statistics.median(way.rates):.0f}", f"{min(way.rates):.0f} to {max(way.rates):.0f}",
                     f"{ratio:.2f}", f"{min(ratios):.2f} to {max(ratios):.2f}", way.version, way.keeps])
    print()
    table(rows)


if __name__ == "__main__":
    main()
