"""Plans of kernels: they are made and printed before the source is written."""

import numpy as np
import pytest
from kernel_graphs import Builder

from pijit.core.graph.types import FLAG, Array, numpy_scalar
from pijit.core.kernel.compile import CompileError, Kernel, TooDeep
from pijit.core.kernel.options import PLAIN

DOUBLE = numpy_scalar(np.dtype("d"))
VECTOR = Array(np.dtype("d"), 1, "C")


def ufunc(b, function, types, *args, exit=None):
    return b.op("ufunc", VECTOR, *args, exit=exit, ufunc=function, types=types, loop=function.types.index(types))


def unknown_function():
    """A kernel with a nest, and a function of scalars that no emitter knows."""
    b = Builder("unknown", VECTOR, DOUBLE)
    x, number = b.inputs
    exit = b.exit(1)
    total = ufunc(b, np.add, "dd->d", ufunc(b, np.multiply, "dd->d", x, x, exit=exit), x, exit=exit)
    b.leave(2, total, b.op("libm", DOUBLE, number, function="nonsense"))
    return b.graph


def nested(levels):
    """A kernel of a nest, and of conditions inside each other."""
    b = Builder("nested", VECTOR, FLAG)
    x, flag = b.inputs
    exit = b.exit(1)
    total = ufunc(b, np.add, "dd->d", ufunc(b, np.multiply, "dd->d", x, x, exit=exit), x, exit=exit)
    end = b.block()
    for _ in range(levels):
        inner = b.block()
        b.branch(flag, inner, end)
        b.at = inner
    b.jump(end)
    b.at = end
    b.leave(2, total)
    return b.graph


@pytest.mark.parametrize("graph, error, message", [
    (unknown_function(), CompileError, "no libm function nonsense"),
    (nested(120), TooDeep, "nested too deeply")], ids=["unknown function", "nested"])
def test_a_kernel_that_cannot_be_written_has_a_plan(graph, error, message):
    kernel = Kernel(graph, "numba", False, True, PLAIN)
    assert "one nest: %" in kernel.plan
    assert kernel.source.startswith("# ") and message in kernel.source
    with pytest.raises(error, match=message):
        kernel.compile()


def test_python_kernels_have_no_plan():
    assert Kernel(nested(1), "python", False, True, PLAIN).plan == ""
