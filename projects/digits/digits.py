"""Images of handwritten-like digits, 8 by 8 grey values: drawn here, or read from a UCI optdigits file.

An image is a list of 64 integers, row by row from the top left: 0 is paper, 16 is full ink. That is the
form of the UCI data set "Optical Recognition of Handwritten Digits" (Alpaydin and Kaynak, 1998), so drawn
and read images are interchangeable.

    python3 digits.py            shows some drawn digits as text
    python3 digits.py 500 > F    writes 500 of them to F in the optdigits form, for train.py --data F
"""

import math
import random
import sys

SIDE = 8  # pixels along each side
PIXELS = SIDE * SIDE
INK = 16  # grey value of full ink
CLASSES = 10

TRAIN, VALIDATION = 1600, 500  # images drawn by drawn()
DRAWING_SEED = 1998  # the drawn images are the same for every --seed: hyperparameters compete on equal data


class DataError(Exception):
    """The named data file cannot be used; the text says why, with line numbers."""


# ---------------------------------------------------------------- the strokes of the ten digits


def arc(cx, cy, rx, ry, start, end, steps=8):
    """Points on an ellipse from angle start to end, in degrees, 0 to the right and 90 down."""
    angles = (math.radians(start + (end - start) * i / steps) for i in range(steps + 1))
    return [(cx + rx * math.cos(a), cy + ry * math.sin(a)) for a in angles]


# Polylines in a unit square, x to the right and y down, as a right-handed European writes them. Where a digit has
# several entries, each is a way in which people write it.
STROKES = {
    0: [[arc(0.50, 0.50, 0.27, 0.40, -90, 270, 14)]],
    1: [[[(0.32, 0.30), (0.55, 0.10), (0.55, 0.90)]], [[(0.52, 0.10), (0.50, 0.90)]]],
    2: [[arc(0.49, 0.33, 0.25, 0.23, -170, 35) + [(0.25, 0.90), (0.77, 0.90)]]],
    3: [[arc(0.46, 0.30, 0.25, 0.20, -150, 90) + arc(0.46, 0.70, 0.28, 0.20, -90, 150)]],
    4: [
        [[(0.63, 0.90), (0.63, 0.10), (0.22, 0.62), (0.80, 0.62)]],
        [[(0.30, 0.12), (0.25, 0.52), (0.75, 0.52)], [(0.70, 0.15), (0.62, 0.90)]],
    ],
    5: [[[(0.74, 0.10), (0.33, 0.10), (0.30, 0.44)] + arc(0.47, 0.65, 0.27, 0.25, -120, 140)]],
    6: [[[(0.64, 0.10), (0.38, 0.38)] + arc(0.50, 0.67, 0.24, 0.23, -180, 180, 12)]],
    7: [
        [[(0.22, 0.12), (0.76, 0.12), (0.42, 0.90)]],
        [[(0.22, 0.12), (0.76, 0.12), (0.42, 0.90)], [(0.36, 0.50), (0.70, 0.50)]],
    ],
    8: [[arc(0.50, 0.30, 0.20, 0.20, 90, 450, 10), arc(0.50, 0.70, 0.25, 0.20, -90, 270, 10)]],
    9: [[arc(0.48, 0.33, 0.23, 0.23, 0, -360, 12) + [(0.70, 0.45), (0.58, 0.90)]]],
}


# ---------------------------------------------------------------- drawing


def draw(digit, rng):
    """One image of the digit: 64 grey values. All chance comes from rng, a random.Random."""
    strokes = rng.choice(STROKES[digit])
    width = rng.uniform(0.70, 1.05)
    height = rng.uniform(0.80, 1.02)
    slant = rng.gauss(0.12, 0.14)  # sideways shift per unit of height; positive leans to the right
    turn = rng.gauss(0.0, 0.07)  # radians
    shift_x, shift_y = rng.uniform(-0.6, 0.6), rng.uniform(-0.4, 0.4)  # pixels
    radius = rng.uniform(0.32, 0.72)  # half the width of the pen, pixels
    pressure = rng.uniform(0.72, 1.0)  # grey of the line, 1 is full ink
    cos, sin = math.cos(turn), math.sin(turn)
    # A slow wave over the sheet bends the lines as an unsteady hand does: one amplitude and phase per axis.
    wave_x, wave_y = rng.gauss(0.0, 0.045), rng.gauss(0.0, 0.045)
    phase_x, phase_y = rng.uniform(0.0, 2 * math.pi), rng.uniform(0.0, 2 * math.pi)

    def place(x, y):
        """From the unit square to pixels; pixel (column, row) has its centre at those whole numbers."""
        u = (x - 0.5 + wave_x * math.sin(5 * y + phase_x)) * width
        v = (y - 0.5 + wave_y * math.sin(5 * x + phase_y)) * height
        u -= slant * v
        u, v = u * cos - v * sin, u * sin + v * cos
        middle = (SIDE - 1) / 2
        return middle + shift_x + u * (SIDE - 0.5), middle + shift_y + v * (SIDE - 0.5)

    grey = [0.0] * PIXELS
    for stroke in strokes:
        points = [place(x, y) for x, y in stroke]
        for start, end in zip(points, points[1:]):
            ink_segment(grey, start, end, radius, pressure)
    spread = rng.uniform(0.02, 0.09)  # standard deviation of the paper's and the scanner's noise
    return [min(INK, max(0, round(INK * (g + rng.gauss(0.0, spread))))) for g in grey]


def ink_segment(grey, start, end, radius, pressure):
    """Darkens the pixels near one segment, antialiased: coverage falls from 1 to 0 over one pixel at the line's edge."""
    (ax, ay), (bx, by) = start, end
    dx, dy = bx - ax, by - ay
    length2 = dx * dx + dy * dy
    reach = radius + 0.5
    left, right = max(0, math.ceil(min(ax, bx) - reach)), min(SIDE - 1, math.floor(max(ax, bx) + reach))
    top, bottom = max(0, math.ceil(min(ay, by) - reach)), min(SIDE - 1, math.floor(max(ay, by) + reach))
    for row in range(top, bottom + 1):
        for column in range(left, right + 1):
            along = 0.0
            if length2 > 0.0:
                along = min(1.0, max(0.0, ((column - ax) * dx + (row - ay) * dy) / length2))
            distance = math.hypot(column - ax - along * dx, row - ay - along * dy)
            ink = pressure * min(1.0, reach - distance)
            if ink > grey[row * SIDE + column]:
                grey[row * SIDE + column] = ink


def drawn(count, seed=DRAWING_SEED):
    """count images with their digits, as many of each class as can be, in mixed order: (images, classes)."""
    rng = random.Random(seed)
    classes = [i % CLASSES for i in range(count)]
    rng.shuffle(classes)
    return [draw(digit, rng) for digit in classes], classes


# ---------------------------------------------------------------- reading optdigits


def read_optdigits(path):
    """The images and classes of an optdigits file (.tra, .tes): 64 integers 0 to 16 and the digit, by commas.

    Empty lines are passed over. Raises DataError with the number of each faulty line, up to five of them.
    """
    images, classes, faults = [], [], []
    try:
        with open(path, encoding="utf-8-sig") as lines:
            for number, line in enumerate(lines, 1):
                if not line.strip():
                    continue
                try:
                    image, digit = parse_line(line)
                except ValueError as fault:
                    faults.append("line %d: %s" % (number, fault))
                    continue
                images.append(image)
                classes.append(digit)
    except UnicodeDecodeError:
        raise DataError("%s is not text; is it still compressed?" % path)
    except OSError as fault:
        raise DataError("cannot read %s: %s" % (path, fault.strerror or fault))
    if faults:
        more = ["and %d more" % (len(faults) - 5)] if len(faults) > 5 else []
        raise DataError("%s is not an optdigits file\n  %s" % (path, "\n  ".join(faults[:5] + more)))
    if len(images) < 2 * CLASSES:
        raise DataError("%s has %d images; training needs %d or more" % (path, len(images), 2 * CLASSES))
    return images, classes


def parse_line(line):
    """(image, digit) of one line; ValueError says what is wrong with it."""
    fields = line.strip().split(",")
    if len(fields) != PIXELS + 1:
        raise ValueError("%d fields by commas, expected %d: 64 grey values and the digit" % (len(fields), PIXELS + 1))
    numbers = []
    for position, field in enumerate(fields, 1):
        top, what = (CLASSES - 1, "digit") if position > PIXELS else (INK, "grey value")
        try:
            number = int(field)
        except ValueError:
            raise ValueError("field %d: %.20r is not a whole number" % (position, field))
        if not 0 <= number <= top:
            raise ValueError("field %d: %s %d is not within 0 to %d" % (position, what, number, top))
        numbers.append(number)
    return numbers[:PIXELS], numbers[PIXELS]


# ---------------------------------------------------------------- data sets


def load(path=None):
    """((images, classes) to train on, (images, classes) to validate on), the same at every call.

    Without a path they are drawn. Of a file, the last quarter in a fixed mixed order is for validation.
    """
    if path is None:
        images, classes = drawn(TRAIN + VALIDATION)
        cut = TRAIN
    else:
        images, classes = read_optdigits(path)
        order = list(range(len(images)))
        random.Random(DRAWING_SEED).shuffle(order)
        images, classes = [images[i] for i in order], [classes[i] for i in order]
        cut = len(images) - len(images) // 4
    return (images[:cut], classes[:cut]), (images[cut:], classes[cut:])


def as_text(image):
    """The image in eight lines of text, darker characters for more ink."""
    shades = " .:-=+*#%@"
    rows = (image[row * SIDE : (row + 1) * SIDE] for row in range(SIDE))
    return "\n".join("".join(2 * shades[grey * (len(shades) - 1) // INK] for grey in row) for row in rows)


def main(arguments):
    if arguments:
        if len(arguments) > 1 or not arguments[0].isdigit():
            sys.exit(__doc__)
        for image, digit in zip(*drawn(int(arguments[0]))):
            print(",".join(str(number) for number in image + [digit]))
        return
    for image, digit in zip(*drawn(20)):
        print("%d\n%s\n" % (digit, as_text(image)))


if __name__ == "__main__":
    main(sys.argv[1:])
