"""Names of the variables that describe arrays in kernel source.

The modules of `emit` use it. It must not write a line.
"""

from __future__ import annotations

from typing import List, Sequence

from pijit.core.graph.ir import Value
from pijit.core.graph.types import Array
from pijit.core.kernel.plan.operands import ArrayVariable, Name, Operand, array_type, integer


def variables_of(value: Value) -> ArrayVariable:
    """The variables of an array that is an input or a block parameter."""
    name, kind = "v%d" % value.id, array_type(value)
    return variables_of_layout(kind, name, size_names(kind, name))


def variables_of_layout(kind: Array, name: str, shape: Sequence[Operand]) -> ArrayVariable:
    """An array that is no view, with variables of this name for everything except the shape."""
    shown = [Name("%s_t%d" % (name, axis)) for axis in range(kind.ndim)]
    return ArrayVariable(kind, Name(name + "_d"), Name(name + "_o"), shape, contiguous_last(kind, shown), None, shown)


def size_names(kind: Array, name: str) -> List[Operand]:
    """The variables of an array's shape."""
    return [Name("%s_s%d" % (name, axis)) for axis in range(kind.ndim)]


def contiguous_last(kind: Array, strides: Sequence[Operand]) -> List[Operand]:
    """The strides, with a literal for the one that the layout determines, so that loops can be vectorised."""
    strides = list(strides)
    if strides and kind.layout == "C":
        strides[-1] = integer(kind.dtype.itemsize)
    if strides and kind.layout == "F":
        strides[0] = integer(kind.dtype.itemsize)
    return strides
