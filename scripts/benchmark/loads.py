"""What the rounds are made of: so many tasks of one command, in a project of some files."""

import os
import sys

FILES, BYTES = 1500, 53_000_000  # of a large project
FOLDERS = 15  # that its files are in

SCRIPT = """import argparse
import asyncio
import json
import logging
import random
import statistics
import urllib.request

parser = argparse.ArgumentParser()
parser.add_argument("--n", type=int)
print(json.dumps({"n": parser.parse_args().n}))
"""


class Load:
    """One load. Ways that know only `true` run it where plain is set."""

    def __init__(self, name, what, tasks, command, *, files=0, script="", variables=None, plain=False):
        self.name, self.what, self.tasks, self.command = name, what, tasks, command
        self.files, self.script, self.variables, self.plain = files, script, variables or {}, plain

    def environment(self):
        """The environment for a way that does not read it from tasks.yml."""
        return dict(os.environ, **self.variables)

    def project(self, count):
        """Makes the current folder a project with the definition load, of so many tasks, and first, of one that is `true`. The flag
        --n=5 that each task gets means nothing to true."""
        write("parameters.yml", f"n: !interval [0, {count}]\n")
        variables = ", ".join(f'{name}: "{value}"' for name, value in self.variables.items())
        command = ", ".join(f'"{word}"' for word in self.command)
        write("tasks.yml", f"env: {{{variables}}}\ntasks:\n  first:\n    command: [\"true\"]\n"
                           f"  load:\n    command: [{command}]\n    parameters: parameters.yml\n")
        if self.script:
            write("script.py", self.script)
        for n in range(self.files):
            write(os.path.join(f"data{n % FOLDERS}", f"{n}.bin"), f"{n:08}" * (BYTES // FILES // 8))


def write(name, text):
    os.makedirs(os.path.dirname(name) or ".", exist_ok=True)
    with open(name, "w") as f:
        f.write(text)


def python(name, what, dont_write):
    return Load(name, f"{what}, 200 x a Python script that imports some of the standard library", 200,
                [sys.executable, "script.py"], script=SCRIPT, variables={"PYTHONDONTWRITEBYTECODE": dont_write})


LOADS = [
    Load("true", "3,000 x true, a project of 2 files", 3000, ["true"], plain=True),
    Load("files", f"3,000 x true, a project of {FILES:,} files and {BYTES // 1_000_000} MB that is there already", 3000, ["true"],
         files=FILES),
    python("python", "PYTHONDONTWRITEBYTECODE is not set", ""),
    python("python-dontwrite", "PYTHONDONTWRITEBYTECODE=1, as in many images", "1"),
]
