"""One example of several that share ../data, where the first prepares what it needs; pictures go into results/, which is there."""

import argparse
import os
import sys

parser = argparse.ArgumentParser()
parser.add_argument("--lr", type=float)
args = parser.parse_args()

if os.listdir("results"):
    sys.exit(f"results is not empty: {os.listdir('results')}")
os.makedirs("../data/MNIST/processed")
with open("../data/MNIST/raw/images") as raw, open("../data/MNIST/processed/training.pt", "w") as f:
    f.write(f"{raw.read().strip()} for {args.lr}\n")
for epoch in 1, 2:
    with open(f"results/sample_{epoch}.png", "w") as f:
        f.write(f"lr {args.lr}, epoch {epoch}\n")
print("in", os.path.relpath(os.getcwd(), os.environ["OUTPUT_DIR"]))
