"""Classifies texts by their words, and measures by cross-validation how well.

The model is a convolution over embeddings where PyTorch is installed, and a bag of words in numpy
otherwise. Without a folder of labelled texts it reads synthetic reviews. Equal flags
give equal results.
"""

import argparse
import json
import os
import sys

try:
    import numpy as np
except ImportError:
    sys.exit(
        '%s has no numpy: run "%s -m pip install numpy", or put another python3 first on PATH'
        % (sys.executable, sys.executable)
    )

import corpus


def parse_flags():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    add = parser.add_argument
    add("--model", choices=("auto", "cnn", "bow"), default="auto",
        help="cnn: a convolution (PyTorch), bow: a bag of words (auto: cnn if possible)")
    add("--maxiter", type=at_least(1), default=12, help="passes over the training texts (12)")
    add("--nemb", type=at_least(1), default=16, help="embedding size (16)")
    add("--minibatchsize", type=at_least(1), default=20, help="batch size (20)")
    add("--dropoutrate", type=float, default=0.5, help="dropout rate of the hidden layer (0.5)")
    add("--optimizer", choices=("sgd", "adagrad", "adam"), default="adam")
    add("--decay", type=float, default=1e-4, help="weight decay (1e-4)")
    add("--nfolds", type=at_least(2), default=3, help="folds of the cross-validation (3)")
    add("--seed", type=at_least(0), default=0, help="seed of folds, weights and order of texts (0)")
    add("--data", metavar="FOLDER", default=os.environ.get("CORPUS", ""),
        help="folder of FOLDER/LABEL/FILE ($CORPUS; without it, synthetic reviews)")
    add("--out", metavar="FOLDER", default="result", help="folder for the checkpoint (result)")
    flags = parser.parse_args()
    if not 0 <= flags.dropoutrate < 1:
        parser.error("--dropoutrate must be at least 0 and below 1")
    if not 0 <= flags.decay < float("inf"):
        parser.error("--decay must be at least 0")
    return flags


def at_least(least):
    """Returns a type for argparse: an int that is not below least."""

    def parse(text):
        if int(text) < least:
            raise argparse.ArgumentTypeError("%s is less than %d" % (text, least))
        return int(text)

    parse.__name__ = "int"  # argparse shows it
    return parse


def find_model(wanted):
    """Returns the name of the model and its class."""
    if wanted != "bow":
        try:
            from model_cnn import Model

            return "cnn", Model
        except ImportError:
            if wanted == "cnn":
                raise ValueError(
                    "--model cnn: PyTorch is missing: install it with pip install torch, "
                    "or take --model bow"
                ) from None
    from model_bow import Model

    return "bow", Model


def split(labels, folds, rng):
    """Returns a fold for each text, with as many of each class in every fold as can be."""
    fold = np.empty(len(labels), int)
    for label in np.unique(labels):
        members = rng.permutation(np.flatnonzero(labels == label))
        fold[members] = np.arange(len(members)) % folds
    return fold


def validate(flags, make_model, texts, fold, number):
    """Trains on all folds but one, and returns the accuracy on that one."""

    def batches(chosen):
        for first in range(0, len(chosen), flags.minibatchsize):
            batch = chosen[first : first + flags.minibatchsize]
            yield [texts.documents[i] for i in batch], texts.labels[batch]

    training, held_out = np.flatnonzero(fold != number), np.flatnonzero(fold == number)
    rng = np.random.default_rng([flags.seed, number])
    model = make_model(
        len(texts.words), len(texts.classes), flags.nemb, flags.dropoutrate,
        flags.optimizer, flags.decay, seed=int(rng.integers(2**31)),
    )
    for iteration in range(1, flags.maxiter + 1):
        losses = [model.fit(*batch) for batch in batches(rng.permutation(training))]
        print("fold %d  iteration %d  loss %.4f" % (number + 1, iteration, np.mean(losses)))
    correct = sum((model.predict(d) == labels).sum() for d, labels in batches(held_out))
    return float(correct / len(held_out))


def save(path, value):
    """Writes a file in one step: whoever stops this program, the file is whole."""
    with open(path + ".tmp", "w", encoding="utf-8") as file:
        json.dump(value, file)
    os.replace(path + ".tmp", path)


def load(path, settings):
    """Returns the accuracies of the folds that an earlier attempt of this task has finished."""
    if os.environ.get("RESUMED") != "1" or not os.path.exists(path):
        return []
    try:
        with open(path, encoding="utf-8") as file:
            saved = json.load(file)
        other = saved["settings"] != settings
        accuracies = [float(accuracy) for accuracy in saved["accuracies"]]
    except Exception as fault:  # of many kinds, as the file may be anything
        print("starting anew: %s is not a checkpoint of this program: %s" % (path, fault))
        return []
    if other:
        print("starting anew: %s is a checkpoint of other settings" % path)
        return []
    print("resumed from %s after fold %d" % (path, len(accuracies)))
    return accuracies


def report(**metrics):
    """Prints metrics as a line that a sweep picks up without a pattern."""
    rounded = {name: round(float(value), 4) for name, value in metrics.items()}
    print(json.dumps({"metrics": rounded}), flush=True)


def run(flags):
    texts = corpus.load(flags.data)
    name, make_model = find_model(flags.model)
    if min(np.bincount(texts.labels)) < flags.nfolds:
        raise ValueError("--nfolds %d: a class has fewer texts than that" % flags.nfolds)
    print("# %d texts, %d words, classes: %s" % (
        len(texts.documents), len(texts.words) - 1, ", ".join(texts.classes)))
    print("# model: %s" % name)

    os.makedirs(flags.out, exist_ok=True)
    checkpoint = os.path.join(flags.out, "checkpoint.json")
    settings = {**vars(flags), "model": name}
    accuracies = load(checkpoint, settings)
    fold = split(texts.labels, flags.nfolds, np.random.default_rng(flags.seed))
    for number in range(flags.nfolds):
        if number == len(accuracies):
            accuracies.append(validate(flags, make_model, texts, fold, number))
            save(checkpoint, {"settings": settings, "accuracies": accuracies})
        report(**{"fold_%d" % (number + 1): accuracies[number]})
    report(accuracy=np.mean(accuracies), deviation=np.std(accuracies, ddof=1))


if __name__ == "__main__":
    try:
        run(parse_flags())
    except (ValueError, corpus.CorpusError, OSError) as fault:
        sys.exit("bowcnn.py: %s" % fault)
