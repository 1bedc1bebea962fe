"""Hidden functions, which run linked code from CPython 3.11 on: what calls, programs and tools see of them."""

import gc
import inspect
import sys
import threading
import traceback
import types
import weakref
from random import Random

import pytest
from hook_marks import HOOKED, in_eight_threads, with_const, with_local

from pijit.core import _hook
from pijit.core._hook import UNBOUND, Entrance, JitFunction

pytestmark = pytest.mark.skipif(HOOKED, reason="up to CPython 3.10 linked code runs in shadow frames")

MONITORING = getattr(sys, "monitoring", None)  # from CPython 3.12 on
needs_monitoring = pytest.mark.skipif(MONITORING is None, reason="sys.monitoring came with Python 3.12")


class Seen(list):
    """What on_miss got for the slots of each call."""


def jit(function, old=1000, new=5000, entrance=False):
    """A JitFunction whose linked code has another constant, and what on_miss gets for it."""
    payload = with_const(function.__code__, old, new)
    seen = Seen()

    def on_miss(code, slots, globals, builtins):
        assert code.co_name == function.__name__ and globals is function.__globals__
        assert builtins["len"] is len
        seen.append(slots)
        return Entrance(payload, None, ()) if entrance else payload

    _hook.mark(function.__code__, None, on_miss)
    return JitFunction(function), seen


@pytest.fixture(params=[False, True], ids=["code", "entrance"])
def entrance(request):
    return request.param


@pytest.fixture
def recursion_limit():
    before = sys.getrecursionlimit()
    yield sys.setrecursionlimit
    sys.setrecursionlimit(before)


# ---- Arguments ---------------------------------------------------------------------------------------------


def test_arguments_of_all_kinds(entrance):
    def f(a, b=2, /, c=3, *args, d, e=5, **kwargs):
        return a, b, c, args, d, e, kwargs, 1000

    f, seen = jit(f, entrance=entrance)
    assert f(1, d=4) == (1, 2, 3, (), 4, 5, {}, 5000)
    assert f(1, 7, 8, 9, 10, d=4, e=6, x=11, a=12) == (1, 7, 8, (9, 10), 4, 6, {"x": 11, "a": 12}, 5000)
    assert f(*(1,), **{"d": 4, "c": 0}) == (1, 2, 0, (), 4, 5, {}, 5000)
    assert seen == [[1, 2, 3, 4, 5, (), {}], [1, 7, 8, 4, 6, (9, 10), {"x": 11, "a": 12}], [1, 2, 0, 4, 5, (), {}]]


@pytest.mark.parametrize("args, kwargs", [((), {}), ((1, 2, 3), {}), ((1,), {"a": 1}), ((1,), {"z": 1}),
                                          ((1, 2), {"c": 1, "a": 2})])
def test_wrong_arguments_raise_what_the_function_raises(args, kwargs):
    def f(a, b=2, *, c=3):
        return 1000

    f, seen = jit(f)
    with pytest.raises(TypeError) as plain:
        f.py_func(*args, **kwargs)
    with pytest.raises(TypeError) as jitted:
        f(*args, **kwargs)
    assert str(jitted.value) == str(plain.value) and seen == []


def signature(random):
    """A function of random parameters, some of them in cells, that returns them all: the function, and their names."""
    names = ["a{}".format(i) for i in range(random.randint(0, 6))]
    first, second = sorted(random.randint(0, len(names)) for _ in range(2))
    default = random.randint(0, second)
    items = [name + ("=%r" % ("default " + name) if i >= default else "") for i, name in enumerate(names[:second])]
    if first:
        items.insert(first, "/")
    keyword = [name + ("=%r" % ("default " + name) if random.random() < 0.5 else "") for name in names[second:]]
    star = random.random() < 0.5
    items += (["*args"] if star else ["*"] if keyword else []) + keyword
    names += ["args"] * star
    if random.random() < 0.5:
        items.append("**kwargs")
        names.append("kwargs")
    cells = [name for name in names if random.random() < 0.3]
    scope = {}
    exec("def f({}):\n    local = lambda: ({})\n    return [{}], 1000".format(
        ", ".join(items), "".join(name + ", " for name in cells), ", ".join(names)), scope)
    return scope["f"], names, cells


@pytest.mark.parametrize("seed", range(20))
def test_random_calls_of_random_functions(seed):
    random = Random(seed)
    for _ in range(30):
        function, names, cells = signature(random)
        f, seen = jit(function)
        for _ in range(20):
            args = ["positional {}".format(i) for i in range(random.randint(0, 4))]
            kwargs = {name: "keyword " + name for name in ["a{}".format(i) for i in range(8)] if random.random() < 0.3}
            try:
                expected = function(*args, **kwargs)[0]
            except TypeError as error:
                with pytest.raises(TypeError) as caught:
                    f(*args, **kwargs)
                assert str(caught.value) == str(error) and seen == []
                continue
            assert f(*args, **kwargs) == (expected, 5000)
            variables = function.__code__.co_varnames + function.__code__.co_cellvars
            slots = list(zip(variables, seen.pop()))
            values = {name: value for name, value in slots if value is not UNBOUND}
            assert [values[name].cell_contents if name in cells else values[name] for name in names] == expected
            assert sorted(name for name, value in slots if value is UNBOUND) == sorted(["local"] + cells)


def test_keywords_that_are_no_plain_strings_are_left_to_the_function():
    class Keyword(str):
        hashed = 0

        def __hash__(self):
            Keyword.hashed += 1
            return super().__hash__()

    def f(**kwargs):
        return kwargs, 1000

    f, seen = jit(f)
    argument = {Keyword("k"): 1}
    f.py_func(**argument)
    hashed, Keyword.hashed = Keyword.hashed, 0
    assert f(**argument) == ({"k": 1}, 1000) and Keyword.hashed in (hashed, hashed - 1) and seen == []


def test_defaults_are_those_of_the_moment():
    def f(a=1, *, b=2):
        return a, b, 1000

    f, _ = jit(f)
    assert f() == (1, 2, 5000)
    f.__defaults__ = (3,)
    assert f() == (3, 2, 5000)
    f.__kwdefaults__["b"] = 4
    assert f() == (3, 4, 5000)
    f.__kwdefaults__ = {"b": 6}
    assert f() == (3, 6, 5000)
    f.__defaults__ = f.__kwdefaults__ = None
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'a'"):
        f()


def test_more_variables_than_there_is_room_on_the_stack():
    names = ", ".join("a{}".format(i) for i in range(100))
    scope = {}
    exec("def f({}, *, k=3):\n    return ({}, k, 1000)".format(names, names), scope)
    f, seen = jit(scope["f"])
    assert f(*range(100), k=7) == tuple(range(100)) + (7, 5000)
    assert seen == [list(range(100)) + [7]]


def test_guards_keep_no_references_while_the_function_runs(entrance):
    def f(x):
        return sys.getrefcount(x), 1000

    f, _ = jit(f, entrance=entrance)
    item = [object()]
    jitted, plain = next(map(f, item)), next(map(f.py_func, item))  # both are called from C
    assert jitted == (plain[0], 5000)


def test_a_call_within_tp_call_takes_keywords():
    def f(a, *args, b, **kwargs):
        return a, args, b, kwargs, 1000

    f, _ = jit(f)
    call = JitFunction.__call__
    assert call(f, 1, 2, b=3, c=4) == (1, (2,), 3, {"c": 4}, 5000)
    assert [call(f, 1, b=2), call(f, *[1], **{"b": 2})] == [(1, (), 2, {}, 5000)] * 2


# ---- Variables ---------------------------------------------------------------------------------------------


def test_cells_are_seen_as_a_frame_had_them(entrance):
    free = 7

    def f(x, y):
        later = free
        return later, x, 1000, (lambda: x)(), y

    f, seen = jit(f, entrance=entrance)
    assert f(3, 4) == (7, 3, 5000, 3, 4)
    names = f.__code__.co_varnames + f.__code__.co_cellvars + f.__code__.co_freevars
    slots = dict(zip(names[:3], seen[0][:3]))
    assert names == ("x", "y", "later", "x", "free") and slots == {"x": UNBOUND, "y": 4, "later": UNBOUND}
    assert isinstance(seen[0][3], types.CellType) and seen[0][3].cell_contents == 3
    assert seen[0][4] is f.__closure__[0]


def test_star_arguments_may_be_cells():
    def f(*args, **kwargs):
        return (lambda: (args, kwargs))(), 1000

    f, seen = jit(f)
    assert f(1, k=2) == (((1,), {"k": 2}), 5000)
    assert seen[0][:2] == [UNBOUND, UNBOUND] and [cell.cell_contents for cell in seen[0][2:]] == [(1,), {"k": 2}]


def test_closures_share_their_cells():
    def make():
        count = 0

        def add(n):
            nonlocal count
            count += n + 1000
            return count

        return jit(add, 1000, 0)[0], lambda: count

    (add, read), (other, read_other) = make(), make()
    assert [add(1), add(2), other(5)] == [1, 3, 5] and (read(), read_other()) == (3, 5)


class Base:
    def f(self, x):
        return "base", x


class Derived(Base):
    def f(self, x):
        return super().f(x), __class__.__name__, 1000

    f, seen = jit(f)

    @staticmethod
    def plain(x):
        return x, 1000

    plain = staticmethod(jit(plain.__func__)[0])


def test_methods_with_super():
    derived = Derived()
    assert derived.f(1) == Derived.f(derived, 1) == (("base", 1), "Derived", 5000)
    assert derived.plain(2) == (2, 5000)
    assert Derived.seen[0][:2] == [derived, 1]


def test_linked_code_may_have_more_locals():
    def f(x):
        return (lambda: x)(), 1000

    code = with_local(with_const(f.__code__, 1000, 5000), "$more")
    _hook.mark(f.__code__, None, lambda *args: code)
    assert JitFunction(f)(3) == (3, 5000)


@pytest.mark.parametrize("change, why", [
    (lambda code: code.replace(co_argcount=0, co_posonlyargcount=0), "its argument counts differ"),
    (lambda code: code.replace(co_posonlyargcount=1), "its argument counts differ"),
    (lambda code: code.replace(co_flags=code.co_flags ^ inspect.CO_NESTED), "its flags differ"),
    (lambda code: (lambda y: 1).__code__, "its locals do not start with the locals of the original"),
])
def test_code_that_does_not_fit_is_refused(change, why):
    def f(x):
        return x, 1000

    errors = []
    _hook.set_error_handler(lambda code, error: errors.append(str(error)))
    payload = change(f.__code__).replace(co_flags=change(f.__code__).co_flags)
    if why.startswith("its locals"):
        payload = payload.replace(co_flags=f.__code__.co_flags)
    _hook.mark(f.__code__, None, lambda *args: payload)
    try:
        assert JitFunction(f)(1) == (1, 1000)
    finally:
        _hook.set_error_handler(None)
    assert errors == ["the code object to run in place of f was refused: " + why]


# ---- What programs see ---------------------------------------------------------------------------------------


def test_frames_show_the_linked_code_and_no_other():
    def where():
        frame = sys._getframe()
        return (frame.f_code.co_name, frame.f_code.co_qualname, frame.f_lineno, frame.f_back.f_code.co_name,
                frame.f_locals is not None, 1000)

    jitted, _ = jit(where)
    expected = jitted.py_func()
    assert jitted() == expected[:-1] + (5000,) and expected[3] == sys._getframe().f_code.co_name


def test_tracebacks_have_one_entry_with_the_functions_line():
    def f(x):
        raise ValueError(x, 1000)

    jitted, _ = jit(f)
    entries = []
    for function in (jitted.py_func, jitted):
        with pytest.raises(ValueError) as caught:
            function(1)
        entries.append([(entry.filename, entry.name, entry.lineno) for entry in traceback.extract_tb(caught.tb)][1:])
    assert caught.value.args == (1, 5000) and entries[0] == entries[1] and len(entries[1]) == 1


def test_an_exception_of_on_miss_goes_to_the_caller():
    def f():
        return 1000

    def on_miss(*args):
        raise KeyError("planted")

    _hook.mark(f.__code__, None, on_miss)
    with pytest.raises(KeyError, match="planted"):
        JitFunction(f)()


def test_generators_and_coroutines_are_the_functions_own():
    def numbers():
        yield 1000

    async def wait():
        return 1000

    jitted, seen = jit(numbers)
    waiting, _ = jit(wait)
    made, coroutine = jitted(), waiting()
    assert made.gi_code is numbers.__code__ and list(made) == [1000] and seen == []
    with pytest.raises(StopIteration) as caught:
        coroutine.send(None)
    assert caught.value.value == 1000 and coroutine.cr_code is wait.__code__


@pytest.mark.parametrize("switch", [sys.settrace, sys.setprofile])
def test_traced_threads_run_the_function_itself(switch):
    def f():
        return 1000

    f, seen = jit(f)
    codes = []

    def note(frame, event, arg):
        codes.append(frame.f_code)
        return note

    old = sys.gettrace() if switch is sys.settrace else sys.getprofile()
    switch(note)
    try:
        traced = f()
    finally:
        switch(old)
    assert traced == 1000 and f.__code__ in codes and f() == 5000 and len(seen) == 1


def test_what_a_trace_function_calls_is_not_traced():
    def f():
        return 1000

    f, _ = jit(f)
    results = []

    def note(frame, event, arg):
        results.append(f())

    old = sys.getprofile()
    sys.setprofile(note)
    try:
        len(())
    finally:
        sys.setprofile(old)
    assert results and set(results) == {5000}


@pytest.fixture
def tool():
    number = 3
    MONITORING.use_tool_id(number, "test")
    yield number
    MONITORING.set_events(number, 0)
    MONITORING.free_tool_id(number)


@needs_monitoring
@pytest.mark.parametrize("event", ["PY_START", "PY_RETURN", "LINE", "CALL", "BRANCH", "RAISE", "INSTRUCTION"])
def test_events_of_all_code_have_the_function_itself_run(tool, event):
    def f(x):
        return 1000 if x else len("")

    f, seen = jit(f)
    assert f(1) == 5000
    MONITORING.set_events(tool, getattr(MONITORING.events, event))
    assert f(1) == 1000
    MONITORING.set_events(tool, 0)
    assert f(1) == 5000 and len(seen) == 2


@needs_monitoring
def test_events_of_one_code_object_concern_that_one(tool):
    def f():
        return 1000

    def g():
        return 1000

    (f, _), (g, _) = jit(f), jit(g)
    started = []
    MONITORING.register_callback(tool, MONITORING.events.PY_START, lambda code, offset: started.append(code))
    assert (f(), g()) == (5000, 5000)
    MONITORING.set_local_events(tool, f.__code__, MONITORING.events.PY_START)
    assert (f(), g()) == (1000, 5000) and started == [f.__code__]
    MONITORING.set_local_events(tool, f.__code__, 0)
    assert (f(), g()) == (5000, 5000)
    MONITORING.register_callback(tool, MONITORING.events.PY_START, None)


@needs_monitoring
def test_events_are_seen_by_other_threads(tool):
    def f():
        return 1000

    f, _ = jit(f)
    results, steps = [], [threading.Event() for _ in range(4)]

    def work():
        results.append(f())
        steps[0].set()
        steps[1].wait(10)
        results.append(f())
        steps[2].set()
        steps[3].wait(10)
        results.append(f())

    thread = threading.Thread(target=work)
    thread.start()
    steps[0].wait(10)
    MONITORING.set_events(tool, MONITORING.events.LINE)
    steps[1].set()
    steps[2].wait(10)
    MONITORING.set_events(tool, 0)
    steps[3].set()
    thread.join()
    assert results == [5000, 1000, 5000]


def test_plain_while_disabled_or_set_plain():
    def f():
        return 1000

    f, _ = jit(f)
    with _hook.disabled():
        assert f() == 1000
    assert _hook.set_plain(True) is False
    try:
        assert f() == 1000
    finally:
        assert _hook.set_plain(False) is True
    f.enabled = False
    assert f() == 1000
    f.enabled = True
    assert f() == 5000


def test_on_miss_runs_everything_as_it_is():
    def g():
        return 1000

    g, _ = jit(g)

    def f():
        return 1000

    results = []
    _hook.mark(f.__code__, None, lambda *args: results.append(g()))
    assert JitFunction(f)() == 1000 and results == [1000] and g() == 5000


@pytest.mark.skipif(sys.version_info < (3, 12), reason="type parameters came with Python 3.12")
def test_type_parameters_are_the_functions():
    scope = {}
    exec("def f[T](x: T) -> T:\n    return x", scope)
    f = JitFunction(scope["f"])
    assert f.__type_params__ is f.py_func.__type_params__ and f.__type_params__[0].__name__ == "T"


# ---- Recursion -----------------------------------------------------------------------------------------------


def deepest(function):
    levels = []
    with pytest.raises(RecursionError, match="maximum recursion depth exceeded"):
        function(levels)
    return len(levels)


@pytest.mark.parametrize("limit", [1000, 10000])
def test_recursion_goes_as_deep_as_that_of_the_function(limit, recursion_limit, no_collections, entrance):
    def plain(levels):
        levels.append(None)
        return plain(levels) + 1000

    def f(levels):
        levels.append(None)
        return f(levels) + 1000

    code = f.__code__
    f, seen = jit(f, entrance=entrance)
    recursion_limit(limit)
    assert deepest(f) - deepest(plain) in (0, -1) and len(seen) > limit / 2
    _hook.unmark(code)
    assert deepest(f) - deepest(plain) in (0, -1)


def test_methods_recurse_as_deep():
    class Plain:
        def f(self, levels):
            levels.append(None)
            return self.f(levels) + 1000

    class Jitted:
        def f(self, levels):
            levels.append(None)
            return self.f(levels) + 1000

        f, _ = jit(f)

    assert deepest(Jitted().f) - deepest(Plain().f) in (0, -1)


@pytest.mark.parametrize("marked", [True, False])
def test_the_end_of_the_stack_is_an_exception(recursion_limit, no_collections, marked):
    def f(n):
        return 0 if n == 0 else f(n - 1) + 1

    code = f.__code__
    f, _ = jit(f)
    if not marked:
        _hook.unmark(code)
    recursion_limit(10 ** 6)
    for _ in range(2):
        with pytest.raises(RecursionError):
            f(10 ** 5)
        assert f(1000) == 1000


def test_close_to_the_end_of_the_stack_nothing_is_asked(recursion_limit, no_collections):
    def f(levels):
        levels.append(None)
        return f(levels) + 1000

    f, seen = jit(f)
    recursion_limit(10 ** 6)
    depth = deepest(f)
    assert depth > 2000 and 0.5 * depth < len(seen) < 0.9 * depth


def test_the_end_of_a_small_stack_is_an_exception(recursion_limit, no_collections):
    def f(n):
        return 0 if n == 0 else f(n - 1) + 1

    f, _ = jit(f)
    results = []

    def work():
        try:
            f(10 ** 5)
        except RecursionError:
            results.append(f(100))

    recursion_limit(10 ** 6)
    before = threading.stack_size(1 << 20)
    try:
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    finally:
        threading.stack_size(before)
    assert results == [100]


def test_threads_with_the_smallest_stacks_call_functions():
    def f(n):
        return 1000 if n == 0 else f(n - 1)

    f, _ = jit(f)
    results = []
    before = threading.stack_size(1 << 16)
    try:
        thread = threading.Thread(target=lambda: results.append(f(3)))
        thread.start()
        thread.join()
    finally:
        threading.stack_size(before)
    assert results == [5000]


# ---- Leaks and threads -----------------------------------------------------------------------------------------


def growth(run):
    """By how many memory blocks 10000 calls grow."""
    run()
    gc.collect()
    before = sys.getallocatedblocks()
    run()
    gc.collect()
    return sys.getallocatedblocks() - before


def raising(f):
    try:
        f("a")
    except TypeError:
        pass


@pytest.mark.parametrize("call", [lambda f: f(1), lambda f: f(1, 2, k=3), raising],
                         ids=["plain", "stars", "raising"])
def test_calls_leave_nothing_behind(call, entrance):
    def f(x, *args, **kwargs):
        return x + 1000, args, kwargs, lambda: x

    f, seen = jit(f, entrance=entrance)

    def run():
        for _ in range(10000):
            call(f)
            del seen[:]

    assert growth(run) < 50


def test_functions_go_with_their_linked_code_and_closure():
    def make(n):
        box = []

        def f(x):
            return x, box, 1000

        code = f.__code__.replace(co_name="f")  # of its own
        f = types.FunctionType(code, dict(globals()), "f", None, f.__closure__)
        linked = with_const(code, 1000, n)
        _hook.mark(code, None, lambda *args, linked=weakref.ref(linked): linked())
        jitted = JitFunction(f)
        box.append(jitted)  # a cycle through the closure
        f.__globals__["f"] = jitted  # and one through the globals
        assert jitted(1)[2] == n
        return weakref.ref(jitted), weakref.ref(linked), weakref.ref(code)

    dead = [one for n in range(100) for one in make(n)]
    gc.collect()
    assert [one() for one in dead] == [None] * 300


def test_another_function_gets_hidden_functions_of_its_own():
    def make(n):
        def f():
            return n, 1000
        return f

    one, two = make(1), make(2)
    payload = with_const(one.__code__, 1000, 5000)
    _hook.mark(one.__code__, None, lambda *args: payload)
    f = JitFunction(one)
    assert f() == (1, 5000)
    f.__init__(two)
    assert f() == (2, 5000)


def test_only_a_few_hidden_functions_are_kept():
    def f(x):
        return 1000

    linked, dead = [], []
    _hook.mark(f.__code__, None, lambda code, slots, globals, builtins: linked[-1])
    call = JitFunction(f)
    for n in range(20):
        linked.append(with_const(f.__code__, 1000, n))
        dead.append(weakref.ref(linked[-1]))
        assert call(0) == n
    del linked[:]
    gc.collect()
    assert 0 < sum(one() is not None for one in dead) <= 4


def test_a_function_may_go_while_its_linked_code_runs():
    box = []

    def f(*more):
        box.clear()
        gc.collect()
        return more, 1000

    box.append(jit(f)[0])
    assert box[0](1, 2) == ((1, 2), 5000) and not box


def test_a_function_that_is_unmarked_or_changed_while_it_runs():
    def f(x):
        if x:
            _hook.unmark(f.py_func.__code__)
            f.__code__ = (lambda x: "other").__code__
            return f(0), 1000
        return 1000

    f, _ = jit(f)
    with pytest.raises(ValueError):  # the other code has no free variable
        f(1)


def test_eight_threads():
    def f(x):
        return (lambda: x)() + 1000

    f, _ = jit(f)
    wrong = []

    def work(base):
        for i in range(2000):
            if f(base + i) != base + i + 5000 or f.py_func(i) != i + 1000:
                wrong.append((base, i))

    in_eight_threads(work)
    assert wrong == []
