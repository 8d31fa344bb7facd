"""Tests of the mnist project: python3 -m unittest, in this folder. They take some seconds."""

import contextlib
import gzip
import io
import os
import struct
import sys
import tempfile
import unittest
from unittest import mock

import numpy as np

import data
import network_numpy
import train_mnist

try:
    import torch
except ImportError:
    torch = None
BACKENDS = ["numpy"] + (["torch"] if torch else [])


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)


class Gradient(unittest.TestCase):
    def test_agrees_with_finite_differences(self):
        rng = np.random.default_rng(1)
        network = network_numpy.Network(6, 5, 4, 1, -1)
        for name in network.names:
            network.arrays[name] = network.arrays[name].astype(float)
        images, classes = rng.random((7, 6)), rng.integers(0, 4, 7)
        hidden, probabilities, _, _ = network.forward(images, classes)
        for name, gradient in network.gradients(images, classes, hidden, probabilities).items():
            array = network.arrays[name]
            for place in np.ndindex(array.shape):
                value, losses = array[place], []
                for step in (1e-6, -1e-6):
                    array[place] = value + step
                    losses.append(network.evaluate(images, classes)[0] / len(classes))
                array[place] = value
                self.assertAlmostEqual((losses[0] - losses[1]) / 2e-6, gradient[place], places=6)

    @unittest.skipUnless(torch, "SKIPPED: PyTorch is not installed")
    def test_adam_is_that_of_pytorch(self):
        network = network_numpy.Network(3, 2, 2, 1, -1)
        start = network.arrays["weights1"].copy()
        parameter = torch.nn.Parameter(torch.from_numpy(start.copy()))
        adam = torch.optim.Adam([parameter])
        for step in range(5):
            gradient = np.cos(np.arange(6, dtype=np.float32).reshape(3, 2) + step)
            network.step({"weights1": gradient})
            parameter.grad = torch.from_numpy(gradient.copy())
            adam.step()
        moved = parameter.detach().numpy()
        np.testing.assert_allclose(network.arrays["weights1"], moved, atol=1e-6)


class Flags(unittest.TestCase):
    def refused(self, flag):
        """Returns what the program says to a wrong flag."""
        complaint = io.StringIO()
        with mock.patch.object(sys, "argv", ["program", flag]):
            with contextlib.redirect_stderr(complaint), self.assertRaises(SystemExit) as exit:
                train_mnist.parse_flags()
        self.assertEqual(exit.exception.code, 2)
        return complaint.getvalue()

    def test_wrong_values(self):
        for flag, complaint in {
            "--epoch=x": "argument --epoch/-e: invalid int value: 'x'",
            "--epoch=0": "argument --epoch/-e: 0 is less than 1",
            "--seed=-1": "argument --seed: -1 is less than 0",
            "--gpu=-5": "argument --gpu/-g: -5 is less than -1",
            "--frequency=0": "--frequency must be at least 1, or -1 for one checkpoint at the end",
            "--frequency=-2": "argument --frequency/-f: -2 is less than -1",
        }.items():
            with self.subTest(flag):
                self.assertIn(complaint, self.refused(flag))


class Checkpoint(Folder):
    def train(self, *flags, environment=None):
        """Runs a small training in this process, and returns what it printed."""
        flags = ["train_mnist.py", "--unit=20", "--out=" + self.path("result"), *flags]
        printed = io.StringIO()
        with mock.patch.object(sys, "argv", flags), contextlib.redirect_stdout(printed):
            with mock.patch.dict(os.environ, {"RESUMED": "0", "MNIST": "", **(environment or {})}):
                train_mnist.run(train_mnist.parse_flags())
        return printed.getvalue()

    def saved(self):
        """Returns what the last checkpoint has, but for times."""
        with np.load(self.path("result/checkpoint.npz")) as file:
            return {name: array.tolist() for name, array in file.items() if name != "log"}

    def test_goes_on_where_it_was(self):
        for backend in BACKENDS:
            with self.subTest(backend):
                self.train("--backend=" + backend, "--epoch=4")
                undisturbed = self.saved()
                self.train("--backend=" + backend, "--epoch=2")
                self.assertNotEqual(self.saved(), undisturbed)
                checkpoint = self.path("result/checkpoint.npz")
                resumed = self.train("--backend=" + backend, "--epoch=4", "--resume=" + checkpoint)
                self.assertIn("after epoch 2\nepoch 3 ", resumed)
                self.assertEqual(self.saved(), undisturbed)

    def test_of_another_training(self):
        self.train("--backend=numpy", "--epoch=1")
        checkpoint = self.path("result/checkpoint.npz")
        with self.assertRaisesRegex(ValueError, "another training: seed 0, not 1$"):
            self.train("--backend=numpy", "--seed=1", "--resume=" + checkpoint)
        anew = self.train(
            "--backend=numpy", "--seed=1", "--epoch=1", environment={"RESUMED": "1"}
        )
        self.assertIn("starting anew: ", anew)
        with open(checkpoint, "wb") as file:
            file.write(b"PK\3\4 but no more")
        with self.assertRaisesRegex(ValueError, "is not a checkpoint of this program"):
            self.train("--backend=numpy", "--resume=" + checkpoint)
        with self.assertRaisesRegex(ValueError, "there is no checkpoint none.npz"):
            self.train("--backend=numpy", "--resume=none.npz")

    def test_further_attempt_prefers_its_own(self):
        self.train("--backend=numpy", "--epoch=1", "--out=" + self.path("earlier"))
        given = "--resume=" + self.path("earlier/checkpoint.npz")
        self.train("--backend=numpy", "--epoch=2", given)
        own = self.path("result/checkpoint.npz")
        again = {"RESUMED": "1"}
        resumed = self.train("--backend=numpy", "--epoch=3", given, environment=again)
        self.assertIn("resumed from %s after epoch 2\nepoch 3 " % own, resumed)
        with open(own, "wb") as file:
            file.write(b"PK\3\4 but no more")
        resumed = self.train("--backend=numpy", "--epoch=2", given, environment=again)
        self.assertIn("earlier/checkpoint.npz after epoch 1\nepoch 2 ", resumed)

    def test_frequency(self):
        kept = []
        save = lambda path, settings, log, network: kept.append(len(log))
        with mock.patch.object(train_mnist, "save", save):
            for frequency in (1, 2, -1):
                self.train("--backend=numpy", "--epoch=5", "--frequency=%d" % frequency)
        self.assertEqual(kept, [1, 2, 3, 4, 5, 2, 4, 5, 5])


class Images(Folder):
    def write(self, name, array, opened=open):
        header = struct.pack(">HBB%dI" % array.ndim, 0, 8, array.ndim, *array.shape)
        with opened(self.path(name), "wb") as file:
            file.write(header + array.astype(np.uint8).tobytes())

    def write_all(self):
        for name, count in (("train", 12), ("t10k", 5)):
            images = np.arange(count * 6).reshape(count, 3, 2)
            self.write(name + "-images-idx3-ubyte", images)
            self.write(name + "-labels-idx1-ubyte.gz", np.arange(count) % 10, gzip.open)

    def test_files_of_mnist(self):
        self.write_all()
        images, classes, test_images, test_classes = data.load(self.folder)
        self.assertEqual((images.shape, images.dtype), ((12, 6), np.float32))
        self.assertEqual([round(p * 255) for p in images[2]], [12, 13, 14, 15, 16, 17])
        self.assertEqual(classes.tolist(), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1])
        self.assertEqual((len(test_images), test_classes.tolist()), (5, [0, 1, 2, 3, 4]))

    def test_missing_files(self):
        with self.assertRaisesRegex(data.DataError, "lacks train-images.*: download .*https://"):
            data.load(self.folder)

    def test_damaged_files(self):
        damage = {
            "t10k-images-idx3-ubyte": [b"", b"\0\0\x08", b"<html>", b"\0\0\x08\3\0\0\0\1"],
            "t10k-labels-idx1-ubyte.gz": [b"", b"<html>", gzip.compress(b"\0\0\x08\1\0\0\0\1\0")],
        }
        for name, contents in damage.items():
            for content in contents:
                self.write_all()
                with open(self.path(name), "wb") as file:
                    file.write(content)
                with self.subTest(content), self.assertRaisesRegex(data.DataError, name):
                    data.load(self.folder)

    def test_drawn_digits(self):
        images, classes, test_images, test_classes = data.load("")
        self.assertEqual((images.min(), images.max()), (0, 1))
        self.assertEqual(np.bincount(classes).tolist(), [50] * 10)
        self.assertFalse(np.array_equal(images, test_images))
        self.assertTrue(all(np.array_equal(a, b) for a, b in zip(data.load(""), data.load(""))))


if __name__ == "__main__":
    unittest.main()
