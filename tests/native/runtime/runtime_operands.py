"""What tests of the runtime table call it with: random arrays, descriptors, words."""

from random import Random

import numpy as np

from tests.native.launcher.native_kernels import descriptor


def new_descriptor(shape):
    return np.array([0, 0, *shape, *[0] * len(shape)], np.int64)


def random_shape(random, ndim, choices=(1, 2, 3, 5)):
    return tuple(random.choice(choices) for _ in range(ndim))


def random_array(random, shape, dtype="f8"):
    """An array of that shape with random axis order, steps, directions and broadcast axes."""
    ndim = len(shape)
    dtype = np.dtype(dtype)
    kind = random.random()
    if kind < 0.3 or ndim == 0:
        array = np.empty(shape, dtype, order=random.choice("CF"))
    else:
        steps = [random.choice([1, 1, 1, 2, -1, -1, -2]) if kind > 0.6 else 1 for _ in shape]
        order = list(range(ndim))
        random.shuffle(order)
        base = np.empty([shape[axis] * abs(steps[axis]) for axis in order], dtype)
        inverse = [order.index(axis) for axis in range(ndim)]
        array = base.transpose(inverse)[tuple(slice(None, None, step) for step in steps)]
    array[...] = np.array([random.randrange(1, 100) for _ in range(array.size)], dtype).reshape(shape)
    if ndim and random.random() < 0.15:
        axis = random.randrange(ndim)
        if shape[axis] > 0:
            first = tuple(slice(0, 1) if i == axis else slice(None) for i in range(ndim))
            array = np.broadcast_to(array[first], shape)
    assert array.shape == tuple(shape)
    return array


def random_operands(random, count, dtypes, choices=(1, 2, 3, 5), shape=None):
    """Arrays that broadcast against each other, to a shape if it is given."""
    if shape is None:
        shape = random_shape(random, random.randrange(5), choices)
    operands = []
    for _ in range(count):
        own = list(shape)
        if random.random() < 0.4:
            own = [1 if random.random() < 0.3 else length for length in own][random.randrange(len(own) + 1):]
        operands.append(random_array(random, own, random.choice(dtypes)))
    return operands


def operand_triples(operands, dtype):
    """The words that alloc_like reads, and the descriptors that they point to."""
    descriptors = [descriptor(each) for each in operands]
    words = []
    for each, words_of_each in zip(operands, descriptors):
        words += [each.ndim, words_of_each.ctypes.data, each.itemsize if each.dtype == dtype else 0]
    return np.array(words, np.int64), descriptors


def seeds(count):
    return [Random(seed) for seed in range(count)]


def word_of(value):
    """The first frame word of a NumPy scalar."""
    if value.dtype.kind in "fc":
        return int(np.float64(value.real).view(np.int64))
    return int(value) - 2 ** 64 * (int(value) >= 2 ** 63)
