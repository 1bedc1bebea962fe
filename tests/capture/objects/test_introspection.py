"""Questions about objects that are answered while capturing: isinstance, hasattr, in, is, truth, equality of tuples."""

import enum

import numpy as np
import pytest

from tests.harness import HIT, MISS, assert_calls, check, fail_unless_captured, jitted

X = np.linspace(0.5, 4.0, 11)
Y = np.linspace(3.0, -1.0, 11)


class Mode(enum.Enum):
    FAST = 1
    EXACT = 2.5


class Thing:
    def __init__(self, **attributes):
        self.__dict__.update(attributes)


class Callable(Thing):
    def __call__(self):
        return 1


class Sized(Thing):
    def __len__(self):
        return 0


class Pretender:
    @property
    def __class__(self):
        return float


def by_class(x, n):
    if isinstance(x, np.ndarray) and isinstance(n, (int, (float, str))):
        return x * 2.0 + 1.0
    return x * 3.0 - 1.0


def by_type(x, n):
    if type(n) is float:
        return x * n + n
    return x * 3.0 - x


def by_mode(x, mode):
    if mode is Mode.FAST or mode == Mode.EXACT and mode.value > 2:
        return x * mode.value + 1.0
    return x * 2.0 - x


def by_string(x, name):
    if name == "fast" or name.startswith("f") and name in ("fine", "full") or "z" in name:
        return x * 2.0 + 1.0
    return x * 3.0 - 1.0


def by_attributes(thing, x):
    y = x * 2.0 + 1.0
    if hasattr(thing, "bias"):
        y = y + thing.bias
    return y * getattr(thing, "scale", 3.0)


def by_keys(d, x):
    if "w" in d:
        x = x * d["w"]
    if "gone" not in d:
        x = x + 1.0
    return x * d.get("k", 2.0) + d.get("w", 1.0)


def by_membership(x, n):
    if n in (1, 2.5, None, "a"):
        return x * 2.0 + 1.0
    return x * 3.0 - 1.0


def by_items(x, n, xs):
    if n not in xs:
        return x * 2.0 + 1.0
    return x * 3.0 - 1.0


def by_shape(x, y):
    if x.shape == y.shape and x.shape != (3,):
        return x * y + 1.0
    return x * 3.0 - 1.0


def by_dtype(x):
    if x.dtype == np.float64 and x.dtype.kind == "f":
        return x * 2.0 + 1.0
    return x * 3 - 1


def by_truth(x, thing):
    if thing:
        return x * 2.0 + 1.0
    if not thing and thing is not None:
        return x * 3.0 - 1.0
    return x + x * x


def by_call(x, thing):
    if callable(thing):
        return x * 2.0 + 1.0
    return x * 3.0 - 1.0


def by_tuple(x, xs):
    a, b = tuple(xs)
    return x * a + b if tuple(xs) == (1, 2) else x * b - a


QUESTIONS = [
    (by_class, (X, 2), [(X, 2.5), (X, None), (X, np.float32(1)), (X, "s"), (X, Pretender()), (2.0, 3), (X, True)]),
    (by_type, (X, 2.0), [(X, 2), (X, np.float64(2)), (X, True), (X, None)]),
    (by_mode, (X, Mode.FAST), [(X, Mode.EXACT)]),
    (by_string, (X, "fast"), [(X, "fine"), (X, "fuss"), (X, "fuzz"), (X, "exact"), (X, "")]),
    (by_attributes, (Thing(), X), [(Thing(bias=1.0), X), (Thing(scale=Y), X), (Thing(bias=Y, scale=2), X)]),
    (by_keys, ({"w": Y}, X), [({}, X), ({"w": 2, "gone": 1}, X), ({"k": 3.0}, X), ({"k": Y, "w": X}, X)]),
    (by_membership, (X, 1), [(X, 2), (X, 2.5), (X, 1.0), (X, True), (X, None), (X, "a"), (X, "b"), (X, np.nan)]),
    (by_items, (X, 2, [1, 2, 3]), [(X, 2, [1, 3]), (X, 2, (2,)), (X, 2, []), (X, 2, [1, "a"]), (X, 2.0, (1, 2))]),
    (by_shape, (X, Y), [(X, Y[1:]), (X, np.ones((2, 11))), (X[:3], X[:3])]),
    (by_dtype, (X,), [(X.astype("f"),), (np.arange(4),)]),
    (by_truth, (X, [1]), [(X, []), (X, ()), (X, {}), (X, {1: 2}), (X, Thing()), (X, Sized()), (X, None), (X, "")]),
    (by_call, (X, Callable()), [(X, Thing()), (X, len), (X, Thing), (X, by_call), (X, None), (X, 3)]),
    (by_tuple, (X, [1, 2]), [(X, (1, 2)), (X, [1, 2.0]), (X, [1, 3]), (X, [1, 2, 3])]),
]


@pytest.mark.parametrize("f, args, others", QUESTIONS, ids=[row[0].__name__ for row in QUESTIONS])
def test_questions(f, args, others):
    with fail_unless_captured():
        check(f, *args, others=others)


@pytest.mark.parametrize("f, args, others", QUESTIONS, ids=[row[0].__name__ for row in QUESTIONS])
def test_each_answer_is_guarded(f, args, others):
    check(f, *args, others=[row for other in others for row in (other, args)], calls=2)


def test_an_attribute_or_key_that_comes_and_goes():
    thing, d = Thing(), {}
    f, g = jitted(by_attributes), jitted(by_keys)
    for change in [lambda: setattr(thing, "bias", 1.0), lambda: delattr(thing, "bias"),
                   lambda: setattr(Thing, "scale", 2.0), lambda: delattr(Thing, "scale"),
                   lambda: d.update(w=2.0), lambda: d.update(gone=1), lambda: d.clear()]:
        for _ in range(3):
            np.testing.assert_array_equal(f(thing, X), by_attributes(thing, X))
            np.testing.assert_array_equal(g(d, X), by_keys(d, X))
        change()


class Label:
    def __init__(self):
        self.text, self.gain = None, 0.5


def test_a_question_that_is_open_only_where_types_are_propagated():
    """Bytecode and the loop itself write what the question reads; the kernel of one round knows the answer."""
    def labelled(x, s, flag, label):
        with np.errstate(all="ignore"):
            label.text = "seen"
        for s in (s, max([e + 1 for e in x])):
            if label.text is None and flag:
                label.gain += s
                label.text = "seen"
        return s, label.text, label.gain

    check(labelled, X, 0.5, True, Label(), others=[(X, 0.5, False, Label())])


def test_a_class_that_gets_a_truth_of_its_own():
    class Local(Thing):
        pass

    f = jitted(by_truth)
    for _ in range(3):
        np.testing.assert_array_equal(f(X, Local()), by_truth(X, Local()))
    Local.__bool__ = lambda self: False
    np.testing.assert_array_equal(f(X, Local()), by_truth(X, Local()))
    Local.__call__ = lambda self: None
    np.testing.assert_array_equal(jitted(by_call)(X, Local()), by_call(X, Local()))


def test_truth_of_a_list_is_not_its_length():
    f = jitted(by_truth)
    assert_calls(f, [MISS, HIT, HIT, MISS], [(X, [1]), (X, [1, 2]), (X, ["a", None, 3]), (X, [])])


def compares(x, xs, ys):
    return x * 2.0 + (xs == ys) + (xs != ys) * 3


COMPARED = [([1, 2], [1, 2]), ((1, 2), [1, 2]), ((1, (2, 3.5)), (1, (2, 3.5))), ((), ()), ([1], [1, 2]),
            (["a", None], ["a", None]), ([X], [X]), ([X], [Y]), ([np.nan], [np.nan]), ([1], 1), ([1], None)]


@pytest.mark.parametrize("xs, ys", COMPARED, ids=repr)
def test_comparison_of_tuples_and_lists(xs, ys):
    check(compares, X, xs, ys)
    check(compares, X, xs, xs)
