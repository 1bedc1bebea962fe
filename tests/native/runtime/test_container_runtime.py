"""The runtime's reads of containers and its effects on them: exact types, what declines, and who owns what."""

import ctypes
import gc
import sys
import weakref

import numpy as np
import pytest

from tests.native.launcher.native_kernels import Dying

INT, FLOAT, BOOL, OBJECT, ARRAY, LIST, TUPLE, DICT = -1, -2, -3, -4, -5, -6, -7, -8
ANY, ANY_HELD = -11, -12
NOT_IMPLEMENTED = 1
DOUBLE = np.dtype("d").num
CONTIGUOUS = 1


def call(table, name, *operands):
    """The entry's result; objects are passed by address."""
    words = [id(each) if isinstance(each, (list, tuple, dict, set, str)) else each for each in operands]
    return table.call(name, *words)


def read(table, name, *operands, wanted=(INT,)):
    """(status, the words of what a read found)."""
    spec = np.array(list(wanted) + [0] * (10 - len(wanted)), np.int64)
    status = call(table, name, table.frame, *operands + (spec,))
    return status, spec


ANY_VECTOR = (ARRAY, DOUBLE, 1, 0, 0)
ITEMS = [
    ((INT,), [5, -2 ** 63, 2 ** 63 - 1], [2 ** 63, 5.0, True, np.int64(5), "5", None]),
    ((FLOAT,), [2.5, -0.0], [2, np.float64(2.5), True]), ((BOOL,), [True, False], [1, np.bool_(True), None]),
    ((DOUBLE,), [np.float64(2.5)], [2.5, np.float32(2.5), np.array(2.5)]),
    ((np.dtype("B").num,), [np.uint8(200)], [200, np.int8(1)]), ((LIST,), [[1]], [(1,), {}]),
    ((TUPLE,), [(1,)], [[1]]), ((DICT,), [{}], [[]]),
    (ANY_VECTOR, [np.arange(3.0), np.arange(6.0)[::2]],
     [np.arange(3), np.zeros((2, 2)), np.arange(3.0).astype(">f8"), np.arange(3.0).view(type("Sub", (np.ndarray,), {})), 1.0]),
    ((ARRAY, DOUBLE, 1, CONTIGUOUS, CONTIGUOUS), [np.arange(3.0)], [np.arange(6.0)[::2]]),
]


@pytest.mark.parametrize("wanted, good, bad", ITEMS, ids=lambda item: repr(item)[:20])
def test_reads_check_exact_types(table, wanted, good, bad):
    for value in good + bad:
        status = 0 if any(value is one for one in good) else NOT_IMPLEMENTED
        for owner in ([0, value], (0, value)):
            assert read(table, "load_item", owner, 1, wanted=wanted)[0] == status
            assert read(table, "load_item", owner, -1, wanted=wanted)[0] == status
        assert read(table, "load_key", {"k": value}, "k", wanted=wanted)[0] == status
        target, mapping = [0, value], {"k": value}
        assert read(table, "pop_item", target, 1, wanted=wanted)[0] == status
        assert read(table, "pop_key", mapping, "k", wanted=wanted)[0] == status
        assert len(target) == (1 if status == 0 else 2) and len(mapping) == (0 if status == 0 else 1)
        table.release_all()


def test_words_of_what_is_found(table):
    assert read(table, "load_item", [7, 8], 1)[1][0] == 8
    assert read(table, "load_item", [2.5], 0, wanted=(FLOAT,))[1].view(np.float64)[0] == 2.5
    inner = [1]
    assert read(table, "load_item", [inner], 0, wanted=(LIST,))[1][0] == id(inner)
    array = np.arange(8.0)[::2]
    spec = read(table, "load_item", [array], 0, wanted=ANY_VECTOR)[1]
    assert list(spec[:4]) == [array.ctypes.data, id(array), 4, 16]
    table.release_all()


class Plain:
    shared = 2.5

    def __init__(self):
        self.own = 7

    computed = property(lambda self: 7)


class Slots:
    __slots__ = ("own", "empty")

    def __init__(self):
        self.own = 7


class Asked(Plain):
    def __getattribute__(self, name):
        raise RuntimeError("never")


def test_reads_of_attributes(table):
    plain, slots = Plain(), Slots()
    for owner in (plain, slots):
        assert read(table, "load_attr", id(owner), "own")[1][0] == 7
        assert read(table, "load_attr", id(owner), "own", wanted=(FLOAT,))[0] == NOT_IMPLEMENTED
    assert read(table, "load_attr", id(plain), "shared", wanted=(FLOAT,))[1].view(np.float64)[0] == 2.5
    for owner, name in ((plain, "computed"), (plain, "__init__"), (plain, "nothing"), (slots, "empty"), (Plain, "shared"),
                        (Asked(), "own"), (5, "real")):
        assert read(table, "load_attr", id(owner), name, wanted=(ANY,))[0] == NOT_IMPLEMENTED
    plain.computed_too, plain.__dict__["shared"] = 1, 3.5
    assert read(table, "load_attr", id(plain), "shared", wanted=(FLOAT,))[1].view(np.float64)[0] == 3.5


def test_objects_of_any_class_are_borrowed_or_held(table):
    owner = [Plain(), Slots()]
    for index, item in enumerate(owner):
        count = sys.getrefcount(item)
        assert read(table, "load_item", owner, index, wanted=(ANY,))[1][0] == id(item)
        assert sys.getrefcount(item) == count
        assert read(table, "load_item", owner, index, wanted=(ANY_HELD,))[1][0] == id(item)
        assert sys.getrefcount(item) == count + 1
    table.release_all()
    for noticed in (Dying, watched):
        assert read(table, "load_item", [noticed()], 0, wanted=(ANY_HELD,))[0] == NOT_IMPLEMENTED


def test_what_is_missing_declines(table):
    for index in (2, -3, 2 ** 62, -2 ** 63):
        target = [1, 2]
        assert read(table, "load_item", target, index)[0] == NOT_IMPLEMENTED
        assert read(table, "pop_item", target, index)[0] == NOT_IMPLEMENTED
        assert call(table, "delete_item", target, index) == NOT_IMPLEMENTED and target == [1, 2]
    mapping = {"a": 1}
    assert read(table, "load_key", mapping, "b")[0] == NOT_IMPLEMENTED
    assert read(table, "pop_key", mapping, "b")[0] == NOT_IMPLEMENTED
    assert call(table, "delete_key", mapping, "b") == NOT_IMPLEMENTED and mapping == {"a": 1}


def test_lengths_and_keys(table):
    for container in ([1, 2], (1,), {"a": 1}, {1, 2, 3}, []):
        assert call(table, "length", container) == len(container)
    answer = np.zeros(1, np.int64)
    for key in ("a", "b"):
        assert call(table, "has_key", {"a": 1}, key, answer) == 0 and answer[0] == (key == "a")


def watched():
    array = np.arange(3.0)
    WATCHES.append(weakref.ref(array))
    return array


WATCHES = []


def removals(value):
    """(operation, its owner, what else it takes): each gives up ``value``."""
    return [("delete_item", [value], (0,)), ("clear_list", [1, value], ()), ("delete_key", {"k": value}, ("k",)),
            ("clear_dict", {"a": 1, "k": value}, ()), ("update", {"k": value}, (MORE,)),
            ("clear_list", [value, value], ())]


MORE = {"new": 1, "k": 2}


@pytest.mark.parametrize("make", [Dying, lambda: [Dying()], lambda: (1, Dying()), watched, lambda: np.array([Dying()], object)],
                         ids=["finalizer", "list", "tuple", "watched array", "objects"])
def test_removals_decline_where_the_end_could_run_code(table, make):
    for number in range(6):
        name, owner, more = removals(make())[number]
        size, deaths = len(owner), Dying.deaths
        assert call(table, name, owner, *more) == NOT_IMPLEMENTED
        assert len(owner) == size and Dying.deaths == deaths


def test_removals_of_what_ends_quietly(table):
    for make in (lambda: 10 ** 20, lambda: 2.5, lambda: "text", lambda: None, lambda: np.arange(3.0), lambda: np.float32(1)):
        for name, owner, more in removals(make()):
            assert call(table, name, owner, *more) == 0
            assert owner in ([], {}, {"k": 2, "new": 1})


def test_a_read_declines_where_a_watched_array_would_live_longer(table):
    assert read(table, "load_item", [watched()], 0, wanted=ANY_VECTOR)[0] == NOT_IMPLEMENTED


def test_updates_with_other_keys_decline(table):
    target = {}
    assert call(table, "update", target, {(1, 2): 3}) == NOT_IMPLEMENTED and not target


@pytest.mark.parametrize("name", ["load_item", "pop_item", "load_key", "pop_key", "get_key", "setdefault", "insert", "extend",
                                  "reverse", "update", "set_add", "has_key", "delete_item"])
def test_nothing_leaks(table, name):
    array, words = np.arange(3.0), np.array([10 ** 12], np.int64)

    def run(count):
        for _ in range(count):
            items, mapping, numbers, more = [array, 10 ** 15], {"k": array}, {1.5}, {"k": 10 ** 13, "z": 2.5}
            if name in ("load_item", "pop_item"):
                assert read(table, name, items, 0, wanted=ANY_VECTOR)[0] == 0
            elif name in ("load_key", "pop_key"):
                assert read(table, name, mapping, "k", wanted=ANY_VECTOR)[0] == 0
            elif name in ("get_key", "setdefault"):
                assert read(table, name, mapping, "k", INT, words, wanted=ANY_VECTOR)[0] == 0
                assert read(table, name, mapping, "new", INT, words)[0] == 0
            else:
                operands = {"insert": (items, 0, INT, words), "extend": (items, items), "reverse": (items,),
                            "update": (mapping, more), "set_add": (numbers, INT, words),
                            "has_key": (mapping, "k", np.zeros(1, np.int64)), "delete_item": (items, 0)}
                assert call(table, name, *operands[name]) == 0
            table.release_all()

    run(50)
    gc.collect()
    before = sys.getallocatedblocks(), sys.getrefcount(array)
    run(3000)
    gc.collect()
    assert sys.getrefcount(array) == before[1]
    assert sys.getallocatedblocks() - before[0] < 1000


def test_searches_compare_plain_items_only(table):
    class Other:
        def __eq__(self, other):
            raise AssertionError

    out, three = np.zeros(1, np.int64), np.array([3], np.int64)

    def search(name, owner):
        return call(table, name, owner, INT, three, out), out[0]

    items = [1, None, "3", 3.0, np.int16(3), 3, True]
    assert search("find_item", items) == (0, 3) and search("find_item", tuple(items)) == (0, 3)
    assert search("count_items", items) == (0, 3)
    assert search("find_item", [1, 2]) == (0, -1) and search("count_items", []) == (0, 0)
    assert search("find_item", [3, Other()]) == (0, 0)
    assert search("find_item", [Other(), 3])[0] == search("count_items", [3, Other()])[0] == NOT_IMPLEMENTED
    assert search("find_item", [np.zeros(2), 3])[0] == search("find_item", [(3,), 3])[0] == NOT_IMPLEMENTED


@pytest.mark.parametrize("items", [[3, 1, 2], [2.0, float("nan"), 1.0], ["b", "a"], [np.float64(2), np.float64(1)], []])
def test_sort(table, items):
    for backwards in (0, 1):
        mine = list(items)
        assert call(table, "sort", mine, backwards) == 0
        assert repr(mine) == repr(sorted(items, reverse=bool(backwards)))
    for bad in ([1, 2.0], [[1], [0]], [None, None], [1, object()]):
        before = list(bad)
        assert call(table, "sort", bad, 0) == NOT_IMPLEMENTED and all(a is b for a, b in zip(bad, before))


def test_new_sets_and_numbers(table):
    spec = np.array([INT, 5, 0, INT, 7, 0, INT, 5, 0], np.int64)
    assert call(table, "new_set", table.frame, 3, spec) == 0
    assert ctypes.cast(int(spec[0]), ctypes.py_object).value == {5, 7}
    spec = np.array([DOUBLE, np.float64(2.5).view(np.int64), 0], np.int64)
    assert call(table, "box", table.frame, 1, spec) == 0
    made = ctypes.cast(int(spec[0]), ctypes.py_object).value
    assert type(made) is np.float64 and made == 2.5
    table.release_all()


def made_of(table, name, *values):
    """What a display of objects makes."""
    spec = np.array([word for value in values for word in (OBJECT, id(value), 0)], np.int64)
    assert call(table, name, table.frame, len(values), spec) == 0
    return ctypes.cast(int(spec[0]), ctypes.py_object).value


def test_new_slices_and_methods(table):
    start, stop, items = 10 ** 12, object(), []
    made = made_of(table, "new_slice", start, stop, None)
    assert type(made) is slice and made.start is start and made.stop is stop and made.step is None
    method = made_of(table, "bound_method", items, "append")
    assert method == items.append and method.__self__ is items
    before = sys.getrefcount(items)
    del method
    table.release_all()
    assert sys.getrefcount(items) == before - 1


def test_changes_of_sets(table):
    word = np.array([3], np.int64)
    target = {1, 3.0, "x"}
    assert call(table, "set_remove", target, INT, word) == 0 and target == {1, "x"}
    assert call(table, "set_remove", target, INT, word) == NOT_IMPLEMENTED and call(table, "set_discard", target, INT, word) == 0
    assert target == {1, "x"} and call(table, "clear_set", target) == 0 and not target

    class Same:
        def __hash__(self):
            return 3

        def __eq__(self, other):
            raise AssertionError("user code")

    same, kept = Same(), Dying()
    for name in ("set_remove", "set_discard", "set_add"):
        assert call(table, name, {same}, INT, word) == NOT_IMPLEMENTED
    assert call(table, "clear_set", {Dying()}) == NOT_IMPLEMENTED and call(table, "clear_set", {kept}) == 0
