"""Ufuncs whose bits depend on how their loop is called: from any layout into any layout, as NumPy calls it."""

import numpy as np
import pytest

from tests.harness import check, fail_unless_captured

LAYOUTS = {
    "C": lambda a: a,
    "F": lambda a: np.asfortranarray(a),
    "columns": lambda a: np.repeat(a, 2, axis=1)[:, ::2],
    "rows": lambda a: np.repeat(a, 3, axis=0)[::3],
    "backward": lambda a: a[::-1, ::-1].copy()[::-1, ::-1],
    "rows backward": lambda a: a[::-1].copy()[::-1],
    "columns backward": lambda a: a[:, ::-1].copy()[:, ::-1],
    "moved": lambda a: np.concatenate([a, a], axis=1)[:, 1:a.shape[1] + 1],
}


def numbers(shape, code="d"):
    return np.random.RandomState(3).uniform(0.1, 40.0, shape).astype(code)


def pairs(shape, code):
    x = numbers(shape, code)
    for name, source in LAYOUTS.items():
        yield source(x), np.zeros_like(x)
        yield x, LAYOUTS[name](np.zeros_like(x))
        yield source(x), source(np.zeros_like(x))
    yield LAYOUTS["backward"](x), LAYOUTS["columns"](np.zeros_like(x))


def new(x, t):
    return np.exp(x * -0.5), np.arctan2(x, t), np.power(x, 1.3) + 1.0, np.log(x) * x


def given(x, t):
    np.exp(x, out=t)
    u = np.log(t, out=t)
    np.power(x, u, t)
    return np.arctan2(t, x[0], out=t)


def stored(x, t):
    t[...] = np.exp(x)
    t[::-1] = np.log(x) + t
    t[:, 1:] = np.tanh(t[:, :-1])
    t **= 1.7
    return np.sin(t).sum()


def overlapping(x, t):
    np.exp(x[1:], out=x[:-1])
    np.log(x[::-1], out=x)
    np.sin(t[0, ::2], out=t[0, 1::2][:t[0, ::2].size])
    return x


@pytest.mark.parametrize("f, code", [(new, "d"), (given, "d"), (given, "f"), (stored, "d"), (overlapping, "d")])
@pytest.mark.filterwarnings("ignore")
def test_bits(f, code):
    calls = list(pairs((5, 8), code))[1::4]
    calls += list(pairs((91, 130), code))[::6]  # more than one buffer of NumPy's iterator
    with fail_unless_captured():
        check(f, *calls[0], others=calls[1:], config={"backend": "numba"}, calls=1)


def lines(x, t):
    np.exp(x, out=t)
    t[::-1] = np.exp(x) + t
    np.log(t, out=t)
    np.sqrt(np.exp(x[::-1]) + np.log(x), out=t)
    return t, np.power(x, t)


def test_one_axis():
    calls = []
    for n in (1, 9, 9000):
        x = numbers(3 * n)
        for step in (1, 2, -1):
            calls += [(x[::step][:n], np.zeros(n)), (x[:n], np.zeros(3 * n)[::step][:n])]
    with fail_unless_captured():
        check(lines, *calls[0], others=calls[1:], config={"backend": "numba"}, calls=1)


def converted(x, n, t):
    y = np.exp(n) + np.power(x, n)
    np.arctan2(x, n, out=t)
    np.exp(x, out=t, casting="unsafe")
    return y


@pytest.mark.parametrize("codes", ["fld", "dlf"])
def test_casts(codes):
    calls = []
    for source in ("C", "F", "columns backward"):
        x, n, t = (numbers((91, 100), code) / 8 for code in codes)
        calls.append((LAYOUTS[source](x), (n * 8).astype(codes[1]), LAYOUTS[source](t)))
    check(converted, *calls[0], others=calls[1:], config={"backend": "numba"}, calls=1)


def warned(x, t):
    np.log(x, out=t)
    t[0] = 5.0
    return t


@pytest.mark.filterwarnings("always::RuntimeWarning")
def test_a_warning_behind_an_output():
    """The output has its old elements when bytecode makes the call again."""
    x = numbers((5, 8))
    bad = x.copy()
    bad[2, 3] = -1.0
    with fail_unless_captured():
        check(warned, x, np.zeros_like(x), config={"backend": "numba"}, others=[
            (bad, np.zeros_like(x)), (bad[::-1], np.ones((5, 16))[:, ::2]), (x, np.ones((8, 5)).T)])


def in_place(x):
    np.log(x, out=x)
    return x


@pytest.mark.filterwarnings("always::RuntimeWarning")
def test_a_warning_in_place():
    x = numbers(9)
    bad = x.copy()
    bad[4] = -1.0
    with fail_unless_captured():
        check(in_place, x, config={"backend": "numba"}, others=[
            (bad,), (bad[::-2],), (np.r_[bad, bad].reshape(2, 9)[:, ::2],)])
