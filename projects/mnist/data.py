"""Images of handwritten digits and their classes: MNIST's files, or digits that are drawn here."""

import gzip
import os

import numpy as np

# MNIST's files, each of which may be compressed.
FILES = (
    "train-images-idx3-ubyte",
    "train-labels-idx1-ubyte",
    "t10k-images-idx3-ubyte",
    "t10k-labels-idx1-ubyte",
)
SOURCE = "https://ossci-datasets.s3.amazonaws.com/mnist"
CLASSES = 10

TRAIN, TEST = 500, 500  # drawn images: as many as numpy gets through quickly on one core
SIDE = 14  # pixels along each side of a drawn image, half of MNIST's
DRAWING_SEED = 1998  # apart from --seed: all trainings see the same images


class DataError(Exception):
    """The images cannot be read; the text says why and what to do."""


def load(folder):
    """Returns training images and classes, test images and classes; drawn ones without a folder.

    Images are rows of pixels between 0 and 1 (float32), classes are numbers from 0 to 9.
    """
    if not folder:
        rng = np.random.default_rng(DRAWING_SEED)
        return draw(TRAIN, rng) + draw(TEST, rng)
    paths = [find(folder, name) for name in FILES]
    missing = [name for name, path in zip(FILES, paths) if path is None]
    if missing:
        raise DataError(
            "%s lacks %s: download MNIST's four files from %s as README.md shows, "
            "or unset --data and $MNIST to draw digits" % (folder, missing[0], SOURCE)
        )
    return read(paths[0], paths[1]) + read(paths[2], paths[3])


def read(images_path, classes_path):
    images, classes = read_idx(images_path), read_idx(classes_path)
    if images.ndim != 3 or classes.shape != images.shape[:1] or classes.max(initial=0) >= CLASSES:
        raise DataError(
            "%s does not have one digit for each image: download both again" % classes_path
        )
    return to_rows(images), classes.astype(np.int64)


def find(folder, name):
    """Returns the path of a file, compressed or not; None when there is neither."""
    paths = [os.path.join(folder, name + suffix) for suffix in ("", ".gz")]
    return next((path for path in paths if os.path.exists(path)), None)


def read_idx(path):
    """Reads an IDX file of bytes: two zeros, the type 8, the number of dimensions, their sizes as
    big-endian 32-bit numbers, then the values, the last dimension running fastest."""
    try:
        with (gzip.open if path.endswith(".gz") else open)(path, "rb") as file:
            content = file.read()
        if content[:3] != b"\0\0\x08":
            raise ValueError("it does not begin as an IDX file of bytes")
        shape = np.frombuffer(content, ">u4", count=content[3], offset=4)
        values = np.frombuffer(content, np.uint8, offset=4 + 4 * len(shape))
        return values.reshape(shape)
    except (OSError, EOFError, ValueError, IndexError) as fault:
        raise DataError("cannot read %s: %s: download it again" % (path, fault))


def to_rows(images):
    return images.reshape(len(images), -1).astype(np.float32) / 255


# Ten digits of 5 by 7 cells.
GLYPHS = """
.###. ..#.. .###. .###. ...#. ##### .###. ##### .###. .###.
#...# .##.. #...# #...# ..##. #.... #...# ....# #...# #...#
#...# ..#.. ....# ....# .#.#. #.... #.... ...#. #...# #...#
#...# ..#.. ...#. ..##. #..#. ####. ####. ..#.. .###. .####
#...# ..#.. ..#.. ....# ##### ....# #...# ..#.. #...# ....#
#...# ..#.. .#... #...# ...#. #...# #...# ..#.. #...# #...#
.###. .###. ##### .###. ...#. .###. .###. ..#.. .###. .###.
"""


def glyphs():
    """Returns the ten digits as an array of 10 by 9 by 7 cells, with a margin of one cell."""
    lines = GLYPHS.split("\n")[1:-1]
    rows = [[[cell == "#" for cell in digit] for digit in line.split()] for line in lines]
    return np.pad(np.array(rows, np.float32).transpose(1, 0, 2), ((0, 0), (1, 1), (1, 1)))


def draw(count, rng):
    """Draws images: each is one of the ten digits, turned, slanted, stretched, moved and noisy."""
    classes = rng.permutation(np.arange(count) % CLASSES)

    def each(spread, mean=0.0):  # one number for each image, which broadcasts over its pixels
        return rng.normal(mean, spread, (count, 1, 1))

    y, x = np.mgrid[:SIDE, :SIDE] - (SIDE - 1) / 2
    x, y = x + each(0.6), y + each(0.5)
    turn, slant = each(0.12), each(0.12)
    x, y = np.cos(turn) * x + np.sin(turn) * y + slant * y, np.cos(turn) * y - np.sin(turn) * x
    x, y = x / np.exp(each(0.15, 0.45)), y / np.exp(each(0.12, 0.45))  # from pixels to cells
    ink = sample(glyphs()[classes], x, y)
    ink = ink * rng.uniform(0.5, 1.0, (count, 1, 1)) + rng.normal(0, 0.1, ink.shape)
    pixels = (np.clip(ink, 0, 1) * 255).astype(np.uint8)  # as MNIST's files have them
    return to_rows(pixels), classes


def sample(cells, x, y):
    """Interpolates each image of cells at points of its own, which count from its middle."""
    count, height, width = cells.shape
    column = np.clip(x + (width - 1) / 2, 0, width - 1.001)
    row = np.clip(y + (height - 1) / 2, 0, height - 1.001)
    left, top = column.astype(int), row.astype(int)
    right, down = column - left, row - top  # how far to the next cell
    image = np.arange(count)[:, None, None]
    return (
        cells[image, top, left] * (1 - right) * (1 - down)
        + cells[image, top, left + 1] * right * (1 - down)
        + cells[image, top + 1, left] * (1 - right) * down
        + cells[image, top + 1, left + 1] * right * down
    )
