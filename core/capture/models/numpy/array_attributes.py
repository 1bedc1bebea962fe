"""Attributes of arrays and of NumPy scalars: models of reads of them."""

from __future__ import annotations

import numpy as np

from pijit.core.capture.models.containers import constructions
from pijit.core.capture.models.numpy import library, shapes
from pijit.core.capture.models.protocol import Interpreter
from pijit.core.capture.models.registry import models_attributes
from pijit.core.capture.typing import axis_lengths
from pijit.core.capture.values.lattice import Abstract, Const, Number, Tensor, ssa_value
from pijit.core.errors import Break
from pijit.core.graph.library import FUNCTIONS
from pijit.core.graph.types import INT, Array


@models_attributes(np.ndarray, "ndim")
def _ndim(interpreter: Interpreter, owner: Tensor, name: str) -> Abstract:
    return Const(owner.type.ndim)


@models_attributes(np.ndarray, "dtype")
def _dtype(interpreter: Interpreter, owner: Tensor, name: str) -> Abstract:
    return Const(owner.type.dtype)


@models_attributes(np.ndarray, "itemsize")
def _itemsize(interpreter: Interpreter, owner: Tensor, name: str) -> Abstract:
    return Const(owner.type.dtype.itemsize)


@models_attributes(np.ndarray, "shape")
def _shape(interpreter: Interpreter, owner: Tensor, name: str) -> Abstract:
    known = interpreter.context.base.static_shape(interpreter.use(owner))
    return constructions.new_tuple(interpreter, list(map(Const, known)) if known is not None else [
        shapes.length(interpreter, owner, axis) for axis in range(owner.type.ndim)])


@models_attributes(np.ndarray, "size")
def _size(interpreter: Interpreter, owner: Tensor, name: str) -> Abstract:
    return Number(INT, shapes.size(interpreter, owner))


@models_attributes(np.ndarray, "nbytes")
def _nbytes(interpreter: Interpreter, owner: Tensor, name: str) -> Abstract:
    return interpreter.binary("*", Number(INT, shapes.size(interpreter, owner)), Const(owner.type.dtype.itemsize))


@models_attributes(np.ndarray, "T")
def _transposed(interpreter: Interpreter, owner: Tensor, name: str) -> Abstract:
    """Always a new view object."""
    kind = owner.type
    layout = kind.layout if kind.ndim < 2 else {"C": "A", "F": "C"}.get(kind.layout, "A")
    axes = tuple(reversed(range(kind.ndim)))
    result = Array(kind.dtype, kind.ndim, layout, kind.writeable, lengths=axis_lengths.of_transpose(kind, axes))
    return Tensor(result, interpreter.emit("transpose", [ssa_value(owner)], result, {"axes": axes}))


@models_attributes(np.ndarray, "real", "imag")
def _part(interpreter: Interpreter, owner: Tensor, name: str) -> Abstract:
    """A view of the parts of complex elements; of real elements ``real`` is the array itself."""
    kind = owner.type
    if name == "real" and kind.dtype.kind != "c":
        return owner
    if kind.dtype.kind == "c" and kind.ndim:
        half = np.dtype("f%d" % (kind.dtype.itemsize // 2))
        result = Array(half, kind.ndim, "A", kind.writeable, lengths=kind.lengths)
        part = Tensor(result, interpreter.emit("part", [ssa_value(owner)], result, {"which": name}))
        part.part = (owner.value, name)
        return part
    if name == "real":
        raise Break("PJ204", attribute=name, object="array")
    return library.invoke(interpreter, FUNCTIONS["imag"], [owner], {})


@models_attributes(np.generic, "dtype", "ndim", "shape", "size", "itemsize", "nbytes", "strides")
def _of_scalar(interpreter: Interpreter, owner: Number, name: str) -> Abstract:
    """An attribute that does not depend on the value."""
    return Const(getattr(owner.type.dtype.type(0), name))
