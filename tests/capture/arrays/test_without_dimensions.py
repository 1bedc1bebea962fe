"""Arrays without dimensions: operators and conversions take their element, and ``bool`` that of arrays with one element."""

import numpy as np
import pytest

import pijit
from tests.harness import check, fail_unless_captured

X = np.arange(6.0).reshape(2, 3)
SCALARS = [np.array(2.5), np.array(2.5, "f"), np.array(3), np.array(-3, "b"), np.array(7, "B"), np.array(True), np.array(1 + 2j),
           np.array(np.nan), np.array(np.inf), np.array(0.0), np.array(-0.0), np.array(1e308), np.array(127, "b"), np.array(0),
           np.array(2 ** 62), np.array(2 ** 63, "L")]


def operators(z, x):
    return z * x + z / 2.0, z < x, z // 2.0, z + z, np.sqrt(z) * x, np.minimum(z, x), abs(z)


def inplace(z, x):
    x += z
    x[0] = x[0] * z
    return x, x * z


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("f", [operators, inplace])
def test_operators(f):
    """The types of results, the flags and their texts are those of arrays."""
    others = [(z, x.copy()) for z in SCALARS for x in (X, X.astype("f"), X.astype(int), X.astype("b"))]
    with fail_unless_captured():
        check(f, SCALARS[0], X.copy(), others=others, calls=1, config={"cache_limit": 200})


@pytest.mark.filterwarnings("ignore")
def test_warnings_and_errors():
    others = [(np.array(one), np.full((2, 3), two)) for one in (1e308, 0.0, -1.0) for two in (1e308, 0.0)]
    for state in ("warn", "raise"):
        with np.errstate(all=state), fail_unless_captured():
            check(operators, SCALARS[0], X.copy(), others=others)


def own(z, x):
    z += 1.0
    z *= x[0, 1]
    return z * x, z


def powers(z, x):
    return z ** 2 * x, 2.0 ** z, x ** z


@pytest.mark.filterwarnings("ignore")
def test_what_stays_bytecode():
    """Operators that write such an array, and powers, for which NumPy has rules of its own."""
    check(own, np.array(2.5), X, others=[(np.array(3), X), (np.array(2.5, "f"), X), (np.ones((1, 1)), X)])
    check(powers, np.array(2.5), X, others=[(np.array(3), X), (np.array(-1), X.astype(int)), (np.array(2.0), X)])


def branches(z, x):
    total = x * 2.0
    if z:
        total = total + 1.0
    while not z and total[0, 0] < 3.0:
        total = total + 1.5
    return total, bool(z), not z, z and 1


@fail_unless_captured()
def test_truth():
    """Of several elements it raises, and of none some versions of NumPy warn."""
    ones = [np.ones((1, 1)), np.zeros((1, 1, 1)), np.array([True]), np.array([np.nan]), np.array([0j]), np.zeros(1, "f"), X, X[:0], X[:1, :1]]
    check(branches, np.array(1.0), X, others=[(z, X) for z in SCALARS + ones], calls=1, config={"cache_limit": 100})


def conversions(z, x):
    return float(z) * x, int(z) + x, z.item() * x, type(z.item())


@pytest.mark.filterwarnings("ignore")
def test_conversions():
    ones = [np.ones((1, 1)), np.array([2]), X, X[:0]]
    with fail_unless_captured():
        check(conversions, np.array(1.5), X, others=[(z, X) for z in SCALARS + ones], calls=1, config={"cache_limit": 100})


class Weight:
    def __init__(self, value):
        self.value = value

    def __float__(self):
        return float(self.value) * 0.5

    def __int__(self):
        return int(self.value) * 2


class Wrong(Weight):
    def __float__(self):
        return self.value

    def __int__(self):
        return "2"


def converted(w, x):
    y = x * 3.0
    return float(w) * y, y + int(w)


@pytest.mark.filterwarnings("ignore")
def test_special_methods():
    with fail_unless_captured():
        j = check(converted, Weight(3.0), X, others=[(Weight(7), X), (Weight(np.array(2.5)), X), (Weight("x"), X)])
    assert not pijit.explain(j, Weight(3.0), X).breaks
    for value in (2, True, np.float64(2.0), "2", 2.5):
        check(converted, Wrong(value), X, others=[(Weight(1.0), X)])


def of_numbers(x):
    total = x.sum()
    return np.mean(total) * x, np.sum(total), np.max(total) + x, np.mean(total * 2.0)


def test_reductions_of_numbers():
    with fail_unless_captured():
        check(of_numbers, X, others=[(X.astype("f"),), (X.astype(int),), (X * np.nan,), (X[:0],)])


def elements(z, x):
    z[()] += x[0, 1]
    first = z[()]
    z[...] = x[1, 1] - z[()]
    x[0, 0] = z[()] * first
    return first, z[()], z, x


def copied(z, x):
    z[...] = x
    x[()] = z
    return z[()], x[...], x


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", "dfilbF?")
def test_the_only_element(dtype):
    """``z[()]`` is a number, and ``z[()] = v`` and ``z[...] = v`` store one."""
    with fail_unless_captured():
        check(elements, np.array(1, dtype), X.copy(), others=[(np.array(2, dtype), X.astype("f")), (np.array(1.5), X)])
    check(copied, np.array(1, dtype), np.array(2.5), others=[(np.array(3, dtype), np.array(-1)), (np.array(3.0), X)])
