"""The option `enable_dynamic_shape`: how many entries calls with arrays of several shapes make."""

import numpy as np
import pytest

from tests.harness import check, fail_unless_captured, jitted


def scaled(x, y):
    z = x * 2.0 + y
    return z * z - x


def calls_in_several_shapes(config):
    f = jitted(scaled, config)
    for n in (3, 4, 5, 3, 4, 3):
        x = np.arange(float(n))
        assert np.array_equal(f(x, x), scaled(x, x))
    return f


@pytest.mark.parametrize("value", [None, True])
def test_shapes_are_symbols(value):
    with fail_unless_captured():
        f = calls_in_several_shapes({"enable_dynamic_shape": value})
    assert len(f.state.entries) == 1 and f.cache_info().hits == 5


def test_an_entry_per_shape():
    with fail_unless_captured():
        f = calls_in_several_shapes({"enable_dynamic_shape": False})
    assert len(f.state.entries) == 3 and f.cache_info().hits == 3
    assert "L['x'].shape == (3,)" in f.state.entries[0].guards
    assert "L['x'].shape was (3,) and is now (4,)" in f.state.recompiles[0]


def test_an_entry_per_shape_is_as_plain_python():
    check(scaled, np.ones((2, 3)), np.ones(3), config={"enable_dynamic_shape": False},
          others=[(np.ones(3), np.ones((2, 3))), (np.ones(3), np.ones(4)), (np.ones((2, 3)), np.float64(2.0))])


def test_shapes_of_arrays_in_attributes():
    class Model:
        def __init__(self, n):
            self.w = np.arange(float(n))

    def step(model, x):
        y = model.w * x + 1.0
        return y * y

    with fail_unless_captured():
        f = jitted(step, {"enable_dynamic_shape": False})
        for n in (3, 4, 3, 4):
            assert np.array_equal(f(Model(n), 2.0), step(Model(n), 2.0))
    assert len(f.state.entries) == 2
