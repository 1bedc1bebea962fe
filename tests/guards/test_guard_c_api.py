"""The capsule that other extension modules use, called through ctypes as C would."""

import ctypes
import sys

import numpy as np
import pytest

from pijit.guards import _evaluate
from pijit.guards.cache import EntryCache
from pijit.guards.guard import Equals, FunctionCode, IsArray, IsType
from pijit.guards.program import GuardProgram, mirror_disagreements
from pijit.guards.source import Attr, Global, Item, Local

P, N = ctypes.c_void_p, ctypes.c_ssize_t
X, Y = Local(0, "x"), Local(1, "y")


class GuardsAPI(ctypes.Structure):
    _fields_ = [
        ("version", ctypes.c_int),
        ("program_check", ctypes.PYFUNCTYPE(ctypes.c_int, P, P, N, P, P, P)),
        ("program_fetch_count", ctypes.PYFUNCTYPE(N, P)),
        ("program_is_scoped", ctypes.PYFUNCTYPE(ctypes.c_int, P)),
        ("program_local_checks", ctypes.PYFUNCTYPE(P, P)),
        ("program_has_code", ctypes.PYFUNCTYPE(ctypes.c_int, P, P)),
        ("cache_lookup", ctypes.PYFUNCTYPE(P, P, P, N, P, P, P)),
        ("cache_payload", ctypes.PYFUNCTYPE(P, P, N)),
        ("is_program", ctypes.PYFUNCTYPE(ctypes.c_int, P)),
        ("is_cache", ctypes.PYFUNCTYPE(ctypes.c_int, P)),
    ]


class Fetched(ctypes.Structure):
    _fields_ = [("items", ctypes.POINTER(P)), ("room", N), ("count", N)]


def load():
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = P, [ctypes.py_object, ctypes.c_char_p]
    return GuardsAPI.from_address(get(_evaluate._C_API, b"pijit.guards._evaluate._C_API"))


api = load()
NULL = object()


def addresses(values):
    return (P * (len(values) + 1))(*[None if value is NULL else id(value) for value in values])


def taken(items):
    """The objects behind references that C hands out."""
    found = [ctypes.cast(item, ctypes.py_object).value for item in items]
    for item in found:
        ctypes.pythonapi.Py_DecRef(ctypes.py_object(item))
    return found


def lookup(cache, values, room=None):
    """(payload or None, what was fetched or None)."""
    items = (P * 8)()
    fetched = Fetched(ctypes.cast(items, ctypes.POINTER(P)), room or 0, -1)
    where = ctypes.addressof(fetched) if room is not None else None
    payload = api.cache_lookup(id(cache), addresses(values), len(values), None, None, where)
    found = taken(items[:fetched.count]) if fetched.count >= 0 else None
    return (taken([payload])[0] if payload else None), found


def check(program, values, globals=None, builtins=None):
    """(answer, fetched); takes over the references that C hands out."""
    room = (P * (api.program_fetch_count(id(program)) + 1))()
    scopes = [None if scope is None else id(scope) for scope in (globals, builtins)]
    answer = api.program_check(id(program), addresses(values), len(values), scopes[0], scopes[1], room)
    return answer, taken(item for item in room if item)


def test_version_and_kinds():
    program, cache = GuardProgram([]), EntryCache(1)
    assert api.version == 6
    assert [api.is_program(id(thing)) for thing in (program, cache, None)] == [1, 0, 0]
    assert [api.is_cache(id(thing)) for thing in (program, cache, None)] == [0, 1, 0]


def test_program_check():
    program = GuardProgram([IsArray(X, "f8", 1), Equals(Y, 3)], [X, Attr(Global("np"), "sqrt")])
    array = np.zeros(3)
    assert api.program_fetch_count(id(program)) == 2
    answer, fetched = check(program, [array, 3], {"np": np}, {})
    assert answer == 1 and fetched[0] is array and fetched[1] is np.sqrt
    assert check(program, [array, 4], {"np": np}, {}) == (0, [])
    assert check(program, [NULL, 3], {"np": np}, {}) == (0, [])
    assert check(program, [array], {"np": np}, {}) == (0, [])
    assert check(program, [array, 3], {}, {}) == (0, [])
    assert check(program, [array, 3]) == (0, [])
    assert (program.hits, program.misses, program.failures) == (1, 5, [1, 2])


@pytest.mark.parametrize("source, scoped", [(Global("np"), 1), (Attr(Global("np"), "pi"), 1), (X, 0), (Item(Y, 0), 0)])
def test_whether_a_program_needs_scopes(source, scoped):
    assert api.program_is_scoped(id(GuardProgram([IsType(X, int)], [source]))) == scoped
    assert api.program_is_scoped(id(GuardProgram([IsType(source, int)]))) == scoped


class Here:
    """A class that programs hold weakly."""


@pytest.mark.parametrize("program, has", [
    (GuardProgram([]), 1),
    (GuardProgram([IsArray(X, "f8", 1), IsType(Y, Here)], [Y, X, Y]), 1),
    (GuardProgram([IsType(X, float)], [X, Y]), 1),
    (GuardProgram([Equals(X, 3)]), 0),
    (GuardProgram([IsArray(X, "f8", 1)], [Global("np")]), 0),
    (GuardProgram([IsType(Attr(X, "a"), float)], [X]), 0),
])
def test_programs_that_only_look_at_types_have_local_checks(program, has):
    assert (api.program_local_checks(id(program)) is not None) == has


def test_local_checks_agree_with_the_program():
    """The mirror evaluates them as well."""
    program = GuardProgram([IsArray(X, "f8", 2, "C"), IsType(Y, Here)], [Y, X])
    array, here = np.zeros((2, 3)), Here()
    passed = [values for values in [
        (array, here), (array.T, here), (array[0], here), (array.astype("f4"), here), (array.view(np.matrix), here),
        (array, None), (NULL, here), (array, NULL), (array,), (array[:, ::2], here), (array.byteswap().view(">f8"), here)]
        if check(program, list(values)) == (1, [here, array])]
    assert passed == [(array, here)]
    program.retire()
    assert check(program, [array, here]) == (0, [])


def test_the_codes_of_a_program():
    def function(x):
        return x

    asked = []

    @ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object)
    def ask(code):
        asked.append(code)
        return len(asked) == 3
    where = ctypes.cast(ask, P)
    program = GuardProgram([FunctionCode(X, function), IsType(Y, int)])
    assert api.program_has_code(id(program), where) == 0 and asked == []  # what is held is no code object
    program = GuardProgram([FunctionCode(X, function.__code__), FunctionCode(Y, check.__code__)])
    assert api.program_has_code(id(program), where) == 0 and set(asked) == {function.__code__, check.__code__}
    assert api.program_has_code(id(program), where) == 1
    assert api.program_has_code(id(GuardProgram([IsType(X, int)])), where) == 0 and len(asked) == 3


def test_nothing_to_fetch_needs_no_room():
    program = GuardProgram([IsType(X, int)])
    assert api.program_check(id(program), addresses([1]), 1, None, None, None) == 1


def test_cache_lookup():
    cache, payload = EntryCache(2), ["payload"]
    cache.add(GuardProgram([Equals(X, 1)]), payload)
    assert lookup(cache, [1]) == (payload, None) and lookup(cache, [2]) == (None, None)
    assert (cache.hits, cache.misses) == (1, 1)


def test_what_a_lookup_fetches():
    cache = EntryCache(3)
    cache.add(GuardProgram([Equals(X, 1)], [Y, X, Item(Y, 0)]), "three")
    cache.add(GuardProgram([Equals(X, 2)]), "nothing")
    pair = (object(), 3)
    values, references = [1, pair], sys.getrefcount(pair[0])
    for _ in range(10):
        lookup(cache, values, 3)
    after = sys.getrefcount(pair[0])
    assert after == references
    assert lookup(cache, values, 3) == ("three", [pair, 1, pair[0]])
    assert lookup(cache, values, 2) == ("three", None)  # no room
    assert lookup(cache, values) == ("three", None)
    assert lookup(cache, [2, pair], 3) == ("nothing", []) and lookup(cache, [3, pair], 3) == (None, None)
    assert lookup(cache, [1], 3) == (None, None)


@pytest.mark.disagrees
@pytest.mark.filterwarnings("ignore")
def test_in_mirror_mode_a_disagreement_is_counted_and_answered_as_a_failure(monkeypatch, capsys):
    program, cache = GuardProgram([IsType(X, int)], [X]), EntryCache(1)
    cache.add(program, None)
    before = mirror_disagreements()
    monkeypatch.setattr(IsType, "why_not", lambda self, value: "because")
    assert check(program, [1]) == (0, [])
    assert lookup(cache, [1], 1) == (None, None)
    assert mirror_disagreements() == before + 2


def test_entries_that_the_caller_tries():
    cache = EntryCache(2)
    first, second = GuardProgram([]), GuardProgram([])
    payloads = [object(), object()]
    cache.add(first, payloads[0])
    cache.add(second, payloads[1])
    assert [api.cache_payload(id(cache), index) for index in range(3)] == [id(payloads[1]), id(payloads[0]), None]
