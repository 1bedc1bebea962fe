"""``min`` and ``max`` of numbers of two types: what follows has a version for either answer."""

import numpy as np
import pytest

import pijit
from tests.capture.containers.effects_common import launches
from tests.harness import check, fail_unless_captured, jitted, mode_config, same_answers

X = np.array([2.5, -1.0, 7.0, 0.5, 3.0, -0.0, 0.25])
I = np.array([3, 0, -2, 7, 7, 1])
NAN = np.array([np.nan, 1.0, np.nan])
PYTHON = {"backend": "python"}


def clipped(x, low, high):
    y = np.empty(len(x))
    for i in range(len(x)):
        y[i] = min(max(x[i], low), high)
    return y


def largest(x):
    best, worst = 0.0, 100
    for v in x:
        best = max(best, v)
        worst = min(worst, v)
    return best, worst, type(best), type(worst)


def positive(x):
    s, kinds = 0.0, []
    for v in x:
        w = max(0, v)
        s += w * 2.0 - min(1, int(v))
        kinds.append(w)
        s += max(0.0, v)
    return s, kinds


def nested(x, k):
    s = 0.0
    for i, v in enumerate(x):
        s += max(min(v, k), i) if i % 2 else min(v * 2.0, max(k, 1))
    return s, max(x[0], k), x[0] if k else min(k, x[1])


def in_a_callee(x):
    def relu(v):
        return max(v, 0.0) * 1.0

    return [relu(v) for v in x], sum(relu(v) for v in x)


def three(x, k):
    return max(x[0], k, 1), min(x[0], x[1], 0.5), x * 2.0 + 1.0


def of_many(x, k):
    s, found = 0.0, []
    for v in x:
        w = max(v, k, 1, 2.5)
        s += w - min(0, v * 0.5, k, 3.0)
        found.append(w)
        found.append(min(k, 1, v))
    return s, found, max(True, k, 0.5), min(x[0], False, 0)


CASES = [
    (clipped, (X, 0.0, 2.0), [(I, 0, 5), (NAN, 0.0, 1.0), (X, float("nan"), 1.0), (X, 1, 3), (X.astype("f"), 0.0, 2.0)]),
    (largest, (X,), [(I,), (NAN,), (-X,), (X[:0],), (X.astype("f"),)]),
    (positive, (X,), [(I,), (NAN[1:2],), (-X,), (X[:0],)]),
    (nested, (X, 1), [(I, 2), (NAN, 0.5), (X, np.float64(1.5)), (X, 0), (X, "text")]),
    (in_a_callee, (X,), [(I,), (-X,)]),
    (three, (X, 2), [(I, 2.5), (X, None)]),
    (of_many, (X, 2), [(I, 2.5), (NAN, 1), (X, 2.5), (X, np.float64(1.0)), (X, "text")]),
]
IDS = [case[0].__name__ for case in CASES]


test_same_answers = same_answers(CASES, PYTHON)


@pytest.mark.parametrize("f, args", [case[:2] for case in CASES[:3]], ids=IDS[:3])
def test_nothing_breaks(f, args):
    report = pijit.explain(pijit.jit(f, jit_config=PYTHON), *args)
    assert report.kernels and not report.breaks, str(report)


@pytest.mark.parametrize("f, args", [case[:2] for case in CASES[:3]], ids=IDS[:3])
def test_in_machine_code(f, args):
    with fail_unless_captured():
        check(f, *args, others=[(-args[0],) + args[1:]])


@pytest.mark.skipif("force_breaks" in mode_config(), reason="other segments")
def test_one_launch_runs_the_loop():
    assert launches(jitted(clipped, PYTHON), np.tile(X, 50), 0.0, 2.0) == 1
    assert launches(jitted(largest, PYTHON), np.tile(X, 50)) <= 3
