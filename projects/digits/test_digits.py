"""Tests of the digits project: python3 -m unittest, in this folder. Standard library only, a few seconds."""

import contextlib
import io
import json
import math
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from unittest import mock

import checkpoint
import digits
import network
import train

HERE = os.path.dirname(os.path.abspath(__file__))
SPARE_KEYS = ("HOST", "SLOT", "RESUMED")  # a sweep may run these tests; they must not see its variables


class Folder(unittest.TestCase):
    """A test with a temporary folder and a small data file in it."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.data = self.path("small.tra")
        write(self.data, optdigits_lines(60))

    def path(self, name):
        return os.path.join(self.folder, name)

    def train(self, *arguments, out="result", environment=None):
        """Runs a small training in this process: (exit code, stdout, stderr)."""
        stdout, stderr = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(stdout), contextlib.redirect_stderr(stderr):
            try:
                code = train.main(
                    train.flags(
                        ["--data", self.data, "--out", self.path(out), "--unit=5", "--batchsize=7"] + list(arguments)
                    ),
                    environment or {},
                )
            except SystemExit as stop:  # argparse
                code = stop.code
        return code, stdout.getvalue(), stderr.getvalue()

    def result(self, out="result"):
        """What a training left, but for the time it took."""
        with open(self.path(out + "/checkpoint.json"), encoding="utf-8") as file:
            saved = json.load(file)
        for row in saved["log"]:
            del row["elapsed_time"]
        return saved


def optdigits_lines(count):
    return [",".join(map(str, image + [digit])) for image, digit in zip(*digits.drawn(count))]


def write(path, lines):
    with open(path, "w", encoding="utf-8") as file:
        file.write("".join(line + "\n" for line in lines))


class Gradient(unittest.TestCase):
    def test_agrees_with_finite_differences(self):
        rng = random.Random(3)
        net = network.Network.drawn([6, 5, 4, 3], rng)  # two hidden layers: more than train.py uses
        batch = [[rng.gauss(0, 1) for _ in range(6)] for _ in range(7)]
        classes = [rng.randrange(3) for _ in batch]
        gradients, _, _ = net.gradients(batch, classes)
        step = 1e-6

        def slope(numbers, i):
            """(L(x + step) - L(x - step)) / (2 step), L the mean loss and x one of the numbers."""
            kept, losses = numbers[i], []
            for x in (kept + step, kept - step):
                numbers[i] = x
                losses.append(net.evaluate(batch, classes)[0] / len(batch))
            numbers[i] = kept
            return (losses[0] - losses[1]) / (2 * step)

        for layer, (weights, biases) in zip(net.layers, gradients):
            for row, expected in list(zip(layer.weights, weights)) + [(layer.biases, biases)]:
                for i, value in enumerate(expected):
                    self.assertAlmostEqual(slope(row, i), value, delta=1e-7)

    def test_step_has_momentum(self):
        layer = network.Layer([[1.0, 2.0]])
        layer.step([[0.5, -1.0]], [2.0], lr=0.1, momentum=0.9)
        layer.step([[0.5, -1.0]], [2.0], lr=0.1, momentum=0.9)
        for value, expected in zip(layer.weights[0] + layer.biases, [1 - 0.05 - 0.095, 2 + 0.1 + 0.19, -0.2 - 0.38]):
            self.assertAlmostEqual(value, expected, places=12)

    def test_judge_survives_large_logits(self):
        probabilities, loss, correct = network.judge([[1e4, -1e4], [-1e4, 1e4]], [0, 0])
        self.assertEqual((probabilities, loss, correct), ([[1.0, 0.0], [0.0, 1.0]], 2e4, 1))

    def test_judge_of_nan_is_nan(self):
        for row in ([math.nan, 1.0], [1.0, math.nan], [math.inf, 1.0], [math.nan, math.nan]):
            self.assertTrue(math.isnan(network.judge([row], [1])[1]), row)


class Drawing(unittest.TestCase):
    def test_follows_its_seed(self):
        self.assertEqual(digits.drawn(50, seed=4), digits.drawn(50, seed=4))
        self.assertNotEqual(digits.drawn(50, seed=4), digits.drawn(50, seed=5))

    def test_images_are_in_the_form_of_optdigits(self):
        images, classes = digits.drawn(200)
        self.assertEqual([classes.count(digit) for digit in range(10)], [20] * 10)
        for image in images:
            self.assertEqual(len(image), 64)
            self.assertTrue(all(type(grey) is int and 0 <= grey <= 16 for grey in image))
            self.assertGreater(sum(image), 60)  # some ink

    def test_a_thick_line_is_full_inside_and_antialiased_at_its_edge(self):
        grey = [0.0] * digits.PIXELS
        digits.ink_segment(grey, (3.25, -5.0), (3.25, 20.0), radius=1.0, pressure=1.0)
        self.assertEqual(grey[8:16], [0.0, 0.0, 0.25, 1.0, 0.75, 0.0, 0.0, 0.0])

    def test_training_and_validation_share_no_image(self):
        training, validation = digits.load()
        self.assertEqual((len(training[0]), len(validation[0])), (digits.TRAIN, digits.VALIDATION))
        self.assertFalse(set(map(tuple, training[0])) & set(map(tuple, validation[0])))


class Optdigits(Folder):
    def test_reads_what_was_written(self):
        self.assertEqual(digits.read_optdigits(self.data), digits.drawn(60))

    def test_empty_lines_spaces_and_windows_ends_do_not_matter(self):
        lines = optdigits_lines(60)
        with open(self.data, "wb") as file:
            file.write(b"\xef\xbb\xbf" + "\r\n\r\n".join(lines).replace(",", ", ").encode())
        self.assertEqual(digits.read_optdigits(self.data), digits.drawn(60))

    def test_a_quarter_is_for_validation(self):
        training, validation = digits.load(self.data)
        self.assertEqual([len(part) for part in training + validation], [45, 45, 15, 15])
        self.assertEqual(digits.load(self.data), (training, validation))

    def test_names_the_faulty_lines(self):
        lines = optdigits_lines(60)
        lines[2] = lines[2][:-2]
        lines[4] = "x" + lines[4]
        lines[6] = "17" + lines[6][1:]
        lines[8] = lines[8][:-1] + "10"
        write(self.data, lines)
        code, stdout, stderr = self.train()
        self.assertEqual((code, stdout), (2, ""))
        for part in (
            "line 3: 64 fields by commas, expected 65",
            "line 5: field 1: 'x",
            "line 7: field 1: grey value 17",
            "line 9: field 65: digit 10 is not within 0 to 9",
        ):
            self.assertIn(part, stderr)

    def test_five_faulty_lines_are_enough(self):
        write(self.data, ["1,2,3"] * 30)
        _, _, stderr = self.train()
        self.assertIn("line 5: 3 fields", stderr)
        self.assertNotIn("line 6:", stderr)
        self.assertIn("and 25 more", stderr)

    def test_unusable_files(self):
        write(self.path("empty"), [])
        with open(self.path("compressed"), "wb") as file:
            file.write(b"\x1f\x8b\x08\x00\xff\xfe")
        for name, message in (
            ("missing", "No such file"),
            (".", "directory"),
            ("empty", "has 0 images"),
            ("compressed", "not text"),
        ):
            self.data = self.path(name)
            code, _, stderr = self.train()
            self.assertEqual(code, 2, name)
            self.assertIn(message, stderr)


class Training(Folder):
    def test_learns(self):
        code, stdout, _ = self.train("--epoch=30", "--unit=16")
        self.assertEqual(code, 0)
        log = self.result()["log"]
        self.assertEqual([row["epoch"] for row in log], list(range(1, 31)))
        self.assertGreater(log[-1]["main/accuracy"], 0.95)
        with open(self.path("result/log"), encoding="utf-8") as file:
            self.assertEqual([row["main/loss"] for row in json.load(file)], [row["main/loss"] for row in log])
        lines = stdout.splitlines()
        self.assertEqual(lines[-1], "validation accuracy: %.4f" % log[-1]["validation/main/accuracy"])
        self.assertEqual(sum(line.split(" ")[0].isdigit() for line in lines), 30)

    def test_resumed_equals_uninterrupted(self):
        self.train("--epoch=6", out="through")
        self.train("--epoch=2", out="parts")
        self.train("--epoch=3", "--resume", out="parts")
        code, stdout, _ = self.train("--epoch=6", "--resume", self.path("parts/checkpoint.json"), out="parts")
        self.assertEqual(code, 0)
        self.assertIn("after epoch 3", stdout)
        self.assertEqual(self.result("parts"), self.result("through"))

    def test_an_attempt_resumes_its_own_checkpoint(self):
        self.train("--epoch=2")
        again = {"RESUMED": "1", "HOST": "gpu1", "SLOT": "0"}
        _, stdout, _ = self.train("--epoch=2", environment=again)
        self.assertIn("after epoch 2", stdout)
        self.assertIn("gpu1, slot: 0", stdout)
        self.assertIn("validation accuracy: ", stdout)
        _, stdout, _ = self.train("--epoch=2", environment={"RESUMED": "0"})
        self.assertNotIn("resumed", stdout)
        code, stdout, stderr = self.train("--epoch=2", "--lr=0.2", environment=again)
        self.assertEqual(code, 0)
        self.assertNotIn("resumed", stdout)
        self.assertIn("starting anew", stderr)

    def test_resume_without_a_checkpoint_starts(self):
        for flag in ("--resume", "--resume=auto", "--resume="):
            code, stdout, _ = self.train("--epoch=1", flag, out=flag)
            self.assertEqual(code, 0)
            self.assertNotIn("resumed", stdout)

    def test_unusable_checkpoints(self):
        self.train("--epoch=3")
        own = self.path("result/checkpoint.json")
        with open(own, encoding="utf-8") as file:
            whole = file.read()
        write(self.path("half"), [whole[: len(whole) // 2]])
        write(self.path("other"), ['{"epoch": 3}'])
        write(self.path("list"), ["[1, 2]"])
        write(self.path("newer"), [whole.replace('"format": 1', '"format": 99')])
        for arguments, message in (
            (["--resume", self.path("missing")], "No such file"),
            (["--resume", self.folder], "directory"),
            (["--resume", self.path("half")], "damaged"),
            (["--resume", self.path("other")], "not a checkpoint"),
            (["--resume", self.path("list")], "not a checkpoint"),
            (["--resume", self.path("newer")], "format 99, not 1"),
            (["--resume", "--lr=0.25", "--seed=1"], "of another training: lr 0.1, not 0.25; seed 0, not 1"),
            (["--resume", "--epoch=2"], "at epoch 3 already, past --epoch 2"),
        ):
            code, _, stderr = self.train(*arguments)
            self.assertEqual(code, 2, arguments)
            self.assertIn(message, stderr)
        with open(own, encoding="utf-8") as file:
            self.assertEqual(file.read(), whole)

    def test_bad_flags(self):
        for flag in ("--epoch=0", "--unit=-3", "--batchsize=x", "--lr=nan", "--lr=0", "--lr=inf", "--seed=", "--no=1"):
            code, stdout, stderr = self.train(flag)
            self.assertEqual((code, stdout), (2, ""), flag)
            self.assertIn("error: ", stderr)

    def test_another_gpu_is_said_and_ignored(self):
        code, stdout, stderr = self.train("--gpu=0", "--epoch=1")
        self.assertEqual(code, 0)
        self.assertIn("no GPU path", stderr)
        self.assertIn("GPU: -1 (CPU)", stdout)

    def test_divergence_is_a_failure(self):
        code, stdout, stderr = self.train("--lr=1e200")
        self.assertEqual(code, 1)
        self.assertIn("try an --lr below", stderr)
        self.assertNotIn("validation accuracy:", stdout)

    def test_out_that_cannot_be_written(self):
        write(self.path("taken"), [])
        code, _, stderr = self.train(out="taken")
        self.assertEqual(code, 1)
        self.assertIn("cannot write to --out", stderr)

    def test_a_full_disk_leaves_the_last_checkpoint(self):
        self.train("--epoch=1")
        before = self.result()
        full = OSError(28, "No space left on device")
        with mock.patch.object(checkpoint.os, "replace", side_effect=full):
            code, _, stderr = self.train("--epoch=2", "--resume")
        self.assertEqual(code, 1)
        self.assertIn("No space left on device", stderr)
        self.assertEqual(self.result(), before)
        self.assertEqual(sorted(os.listdir(self.path("result"))), ["checkpoint.json", "log"])


class Process(Folder):
    """What only a process of its own shows."""

    def start(self, *arguments):
        environment = {key: value for key, value in os.environ.items() if key not in SPARE_KEYS}
        return subprocess.Popen(
            [sys.executable, os.path.join(HERE, "train.py"), "--data", self.data] + list(arguments),
            cwd=self.folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            universal_newlines=True,
        )

    def test_sigterm_ends_soon_and_nothing_is_lost(self):
        child = self.start("--epoch=1000000", "--unit=5", "--batchsize=7")
        self.addCleanup(child.stdout.close)
        self.addCleanup(child.stderr.close)
        self.addCleanup(child.kill)
        for line in child.stdout:  # flushed line by line: this loop would wait for ever if it were not
            if line.startswith("3 "):
                break
        asked = time.monotonic()
        child.send_signal(signal.SIGTERM)
        _, stderr = child.communicate()
        self.assertLess(time.monotonic() - asked, 30.0)  # a tenth of a second on an idle machine
        self.assertEqual(child.returncode, 143)
        self.assertIn("stopped by SIGTERM", stderr)
        self.assertNotIn("Traceback", stderr)
        target = len(self.result()["log"]) + 2
        self.assertEqual(self.train("--epoch=%d" % target, "--resume")[0], 0)
        self.train("--epoch=%d" % target, out="through")
        self.assertEqual(self.result(), self.result("through"))

    def test_a_reader_that_leaves_is_no_trace(self):
        child = self.start("--epoch=100000")
        child.stdout.readline()
        child.stdout.close()
        with child.stderr:
            self.assertEqual(child.stderr.read(), "")
        self.assertEqual(child.wait(), 1)


if __name__ == "__main__":
    unittest.main()
