"""Effects on Python objects in kernel source: calls of the runtime, which makes the exact object of a value."""

from __future__ import annotations

from typing import Any, Callable, Dict, Tuple

from pijit.core.graph.ir import Op, Value
from pijit.core.graph.types import BOOL, FLOAT, INT, Array, Object

_BOXES = {INT: -1, FLOAT: -2, BOOL: -3}
_BOX_OBJECT = -4


def boxed(emitter: Any, value: Value) -> Tuple[int, str]:
    """(what object a value becomes, the address of its words) for the runtime's effects."""
    kind = value.type
    if isinstance(kind, Array):
        code, text = _BOX_OBJECT, emitter.with_object(value).object
    elif isinstance(kind, Object):
        code, text = _BOX_OBJECT, emitter.text[value]
    else:
        code, text = _BOXES.get(kind, kind.dtype.num), emitter.text[value]
    return code, emitter.let("set_words(frame, %d, %s)" % (emitter.layout.scratch(1), text))


def _effect(emitter: Any, op: Op) -> None:
    """The runtime's function of the operation's name; all operands but the last are objects and words."""
    code, address = boxed(emitter, op.args[-1])
    operands = [emitter.text[value] for value in op.args[:-1]]
    emitter.checked(op.name, *(operands + [code, address]), op=op)


OBJECT_OPERATIONS: Dict[str, Callable[[Any, Op], None]] = {
    "append": _effect, "store_item": _effect, "store_attr": _effect, "store_global": _effect, "store_cell": _effect,
}
