"""Changes into the folder that it lies in, so that it can be started from anywhere, and keeps its history there."""

import argparse
import json
import os

parser = argparse.ArgumentParser()
parser.add_argument("--lr", type=float)
args = parser.parse_args()
os.chdir(os.path.dirname(os.path.abspath(__file__)))

with open("settings.json") as f:
    epochs = json.load(f)["epochs"]
for epoch in range(epochs):
    with open("history.csv", "a") as f:
        f.write(f"{args.lr},{epoch}\n")
os.mkdir("weights")
with open("weights/last", "w") as f:
    f.write(f"{args.lr}\n")
with open("history.csv") as f:
    print(len(f.readlines()), "lines of history")
