import inspect
import sys

import pytest

from pijit.core.bytecode.analysis.blocks import build_cfg
from pijit.core.bytecode.analysis.liveness import Liveness, reads_all_locals
from pijit.core.bytecode.codec.decode import decode
from tests.bytecode.bytecode_samples import NAMES, SAMPLES, at, executed, try_everything


def liveness(function):
    cfg = build_cfg(decode(function.__code__))
    return cfg, Liveness(cfg)


@pytest.mark.parametrize("function, calls", SAMPLES, ids=NAMES)
def test_nothing_read_is_dead(function, calls):
    """In real runs, a local is live from where it got its value to where that is read."""
    cfg, live = liveness(function)
    instructions = cfg.function.instructions
    for args in calls:
        read_later = set()
        for index in reversed(executed(function, args)):
            instr = instructions[index]
            if instr.opname == "STORE_FAST":
                read_later.discard(instr.value)
            elif instr.opname in ("LOAD_FAST", "DELETE_FAST"):
                read_later.add(instr.value)
            assert read_later <= live.live_in(index)


def before_line(function, text):
    cfg, live = liveness(function)
    line = at(function, text)
    return live.live_in(next(instr.index for instr in cfg.function.instructions if instr.lineno == line))


def overwritten(a, b):
    c = a
    a = b
    b = 1
    return a + c


def test_straight_line():
    cfg, live = liveness(overwritten)
    listed = [(instr.opname, sorted(live.live_in(instr.index))) for instr in cfg.function.instructions]
    assert listed == [
        ("LOAD_FAST", ["a", "b"]), ("STORE_FAST", ["b"]), ("LOAD_FAST", ["b", "c"]), ("STORE_FAST", ["c"]),
        ("LOAD_CONST", ["a", "c"]), ("STORE_FAST", ["a", "c"]), ("LOAD_FAST", ["a", "c"]),
        ("LOAD_FAST", ["c"]), ("BINARY_ADD", []), ("RETURN_VALUE", [])]


def loop(n, start):
    total = start
    scratch = 0
    for i in range(n):
        scratch = i * 2
        total += scratch
    return total


def test_loop():
    assert before_line(loop, "total = start") == {"n", "start"}
    assert before_line(loop, "scratch = i * 2") == {"i", "total"}
    assert before_line(loop, "total += scratch") == {"total", "scratch"}
    assert before_line(loop, "return total") == {"total"}


def handled(x):
    y = 0
    try:
        y = x.real
        z = y.imag
        y = z + 1
    except AttributeError:
        return y
    return z


def test_live_at_a_handler_is_live_throughout():
    cfg, live = liveness(handled)
    protected = [i for i, blocks in enumerate(cfg.block_stack) if blocks and blocks[-1].kind == "except"]
    assert len(protected) >= 10
    assert all("y" in live.live_in(i) for i in protected)
    assert before_line(handled, "return z") == {"z"}
    assert before_line(handled, "y = 0") == {"x"}


def deleted(x):
    if x:
        y = 1
    del y
    return x


def test_deleting_is_a_use():
    assert before_line(deleted, "del y") == {"x", "y"}
    assert before_line(deleted, "return x") == {"x"}
    # A local that may be unbound when it is deleted is live from the start: only so will the deletion fail.
    assert before_line(deleted, "if x") == {"x", "y"}


def test_finally_body_sees_what_it_reads():
    assert before_line(try_everything, 'log += ["body"]') == {"log", "x", "y"}


def with_locals(x):
    y = 1
    x = 2
    return locals()


def with_frame(x):
    y = 1
    x = 2
    return sys._getframe(0).f_locals


def with_current_frame(x):
    y = 1
    x = 2
    return inspect.currentframe().f_locals


def method_called_locals(x, y):
    x = 2
    return y.locals()


@pytest.mark.parametrize("function", [with_locals, with_frame, with_current_frame])
def test_readers_of_locals(function):
    cfg, live = liveness(function)
    assert reads_all_locals(cfg.function)
    assert {live.live_in(i) for i in range(len(cfg.function.instructions))} == {frozenset(("x", "y"))}


def test_methods_of_that_name_read_nothing():
    cfg, live = liveness(method_called_locals)
    assert not reads_all_locals(cfg.function)
    assert live.live_in(0) == {"y"}


def test_super_reads_the_first_argument():
    class Child(dict):
        def __init__(self, items):
            super().__init__(items)

    cfg, live = liveness(Child.__init__)
    assert all("self" in live.live_in(i) for i in range(len(cfg.function.instructions)))


def test_unreachable_and_missing_instructions():
    def f(x):
        while True:
            at(x)

    cfg, live = liveness(f)
    for i, block in enumerate(cfg.block_of):
        assert live.live_in(i) == (frozenset() if block is None else {"x"})
    with pytest.raises(IndexError):
        live.live_in(len(cfg.block_of))
