"""Train a convolutional network on images of handwritten digits.

The images are scikit-learn's `load_digits`, 8 x 8 pixels each. Without scikit-learn the script draws digits itself.
Run it: python examples/digits.py
"""

import sys
import time

import numpy as np

import pijit
import pijit.ms as ms
from pijit.ms import nn

SHAPES = ("0110100110011001100110010110", "0010011000100010001000100111", "0110100100010010010010001111",
          "1110000100010110000100011110", "0010011010101111001000100010", "1111100011100001000110010110",
          "0110100010001110100110010110", "1111000100010010010001000100", "0110100110010110100110010110",
          "0110100110010111000100010110")
"""Each digit in seven rows of four pixels."""


class Classifier(nn.Cell):
    """A convolution and two dense layers. The answer for each image is ten numbers; the greatest one decides."""

    def __init__(self, channels=16, width=64):
        super().__init__()
        self.layers = nn.SequentialCell(
            nn.Conv2d(1, channels, 3, pad_mode="valid", has_bias=True), nn.ReLU(), nn.Flatten(),
            nn.Dense(channels * 36, width), nn.ReLU(), nn.Dense(width, 10))

    def construct(self, images):
        return self.layers(images)


def drawn(count=1800, seed=5):
    """Images of digits that the script draws, with shifts, varying strength and noise, and their digits."""
    source = np.random.RandomState(seed)
    digits = np.arange(count) % 10
    images = source.uniform(0.0, 0.25, (count, 8, 8))
    for image, digit in zip(images, digits):
        top, left = source.randint(0, 2), source.randint(1, 4)
        pixels = np.array([int(one) for one in SHAPES[digit]]).reshape(7, 4)
        image[top:top + 7, left:left + 4] += pixels * source.uniform(0.4, 0.7)
    return images, digits


def loaded():
    """The images with values from 0 to 1, and their digits."""
    try:
        from sklearn.datasets import load_digits
    except ImportError:
        return drawn()
    data = load_digits()
    return data.images / 16.0, data.target


def split(images, digits, seed=6, share=0.25):
    """(training images, their digits, test images, their digits) in random order."""
    order = np.random.RandomState(seed).permutation(len(images))
    images, digits = images[order].astype(np.float32)[:, np.newaxis], digits[order].astype(np.int64)
    tests = int(len(images) * share)
    return images[tests:], digits[tests:], images[:tests], digits[:tests]


def batches(count, size, seed):
    """The rows of each batch of one epoch, in random order; rows that fill no batch are left out."""
    order = np.random.RandomState(seed).permutation(count)
    return [order[first:first + size] for first in range(0, count - size + 1, size)]


def with_progress(steps):
    """The steps with a progress bar, if tqdm is installed."""
    try:
        from tqdm import tqdm
    except ImportError:
        return steps
    return tqdm(steps, unit="step", disable=not sys.stderr.isatty())


def accuracy(network, images, digits):
    """The share of images whose digit is found."""
    return float((network(ms.Tensor(images)).asnumpy().argmax(axis=1) == digits).mean())


def train(steps=500, batch=32, data=None, seed=1, progress=with_progress):
    """Train with Adam, and return (network, accuracy on test images, loss of each step)."""
    ms.set_seed(seed)
    images, digits, test_images, test_digits = split(*(loaded() if data is None else data))
    network = Classifier()
    loss = nn.WithLossCell(network, nn.CrossEntropyLoss())
    rates = nn.cosine_decay_lr(1e-4, 1e-2, steps, 1, steps)
    one_step = nn.TrainOneStepCell(loss, nn.Adam(network.trainable_params(), learning_rate=rates))

    @ms.jit
    def step(x, y):
        return one_step(x, y)

    rows = []
    while len(rows) < steps:
        rows += batches(len(images), batch, seed + len(rows))
    losses = [float(step(ms.Tensor(images[chosen]), ms.Tensor(digits[chosen]))) for chosen in progress(rows[:steps])]
    return network, accuracy(network, test_images, test_digits), losses


if __name__ == "__main__":
    begin = time.time()
    try:
        _, found, losses = train()
    except pijit.GradientError as error:
        sys.exit("this example cannot run here: {}".format(error))
    print("{} steps took {:.1f} s; loss {:.3f}; {:.1%} of the digits of new images are right".format(
        len(losses), time.time() - begin, losses[-1], found))
