"""The network in numpy: a hidden layer of rectified linear units, trained by Adam."""

import numpy as np

RATE, DECAY_1, DECAY_2, EPSILON = 1e-3, 0.9, 0.999, 1e-8  # Adam's, as its authors propose


class Network:
    def __init__(self, inputs, units, classes, seed, gpu):
        """gpu is there for the other network's sake, and below 0."""
        rng = np.random.default_rng(seed)
        self.arrays = {}
        for name, columns, rows in (("1", inputs, units), ("2", units, classes)):
            weights = rng.normal(0, columns**-0.5, (columns, rows))
            self.arrays["weights" + name] = weights.astype(np.float32)
            self.arrays["biases" + name] = np.zeros(rows, np.float32)
        self.names = list(self.arrays)
        for name in self.names:
            self.arrays["first." + name] = np.zeros_like(self.arrays[name])
            self.arrays["second." + name] = np.zeros_like(self.arrays[name])
        self.arrays["steps"] = np.zeros((), np.int64)

    def state(self):
        """Returns everything that the next batches depend on, as arrays by name."""
        return self.arrays

    def restore(self, state):
        self.arrays = {name: state[name] for name in self.arrays}

    def evaluate(self, images, classes):
        """Returns the sum of the losses, and how many images are classified correctly."""
        _, _, loss, correct = self.forward(images, classes)
        return loss, correct

    def train(self, images, classes):
        """Makes one step of Adam, and returns what evaluate returned before it."""
        hidden, probabilities, loss, correct = self.forward(images, classes)
        self.step(self.gradients(images, classes, hidden, probabilities))
        return loss, correct

    def forward(self, images, classes):
        a = self.arrays
        hidden = np.maximum(images @ a["weights1"] + a["biases1"], 0)
        scores = hidden @ a["weights2"] + a["biases2"]
        scores -= scores.max(axis=1, keepdims=True)  # so that exp does not overflow
        logarithms = scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))
        loss = -logarithms[np.arange(len(classes)), classes].sum(dtype=np.float64)
        correct = (scores.argmax(axis=1) == classes).sum()
        return hidden, np.exp(logarithms), float(loss), int(correct)

    def gradients(self, images, classes, hidden, probabilities):
        """Returns the gradients of the mean loss, by the names of the parameters."""
        scores = probabilities.copy()
        scores[np.arange(len(classes)), classes] -= 1
        scores /= len(classes)
        inner = (scores @ self.arrays["weights2"].T) * (hidden > 0)
        return {
            "weights1": images.T @ inner,
            "biases1": inner.sum(axis=0),
            "weights2": hidden.T @ scores,
            "biases2": scores.sum(axis=0),
        }

    def step(self, gradients):
        a = self.arrays
        a["steps"] = a["steps"] + 1
        rate = RATE * np.sqrt(1 - DECAY_2 ** a["steps"]) / (1 - DECAY_1 ** a["steps"])
        for name, gradient in gradients.items():
            first, second = a["first." + name], a["second." + name]
            first += (1 - DECAY_1) * (gradient - first)
            second += (1 - DECAY_2) * (gradient**2 - second)
            a[name] -= (rate * first / (np.sqrt(second) + EPSILON)).astype(np.float32)
