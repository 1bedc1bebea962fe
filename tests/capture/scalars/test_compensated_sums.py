"""The builtin ``sum`` of floats: from CPython 3.12 on it keeps what rounding has lost, and kernels do as it does."""

import random

import numpy as np
import pytest

from tests.harness import check, fail_unless_captured

INF = float("inf")
_random = random.Random(1)
NUMBERS = [_random.uniform(-1e10, 1e10) for _ in range(100)]
LISTS = [[1e308, 1e308, -1e308] * 30, [INF, 1.0, -INF], [-0.0] * 5, [0.1] * 10, [1e16, 1.0, -1e16], [float("nan"), 1.0], [],
         [1, 2.5, True, 3, 1e100, 1, -1e100]]


def of_generators(xs, k):
    return sum(x * k for x in xs), sum(x for x in xs if x > 0)


def of_lists(xs, k):
    return sum(xs), sum(xs, k), sum([x * k for x in xs], 0.5)


def of_counts(xs, k):
    total = sum(i for i in range(len(xs)))
    return total + sum(i * 0.1 for i in range(len(xs))) * k


def of_elements(xs, k):
    return sum(x for x in np.asarray(xs, float)) * k


@pytest.mark.parametrize("f", [of_generators, of_lists, of_counts, of_elements], ids=lambda f: f.__name__)
@pytest.mark.parametrize("backend", ["python", "numba"])
def test_sums_are_those_of_the_builtin(f, backend):
    with fail_unless_captured(), np.errstate(all="ignore"):
        check(f, NUMBERS, 0.1, others=[(xs, 3.0) for xs in LISTS] + [(NUMBERS, 2)], config={"backend": backend})
