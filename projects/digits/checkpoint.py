"""The state of a training in one JSON file, from which another run goes on as if nothing had happened.

"Exactly" holds under one version of Python: sum() of floats rounds differently from 3.12 on.
"""

import json
import os
import random

from network import Network

FORMAT = 1  # counts up when the file changes in a way that an older or newer train.py would misread


class CheckpointError(Exception):
    """The checkpoint cannot be used for this training; the text says why."""


class Training:
    """All that a training consists of between two epochs.

    settings: what decides its numbers; a checkpoint of other settings is foreign. The number of epochs is not
    among them: a finished training can be taken further.
    log: one mapping of names to numbers per finished epoch.
    """

    def __init__(self, settings, network, rng):
        self.settings, self.network, self.rng, self.log = settings, network, rng, []

    def save(self, path):
        version, numbers, spare = self.rng.getstate()
        write_json(
            path,
            {
                "format": FORMAT,
                "settings": self.settings,
                "log": self.log,
                "rng": [version, list(numbers), spare],
                "network": self.network.state(),
            },
        )


def load(path, settings):
    """The training saved at path, if its settings are these; otherwise CheckpointError."""
    try:
        with open(path, encoding="utf-8") as file:
            saved = json.load(file)
        if saved["format"] != FORMAT:
            raise CheckpointError("checkpoint %s has format %r, not %d" % (path, saved["format"], FORMAT))
        other = [
            "%s %s, not %s" % (name, saved["settings"][name], value)
            for name, value in settings.items()
            if saved["settings"][name] != value
        ]
        if other:
            raise CheckpointError("checkpoint %s is of another training: %s" % (path, "; ".join(other)))
        version, numbers, spare = saved["rng"]
        rng = random.Random()
        rng.setstate((version, tuple(numbers), spare))
        training = Training(settings, Network.restored(saved["network"]), rng)
        training.log = list(saved["log"])
        return training
    except OSError as fault:
        raise CheckpointError("cannot read checkpoint %s: %s" % (path, fault.strerror or fault))
    except (ValueError, KeyError, TypeError, AttributeError):  # not JSON, or JSON of something else
        raise CheckpointError("%s is not a checkpoint of this program, or it is damaged" % path)


def write_json(path, value):
    """Replaces the file in one step: whoever reads it, and whatever kills this process, it is whole.

    Not synced: a busy disk would stall every epoch, and after a power cut load() knows a damaged file.
    """
    temporary = path + ".tmp"
    try:
        with open(temporary, "w", encoding="utf-8") as file:
            json.dump(value, file)
            file.write("\n")
        os.replace(temporary, path)
    except BaseException:
        try:
            os.remove(temporary)
        except OSError:
            pass
        raise
