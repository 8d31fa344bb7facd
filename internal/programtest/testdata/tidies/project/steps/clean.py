"""Removes snapshots that are no longer the best, and imports modules of its own, whose caches the interpreter keeps."""

import glob
import os
import shutil
import sys

from steps.names import TRACE

if sys.dont_write_bytecode:
    sys.exit("this is to make caches")
for name in glob.glob("best/*.ckpt"):
    os.remove(name)
with open("best/new.ckpt", "w") as f:
    f.write(sys.argv[1] + "\n")
shutil.copyfile("best/new.ckpt", TRACE)
os.remove("steps/names.py")
os.link("kept/readme.txt", "readme.link")
if any(name.startswith("names.") for name in os.listdir("steps/__pycache__")):
    print("names is cached")
