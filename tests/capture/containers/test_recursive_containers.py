"""Lists that contain themselves, and tuples that are nested deeply, such as lists made of pairs.

Types of elements are looked at to a fixed depth only.
"""

import operator

import numpy as np
import pytest

from tests.harness import check

go = operator.methodcaller("go")
"""A call that stays bytecode."""
X = np.linspace(-1.0, 2.0, 7)


def pairs():
    rest = None
    for k in range(3000):
        rest = (float(k), rest)
    return rest


def in_a_tuple():
    found = [1.0]
    found.append((2.0, found))
    return found


def in_itself():
    found = []
    found.append(found)
    return found


def in_a_dict():
    known = {}
    known["all"] = found = [(known, 1.0)]
    return found


MAKERS = [pairs, in_a_tuple, in_itself, in_a_dict]


class Holder:
    def __init__(self, value):
        self.value = value

    def go(self):
        return self.value


def returned(x, make):
    y = x * 2.0 + 1.0
    found = go(Holder(make()))
    return y * y - x, len(found)


def argument(x, make, found):
    y = x * 2.0 + 1.0
    return y * y, len(found)


def elements(x, make, found):
    for one in [found, found]:
        x = x + len(one)
    for one in found:
        x = x + 1.0
    return x


def stored(x, make, found):
    kept = [found, 1.0]
    kept[1] = (kept, found)
    for number, one in enumerate(kept):
        kept[0] = (kept[:], kept)
    return x * 2.0, len(kept)


@pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.__name__)
@pytest.mark.parametrize("f", [returned, argument, elements, stored], ids=lambda f: f.__name__)
def test_depth_of_containers_is_bounded(f, make):
    def run(x):
        return f(x, make) if f is returned else f(x, make, make())

    check(run, X)


def test_a_list_made_of_pairs():
    def total(x, rest):
        s = 0.0
        while rest is not None:
            s, rest = s + rest[0], rest[1]
        return s + x

    def run(x):
        return total(x, pairs())

    check(run, X)
