"""The entry cache: order of use, the limit and its one warning, and changes made in the middle of a
lookup."""

import gc
import warnings
import weakref

import pytest

from pijit.guards.cache import CacheLimitWarning, EntryCache, most_failed, warn_limit
from pijit.guards.guard import Equals, IsType
from pijit.guards.program import GuardProgram, set_mirror
from pijit.guards.source import Attr, Local

N = Local(0, "n")


def program_for(value):
    return GuardProgram([IsType(N, int), Equals(N, value)])


def filled(limit, *values):
    cache = EntryCache(limit)
    for value in values:
        assert cache.add(program_for(value), f"code for {value}") is True
    return cache


def order(cache):
    return [payload for _, payload, _ in cache.entries]


def test_lookup_and_counts():
    cache = filled(4, 1, 2)
    assert cache.lookup([1], {}, {}) == "code for 1"
    assert cache.lookup([2], {}, {}) == "code for 2"
    assert cache.lookup([2], {}, {}) == "code for 2"
    assert cache.lookup([3], {}, {}) is None
    assert (cache.hits, cache.misses, len(cache), cache.limit, cache.full) == (3, 1, 2, 4, False)
    assert [(payload, hits) for _, payload, hits in cache.entries] == [("code for 2", 2), ("code for 1", 1)]


def test_most_recently_hit_first():
    cache = filled(4, 1, 2, 3)
    assert order(cache) == ["code for 3", "code for 2", "code for 1"]
    cache.lookup([1], {}, {})
    assert order(cache) == ["code for 1", "code for 3", "code for 2"]
    cache.lookup([3], {}, {})
    assert order(cache) == ["code for 3", "code for 1", "code for 2"]
    cache.lookup([9], {}, {})
    assert order(cache) == ["code for 3", "code for 1", "code for 2"]


def test_at_the_limit_existing_entries_keep_serving():
    cache = filled(2, 1, 2)
    assert cache.full
    assert cache.add(program_for(3), "code for 3") is False
    assert len(cache) == 2
    assert [cache.lookup([n], {}, {}) for n in (1, 2, 3)] == ["code for 1", "code for 2", None]


def test_replace_and_clear():
    program = program_for(1)
    cache = EntryCache(2)
    cache.add(program, "old")
    cache.lookup([1], {}, {})
    assert cache.replace(program, "new") is True
    assert cache.entries == [(program, "new", 1)]
    assert cache.replace(program_for(1), "other") is False
    with pytest.raises(ValueError, match="in this cache already"):
        cache.add(program, "again")
    cache.clear()
    assert (len(cache), cache.entries, cache.hits, cache.full) == (0, [], 1, False)
    assert cache.lookup([1], {}, {}) is None
    assert cache.add(program, "back") is True


def test_bad_arguments():
    for limit in (0, -1):
        with pytest.raises(ValueError, match=f"must be at least 1, not {limit}"):
            EntryCache(limit)
    cache = EntryCache(1)
    with pytest.raises(TypeError):
        cache.add(object(), None)
    with pytest.raises(TypeError):
        cache.replace(object(), None)
    with pytest.raises(TypeError):
        cache.lookup([1], {})


def test_the_limit_warns_once_and_names_the_guard_that_kept_failing():
    cache = filled(2, 1, 2)
    for n in (5, 6, 7, 1):
        cache.lookup([n], {}, {})
    assert most_failed(cache) == (Equals(N, 2), 4)
    with pytest.warns(CacheLimitWarning) as caught:
        warn_limit(cache, "f", [7], {}, {})
    assert [str(item.message) for item in caught] == [
        "f has reached its limit of 2 compiled variants and none fits this call, so calls like it run the "
        "original code; the guard that failed most, 4 times, is `L['n'] == 2`: L['n'] was 2 and is now 7"]
    assert issubclass(CacheLimitWarning, RuntimeWarning)
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_limit(cache, "f", [8], {}, {})
    with pytest.warns(CacheLimitWarning, match="limit of 1 compiled variant and"):
        warn_limit(filled(1, 1), "g", [8], {}, {})


def test_equal_guards_of_several_entries_count_together():
    cache = EntryCache(3)
    assert most_failed(cache) is None
    for value in (1, 2):
        cache.add(GuardProgram([IsType(N, int), Equals(N, value)]), value)
    for n in (1.5, 2.5, 3):
        cache.lookup([n], {}, {})
    assert most_failed(cache) == (IsType(N, int), 4)


class Meddler(str):
    """A name in a class that runs an action when CPython, looking for the same name, compares with it."""

    __hash__ = str.__hash__

    def __eq__(self, other):
        self.action()
        return False


@pytest.mark.parametrize("change", ["clear", "hit another", "add"])
def test_a_cache_that_changes_during_a_lookup_misses(change):
    set_mirror(False)
    item = Attr(Local(1, "d"), "k")
    first, second = GuardProgram([Equals(item, 1)]), GuardProgram([Equals(N, 5)])
    cache = EntryCache(4)
    cache.add(first, "first")
    cache.add(second, "second")
    actions = {"clear": cache.clear, "hit another": lambda: cache.lookup([5, None], {}, {}),
               "add": lambda: cache.add(program_for(9), "third")}
    todo = []
    name = Meddler("k")
    name.action = lambda: todo and todo.pop()()
    cls = type("Changing", (), {name: 0, "k": 1})
    cache.lookup([0, cls()], {}, {})
    assert order(cache) == ["first", "second"]
    todo.append(actions[change])
    cls.other = None  # CPython forgets where it found names
    assert cache.lookup([0, cls()], {}, {}) is None
    assert todo == []
    after = {"clear": [], "hit another": ["second", "first"], "add": ["third", "first", "second"]}
    assert order(cache) == after[change]


def test_cycles_through_payloads_are_collected():
    class Payload:
        pass

    payload = Payload()
    payload.cache = EntryCache(2)
    payload.cache.add(program_for(1), payload)
    gone = weakref.ref(payload)
    del payload
    gc.collect()
    assert gone() is None


def test_dropping_a_payload_may_change_the_cache():
    cache = filled(2, 1)

    class Payload:
        def __del__(self):
            cache.clear()

    program = program_for(2)
    cache.add(program, Payload())
    assert cache.replace(program, "new") is True
    assert len(cache) == 0
    cache.add(program, Payload())
    cache.clear()
    assert len(cache) == 0


def test_a_retired_program_never_holds_again():
    cache = filled(4, 1, 2)
    program = next(program for program, payload, _ in cache.entries if payload == "code for 1")
    assert program.check([1], {}, {}) is not None and not program.retired
    program.retire()
    assert program.retired and program.dead and program.check([1], {}, {}) is None
    assert program.last_failed is None and sum(program.failures) == 0
    assert cache.lookup([1], {}, {}) is None
    assert order(cache) == ["code for 2"]
    assert cache.lookup([2], {}, {}) == "code for 2"


def test_ranks_come_before_the_order_of_hits():
    """Of entries that fit a call, the one of the lowest rank serves, whichever was hit last."""
    cache, any_number = EntryCache(4), GuardProgram([IsType(N, int)])
    for program, payload, rank in ((program_for(1), 1, 0), (any_number, "any", 1), (program_for(2), 2, 0), (GuardProgram([]), "all", 2)):
        assert cache.add(program, payload, rank) is True
    assert order(cache) == [2, 1, "any", "all"]
    assert [cache.lookup([n], {}, {}) for n in (3, 1, None, 3, 2, 1)] == ["any", 1, "all", "any", 2, 1]
    assert [(payload, hits) for _, payload, hits in cache.entries] == [(1, 2), (2, 1), ("any", 2), ("all", 1)]
