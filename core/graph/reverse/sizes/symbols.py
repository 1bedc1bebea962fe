"""The sizes of axes: numbers and symbols.

The other modules of the package use it. It must not compute sizes.
"""

from __future__ import annotations

from typing import Any, MutableMapping, Union

from pijit.core.graph.ir import Value
from pijit.core.named_tuples import NamedTuple


class Size(NamedTuple):
    """A size that is not known to be 1: the array and the axis that have it first."""

    array: Value
    axis: int


Dim = Union[int, Size]
"""The size of an axis: a number, or a symbol, which stands for any size that is not known to be 1."""


Constants = MutableMapping[Value, Any]
"""The constants of a graph. Integers that are computed from static sizes are added."""


class SizeCheck(NamedTuple):
    """Two sizes that the joint function requires to be equal."""

    one: Size
    other: Dim
