"""Labelled texts: a folder of files, or synthetic reviews."""

import collections
import os
import re

import numpy as np

DOCUMENTS = 600  # synthetic: as many as numpy gets through quickly on one core
WRITING_SEED = 1913  # apart from --seed: all trainings read the same reviews
VOCABULARY = 20000  # the most frequent words; others are left out


class CorpusError(Exception):
    """The texts cannot be read; the text says why and what to do."""


class Corpus:
    """documents: arrays of the numbers of words, from 1, in the order of the text; 0 is no word.
    labels: an array of the numbers of classes. words, classes: what the numbers stand for."""

    def __init__(self, texts, labels):
        split = [re.findall(r"[\w']+", text.lower()) for text in texts]
        found = collections.Counter(word for words in split for word in set(words))
        kept = sorted(found, key=lambda word: (-found[word], word))[:VOCABULARY]
        self.words = [""] + [word for word in kept if found[word] > 1]
        numbers = {word: number for number, word in enumerate(self.words)}
        self.documents = [
            np.array([numbers[word] for word in words if word in numbers], np.int64)
            for words in split
        ]
        self.classes = sorted(set(labels))
        self.labels = np.array([self.classes.index(label) for label in labels])


def load(folder):
    """Returns the corpus of a folder, or a synthetic one without a folder."""
    texts, labels = read(folder) if folder else write(DOCUMENTS, WRITING_SEED)
    if len(set(labels)) < 2:
        raise CorpusError(
            "%s has texts of %d classes: it needs a folder for each of two classes or more, "
            "with text files in it" % (folder, len(set(labels)))
        )
    return Corpus(texts, labels)


def read(folder):
    """Reads FOLDER/LABEL/FILE: each file is a document, its folder's name is the label.

    Hidden files and folders, such as .DS_Store and .git, are not texts.
    """
    texts, labels = [], []
    try:
        for label in visible(folder):
            inner = os.path.join(folder, label)
            for name in visible(inner) if os.path.isdir(inner) else ():
                with open(os.path.join(inner, name), encoding="utf-8", errors="replace") as file:
                    texts.append(file.read())
                labels.append(label)
    except OSError as fault:
        raise CorpusError("cannot read %s: %s" % (fault.filename, fault.strerror)) from None
    return texts, labels


def visible(folder):
    return sorted(name for name in os.listdir(folder) if not name.startswith("."))


SUBJECTS = """plot acting music ending story camera dialogue cast pace sound script humour scenery
hero villain opening drama editing costumes lighting""".split()
PRAISE = """good great lovely clever moving funny brilliant fresh warm honest gripping charming
elegant superb vivid tender witty bold subtle sharp""".split()
BLAME = """bad awful boring stupid flat tired dull stale cold false clumsy noisy ugly poor grey
bitter silly timid crude blunt""".split()
ADVERBS = ["", "", "", "very", "quite", "really", "rather", "truly"]


def write(count, seed):
    """Generates reviews: sentences such as "the plot was not very good", of which most agree with
    the label. One in five says it by a "not", so that the order of words tells more than their
    numbers do."""
    rng = np.random.default_rng(seed)
    texts, labels = [], []
    for number in range(count):
        praised = number % 2 == 0
        sentences = []
        for _ in range(rng.integers(4, 10)):
            good = praised if rng.random() < 0.9 else not praised
            negated = rng.random() < 0.2
            adjectives = PRAISE if good != negated else BLAME
            rank = min(rng.geometric(0.12), len(adjectives)) - 1  # some words are rarer than others
            words = ["the", rng.choice(SUBJECTS), "was", "not" if negated else ""]
            words += [rng.choice(ADVERBS), adjectives[rank]]
            sentences.append(" ".join(filter(None, words)))
        texts.append(". ".join(sentences))
        labels.append("praise" if praised else "blame")
    return texts, labels
