"""What changes lists, dicts and sets besides stores of items: native, at once, in order, exactly once."""

import numpy as np
import pytest

import pijit
from tests.capture.containers.effects_common import CUT, launches
from tests.harness import check, fail_unless_captured, jitted

MANY = {"backend": "python"}  # machine code is compared in the tests below
X = np.linspace(0.5, 4.0, 11)


def inserts(items, x):
    for i in range(len(x)):
        items.insert(0, x[i])
        items.insert(-1, i)
        items.insert(i * 100, x)
    return items


def extends(items, x):
    for i in range(3):
        items.extend([x[i], i])
        items.extend((x, None))
        items += [x[i] * 2.0]
        items += items
    return items


def removes(items, x):
    for i in range(3):
        del items[i]
        items.pop()
        items.pop(-2)
        x = x + 1.0
    return x, items


def pops(items, arrays, x):
    for i in range(3):
        x = x * items.pop(0) + arrays.pop()
        arrays.insert(0, x)
    return x


def reverses_and_clears(items, d, x):
    for i in range(3):
        items.append(x[i])
        items.reverse()
        d[i % 2 == 0 and "a" or "b"] = 1
        x = x * 2.0
    first = len(items)
    items.clear()
    d.clear()
    return first, len(items), len(d), x


def pops_or_default(d, x):
    first, other = d.pop("b", 0.5), d.pop("none", None)
    d.pop("a", None)
    s = 0.0
    for v in x:
        s += v * d.pop("c", 2.0)
    return first, other, s


def dict_stores(d, x):
    for i in range(len(x)):
        d["x"] = x[i]
        d["i"] = i
        d[3] = x
        d["none"] = None
    return d


def dict_changes(d, x):
    for i in range(4):
        d.update({"a": x[i], "b": i})
        d["a"] = d.pop("b") + d.setdefault("c", 10)
        d.setdefault("rows", []).append(x[i])
        if i == 2:
            del d["c"]
        x = x + d["a"]
    return x


def adds(s, x):
    for i in range(len(x)):
        s.add(i % 4)
        if i % 3:
            s.add("third")
        s.add(x[i] > 2.0)
    return len(s)


def cold_break(items, d, x):
    for i in range(len(x)):
        items.append(x[i])
        d["n"] = i
        if i == 5:
            print(len(items), d["n"])
            items.pop(0)
            d["n"] = 100
        items.insert(0, d["n"])
    return items


def raises(items, d, x, n):
    for i in range(n):
        d["steps"] = i
        items.append(items.pop(0))
        items.append(x[i])
        del items[2]
    return items


def caught(items, d, x, n):
    try:
        for i in range(n):
            d["steps"] = i
            items.insert(0, x[i])
            d["sum"] = d["sum"] + x[i]
            del d["key %d" % 1]
            d["key 1"] = i
    except (KeyError, IndexError) as error:
        d["error"] = str(error)
    finally:
        items.append("end")
    return d


CASES = [
    (inserts, ([], X)), (extends, ([1], X)), (removes, (list(range(20)), X)), (removes, ([X] * 12 + [1, "a"], X)),
    (pops_or_default, ({"a": 1.0, "b": 2.0}, X)), (pops_or_default, ({"a": 1.0, "c": 2.0}, X)),
    (pops, ([1.0, 2.0, 3.0], [X, X + 1.0], X)), (dict_stores, ({}, X)), (dict_stores, ({"i": "old", "x": X, 3: 2.5}, X)),
    (dict_changes, ({}, X)), (dict_changes, ({"c": 3, "rows": [1]}, X)), (adds, (set(), X)), (cold_break, ([], {}, X)),
    (raises, ([1.0, 2.0, 3.0], {}, X, 11)), (caught, ([], {"sum": 0.0, "key 1": 1}, X, 11)),
]


@pytest.mark.parametrize("f, args", CASES, ids=lambda item: getattr(item, "__name__", ""))
def test_same_as_python(f, args):
    with fail_unless_captured():
        check(f, *args, calls=4, config=MANY)


@pytest.mark.parametrize("f, args", [(reverses_and_clears, ([1], {}, X)), (reverses_and_clears, ([X, "a"], {"b": X}, X))],
                         ids=lambda item: getattr(item, "__name__", ""))
def test_all_items_go(f, args):
    check(f, *args, calls=4, config=MANY)


@pytest.mark.skipif(CUT, reason="cut everywhere")
@pytest.mark.parametrize("f, make", [(inserts, lambda: ([], X)), (extends, lambda: ([1], X)), (dict_stores, lambda: ({}, X)), (dict_changes, lambda: ({}, X)),
                                     (removes, lambda: (list(range(20)), X)), (adds, lambda: (set(), X))],
                         ids=lambda item: getattr(item, "__name__", ""))
def test_the_loop_is_one_kernel(f, make):
    assert launches(jitted(f), *[item * 50 if type(item) is list else item for item in make()]) <= 2
    check(f, *make(), calls=2)


def test_exceptions_leave_what_was_done():
    check(raises, [1.0, 2.0, 3.0], {}, X, 11, others=[([1.0, 2.0, 3.0], {}, X, 13), ([], {}, X, 2), ([1.0], {}, X, 3)])
    check(caught, [], {"sum": 0.0, "key 1": 1}, X, 11,
          others=[([], {"sum": 0.0, "key 1": 1}, X, 14), ([], {"sum": 0.0}, X, 2), ([], {}, X, 2), ([], {"sum": X}, X, 2)])
    check(pops, [1.0, 2.0, 3.0], [X], X, others=[([1.0], [X], X), ([1.0, 2, 3.0], [X], X), ([1.0] * 3, [], X)])


def test_one_container_under_two_names():
    def f(a, b, x):
        for i in range(3):
            a.append(x[i])
            b.insert(0, len(a))
            del a[-1]
        return len(a), len(b)

    one, itself = [1, 2], [1.0, 2.0, 3.0]
    check(f, [1], [2], X, aliased=[(one, one, X)])
    check(extends, itself, X)


class Dying:
    seen = []

    def __init__(self, owner):
        self.owner = owner

    def __del__(self):
        Dying.seen.append(repr(self.owner.keys() if type(self.owner) is dict else len(self.owner)))


def replaces(items, d, x):
    for i in range(3):
        items.append(i)
        d["n"] = i
        del items[0]
    items.clear()
    d.update({"n": 1, "m": x[0]})
    d.clear()
    return x * 2.0


def test_finalizers_run_where_python_runs_them():
    j, seen = jitted(replaces), []
    for f in (replaces, j, j, j, j):
        f([0], {"n": 0}, X)
        items, d = [0, 1, 2], {"a": 1, "n": 0}
        items[1], d["n"] = Dying(items), Dying(d)
        items.append(Dying(items))
        d["m"] = d["k"] = Dying(d)
        del Dying.seen[:]
        f(items, d, X)
        seen.append(list(Dying.seen))
    assert all(item == seen[0] for item in seen) and len(seen[0]) == 4


class Loud(dict):
    def __setitem__(self, key, value):
        dict.__setitem__(self, key, -1)


def test_subclasses_do_as_they_like():
    check(dict_stores, Loud(), X)
    check(dict_stores, {}, X, others=[(Loud(), X), (Loud({"i": 1}), X)])


def test_what_stays_bytecode_has_its_reason():
    report = str(pijit.explain(lambda items, x: items.sort(key=id) or x * 2.0 + 1.0, [1, 2], X))
    assert "PJ2" in report


def test_what_is_popped_is_there_or_not():
    d = {"a": 1.0, "b": 2.0}
    check(pops_or_default, d, X, others=[({}, X), ({"b": 3, "c": X}, X), ({"none": 1}, X), ([], X)])


LEVEL = 1.0


class Leveled:
    def __init__(self):
        self.LEVEL = 1.0


def below_attributes(owner, d, x):
    d["LEVEL"] = x * 50.0
    return owner.LEVEL + x * x


def below_globals(owner, d, x):
    d["LEVEL"] = x * 50.0
    return LEVEL + x * x


def pops_globals(owner, d, x):
    x = d.pop("LEVEL") + x * x
    d.update({"LEVEL": x})
    return LEVEL + x


@pytest.mark.parametrize("config", [MANY, {"backend": "numba"}], ids=["python", "numba"])
@pytest.mark.parametrize("f", [below_attributes, below_globals, pops_globals])
def test_dicts_that_hold_variables_and_attributes(f, config, little_work, monkeypatch):
    """What is stored into the dict is read of the object, or as a variable."""
    monkeypatch.setitem(globals(), "LEVEL", 1.0)
    wanted, got = [], []
    with fail_unless_captured():
        j = jitted(f, dict(config, force_breaks=None))
        for function, seen in ((f, wanted), (j, got)):
            globals()["LEVEL"], owner = 1.0, Leveled()
            for d in ({"LEVEL": 2.0}, owner.__dict__, {"LEVEL": 2.0}, globals(), owner.__dict__, globals()):
                seen.append(function(owner, d, 2.0))
                seen.append((owner.LEVEL, LEVEL, d["LEVEL"]))
    assert got == wanted
