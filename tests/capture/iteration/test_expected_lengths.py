"""Loops and tuples whose length is that of an axis: they are unrolled if the length must be known, under guards."""

import numpy as np
import pytest

import pijit
from tests.capture.scalars.test_scalars import define
from tests.harness import HIT, MISS, assert_calls, check, fail_unless_captured, jitted

X = np.arange(60.0).reshape(3, 4, 5)
PLACES = np.array([[0, 1], [2, 3], [2, 0], [1, 1]])

INDEXED = {
    "x[tuple(i.T)]": X, "x[tuple(i[:, k] for k in range(i.shape[1]))] * y": X, "x[tuple([one + 0 for one in i.T])]": X,
    "x[tuple(np.moveaxis(i, -1, 0))]": X, "(x * y)[tuple((i + 0).T)]": X, "x[tuple(i[:, :-1].T)]": X, "x[tuple(i[1:3] % 3)]": X,
    "x[tuple(np.stack((i[:, 1] - 1, i[:, 0]), 1).T)]": X, "x[tuple(i.astype(np.int32).T)]": X, "x[tuple(i.T[::-1]) + (2,)]": np.moveaxis(X, 0, 1),
    "x[tuple(np.array([[0, 1], [1, 2]]))] * y": X, "x[(slice(1, 3),) + tuple(i.T)] - y": X, "[x[tuple(one)] for one in i[:3]]": X,
    "x[tuple([i[:, k] for k in range(len(i.T))])]": X, "x[tuple([i[:, k] for k in range(i.shape[0] - 2)])]": X,
}


@pytest.mark.parametrize("expression", sorted(INDEXED))
@fail_unless_captured()
def test_an_index_of_arrays(expression):
    f = define("def f(x, i, y):\n    return %s" % expression)
    x = INDEXED[expression]
    others = [(x, PLACES[:, :1], 2.0), (x, PLACES[:3], 2.0), (x, np.column_stack((PLACES, PLACES[:, 1])), 1.0), (x, PLACES + 9, 0.5),
              (x, PLACES[:0], 1.0), (x[:2], PLACES, 1.0), (x, PLACES.astype("f"), 1.0)]
    j = check(f, x, PLACES, 0.5, others=others, config={"force_breaks": None})
    j = jitted(f, {"force_breaks": None})
    for _ in range(3):
        j(x, PLACES, 0.5)
    assert not pijit.explain(j, x, PLACES, 0.5).breaks, str(pijit.explain(j, x, PLACES, 0.5))


def picked(x, i, y):
    return x[tuple(i.T)] * y


def test_lengths_are_guarded():
    """Lengths that matter have an entry each, up to three of them. Others share one entry."""
    j = jitted(picked, {"force_breaks": None})
    two, one, three = PLACES, PLACES[:, :1], np.column_stack((PLACES, PLACES[:, 1]))
    assert_calls(j, [MISS, HIT, HIT, MISS, HIT, MISS, HIT, HIT, HIT],
                 [(X, two, 1.0), (X, two[:3], 2.0), (X[:, :4], two, 1.0), (X, one, 1.0), (X, one[:2], 1.0), (X, three, 1.0), (X, three[1:], 1.0),
                  (X, two, 1.0), (X, one, 1.0)])
    report = pijit.explain(j, X, two, 1.0)
    assert report.kernels and not report.breaks and "L['i'].shape[1] == 2" in str(report), str(report)


def test_a_further_length_leaves_the_entries_of_others():
    """The entry for any length has a break. It serves only the calls that no entry for one length fits."""
    j = jitted(picked, {"force_breaks": None})
    calls, four = [np.zeros((3, n), int) for n in (1, 2, 3)], np.zeros((3, 4), int)
    for places in calls:
        j(X, places, 1.0)
    for _ in range(3):
        with pytest.raises(IndexError):
            j(X, four, 1.0)
    for places in calls * 9:
        j(X, places, 1.0)
    assert j.state.entries[-1].reports.breaks
    before = {entry.program: entry.program.hits for entry in j.state.entries}
    for places in calls * 2:
        j(X, places, 1.0)
    assert [entry.program.hits - before[entry.program] for entry in j.state.entries] == [2, 2, 2, 0]


def test_other_types_with_known_lengths():
    """A call with a length that entries have does not count as one with a further length."""
    j = jitted(picked, {"force_breaks": None})
    for x in (X, X.astype(int)):
        for n in (1, 2, 3):
            for _ in range(3):
                j(x, np.zeros((3, n), int), 1.0)
    assert len(j.state.entries) == 6 and not any(entry.reports.breaks for entry in j.state.entries)


def sums_beside_rows(x, a, b, c):
    rows = eval("x * 1.0")
    return np.add(*rows) * (a.sum() + b.sum() + c.sum())


@pytest.mark.parametrize("seed", range(3))
def test_guesses_of_axes_come_to_an_end(seed):
    """The rows have no path from function entry. Guards on the lengths of other arrays leave room in the cache."""
    random = np.random.RandomState(seed)
    j = jitted(sums_beside_rows, {"force_breaks": None})
    calls = [[np.ones(random.randint(1, 9, 2)) for _ in range(3)] for _ in range(60)]
    for _ in range(2):
        before = j.cache_info().misses
        for arrays in calls:
            j(X[0, :2], *arrays)
    assert j.cache_info().misses == before


def test_a_further_number_leaves_the_entry_of_the_first():
    def f(x, axis):
        return np.squeeze(x.sum(axis) * 2.0) + x.max(axis)

    j = jitted(f, {"force_breaks": None})
    x = X[:, :3, :3].copy()
    for axis in (0, 0, 1, 1, 1, 0, 0):
        j(x, axis)
    first, last = j.state.entries
    assert last.reports.breaks and not first.reports.breaks
    before = first.program.hits
    j(x, 0)
    assert first.program.hits == before + 1


def test_an_axis_with_many_lengths():
    def f(rows, y):
        total = y * 0.0
        for pair in zip(tuple(rows), tuple(rows)):
            total = total + pair[0] * y[pair[1] > 1.0].sum()
        return total, y[tuple(rows[:, :1].astype(int).T)]

    rows, y = np.arange(40.0).reshape(20, 2) % 3, np.arange(2.0) + 1.0
    check(f, rows[:4], y[:2], others=[(rows[:n], y) for n in (4, 5, 6, 7, 8, 20, 4, 5)], config={"cache_limit": 20})


def test_constant_slices_of_an_axis_with_many_lengths():
    """They are expected to select as many elements of all lengths."""
    def f(x):
        return np.hypot(*x[:2]) + np.subtract(*x[-2:]) * np.add(*x[1:-1][::3][:2])

    rows = np.arange(80.0).reshape(20, 4)
    calls = [(rows[:n],) for n in (6, 7, 8, 9, 10, 20, 6, 2, 1)]
    check(f, *calls[0], others=calls[1:], config={"cache_limit": 20})
    j = jitted(f, {"force_breaks": None})
    for call in 2 * calls[:6]:
        j(*call)
    assert_calls(j, [HIT, HIT], [(rows[:12],), (rows[:15],)])
    assert j.cache_info().misses == 4 and not j.state.entries[-1].reports.breaks


def rows_of_pairs(x, y):
    parts = tuple(row * 2.0 for row in x)
    kept = ()
    for part in parts:
        y = y + part.sum()
        kept += (part * y,)
    return np.stack(kept), len(kept), kept[-1], parts[0]


def test_loops_over_tuples_of_unknown_length():
    with fail_unless_captured():
        check(rows_of_pairs, X[0], 1.0, others=[(X[1], 2.0), (X[0, :2], 1.0), (X[:, 0], 1.0), (X, 1.0), (X[0, :1], 1.0)],
              config={"force_breaks": None})


def test_a_store_through_an_index():
    def f(x, i, v):
        r = x.copy()
        r[tuple(i.T)] = v
        np.add.at(r, tuple(i.T), v)
        return r * 2.0

    with fail_unless_captured():
        check(f, X[0], PLACES[:, :2], 0.5, others=[(X[0], PLACES[:, :1], np.arange(4.0)[:, None]), (X[0], PLACES + 7, 1.0), (X[0], PLACES[:2], 1.0)])


def test_a_loop_that_writes_what_it_reads():
    """The rows of an unrolled loop are views, which see stores of earlier iterations."""
    def f(x, i):
        seen = ()
        for row in x:
            seen += (row.sum(),)
            x[...] = x * 2.0
        return seen, x[tuple(i.T)]

    check(f, X[0].copy(), PLACES, others=[(X[1].copy(), PLACES), (X[0, :3].copy(), PLACES[:, :1])])


SPLIT = {
    "np.split(x, 2)": (4, 5), "np.split(x, n, 1)": (4, 6), "np.split(x, [1, 3])": (4, 5), "np.split(x, (n, -1), axis=-1)": (4, 5),
    "np.split(x, [], 1)": (4, 5), "np.split(x, [2, 1, 9])": (4, 5),
}


@pytest.mark.parametrize("call", sorted(SPLIT))
def test_parts_of_arrays(call):
    """The parts are views. Lengths that do not divide raise NumPy's error."""
    f = define("def f(x, n):\n    parts = %s\n    parts[0][...] = 7.0\n    return parts, [one.sum() for one in parts], x * 2.0" % call)
    x = np.arange(float(np.prod(SPLIT[call]))).reshape(SPLIT[call])
    with fail_unless_captured():
        check(f, x, 3, others=[(x.copy("F"), 3), (x.T.copy(), 3), (x[:3, :3].copy(), 3), (x, 2), (x[0].copy(), 3), (x[:0], 3)])


def added(x, y):
    return np.add(*x) * 2.0, np.maximum(y, *x[:1])


def far(x):
    return np.take(x, 6, axis=1) * 2.0, np.delete(x, 5, axis=1) + 1.0


def test_star_arguments_and_large_constants():
    with fail_unless_captured():
        check(added, X[0, :2], 1.0, others=[(X[0, :2] * 2.0, 2.0), (X[0, :3], 1.0), (X[0, :1], 1.0)])
        check(far, X.reshape(6, 10), others=[(X.reshape(10, 6),), (X.reshape(5, 12),)])


def sums_and_places(x, i):
    total = 0.0
    for k in range(x.shape[0]):
        for m in range(x.shape[1]):
            for n in range(x.shape[0]):
                total += x[k, m] * x[n, m]
    return total, x[tuple(i.T)]


def test_other_loops_stay_loops():
    """Only the loops that make the tuple are unrolled, so that only their lengths are guarded."""
    j = jitted(sums_and_places, {"force_breaks": None})
    x = np.ones((16, 16))
    for _ in range(3):
        j(x, PLACES)
    report = pijit.explain(j, x, PLACES)
    assert not report.breaks and "L['i'].shape[1] == 2" in str(report) and "L['x'].shape" not in str(report), str(report)
    check(sums_and_places, x, PLACES, others=[(x[:5], PLACES), (x[:, :3].copy(), PLACES), (x, PLACES[:, :1])])


def test_loops_whose_unrolling_does_not_help_stay_loops():
    def f(x, i):
        places = []
        for k in range(i.shape[1]):
            places.append(i[:, k])
        total = 0.0
        for k in range(x.shape[0]):
            for m in range(x.shape[1]):
                total += x[k, m] * m
        return total, x[tuple(sorted(i[:, 0])[:2])], places

    j = jitted(f, {"force_breaks": None})
    x = np.ones((16, 16))
    for _ in range(3):
        j(x, PLACES)
    report = pijit.explain(j, x, PLACES)
    line = f.__code__.co_firstlineno
    assert {line + k for k in range(1, 8)} <= {k for one in report.kernels for k in one.lines} and "] ==" not in str(report), str(report)
    check(f, x, PLACES, others=[(x[:5], PLACES), (x[:, :3].copy(), PLACES), (x, PLACES[:, :1])])


@pytest.mark.parametrize("outer, inner", [("range(len(x))", "range(2)"), ("range(len(x))", "range(x.shape[1] - 2)"), ("range(3)", "range(2)")])
def test_nested_loops(outer, inner):
    """Both loops are unrolled. An exit inside makes both iterators."""
    f = define("def f(x, functions):\n    total = 0.0\n    for k in %s:\n        for m in %s:\n"
               "            total = functions[(k + m) %% 2](total + x[k, m] / x[0, m])\n    return total" % (outer, inner))
    x, functions = X[0, :3] + 1.0, [np.sin, np.cos]
    with fail_unless_captured():
        check(f, x, functions, others=[(x * 2.0, functions), (x[:2], functions), (x[:, :3], functions), (X[0, :3], functions)],
              config={"force_breaks": None})
    j = jitted(f, {"force_breaks": None})
    for _ in range(3):
        j(x, functions)
    assert not pijit.explain(j, x, functions).breaks, str(pijit.explain(j, x, functions))


ONE_OF_TWO = {
    "x[tuple(i.T)] + k.sum()": "i", "x[tuple((i.T * 1)[::-1])] + k.sum()": "i", "x[tuple(i.astype(np.int32).T)] + k.sum()": "i",
    "x[tuple((k[:, :1] * 0 + i).T)] + k.sum()": "i", "x[tuple(np.minimum(k, i[:, 1:]).T)] + i.sum()": "k", "x[tuple(np.sort(i, axis=1).T)] + k.sum()": "i",
    "x[tuple(np.stack((k[0], k[1])).T)] + i.sum()": "k", "x[tuple(np.zeros(k.shape, int).T)] + i.sum()": "k", "x[tuple(k.max(axis=0))] + i.sum()": "k",
    "x[tuple(np.concatenate((k, k)).T)] + i.sum()": "k", "x[tuple(np.roll(i, 1, axis=1).T)] + k.sum()": "i", "x[tuple(i[None][0].T)] + k.sum()": "i",
}


@pytest.mark.parametrize("expression", sorted(ONE_OF_TWO))
def test_guards_are_on_the_axes_that_decide(expression):
    """Of two arrays of equal lengths, a guard is on the one whose length makes the tuple. The other's may change."""
    f = define("def f(x, i, k):\n    return %s" % expression)
    name = ONE_OF_TWO[expression]
    given, other = {"i": PLACES % 3, "k": PLACES[::-1] % 3}, "ik".replace(name, "")
    with fail_unless_captured():
        j = jitted(f, {"force_breaks": None})
        for _ in range(3):
            j(X, given["i"], given["k"])
        text = str(pijit.explain(j, X, given["i"], given["k"]))
        assert "L['%s'].shape[1] == 2" % name in text and "L['%s'].shape[" % other not in text and "L['x'].shape[" not in text, text
        check(f, X, given["i"], given["k"], others=[(X, given["i"][:, :1], given["k"]), (X, given["i"], given["k"][:, :1]), (X, given["i"][:3], given["k"][:3]), (X[:, :2], given["i"], given["k"])],
              config={"force_breaks": None})


def test_the_other_array_of_equal_length_changes():
    j = jitted(define("def f(x, i, k):\n    return x[tuple(i.T)] + k.sum()"), {"force_breaks": None})
    wide = np.column_stack((PLACES, PLACES))
    assert_calls(j, [MISS, HIT, HIT, HIT, MISS],
                 [(X, PLACES, PLACES), (X, PLACES, PLACES), (X, PLACES, wide), (X, PLACES, wide[:3]), (X, PLACES[:, :1], PLACES)])


def test_lengths_that_no_array_decides():
    """The length of an array of constant shape needs no guard. A length after branches follows from both of them."""
    j = jitted(define("def f(x, i, k):\n    return x[tuple(np.zeros((2, 4), int))] + i.sum() + k.sum()"), {"force_breaks": None})
    assert_calls(j, [MISS, HIT, HIT], [(X, PLACES, PLACES), (X, PLACES[:3], PLACES), (X[:2], PLACES, PLACES)])
    assert ".shape[" not in str(pijit.explain(j, X, PLACES, PLACES))
    f = define("def f(x, i, k):\n    if x[0, 0, 0] > 0:\n        i = k\n    return x[tuple((i * 1).T)] + k.sum()")
    j = jitted(f, {"force_breaks": None})
    for _ in range(2):
        j(X, PLACES, PLACES)
    text = str(pijit.explain(j, X, PLACES, PLACES))
    assert "L['i'].shape[1] == 2" in text and "L['k'].shape[1] == 2" in text, text
    check(f, X, PLACES, PLACES, others=[(X + 1, PLACES, PLACES), (X, PLACES[:, :1], PLACES), (X + 1, PLACES, PLACES[:, :1])])
