"""Cheap arrays that several loop nests need are computed in each of them, instead of being made."""

import numpy as np
import pytest

import pijit
from pijit.core.graph.passes import recorded
from tests.harness import check, fail_unless_captured

BACKENDS = pytest.mark.parametrize("backend", ["python", "numba"])
X = np.linspace(-2.0, 3.0, 24).reshape(8, 3)
Y = np.array([0.5, -1.0, 2.0])


def standardised(x, y):
    d = x - y.sum()
    return d / np.sqrt((d * d).sum(axis=1)).sum()


def three_nests(x, y):
    d = x - 0.25
    rows = (d * d).sum(axis=1)
    more = (np.abs(d) + 1.0).sum(axis=1)
    return d * 2.0 + rows.sum() + more.sum()


def in_place(x, y):
    d = x - 1.5
    x[:] = d / (d * d).sum(axis=1)[:, None]
    return x


def two_operands(x, y):
    d = x - y
    return d * 0.5 + (d * d).sum(axis=1).sum()


def two_operands_three_nests(x, y):
    d = x - y
    rows, more = (d * d).sum(axis=1), (d * 3.0).sum(axis=1)
    return d * 0.5 + rows.sum() + more.sum()


def of_computed(x, y):
    d = x * y - 0.5
    return d / (d * d).sum(axis=1).sum()


def returned(x, y):
    d = x - 0.5
    return d, d / (d * d).sum(axis=1).sum()


def effect_between(x, y):
    d = x - 0.5
    total = (d * d).sum(axis=1).sum()
    x[0] = 7.0
    return d / total


TIMES = {standardised: 2, three_nests: 3, in_place: 2, two_operands: 2, two_operands_three_nests: 1, of_computed: 1,
         returned: 1, effect_between: 1}


@pytest.mark.parametrize("f", list(TIMES))
def test_how_often_it_is_computed(f):
    with recorded() as stages:
        pijit.jit(f, jit_config={"backend": "python"})(X.copy(), Y)
    last = [text[-1].text for text in stages.values()]
    assert max(text.count("ufunc=subtract") for text in last) == TIMES[f]


@BACKENDS
@pytest.mark.parametrize("f", list(TIMES))
@pytest.mark.filterwarnings("always::RuntimeWarning")
def test_same_answers(f, backend):
    """Also where the array itself, or what is made of it, warns or raises."""
    odd = np.array([[0.0, -0.0, np.inf], [-np.inf, np.nan, 5e-324], [1e200, -1e200, 1e308], [2.0, 3.0, -1e308]])
    calls = [(odd, Y), (X, odd[0]), (X * 1e150, Y), (X * 1e-170, Y * 1e-170), (np.full((4, 3), 0.5), Y * 0.0),
             (np.tile(X, (300, 1)), Y), (X[:0], Y), (X[:, :1], Y[:1]), (X, Y[:2]), (np.tile(X, (1, 50)), Y[:1])]
    calls = [(x.copy(), y) for x, y in calls]
    with np.errstate(all="warn"), fail_unless_captured():
        check(f, X.copy(), Y, others=calls, config={"backend": backend}, calls=1)
    with np.errstate(all="raise"):
        check(f, X.copy(), Y, others=calls[:5], config={"backend": backend}, calls=1)
