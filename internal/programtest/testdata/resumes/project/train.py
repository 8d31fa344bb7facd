"""Goes on from its own checkpoint.json when it was interrupted, and begins anew over a stranger's when it was not."""

import argparse
import json
import os
import signal
import time

from progress import begin

parser = argparse.ArgumentParser()
parser.add_argument("--lr", type=float)
args = parser.parse_args()

state = begin(args.lr)
if os.environ["RESUMED"] == "1":
    with open("checkpoint.json") as f:
        state = json.load(f)
print("begins with epoch", state["epoch"], "at", state["lr"])
for epoch in range(state["epoch"], 4):
    state["epoch"] = epoch + 1
    state["seen"].append(int(os.environ["ATTEMPT"]))
    with open("checkpoint.json", "w") as f:
        json.dump(state, f)
        f.write("\n")
    if epoch == 1 and "HOLD" in os.environ:
        while not os.path.exists(os.environ["HOLD"]):
            time.sleep(0.01)
    elif epoch == 1:
        os.remove("progress.py")
        os.kill(os.getpid(), signal.SIGKILL)
print("done")
