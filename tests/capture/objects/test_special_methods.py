"""Objects whose classes define operators, subscripts, iteration, length and truth in Python."""

import sys

import numpy as np
import pytest

import pijit
from tests.capture.exits.test_polls import NATIVE, PYTHON
from tests.capture.functions.test_compiled_callees import callees_of, kernels_run
from tests.harness import check, fail_unless_captured, jitted

X = np.linspace(0.0, 1.0, 20)


class Signal:
    """An array with methods for everything."""

    def __init__(self, data, scale=2.0):
        self.data, self.scale, self.reads = data, scale, 0

    def __getitem__(self, i):
        return self.data[i] * self.scale

    def __setitem__(self, i, value):
        self.data[i] = value / self.scale

    def __len__(self):
        return len(self.data)

    def __iter__(self):
        return iter(self.data)

    def __contains__(self, value):
        return self.data[0] == value

    def __bool__(self):
        return bool(self.data[0] > 0.0)

    def __add__(self, other):
        return self.data + other.data

    def __radd__(self, other):
        return self.data + other

    def __mul__(self, other):
        return self.data * other

    __rmul__ = __mul__

    def __neg__(self):
        return -self.data

    def __abs__(self):
        return abs(self.data)

    def __matmul__(self, other):
        return self.data @ other.data

    def __iadd__(self, other):
        self.reads += 1
        self.data += other
        return self

    def __eq__(self, other):
        return bool(self.data[1] == other.data[1])

    def __lt__(self, other):
        return bool(self.data[1] < other.data[1])


class Counting(Signal):
    """A subclass whose reads have an effect."""

    def __getitem__(self, i):
        self.reads += 1
        return self.data[i] + self.reads

    def __radd__(self, other):
        return self.data - other.data

    def __eq__(self, other):
        return NotImplemented

    def __bool__(self):
        return self.data[0] > 0.0


class Short:
    """No truth of its own, no operators in place."""

    def __init__(self, data):
        self.data = data

    def __len__(self):
        return len(self.data) - 20

    def __mul__(self, other):
        return self.data * other

    def __ne__(self, other):
        return self.data is not other


def subscripts(v, w):
    s = 0.0
    for i in range(len(v)):
        s += v[i]
        w[i] = s
    return s, w.data


def arithmetic(v, w):
    return (v + w) * 2.0 + (v * 3.0) - (-w) + 2.0 * v + (1 + w) + abs(v), v @ w


def in_place(v, w):
    v += 1.0
    v += w.data
    return v.data, v.reads


def comparisons(v, w):
    return v == w, v != w, v < w, v > w, X[0] in v, 5.0 not in v


def truth(v, w):
    s = 0.0
    for i in range(len(v)):
        if v and not w:
            s += i * v.scale
        elif w or v:
            s -= v.scale * 0.5
    return s, bool(v)


def loops(v, w):
    s = 0.0
    for a in v:
        s += a * 2.0
    return s + sum(w), max(v)


def lengths(v, w):
    s = 0.0
    for i in range(9):
        if v:
            s += i * 2.0
    v *= w.scale
    return s, v, len(w)


def two():
    return Signal(X.copy()), Signal(X * 2.0 + 1.0)


def mixed():
    return Counting(X + 1.0), Signal(X.copy())


PROGRAMS = [(f, two, [lambda: two()[::-1], mixed, lambda: mixed()[::-1], lambda: (Signal(X[:1].copy()), Signal(X[:0])),
                      lambda: (Signal(X.astype("f")), Signal(list(X))), lambda: (Signal(X.copy()), Short(X))])
            for f in (subscripts, arithmetic, in_place, comparisons, truth, loops)]
PROGRAMS.append((lengths, lambda: (Short(np.arange(25.0)), two()[0]), [
    lambda: (Short(X), two()[0]), lambda: (Short(X[:3]), two()[0]), two]))


@pytest.mark.parametrize("f, args, others", PROGRAMS, ids=[row[0].__name__ for row in PROGRAMS])
def test_special_methods(f, args, others):
    with fail_unless_captured():
        check(f, *args(), others=[make() for make in others], config={"backend": "python"})
    assert not [one for one in pijit.explain(f, *args()).breaks if one.reason_id != "PJ401"]


@pytest.mark.parametrize("f", [subscripts, arithmetic])
def test_special_methods_in_machine_code(f):
    with fail_unless_captured():
        check(f, *two(), others=[mixed(), (Signal(X[:3].copy()), Signal(X[:2].copy()))], config=NATIVE)


@pytest.mark.parametrize("f, base, name, method", [
    (subscripts, Signal, "__getitem__", lambda self, i: self.data[i] - 1.0),
    (in_place, Signal, "__iadd__", lambda self, other: Signal(self.data + other, 9.0)),
    (lengths, Short, "__bool__", lambda self: False),
    (lengths, Short, "__imul__", lambda self, other: self.data - other),
    (comparisons, Signal, "__gt__", lambda self, other: "greater"),
    (comparisons, Signal, "__ne__", lambda self, other: "other"),
])
def test_a_class_that_changes(f, base, name, method):
    kind = type("Changing", (base,), {})
    j = jitted(f, PYTHON)
    make = lambda: (kind(np.arange(25.0)), Signal(X.copy()) if f is lengths else kind(np.arange(25.0) + 1.0))  # noqa: E731
    before = str(f(*make()))
    for _ in range(3):
        assert str(j(*make())) == before
    setattr(kind, name, method)
    after = str(f(*make()))
    assert after != before
    for _ in range(3):
        assert str(j(*make())) == after


class Noisy:
    def __init__(self, data):
        self.data = data

    def __getitem__(self, i):
        y = self.data * 2.0 + i
        if i % 100 == 99:
            print("at", i)
        s = 0.0
        for k in range(len(y)):
            s += y[k]
        return s

    def __add__(self, other):
        y = self.data + 1.0
        if y[0] > 1e9:
            print("large")
        for _ in range(2):
            y = y * y - self.data
        return Noisy(y * other)


def noisy(v, n):
    s = 0.0
    for i in range(n):
        w = v + 2.0
        s += v[i] + w.data[0]
    return s


def test_methods_that_are_not_inlined_are_compiled_on_their_own():
    j = check(noisy, Noisy(X), 120, config=PYTHON)
    found = callees_of(j)
    if sys.version_info < (3, 11):
        assert kernels_run(found["__getitem__"]) > 100 and kernels_run(found["__add__"]) > 100
        assert "instead: compiled on its own" in str(j.explain())
    else:  # linked code has no place for a site beside an operator
        assert not found and "instead: runs as plain Python" in str(j.explain())
