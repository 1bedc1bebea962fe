"""Continuations of calls: a frame of a function that starts in the middle."""

import sys

import pytest

from pijit.core._hook import Continuation
from pijit.core.bytecode.analysis.blocks import build_cfg
from pijit.core.bytecode.codec.decode import decode
from pijit.core.bytecode.linker.continuation import Continuation as Plan
from pijit.core.bytecode.linker.continuation import _native


def make(scale):
    def f(a, b=1):
        c = a + b
        return c * scale
    return f


def frame_of(a):
    b = a + 1
    return sys._getframe(), b


def rest_of(function, opname, locals, stack=0):
    cfg = build_cfg(decode(function.__code__))
    target = next(instr.index for instr in cfg.function.instructions if instr.opname == opname)
    return _native(Plan(cfg, target, locals, stack, None), lambda callees: None)


def test_the_rest_runs_with_its_variables_and_operands():
    f = make(10)
    rest = rest_of(f, "STORE_FAST", (), 1)
    assert rest((f, 4)) == 40 and rest((make(3), 4)) == 12
    rest = rest_of(f, "BINARY_MULTIPLY", ("a",), 2)
    assert rest((f, "unused", "ab", 2)) == "abab"


def test_the_frame_is_that_of_the_function():
    rest = rest_of(frame_of, "STORE_FAST", ("a",), 1)
    frame, b = rest((frame_of, 1, 7))
    assert b == 7 and frame.f_code.co_name == "frame_of" and frame.f_globals is globals()
    assert frame.f_back is sys._getframe() and frame.f_locals == {"a": 1, "b": 7}


def test_values_live_as_long_as_the_frame_needs_them():
    x = object()
    rest, before = rest_of(frame_of, "STORE_FAST", ("a",), 1), sys.getrefcount(x)
    for _ in range(9):
        assert rest((frame_of, x, x))[1] is x
    assert sys.getrefcount(x) == before


@pytest.mark.parametrize("state, text", [
    ((), "right size"), ((1, 2, 3), "begin with a function"), ((make(1), 1), "right size"), ([make(1), 1, 2], "right size"),
    ((make(1), 1, 2), "another closure")])
def test_states_that_do_not_fit(state, text):
    with pytest.raises(SystemError, match=text):
        rest_of(frame_of, "STORE_FAST", ("a",), 1)(state)


def with_cells(a, b):
    c = a + b
    return [c + v + a for v in (1, 2)]


def test_variables_in_cells():
    rest = rest_of(with_cells, "BINARY_ADD", ("a",), 2)
    assert rest((with_cells, 10, 1, 2)) == [14, 15]
    with pytest.raises(NameError):
        rest_of(with_cells, "BINARY_ADD", (), 2)((with_cells, 1, 2))


def test_codes_that_do_not_fit():
    for slot in (-1, 99):
        with pytest.raises(ValueError, match="no variable"):
            Continuation(frame_of.__code__, (slot,))
    with pytest.raises(TypeError):
        Continuation(frame_of.__code__, ("a",))
    with pytest.raises(TypeError):
        Continuation(frame_of.__code__, ()).callable()
