"""``f(a, *array)``: arrays and long lists whose items are the arguments of a Python function."""

import sys

import numpy as np
import pytest

from pijit import jit
from tests.harness import check, fail_unless_captured, nothing_breaks, same_answers

X = np.linspace(0.5, 3.0, 6)
P = np.array([2.0, -1.5, 0.25])
M = np.arange(12.0).reshape(4, 3)
PYTHON = {"backend": "python"}


def quadratic(x, a, b, c=1.0):
    return a * x * x + b * x + c


def three(a, b, c):
    return a * b - c


def any_number(*values):
    return len(values)


@jit
def jitted(a, b, c):
    return (a + b) * c


class Model:
    def __init__(self, scale):
        self.scale = scale

    def at(self, x, a, b):
        return x * self.scale + a - b


def of_a_vector(x, p):
    return three(*p) * 2.0 + jitted(*p), type(p[0])


def behind_others(x, p):
    def local(x, a, b, c):
        return x * a - b * c
    residuals = local(x, *p) - quadratic(x, *p[:2])
    return (residuals * residuals).sum(), Model(2.0).at(x, *p[:2])


def of_rows(x, m):
    total = 0.0
    for row in m:
        total += three(*row) + three(1.0, *row[1:])
    return total, three(*m[:3])


def of_lists(x, m):
    made = []
    for v in x[:3]:
        made.append(v * 2.0)
    return three(*made), three(*[v + 1.0 for v in m[0]])


def wrong_numbers(x, p):
    total = x[0] * 2.0 + x[1]
    found = [any_number(*p), any_number(total, *p), max(*p)]
    try:
        three(*p)
    except TypeError as error:
        found.append(str(error))
    try:
        found.append(three(x[0], *p))
    except TypeError as error:
        found.append(str(error))
    return found, quadratic(x, *p), quadratic(x, *p[1:], c=2.0)


OTHERS = [(X, P.astype(int)), (X[:2], P * 0.5), (X, P[:2]), (X, np.arange(4.0)), (X, P[:0]), (X, (1.0, 2.0, 3.0)),
          (X, [1.0, 2, 3.0]), (X, 2.0)]
ROWS = [(X, M[:3] * 0.5), (X, M.T), (X, M.astype(np.float32)), (X, M[:0]), (X, M[0])]
WHOLE = [(of_a_vector, (X, P), OTHERS), (behind_others, (X, P), OTHERS), (of_rows, (X, M), ROWS),
         (of_lists, (X, M), ROWS)]

test_same_answers = same_answers(WHOLE + [(wrong_numbers, (X, P), OTHERS)], PYTHON)
INLINED = sys.version_info >= (3, 12)
"""Comprehensions are loops of the function itself, so that the number of items of what they make is not known."""
test_nothing_breaks = nothing_breaks(WHOLE[:-1] if INLINED else WHOLE)


@pytest.mark.parametrize("f, args", [(of_rows, (X, M)), (behind_others, (X, P))], ids=["rows", "others"])
def test_in_machine_code(f, args):
    with fail_unless_captured():
        check(f, *args, others=[(X * 2.0, args[1] * 0.5)])
