"""Saves the best model so far to ./model.pt, over the one before, and tests what stands there in the end."""

import argparse
import os
import sys
import time

import model

parser = argparse.ArgumentParser()
parser.add_argument("--lr", type=float)
parser.add_argument("--epochs", type=int, default=3)
parser.add_argument("--save", default="model.pt")
args = parser.parse_args()


def together(what):
    """Waits for the neighbours, so that all of them save before any of them loads. Without MEETING nobody waits."""
    folder = os.environ.get("MEETING")
    if not folder:
        return
    open(os.path.join(folder, f"{what} {os.getpid()}"), "x").close()
    for _ in range(3000):
        if sum(name.startswith(what + " ") for name in os.listdir(folder)) >= int(os.environ["NEIGHBOURS"]):
            return
        time.sleep(0.01)
    sys.exit(f"the neighbours did not come: {what}")


wrong = 0
for epoch in range(args.epochs):
    trained = model.state(args.lr, epoch)
    with open(args.save, "w") as f:
        f.write(trained)
    together(f"saved {epoch}")
    with open(args.save) as f:
        found = f.read()
    together(f"loaded {epoch}")
    if found != trained:
        wrong += 1
        print(f"saved {trained!r}, loaded {found!r}")
print("test loss", model.loss(args.lr, args.epochs))
sys.exit(wrong)
