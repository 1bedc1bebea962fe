"""Callees and call sites: which frame they take, and that nothing is left waiting or leaked."""

import sys

import pytest

from pijit.core import _hook
from pijit.core._hook import Callee, CallSite, JitFunction
from pijit.core.bytecode.codec.encode import replace_code
from pijit.guards._evaluate import EntryCache
from pijit.guards.program import GuardProgram
from tests.native.hook.hook_marks import with_const
from tests.native.hook.test_hook_leaks import steady

IDLE_LIMIT = 64
OPEN_LIMIT = 4


def g(x):
    return x, "original"


def other(x):
    return x, "other"


def through(f, x):
    result = f(x)
    return result


PAYLOAD = with_const(g.__code__, "original", "payload")


def callee(payload=PAYLOAD, calls=None):
    cache = EntryCache(1)
    cache.add(GuardProgram([]), payload)
    return Callee(g.__code__, cache, lambda *args: None, lambda: (calls if calls is not None else []).append("idle"))


def caller(site, function=g):
    """A JitFunction that announces its call of a function; it is called with the argument."""
    def call(x):
        site.callable()
        return function(x)

    _hook.mark(call.__code__, None, lambda *args: None)
    return JitFunction(call)


@pytest.fixture(autouse=True)
def hook_is_gone():
    yield
    assert not _hook.installed()


def test_the_announced_call_runs_the_payload_and_no_other():
    call = caller(CallSite((callee(),)))
    assert call(1) == (1, "payload") and g(1) == (1, "original")
    assert caller(CallSite((callee(), callee())), other)(2) == (2, "other")


def test_only_a_frame_of_the_same_caller_is_taken():
    call = caller(CallSite((callee(),)), lambda x: through(g, x))
    assert call(3) == (3, "original")


def test_the_next_frame_ends_the_wait():
    site = CallSite((callee(),))

    def call(x):
        site.callable()
        other(x)
        return g(x)

    _hook.mark(call.__code__, None, lambda *args: None)
    assert JitFunction(call)(4) == (4, "original")


def test_a_wait_that_no_frame_ends_is_over_with_the_jitted_call():
    def call(x):
        site.callable()
        assert _hook.installed()
        return g(*x)

    site = CallSite((callee(),))
    _hook.mark(call.__code__, None, lambda *args: None)
    with pytest.raises(TypeError, match="takes 1 positional argument but 3 were given"):
        JitFunction(call)((1, 2, 3))


def test_disabled_and_traced_threads_do_not_wait():
    site = CallSite((callee(),))
    with _hook.disabled():
        site.callable()
        assert not _hook.installed()
    sys.setprofile(lambda *args: None)
    try:
        site.callable()
        installed = _hook.installed()
    finally:
        sys.setprofile(None)
    assert not installed


def test_a_callee_whose_original_always_runs_becomes_idle_once():
    calls = []
    one = callee(None, calls)
    call = caller(CallSite((one,)))
    for k in range(IDLE_LIMIT + 5):
        assert one.idle == (k >= IDLE_LIMIT) and call(k) == (k, "original")
    assert one.idle and calls == ["idle"]


def test_an_open_site_asks_once_about_each_function():
    asked, one = [], callee()

    def find(code, globals):
        asked.append((code, globals is sys.modules[__name__].__dict__))
        return one if code is g.__code__ else None

    site = CallSite((), find)
    call = caller(site, lambda x: x)
    assert call(1) == 1 and [known for _, known in asked] == [True]
    first, again = caller(site), caller(site)
    assert first(1) == (1, "payload") and again(2) == (2, "payload")
    assert [code for code, _ in asked[1:]] == [g.__code__] and site.open


def test_an_open_site_closes_after_some_functions():
    asked = []
    site = CallSite((), lambda code, globals: asked.append(code))
    for k in range(10):
        assert site.open == (k < OPEN_LIMIT) and caller(site)(k) == (k, "original")
    assert len(asked) == OPEN_LIMIT


def test_an_open_site_closes_where_no_frame_starts():
    site = CallSite((), lambda code, globals: None)
    call = caller(site, str)
    for k in range(IDLE_LIMIT + 1):
        assert site.open and call(k) == str(k)
    assert call(1) == "1" and not site.open


def test_what_find_calls_does_not_end_the_wait_twice():
    one = callee()

    def find(code, globals):
        through(other, 1)
        return one

    assert caller(CallSite((), find))(5) == (5, "payload")


def test_a_generator_that_goes_on_with_an_exception_is_not_asked_about():
    asked = []

    def waits():
        try:
            yield 1
        except KeyError:
            yield "caught"

    site = CallSite((), lambda code, globals: asked.append(code))
    generator = waits()
    assert next(generator) == 1

    def call(x):
        site.callable()
        return generator.throw(KeyError())

    _hook.mark(call.__code__, None, lambda *args: None)
    assert JitFunction(call)(1) == "caught" and asked == []


def test_an_error_in_find_is_reported():
    errors = []
    _hook.set_error_handler(lambda code, error: errors.append((code, type(error))))
    try:
        assert caller(CallSite((), lambda code, globals: 1 / 0))(1) == (1, "original")
    finally:
        _hook.set_error_handler(None)
    assert errors == [(g.__code__, ZeroDivisionError)]


def test_an_error_in_on_idle_is_reported():
    cache, errors = EntryCache(1), []
    cache.add(GuardProgram([]), None)
    call = caller(CallSite((Callee(g.__code__, cache, lambda *args: None, lambda: 1 / 0),)))
    _hook.set_error_handler(lambda code, error: errors.append((code, type(error))))
    try:
        assert [call(k)[1] for k in range(IDLE_LIMIT + 1)] == ["original"] * (IDLE_LIMIT + 1)
    finally:
        _hook.set_error_handler(None)
    assert errors == [(g.__code__, ZeroDivisionError)]


@pytest.mark.parametrize("args", [
    (3, None, print, print), (g.__code__, 3, print, print), (g.__code__, None, 3, print), ()])
def test_wrong_arguments_of_a_callee(args):
    with pytest.raises(TypeError):
        Callee(*args)


@pytest.mark.parametrize("args", [(), (3,), ((3,),), ((callee(), None),), ((), 3)])
def test_wrong_arguments_of_a_call_site(args):
    with pytest.raises(TypeError):
        CallSite(*args)


def test_nothing_leaks():
    one, thing = callee(), object()
    site = CallSite((one,))
    call, missed = caller(site), caller(site, lambda x: through(g, x))
    assert steady(lambda: (call(thing), missed(thing)), thing, one, site, g.__code__, PAYLOAD, call)


def test_nothing_leaks_where_no_frame_starts():
    one = callee()
    site = CallSite((one,))
    call = caller(site, lambda: None)

    def run():
        try:
            call(1)
        except TypeError:
            pass
    assert steady(run, one, site, TypeError, call)


def test_nothing_of_a_callee_stays():
    code = replace_code(g.__code__, co_name="fresh")
    steady_code = sys.getrefcount(code)
    site = CallSite((Callee(code, EntryCache(1), print, print),))
    assert site.callable() is None
    through(other, 1)
    del site
    assert sys.getrefcount(code) == steady_code


def test_nothing_leaks_of_open_sites():
    one = callee()

    def find(code, globals):
        return one

    def run():
        caller(CallSite((), find))(1)
        caller(CallSite((), lambda code, globals: None), other)(1)
    assert steady(run, one, find, g.__code__, PAYLOAD)
