"""Programs as people write them: value, type and end state as without a gradient, gradients as differences say."""

import math
import os

import array_programs
import numpy as np
import object_programs
import pytest
from gradient_comparison import compare

import pijit

PROGRAMS = object_programs.PROGRAMS + array_programs.PROGRAMS
POINT = np.array([0.7, 1.3, 0.41, 0.93, 1.13])


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_programs(f):
    compare(f, POINT)


# Where other libraries are silently wrong.


@pytest.mark.parametrize("f", [one for one in PROGRAMS if one.__name__ in ("heat", "gen", "cls", "rk4", "augfancy")],
                         ids=lambda f: f.__name__)
def test_programs_of_jitted_functions(f):
    compare(pijit.jit(f), POINT)


def test_an_alias_sees_the_store():
    def f(x):
        y = x * 2.0
        z = y
        z *= x
        return (y * y).sum()
    compare(f, POINT)


def test_a_masked_store_cuts_only_what_it_hits():
    def f(x):
        y = x * x
        y[y > 1.0] = 0.0
        return (y * x).sum()
    compare(f, POINT)


def test_numbers_by_math():
    compare(lambda x: math.exp(float(x[0])) * math.hypot(x[1], x[2]), POINT)


def test_a_constant_that_is_the_argument_object():
    value = 2.0
    assert pijit.grad(eval("lambda x: x * 2.0"))(value) == 2.0
    assert pijit.grad(lambda pair: pair[0] * pair[1] * 3.0)([1.0, 1.0]) == [3.0, 3.0]


def test_stores_into_an_outside_buffer():
    buffer = np.zeros(5)

    def f(x):
        buffer[:] = x * x
        buffer[1:] += buffer[:-1]
        return (buffer * x).sum()
    compare(f, POINT)
    f(POINT.copy())
    after = buffer.copy()
    pijit.grad(f)(POINT.copy())
    assert buffer.tobytes() == after.tobytes()


def test_sliding_windows():
    windows = getattr(np.lib.stride_tricks, "sliding_window_view", None)
    if windows is None:
        pytest.skip("this NumPy has no sliding_window_view")
    compare(lambda x: (windows(x, 3) ** 2).sum(), POINT)


def test_effects_happen_once():
    seen = []

    def f(x):
        seen.append(float(x[0]))
        return (x * x).sum()
    pijit.grad(f)(POINT.copy())
    assert seen == [0.7]


def test_exceptions_are_those_of_the_program():
    def f(x):
        y = x * 2.0
        return y[7]
    try:
        f(POINT)
    except IndexError as error:
        plain = error
    with pytest.raises(IndexError) as caught:
        pijit.grad(f)(POINT)
    assert str(caught.value) == str(plain)
    names = [entry.name for entry in caught.traceback]
    files = [os.path.basename(str(entry.path)) for entry in caught.traceback]
    assert names[-1] == "f" and not {"calls.py", "operations.py"} & set(files)


def test_gradients_of_gradients():
    x = np.array([0.3, 0.8, 1.2])
    assert pijit.grad(pijit.grad(lambda t: t ** 3))(2.0) == 12.0

    def inner(v):
        return (np.sin(v) * v ** 2).sum() + np.prod(v)

    def product(v):
        return (pijit.grad(inner)(v) * np.array([1.0, -2.0, 0.5])).sum()
    compare(product, x)

    def stored(v):
        y = v.copy()
        y[1:] *= v[:-1]
        return (y ** 2).sum()
    compare(lambda v: (pijit.grad(stored)(v) ** 2).sum(), x)
