"""Tuples, lists and dicts of arrays and numbers, read under guards: items, lengths, unpacking, nesting, aliasing."""

import numpy as np
import pytest

from tests.harness import check, fail_unless_captured, jitted

X = np.linspace(0.5, 4.0, 11)
Y = np.linspace(3.0, -1.0, 11)


def items_of_a_list(xs):
    return xs[0] * xs[1] + xs[-1]


def items_of_a_dict(d, x):
    return x * d["w"] + d["b"]


def nested(params, x):
    return x * params["layer"][1]["b"] + params["scale"][0]


def unpacked(pair):
    a, b = pair
    return a * b + a


def unpacked_in_a_loop(pairs, x):
    total = x * 0.0
    for _ in range(3):
        (a, b), c = pairs
        total = total + a * b - c
    return total


def length(xs):
    return xs[0] * len(xs) + xs[1] * len(xs)


def by_number(x, xs):
    return x * xs[0] + xs[1] - xs[2]


READS = [
    (items_of_a_list, ([X, Y],), [((X, Y),), ([X, 2.0, Y],), ([X.astype("f"), Y],), ([X, Y, 3],)]),
    (items_of_a_dict, ({"w": X, "b": Y}, X), [({"w": 2.0, "b": 1}, X), ({"b": Y, "w": X, "c": X}, Y)]),
    (nested, ({"layer": (0, {"b": X}), "scale": [2.0]}, Y), [({"layer": [0, {"b": 3}], "scale": (X,)}, Y)]),
    (unpacked, ((X, Y),), [([X, Y],), ([X, 2.0],), ((1.0, Y),)]),
    (unpacked_in_a_loop, (((X, Y), 1.0), X), [(([X, 2], Y), X)]),
    (length, ([X, Y],), [((X, Y, X),), ({0: X, 1: Y},)]),
    (by_number, (X, [1.0, 2, np.float32(3.0)]), [(X, (1, 2.0, 3)), (X, [True, 2, 3])]),
]


@pytest.mark.parametrize("f, args, others", READS, ids=[row[0].__name__ for row in READS])
def test_reads(f, args, others):
    with fail_unless_captured():
        check(f, *args, others=others)


WRONG = [
    (items_of_a_list, ([X, Y],), [([X],), ([],), ((),), (None,), ([X, None],), ([X, "y"],)]),
    (items_of_a_dict, ({"w": X, "b": Y}, X), [({"w": X}, X), ({}, X), ([X], X)]),
    (unpacked, ((X, Y),), [((X,),), ((X, Y, X),), ([],), (X,), (X[:2],), (iter((X, Y)),)]),
]


@pytest.mark.parametrize("f, args, others", WRONG, ids=[row[0].__name__ for row in WRONG])
def test_what_raises(f, args, others):
    check(f, *args, others=others)


CHANGES = [
    lambda xs: xs.__setitem__(0, xs[0] + 1.0),
    lambda xs: xs.__setitem__(1, 3.0),
    lambda xs: xs.reverse(),
    lambda xs: xs.append(Y),
    lambda xs: xs[0].__iadd__(2.0),
    lambda xs: xs.insert(0, X * 3.0),
    lambda xs: xs.__setitem__(0, xs[0].astype("f")),
    lambda xs: xs.pop(),
]


def test_a_list_that_the_caller_changes():
    xs = [X.copy(), Y.copy(), X + Y]
    with fail_unless_captured():
        j = jitted(items_of_a_list)
        for change in CHANGES + CHANGES:
            for _ in range(3):
                expected, got = items_of_a_list(xs), j(xs)
                np.testing.assert_array_equal(got, expected)
                assert got.dtype == expected.dtype
            change(xs)


def test_a_dict_that_the_caller_changes():
    d = {"w": X, "b": 1.0}
    with fail_unless_captured():
        j = jitted(items_of_a_dict)
        for key, value in [("w", Y), ("b", X), ("b", 2), ("other", 3), ("w", X.astype("f"))]:
            for _ in range(3):
                np.testing.assert_array_equal(j(d, X), items_of_a_dict(d, X))
            d[key] = value
        del d["w"]
        with pytest.raises(KeyError, match="'w'"):
            j(d, X)


def changed_between(xs, x):
    y = x * xs[0] + xs[1]
    list.__setitem__(xs, slice(None), [y, xs[1]])
    return y * xs[0] - xs[1]


def test_a_list_that_bytecode_changes_between_segments():
    with fail_unless_captured(2):
        check(changed_between, [X, Y], X, calls=4)


def both_items(x, y, xs):
    x += 1.0
    y = y * 2.0
    return x + xs[0] * y + xs[1]


def test_aliased_items():
    with fail_unless_captured():
        check(both_items, X.copy(), Y.copy(), [X.copy(), Y.copy()])
    shared = X.copy()
    check(both_items, shared, shared, [shared, shared])
    check(both_items, X.copy(), Y.copy(), [X.copy(), Y.copy()], aliased=[(shared, shared[:], [shared, shared])])


def in_place(xs, x):
    xs[0] += x
    xs[1] *= 2.0
    return xs[0] - xs[1]


def test_in_place_on_an_item():
    check(in_place, [X.copy(), Y.copy()], X)
    one = X.copy()
    check(in_place, [one, one], one)


def own_item(xs, x):
    return x * xs[1] + xs[0][0][1] * x


def test_self_containing_containers():
    xs = [None, Y]
    xs[0] = xs
    j = jitted(own_item)
    for _ in range(4):
        np.testing.assert_array_equal(j(xs, X), own_item(xs, X))
    d = {"w": X, "b": Y}
    d["d"] = d
    j = jitted(lambda d, x: x * d["d"]["d"]["w"] + d["b"])
    for _ in range(4):
        np.testing.assert_array_equal(j(d, X), X * X + Y)


def with_empty(t, xs, d, x):
    return x * 2.0 + len(t) + len(xs) + len(d) - x


def test_empty_containers():
    with fail_unless_captured():
        check(with_empty, (), [], {}, X, others=[((1,), [X], {}, X), ((), [], {"a": []}, X)])


def passed_on(xs, x):
    ys = xs
    y = x * xs[0] + ys[1]
    return y, ys, xs


def test_containers_leave_by_identity():
    with fail_unless_captured():
        check(passed_on, [X, Y], X, others=[((X, Y), X)])


def chosen(flag, a, b, x):
    xs = a if flag else b
    y = x * 2.0 + xs[0]
    return y * xs[1] - x


def test_a_container_chosen_at_run_time():
    a, b = [X, Y], [Y, X * 3.0]
    check(chosen, True, a, b, X, others=[(False, a, b, X), (True, b, a, X), (False, a, a, X)])


def looped(flags, a, b, x):
    xs = a
    for flag in flags:
        x = x * 2.0 + xs[0]
        x = x - xs[1]
        xs = b if flag else a
    return x


def test_a_container_chosen_in_a_loop():
    check(looped, [True, False, True], [X, Y], [Y, X * 3.0], X, others=[([1, 0], [X, Y], [X, Y], X)])
