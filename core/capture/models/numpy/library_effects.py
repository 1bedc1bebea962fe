"""Library functions that write an array: those with ``out=``, and those that have no result.

An output is computed separately and stored when nothing can fail any more, so a kernel may exit before. NumPy's
ufuncs and their methods give the same result where the output is one of the operands. Called by the interpreter's
calls and subscripts, and by `views`.
"""

from __future__ import annotations

from typing import Callable, List, Optional, Tuple, cast

import numpy as np

from pijit.core.capture.models.containers import contents
from pijit.core.capture.models.numpy import indexing, library, questions, shapes
from pijit.core.capture.models.numpy.fancy_indexing import require_apart
from pijit.core.capture.models.numpy.from_sequences import array_of
from pijit.core.capture.models.numpy.questions import parameter_names
from pijit.core.capture.models.objects import stored_values
from pijit.core.capture.models.protocol import Interpreter
from pijit.core.capture.typing.library_result_types import result_types, written_by
from pijit.core.capture.typing.result_types import operand_of
from pijit.core.capture.values.describe import Arguments, describe
from pijit.core.capture.values.lattice import Abstract, Const, Number, Tensor, number_type, ssa_value
from pijit.core.errors import Break
from pijit.core.graph import library_helpers
from pijit.core.graph.library import FUNCTIONS, INTO, LibraryFunction, Trait
from pijit.core.graph.types import Array, numpy_scalar


def split_output(row: Optional[LibraryFunction], arguments: List[Abstract],
                 keywords: Arguments) -> Tuple[Optional[Abstract], List[Abstract], Arguments]:
    """The ``out`` argument or None, the other arguments, and the other keywords of a call."""
    if row is None or "out" not in row.parameters:
        return None, arguments, keywords
    if "out" in keywords:
        return keywords["out"], arguments, {name: value for name, value in keywords.items() if name != "out"}
    names = [name.strip("*#") for name in parameter_names(row, len(arguments), {})]
    if "out" not in names:
        return None, arguments, keywords
    at = names.index("out")
    return arguments[at], arguments[:at], dict(zip(names[at + 1:], arguments[at + 1:]), **keywords)


def call_into(interpreter: Interpreter, row: LibraryFunction, out: Abstract, arguments: List[Abstract],
              keywords: Arguments, call: Callable[[], Abstract]) -> Abstract:
    """A call with an output. ``call`` makes it without one, which is equivalent where the result is of the same type,
    and an output rounds no sums."""
    if not isinstance(out, Tensor) or out.type.ndim == 0 or not out.type.writeable:
        raise Break("PJ203", operand=describe(out))
    names = [name for name in row.path.split(".") if name != "ndarray"]
    if names[-1] == "dot":
        _require_axes(arguments)
    elementwise, any_order = row.path in library_helpers.UFUNCS, bool(row.traits & Trait.ANY_ORDER)
    one_axis = out.type.ndim == 1 and row.traits & Trait.ANY_STRIDE
    if out.type.layout == "A" and not (elementwise or any_order or one_axis):
        raise Break("PJ210", callee="%s into a strided array" % names[-1])
    if not row.traits & Trait.READS_FIRST:
        require_apart(interpreter, out, *_tensors(interpreter, arguments))
    rounds_sums = bool(row.traits & Trait.ROUNDS_SUMS) and out.type.dtype == np.float16
    is_equivalent = not elementwise and not rounds_sums and _gives(
        interpreter, row, arguments, keywords, out.type, any_order)
    made = call() if is_equivalent else None
    if made is not None:
        shapes.require_shape(interpreter, out, cast(Tensor, made))
    else:
        made = library.invoke(interpreter, FUNCTIONS[INTO + row.path], [out] + arguments, keywords)
    interpreter.emit("assign", [ssa_value(out), ssa_value(cast(Tensor, made))], None, exits=True)
    return out


def _require_axes(arguments: List[Abstract]) -> None:
    """Break if an operand of a product is a number: up to NumPy 1.21 some dtypes then leave the output unchanged."""
    for value in arguments:
        if number_type(value) is not None or isinstance(value, Tensor) and value.type.ndim == 0:
            raise Break("PJ203", operand=describe(value))


def _tensors(interpreter: Interpreter, values: List[Abstract]) -> List[Tensor]:
    """The arrays among values and among the items of tuples and lists."""
    items = [interpreter.use(item) for value in values for item in contents.items_of(interpreter, value) or ()]
    return [value for value in values + items if isinstance(value, Tensor)]


def _gives(interpreter: Interpreter, row: LibraryFunction, arguments: List[Abstract], keywords: Arguments, kind: Array,
           any_order: bool) -> bool:
    """Whether a call gives arrays of this type."""
    try:
        made = result_types(row.path, questions.questions_of(interpreter, row, arguments, keywords), tuple(keywords))
    except Break:
        return False
    return isinstance(made, Array) and (made.dtype, made.ndim) == (kind.dtype, kind.ndim) and (
        any_order or made.ndim == 1 or made.layout == kind.layout)


def perform(interpreter: Interpreter, path: str, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """A call of a function that writes its first argument."""
    row, target = FUNCTIONS[path], arguments[0]
    if not isinstance(target, Tensor) or not target.type.writeable:
        raise Break("PJ203", operand="read-only array")
    written_by(path, questions.questions_of(interpreter, row, arguments, keywords), tuple(keywords))
    _call(interpreter, path, arguments, keywords)
    return Const(None)


def set_items(interpreter: Interpreter, owner: Tensor, index: Abstract, value: Abstract) -> None:
    """``owner[index] = value`` by NumPy."""
    row = FUNCTIONS["operator.getitem"]  # same indices; a sample of the value would have to fit
    result_types(row.path, questions.questions_of(interpreter, row, [owner, index], {}), ())
    _call(interpreter, "operator.setitem", [owner, index, value], {})


def _call(interpreter: Interpreter, path: str, arguments: List[Abstract], keywords: Arguments) -> None:
    operands = [stored_values.stored_value(interpreter, value) for value in arguments + list(keywords.values())]
    interpreter.emit("perform", operands, None, {"function": path, "keywords": tuple(keywords)}, exits=True)


def held_by(interpreter: Interpreter, owner: Tensor, value: Abstract) -> Abstract:
    """A value as the elements of an array hold it, so that a store does not warn; Break where that is not certain."""
    target = numpy_scalar(owner.type.dtype)
    value = array_of(interpreter, value, target.dtype) or value
    if number_type(value) is not None:
        question = operand_of(value)
        if question.type == target:
            return value
        return Number(target, indexing.stored_scalar(interpreter, value, question, target.dtype))
    kind = operand_of(value).type.dtype
    if not np.can_cast(kind, owner.type.dtype, "safe") and (kind.kind, owner.type.dtype.kind) != ("i", "f"):
        raise Break("PJ203", operand="%r stored into %r" % (kind, owner.type))
    return value
