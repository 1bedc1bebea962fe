"""What bytecode takes apart is observed: tuples that calls return, unpacked iterators, what ``with`` gives."""

import numpy as np
import pytest

from tests.capture.containers.effects_common import CUT
from tests.harness import check, fail_unless_captured, jitted, kernel_count

MANY = {"backend": "python", "max_inline_depth": 0}
X = np.linspace(0.5, 4.0, 11)


def values(x, kind):
    """A tuple, or another iterable, of what depends on ``kind``."""
    return {"floats": (2.0, 3.0), "arrays": (x * 2.0, x + 1.0), "mixed": (x, 3), "nested": ((x, 2), 1.5), "list": [2.0, x],
            "text": ("a", x), "iterator": iter([x, 2.0]), "three": (x, x, x), "none": (None, x), "self": 5}[kind]


def pair(x, kind):
    a, b = values(x, kind)
    return b * x * 2.0 + 1.0, a


def starred(x, kind):
    a, *rest = values(x, kind)
    y = rest[0] * x * 2.0 + 1.0
    return y, a, rest


def in_the_middle(x, kind):
    *first, last = values(x, kind)
    return last * x * 2.0 + 1.0, first


def inner_pair(x, kind):
    (a, b), c = values(x, kind)
    return a * b + c * x * 2.0


def items(x, d):
    total = 0.0
    for key, value in d.items():
        total += value * 2.0 + x[0] * value
    return total, key


def swapped(x, kind):
    a, b = values(x, kind)
    for i in range(len(x)):
        a, b = b, a + x[i]
    return a, b


KINDS = ["floats", "arrays", "mixed", "list", "text", "iterator", "none"]
OTHERS = ["three", "self", "floats", "mixed"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("f", [pair, starred, in_the_middle])
def test_same_as_python(f, kind):
    check(f, X, kind, calls=4, config=MANY, others=[(X, other) for other in OTHERS])


def test_nested_and_in_loops():
    check(inner_pair, X, "nested", calls=4, config=MANY, others=[(X, "floats"), (X, "arrays")])
    check(items, X, {"a": 1.0, "b": 2.0}, calls=4, config=MANY, others=[(X, {"a": 1, "b": 2.0}), (X, {3: X}), (X, {})])
    check(swapped, X, "floats", calls=4, config=MANY, others=[(X, "arrays"), (X, "text")])


@pytest.mark.skipif(CUT, reason="cut everywhere")
@pytest.mark.parametrize("f, kind", [(pair, "mixed"), (pair, "list"), (pair, "iterator"), (starred, "mixed"), (starred, "arrays"),
                                     (in_the_middle, "arrays"), (inner_pair, "nested"), (swapped, "floats")])
def test_code_behind_is_a_kernel(f, kind):
    j = jitted(f, MANY)
    for _ in range(4):
        j(X, kind)
    assert kernel_count(j) >= 1


def test_in_machine_code():
    with fail_unless_captured():
        check(pair, X, "mixed", calls=4, config={"max_inline_depth": 0}, others=[(X, "arrays")])
