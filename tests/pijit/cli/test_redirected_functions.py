"""Nothing but the hook sees that calls of a function are redirected: not the frames, not tracers, not the function itself."""

import asyncio
import cProfile
import gc
import inspect
import marshal
import pstats
import sys
import traceback
import types
import warnings
import weakref

import pytest

from pijit.core import _hook

pytestmark = [pytest.mark.unshared,
              pytest.mark.skipif(sys.version_info < (3, 11), reason="up to CPython 3.10 the frame hook sees all calls")]


def hook(function):
    from pijit.core.bytecode.function_twins import twin_with

    target, asked = _hook.JitFunction(twin_with(function, function.__code__), None), []
    target.chill(lambda ns: asked.append(ns) or 10 ** 15)
    _hook.hook_function(function, target)
    return asked


SOURCE = """
def make(k):
    def plain(a, b=2): return a, b, k
    def only(a, /, b=1, *, c, d=4): return a, b, c, d
    def starred(a, *rest): return a, rest
    def mapped(a, **names): return a, names
    def all_kinds(a, /, b, *rest, c=3, **names): return a, b, rest, c, names
    def cells(a, *rest, c=1, **names): return (lambda: (a, rest, c, names))()
    def generator(a, b=2): yield a; yield b
    async def coroutine(a): return a
    def many(a, b, c, d, e, f, g, h, i, j, l, m, n, o, p, q, r, s, t, u, v): return a + v
    return plain, only, starred, mapped, all_kinds, cells, generator, coroutine, many
"""


def cases():
    """Functions of all signatures, with arguments."""
    namespace = {"__name__": "nowhere"}
    exec(SOURCE, namespace)
    plain, only, starred, mapped, all_kinds, cells, generator, coroutine, many = namespace["make"](7)
    wrong = [((), {}), ((1, 2, 3, 4, 5), {}), ((1,), {"z": 1}), ((1,), {"a": 2})]
    return [(plain, [((1,), {}), ((1, 3), {}), ((), {"b": 1, "a": 2})] + wrong),
            (only, [((1,), {"c": 2}), ((1, 2), {"c": 3, "d": 5}), ((), {"a": 1, "c": 2})] + wrong),
            (starred, [((1,), {}), ((1, 2, 3), {})] + wrong),
            (mapped, [((1,), {}), ((1,), {"x": 1, "y": 2})] + wrong),
            (all_kinds, [((1, 2), {}), ((1, 2, 3, 4), {"c": 9, "a": 8, "x": 7}), ((1,), {"b": 3})] + wrong),
            (cells, [((1,), {}), ((1, 2, 3), {"c": 5, "x": 6})] + wrong),
            (generator, [((1,), {}), ((1, 5), {})] + wrong),
            (coroutine, [((1,), {})] + wrong),
            (many, [(tuple(range(21)), {})])]


def outcome(f, args, keywords):
    try:
        result = f(*args, **keywords)
    except TypeError as error:
        return "TypeError", str(error), len(traceback.extract_tb(error.__traceback__))
    if inspect.isgenerator(result):
        return "generator", result.__name__, list(result)
    return asyncio.run(result) if inspect.iscoroutine(result) else result


@pytest.mark.parametrize("index", range(9), ids=["plain", "only", "starred", "mapped", "all_kinds", "cells", "generator",
                                                 "coroutine", "many"])
def test_calls_of_all_signatures(index):
    (plain, calls), (hooked, _) = cases()[index], cases()[index]
    asked = hook(hooked)
    for args, keywords in calls:
        assert outcome(hooked, args, keywords) == outcome(plain, args, keywords)
    assert asked


@pytest.mark.parametrize("count", [255, 256, 1000])
def test_many_parameters(count):
    from pijit.cli.cold_functions import cold
    from pijit.core.warm_up import Budget
    from pijit.options import Options

    f = eval("lambda %s: a3" % ", ".join(f"a{k}" for k in range(count)))
    function, target = cold(f, Options(), Budget())
    assert function(*range(count)) == 3 and target(*range(count)) == 3
    assert (function is f) == (count <= 255 or sys.version_info >= (3, 12))


def test_what_the_function_shows():
    def f(a, *, b=1): return a, b

    code, signature = f.__code__, inspect.signature(f)
    hook(f)
    assert f.__code__ is code and inspect.signature(f) == signature and type(f) is types.FunctionType
    assert marshal.loads(marshal.dumps(f.__code__)).co_name == "f"
    copy = types.FunctionType(f.__code__, f.__globals__, "copy", f.__defaults__, f.__closure__)
    copy.__kwdefaults__ = f.__kwdefaults__
    assert copy(1) == (1, 1) and _hook.hooked(copy) is None
    f.__code__ = code
    assert f.__code__ is code and _hook.hooked(f) is None and f(1) == (1, 1)


def test_frames():
    def inner(): return [(frame.f_code.co_name, line) for frame, line in traceback.walk_stack(sys._getframe())][:2]
    def outer(): return inner()
    def above(): return sys._getframe(1).f_code, sys._getframe(2).f_code
    def caller(): return above()

    def results(): return outer(), caller(), [frame.name for frame in traceback.extract_stack()]

    expected = results()
    for f in (inner, outer, above, caller):
        hook(f)
    assert results() == expected and expected[0][1][0] == "outer"


def test_tracebacks_and_warnings():
    def wrong(x): return 1 // x
    def caller(x): return wrong(x)
    def warn(): warnings.warn("here", stacklevel=2)
    def warned(): return warn()

    def seen():
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            warned()
        try:
            caller(0)
        except ZeroDivisionError as error:
            return [(s.name, s.lineno) for s in traceback.extract_tb(error.__traceback__)], [w.lineno for w in caught]

    expected = seen()
    for f in (wrong, caller, warn, warned):
        hook(f)
    assert seen() == expected


def traced(run, kind):
    events = []

    def trace(frame, event, arg):
        if frame.f_code.co_filename == __file__ and frame.f_code.co_name in ("f", "g", "h", "body"):
            events.append((frame.f_code.co_name, event, frame.f_lineno, type(arg)))
        return trace

    def body():
        run()
        return 1

    install = getattr(sys, kind)
    install(trace)
    try:
        body()
    finally:
        install(None)
    return events


@pytest.mark.parametrize("kind", ["settrace", "setprofile"])
def test_events_of_tracers(kind):
    def f(n): return n if n == 0 else f(n - 1)
    def g(*rest, **names):
        for k in range(2):
            f(k)
        return rest
    def h():
        try:
            g(1, x=2)
            1 // 0
        finally:
            f(3)

    def run():
        try:
            h()
        except ZeroDivisionError:
            pass

    expected = traced(run, kind)
    for one in (f, g, h):
        hook(one)
    assert traced(run, kind) == expected
    assert sys.gettrace() is None and sys.getprofile() is None


def test_tracer_that_starts_and_ends_in_a_hooked_function():
    """The frames of redirected functions below return after the tracer has started."""
    def events(hooked):
        seen = []
        def note(frame, event, arg): seen.append((frame.f_code.co_name, event))
        def begin(): sys.setprofile(note)
        def outer(): return begin()
        def end(): sys.setprofile(None)
        def last(): return end()
        for f in (begin, outer, end, last) if hooked else ():
            hook(f)
        outer()
        last()
        return seen

    assert events(True) == events(False)


def test_profiler():
    def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)

    def counts():
        profile = cProfile.Profile()
        profile.runcall(fib, 10)
        return {key[2]: value[:2] for key, value in pstats.Stats(profile).stats.items()}

    expected = counts()
    hook(fib)
    assert counts() == expected


def test_recursion_limit():
    def depth(n):
        try:
            return depth(n + 1)
        except RecursionError:
            return n

    plain = depth(0)
    hook(depth)
    assert abs(depth(0) - plain) <= 2


def test_functions_in_cycles_die():
    def make():
        def f(): return 1
        hook(f)
        f.me = f
        return weakref.ref(f)

    dead = [make() for _ in range(50)]
    gc.collect()
    assert [one() for one in dead] == [None] * 50


def test_call_sites_that_were_specialized():
    class A:
        def __getitem__(self, key): return key
        def m(self): return self
        p = property(lambda self: 3)

    def site(a): return a[1], a.m() is a, a.p

    a = A()
    for _ in range(100):
        site(a)
    asked = [hook(f) for f in (A.__getitem__, A.m, A.p.fget)]
    for _ in range(100):
        assert site(a) == (1, True, 3)
    assert all(asked)
