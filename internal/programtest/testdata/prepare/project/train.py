"""Takes positional configuration files, maps its data into memory, and keeps one checkpoint that is replaced as a whole."""

import mmap
import os
import shutil

lr, epochs, out_dir = 0.5, 1, "out"
exec(open("configurator.py").read())

os.makedirs(out_dir, exist_ok=True)
with open("data/letters/train.bin", "rb") as f:
    data = mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ)
for epoch in range(epochs):
    part = os.path.join(out_dir, "ckpt.part")
    with open(part, "w") as f:
        f.write(f"{len(data)} letters, lr {lr}, epoch {epoch}\n")
    os.replace(part, os.path.join(out_dir, "ckpt.pt"))
    shutil.copyfile(os.path.join(out_dir, "ckpt.pt"), os.path.join(out_dir, "best.pt"))
print("saved", os.path.join(out_dir, "ckpt.pt"))
