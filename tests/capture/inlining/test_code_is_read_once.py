"""Code is decoded once for all captures of a function: its own code, and that of its callees and their generators."""

import gc
import math
import types
import weakref

import numpy as np
import pytest

from pijit.core.bytecode.codec import decode
from pijit.core.bytecode.linker import verify
from pijit.core.capture.inline.inlined_code import InlinedCode
from tests.harness import jitted, kernel_count

X = np.arange(8.0)
maths = types.ModuleType("maths")
maths.sin = math.sin


def arithmetic(a, k):
    c = a * a + k
    return c.sum()


def slices(a, k):
    a = a.copy()
    a[1:] = a[:-1] * 2
    return a.sum() + k


def module_calls(a, k):
    total = 0.0 + k
    for i in range(8):
        total += maths.sin(a[i])
    return total


def helper(x):
    return maths.sin(x) + 1


def callees(a, k):
    total = 0.0 + k
    for i in range(8):
        total += helper(a[i])
    return total


def cells(a, k):
    scale = a[0] + k

    def scaled(x):
        return x * scale
    return scaled(a[1]) + scaled(a[2])


def callees_with_cells(a, k):
    return cells(a, k) + (a * 2).sum()


def doubled(a):
    yield a[0]
    for x in a:
        yield x * 2


def generators(a, k):
    total = k
    for x in doubled(a):
        total += x
    return total


def forwarded(a):
    yield from a
    yield a[0]


def delegation(a, k):
    total = k
    for x in forwarded(a):
        if total > 1e9:
            break
        total += x
    return total


def expressions(a, k):
    return sum(x * 2 for x in a) * k + max(x - 1 for x in a)


@pytest.fixture
def read(monkeypatch):
    """The code objects that are decoded; the verifier of linked code, which reads it again, is off."""
    def noted(code):
        found.append(code)
        return original(code)
    found, original = [], decode.read_instructions
    monkeypatch.setattr(decode, "read_instructions", noted)
    monkeypatch.setattr(verify, "why_wrong", lambda code, function: None)
    return found


def contents(code):
    """What tells code objects apart; linked code has launchers of its own."""
    return code.co_name, code.co_code, code.co_flags, tuple(map(id, code.co_consts))


@pytest.mark.parametrize("f", [arithmetic, slices, module_calls, callees, callees_with_cells, generators, delegation,
                               expressions])
def test_each_code_object_is_read_once(f, read):
    """In all captures of an entry: after those that observe values, and for each attempt and kind of values."""
    j = jitted(f)
    for k in (2, 2.5):
        del read[:]
        for _ in range(3):
            j(X, k)
        names = {contents(code): code.co_name for code in read}
        assert sorted(names.values()) == sorted(code.co_name for code in read)
    assert kernel_count(j) and len(j.state.entries) == 2


def new_code():
    return compile("lambda x: x + 1", "test", "eval").co_consts[0]


def test_code_of_callees_dies_with_them():
    namespace = {"helper": eval("lambda a: a * 2.0 + 1.0")}
    exec("def f(x):\n    return helper(x) - x", namespace)
    j = jitted(namespace["f"])
    for _ in range(3):
        j(X)
    assert kernel_count(j)
    code = weakref.ref(namespace.pop("helper").__code__)
    gc.collect()
    assert code() is None


def test_equal_code_of_two_functions_is_told_apart():
    inlined, first, second = InlinedCode(), new_code(), new_code()
    assert first == second
    assert inlined.callee(first, (), ()).code is first and inlined.callee(second, (), ()).code is second
