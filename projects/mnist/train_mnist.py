"""Trains a multilayer perceptron with one hidden layer to read handwritten digits.

It uses PyTorch where that is installed, and numpy otherwise. Without MNIST's files it trains on
digits that it draws itself. Equal flags give equal results.
"""

import argparse
import json
import os
import sys
import time

try:
    import numpy as np
except ImportError:
    sys.exit(
        '%s has no numpy: run "%s -m pip install numpy", or put another python3 first on PATH'
        % (sys.executable, sys.executable)
    )

import data


def parse_flags():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    add = parser.add_argument
    add("--batchsize", "-b", type=at_least(1), default=100, help="images in a minibatch (100)")
    add("--epoch", "-e", type=at_least(1), default=20, help="passes over the training images (20)")
    add("--frequency", "-f", type=at_least(-1), default=1,
        help="epochs between checkpoints, -1 for one at the end only (1)")
    add("--gpu", "-g", type=at_least(-1), default=-1, help="number of the GPU, -1 for the CPU (-1)")
    add("--out", "-o", default="result", help="folder for log and checkpoint (result)")
    add("--resume", "-r", metavar="FILE", default="", help="go on from this checkpoint")
    add("--unit", "-u", type=at_least(1), default=1000, help="units of the hidden layer (1000)")
    add("--seed", type=at_least(0), default=0, help="seed of weights and order of images (0)")
    add("--data", metavar="FOLDER", default=os.environ.get("MNIST", ""),
        help="folder with MNIST's four files ($MNIST; without it, drawn digits)")
    add("--backend", choices=("auto", "torch", "numpy"), default="auto",
        help="what computes (auto: torch where it is installed, else numpy)")
    flags = parser.parse_args()
    if flags.frequency == 0:
        parser.error("--frequency must be at least 1, or -1 for one checkpoint at the end")
    return flags


def at_least(least):
    """Returns a type for argparse: an int that is not below least."""

    def parse(text):
        if int(text) < least:
            raise argparse.ArgumentTypeError("%s is less than %d" % (text, least))
        return int(text)

    parse.__name__ = "int"  # argparse shows it
    return parse


def find_backend(wanted, gpu):
    """Returns the name of the backend and its network's class."""
    if wanted != "numpy":
        try:
            from network_torch import Network

            return "torch", Network
        except ImportError:
            if wanted == "torch":
                raise ValueError(
                    "--backend torch: PyTorch is missing: install it with pip install torch, "
                    "or take --backend numpy"
                ) from None
    if gpu >= 0:
        raise ValueError(
            "--gpu %d: numpy computes on the CPU: use --backend torch, which needs PyTorch, "
            "or --gpu -1" % gpu
        )
    from network_numpy import Network

    return "numpy", Network


def save(path, settings, log, network):
    """Writes a checkpoint in one step: whoever stops this program, the file is whole."""
    with open(path + ".tmp", "wb") as file:
        np.savez(file, settings=json.dumps(settings), log=json.dumps(log), **network.state())
    os.replace(path + ".tmp", path)


def load(path, settings, network):
    """Restores the network from a checkpoint, and returns its log."""
    try:
        with open(path, "rb") as file, np.load(file) as saved:
            state = dict(saved)
        log, saved = json.loads(str(state.pop("log"))), json.loads(str(state.pop("settings")))
    except FileNotFoundError:
        raise ValueError("there is no checkpoint %s: name a file with --resume" % path) from None
    except Exception as fault:  # of many kinds, as the file may be anything
        raise ValueError("%s is not a checkpoint of this program: %s" % (path, fault)) from None
    other = [
        "%s %s, not %s" % (name, saved.get(name), value)
        for name, value in settings.items()
        if saved.get(name) != value
    ]
    if other:
        raise ValueError("%s is a checkpoint of another training: %s" % (path, "; ".join(other)))
    network.restore(state)
    return log


def resume(flags, checkpoint, settings, network):
    """Returns the log so far: of an earlier attempt, or of the checkpoint that --resume names.

    The earlier attempt started from that checkpoint, so its own one is further on.
    """
    log = []
    if os.environ.get("RESUMED") == "1" and os.path.exists(checkpoint):
        try:
            log = load(checkpoint, settings, network)
        except ValueError as fault:  # such as a backend that was installed in between
            print("starting anew: %s" % fault)
    if flags.resume and not log:
        checkpoint = flags.resume
        log = load(checkpoint, settings, network)
    if log:
        print("resumed from %s after epoch %d" % (checkpoint, len(log)))
    return log


def train_epoch(network, images, classes, batchsize, rng):
    """Goes over the images once, in random order, and returns their mean loss and accuracy."""
    order = rng.permutation(len(images))
    batches = [order[i : i + batchsize] for i in range(0, len(order), batchsize)]
    return mean([network.train(images[b], classes[b]) for b in batches], len(images))


def evaluate(network, images, classes, size=1000):
    """Returns the mean loss and accuracy, without training."""
    batches = [slice(i, i + size) for i in range(0, len(images), size)]
    return mean([network.evaluate(images[b], classes[b]) for b in batches], len(images))


def mean(sums, count):
    return [sum(column) / count for column in zip(*sums)]


def run(flags):
    images, classes, test_images, test_classes = data.load(flags.data)
    backend, make_network = find_backend(flags.backend, flags.gpu)
    network = make_network(images.shape[1], flags.unit, data.CLASSES, flags.seed, flags.gpu)
    print("GPU: %d" % flags.gpu)
    print("# unit: %d" % flags.unit)
    print("# Minibatch-size: %d" % flags.batchsize)
    print("# epoch: %d" % flags.epoch)
    print("# data: %s, %d images and %d to validate"
        % (flags.data or "drawn digits", len(images), len(test_images)))
    print("# backend: %s\n" % backend)

    os.makedirs(flags.out, exist_ok=True)
    checkpoint = os.path.join(flags.out, "checkpoint.npz")
    settings = {name: getattr(flags, name) for name in ("batchsize", "unit", "seed", "data")}
    settings["backend"] = backend
    log = resume(flags, checkpoint, settings, network)
    every = flags.frequency if flags.frequency > 0 else flags.epoch
    begin = time.monotonic() - (log[-1]["elapsed_time"] if log else 0)
    for epoch in range(len(log) + 1, flags.epoch + 1):
        rng = np.random.default_rng([flags.seed, epoch])  # so that a checkpoint needs none of it
        loss, accuracy = train_epoch(network, images, classes, flags.batchsize, rng)
        test_loss, test_accuracy = evaluate(network, test_images, test_classes)
        log.append({
            "epoch": epoch,
            "main/loss": loss,
            "main/accuracy": accuracy,
            "validation/main/loss": test_loss,
            "validation/main/accuracy": test_accuracy,
            "elapsed_time": time.monotonic() - begin,
        })
        print("  ".join("%s %.4g" % item for item in log[-1].items()), flush=True)
        if epoch % every == 0 or epoch == flags.epoch:
            save(checkpoint, settings, log, network)
    with open(os.path.join(flags.out, "log"), "w", encoding="utf-8") as file:
        json.dump(log, file, indent=1)


if __name__ == "__main__":
    try:
        run(parse_flags())
    except (ValueError, data.DataError, OSError) as fault:
        sys.exit("train_mnist.py: %s" % fault)
