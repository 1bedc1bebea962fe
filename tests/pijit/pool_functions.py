"""Functions that the workers of process pools call, for test_process_pools.py. Workers import this module."""

import os
import sys

import numpy as np

from pijit import jit


@jit(jit_config={"fullgraph": True})
def smooth(x, steps):
    for _ in range(steps):
        x = 0.25 * x[:-2] + 0.5 * x[1:-1] + 0.25 * x[2:]
    return x


class Filter:
    """A jitted method; instances are pickled with their arrays."""

    def __init__(self, weights):
        self.weights = weights

    @jit
    def apply(self, x):
        s = 0.0
        for i in range(len(self.weights)):
            s += self.weights[i] * x[i]
        return s


def task(number):
    """(process, whether it has compiled a kernel, the result's bits, whether kernels ran) of one task."""
    result = smooth(np.arange(64.0) * number, 3)
    return os.getpid(), "numba" in sys.modules, result.tobytes(), smooth.cache_info().hits > 0 or bool(smooth.graphs)


def filtered(number):
    """A number, computed by a jitted method."""
    return Filter(np.arange(8.0)).apply(np.full(8, float(number)))


def expected(number):
    """The bits of the result of ``task``, from plain Python."""
    return smooth.py_func(np.arange(64.0) * number, 3).tobytes()
