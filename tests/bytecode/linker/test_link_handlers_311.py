"""Linked code of CPython 3.11 and later in try and with statements: handlers, tracebacks, line events; launchers in Python."""

import sys
import traceback

import pytest

if sys.version_info < (3, 11):
    pytest.skip("earlier versions have tests of their own", allow_module_level=True)

from pijit.core.bytecode.linker.link import MISS, Call, ExitPlan, Site, held_back, link
from tests.bytecode.linker.link_samples_311 import (
    Launch,
    Natives,
    cfg_of,
    index_of,
    line_of,
    linked,
    local,
    loop,
    made,
    nested,
    two_loops,
    until,
)


@pytest.fixture
def natives(monkeypatch):
    return Natives(monkeypatch)


class Manager:
    def __init__(self, log):
        self.log = log

    def __enter__(self):
        self.log.append("enter")
        return self

    def __exit__(self, kind, value, tb):
        self.log.append("exit %s" % (kind.__name__ if kind else None))
        return kind is KeyError


def handlers(xs, log):
    acc = 0.0
    with Manager(log):
        for x in xs:
            try:
                acc = acc + x * x
            except TypeError:
                log.append(sys._getframe().f_lineno - sys._getframe().f_code.co_firstlineno)
                acc += 1.0
            finally:
                log.append("f")
    log.append("end")
    return acc


def in_handlers(answer):
    """A launcher in place of the statement in try, whose answers are made by a function; the flow and the function."""
    cfg = cfg_of(handlers)
    launch = Launch(answer)
    begin, end = line_of(cfg, 5), line_of(cfg, 10)
    plans = (ExitPlan(end, ("acc",), 0, False),)
    call = Call(launch, (local("acc"), local("x")), 1, plans)
    return cfg, launch, Site(begin, cfg.stack_depth[begin], cfg.stack_depth[begin], (call,))


def squares(acc, x):
    return (None, acc + x * x) if type(x) is float else (MISS, None)


@pytest.mark.parametrize("xs", [[1.0, 2.0], [], [1.0, "a", 2.0], [None, 2, 3.5], ["abc"]])
def test_handlers(xs):
    cfg, launch, site = in_handlers(squares)
    run, want, got = linked(handlers, cfg, [site]), [], []
    assert run(xs, got) == handlers(xs, want) and got == want
    assert len(launch.seen) == len(xs)


class Odd(float):
    def __mul__(self, other):
        raise ValueError("odd")


def shown(function, *args):
    try:
        function(*args)
    except Exception as error:
        return type(error), str(error), traceback.format_exc().split("\n", 3)[3]


def test_tracebacks_with_columns():
    cfg, _, site = in_handlers(squares)
    run = linked(handlers, cfg, [site])
    assert shown(run, [1.0, Odd(2)], []) == shown(handlers, [1.0, Odd(2)], [])
    assert "acc + x * x" in shown(run, [Odd(2)], [])[2] and "~~^~~" in shown(run, [Odd(2)], [])[2]


@pytest.mark.parametrize("kind", [TypeError, KeyError, ValueError])
def test_exceptions_of_a_launcher_meet_the_handlers_of_its_site(kind):
    def fails(acc, x):
        raise kind("in the launcher")
    cfg, _, site = in_handlers(fails)
    log = []
    run = linked(handlers, cfg, [site])
    if kind is TypeError:
        assert run([2.0], log) == 1.0 and log == ["enter", 7, "f", "exit None", "end"]
    elif kind is KeyError:
        assert run([2.0], log) == 0.0 and log == ["enter", "f", "exit KeyError", "end"]
    else:
        with pytest.raises(ValueError) as caught:
            run([2.0], log)
        frames = traceback.extract_tb(caught.value.__traceback__)
        assert log == ["enter", "f", "exit ValueError"] and frames[1].lineno == handlers.__code__.co_firstlineno + 5


def lines_of(function, *args):
    """The line events of a call."""
    seen = []

    def local_trace(frame, event, arg):
        seen.append((event, frame.f_lineno))
        return local_trace

    sys.settrace(lambda frame, event, arg: local_trace if frame.f_code is function.__code__ else None)
    try:
        function(*args)
    finally:
        sys.settrace(None)
    return seen


def monitored(function, *args):
    """The line events that a tool of sys.monitoring sees."""
    lines, monitoring = [], sys.monitoring
    monitoring.use_tool_id(3, "lines")
    try:
        monitoring.register_callback(3, monitoring.events.LINE, lambda code, line: lines.append(line))
        monitoring.set_local_events(3, function.__code__, monitoring.events.LINE)
        function(*args)
        monitoring.set_local_events(3, function.__code__, 0)
    finally:
        monitoring.free_tool_id(3)
    return lines


SEEN_BY = [lines_of] + ([monitored] if sys.version_info >= (3, 12) else [])


@pytest.mark.parametrize("lines", SEEN_BY)
@pytest.mark.parametrize("xs", [[1.0, 2.0], [], ["a", 2.0]])
def test_line_events(xs, lines):
    cfg, _, site = in_handlers(squares)
    assert lines(linked(handlers, cfg, [site]), xs, []) == lines(handlers, xs, [])


def test_at_each_instruction_line_events_are_those_of_the_original():
    for function, args in ((until, (3,)), (loop, (5,)), (two_loops, (3,)), (nested, (abs, 1, 2))):
        cfg = cfg_of(function)
        for lines in SEEN_BY:
            want = lines(made(function, function.__code__.replace()), *args)
            for instr in cfg.function.instructions:
                depth = cfg.stack_depth[instr.index]
                if depth is None or instr.opname == "NOP":
                    continue
                site = Site(instr.index, depth, depth, (Call(Launch((MISS,)), (), 0, (ExitPlan(instr.index, (), 0, True),)),))
                assert lines(linked(function, cfg, [site]), *args) == want, instr


def comprehension(xs, k):
    x = "kept"
    found = [x * k for x in xs if x]
    return x, found


def test_in_a_comprehension():
    code = comprehension.__code__
    inner = [const for const in code.co_consts if hasattr(const, "co_code")]
    cfg = cfg_of(inner[0] if inner else comprehension)
    multiply = index_of(cfg, "BINARY_MULTIPLY")
    depth = cfg.stack_depth[multiply]
    launch = Launch(lambda x, k: (None, (x, k)) if x != 3 else (MISS, None))
    call = Call(launch, (("stack", depth - 2), ("stack", depth - 1)), 1, (ExitPlan(multiply + 1, (), 1, False),))
    edited = link(cfg, [Site(multiply, depth - 2, depth, (call,))], [])
    if inner:
        edited = code.replace(co_consts=tuple(edited if const is inner[0] else const for const in code.co_consts))
    run = made(comprehension, edited)
    assert run([1, 0, 3], 10) == ("kept", [(1, 10), 30])
    with pytest.raises(TypeError):
        run([None, 3], object()), run([3], None)
    launch.answers = [lambda x, k: 1 / 0]
    with pytest.raises(ZeroDivisionError):
        run([1], 1)


def squares_of(xs, f):
    return f([x * x for x in xs])


@pytest.mark.skipif(sys.version_info < (3, 12), reason="comprehensions are functions")
def test_into_a_comprehension():
    """The variable had no value in front of the comprehension: an item of the stack is without one."""
    cfg = cfg_of(squares_of)
    multiply = index_of(cfg, "BINARY_MULTIPLY")
    launch = Launch(lambda f: (None, 6, 5, iter([2, 3]), ["first"], f))  # top first; between f and the list is what x had
    plan = ExitPlan(multiply, (), 5, True, empty=(1,))
    run = linked(squares_of, cfg, [Site(0, 0, 0, (Call(launch, (local("f"),), 5, (plan,)),))])
    assert run([], tuple) == ("first", 30, 4, 9)
    launch.answers = [(None, 6, None, iter([]), [], tuple)]
    with pytest.raises(TypeError):
        run([], tuple)
    launch.answers = [(MISS, None, None, None, None, None)]
    assert run([4], tuple) == (16,)


def test_requests_meet_the_handlers_of_the_target(natives):
    cfg, launch, site = in_handlers(None)
    plans = list(site.calls[0].exits)
    number = held_back(plans)[0]
    launch.answers = [(number, 8.0)]

    def fail():
        raise KeyError("asked for")
    natives.on_request = fail
    log = []
    assert linked(handlers, cfg, [site._replace(calls=(site.calls[0]._replace(exits=tuple(plans)),))])([1.0], log) == 8.0
    assert log == ["enter", "exit KeyError", "end"]
