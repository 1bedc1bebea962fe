"""The programs of the gradient benchmark run by kernels, with the tape's bits."""

import numpy as np
import pytest

import pijit
from benchmarks.gradients import PROGRAMS, rows
from pijit.core.pythons import why_not_python

pytestmark = pytest.mark.skipif(why_not_python() is not None, reason="nothing is compiled here")


def small(argument):
    """A smaller argument: few iterations, few elements of vectors."""
    if isinstance(argument, int):
        return min(argument, 4)
    return argument[:50].copy() if isinstance(argument, np.ndarray) and argument.ndim == 1 and len(argument) > 500 \
        else argument


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.function.__name__)
def test_programs_run_by_kernels(program):
    arguments = tuple(map(small, next(iter(program.arguments.values()))))
    gradient = pijit.value_and_grad(program.function, program.argnums)
    for _ in range(4):
        value, gradients = gradient(*arguments)
    assert gradient._kernels.why == ""
    wanted = gradient._run(arguments, {})
    assert value == wanted.value
    for one, other in zip(gradients, wanted.gradients):
        assert np.asarray(one).tobytes() == np.asarray(other).tobytes()


def test_a_row():
    row, = rows(0.0, "horner")
    assert row.why == "" and {"numpy", "kernel", "pijit"} <= set(row.seconds) and "| horner | 1000 |" in str(row)
