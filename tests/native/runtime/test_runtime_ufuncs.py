"""Which calls of a loop the runtime makes, against those that NumPy makes."""

import numpy as np
import pytest

from tests.native.runtime.recorded_loops import Recorded
from tests.native.runtime.runtime_operands import random_array, random_operands, seeds
from tests.native.runtime.test_runtime import run_ufunc

LARGE = [(9000,), (3, 8191), (3, 8192), (2, 9000), (9000, 3), (90, 130), (21, 21, 21), (2, 90, 91), (130, 1, 90)]
"""Around the length of a buffer of NumPy's iterator, and rows that are shorter or longer than that."""

CASES = {False: 200, True: 25}


@pytest.fixture(params=[1, 2], ids=["unary", "binary"])
def recorded(request):
    return Recorded(request.param)


def random_cases(recorded, large):
    """(random, inputs, shape of the result)"""
    for random in seeds(CASES[large]):
        inputs = random_operands(random, recorded.nin, ["f8"], shape=random.choice(LARGE) if large else None)
        shape = np.broadcast(*inputs).shape if recorded.nin > 1 else inputs[0].shape
        if 0 not in shape:
            yield random, inputs, shape


@pytest.mark.parametrize("large", [False, True])
def test_a_new_output(table, recorded, large):
    for _, inputs, _ in random_cases(recorded, large):
        made = []
        expected = recorded.recorded(lambda: made.append(recorded.ufunc(*inputs)))
        output = np.asarray(made[0]).copy("K")
        got = recorded.recorded(lambda: run_ufunc(table, recorded.ufunc, recorded.types, inputs, output))
        assert got == expected, [(each.shape, each.strides) for each in inputs]
        assert output.tobytes() == np.asarray(made[0]).tobytes()


@pytest.mark.parametrize("large", [False, True])
def test_an_output_that_came(table, recorded, large):
    for random, inputs, shape in random_cases(recorded, large):
        output = random_array(random, shape)
        if random.random() < 0.2 and inputs[0].shape == shape:
            output = inputs[0]
        if not output.flags.writeable:
            continue
        before, results = output.copy(), []
        for call in (lambda: recorded.ufunc(*inputs, out=output),
                     lambda: run_ufunc(table, recorded.ufunc, recorded.types, inputs, output, fresh=0)):
            output[...] = before
            results.append((recorded.recorded(call), output.tobytes()))
        assert results[0] == results[1], [(each.shape, each.strides) for each in inputs + [output]]


def random_slice(random):
    start, step = random.choice([0, 1, 2, 5]), random.choice([1, 1, 2, 3, -1, -2])
    return slice(start, start + 12, step) if step > 0 else slice(start + 12, start, step)


def test_an_output_that_may_overlap(table, recorded):
    for random in seeds(200):
        pool = np.arange(400.0).reshape(20, 20)[:, :random.choice([18, 20])]
        views = [pool[random_slice(random), random_slice(random)] for _ in range(recorded.nin + 1)]
        if random.random() < 0.5:
            views = [view[0] for view in views]
        if random.random() < 0.3:
            views[-1] = views[0]
        length = [min(view.shape[axis] for view in views) for axis in range(views[0].ndim)]
        views = [view[tuple(slice(n) for n in length)] for view in views]
        before, results = pool.copy(), []
        for call in (lambda: recorded.ufunc(*views[:-1], out=views[-1]),
                     lambda: run_ufunc(table, recorded.ufunc, recorded.types, views[:-1], views[-1], fresh=0)):
            pool[...] = before
            results.append((recorded.recorded(call), pool.tobytes()))
        assert results[0] == results[1], [
            (each.shape, each.strides, each.ctypes.data - pool.ctypes.data) for each in views]
