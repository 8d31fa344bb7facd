"""Rounds of many tasks on two slots, ours and others'; scripts/bench runs it.

Nothing may import it. What runs beside the rounds is started and warm before them, and stopped after.
"""

import contextlib
import os
import platform
import shutil
import signal
import statistics
import sys
import tempfile
import time

import machine
from asynq_peer import Asynq
from bystanders import Absent, Failed, Site
from celery_peer import CeleryReplies, CeleryStored
from cluster import Cluster
from dask_peer import Dask
from loads import LOADS
from ways import BIN, SLOTS, Local, Parallel, Unpackaged, Xargs

WARM = 20  # tasks before the rounds
NOTE = os.path.join(BIN, ".bench-deleted")


def prepare(ways, site):
    """Starts what the ways need, and runs a few tasks by each; the ways that come through."""
    for way in ways:
        try:
            way.version = way.start(site)
            once(site.disk, way.run, LOADS[0], WARM)
        except Absent as e:
            way.why = str(e)
        except Failed as e:
            way.why, way.broken = str(e), True
    return [w for w in ways if not w.why]


def once(disk, what, *arguments):
    """Does it in a new folder; the seconds that it gives, or that it took.

    The folder stays until the end of the bench: after files were deleted, ext4 makes new ones slowly (machine.rest), and the
    next round would pay for this one's.
    """
    folder = tempfile.mkdtemp(prefix="round-", dir=disk)
    home = os.getcwd()
    os.chdir(folder)
    try:
        begin = time.monotonic()
        return what(*arguments) or time.monotonic() - begin
    finally:
        os.chdir(home)
        if hasattr(os, "sync"):
            os.sync()  # what one leaves to write is not the next one's load


def measure(way, load, disk):
    """One round of a way: a load, what it accepts, and where the load is a project of files for itself, one task of it."""
    if not (load.plain or way.anything):
        return
    way.rates.setdefault(load.name, []).append(load.tasks / once(disk, way.run, load, load.tasks))
    if load.plain and way.accepts:
        way.accepted.append(way.accepts / once(disk, way.accept))
    if way.ours and load.command == ["true"]:
        way.singles.setdefault(load.name, []).append(once(disk, single, way, load))


def single(way, load):
    """One task, when the project is known and others of it have run: the best of three, as what else happens only adds."""
    way.run(load, 1)
    return min(way.single(load) for _ in range(3))


def rounds(count, loads, ways, disk):
    for n in range(count):
        for load in loads:
            for way in ways:
                try:
                    measure(way, load, disk)
                except Failed as e:
                    way.why, way.broken = f"round {n + 1}: {e}", True
            ways = [w for w in ways if not w.why]
            print(f"round {n + 1}, {load.name}:  " + ", ".join(
                f"{w.name} {w.rates[load.name][-1]:.0f}/s" for w in ways if load.name in w.rates), flush=True)


def table(rows):
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())


def ratio(mine, its):
    """The ratio of the medians, and the range of the ratios by round, of the rounds that both came through."""
    both = list(zip(mine, its))
    by_round = [a / b for a, b in both]
    middle = statistics.median(a for a, _ in both) / statistics.median(b for _, b in both)
    return f"{middle:.2f} ({min(by_round):.2f} to {max(by_round):.2f})"


def spread(rates):
    return [f"{statistics.median(rates):.0f}", f"{min(rates):.0f} to {max(rates):.0f}"]


def report(loads, ways):
    for load in loads:
        report_load(load, [w for w in ways if w.rates.get(load.name)])
    print("\nWhat of a task is durable (in brackets above: the range by round):")
    table([["  " + w.name, w.keeps] for w in ways if w.keeps])
    for way in (w for w in ways if w.why):
        print(f"\n{way.name} was {'not measured to the end' if way.rates else 'not measured'}: {way.why}")


def report_load(load, ways):
    floor, ours = ways[0], [w for w in ways if w.ours]
    if not isinstance(floor, Xargs):
        sys.exit(f"{load.what}: nothing to compare with")
    rows = [[load.what, "tasks/s", "range", "of xargs"] + [f"{w.name} is" for w in ours] + ["version"]]
    for way in ways:
        rates = way.rates[load.name]
        times = [f"{ratio(w.rates[load.name], rates)} times" if w is not way else "" for w in ours]
        rows.append([way.name] + spread(rates) + [ratio(rates, floor.rates[load.name])] + times + [way.version])
    print()
    table(rows)


def report_singles(loads, ways):
    """What one task costs, with the start of run-tasks, and how much of it is the size of the project."""
    rows = [["one task, in ms", "range"]]
    for way in ways:
        for load in (load for load in loads if way.singles.get(load.name)):
            rows.append([f"{way.name}: {load.what}"] + [" ".join(spread([1000 * s for s in way.singles[load.name]]))])
    if len(rows) > 1:
        print()
        table(rows)


def report_accepted(ways):
    """Handing tasks over, durably, where running them is another matter."""
    rows = [["tasks accepted", "in one go", "tasks/s", "range"]]
    rows += [[w.name, str(w.accepts)] + spread(w.accepted) for w in ways if w.accepted]
    if len(rows) > 1:
        print()
        table(rows)


def report_memory(site):
    rows = [["MiB after the rounds", "resident", "of each process", "sharing counted once", "highest ever"]]
    for service in site.running:
        if service.process.poll() is None and (found := machine.memory(service.process.pid)):
            resident, shared, highest = (f"{sum(sizes):.1f}" for sizes in found)
            rows.append([service.name, resident, " + ".join(f"{size:.1f}" for size in found[0]), shared, highest])
    if len(rows) > 1:
        print()
        table(rows)


def main():
    count, names = int(sys.argv[1]), sys.argv[2:]
    if unknown := set(names) - {load.name for load in LOADS}:
        sys.exit(f"{', '.join(sorted(unknown))}: the loads are {' '.join(load.name for load in LOADS)}")
    loads = [load for load in LOADS if not names or load.name in names]
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that what runs beside is stopped, as after Ctrl-C
    ways = [Xargs(), Local(), Cluster(), Asynq(), Dask(), CeleryReplies(), CeleryStored(), Parallel(),
            Unpackaged("HyperQueue", "https://it4innovations.github.io/hyperqueue"), Unpackaged("Ray", "https://docs.ray.io")]
    kind = machine.file_system(BIN)
    machine.rest(NOTE, kind)
    with contextlib.ExitStack() as stack:
        stack.callback(machine.note_deletion, NOTE)  # the last that happens
        disk = stack.enter_context(tempfile.TemporaryDirectory(prefix="bench-", dir=BIN))
        site = Site(disk, stack)
        print(f"machine:  {machine.cpu()}, {os.cpu_count()} cores, {platform.system()} {platform.release()}, "
              f"file system {kind}")
        print(f"versions: {machine.output('go', 'version')}, Python {platform.python_version()}")
        print(f"rounds:   {count}, interleaved, on {SLOTS} slots; true is {shutil.which('true')}, Python {sys.executable}\n", flush=True)
        rounds(count, loads, prepare(ways, site), disk)
        report(loads, ways)
        report_singles(loads, ways)
        report_accepted(ways)
        report_memory(site)
    return any(w.broken for w in ways)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
