"""Train a small network to tell which of random points lie inside a ring.

Run it: python examples/train_cell.py
"""

import sys

import numpy as np

import pijit
import pijit.ms as ms
from pijit.ms import nn


class Classifier(nn.Cell):
    """Two layers. The answer for each point is two numbers; the greater one decides."""

    def __init__(self, width):
        super().__init__()
        self.hidden = nn.Dense(2, width)
        self.output = nn.Dense(width, 2)
        self.tanh = nn.Tanh()

    def construct(self, points):
        return self.output(self.tanh(self.hidden(points)))


def ring(count, seed):
    """Random points, and for each whether it lies between two circles."""
    points = np.random.RandomState(seed).uniform(-1.0, 1.0, (count, 2)).astype(np.float32)
    radius = np.sqrt((points ** 2).sum(axis=1))
    return points, ((radius > 0.4) & (radius < 0.9)).astype(np.int64)


def accuracy(network, points, labels):
    """The share of points that are classified correctly."""
    return float((network(ms.Tensor(points)).asnumpy().argmax(axis=1) == labels).mean())


def train(steps=400, width=24):
    """Train, and return (network, its accuracy on new points before, and after)."""
    ms.set_seed(1)
    network = Classifier(width)
    points, labels = ring(400, seed=2)
    tests, answers = ring(400, seed=3)
    before = accuracy(network, tests, answers)
    loss = nn.WithLossCell(network, nn.CrossEntropyLoss())
    step = nn.TrainOneStepCell(loss, nn.Momentum(network.trainable_params(), learning_rate=0.5, momentum=0.9))
    for _ in range(steps):
        step(ms.Tensor(points), ms.Tensor(labels))
    return network, before, accuracy(network, tests, answers)


if __name__ == "__main__":
    try:
        _, first, last = train()
    except pijit.GradientError as error:
        sys.exit("this example cannot run here: {}".format(error))
    print("told right before training: {:.0%}, after: {:.0%}".format(first, last))
