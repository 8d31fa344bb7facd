#!/usr/bin/env python3
"""Trains a small multilayer perceptron to read 8 by 8 digits. Plain Python 3.8 or newer, no packages.

    python3 train.py                              draws its own images
    python3 train.py --epoch 20 --resume          goes on from result/checkpoint.json
    python3 train.py --data optdigits.tra         reads the UCI ones

Exit codes: 0 trained; 1 the training diverged or its files cannot be written; 2 wrong flags, data or checkpoint;
130 or 143 stopped by SIGINT or SIGTERM, in which case the checkpoint holds the last finished epoch.
"""

import argparse
import hashlib
import math
import os
import random
import signal
import sys
import time

import checkpoint
import digits
from network import Network

MOMENTUM = 0.9
MEAN_GREY = 0.25  # about that of the images, as a share of full ink; inputs near a mean of 0 train faster
COLUMNS = [
    "epoch",
    "main/loss",
    "validation/main/loss",
    "main/accuracy",
    "validation/main/accuracy",
    "elapsed_time",
]


class UsageError(Exception):
    """The user asked for something that cannot be done."""


class Diverged(Exception):
    """The weights are no longer finite numbers."""


class Stopped(BaseException):
    """A signal asks to end; .number is the signal's. Not an Exception: nothing on the way may swallow it."""

    def __init__(self, number):
        super().__init__(number)
        self.number = number


# ---------------------------------------------------------------- flags


def positive(kind):
    """A type for argparse: a finite number of this kind above zero."""

    def parse(text):
        number = kind(text)
        if not 0 < number < math.inf:
            raise argparse.ArgumentTypeError("%s is not above 0" % text)
        return number

    parse.__name__ = kind.__name__
    return parse


def flags(arguments):
    parser = argparse.ArgumentParser(description="Trains a small multilayer perceptron to read 8x8 digits.")
    parser.add_argument("--batchsize", "-b", type=positive(int), default=20, help="images per minibatch (20)")
    parser.add_argument("--epoch", "-e", type=positive(int), default=8, help="times to go through the images (8)")
    parser.add_argument("--unit", "-u", type=positive(int), default=32, help="hidden units (32)")
    parser.add_argument("--lr", type=positive(float), default=0.1, help="learning rate (0.1)")
    parser.add_argument("--seed", type=int, default=0, help="of the first weights and the order of images (0)")
    parser.add_argument("--gpu", "-g", default="-1", help="-1 is the CPU, the only device there is (-1)")
    parser.add_argument("--out", "-o", default="result", help="folder for log and checkpoint.json (result)")
    parser.add_argument(
        "--resume",
        "-r",
        nargs="?",
        const="auto",
        default="",
        metavar="FILE",
        help="go on from a checkpoint; without FILE, or 'auto', from the one in --out if it is there",
    )
    parser.add_argument("--data", "-d", default="", metavar="FILE", help="a UCI optdigits file instead of drawn images")
    return parser.parse_args(arguments)


# ---------------------------------------------------------------- set up


def load_data(path):
    """(inputs, classes) for training and for validation, and a name that tells these data from others.

    An input is 64 floats, the share of full ink less MEAN_GREY.
    """
    training, validation = digits.load(path or None)
    content = hashlib.sha256()
    for images, classes in (training, validation):
        for image in images:
            content.update(bytes(image))
        content.update(bytes(classes))
    name = "%s, %d+%d images, %s" % (
        os.path.basename(path) if path else "drawn",
        len(training[0]),
        len(validation[0]),
        content.hexdigest()[:12],
    )

    def inputs(images):
        return [[grey / digits.INK - MEAN_GREY for grey in image] for image in images]

    return (inputs(training[0]), training[1]), (inputs(validation[0]), validation[1]), name


def start(options, settings, path, again):
    """The training to run: the one of a checkpoint, or a new one.

    again: this is a later attempt of the same task in the same folder. Then its own checkpoint is taken up without being
    asked for, and one that does not fit (the task was changed in between) is no error.
    """
    source = path if options.resume == "auto" else options.resume
    training = None
    if source and (options.resume != "auto" or os.path.lexists(path)):
        training = checkpoint.load(source, settings)
    elif again and not source and os.path.lexists(path):
        source = path
        try:
            training = checkpoint.load(source, settings)
        except checkpoint.CheckpointError as fault:
            say("starting anew: %s" % fault)
    if training is None:
        rng = random.Random(options.seed)
        return checkpoint.Training(settings, Network.drawn([digits.PIXELS, options.unit, digits.CLASSES], rng), rng)
    done = len(training.log)
    if done > options.epoch:
        raise UsageError("checkpoint %s is at epoch %d already, past --epoch %d" % (source, done, options.epoch))
    print("resumed from %s after epoch %d" % (source, done), flush=True)
    return training


def print_header(options, data, environment):
    if environment.get("HOST"):
        print("# host: %s, slot: %s" % (environment["HOST"], environment.get("SLOT", "-")))
    if options.gpu != "-1":
        say("--gpu %s: this plain Python training has no GPU path and goes on on the CPU" % options.gpu)
    print("GPU: -1 (CPU)")
    print("# unit: %d" % options.unit)
    print("# Minibatch-size: %d" % options.batchsize)
    print("# epoch: %d" % options.epoch)
    print("# lr: %g, momentum: %g, seed: %d" % (options.lr, MOMENTUM, options.seed))
    print("# data: %s" % data)
    print("", flush=True)


# ---------------------------------------------------------------- training


def train_epoch(training, data, batchsize, lr):
    """Goes through the images once, in an order of the training's own: mean loss and share of correct answers."""
    images, classes = data
    order = list(range(len(images)))
    training.rng.shuffle(order)
    loss, correct = 0.0, 0
    for first in range(0, len(order), batchsize):
        chosen = order[first : first + batchsize]
        batch_loss, batch_correct = training.network.train(
            [images[i] for i in chosen], [classes[i] for i in chosen], lr, MOMENTUM
        )
        loss += batch_loss
        correct += batch_correct
    return loss / len(order), correct / len(order)


def run(training, options, data, validation, path):
    """Trains to the last epoch; after each, a line of the table, the log and the checkpoint."""
    log_path = os.path.join(options.out, "log")
    checkpoint.write_json(log_path, training.log)
    print("  ".join(column.ljust(10) for column in COLUMNS), flush=True)
    for row in training.log:
        print_row(row)
    before = training.log[-1]["elapsed_time"] if training.log else 0.0
    started = time.monotonic()
    for epoch in range(len(training.log) + 1, options.epoch + 1):
        loss, accuracy = train_epoch(training, data, options.batchsize, options.lr)
        validation_loss, correct = training.network.evaluate(*validation)
        if not (math.isfinite(loss) and math.isfinite(validation_loss)):
            raise Diverged("training diverged in epoch %d; try an --lr below %g" % (epoch, options.lr))
        row = {
            "epoch": epoch,
            "iteration": epoch * math.ceil(len(data[0]) / options.batchsize),
            "main/loss": loss,
            "main/accuracy": accuracy,
            "validation/main/loss": validation_loss / len(validation[0]),
            "validation/main/accuracy": correct / len(validation[0]),
            "elapsed_time": before + time.monotonic() - started,
        }
        training.log.append(row)
        training.save(path)  # before the log: the log is written again from it, never the other way round
        checkpoint.write_json(log_path, training.log)
        print_row(row)
    last = training.log[-1]
    print("validation loss: %.4f" % last["validation/main/loss"])
    print("validation accuracy: %.4f" % last["validation/main/accuracy"], flush=True)


def print_row(row):
    print("  ".join(("%.6g" % row[name]).ljust(max(10, len(name))) for name in COLUMNS), flush=True)


# ---------------------------------------------------------------- from the shell


def say(text):
    print("train.py: %s" % text, file=sys.stderr, flush=True)


def main(options, environment):
    """Runs the program and returns its exit code."""
    path = os.path.join(options.out, "checkpoint.json")
    try:
        data, validation, name = load_data(options.data)
        settings = {flag: getattr(options, flag) for flag in ("batchsize", "unit", "lr", "seed")}
        settings["data"] = name
        print_header(options, name, environment)
        training = start(options, settings, path, environment.get("RESUMED") == "1")
        os.makedirs(options.out, exist_ok=True)
        run(training, options, data, validation, path)
        return 0
    except (UsageError, digits.DataError, checkpoint.CheckpointError) as fault:
        say("error: %s" % fault)
        return 2
    except Diverged as fault:
        say("error: %s" % fault)
        return 1
    except BrokenPipeError:  # whoever read the output has gone; do not complain a second time at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as fault:
        say("error: cannot write to --out %s: %s" % (options.out, fault.strerror or fault))
        return 1
    except Stopped as stop:
        say("stopped by %s; --resume goes on from %s if an epoch was finished" % (signal.Signals(stop.number).name, path))
        return 128 + stop.number


def stop(number, _frame):
    for each in (signal.SIGTERM, signal.SIGINT):  # the first is enough
        signal.signal(each, signal.SIG_IGN)
    raise Stopped(number)


if __name__ == "__main__":
    wanted = flags(sys.argv[1:])
    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    sys.exit(main(wanted, os.environ))
