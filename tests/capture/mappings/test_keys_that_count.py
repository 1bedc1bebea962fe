"""Keys of dicts, sets and instances whose class compares them: asked as often and as early as by plain Python."""

import itertools
import sys

import numpy as np
import pytest

from tests.harness import jitted

X = np.arange(10.0)
asked = []


class Name(str):
    """A string that notes when it is compared."""

    def __hash__(self):
        return str.__hash__(self)

    def __eq__(self, other):
        asked.append(str(self))
        return str.__eq__(self, other)


class Number(int):
    def __hash__(self):
        return int.__hash__(self)

    def __eq__(self, other):
        asked.append(int(self))
        return int.__eq__(self, other)


class Owner:
    """An object of which one attribute has a name of its own."""

    def __init__(self):
        self.b = 2.0
        self.__dict__[Name("w")] = 3.0


def total(x):
    s = 0.0
    for value in x:
        s += value * 2.0
    asked.append("loop")
    return s


def read(d, x):
    return total(x) + d["w"]


def read_number(d, x):
    s = 0.0
    for k in range(3):
        s += d[k] * x[k]
    return s


def get(d, x):
    return total(x) + d.get("w", 1.0)


def default(d, x):
    return total(x) + d.setdefault("w", 1.0)


def contains(d, x):
    return total(x) if "w" in d else total(-x)


def store(d, x):
    d["w"] = total(x)
    return d["w"]


def store_number(d, x):
    for k in range(3):
        d[k] = x[k] * 2.0
    return d[1]


def pop(d, x):
    d["w"] = 1.0
    return total(x) + d.pop("w")


def update(d, x):
    more = {"w": total(x)}
    d.update(more)
    return d["w"]


def attribute(d, x):
    return total(x) + d.w * d.b


def set_attribute(d, x):
    d.w = total(x)
    return d.w


def has_attribute(d, x):
    return total(x) if hasattr(d, "w") else 0.0


def add(d, x):
    s = total(x)
    d.add("w")
    return s + len(d)


def member(d, x):
    return total(x) if "w" in d else total(-x)


def names():
    return {Name("w"): 1.0, "b": 2.0}


def numbers():
    return {Number(1): 1.0, 0: 2.0, 2: 3.0}


def members():
    return {Name("w"), "b"}


CASES = [(read, names), (read_number, numbers), (get, names), (default, names), (contains, names), (store, names),
         (store_number, numbers), (pop, names), (update, names), (attribute, Owner), (set_attribute, Owner),
         (has_attribute, Owner), (add, members), (member, members)]


def traces(f, make):
    """What each of some calls answers and which keys were asked in it."""
    owner, found = make(), []
    for _ in range(4):
        del asked[:]
        answer = f(owner, X)
        found.append((answer, without_repeats(asked) if specialises(owner) else list(asked)))
    return found


def specialises(owner):
    """Does bytecode that reads or sets attributes look for a key once more, in those calls in which it is specialised?"""
    return sys.version_info >= (3, 11) and isinstance(owner, Owner)


def without_repeats(seen):
    return [one for one, _ in itertools.groupby(seen)]


@pytest.mark.parametrize("f, make", CASES, ids=[f.__name__ for f, make in CASES])
def test_as_often_as_plain(f, make):
    wanted = traces(f, make)
    assert any("w" in seen or 1 in seen for _, seen in wanted)
    g = jitted(f)
    assert traces(g, make) == wanted
    assert traces(g, make) == wanted


@pytest.mark.parametrize("f, ordinary, make", [
    (read, {"w": 1.0}, names), (read_number, {0: 1.0, 1: 2.0, 2: 3.0}, numbers), (contains, {"w": 1.0}, names),
    (member, {"w"}, members)])
def test_a_kernel_for_ordinary_keys_meets_others(f, ordinary, make):
    wanted = traces(f, make)
    g = jitted(f)
    for _ in range(3):
        g(ordinary, X)
    assert traces(g, make) == wanted
