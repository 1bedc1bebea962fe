"""``x in [x]`` of arrays and objects: an item is found by its identity first, then by the truth of ``==``."""

import numpy as np
import pytest

from tests.capture.scalars.test_scalars import define
from tests.harness import check, fail_unless_captured

A, B = np.arange(3.0), np.arange(3.0) + 1.0


class Plain:
    def __init__(self, value):
        self.value = value


class Equal:
    """Objects that are equal if their values are; each comparison is noted."""

    compared = 0

    def __init__(self, value):
        self.value = value

    def __eq__(self, other):
        Equal.compared += 1
        return self.value == other.value

    __hash__ = None


def total(x):
    return x * 2.0 + 1.0


EXPRESSIONS = {
    "x in [x]": [(A, B), (B, A)], "x in (x, y)": [(A, B), (B, B)], "x not in [x, y]": [(A, B)], "x in [y, x]": [(A, B), (A[:1], B[:1]), (A[:1], A[:1])],
    "y in [x]": [(A[:1], B[:1]), (A[:1], A[:1] + 0.0), (A, B), (A, A)], "1.0 in [x]": [(A[1:2], B), (A[:1], B), (A, B)],
    "type(x) in (int, float, np.ndarray)": [(A, B)], "type(x) in (int, float)": [(A, B)], "x.dtype in (np.float32, np.float64)": [(A, B), (A.astype("f"), B)],
    "x is not None and None in [x, None]": [(A, B)], "total in (len, total)": [(A, B)], "np.sin in [np.cos, np.tan]": [(A, B)],
    "(x in [x, 1.0, 'a'], [x] == [x])": [(A, B)],
}


@pytest.mark.parametrize("expression", sorted(EXPRESSIONS))
def test_containment(expression):
    f = define("def f(x, y):\n    z = x * 2.0 + y\n    return %s, z" % expression, np=np, total=total)
    calls = EXPRESSIONS[expression]
    check(f, *calls[0], others=calls)


@pytest.mark.parametrize("kind", [Plain, Equal])
def test_objects(kind):
    def f(x, one, other, y):
        Equal.compared = 0
        found = one in (other, one), one in [other], other in [one, other], one not in (one,)
        return x * 2.0 + y, found, Equal.compared

    one, other, like = kind(1.0), kind(2.0), kind(1.0)
    check(f, A, one, other, 1.0, others=[(A, one, one, 1.0), (A, one, like, 2.0), (A, like, one, 1.0)])


def test_an_item_that_is_certain_ends_the_search():
    def f(x, one, y):
        return one in [one, Equal(y), x] and x * 2.0 + y

    with fail_unless_captured():
        check(f, A, Plain(1.0), 2.0, others=[(B, Plain(2.0), 1.0)], config={"force_breaks": None})
