"""Kernels that run before the hidden function of linked code, from CPython 3.11 on: what they return, and what they leave."""

import gc
import sys
import traceback

import pytest

from pijit.core import _hook
from pijit.core._hook import Entrance, JitFunction
from pijit.core._launcher import MISS, Launcher
from pijit.guards._evaluate import EntryCache
from pijit.guards.guard import IsType
from pijit.guards.program import GuardProgram
from pijit.guards.source import Local
from tests.native.hook.hook_marks import HOOKED

pytestmark = pytest.mark.skipif(HOOKED, reason="up to CPython 3.10 linked code runs in shadow frames")

if not HOOKED:
    from bytecode import Bytecode, Instr

PY = sys.version_info[:2]
RETURNED, LEFT = 0, 1


def calling(constant, *names):
    """Instructions that call a constant with locals."""
    load = Instr("LOAD_CONST", constant)
    items = [load, Instr("PUSH_NULL")] if PY >= (3, 13) else [Instr("PUSH_NULL"), load]
    items += [Instr("LOAD_FAST", name) for name in names]
    return items + ([Instr("PRECALL", len(names))] if PY == (3, 11) else []) + [Instr("CALL", len(names))]


class Case:
    """A function of x whose linked code answers what its launcher answers; the kernel runs first."""

    def __init__(self, kernel, first=None, function=None):
        def f(x):
            return x, "bytecode"

        f = function or f
        self.launcher = Launcher(None, {}, {}, (("int",),), 3, 3, kernel, ((("int", 2),), (("int", 2),)), 1, "test",
                                 returns=(RETURNED,))
        listing = Bytecode.from_code(f.__code__)
        at = next(i for i, item in enumerate(listing) if isinstance(item, Instr) and item.name == "RESUME") + 1
        items = calling(first) + [Instr("POP_TOP")] if first is not None else []
        items += calling(self.launcher.callable, "x") + [Instr("RETURN_VALUE")]
        for item in items:
            item.location = listing[at].location
        listing[at:at] = items
        self.linked = listing.to_code()
        self.cache = EntryCache(2)
        x = Local(0, "x")
        assert self.cache.add(GuardProgram([IsType(x, int)], [x]), Entrance(self.linked, self.launcher, (None, None)))
        _hook.mark(f.__code__, self.cache, lambda *args: None)
        self.call = JitFunction(f)

    def runs(self, x):
        """What a call returns, and how many hidden functions it takes."""
        before = _hook.stats()["shadow_frames"]
        result = self.call(x)
        return result, _hook.stats()["shadow_frames"] - before


def kernel(x):
    if x == 0:
        raise ZeroDivisionError("planted")
    if x == 99:
        return None
    return (RETURNED, x + 1) if x > 0 else (LEFT, x - 1)


def test_a_kernel_that_comes_to_a_return_needs_no_function():
    case = Case(kernel)
    assert case.runs(1) == (2, 0) and case.runs(7) == (8, 0) and case.launcher.calls == 2


def test_what_a_kernel_leaves_is_the_answer_of_its_launcher_in_linked_code():
    case = Case(kernel)
    assert case.runs(-1) == ((LEFT, -2), 1) and case.launcher.calls == 1
    assert case.runs(-5) == ((LEFT, -6), 1)


def test_a_kernel_that_misses_is_asked_again_by_linked_code():
    case = Case(kernel)
    assert case.runs(99) == ((MISS, None), 1)


def test_other_arguments_run_the_function():
    case = Case(kernel)
    assert case.runs("a") == (("a", "bytecode"), 0)


def test_an_exception_of_a_kernel_is_raised_where_the_function_calls_its_launcher():
    case = Case(kernel)
    with pytest.raises(ZeroDivisionError, match="planted") as caught:
        case.call(0)
    names = [entry.name for entry in traceback.extract_tb(caught.tb)]
    assert names[:2] == ["test_an_exception_of_a_kernel_is_raised_where_the_function_calls_its_launcher", "f"]
    assert case.runs(1) == (2, 0)


def test_runs_in_front_of_the_launcher_do_not_take_its_answer():
    numbers, seen = [-10, -20, -30], []

    def first():
        if numbers:
            seen.append(case.call(numbers.pop(0)))

    case = Case(kernel, first)
    assert case.call(-1) == (LEFT, -2)
    assert seen == [(LEFT, -31), (LEFT, -21), (LEFT, -11)]


def test_an_answer_that_nobody_takes_is_dropped():
    def first():
        raise KeyError("before the launcher")

    case = Case(kernel, first)
    for _ in range(3):
        with pytest.raises(KeyError, match="before the launcher"):
            case.call(-1)
    assert case.runs(1) == (2, 0)


def test_no_kernel_runs_in_front_where_binding_makes_objects():
    ran = []

    def noting(x):
        ran.append(sys._getframe(1).f_code.co_name)
        return LEFT, x

    def stars(x, *args, **kwargs):
        return x

    def cells(x):
        y = x
        return lambda: y

    for function in (stars, cells):
        case = Case(noting, function=function)
        assert case.runs(-1) == ((LEFT, -1), 1)
    assert ran == ["stars", "cells"]


def test_calls_leave_nothing_behind():
    case = Case(kernel)

    def run():
        for n in range(10000):
            case.call(n % 5 + 1)
            case.call(-1)
            try:
                case.call(0)
            except ZeroDivisionError:
                pass

    run()
    gc.collect()
    before = sys.getallocatedblocks()
    run()
    gc.collect()
    assert sys.getallocatedblocks() - before < 50
