"""The runtime's effects on Python objects: exact values, what declines, and who owns what."""

import gc
import sys
import weakref

import numpy as np
import pytest

from tests.native.launcher.native_kernels import Dying, Runtime

INT, FLOAT, BOOL, OBJECT = -1, -2, -3, -4
DTYPES = ["?", "b", "B", "h", "H", "i", "I", "l", "L", "q", "Q", "f", "d"]
NOT_IMPLEMENTED = 1


class Plain:
    pass


class Slotted:
    __slots__ = ("a", "b")


class Both(Slotted):
    __slots__ = ("__dict__",)


class Own:
    def __setattr__(self, name, value):
        raise AssertionError("user code")


class WithProperty:
    a = property(lambda self: 1, lambda self, value: None)


def words_of(kind, value):
    """The address of the words of a value, in an array that keeps them."""
    if kind == OBJECT:
        return np.array([id(value)], np.int64)
    if kind == FLOAT or kind >= 0 and np.dtype(DTYPES_BY_NUMBER[kind]).kind == "f":
        return np.array([value], np.float64).view(np.int64)
    return np.array([int(value)], np.uint64 if int(value) >= 2 ** 63 else np.int64).view(np.int64)


DTYPES_BY_NUMBER = {np.dtype(code).num: code for code in DTYPES}
BOXES = [(INT, 5), (INT, -2 ** 63), (INT, 2 ** 63 - 1), (FLOAT, -0.0), (FLOAT, 1e300), (BOOL, True), (BOOL, False),
         (OBJECT, None), (OBJECT, "text"), (OBJECT, np.arange(3))]
BOXES += [(np.dtype(code).num, np.dtype(code).type(1)) for code in DTYPES]
BOXES += [(np.dtype("Q").num, np.dtype("Q").type(2 ** 64 - 1)), (np.dtype("f").num, np.float32(0.1)), (np.dtype("b").num, np.int8(-128))]


@pytest.mark.parametrize("kind, value", BOXES, ids=lambda item: repr(item)[:20])
def test_values_are_exact(table, kind, value):
    target = ["first"]
    assert table.call("append", id(target), kind, words_of(kind, value)) == 0
    got = target[1]
    assert type(got) is type(value) and len(target) == 2
    if kind == OBJECT:
        assert got is value
    else:
        assert np.asarray(got).tobytes() == np.asarray(value).tobytes()


STORES = {
    "item": lambda table, place, kind, words: table.call("store_item", id(place["list"]), -1, kind, words),
    "key": lambda table, place, kind, words: table.call("store_key", id(place["dict"]), id("k"), kind, words),
    "attribute": lambda table, place, kind, words: table.call("store_attr", id(place["object"]), id("a"), kind, words),
    "slot": lambda table, place, kind, words: table.call("store_attr", id(place["slots"]), id("a"), kind, words),
    "cell": lambda table, place, kind, words: table.call("store_cell", id(place["cell"]), kind, words),
}
READS = {
    "item": lambda place: place["list"][-1], "key": lambda place: place["dict"]["k"], "slot": lambda place: place["slots"].a,
    "attribute": lambda place: place["object"].a, "cell": lambda place: place["cell"].cell_contents,
}

PUTS = {
    "item": lambda place, value: place["list"].__setitem__(-1, value),
    "key": lambda place, value: place["dict"].__setitem__("k", value),
    "attribute": lambda place, value: setattr(place["object"], "a", value),
    "slot": lambda place, value: setattr(place["slots"], "a", value),
    "cell": lambda place, value: setattr(place["cell"], "cell_contents", value),
}


def make_cell(value):
    return (lambda: value).__closure__[0]


def new_place(value):
    place = {"list": [1, value], "dict": {"k": value}, "object": Plain(), "slots": Slotted(), "cell": make_cell(value)}
    place["object"].a = place["slots"].a = value
    return place


@pytest.mark.parametrize("name", sorted(STORES))
@pytest.mark.parametrize("kind, value", [(INT, 7), (OBJECT, "new"), (np.dtype("d").num, np.float64(2.5))])
def test_stores_replace(table, name, kind, value):
    for old in (1, 2.5, None, "old", np.float32(1), np.arange(2)):
        place = new_place(old)
        assert STORES[name](table, place, kind, words_of(kind, value)) == 0
        got = READS[name](place)
        assert type(got) is type(value) and got == value


def watched_array():
    array = np.arange(3)
    WATCHES.append(weakref.ref(array))
    return array


WATCHES = []
NOTICEABLE = {"finalizer": Dying, "list": lambda: [Dying()], "tuple": lambda: (1, Dying()), "watched array": watched_array,
              "array of objects": lambda: np.array([Dying()], object), "view of objects": lambda: np.array([1, Dying()], object)[1:]}


@pytest.mark.parametrize("make", sorted(NOTICEABLE))
@pytest.mark.parametrize("name", sorted(STORES))
def test_stores_decline_where_the_old_value_could_run_code(table, name, make):
    place = {"list": [1, None], "dict": {}, "object": Plain(), "slots": Slotted(), "cell": make_cell(None)}
    PUTS[name](place, NOTICEABLE[make]())
    kind, deaths = type(READS[name](place)), Dying.deaths
    assert STORES[name](table, place, INT, words_of(INT, 1)) == NOT_IMPLEMENTED
    assert Dying.deaths == deaths and type(READS[name](place)) is kind


@pytest.mark.parametrize("name", sorted(STORES))
def test_stores_give_up_what_something_else_holds(table, name):
    kept = Dying()
    place = new_place(kept)
    before, deaths = sys.getrefcount(kept), Dying.deaths
    assert STORES[name](table, place, INT, words_of(INT, 1)) == 0
    assert sys.getrefcount(kept) == before - 1 and Dying.deaths == deaths


DELETES = {
    "part": lambda table, place: table.call("delete_slice", id(place["list"]), id(LAST)),
    "whole part": lambda table, place: table.call("store_slice", id(place["list"]), id(LAST), id(())),
    "attribute": lambda table, place: table.call("delete_attr", id(place["object"]), id("a")),
    "slot": lambda table, place: table.call("delete_attr", id(place["slots"]), id("a")),
    "cell": lambda table, place: table.call("delete_cell", id(place["cell"])),
}
LAST = slice(-1, None)
IS_THERE = {
    "part": lambda place: len(place["list"]) == 2, "whole part": lambda place: len(place["list"]) == 2,
    "attribute": lambda place: "a" in vars(place["object"]), "slot": lambda place: hasattr(place["slots"], "a"),
    "cell": lambda place: place["cell"] != make_empty_cell(),
}


def make_empty_cell():
    cell = make_cell(1)
    del cell.cell_contents
    return cell


@pytest.mark.parametrize("name", sorted(DELETES))
def test_deletes(table, name):
    kept = Dying()
    for old in (1, 2.5, None, "old", np.float32(1), np.arange(2), kept):
        place, references, deaths = new_place(old), sys.getrefcount(kept), Dying.deaths
        assert DELETES[name](table, place) == 0 and not IS_THERE[name](place)
        assert sys.getrefcount(kept) == references - (old is kept) and Dying.deaths == deaths


@pytest.mark.parametrize("make", sorted(NOTICEABLE))
@pytest.mark.parametrize("name", sorted(DELETES))
def test_deletes_decline_where_the_old_value_could_run_code(table, name, make):
    place = new_place(None)
    for one in PUTS:
        PUTS[one](place, NOTICEABLE[make]())
    deaths = Dying.deaths
    assert DELETES[name](table, place) == NOT_IMPLEMENTED and IS_THERE[name](place) and Dying.deaths == deaths


def test_deletes_of_what_is_missing_decline(table):
    cell = make_empty_cell()
    assert table.call("delete_cell", id(cell)) == NOT_IMPLEMENTED
    for target in (Plain(), Slotted(), Own(), WithProperty(), shared_dict(), 5, int):
        assert table.call("delete_attr", id(target), id("a")) == NOT_IMPLEMENTED
    assert table.call("delete_global", id("missing_global")) == NOT_IMPLEMENTED
    sys.modules[Runtime.__module__].__dict__["doomed_global"] = 1
    assert table.call("delete_global", id("doomed_global")) == 0
    assert "doomed_global" not in sys.modules[Runtime.__module__].__dict__


def test_parts_of_lists_as_python(table):
    for part in (slice(1, 3), slice(None), slice(4, 1), slice(None, None, 2), slice(None, None, -2), slice(-2, None), slice(9, 99)):
        for items in ([], [7], (7, 8, 9), [1, 2, 3, 4, 5]):
            wanted, got = [1, 2.5, "c", 4, 5], [1, 2.5, "c", 4, 5]
            try:
                wanted[part] = items
                status = 0
            except ValueError:
                status = NOT_IMPLEMENTED
            assert table.call("store_slice", id(got), id(part), id(items)) == status and got == wanted
        del wanted[part]
        assert table.call("delete_slice", id(got), id(part)) == 0 and got == wanted
    target = [1, 2, 3]
    assert table.call("store_slice", id(target), id(slice(1, 2)), id(target)) == 0 and target == [1, 1, 2, 3, 3]
    assert table.call("delete_slice", id(target), id(slice(None, "x"))) == NOT_IMPLEMENTED and len(target) == 5


def test_new_attributes_and_keys(table):
    target, words = Plain(), words_of(INT, 3)
    target.b = 1
    assert table.call("store_attr", id(target), id("a"), INT, words) == 0
    assert vars(target) == {"b": 1, "a": 3} and list(vars(target)) == ["b", "a"]
    mapping = {"x": 1}
    assert table.call("store_key", id(mapping), id("y"), INT, words) == 0
    assert mapping == {"x": 1, "y": 3}
    slots = Slotted()
    assert table.call("store_attr", id(slots), id("b"), INT, words) == 0 and slots.b == 3
    both = Both()
    both.c = 1
    assert table.call("store_attr", id(both), id("a"), INT, words) == 0 and both.a == 3 and vars(both) == {"c": 1}
    assert table.call("store_attr", id(both), id("c"), INT, words) == 0 and vars(both) == {"c": 3}


SHARING = []


def shared_dict():
    one, two = Plain(), Plain()
    one.a = 1
    two.__dict__ = one.__dict__
    SHARING.append(two)
    return one


class DictOnDemand(dict):
    """Instances have a place for a dict, and none yet, on all versions."""

    __slots__ = ("__dict__",)


@pytest.mark.parametrize("make", [Own, WithProperty, DictOnDemand, shared_dict, Slotted, lambda: int, lambda: 5],
                         ids=["setattr", "property", "no dict yet", "shared dict", "no such slot", "class", "int"])
def test_other_objects_decline(table, make):
    target = make()
    name = "zz" if make is Slotted else "a"
    assert table.call("store_attr", id(target), id(name), INT, words_of(INT, 1)) == NOT_IMPLEMENTED


@pytest.mark.parametrize("make", [WithProperty, DictOnDemand, shared_dict, Slotted, lambda: 5],
                         ids=["property", "no dict yet", "shared dict", "no such slot", "int"])
def test_other_objects_decline_plain_stores(table, make):
    target = make()
    name = "zz" if make is Slotted else "a"
    assert table.call("plain_store_attr", id(target), id(name), INT, words_of(INT, 1)) == NOT_IMPLEMENTED


def test_plain_stores_pass_by_the_method(table):
    target = Own()
    object.__setattr__(target, "b", 2)
    assert table.call("plain_store_attr", id(target), id("a"), INT, words_of(INT, 1)) == 0
    assert vars(target) == {"b": 2, "a": 1}


def test_items_out_of_range_decline(table):
    target = [1, 2]
    for index in (2, -3, 2 ** 62, -2 ** 63):
        assert table.call("store_item", id(target), index, INT, words_of(INT, 9)) == NOT_IMPLEMENTED
    assert table.call("store_item", id(target), -2, INT, words_of(INT, 9)) == 0
    assert target == [9, 2]


def test_an_empty_cell_is_filled(table):
    cell = make_cell(1)
    del cell.cell_contents
    assert table.call("store_cell", id(cell), INT, words_of(INT, 4)) == 0 and cell.cell_contents == 4


def test_globals_are_those_of_the_frame(table):
    assert table.call("store_global", id("stored_by_the_runtime"), INT, words_of(INT, 6)) == 0
    assert sys.modules[Runtime.__module__].__dict__.pop("stored_by_the_runtime") == 6


@pytest.mark.parametrize("name", sorted(STORES) + ["append"])
def test_nothing_leaks(table, name):
    place, values = new_place(0), [(INT, 10 ** 12), (np.dtype("d").num, np.float64(0.5)), (OBJECT, np.zeros(4)), (BOOL, True)]
    words = [(kind, words_of(kind, value)) for kind, value in values]

    def run(count):
        for _ in range(count):
            for kind, address in words:
                if name == "append":
                    table.call("append", id(place["list"]), kind, address)
                else:
                    STORES[name](table, place, kind, address)
            del place["list"][2:]
        for place_name in STORES:
            STORES[place_name](table, place, INT, words_of(INT, 0))

    run(100)
    gc.collect()
    before = sys.getallocatedblocks(), [sys.getrefcount(value) for _, value in values]
    run(10000)
    gc.collect()  # others count references to True as well, now some more and then some less
    assert all(abs(sys.getrefcount(value) - count) < 5000 for (_, value), count in zip(values, before[1]))
    assert sys.getallocatedblocks() - before[0] < 1000
