"""Calls through call sites, which run other functions' linked code, from CPython 3.11 on."""

import gc
import sys
import traceback
import types
import weakref

import pytest

from pijit.core import _hook
from pijit.core._hook import Callee, CallSite, Entrance, JitFunction
from tests.native.hidden.hidden_code import PY, insert
from tests.native.hook.hook_marks import HOOKED, with_const

pytestmark = pytest.mark.skipif(HOOKED, reason="up to CPython 3.10 the hook makes and moves frames")

if not HOOKED:
    from bytecode import Bytecode, Instr


IDLE_LIMIT = 64
OPEN_LIMIT = 4


def g(x, y=1, *, z=0):
    if x is None:
        raise ValueError(sys._getframe(1).f_code.co_name)
    return x, y, z, "original"


def other(x):
    return x, "other"


def caller(x):
    return g(x, 2), g(g(x)[0], z=5)


class Owner:
    def m(self, x):
        return self, x, "original"


PAYLOAD = with_const(g.__code__, "original", "payload")
METHOD = with_const(Owner.m.__code__, "original", "payload")


def callee(code=g.__code__, payload=PAYLOAD, idle=None):
    return Callee(code, None, lambda *args: payload, lambda: idle is not None and idle.append("idle"))


def through(code, site, name):
    """Code whose calls of a global go through a site."""
    listing = Bytecode.from_code(code)
    for at in reversed([at for at, item in enumerate(listing) if isinstance(item, Instr) and item.name == "LOAD_GLOBAL"
                        and item.arg == (True, name)]):
        items = [Instr("STORE_FAST", "$null"), Instr("LOAD_CONST", site), Instr("SWAP", 2)]
        insert(listing, at + 1, items if PY >= (3, 13) else [Instr("SWAP", 2), *items])
    return listing.to_code()


def test_calls_through_a_site_run_the_payload_and_no_others():
    site = CallSite((callee(),))
    linked = through(caller.__code__, site.callable, "g")
    _hook.mark(caller.__code__, None, lambda *args: linked)
    assert JitFunction(caller)(1) == ((1, 2, 0, "payload"), (1, 1, 5, "payload"))
    assert caller(1) == ((1, 2, 0, "original"), (1, 1, 5, "original")) and g(1) == (1, 1, 0, "original")
    with pytest.raises(ValueError, match="caller") as caught:
        JitFunction(caller)(None)
    assert [entry.name for entry in traceback.extract_tb(caught.tb)][1:] == ["caller", "g"]
    with pytest.raises(TypeError, match=r"g\(\) got an unexpected keyword argument 'k'"):
        site.callable(g, 1, k=2)
    _hook.unmark(caller.__code__)


def test_other_functions_methods_and_callables():
    site = CallSite((callee(), callee(Owner.m.__code__, METHOD))).callable
    owner = Owner()
    assert site(other, 1) == (1, "other") and site(len, [1]) == 1 and site(dict, a=1) == {"a": 1}
    assert site(owner.m, 2) == site(owner.m, x=2) == (owner, 2, "payload")
    assert site(Owner.m, owner, 3) == (owner, 3, "payload")
    assert site(*(g, 1), **{"z": 3}) == (1, 1, 3, "payload")
    assert site(JitFunction(g), 1) == (1, 1, 0, "original")
    with pytest.raises(TypeError, match="what it is to call"):
        site()


def test_disabled_traced_and_monitored_threads_run_the_original():
    site = CallSite((callee(),)).callable
    with _hook.disabled():
        assert site(g, 1)[-1] == "original"
    old = sys.getprofile()
    sys.setprofile(lambda *args: None)
    try:
        profiled = site(g, 1)[-1]
    finally:
        sys.setprofile(old)
    assert profiled == "original" and site(g, 1)[-1] == "payload"
    if hasattr(sys, "monitoring"):
        sys.monitoring.use_tool_id(4, "test")
        sys.monitoring.set_events(4, sys.monitoring.events.PY_START)
        monitored = site(g, 1)[-1]
        sys.monitoring.set_events(4, 0)
        sys.monitoring.free_tool_id(4)
        assert monitored == "original" and site(g, 1)[-1] == "payload"


def test_a_callee_that_gains_nothing_is_left_alone():
    idle = []
    one = callee(payload=None, idle=idle)
    site = CallSite((one,)).callable
    for n in range(IDLE_LIMIT):
        assert not one.idle and site(g, n) == (n, 1, 0, "original")
    assert one.idle and idle == ["idle"] and site(g, 1)[-1] == "original" and idle == ["idle"]


def test_an_open_site_asks_about_functions_that_it_has_not_met():
    asked = []

    def find(code, globals):
        asked.append((code, globals))
        return callee() if code is g.__code__ else None

    site = CallSite((), find)
    assert site.open and [site.callable(g, 1)[-1] for _ in range(3)] == ["payload"] * 3
    assert asked == [(g.__code__, globals())]
    for _ in range(OPEN_LIMIT):
        assert site.callable(other, 2) == (2, "other")
    assert not site.open and len(asked) == OPEN_LIMIT and site.callable(g, 1)[-1] == "payload"


def test_an_open_site_that_meets_no_function_closes():
    site = CallSite((), lambda code, globals: None)
    for _ in range(IDLE_LIMIT + 1):
        assert site.open and site.callable(len, ()) == 0
    assert not site.open


def make_adder(k):
    def add(x, y=1, *, z=0):
        return x + y + z + k, sys._getframe(), 1000
    return add


def adder_site():
    code = make_adder(0).__code__
    return CallSite((callee(code, Entrance(with_const(code, 1000, 5000), None, ())),)).callable


def test_functions_of_one_code_object_share_a_hidden_function():
    site = adder_site()
    for k in (10, 20, 30):
        add = make_adder(k)
        assert site(add, 1)[::2] == (k + 2, 5000)
        add.__defaults__, add.__kwdefaults__ = (2,), {"z": 5}
        assert site(add, 1)[::2] == (k + 8, 5000)
    other = types.FunctionType(make_adder(0).__code__, {"sys": sys}, "add", (7,), make_adder(40).__closure__)
    other.__kwdefaults__ = {"z": 0}
    value, frame, _ = site(other, 1)
    assert value == 48 and frame.f_globals is other.__globals__


def test_frames_that_are_held_keep_what_they_have():
    site, held = adder_site(), []
    for k in range(5):
        held.append(site(make_adder(k), 1)[1])
    gc.collect()
    assert [frame.f_locals["k"] for frame in held] == [0, 1, 2, 3, 4]
    assert all(frame.f_globals is globals() and frame.f_builtins["len"] is len for frame in held)


def test_a_hidden_function_that_waits_keeps_nothing_and_is_not_seen():
    class Number(float):
        pass

    def make(k):
        def add(x, y=0, *, z=0):
            return x + y + z + k, 6000
        return add

    code = make(0).__code__
    site = CallSite((callee(code, Entrance(with_const(code, 6000, 7000), None, ())),)).callable

    def run():
        numbers = [Number(1) for _ in range(3)]
        add = types.FunctionType(code, {}, "add", (numbers[0],), make(numbers[1]).__closure__)
        add.__kwdefaults__ = {"z": numbers[2]}
        assert site(add, 1) == (4.0, 7000)
        return [weakref.ref(number) for number in numbers]

    numbers = [number for _ in range(3) for number in run()]
    assert [number() for number in numbers] == [None] * 9
    assert [one for one in gc.get_objects()
            if type(one) is types.FunctionType and one.__name__ == "add" and 7000 in one.__code__.co_consts] == []


def test_recursion_through_a_site_with_an_entrance():
    def down(n):
        return [n, 1000] + (site(down, n - 1) if n else [])

    site = CallSite((callee(down.__code__, Entrance(with_const(down.__code__, 1000, 5000), None, ())),)).callable
    for _ in range(3):
        assert site(down, 3) == [3, 5000, 2, 5000, 1, 5000, 0, 5000]


def test_calls_through_sites_recurse_as_deep():
    def plain(levels):
        levels.append(None)
        return plain(levels), "original"

    def down(levels):
        levels.append(None)
        return site(down, levels), "original"

    payload = with_const(down.__code__, "original", "payload")
    site = CallSite((callee(down.__code__, payload),)).callable
    depths = []
    for function in (plain, down):
        levels = []
        with pytest.raises(RecursionError):
            function(levels)
        depths.append(len(levels))
    assert abs(depths[0] - depths[1]) <= 1


@pytest.mark.parametrize("entrance", [False, True])
def test_calls_through_sites_leave_nothing_behind(entrance):
    payload = Entrance(PAYLOAD, None, ()) if entrance else PAYLOAD
    site = CallSite((callee(payload=payload), callee(Owner.m.__code__, METHOD))).callable
    owner = Owner()

    def run():
        for _ in range(10000):
            site(g, 1, z=2)
            site(owner.m, 2)
            try:
                site(g, None)
            except ValueError:
                pass

    run()
    gc.collect()
    before = sys.getallocatedblocks()
    run()
    gc.collect()
    assert sys.getallocatedblocks() - before < 50
