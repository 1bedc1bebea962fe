"""Loops over long lists of numbers, arrays, strings and tuples: native, from wherever control comes to their headers."""

import numpy as np
import pytest

import pijit
from tests.capture.containers.effects_common import launches
from tests.harness import check, fail_unless_captured, jitted, mode_config, same_answers

X = np.linspace(-2.0, 3.0, 50)
FLOATS = [0.5 * k for k in range(40)]
INTS = list(range(30)) * 2
ARRAYS = [X * k for k in range(20)]
PAIRS = [(k, 0.5 * k) for k in range(30)]
ROWS = [("a" if k % 2 else "b", (X, k)) for k in range(20)]
PYTHON = {"backend": "python"}


def numbers(xs, x):
    s = 0.0
    for v in xs:
        s += v * 2.0
    return s, v


def positions(xs, x):
    s = 0.0
    for i, k in enumerate(xs, 1):
        if k == 29:
            continue
        s += x[k] * i
    for a, k in zip(x, xs):
        s -= a * k
    return s


def arrays(xs, x):
    s, last = 0.0, x
    for v in xs:
        s += v[0] * 2.0
        last = v + last
    return s, last, v


def pairs(xs, x):
    s = 0.0
    for a, b in xs:
        s += a * b
    for i, (a, b) in enumerate(xs):
        s -= a * i
    return s, a, b


def rows(xs, d):
    s = 0.0
    for name, (x, k) in xs:
        s += d[name] * x[k]
    return s, name


def with_a_break(xs, x):
    s = 0.0
    for v in xs:
        s += x[0] * v
        if s > 40.0:
            print("now", v)
            s = s * 0.5
        if s < -100.0:
            break
    else:
        s = -s
    return s


def growing(xs, x):
    ys = list(xs)
    for v in ys:
        if v > 0 and len(ys) < 200:
            ys.append(v - 1)
    return ys, len(xs)


def nested(xs, x):
    s = 0.0
    for v in xs:
        for w in xs:
            s += v * w
    return s


def strings(xs, d):
    s = 0.0
    for name in xs:
        s += d[name]
    return s, name


MIXED = FLOATS[:20] + [3] + FLOATS[20:]
CASES = [
    (numbers, (FLOATS, X), [(INTS, X), (MIXED, X),
                            (FLOATS[:20] + ["text"], X), (FLOATS[:1], X), ([], X), (list(X), X)]),
    (positions, (INTS, X), [(INTS + [77], X), (INTS[:20] + [2 ** 70], X), ([1, 2], X)]),
    (arrays, (ARRAYS, X), [(ARRAYS + [X.astype("f")], X), (ARRAYS[:2], X), (ARRAYS + [3.0], X)]),
    (pairs, (PAIRS, X), [(PAIRS + [(1, 2)], X),
                         (PAIRS + [(1.0, 2.0, 3.0)], X), (PAIRS + [[1, 0.5]], X), (PAIRS[:3], X)]),
    (rows, (ROWS, {"a": 1.0, "b": 2.0}),
     [(ROWS + [("c", (X, 1))], {"a": 1.0, "b": 2.0}), (ROWS, {"a": 1, "b": 2.0})]),
    (with_a_break, (FLOATS, X), [(FLOATS, -X), (INTS, X), (FLOATS[:3] * 2, X)]),
    (growing, (FLOATS, X), [(INTS, X), (FLOATS[:3], X)]),
    (nested, (FLOATS, X), [(MIXED, X)]),
    (strings, (["a", "b"] * 12, {"a": 1.0, "b": 2.0}),
     [(["a", "b"] * 12 + ["c"], {"a": 1.0, "b": 2.0}), (["a"], {"a": 1.5})]),
]
IDS = [case[0].__name__ for case in CASES]


test_same_answers = same_answers(CASES, PYTHON)


@pytest.mark.parametrize("f, args", [case[:2] for case in CASES if case[0] is not with_a_break],
                         ids=[name for name in IDS if name != "with_a_break"])
def test_nothing_breaks(f, args):
    j = pijit.jit(f, jit_config=PYTHON)
    j(*args)
    report = pijit.explain(j, *args)
    behind_the_loop = [one for one in report.breaks if one.reason_id == "PJ212"]
    assert report.kernels and len(behind_the_loop) == len(report.breaks), str(report)


@pytest.mark.parametrize("f, args", [(pairs, (PAIRS, X)), (arrays, (ARRAYS, X)), (with_a_break, (FLOATS, X))],
                         ids=["pairs", "arrays", "with_a_break"])
def test_in_machine_code(f, args):
    with fail_unless_captured():
        check(f, *args, others=[(args[0][:7] + [None] * 13, X)])


def test_a_break_in_the_body_keeps_the_kernel():
    def f(xs, x):
        s = 0.0
        for i, v in enumerate(xs):
            s += x[i] * v + x[0] * 0.5 - x[1] * v
            if i == 30:
                print(s)
        return s

    if "force_breaks" not in mode_config():
        assert launches(jitted(f, PYTHON), FLOATS, X) in (2, 3)
    short = FLOATS[:8]
    assert str(pijit.explain(jitted(f, PYTHON), short, X))
    check(f, FLOATS, X, others=[(short, X)], config=PYTHON)


def test_subclasses_of_list():
    class Backwards(list):
        def __iter__(self):
            return reversed(self)

    class Other(list):
        def __getitem__(self, key):
            return -1.0

    check(numbers, FLOATS, X, others=[(Backwards(FLOATS), X), (Other(FLOATS), X)], config=PYTHON)
    check(numbers, Other(FLOATS), X, config=PYTHON)


def test_a_list_that_shrinks_under_the_loop():
    def f(xs, x):
        s = 0.0
        for v in xs:
            s += v * x[0]
            if len(xs) > 10:
                xs.pop()
        return s, len(xs)

    with fail_unless_captured():
        check(f, list(FLOATS), X, others=[(list(INTS), X)], config=PYTHON)


def backwards(x, rows, a):
    """What has been collected, from its end on, while lists change."""
    seen, total = [], 0.0
    for v in x:
        seen.append(v * a)
    for v in reversed(seen):
        total = total * 0.5 + v
    for i, v in enumerate(reversed(rows)):
        total -= i * v
        if i == 1:
            rows.append(v)
    for v in reversed(seen):
        total += v
        seen.pop()
        if len(seen) == 2:
            seen.clear()
    back = reversed(rows)
    return total, seen, rows, list(reversed(rows)), next(back, None), type(back)


def test_backwards():
    rows = [float(k) for k in range(30)]
    others = [(X, rows[:3], 2.0), (X[:1], rows, 1), (X.astype(int), list(range(20)), 2.0), (X[:0], [], 2.0),
              (X, rows[:18] + ["text"] + rows[:3], 2.0), (X, tuple(rows), 2.0), (X, rows + [None], 3.0)]
    check(backwards, X, rows, 2.0, others=others, config={"backend": "python"})
    with fail_unless_captured():
        check(backwards, X, rows, 2.0, others=others[:3])


def test_backwards_where_kernels_leave(leaves_often):
    check(backwards, X, [float(k) for k in range(30)], 2.0, config={"backend": "python"})
    assert leaves_often
