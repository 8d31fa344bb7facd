"""Writes down each epoch of a program for the test, and holds the program after its second one until the test lets go."""

import json
import os
import time


def epoch(number, **given):
    folder = os.environ["WATCH"]
    seen = {"epoch": number, "attempt": int(os.environ["ATTEMPT"]), "pid": os.getpid(), "given": given}
    with open(os.path.join(folder, os.environ["TASK_INDEX"]), "a") as f:
        f.write(json.dumps(seen) + "\n")
    while number == 2 and not os.path.exists(os.path.join(folder, "go")):
        time.sleep(0.01)
