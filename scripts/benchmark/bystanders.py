"""What runs beside the rounds and is ended after them: services with their logs, and the broker."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import machine

READY = 60  # seconds that a service may take until it serves, or until it has ended
ROUND = 600  # seconds that a round may take


class Absent(Exception):
    """Something is not installed here: what, and how to get it."""


class Failed(Exception):
    """Something is installed and does not work: what it said."""


def call(*argv, **more):
    """Runs a command to its end and gives what it printed."""
    try:
        done = subprocess.run(argv, capture_output=True, text=True, timeout=ROUND,
                              **({} if "input" in more else {"stdin": subprocess.DEVNULL}), **more)
    except OSError as e:
        raise Failed(f"start {argv[0]}: {e.strerror}") from e
    except subprocess.TimeoutExpired as e:
        raise Failed(f"{os.path.basename(argv[0])} did not end in {ROUND} s") from e
    if done.returncode != 0:
        said = " ".join((done.stderr or done.stdout).split()) or "it said nothing"
        raise Failed(f"{os.path.basename(argv[0])} ended with {done.returncode}: {said[:300]}")
    return done.stdout


def python_with(modules, packages):
    """The Python that has modules: the distribution's packages are for the distribution's Python."""
    for python in (sys.executable, "/usr/bin/python3"):
        if machine.output(python, "-c", f"import {modules}; print('here')"):
            return python
    raise Absent(f"{modules.replace(',', ' or')} is not installed "
                 f"(Debian, Ubuntu: apt-get install --no-install-recommends {packages})")


class Service:
    """A program beside the rounds, in a session of its own, so that Ctrl-C reaches only the bench, which ends it in turn."""

    def __init__(self, name, argv, log, **more):
        self.name, self.log = name, log
        with open(log, "w") as f:
            self.process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=f, stderr=subprocess.STDOUT,
                                            start_new_session=True, **more)

    def wait(self, ready):
        """Waits until ready() holds."""
        end = time.monotonic() + READY
        while not ready():
            self.check()
            if time.monotonic() > end:
                raise Failed(f"{self.name} was not ready after {READY} s: {self.last_words()}")
            time.sleep(0.02)

    def check(self):
        if self.process.poll() is not None:
            raise Failed(f"{self.name} ended with {self.process.returncode}: {self.last_words()}")

    def last_words(self):
        with open(self.log, errors="replace") as f:
            return " ".join(f.read().split())[-300:] or "it said nothing"

    def stop(self):
        pids = machine.tree(self.process.pid) if os.path.isdir("/proc") else [self.process.pid]
        self.process.terminate()
        try:
            self.process.wait(READY)
        except subprocess.TimeoutExpired:
            print(f"{self.name} did not end in {READY} s: killing it")
            for pid in pids:
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            self.process.wait()


class Site:
    """Where a bench happens: its folder, what runs beside it, and one broker for all that need one."""

    def __init__(self, disk, stack):
        self.disk, self.stack = disk, stack
        self.running = []  # services, in the order of their start
        self.broker = None

    def folder(self, *path):
        path = os.path.join(self.disk, *path)
        os.makedirs(path, exist_ok=True)
        return path

    def short_folder(self):
        """A folder for sockets, whose paths have about 100 characters at most."""
        short = tempfile.mkdtemp(prefix="bench-")
        self.stack.callback(shutil.rmtree, short)
        return short

    def serve(self, name, argv, **more):
        """Starts a service that is stopped when the bench ends."""
        service = Service(name, argv, os.path.join(self.folder("logs"), f"{name}.log".replace("/", "-")), **more)
        self.stack.callback(service.stop)
        self.running.append(service)
        return service

    def need_broker(self):
        """The folder of a running broker, which has its address in url and USER:PASSWORD in credentials, and its version."""
        if self.broker is None:
            script = os.path.join(os.getcwd(), "scripts", "broker")
            check = subprocess.run([script, "check"], stdin=subprocess.DEVNULL, capture_output=True, text=True)
            if check.returncode != 0:
                raise Absent(" ".join(check.stderr.split()))
            folder = self.folder("broker")
            try:
                self.quietly(script, "up", folder, "--while", str(os.getpid()))
            finally:  # also when it came half the way, or Ctrl-C came before it was up
                if os.path.exists(os.path.join(folder, "settings")):
                    self.stack.callback(self.quietly, script, "down", folder)
            version = machine.output(script, "ctl", folder, "version")
            self.broker = folder, f"RabbitMQ {version or '(unknown)'}"
        return self.broker

    def quietly(self, *argv):
        """Runs a command whose output goes to a log, and not to a pipe that what it starts could hold open."""
        log = os.path.join(self.folder("logs"), "broker.log")
        with open(log, "a") as f:
            done = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=f, stderr=subprocess.STDOUT, timeout=3 * READY)
        if done.returncode != 0:
            with open(log, errors="replace") as f:
                raise Failed(" ".join(f.read().split())[-300:])
