"""Lists a data set that is too large to be copied, and keeps the list beside the files, in each folder and for all."""

import argparse
import os
import sys

parser = argparse.ArgumentParser()
parser.add_argument("--lr", type=float)
args = parser.parse_args()

files = 0
for folder, folders, names in os.walk("data"):
    if "list.cache" in names:
        sys.exit(f"somebody else's cache in {folder}")
    files += len([name for name in names if os.path.getsize(os.path.join(folder, name))])
    if folder == "data" or folder.endswith("0"):
        with open(os.path.join(folder, "list.cache"), "w") as f:
            f.write(f"listed for {args.lr}\n")
with open("data/part0/0.jpg") as f:
    first = f.read().strip()
print(files, "files, the first is", first)
