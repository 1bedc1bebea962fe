"""Code of CPython 3.11 and later that begins in its middle: rests of inlined calls, and calls that move to other code."""

import sys
import traceback

import pytest

if sys.version_info < (3, 11):
    pytest.skip("earlier versions have frames made for this", allow_module_level=True)

from types import CellType

from pijit.core._hook import UNBOUND
from pijit.core.bytecode.linker.continuation import Continuation, _native
from pijit.core.bytecode.linker.link import MISS, Call, ExitPlan, Site, link
from pijit.core.bytecode.linker.osr import move_points
from tests.bytecode.linker.link_samples_311 import Launch, Natives, cfg_of, index_of, leaving, line_of, linked


@pytest.fixture
def natives(monkeypatch):
    return Natives(monkeypatch)


def quiet(callees):
    return None


def rest_of(function, index, locals, stack=0, cfg=None, **more):
    cfg = cfg or cfg_of(function)
    plan = Continuation(cfg, index if isinstance(index, int) else index_of(cfg, index), locals, stack, None, **more)
    return _native(plan, quiet)


def make(scale):
    def f(a, b=1, *more, c=2, **names):
        d = a + b
        return d * scale
    return f


def frame_of(a):
    b = a + 1
    return sys._getframe(), b


def test_the_rest_runs_with_its_variables_and_operands(natives):
    f = make(10)
    cfg = cfg_of(f)
    rest = rest_of(f, index_of(cfg, "STORE_FAST", value="d"), (), 1)
    assert rest((f, 4)) == 40 and rest((make(3), 4)) == 12 and len(natives.requests) == 2
    rest = rest_of(f, "BINARY_MULTIPLY", ("a",), 2)
    assert rest((f, "unused", "ab", 2)) == "abab"


def test_the_frame_is_that_of_the_function(natives):
    cfg = cfg_of(frame_of)
    rest = rest_of(frame_of, index_of(cfg, "STORE_FAST", value="b"), ("a",), 1)
    frame, b = rest((frame_of, 1, 7))
    assert b == 7 and frame.f_code.co_name == "frame_of" and frame.f_globals is globals()
    assert {name: value for name, value in frame.f_locals.items()} == {"a": 1, "b": 7}
    rest = rest_of(frame_of, index_of(cfg, "STORE_FAST", value="b"), (), 1)
    assert dict(rest((frame_of, 7))[0].f_locals) == {"b": 7}  # an argument that is not handed over has no value


def with_cells(a, b):
    c = a + b

    def inner():
        return a, c
    return inner


def test_variables_in_cells(natives):
    cfg = cfg_of(with_cells)
    target = index_of(cfg, "BINARY_ADD")
    rest = rest_of(with_cells, target, ("a", "b"), 2)
    assert rest((with_cells, 10, 20, 1, 2))() == (10, 3)
    with pytest.raises(NameError, match="'a'"):
        rest_of(with_cells, target, (), 2)((with_cells, 1, 2))()


def unset(x):
    if x:
        y = 1
    z = x
    return y, z


def test_a_variable_that_is_not_handed_over_has_no_value(natives):
    cfg = cfg_of(unset)
    store = index_of(cfg, "STORE_FAST", value="z")
    assert rest_of(unset, store, ("y",), 1)((unset, 2, 3)) == (2, 3)
    with pytest.raises(UnboundLocalError, match="'y'"):
        rest_of(unset, store, (), 1)((unset, 3))
    load = index_of(cfg, "STORE_FAST", value="y")
    with pytest.raises(UnboundLocalError, match="'x'"):  # the compiler has proved that x has a value
        rest_of(unset, load, (), 1)((unset, 3))


def guarded(f, x):
    try:
        with f(x) as y:
            return [y, g(x, *f.items)]
    except KeyError as error:
        return "caught", error.args


def g(*args):
    raise KeyError(args)


class Items:
    items = (1, 2)
    left = False

    def __call__(self, x):
        return self

    def __enter__(self):
        return "entered"

    def __exit__(self, *exception):
        self.left = True


def test_a_rest_in_a_try_statement_and_in_calls(natives):
    cfg, items = cfg_of(guarded), Items()
    call = index_of(cfg, "CALL_FUNCTION_EX")  # on the stack: what leaves the block, y, g, the arguments
    kept = leaving(items)
    rest = rest_of(guarded, call, ("f", "x"), len(kept) + 3)
    assert rest((guarded, items, 5, *kept, "y", lambda *args: args, (7, 8))) == ["y", (7, 8)] and items.left
    assert rest((guarded, items, 5, *kept, "y", g, (7, 8))) == ("caught", ((7, 8),))
    given = tuple((place, lambda manager, place=place: leaving(manager)[place]) for place in range(len(kept)))
    made_items = rest_of(guarded, call, ("f", "x"), len(kept) + 3, given=given)
    items.left = False
    assert made_items((guarded, items, 5, *[(items,)] * len(kept), "y", g, (9,))) == ("caught", ((9,),)) and items.left


def with_names(**names):
    return names


def test_dicts_of_keywords(natives):
    cfg = cfg_of(with_names)
    rest = rest_of(with_names, index_of(cfg, "RETURN_VALUE") - 1, (), 0, dicts=(("names", ("a", "b")),))
    assert rest((with_names, 1, 2)) == {"a": 1, "b": 2}
    assert rest_of(with_names, index_of(cfg, "RETURN_VALUE") - 1, (), 0, dicts=(("names", ()),))((with_names,)) == {}


def callee(x):
    y = x * 2
    return y + 1


def caller(x, seen):
    try:
        a = x + callee(x)
    except TypeError:
        return "caught"
    seen.append(a)
    return a


def plan_of_rest():
    """Linked code of the caller, whose launcher leaves in the middle of the callee."""
    inner = cfg_of(callee)
    rest = Continuation(inner, index_of(inner, "STORE_FAST", value="y"), ("x",), 1, None)
    cfg = cfg_of(caller)
    call = index_of(cfg, "CALL_FUNCTION")
    launch = Launch(lambda x: (None, (callee, x, x * 20), x))  # top first: the state, then x
    begin = index_of(cfg, "LOAD_FAST", value="x")
    plan = ExitPlan(call + 1, (), 2, False, rest=rest)
    return linked(caller, cfg, [Site(begin, 0, 0, (Call(launch, (("local", "x"),), 2, (plan,)),))]), launch


def test_linked_code_calls_the_rest(natives):
    run, launch = plan_of_rest()
    seen = []
    assert run(3, seen) == 3 + 61 and seen == [64] and len(natives.requests) == 1
    launch.answers = [lambda x: (None, (callee, x, None), 5)]
    assert run(3, seen) == "caught"
    launch.answers = [(MISS, None, None)]
    assert run(3, seen) == 10


def test_tracebacks_through_rests(natives):
    run, launch = plan_of_rest()
    launch.answers = [lambda x: (None, (callee, x, Fails()), 5)]
    with pytest.raises(ZeroDivisionError) as caught:
        run(3, [])
    lines = traceback.format_exception(caught.value)
    shown = [line for line in "".join(lines).split("\n") if "callee" in line or "y + 1" in line or "^^^" in line or "~~" in line]
    assert any("callee(x)" in line for line in shown) and any("y + 1" in line for line in shown)
    frames = traceback.extract_tb(caught.value.__traceback__)
    assert [(frame.name, frame.line) for frame in frames[1:] if frame.name in ("caller", "callee")] == [
        ("caller", "a = x + callee(x)"), ("callee", "return y + 1")]
    assert (frames[1].colno, frames[1].end_colno) == (16, 25)


class Fails:
    def __add__(self, one):
        raise ZeroDivisionError


def outer(x):
    z = caller_of_one(x) + 1
    return z


def caller_of_one(x):
    w = callee(x) * 10
    return w


def test_rests_of_rests(natives):
    inner, middle = cfg_of(callee), cfg_of(caller_of_one)
    first = Continuation(inner, index_of(inner, "STORE_FAST", value="y"), ("x",), 1, None)
    second = Continuation(middle, index_of(middle, "CALL_FUNCTION") + 1, ("x",), 1, first)
    assert str(second) == "caller_of_one at %d, %s" % (second.target, first)
    cfg = cfg_of(outer)
    launch = Launch(lambda x: (None, (caller_of_one, x, (callee, x, 100))))
    plan = ExitPlan(index_of(cfg, "CALL_FUNCTION") + 1, (), 1, False, rest=second)
    run = linked(outer, cfg, [Site(0, 0, 0, (Call(launch, (("local", "x"),), 1, (plan,)),))])
    assert run(1) == 1011


@pytest.mark.parametrize("monitored", [False, True])
def test_tracing_that_begins_in_a_rest(natives, monitored):
    """No line is told of again when control comes back from the code in front of the function."""
    if monitored and sys.version_info < (3, 12):
        pytest.skip("sys.monitoring comes with 3.12")
    run, launch = plan_of_rest()
    first, seen = run.__code__.co_firstlineno, []

    def trace(frame, event, arg):
        if event == "line":
            seen.append(frame.f_lineno - first)
        return trace

    def begin():
        if monitored:
            sys.monitoring.set_local_events(3, run.__code__, sys.monitoring.events.LINE)
        else:
            frame = sys._getframe()
            while frame.f_code is not run.__code__:
                frame = frame.f_back
            frame.f_trace = trace  # as a debugger does
            sys.settrace(lambda *event: None)
    natives.on_request = begin
    if monitored:
        sys.monitoring.use_tool_id(3, "lines")
        sys.monitoring.register_callback(3, sys.monitoring.events.LINE, lambda code, line: seen.append(line - first))
    try:
        run(3, [])
    finally:
        sys.settrace(None)
        if monitored:
            sys.monitoring.set_local_events(3, run.__code__, 0)
            sys.monitoring.free_tool_id(3)
    assert seen == [5, 6]


def sums(n, scale):
    total = 0
    if n > 100:
        late = n
    for i in range(n):
        for j in range(i):
            total += j * scale

    def add():
        return total, scale
    return total, add, late if n > 100 else None


def header_of(cfg, nth):
    return cfg.blocks[sorted(loop.header for loop in cfg.loops)[nth]].start


@pytest.mark.parametrize("late", [UNBOUND, "late"])
def test_a_call_begins_at_a_header(natives, late):
    cfg = cfg_of(sums)
    code = link(cfg, [], [], start=header_of(cfg, 1))
    assert "$s2" in code.co_varnames
    names = cfg.function.code.co_varnames
    values = dict(n=101 if late == "late" else 5, late=late, i=3, j=1, add=UNBOUND)
    cells = {"total": CellType(1000), "scale": CellType(2)}
    state = [values.get(name, UNBOUND) for name in names] + [cells[name] for name in cfg.function.code.co_cellvars]
    total, add, found = natives.run(sums, code, state + [(iter([4]), iter([2, 3]))])
    assert total == 1000 + 2 * (2 + 3) + 2 * (0 + 1 + 2 + 3) and found == (None if late is UNBOUND else "late")
    cells["scale"].cell_contents = 7  # the cells are those that were handed over
    assert add() == (total, 7)
    if late is UNBOUND:
        state[names.index("n")] = 101
        with pytest.raises(UnboundLocalError, match="'late'"):
            natives.run(sums, code, state + [(iter([]), iter([]))])


def guarded_loops(xs):
    found = [x for x in xs]
    try:
        for x in xs:
            found.append(x)
    finally:
        return found


def test_headers_where_a_call_cannot_move():
    reasons = list(move_points(cfg_of(guarded_loops)).values())
    assert reasons == ["it is inside a comprehension"] * (sys.version_info >= (3, 12)) + ["it is inside a try or with statement"]


def moves(xs):
    total = 0
    for x in xs:
        total += x
    return total


def test_an_osr_check_hands_over_the_operands(natives):
    cfg = cfg_of(moves)
    header = header_of(cfg, 0)
    asked = []

    class OsrCheck:
        """Has an item at each visit; the third call moves."""

        def __iter__(self):
            return self

        def __next__(self):
            return None

        def __call__(self):
            frame = sys._getframe(1)
            asked.append(dict(frame.f_locals))
            return None if len(asked) < 3 else lambda stack: ("moved", frame, stack)
    run = linked(moves, cfg, [], osr_checks={header: lambda slot: OsrCheck()})
    answer, frame, stack = run([1, 2, 3, 4])
    assert answer == "moved" and [one["total"] for one in asked] == [0, 1, 3]
    code = link(cfg, [], [], start=header)
    values = {name: frame.f_locals.get(name, UNBOUND) for name in cfg.function.code.co_varnames}
    assert natives.run(moves, code, [*values.values(), stack]) == 10
    assert natives.run(moves, code, [[], 7, UNBOUND, (iter(()),)]) == 7


def test_a_call_begins_at_a_reentry(natives):
    cfg = cfg_of(moves)
    header, behind = header_of(cfg, 0), line_of(cfg, 4)
    launch = Launch(lambda total, xs: (None, total + sum(xs) * 1000))
    site = Site(header, 0, 1, (Call(launch, (("local", "total"), ("stack", 0)), 1, (ExitPlan(behind, ("total",), 0, False),)),))
    code = link(cfg, [], [], reentries={0: site}, start=header)
    assert natives.run(moves, code, [[], 7, UNBOUND, (iter((1, 2)),)]) == 3007
