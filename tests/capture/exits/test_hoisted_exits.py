"""Arrays of earlier statements that only exits need are not made: operations leave where those would."""

import numpy as np
import pytest

import pijit
from pijit.core.graph.passes import recorded
from tests.harness import check, fail_unless_captured

BACKENDS = pytest.mark.parametrize("backend", ["python", "numba"])
X = np.linspace(-2.0, 3.0, 24).reshape(8, 3)
Y = np.array([0.5, -1.0, 2.0])


def lengths(x, y):
    d = x - y
    return (d * d).sum(axis=1) + 0.5


def energies(x, y):
    total = 0.0
    for i in range(len(x) - 1):
        d = x[i + 1:] - y
        r = (d ** 2).sum(axis=1) + 0.5
        s = 1.0 / (r * r * r)
        total += 4.0 * (s * s - s).sum()
    return total


def returned(x, y):
    d = x - y
    r = (d * d).sum(axis=1) + 0.5
    return d, r


def behind_an_effect(x, y):
    d = x - y
    x[0] = 7.0
    return (d * d).sum(axis=1) + 0.5


def needed_whole(x, y):
    d = x - y
    r = np.exp(d) + 0.5
    return r * r


FUNCTIONS = [lengths, energies, returned, behind_an_effect, needed_whole]
HANDED_ON = {lengths: False, energies: False, returned: True, behind_an_effect: True, needed_whole: True}


@pytest.mark.parametrize("f", FUNCTIONS)
def test_which_leave_earlier(f):
    with recorded() as stages:
        pijit.jit(f, jit_config={"backend": "python"})(X.copy(), Y)
    lines = [line for text in stages.values() for line in text[-1].text.splitlines()]
    difference = next(line.split(":")[0].strip() for line in lines if "ufunc=subtract" in line)
    handed_on = [line for line in lines if difference + "," in line.partition("else exit")[2]
                 or difference + ")" in line.partition("else exit")[2] or "leave exit" in line and difference in line]
    assert bool(handed_on) == HANDED_ON[f]


@BACKENDS
@pytest.mark.parametrize("f", FUNCTIONS)
@pytest.mark.filterwarnings("always::RuntimeWarning")
def test_same_answers(f, backend):
    """Also where the first statement, or one behind it, warns or raises."""
    odd = np.array([[0.0, -0.0, np.inf], [-np.inf, np.nan, 5e-324], [1e200, -1e200, 1e308], [2.0, 3.0, -1e308]])
    calls = [(odd, Y), (X, odd[0]), (odd, odd[3]), (X * 1e150, Y), (X * 1e-170, Y * 1e-170), (np.tile(X, (40, 1)), Y),
             (X[:1], Y), (X[:0], Y), (X[:, :1], Y), (X, Y[:2]), (np.arange(200.0).reshape(4, 50), Y[:1])]
    calls = [(x.copy(), y) for x, y in calls]
    with np.errstate(all="warn"), fail_unless_captured():
        check(f, X.copy(), Y, others=calls, config={"backend": backend}, calls=1)
    with np.errstate(all="raise"):
        check(f, X.copy(), Y, others=calls[:5], config={"backend": backend}, calls=1)
