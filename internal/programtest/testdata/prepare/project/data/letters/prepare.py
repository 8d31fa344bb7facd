"""Makes train.bin beside itself, over one that may be there, through a mapping."""

import mmap
import os

here = os.path.dirname(__file__)
with open(os.path.join(here, "input.txt"), "rb") as f:
    text = f.read()
with open(os.path.join(here, "train.bin"), "r+b") as f:
    f.truncate(len(text))
    with mmap.mmap(f.fileno(), 0) as mapped:
        mapped[:] = text.upper()
