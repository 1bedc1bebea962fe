"""Local variables that have no value on some way: paths that raise do not keep the others from being kernels."""

import numpy as np
import pytest

import pijit
from pijit.core._launcher import Launcher
from tests.capture.containers.effects_common import CUT, launches
from tests.harness import check, fail_unless_captured

X = np.array([0.5, 3.0, -1.0, 0.25, 8.0])


def steps(x, limit):
    for k in range(limit):
        if x[k] > 2.0:
            break
    return k


def escape(out, x, limit):
    for y in range(len(out)):
        z = 0.0
        for k in range(limit):
            z = z * z + x[k]
            if abs(z) > y:
                break
        out[y] = k
    return out


def last(out, x, limit):
    for y in range(len(out)):
        for k in range(limit):
            if x[k] > y:
                break
        out[y] = k
    return out


def deleted(x, n):
    total = 0.0
    value = 1.0
    for i in range(n):
        total += x[i] * value
        if total > 3.0:
            del value
    return total


def mandelbrot(out, limit):
    height, width = out.shape
    for y in range(height):
        for x in range(width):
            c = complex(-2.0 + 3.0 * x / width, -1.5 + 3.0 * y / height)
            z = 0j
            for k in range(limit):
                if abs(z) > 2.0:
                    break
                z = z * z + c
            out[y, x] = k
    return out


def behind_a_break(out, x, above):
    for y in range(len(out)):
        print(y)
        s = 0.0
        for i in range(len(x)):
            s = s * 0.5 + x[i] * y
            if s > above:
                best = s + i
        out[y] = best * 2.0 + s
        print(out[y])
    return out


def deleted_in_between(out, x, at):
    for y in range(len(out)):
        scale = 2.0
        if y == at:
            del scale
        print(y)
        s = 0.0
        for i in range(len(x)):
            s = s * 0.5 + x[i] * y
        out[y] = s * scale + s
    return out


def handled(out, x, bad):
    for y in range(len(out)):
        try:
            print(x[y * bad])
            ratio = 1.0 / (y - 3)
        except (IndexError, ZeroDivisionError) as error:
            print(str(error))
        s = 0.0
        for i in range(len(x)):
            s = s * 0.5 + x[i] * y
        out[y] = s * ratio
    return out


def handler_knows_either(x, n):
    total = 0.0
    for y in range(n):
        try:
            part = x[y] * 2.0
            other = x[y + 1] / part * part
        except IndexError:
            s = 0.0
            for i in range(len(x)):
                s = s * 0.5 + x[i] * part
            total += s + other
    return total


def exception_variable(x, n, error, total):
    for y in range(n):
        for i in range(len(x)):
            total = total * 0.5 + i * error
        try:
            print(x[y])
        except IndexError as error:
            print(str(error))
    return total * error


CASES = [
    (mandelbrot, (np.zeros((9, 8)), 30), [(np.zeros((9, 8)), 0), (np.zeros((0, 8)), 0), (np.zeros((2, 3)), 1)]),
    (behind_a_break, (np.zeros(6), X, -9.0), [(np.zeros(6), X, 2.0), (np.zeros(6), X, 1e3), (np.zeros(0), X, 1e3)]),
    (deleted_in_between, (np.zeros(6), X, 9), [(np.zeros(6), X, 3), (np.zeros(6), X, 0), (np.zeros(6), -X, 9)]),
    (handled, (np.ones(5), X, 0), [(np.ones(5), X[1:], 1), (np.ones(9), X, 1), (np.ones(5), X[:0], 1)]),
    (handler_knows_either, (X, 9), [(X[:1], 1), (X[:1], 2), (X[:0], 1), (X, 5)]),
    (exception_variable, (X, 5, 2.0, 3.0), [(X, 6, 2.0, 3.0), (X, 7, 2.0, 3.0), (X[:0], 1, 2, 3.0)]),
    (steps, (X, 5), [(X, 0), (X, 1), (-X, 5), (X, 9)]),
    (escape, (np.zeros(4), X, 5), [(np.zeros(4), X, 0), (np.zeros(0), X, 0), (np.zeros(4), X, 1)]),
    (last, (np.zeros(4), X, 5), [(np.zeros(4), X, 0), (np.zeros(0), X, 0), (np.zeros(4), X, 1)]),
    (deleted, (X, 2), [(X, 5), (-X, 5), (X, 0)]),
]


@pytest.mark.parametrize("f, args, others", CASES, ids=[case[0].__name__ for case in CASES])
def test_same_answers(f, args, others):
    check(f, *args, others=others)


@pytest.mark.skipif(CUT, reason="every instruction is a segment")
def test_a_loop_variable_that_is_read_behind_the_loop():
    with fail_unless_captured():
        j = check(escape, np.zeros(4), X, 5, others=[(np.zeros(4), X, 0)])
    report = pijit.explain(j, np.zeros(4), X, 5)
    assert report.kernels and not report.breaks, str(report)


@pytest.mark.skipif(CUT, reason="every instruction is a segment")
@pytest.mark.parametrize("f, args, others, rounds", [
    (mandelbrot, (np.zeros((9, 8)), 30), [], 1), (behind_a_break, (np.zeros(9), X, -9.0), [], 9),
    (deleted_in_between, (np.zeros(9), X, 10), [(np.zeros(9), X, 3)], 9),
    (handled, (np.zeros(9), X, 1), [], 9), (exception_variable, (X, 5, 2.0, 3.0), [(X, 7, 2.0, 3.0)], 5),
], ids=["mandelbrot", "behind_a_break", "deleted_in_between", "handled", "exception_variable"])
def test_segments_begin_where_a_variable_may_be_unbound(f, args, others, rounds):
    with fail_unless_captured():
        j = check(f, *args, others=others)
    assert launches(j, *args) >= rounds, str(pijit.explain(j, *args))


@pytest.mark.parametrize("beyond, bound", [(0, (0, 12)), (1, (-1, None))])
def test_a_launcher_whose_slots_are_not_all_bound_misses(beyond, bound):
    def call(value, bind):
        for other in [value] * bind:
            pass
        return run(value)
    names = call.__code__.co_varnames
    slots = (names.index("other"), len(names))[:1 + beyond]
    run = Launcher(None, None, None, (("int",),) * (1 + len(slots)), 8, 8, lambda *numbers: (0, sum(numbers)),
                   ((("int", 5),),), 1, "sum", slots=slots).callable
    assert call(6, 1) == bound and call(6, 0) == (-1, None)


def test_slots_are_numbers_from_0_on():
    with pytest.raises(ValueError):
        Launcher(None, None, None, (), 3, 3, lambda: (0,), ((),), 0, "wrong", slots=(-1,))
