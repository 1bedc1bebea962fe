"""Rows of different lengths: NumPy before 1.24 warns once, at the program's line, and later versions raise."""

import numpy as np
import pytest

from tests.harness import assert_nothing_breaks, check, fail_unless_captured

ROWS = [np.array([1.0, 2.0]), np.array([1.0])]
EVEN = [np.array([1.0, 2.0]), np.array([3.0, 4.0])]


def as_array(rows):
    made = np.asarray(rows)
    return made.shape, made.dtype


def largest(rows):
    return np.max(np.array(rows)), len(rows)


def joined(rows):
    return np.concatenate(rows), np.hstack(rows)


@pytest.mark.parametrize("breaks", [None, "every"])
@pytest.mark.parametrize("function", [as_array, largest, joined])
@pytest.mark.parametrize("first, other", [(ROWS, EVEN), (EVEN, ROWS), ([[1.0, 2.0], [1.0]], [[1.0, 2.0], [3.0, 4.0]])],
                         ids=["ragged", "even", "lists"])
def test_warnings_and_errors_come_once(function, first, other, breaks):
    check(function, first, config={"force_breaks": breaks}, others=[(other,), (first,), (other,)])


def grown(x, n):
    rows = []
    for k in range(n):
        rows.append(x * k)
    return np.array(rows), np.max([x, x[::-1]]), np.array([[x[0], 1.0], [2.0, x[1]]])


@fail_unless_captured()
def test_even_rows_are_converted_in_kernels():
    assert_nothing_breaks(grown, np.arange(3.0), 4)
    check(grown, np.arange(3.0), 4, others=[(np.arange(5.0), 2), (np.arange(4.0), 0)])
