"""Numbers that must be known to capture: by value under a guard first, as a symbol once they change."""

import numpy as np
import pytest

from tests.harness import HIT, MISS, assert_calls, check, fail_unless_captured, jitted

X = np.linspace(-1.0, 2.0, 24).reshape(2, 3, 4)


def along(x, axis):
    return (x * 2.0 + 1.0).sum(axis=axis)


def along_converted(x, axis):
    return np.cumsum(x * 2.0 + 1.0, axis=int(axis)) + x * float(0.5)


def picked(x, xs, position):
    return x * xs[position] + xs[-1]


def stepped(x, n, step):
    total = 0.0
    for i in range(0, n, step):
        total += i * 0.5
    return x * total + step


def to_the(x, n):
    return x ** n + x * 2.0


STEERED = [
    (along, (X, 0), [(X, 1), (X, -1), (X, 7), (X, None), (X, 2.0)]),
    (along_converted, (X, 0), [(X, 1), (X, True), (X, 1.0), (X, "1"), (X, 3), (X, None)]),
    (picked, (X, [1.0, X, 3], 0), [(X, [1.0, X, 3], 1), (X, [2.0], -1), (X, [], 0)]),
    (stepped, (X, 10, 2), [(X, 10, -1), (X, 10, 0), (X, 10, 3)]),
    (to_the, (X, 2), [(X, 3), (X, 2.0), (X, 0), (X, -1), (X.astype("f"), 2.5), (np.arange(5), 2)]),
]


@pytest.mark.parametrize("f, args, others", STEERED, ids=[row[0].__name__ for row in STEERED])
def test_a_number_that_steers(f, args, others):
    with fail_unless_captured():
        check(f, *args, others=others)


def test_ten_values_cost_at_most_three_captures():
    f = jitted(along)
    for axis in [0, 1, 2, -1, -2, -3, 0, 1, 2, -1]:
        np.testing.assert_array_equal(f(X, axis), along(X, axis))
    assert f.cache_info().misses <= 3
    assert_calls(f, [HIT] * 6, [(X, axis) for axis in (0, 1, 2, -1, -2, -3)])


def test_an_attribute_that_steers_becomes_a_symbol_too():
    class Model:
        axis = 0

    def reduced(model, x):
        return (x + 1.0).sum(model.axis)

    f, model = jitted(reduced), Model()
    for axis in [0, 1, 2, -1, -2, -3, 0, 1]:
        model.axis = axis
        np.testing.assert_array_equal(f(model, X), reduced(model, X))
    assert f.cache_info().misses <= 3


def test_numbers_and_shapes_that_do_not_steer_are_not_guarded():
    def f(x, n, unused):
        return x * n + 1.0

    j = jitted(f)
    rows = [(np.ones(size), size * 0.5, unused) for size, unused in zip(range(15), "abcdefghijklmno")]
    j(*rows[0])
    assert_calls(j, [HIT] * 14, rows[1:])


@pytest.mark.parametrize("force, expected", [(True, [MISS, MISS, HIT]), (False, [MISS, HIT, HIT])])
def test_specialize_scalar(force, expected):
    def f(x, n):
        return x * n + n

    j = jitted(f, {"specialize_scalar": force})
    assert_calls(j, expected, [(X, 2), (X, 3), (X, 2)])
    np.testing.assert_array_equal(j(X, 3), X * 3 + 3)


def test_specialize_scalar_false_knows_no_number():
    check(along, X, 1, config={"specialize_scalar": False}, others=[(X, 2)])


def test_a_new_entry_looks_first_at_what_failed_in_the_others():
    class Model:
        def __init__(self, w):
            self.w, self.shift = w, 1.0

    def f(x, y, m):
        return x * y + m.shift + m.w

    j = jitted(f)
    models = Model(X), Model(X.astype("f4")), Model(2.0)
    for model in models:
        for _ in range(3):
            np.testing.assert_array_equal(j(X, X, model), f(X, X, model))
    programs = [entry.program for entry in j.state.entries]
    places = [[str(guard.sources[0]) for guard in program.order] for program in programs]
    assert len(places) == 3 and all("L['m'].w" in found for found in places)
    assert not places[0][0].startswith("L['m']")
    for found in places[1:]:
        last = found.index("L['m'].w")
        assert all(place in ("L['m']", "L['m'].__dict__", "type(L['m'])") for place in found[:last])
