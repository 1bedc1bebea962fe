"""Plans of stores into existing arrays, as `print_after_all` and `pijit.dump` show them."""

import copy

import numpy as np
import pytest

import pijit
from tests.harness import check, jitted

X, Y = np.linspace(0.5, 1.5, 600), np.linspace(1.0, 2.0, 600)
I = np.arange(600)
NUMBA = {"backend": "numba", "force_breaks": None}


def new_memory(x, y):
    z = np.empty_like(x)
    z[:] = x * 2.0 + y
    return z


def other_array(x, y):
    x[1:] = y[1:] * 2.0 + 1.0


def own_elements(x, y):
    x += y * 2.0 + 1.0


def neighbours(x, y):
    x[1:-1] = x[:-2] * 0.5 + x[2:] * 0.25


def neighbours_of_integers(x, y):
    x[1:-1] = x[:-2] * 3 + x[2:]


def every_other(x, y):
    x[:300] = x[::2] * 0.5 + y[:300]


def division(x, y):
    x[1:] = 1.0 / x[:-1] + y[1:]


def plans(f, *args):
    """The plans of a function's kernels, as `pijit.dump` has them."""
    j = jitted(f, NUMBA)
    for _ in range(3):
        j(*map(copy.copy, args))
    return [line for entry in j.state.entries for line in entry.record.plan.splitlines()
            if line.startswith("store into")]


@pytest.mark.parametrize("f, x, strategy, rest", [
    (new_memory, X, "into new memory", ()),
    (other_array, X, "one nest, through a buffer if a test demands it", ("compares memory with",)),
    (own_elements, X, "one nest, through a buffer if a test demands it", ("reads the written elements as",
                                                                         "compares memory with")),
    (neighbours, X, "delayed stores, or by blocks, through a buffer", ("reads itself at",)),
    (neighbours_of_integers, I, "by blocks, through a buffer", ("reads itself at",)),
    (every_other, X, "by blocks, through a buffer", ("all rows at once", "reads itself at", "compares memory with")),
    (division, X, "by blocks, through a buffer", ("waits for flags", "all rows at once", "reads itself at",
                                                  "compares memory with")),
], ids=lambda value: getattr(value, "__name__", ""))
def test_strategies(f, x, strategy, rest):
    pytest.importorskip("numba")
    y = Y if x is X else I
    found = plans(f, x, y)
    assert found
    head, *parts = found[0].partition(": ")[2].split("; ")
    assert head == strategy
    assert [part.rpartition(" %")[0].partition(" %")[0] or part for part in parts] == list(rest)
    check(f, x, y, config=NUMBA, others=[(x[::-1], y), (x[::2], y[:300]), (x, x)])


def next_rows(a, first, step):
    for i in range(first, len(a) - step):
        a[i + step] = a[i] * 0.5 - a[i + step] * 0.25
        a[i + step, 1:] = a[i, :-1] + a[i + step, 1:]


def test_other_rows_are_compared():
    """Indices may name one row: negative ones count from the end."""
    pytest.importorskip("numba")
    a = np.linspace(0.5, 1.5, 90).reshape(6, 15)
    assert [head.partition(": ")[2] for head in plans(next_rows, a, 0, 1)][0].startswith(
        "one nest, through a buffer if a test demands it")
    check(next_rows, a, 0, 1, config=NUMBA, others=[(a, -3, 2), (a, -6, 6), (a[:1], -1, 1), (a[:2], -2, 2), (a, 0, 0),
                                                    (a[::-1], 0, 1), (a.T, 0, 1), (a[:, ::2], -1, 1)])


def one_operation(x, y):
    x += y


def test_nests_of_one_operation_are_printed():
    pytest.importorskip("numba")
    j = jitted(one_operation, NUMBA)
    j(X.copy(), Y)
    assert any("\nnests of one operation: ufunc_into into %" in "\n" + entry.record.plan for entry in j.state.entries)


def test_plans_are_printed(capsys):
    pytest.importorskip("numba")
    j = jitted(neighbours, dict(NUMBA, print_after_all=True))
    j(X.copy(), Y)
    printed = capsys.readouterr().out
    assert "*** Kernel plan: neighbours ***\nplan of neighbours" in printed
    assert "\nstore into %" in printed and "\none nest: %" in printed


def test_plans_are_dumped(tmp_path):
    pytest.importorskip("numba")
    pijit.dump(neighbours, tmp_path, X.copy(), Y)
    text = "".join(path.read_text() for path in tmp_path.rglob("plan.txt"))
    assert "reads itself at %" in text
