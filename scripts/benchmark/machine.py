"""What the bench has to know of the machine: versions, parts, memory of processes, and the rest its file system needs."""

import os
import platform
import subprocess
import time

REST = 90  # seconds


def output(*argv):
    """The first line that a command prints; None when it is not installed or fails."""
    try:
        done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.splitlines()[0] if done.returncode == 0 and done.stdout else None


def cpu():
    try:
        with open("/proc/cpuinfo") as f:
            return next(line.split(":", 1)[1].strip() for line in f if line.startswith("model name"))
    except (OSError, StopIteration):
        return output("sysctl", "-n", "machdep.cpu.brand_string") or platform.processor() or "unknown processor"


def file_system(folder):
    """The name that stat has for it: ext2/ext3 for ext4, too."""
    return output("stat", "-f", "-c", "%T", folder) or "unknown"


def rest(note, kind):
    """Waits until what the last bench deleted no longer slows this one.

    Whenever ext4 makes a file it passes over the inodes that were freed lately one by one, so that for a minute after
    thousands of files were deleted, and longer while that is not on disk, making files is up to twice as slow.
    """
    try:
        with open(note) as f:
            left = min(REST, float(f.read()) + REST - time.time())
    except (OSError, ValueError):
        return
    if left <= 0 or not kind.startswith("ext"):
        return
    print(f"The last bench deleted its files less than {REST} s ago. While ext4 still passes over their inodes, making\n"
          f"files is slower: waiting for {left:.0f} s.\n", flush=True)
    time.sleep(left)


def note_deletion(note):
    """Called after the files were deleted: puts that on disk, and keeps the time for the next bench."""
    if hasattr(os, "sync"):
        os.sync()
    with open(note, "w") as f:
        f.write(f"{time.time():.0f}\n")


def tree(root):
    """The numbers of a process and of all that descend from it."""
    children = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat") as f:
                parent = int(f.read().rpartition(")")[2].split()[1])
        except (OSError, IndexError):
            continue  # it has ended
        children.setdefault(parent, []).append(int(name))
    found = [root]
    for pid in found:  # grows while it is walked
        found += children.get(pid, [])
    return found


def memory(root):
    """Of a process and its descendants, each in MiB: what is resident, the same with what several share divided among
    them, and the most that ever was resident. None where there is no /proc."""
    if not os.path.exists("/proc/self/smaps_rollup"):
        return None
    pids = tree(root)
    return [[mib(pid, file, key) for pid in pids]
            for file, key in (("status", "VmRSS"), ("smaps_rollup", "Pss"), ("status", "VmHWM"))]


def mib(pid, file, key):
    try:
        with open(f"/proc/{pid}/{file}") as f:
            return next(int(line.split()[1]) / 1024 for line in f if line.startswith(key + ":"))  # they are in KiB
    except (OSError, StopIteration):
        return 0  # it has ended
