"""Lengths of axes and sizes of arrays, as operations. Models of arrays call them."""

from __future__ import annotations

from typing import Optional, Sequence

from pijit.core.capture.models.protocol import Interpreter
from pijit.core.capture.values.lattice import Tensor, ssa_value
from pijit.core.graph.ir import Value
from pijit.core.graph.types import FLAG, INT, WORD


def dimension(interpreter: Interpreter, owner: Tensor, axis: int) -> Value:
    """``shape[axis]`` as a Python int."""
    raw = interpreter.emit("dim", [ssa_value(owner)], WORD, {"axis": axis})
    return interpreter.emit("same", [raw], INT)


def size(interpreter: Interpreter, owner: Tensor, axes: Optional[Sequence[int]] = None) -> Value:
    """The number of elements, in total or along some axes, as a Python int. It always fits into 64 bits."""
    total = interpreter.emit("const", [], WORD, {"value": 1})
    for axis in range(owner.type.ndim) if axes is None else axes:
        length = interpreter.emit("dim", [ssa_value(owner)], WORD, {"axis": axis})
        total = interpreter.emit("mul", [total, length], WORD)
    return interpreter.emit("same", [total], INT)


def require_shape(interpreter: Interpreter, one: Tensor, other: Tensor) -> None:
    """Side exit unless two arrays have the same shape."""
    for axis in range(one.type.ndim):
        lengths = [interpreter.emit("dim", [ssa_value(array)], WORD, {"axis": axis}) for array in (one, other)]
        flag = interpreter.emit("compare", lengths, FLAG, {"operator": "=="})
        interpreter.emit("require", [flag], None, exits=True)
