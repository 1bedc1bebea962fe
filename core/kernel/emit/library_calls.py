"""Library calls in kernel source: the runtime calls the function and reads its result.

The numba emitter looks the writers up in LIBRARY_OPERATIONS; linear_algebra.py and stores/scatters.py call them, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Dict, List, Tuple, cast

from pijit.core import _launcher
from pijit.core.graph.ir import Op
from pijit.core.graph.library import FUNCTIONS
from pijit.core.graph.types import Array, Object, Scalar
from pijit.core.kernel.emit.array_variables import size_names
from pijit.core.kernel.emit.expressions import listed
from pijit.core.kernel.emit.objects import box_number, spec_words
from pijit.core.kernel.plan.operands import ArrayVariable, Operand
from pijit.guards.facts import ALIGNED, C_CONTIGUOUS, F_CONTIGUOUS, WARN_ON_WRITE, WRITEABLE

if TYPE_CHECKING:
    from pijit.core.kernel.emit.kernel_emitter import KernelEmitter

_ARRAY, _OBJECT = _launcher.ABI_NUMBERS["READ_ARRAY"], _launcher.ABI_NUMBERS["BOX_OBJECT"]
_BAILED_OUT = _launcher.ABI_NUMBERS["BAILED_OUT"]


def array_flags(kind: Array) -> List[int]:
    """[mask, flags]: the NumPy flags to check for an array type, and those of them that must be set."""
    order = {"C": C_CONTIGUOUS, "F": F_CONTIGUOUS}.get(kind.layout, 0)
    return [order | ALIGNED | WRITEABLE | WARN_ON_WRITE, order | ALIGNED | (WRITEABLE if kind.writeable else 0)]


def _spec(emitter: KernelEmitter, op: Op) -> Operand:
    """The address of the words that describe the operands."""
    words = spec_words(emitter, op.args)
    return emitter.let("set_words(frame, %d, %s)" % (
        emitter.layout.scratch(len(words)), listed(words)))


def _write_invoke(emitter: KernelEmitter, op: Op) -> None:
    call_library(emitter, op, op.attrs["function"], op.attrs["keywords"])


def call_library(emitter: KernelEmitter, op: Op, path: str, names: Tuple[str, ...] = ()) -> None:
    """Call a library function with the operands, the last ones by keyword; the operation's result is what it
    returns."""
    spec, row = _spec(emitter, op), FUNCTIONS[path]
    function = emitter.object_address("pijit.library." + path, row.object)
    keywords = emitter.object_address("pijit.keywords." + ",".join(names), names) + "()" if names else "0"
    read_result(emitter, op, "invoke", ["%s()" % function, keywords, len(op.args), spec], [int(row.strict)])


def _write_item(emitter: KernelEmitter, op: Op) -> None:
    read_result(emitter, op, "item", [emitter.text[op.args[0]], op.attrs["index"]], [])


def _write_list_item(emitter: KernelEmitter, op: Op) -> None:
    read_result(emitter, op, "list_item", [emitter.text[value] for value in op.args], [])


def read_result(emitter: KernelEmitter, op: Op, name: str, before: List[Any], after: List[Any]) -> None:
    """Call a runtime function; its result becomes the operation's."""
    kind = op.result.type if op.result is not None else Object(type(None))
    wanted: List[Any]
    if isinstance(kind, Array):
        wanted = [_ARRAY, kind.dtype.num, kind.ndim] + array_flags(kind)
    elif isinstance(kind, Object):
        wanted = [_OBJECT, _class(emitter, kind), 0, 0, 0]
    else:
        wanted = [box_number(cast(Scalar, kind)), 0, 0, 0, 0]
    address = emitter.let("set_words(frame, %d, %s)" % (emitter.layout.scratch(5), listed(wanted)))
    at = emitter.layout.scratch(2 + 2 * kind.ndim if isinstance(kind, Array) else 2)
    words = before + [address] + after + ["address_of_word(frame, %d)" % at]
    status = emitter.let(emitter.runtime(name, "frame", *words))
    emitter.guard(op, "%s == %d" % (status, _BAILED_OUT))
    emitter.indented("if %s != 0:" % status, "return %d" % _launcher.ERROR)
    if op.result is None:
        return
    result = "v%d" % op.result.id
    if isinstance(kind, Array):
        emitter.arrays[op.result] = _described(emitter, kind, result, at)
    elif isinstance(kind, Object):
        emitter.define(op.result, "ld_i8(frame, %d)" % (8 * at))
    else:
        emitter.define(op.result, emitter.read_word(cast(Scalar, kind), at))


def _class(emitter: KernelEmitter, kind: Object) -> str:
    """The address of a builtin class."""
    known = cast(type, kind.python)
    return "%s()" % emitter.object_address("pijit.class." + known.__name__, known)


def _described(emitter: KernelEmitter, kind: Array, name: str, at: int) -> ArrayVariable:
    """Variables for an array whose complete descriptor, with the shape, the runtime has written."""
    shape = size_names(kind, name)
    for axis, variable in enumerate(shape):
        emitter.line("%s = ld_i8(frame, %d)" % (variable, 8 * (at + 2 + axis)))
    return emitter.describe(kind, name, at, shape)


LIBRARY_OPERATIONS: Dict[str, Callable[[KernelEmitter, Op], None]] = {"invoke": _write_invoke, "item": _write_item,
                                                            "list_item": _write_list_item,
                                                            "perform": _write_invoke}
