"""JitFunction.watch: what is called before each call, whatever serves it."""

import sys

import pytest

from pijit.core import _hook
from pijit.guards.cache import EntryCache
from pijit.guards.guard import IsType
from pijit.guards.program import GuardProgram
from pijit.guards.source import Local


def double(x, *rest, k=2):
    return x * k


@pytest.fixture
def log():
    return []


@pytest.fixture
def watched(log):
    """A function that accepts floats, and notes what it asks about other calls."""
    f = _hook.JitFunction(double)
    cache = EntryCache(2)
    cache.add(GuardProgram([IsType(Local(0, "x"), float)]), True)
    f.watch(None, cache, lambda args, kwargs: log.append((args, kwargs)))
    return f


def test_check_sees_what_is_not_accepted(watched, log):
    assert [watched(1.5), watched(x=1.5, k=4), watched(3), watched(x=3, k=3)] == [3, 6, 6, 9]
    assert watched(1.5, 1, k=3) == 4.5
    assert log == [((3,), {}), ((), {"x": 3, "k": 3}), ((1.5, 1), {"k": 3})]
    with pytest.raises(TypeError, match="missing 1 required positional argument"):
        watched(k=1)
    assert type(watched).__call__(watched, 4, **{"k": 5}) == 20 and log[-2:] == [((), {"k": 1}), ((4,), {"k": 5})]


def test_what_the_callables_raise_leaves_the_call(watched):
    def refuse(*args):
        raise LookupError(*args)

    watched.watch(refuse, None, None)
    with pytest.raises(LookupError):
        watched(1.5)
    watched.watch(None, EntryCache(1), refuse)
    with pytest.raises(LookupError, match=r"\(7,\), {'k': 1}"):
        watched(7, k=1)
    watched.watch(None, None, None)
    assert watched(7) == 14


def test_before_is_called_first_and_may_replace_everything(watched, log):
    def before():
        log.append("before")
        watched.watch(None, None, None)
        return True

    watched.watch(before, EntryCache(1), log.append)
    assert watched(3) == watched(3) == 6 and log == ["before"]


@pytest.mark.parametrize("arguments, text", [
    ((None, EntryCache(1), None), "together"), ((None, None, print), "together"),
    ((None, [], print), "an EntryCache")])
def test_refuses(arguments, text):
    with pytest.raises(TypeError, match=text):
        _hook.JitFunction(double).watch(*arguments)


def test_no_reference_is_kept_or_lost(watched, log):
    small, large = 12345.5, 10 ** 30
    counts = [sys.getrefcount(value) for value in (small, large, watched, double)]
    for _ in range(50):
        watched(small), watched(large), watched(x=large)
    del log[:]
    assert [sys.getrefcount(value) for value in (small, large, watched, double)] == counts
