"""Tries what a task must not reach. It prints a line for each attempt: its name, a tab, and "refused: WHY" or "REACHED: WHAT"."""

import concurrent.futures
import contextlib
import ctypes
import errno
import glob
import os
import resource
import socket
import ssl
import struct
import sys
import time

ATTEMPTS = []
libc = ctypes.CDLL(None, use_errno=True)
own = os.environ["OUTPUT_DIR"]


class Refused(Exception):
    pass


def attempt(name):
    def add(function):
        ATTEMPTS.append((name, function))
        return function
    return add


def each(things, use):
    """Uses each of the things; what can be used is reached. None at all is a mistake of the attempt."""
    why, reached, tried = set(), [], 0
    for thing in things:
        tried += 1
        try:
            reached.append((thing, use(thing)))
        except OSError as e:
            why.add(errno.errorcode.get(e.errno, str(e)))
    if not tried:
        return "nothing to try: the attempt is wrong"
    if reached:
        return reached
    raise Refused(", ".join(sorted(why)))


def read(path):
    with open(path, "rb") as f:
        return f.read(20)


def write(path):
    with open(path, "ab") as f:
        f.write(b"x")
    return "written"


def commands():
    for folder in glob.glob("/proc/[0-9]*"):
        with contextlib.suppress(OSError), open(folder + "/cmdline", "rb") as f:
            yield int(folder[6:]), f.read().decode().split("\0")


def worker():
    return [pid for pid, argv in commands() if argv[0].endswith("/sweepd")]


def victim():
    return [pid for pid, argv in commands() if argv[:2] == ["sleep", "3600"]]


def called(result, what="it worked"):
    if result != 0:
        raise OSError(ctypes.get_errno(), "")
    return what


@attempt("read the worker's password")
def _():
    return each(["/mlframework/secrets/credentials", "/mlframework/secrets/ca.pem"], read)


@attempt("open the worker's password to other users")
def _():
    return each(["/mlframework/secrets/credentials", "/mlframework/secrets"], lambda path: os.chmod(path, 0o755) or "opened")


@attempt("read and change the worker's state")
def _():
    files = [p for p in glob.glob("/mlframework/state/*") if os.path.isfile(p)]
    return each([(read, p) for p in files] + [(write, p) for p in files + ["/mlframework/state/new"]], lambda do: do[0](do[1]))


@attempt("read the worker's environment, memory and files")
def _():
    return each([f"/proc/{pid}/{name}" for pid in worker() for name in ("environ", "mem", "maps", "fd/0", "fd/3")], read)


@attempt("trace the worker")
def _():
    here = ctypes.create_string_buffer(8)
    local, far = (ctypes.c_size_t * 2)(ctypes.addressof(here), 8), (ctypes.c_size_t * 2)(0x400000, 8)  # struct iovec
    ways = [lambda pid: called(libc.ptrace(16, pid, None, None)), lambda pid: called(min(libc.process_vm_readv(pid, local, 1, far, 1, 0), 0))]
    return each([(way, pid) for way in ways for pid in worker()], lambda do: do[0](do[1]))


@attempt("set limits of the worker and of another task")
def _():
    limits = [(resource.RLIMIT_CORE, (0, 0)), (resource.RLIMIT_CPU, (1 << 40, 1 << 40))]
    return each([(pid, *limit) for pid in worker() + victim() for limit in limits], lambda do: resource.prlimit(*do) and "set")


@attempt("stop or end the worker")
def _():
    return each(worker(), lambda pid: os.kill(pid, 0) or "it takes signals")


@attempt("open secrets of another running sweep")
def _():
    files = [os.path.join(folder, "TOKEN") for folder in glob.glob("/mlframework/attempts/*/*")] + ["/mlframework/attempts/x"]
    return each(files + [f"/proc/{pid}/environ" for pid in victim()], read)


@attempt("trace, stop or end another task")
def _():
    ways = [lambda pid: called(libc.ptrace(16, pid, None, None)), lambda pid: os.kill(pid, 0) or "it takes signals"]
    return each([(way, pid) for way in ways for pid in victim()], lambda do: do[0](do[1]))


@attempt("write into the folder of another task")
def _():
    others = [p for p in glob.glob("/mlframework/outputs/*/*") if os.path.isdir(p) and p != own]
    return each([p + "/forged" for p in others] + [p + "/stdout.log" for p in others] + ["/mlframework/outputs/forged"], write)


@attempt("change the project or the worker's program")
def _():
    revisions = glob.glob("/mlframework/revisions/*/*")
    return each([p for p in revisions if os.path.isfile(p)] + ["/mlframework/revisions/x"] + glob.glob("/mlframework/bin/*"), write)


@attempt("change the system")
def _():
    return each(["/etc/passwd", "/usr/bin/new", "/new", "/proc/sys/kernel/core_pattern", "/sys/kernel/uevent_helper"], write)


@attempt("link to what it cannot read")
def _():
    def link(path):
        os.link(path, os.path.join(own, "link"))
        return read(os.path.join(own, "link"))
    def follow(path):
        os.symlink(path, os.path.join(own, "symlink"))
        try:
            return read(os.path.join(own, "symlink"))
        finally:
            os.unlink(os.path.join(own, "symlink"))
    return each([link, follow], lambda how: how("/mlframework/secrets/credentials"))


@attempt("become root, mount, or see raw packets")
def _():
    return each([lambda: os.setuid(0), lambda: called(libc.mount(b"none", b"/tmp", b"tmpfs", 0, None)),
                 lambda: called(libc.unshare(0x10000000)) or called(libc.mount(b"none", b"/mlframework/state", b"tmpfs", 0, None)),
                 lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW)], lambda how: how() or "it worked")


@attempt("use the socket of Docker or of the master")
def _():
    def connect(path):
        with socket.socket(socket.AF_UNIX) as s:
            s.connect(path)
        return "connected"
    return each(["/var/run/docker.sock", "/run/docker.sock", "/run/mlframework/master.sock", "/run/mlframework-read/read.sock"], connect)


def broker():
    for _, argv in commands():
        if "--broker" in argv:
            host, _, port = argv[argv.index("--broker") + 1].removeprefix("amqps://").rpartition(":")
            return host, int(port)
    sys.exit("no worker is here")


@attempt("log in to the broker without its worker's password")
def _():
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE

    def login(mechanism, answer):
        with socket.create_connection(broker(), 10) as raw, context.wrap_socket(raw) as s:
            s.settimeout(20)
            s.sendall(b"AMQP\0\0\x09\x01")
            frame(s)
            reply = struct.pack(">HHI", 10, 11, 0) + bytes([len(mechanism)]) + mechanism + struct.pack(">I", len(answer)) + answer + b"\x05en_US"
            s.sendall(b"\x01\0\0" + struct.pack(">I", len(reply)) + reply + b"\xce")
            method = struct.unpack(">HH", frame(s)[:4])
            if method == (10, 30):  # connection.tune: who has logged in is asked how to go on
                return "logged in"
            raise ConnectionRefusedError(errno.EACCES, "")

    def frame(s):
        head = b""
        while len(head) < 7:
            head += s.recv(7 - len(head)) or fail()
        body, size = b"", struct.unpack(">I", head[3:])[0] + 1
        while len(body) < size:
            body += s.recv(size - len(body)) or fail()
        return body

    def fail():
        raise ConnectionRefusedError(errno.ECONNRESET, "")

    names = [b"guest", b"master", b"worker-host1", b"worker-host2"]
    ways = [(b"PLAIN", b"\0" + n + b"\0" + n) for n in names] + [(b"PLAIN", b"\0guest\0"), (b"ANONYMOUS", b""), (b"EXTERNAL", b""), (b"AMQPLAIN", b"")]
    with concurrent.futures.ThreadPoolExecutor(len(ways)) as side:  # the broker has whom it refuses wait for seconds
        return each([side.submit(login, *way) for way in ways], lambda tried: tried.result())


@attempt("reach the broker's other ports, or the monitor")
def _():
    def connect(at):
        with socket.create_connection(at, 1):
            return "open"
    hosts = {broker()[0], "broker", "monitor", "master", "mlframework-master", "host1"}
    known = []
    for host in sorted(hosts):
        with contextlib.suppress(OSError):
            known.append(socket.gethostbyname(host))
    return each([(host, port) for host in known for port in (4369, 5552, 5555, 5672, 15672, 15692, 25672)], connect)


@attempt("leave a process behind")
def _():
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            for fd in range(3):
                os.close(fd)
            os.execve(sys.executable, ["left-behind", "-c", "import time; time.sleep(3600)"], {})
        os._exit(0)
    time.sleep(0.5)
    if not any(argv[0] == "left-behind" for _, argv in commands()):
        return "it did not start: the attempt is wrong"
    raise Refused("ended with the task")  # the test looks whether it is


for name, function in ATTEMPTS:
    try:
        print(f"{name}\tREACHED: {function()!r}"[:300], flush=True)
    except Refused as e:
        print(f"{name}\trefused: {e}", flush=True)
    except OSError as e:
        print(f"{name}\trefused: {errno.errorcode.get(e.errno, e)}", flush=True)
