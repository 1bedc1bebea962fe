"""What only happens where a loop has no rounds takes nothing from the paths that are usual."""

import numpy as np
import pytest

import pijit
from tests.harness import check, fail_unless_captured, kernel_count

X = np.linspace(-1.0, 2.0, 20)
GRID = X.reshape(4, 5) ** 2


def three_sums(n, x):
    a = b = c = 0.0
    for i in range(n):
        a = a * 0.5 + x[i & 7] * x[(i + 1) & 7]
    for i in range(n):
        b += x[i & 7] * a
    for i in range(n):
        c += x[i & 3] - b
    return a, b, c


def comprehension_of_what_a_loop_leaves(n, x):
    part = 0.0
    for i in range(n):
        part = x[i:i + 3] * 2.0
    return sum(part[k] * k for k in range(3))


def sum_goes_on_in_the_next_round(x, weights, rounds):
    n = x.shape[1]
    for _ in range(rounds):
        rows = sum(weights[i] * x[:, i:i + n - 2] for i in range(3))
        x = np.pad(rows, 1, mode="edge")
    return x


@pytest.mark.parametrize("function, args, others", [
    (three_sums, (9, X), [(0, X), (1, X)]),
    (sum_goes_on_in_the_next_round, (GRID, X[:3], 3), [(GRID, X[:3], 0)]),
], ids=lambda value: getattr(value, "__name__", ""))
@fail_unless_captured(1)
def test_answers(function, args, others):
    check(function, *args, others=others)


def whole(function, *args):
    f = pijit.jit(function)
    for _ in range(3):
        f(*args)
    return kernel_count(f) >= 1 and not pijit.explain(f).breaks


def test_a_third_loop_is_compiled_for_what_two_have_left():
    f = pijit.jit(three_sums)
    for _ in range(3):
        assert f(9, X) == three_sums(9, X)
    assert [launcher.misses for launcher in f.state.entries[-1].launchers if launcher.calls > launcher.misses] == [0]


def test_sums_of_generators_have_the_type_of_their_items():
    assert whole(sum_goes_on_in_the_next_round, GRID, X[:3], 3)


@fail_unless_captured(1)
def test_what_cannot_be_inlined_on_a_rare_path():
    check(comprehension_of_what_a_loop_leaves, 4, X, others=[(1, X), (0, X)])


def test_a_rare_path_leaves_others_inlined():
    f = pijit.jit(comprehension_of_what_a_loop_leaves)
    for _ in range(3):
        f(4, X)
    inlined = [segment for segment in pijit.explain(f).segments if segment.kind == "kernel" and segment.inlined]
    assert inlined and f.state.entries[-1].launchers[0].misses == 0
