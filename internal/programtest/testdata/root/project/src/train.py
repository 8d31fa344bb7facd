"""Finds the root of its project from where this file really is, and writes only below it, wherever it was started."""

import argparse
import json
import os
import sys
from pathlib import Path

from nets import weights

ROOT = Path(__file__).resolve().parent
while not (ROOT / ".project-root").exists():
    ROOT = ROOT.parent
parser = argparse.ArgumentParser()
parser.add_argument("--lr", type=float)
args = parser.parse_args()
config = json.loads((ROOT / "configs" / "train.json").read_text())
os.chdir("/")

cache = ROOT / config["paths"]["data"] / "processed.json"
if cache.exists():
    sys.exit(f"somebody else's cache: {cache.read_text()}")
cache.write_text(json.dumps({"rows": (ROOT / "data" / "raw.csv").read_text().split(","), "lr": args.lr}) + "\n")

run = ROOT / config["paths"]["logs"] / "train" / "runs" / "same-second"
run.mkdir(parents=True)
(run / "config.json").write_text(json.dumps({"lr": args.lr}) + "\n")
saved = ROOT / "saved" / "models"
saved.mkdir(parents=True)
for epoch in range(config["epochs"]):
    (saved / f"epoch-{epoch}.ckpt").write_text(weights(args.lr, epoch))
(saved / "last.ckpt").symlink_to("epoch-1.ckpt")
print("root is", "the working directory" if str(ROOT) == os.environ["OUTPUT_DIR"] else ROOT)
