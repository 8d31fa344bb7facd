"""Tests of the bowcnn project: python3 -m unittest, in this folder. They take some seconds."""

import contextlib
import io
import json
import os
import sys
import tempfile
import unittest
from unittest import mock

import numpy as np

import bowcnn
import corpus
import model_bow

try:
    import torch
except ImportError:
    torch = None
MODELS = ["bow"] + (["cnn"] if torch else [])


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)


class Gradient(unittest.TestCase):
    def test_agrees_with_finite_differences(self):
        documents = [np.array(d, int) for d in ([1, 2, 2], [3], [], [1, 4, 5])]
        labels = np.array([0, 1, 2, 1])
        model = model_bow.Model(6, 3, 4, 0, "sgd", 0, 1)
        model.parameters[1] += 0.05  # no unit at its corner
        found = []
        model.step = found.append
        model.fit(documents, labels)
        for parameter, gradient in zip(model.parameters, found[0]):
            for place in np.ndindex(parameter.shape):
                value, losses = parameter[place], []
                for step in (1e-6, -1e-6):
                    parameter[place] = value + step
                    losses.append(model.fit(documents, labels))
                parameter[place] = value
                self.assertAlmostEqual((losses[0] - losses[1]) / 2e-6, gradient[place], places=6)

    @unittest.skipUnless(torch, "SKIPPED: PyTorch is not installed")
    def test_optimizers_are_those_of_pytorch(self):
        start = np.linspace(-1, 1, 6)
        theirs = {
            "sgd": lambda p, rate: torch.optim.SGD([p], lr=rate, momentum=0.9),
            "adagrad": lambda p, rate: torch.optim.Adagrad([p], lr=rate),
            "adam": lambda p, rate: torch.optim.Adam([p], lr=rate),
        }
        for name, make in theirs.items():
            ours, parameter = start.copy(), torch.nn.Parameter(torch.from_numpy(start.copy()))
            optimizer = model_bow.Optimizer(name, [ours])
            other = make(parameter, model_bow.RATES[name])
            for step in range(5):
                gradient = np.cos(np.arange(6.0) + step)
                optimizer([gradient])
                parameter.grad = torch.from_numpy(gradient.copy())
                other.step()
            np.testing.assert_allclose(ours, parameter.detach().numpy(), atol=1e-9, err_msg=name)


class Flags(unittest.TestCase):
    def refused(self, flag):
        """Returns what the program says to a wrong flag."""
        complaint = io.StringIO()
        with mock.patch.object(sys, "argv", ["program", flag]):
            with contextlib.redirect_stderr(complaint), self.assertRaises(SystemExit) as exit:
                bowcnn.parse_flags()
        self.assertEqual(exit.exception.code, 2)
        return complaint.getvalue()

    def test_wrong_values(self):
        for flag, complaint in {
            "--maxiter=x": "argument --maxiter: invalid int value: 'x'",
            "--maxiter=0": "argument --maxiter: 0 is less than 1",
            "--seed=-1": "argument --seed: -1 is less than 0",
            "--nfolds=1": "argument --nfolds: 1 is less than 2",
            "--dropoutrate=1": "--dropoutrate must be at least 0 and below 1",
            "--decay=-1": "--decay must be at least 0",
            "--decay=nan": "--decay must be at least 0",
        }.items():
            with self.subTest(flag):
                self.assertIn(complaint, self.refused(flag))


class Validation(Folder):
    def classify(self, *flags, environment=None):
        """Runs a small cross-validation in this process, and returns what it printed."""
        flags = ["bowcnn.py", "--maxiter=1", "--out=" + self.path("result"), *flags]
        printed = io.StringIO()
        with mock.patch.object(sys, "argv", flags), contextlib.redirect_stdout(printed):
            with mock.patch.dict(os.environ, {"RESUMED": "0", "CORPUS": "", **(environment or {})}):
                bowcnn.run(bowcnn.parse_flags())
        return printed.getvalue()

    def test_every_text_is_held_out_once(self):
        labels = np.array([0] * 10 + [1] * 5)
        fold = bowcnn.split(labels, 3, np.random.default_rng(0))
        self.assertEqual(sorted(np.bincount(fold[labels == 0])), [3, 3, 4])
        self.assertEqual(sorted(np.bincount(fold[labels == 1])), [1, 2, 2])

    def test_goes_on_after_the_last_fold(self):
        for model in MODELS:
            with self.subTest(model):
                undisturbed = self.classify("--model=" + model)
                path = self.path("result/checkpoint.json")
                with open(path, encoding="utf-8") as file:
                    saved = json.load(file)
                saved["accuracies"] = saved["accuracies"][:1]
                bowcnn.save(path, saved)
                resumed = self.classify("--model=" + model, environment={"RESUMED": "1"})
                self.assertIn("after fold 1\n", resumed)
                self.assertNotIn("fold 1  iteration", resumed)
                self.assertEqual(metrics(resumed), metrics(undisturbed))
                self.assertEqual(len(metrics(resumed)), 4)
                anew = self.classify("--model=" + model, "--seed=1", environment={"RESUMED": "1"})
                self.assertIn("starting anew", anew)

    def test_damaged_checkpoint(self):
        undisturbed = self.classify("--model=bow")
        path = self.path("result/checkpoint.json")
        for content in (b"", b"{", b"[]", b"{}", b"\xff", b'{"settings": {}, "accuracies": [[]]}'):
            with open(path, "wb") as file:
                file.write(content)
            with self.subTest(content):
                anew = self.classify("--model=bow", environment={"RESUMED": "1"})
                self.assertIn("starting anew: %s is not a checkpoint of this program: " % path, anew)
                self.assertEqual(metrics(anew), metrics(undisturbed))

    def test_folds(self):
        with self.assertRaisesRegex(ValueError, "--nfolds 301: a class has fewer texts"):
            self.classify("--nfolds=301")


def metrics(printed):
    return [line for line in printed.splitlines() if line.startswith("{")]


class Texts(Folder):
    def test_folder(self):
        for name in ("good/1.txt", "good/2.txt", "poor/1.txt"):
            os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
            with open(self.path(name), "w", encoding="utf-8") as file:
                file.write("Never a dull moment, never!" if "good" in name else "A dull evening")
        texts = corpus.load(self.folder)
        self.assertEqual(texts.classes, ["good", "poor"])
        self.assertEqual(texts.labels.tolist(), [0, 0, 1])
        self.assertEqual(texts.words, ["", "a", "dull", "moment", "never"])
        self.assertEqual([d.tolist() for d in texts.documents], [[4, 1, 2, 3, 4]] * 2 + [[1, 2]])

    def test_hidden_files_and_folders(self):
        for name in ("good/1.txt", "poor/1.txt", "good/.DS_Store", ".git/config"):
            os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
            with open(self.path(name), "w", encoding="utf-8") as file:
                file.write("text")
        self.assertEqual(corpus.read(self.folder), (["text", "text"], ["good", "poor"]))

    def test_unusable_folders(self):
        os.makedirs(self.path("one"))
        with open(self.path("one/file"), "w", encoding="utf-8") as file:
            file.write("text")
        with self.assertRaisesRegex(corpus.CorpusError, "has texts of 1 classes: it needs"):
            corpus.load(self.folder)
        with self.assertRaisesRegex(corpus.CorpusError, "cannot read .*none: No such file"):
            corpus.load(self.path("none"))

    def test_synthetic_reviews(self):
        texts, labels = corpus.write(200, 1)
        self.assertEqual(labels.count("praise"), 100)
        self.assertEqual((texts, labels), corpus.write(200, 1))
        self.assertNotEqual(texts, corpus.write(200, 2)[0])


if __name__ == "__main__":
    unittest.main()
