"""A multilayer perceptron in plain Python: forward, backpropagation, stochastic gradient descent with momentum.

Shapes are written B for the images of a minibatch, I and O for the inputs and outputs of a layer. A matrix is a
list of rows. Sums of products are written sum(map(mul, a, b)), the fastest form that the standard library of every
supported Python has.

Sources: Rumelhart, Hinton and Williams, "Learning representations by back-propagating errors" (1986) for
backpropagation and momentum; Bishop, "Pattern Recognition and Machine Learning" (2006), 4.3.4 and 5.3, for softmax
cross-entropy and its gradient.
"""

import math
from operator import mul


class Layer:
    """y = W x + b, with W of shape O by I and b of O, and the velocities that momentum needs."""

    def __init__(self, weights):
        self.weights = weights
        self.biases = [0.0] * len(weights)
        self.velocity = [[0.0] * len(row) for row in weights]
        self.bias_velocity = [0.0] * len(weights)

    @classmethod
    def drawn(cls, inputs, outputs, variance, rng):
        """A layer with normally distributed weights and no biases."""
        deviation = math.sqrt(variance)
        return cls([[rng.gauss(0.0, deviation) for _ in range(inputs)] for _ in range(outputs)])

    def forward(self, batch):
        """B by I to B by O."""
        rows = list(zip(self.weights, self.biases))
        return [[sum(map(mul, row, x), bias) for row, bias in rows] for x in batch]

    def gradient(self, batch, delta):
        """dL/dW (O by I) and dL/db (O), given the inputs (B by I) and delta = dL/dy (B by O)."""
        columns = list(zip(*batch))
        weights = [[sum(map(mul, d, column)) for column in columns] for d in zip(*delta)]
        return weights, [sum(d) for d in zip(*delta)]

    def backward(self, delta):
        """dL/dx (B by I), given delta = dL/dy (B by O)."""
        columns = list(zip(*self.weights))
        return [[sum(map(mul, d, column)) for column in columns] for d in delta]

    def step(self, weights, biases, lr, momentum):
        """One step down the gradients (O by I, O): v = momentum v - lr g, then W = W + v."""
        for j, row in enumerate(weights):
            velocity = [momentum * v - lr * g for v, g in zip(self.velocity[j], row)]
            self.velocity[j] = velocity
            self.weights[j] = [w + v for w, v in zip(self.weights[j], velocity)]
        self.bias_velocity = [momentum * v - lr * g for v, g in zip(self.bias_velocity, biases)]
        self.biases = [b + v for b, v in zip(self.biases, self.bias_velocity)]

    def state(self):
        """All numbers of the layer, in a form for JSON."""
        return dict(vars(self))

    @classmethod
    def restored(cls, state):
        layer = cls(state["weights"])
        layer.biases, layer.velocity, layer.bias_velocity = state["biases"], state["velocity"], state["bias_velocity"]
        return layer


class Network:
    """Layers with rectifiers (ReLU) between them; the outputs of the last are the logits of the classes."""

    def __init__(self, layers):
        self.layers = layers

    @classmethod
    def drawn(cls, sizes, rng):
        """A network of the given sizes, inputs first and classes last, with weights from rng (a random.Random).

        Variance 2/I before a rectifier (He et al., "Delving deep into rectifiers", 2015, equation 10) and
        2/(I+O) for the last layer (Glorot and Bengio, "Understanding the difficulty of training deep feedforward
        neural networks", 2010, equation 12).
        """
        layers = []
        for inputs, outputs in zip(sizes, sizes[1:]):
            last = len(layers) == len(sizes) - 2
            layers.append(Layer.drawn(inputs, outputs, 2.0 / (inputs + outputs) if last else 2.0 / inputs, rng))
        return cls(layers)

    def forward(self, batch):
        """The inputs of every layer (B by I each) and the logits (B by classes)."""
        inputs = [batch]
        for layer in self.layers[:-1]:
            inputs.append([[y if y > 0.0 else 0.0 for y in row] for row in layer.forward(inputs[-1])])
        return inputs, self.layers[-1].forward(inputs[-1])

    def gradients(self, batch, classes):
        """(gradients of the mean loss, one (weights, biases) per layer; summed loss; correct answers)."""
        inputs, logits = self.forward(batch)
        probabilities, loss, correct = judge(logits, classes)
        # The gradient of mean softmax cross-entropy by the logits is (p - onehot) / B (Bishop, equation 4.109).
        scale = 1.0 / len(batch)
        delta = [[p * scale for p in row] for row in probabilities]
        for row, wanted in zip(delta, classes):
            row[wanted] -= scale
        gradients = []
        for depth in range(len(self.layers) - 1, -1, -1):
            layer, x = self.layers[depth], inputs[depth]
            gradients.append(layer.gradient(x, delta))
            if depth > 0:  # a rectifier passes the gradient where it passed its input
                delta = [
                    [d if y > 0.0 else 0.0 for d, y in zip(row, outputs)]
                    for row, outputs in zip(layer.backward(delta), x)
                ]
        return gradients[::-1], loss, correct

    def train(self, batch, classes, lr, momentum):
        """One step of gradient descent; returns the summed loss and the correct answers before it."""
        gradients, loss, correct = self.gradients(batch, classes)
        for layer, (weights, biases) in zip(self.layers, gradients):
            layer.step(weights, biases, lr, momentum)
        return loss, correct

    def evaluate(self, batch, classes):
        """Summed loss and correct answers."""
        _, loss, correct = judge(self.forward(batch)[1], classes)
        return loss, correct

    def state(self):
        return [layer.state() for layer in self.layers]

    @classmethod
    def restored(cls, state):
        return cls([Layer.restored(layer) for layer in state])


def judge(logits, classes):
    """Softmax probabilities (B by classes), summed cross-entropy in nats, and how many answers are correct.

    The largest logit is subtracted first, so exp cannot overflow. Weights that are no longer finite give a loss
    that is not finite, and no exception.
    """
    probabilities, loss, correct = [], 0.0, 0
    for row, wanted in zip(logits, classes):
        top = max(row)
        powers = [math.exp(z - top) for z in row]
        total = sum(powers)
        probabilities.append([power / total for power in powers])
        loss += math.log(total) + top - row[wanted]
        correct += row.index(top) == wanted
    return probabilities, loss, correct
