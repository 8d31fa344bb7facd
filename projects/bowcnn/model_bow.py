"""A bag of words in numpy: the embeddings of a document's words are added up, rectified and
classified. The order of words does not matter."""

import numpy as np

RATES = {"sgd": 0.05, "adagrad": 0.1, "adam": 0.01}  # learning rates
MOMENTUM = 0.9  # of sgd


class Model:
    def __init__(self, words, classes, nemb, dropoutrate, optimizer, decay, seed):
        self.rng = np.random.default_rng(seed)
        self.words, self.dropoutrate, self.decay = words, dropoutrate, decay
        self.parameters = [
            self.rng.normal(0, 0.1, (words, nemb)),
            np.zeros(nemb),
            self.rng.normal(0, nemb**-0.5, (nemb, classes)),
            np.zeros(classes),
        ]
        self.step = Optimizer(optimizer, self.parameters)

    def bags(self, documents):
        """Returns how often each document has each word, over the root of its length."""
        counts = np.array([np.bincount(d, minlength=self.words) for d in documents], float)
        return counts / np.sqrt(np.maximum(counts.sum(axis=1, keepdims=True), 1))

    def predict(self, documents):
        """Returns the number of the class of each document."""
        embeddings, biases, weights, more = self.parameters
        hidden = np.maximum(self.bags(documents) @ embeddings + biases, 0)
        return (hidden @ weights + more).argmax(axis=1)

    def fit(self, documents, labels):
        """Makes one step, and returns the mean loss before it."""
        embeddings, biases, weights, more = self.parameters
        bags = self.bags(documents)
        active = bags @ embeddings + biases
        kept = (self.rng.random(active.shape) >= self.dropoutrate) / (1 - self.dropoutrate)
        hidden = np.maximum(active, 0) * kept
        scores = hidden @ weights + more
        scores -= scores.max(axis=1, keepdims=True)  # so that exp does not overflow
        logarithms = scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))
        rows = np.arange(len(labels))
        loss = -logarithms[rows, labels].mean()

        # The gradients, from the loss back to the embeddings.
        errors = np.exp(logarithms)
        errors[rows, labels] -= 1
        errors /= len(labels)
        inner = (errors @ weights.T) * kept * (active > 0)
        gradients = [bags.T @ inner, inner.sum(axis=0), hidden.T @ errors, errors.sum(axis=0)]
        self.step([g + self.decay * p for g, p in zip(gradients, self.parameters)])
        return float(loss)


class Optimizer:
    """Changes parameters, in place, by their gradients."""

    def __init__(self, name, parameters):
        self.update, self.rate = getattr(self, name), RATES[name]
        self.states = [(p, np.zeros_like(p), np.zeros_like(p)) for p in parameters]
        self.steps = 0

    def __call__(self, gradients):
        self.steps += 1
        for (parameter, first, second), gradient in zip(self.states, gradients):
            parameter -= self.rate * self.update(gradient, first, second)

    def sgd(self, gradient, first, _second):
        first *= MOMENTUM
        first += gradient
        return first

    def adagrad(self, gradient, _first, second):
        second += gradient**2
        return gradient / (np.sqrt(second) + 1e-10)

    def adam(self, gradient, first, second):
        first += 0.1 * (gradient - first)
        second += 0.001 * (gradient**2 - second)
        mean, square = first / (1 - 0.9**self.steps), second / (1 - 0.999**self.steps)
        return mean / (np.sqrt(square) + 1e-8)
