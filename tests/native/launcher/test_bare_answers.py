"""Launchers that answer with the only value of an exit, without a tuple."""

import collections
import dis

import numpy as np
import pytest

from pijit.core._launcher import Launcher
from tests.harness import check

MAPPING = 1 << 6
"""Py_TPFLAGS_MAPPING."""
FLAGS = "MATCH_MAPPING" in dis.opmap
needs_flags = pytest.mark.skipif(not FLAGS, reason="types have no such flag before CPython 3.10")


def launcher(kernel, exits=((("object", 2),),), width=2, **more):
    return Launcher(None, {}, {}, (("object",),), 8, 3, kernel, exits, width, "bare", **more)


def is_answer(value):
    return isinstance(value, tuple) and type(value) is not tuple and (type(value).__flags__ & MAPPING or not FLAGS)


@needs_flags
@pytest.mark.parametrize("value", [42, 1.5, None, "text", [1], (0, 7), (), np.arange(3.0), collections, -1])
def test_values(value):
    assert launcher(lambda x: (0, x), bare=(0,)).callable(value) is value
    assert launcher(lambda x: (0, x)).callable(value) == (0, None, value)


class Registered:
    pass


collections.abc.Mapping.register(Registered)


@pytest.mark.parametrize("value", [{}, collections.OrderedDict(), Registered(), type.__dict__["__dict__"].__get__(int)])
def test_mappings_are_in_tuples(value):
    answer = launcher(lambda x: (0, x), bare=(0,)).callable(value)
    number, padding, last = answer
    assert is_answer(answer) and (number, padding) == (0, None) and last is value


def test_other_exits_and_misses_are_tuples():
    both = launcher(lambda x: x, ((("object", 2),), (("object", 2), ("object", 3))), bare=(0,))
    for kernel, expected in (((1, "a", "b"), (1, "a", "b")), (None, (-1, None, None))):
        answer = both.callable(kernel)
        assert is_answer(answer) and tuple(answer) == expected
    assert both.exit_counts == (0, 1) and both.misses == 1
    if FLAGS:
        assert both.callable((0, "a")) == "a" and both.exit_counts == (1, 1)


@pytest.mark.parametrize("bare, error", [((1,), ValueError), ((2,), ValueError), (1, TypeError), (("a",), TypeError)])
def test_exits_that_cannot_be_bare(bare, error):
    with pytest.raises(error):
        launcher(lambda x: (0, x), ((("object", 2),), (("object", 2), ("object", 3))), bare=bare)


def test_exceptions():
    def fails(x):
        raise KeyError(x)

    with pytest.raises(KeyError):
        launcher(fails, bare=(0,)).callable(1)
    with pytest.raises(SystemError):
        launcher(lambda x: (0,), bare=(0,)).callable(1)


def dicts(x, stay):
    y = {"k": x * 2.0}
    stay(-1)
    z = y["k"] + x
    stay(-1)
    return z * z


def pairs(x, stay):
    y = (3, x * 2.0)
    stay(-1)
    z = (0, y[1] + x)
    stay(-1)
    return z, y


def defaults(x, stay):
    y = collections.OrderedDict()
    y[0] = x + 1.0
    stay(-1)
    return y[0] * 2.0


@pytest.mark.parametrize("f", [dicts, pairs, defaults])
@pytest.mark.parametrize("x", [np.arange(3.0), 1.5, np.float64(2.5), 7])
def test_functions_with_breaks(f, x):
    check(f, x, abs)
    check(f, x, [].append)
