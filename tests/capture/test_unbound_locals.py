"""Local variables that have no value on some way: paths that raise do not keep the others from being kernels."""

import numpy as np
import pytest

import pijit
from effects_common import CUT
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


CASES = [
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
    assert len(report.kernels) == 1 and not report.breaks, str(report)
