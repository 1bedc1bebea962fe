"""Linked code of CPython 3.11 and later: exits with requests and reports, probes, gates, re-entries; launchers in Python."""

import sys

import pytest

if sys.version_info < (3, 11):
    pytest.skip("earlier versions have tests of their own", allow_module_level=True)

from pijit.core.bytecode.linker.deferred_warning import FlagReport
from pijit.core.bytecode.linker.link import MISS, Call, ExitPlan, Site, ValueProbe, held_back, link
from pijit.core.bytecode.linker.osr import Given
from tests.bytecode.linker.link_samples_311 import (
    NUMBERS,
    Launch,
    Natives,
    cfg_of,
    in_calls,
    index_of,
    line_of,
    linked,
    local,
    loop,
    straight,
    straight_site,
    until,
)


@pytest.fixture
def natives(monkeypatch):
    return Natives(monkeypatch)


def probed(f, xs):
    out = []
    for x in xs:
        y = f(x)
        out.append(y)
    return out, f(1) + 1


def test_probes_see_what_calls_return():
    cfg = cfg_of(probed)
    calls = [instr.index for instr in cfg.function.instructions if instr.opname == "CALL_FUNCTION"]
    seen = []
    probes = [ValueProbe(index, lambda value, index=index: seen.append((index, value))) for index in (calls[0], calls[-1])]
    assert linked(probed, cfg, [], probes)(lambda x: x * 10, [1, 2]) == ([10, 20], 11)
    assert seen == [(calls[0], 10), (calls[0], 20), (calls[-1], 10)]


def unpack(pair):
    a, b, c = pair
    return c, b, a


def test_probes_of_callables_with_an_empty_slot_above():
    """From CPython 3.13 on an instruction may push a global and the empty slot of its call."""
    def calls(x):
        return len(x) + abs(len(x))

    seen, cfg = [], cfg_of(calls)
    probes = [ValueProbe(instr.index, seen.append) for instr in cfg.function.instructions if instr.opname == "LOAD_GLOBAL"]
    assert linked(calls, cfg, [], probes)("ab") == 4 and seen == [len, abs, len]


def test_probes_of_what_is_taken_apart():
    cfg, seen = cfg_of(unpack), []
    probe = ValueProbe(index_of(cfg, "UNPACK_SEQUENCE"), seen.append, 3)
    assert linked(unpack, cfg, [], [probe])((1, 2, 3)) == (3, 2, 1) and seen == [(1, 2, 3)]


def test_probe_in_front_of_a_site():
    cfg = cfg_of(probed)
    call = [instr.index for instr in cfg.function.instructions if instr.opname == "CALL_FUNCTION"][-1]
    seen = []
    launch = Launch(lambda result: (None, result, 5))
    add = index_of(cfg, "BINARY_ADD")
    site = Site(call + 1, 1, 2, (Call(launch, (("stack", 1),), 2, (ExitPlan(add, (), 2, False),)),))
    assert linked(probed, cfg, [site], [ValueProbe(call, seen.append)])(lambda x: 3, []) == ([], 8)  # top first: 5 is below
    assert seen == [3] and launch.seen == [(3,)]


def test_nothing_to_link_leaves_the_code_as_it_is():
    cfg = cfg_of(loop)
    code = link(cfg, [], [])
    assert code.co_code == cfg.function.code.co_code and code.co_consts == cfg.function.code.co_consts


@pytest.mark.parametrize("held", [False, True])
def test_polls(natives, held):
    """What the kernel has left for is done when the locals have their values, on the line where bytecode goes on."""
    cfg = cfg_of(straight)
    plans = [ExitPlan(line_of(cfg, 3), ("a", "b"), 0, False)]
    number = held_back(plans)[0] if held else None
    seen = []

    def request():
        frame = sys._getframe(2)
        seen.append((frame.f_lineno - frame.f_code.co_firstlineno, frame.f_locals["a"], frame.f_locals["b"]))
    natives.on_request = request
    launch = Launch((number, 4, 5))
    assert linked(straight, cfg, [straight_site(launch, tuple(plans), 2)])(1, 2) == 4
    assert seen == ([(3, 4, 5)] if held else [])


def test_floating_point_flags_are_reported(natives):
    cfg = cfg_of(straight)
    behind = index_of(cfg, "BINARY_MULTIPLY") + 1
    launch = Launch((None, (["written"], 4), 1))
    plan = ExitPlan(behind, (), 1, False, rest=FlagReport("add"))
    site = straight_site(launch, (plan._replace(locals=(None,), stack=1),), 2)
    launch.answers = [(None, "unused", (["written"], 4))]
    run = linked(straight, cfg, [site])
    with pytest.raises(TypeError) as caught:
        run(1, 2)
    assert "list" in str(caught.value)
    launch.answers = [(None, "unused", (Minus(), 4))]
    assert run(1, 2) == "reported add 4" and natives.requests == []
    polled = linked(straight, cfg, [straight_site(launch, (plan._replace(locals=(None,), poll=True),), 2)])
    assert polled(1, 2) == "reported add 4" and natives.requests == [1]


class Minus:
    def __add__(self, found):
        return Reported(found[0])


class Reported:
    def __init__(self, found):
        self.found = found

    def __sub__(self, one):
        return "reported %s %d" % self.found


def test_items_that_are_made():
    """An exit leaves a tuple for an item of the operand stack that bytecode has to make."""
    cfg = cfg_of(in_calls)
    call = index_of(cfg, "CALL_FUNCTION", value=2)  # on the stack: f, x, g, x, y
    launch = Launch(lambda f, g, x: (None, 7, x, ("g",), x, (f,)))
    given = (Given(0, lambda f: lambda *a, **k: ("made", f(*a, **k))), Given(2, lambda name: NUMBERS))
    plan = ExitPlan(call, (), 5, False, given=given)
    site = Site(0, 0, 0, (Call(launch, (local("f"), local("g"), local("x")), 5, (plan,)),))
    assert linked(in_calls, cfg, [site])(NUMBERS, None, 3) == ("made", ((3, ((3, 7), [])), [("k", 3)]))


def forgets(x):
    y = x
    for i in range(2):
        z = y
    return z, y


def test_exits_that_change_what_stays():
    cfg = cfg_of(in_calls)
    plan = ExitPlan(index_of(cfg, "RETURN_VALUE"), (), 0, True)
    with pytest.raises(ValueError, match="changes operands that stay"):
        link(cfg, [Site(index_of(cfg, "BINARY_MULTIPLY"), 3, 6, (Call(Launch((MISS,)), (), 0, (plan,)),))], [])


def test_a_variable_without_a_value_raises():
    """Linked code leaves y unset; the original's load, which does not look, would read nothing."""
    cfg = cfg_of(forgets)
    behind = index_of(cfg, "LOAD_FAST", value="y", nth=-1)
    launch = Launch((None,))
    plan = ExitPlan(behind, (), 1, False, deleted=("y",))
    launch.answers = [(None, "z")]
    run = linked(forgets, cfg, [Site(0, 0, 0, (Call(launch, (local("x"),), 1, (plan,)),))])
    with pytest.raises(UnboundLocalError, match="'y'"):
        run(1)
    launch.answers = [(MISS, None)]
    assert run(1) == (1, 1)


def late(x):
    if x:
        y = 1
    z = y
    return z


def test_an_argument_of_a_launcher_without_a_value_raises():
    cfg = cfg_of(late)
    store = index_of(cfg, "LOAD_FAST", value="y")
    launch = Launch((MISS,))
    run = linked(late, cfg, [Site(store, 0, 0, (Call(launch, (local("y"),), 0, (ExitPlan(store, (), 0, True),)),))])
    assert run(1) == 1 and launch.seen == [(1,)]
    with pytest.raises(UnboundLocalError, match="'y'"):
        run(0)


def test_gates_and_reentries():
    """At the header bytecode asks the gate; where that gives an item, the re-entry's launcher is called."""
    cfg = cfg_of(until)
    header = line_of(cfg, 3)
    behind = line_of(cfg, 5)
    asked = []

    class Gate:
        def __iter__(self):
            return self

        def __next__(self):
            asked.append(1)
            if len(asked) % 2:
                raise StopIteration
            return None
    launch = Launch(lambda n, total: (None, total + 100 * n, 0))
    plan = ExitPlan(behind, ("total", "n"), 0, False)
    site = Site(header, 0, 0, (Call(launch, (local("n"), local("total")), 2, (plan,)),), Gate())
    run = linked(until, cfg, [], reentries={1: site})
    assert run(3) == 3 + 200 and len(asked) == 2
    launch.answers = [(MISS, None, None)]
    asked.clear()
    assert run(5) == 15 and len(asked) == 5


def test_an_exit_that_leads_to_a_reentry():
    cfg = cfg_of(until)
    header, behind = line_of(cfg, 3), line_of(cfg, 5)
    first = Launch((None, 10, 2))
    second = Launch(lambda total, n: (None, total * 1000))
    one = Site(0, 0, 0, (Call(first, (local("n"),), 2, (ExitPlan(header, ("total", "n"), 0, True, reentry="w"),)),))
    two = Site(header, 0, 0, (Call(second, (local("total"), local("n")), 1, (ExitPlan(behind, ("total",), 0, False),)),))
    run = linked(until, cfg, [one], reentries={"w": two})
    assert run(7) == 10000 and second.seen == [(10, 2)]
    second.answers = [(MISS, None)]
    assert run(7) == 13


def calls_methods(x, k):
    return x.method(1), x.function(k=k), (lambda y: y)(k)


class Called:
    def __init__(self):
        self.function = lambda **names: ("function", names)

    def method(self, *args):
        return self, args


@pytest.mark.skipif(sys.version_info < (3, 14), reason="what binds a method is written in C")
def test_calls_of_methods_are_announced():
    """What is looked up as a method has its owner beside it, or nothing."""
    cfg, one, seen = cfg_of(calls_methods), Called(), []

    def site(callable, *arguments, **names):
        seen.append((arguments, names))
        return callable(*arguments, **names)

    calls = [instr.index for instr in cfg.function.instructions if instr.opname.startswith("CALL_")]
    run = linked(calls_methods, cfg, [], calls=dict.fromkeys(calls, site))
    for _ in range(20):
        assert run(one, 3) == ((one, (1,)), ("function", {"k": 3}), 3)
    assert seen == [((1,), {}), ((), {"k": 3}), ((3,), {})] * 20
    with pytest.raises(AttributeError):
        run(5, 3)


def calls_starred(f, xs, names):
    return f(*xs), f(*xs, **names), f(**names)


class Binds:
    """A site that makes the callable of a call with a tuple of arguments."""

    def __init__(self):
        self.seen = []

    def bound(self, callable, arguments):
        self.seen.append(arguments)
        return lambda *args, **names: ("bound", callable(*args, **names))


def test_calls_with_tuples_of_arguments_are_announced():
    cfg, site = cfg_of(calls_starred), Binds()
    calls = [instr.index for instr in cfg.function.instructions if instr.opname == "CALL_FUNCTION_EX"]
    run = linked(calls_starred, cfg, [], calls=dict.fromkeys(calls, site))
    for _ in range(20):
        assert run(NUMBERS, (1, 2), {"a": 3}) == tuple(("bound", result) for result in calls_starred(NUMBERS, (1, 2), {"a": 3}))
    assert site.seen == [(1, 2), (1, 2), ()] * 20


def test_calls_are_announced():
    cfg = cfg_of(probed)
    call = index_of(cfg, "CALL_FUNCTION")
    seen = []

    def site(callable, *arguments):
        seen.append(sys._getframe(1).f_lineno - probed.__code__.co_firstlineno)
        return callable(*arguments)

    run = linked(probed, cfg, [], calls={call: site})
    assert run(lambda x: x, [1, 2]) == ([1, 2], 2) and seen == [3, 3]
