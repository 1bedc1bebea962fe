"""Effects on Python objects in kernel source: calls of the runtime, which makes the exact object of a value.

The numba emitter looks the writers up in OBJECT_OPERATIONS.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Dict, List, Sequence, Tuple, cast

from pijit.core._launcher import ABI_NUMBERS
from pijit.core.graph.ir import Op, Value
from pijit.core.graph.ops import FOUND, OPS
from pijit.core.graph.ops.info import ANSWERS, BOXED, MAKES, SEARCHES, WORDS
from pijit.core.graph.types import BOOL, COMPLEX, FLOAT, INT, Array, Object, SampledClass, Scalar
from pijit.core.kernel.emit.expressions import Expression, listed
from pijit.core.kernel.plan.operands import NULL, Operand, result_of, scalar_type
from pijit.guards.facts import ALIGNED, C_CONTIGUOUS, F_CONTIGUOUS, WARN_ON_WRITE, WRITEABLE, is_among

if TYPE_CHECKING:
    from pijit.core.kernel.emit.kernel_emitter import KernelEmitter

BOXES: Dict[Scalar, int] = {INT: ABI_NUMBERS["BOX_INT"], FLOAT: ABI_NUMBERS["BOX_FLOAT"], BOOL: ABI_NUMBERS["BOX_BOOL"],
                            COMPLEX: ABI_NUMBERS["BOX_COMPLEX"]}
_BOX_OBJECT = ABI_NUMBERS["BOX_OBJECT"]
SIZE_OFFSET = object.__basicsize__
"""Bytes from an object's start to its size, in objects of variable size and in dicts."""
CLASS_OFFSET = SIZE_OFFSET - 8
"""Bytes from an object's start to its class."""
USED_OFFSET = SIZE_OFFSET + 8
"""Bytes from a set's start to its size, which follows the number of slots that are not free."""
_READ_ARRAY = ABI_NUMBERS["READ_ARRAY"]
_READ_OBJECTS: Dict[type, int] = {list: ABI_NUMBERS["READ_LIST"], tuple: ABI_NUMBERS["READ_TUPLE"],
                                  dict: ABI_NUMBERS["READ_DICT"], str: ABI_NUMBERS["READ_TEXT"]}
_READ_ANY, _READ_ANY_HELD = ABI_NUMBERS["READ_ANY"], ABI_NUMBERS["READ_ANY_HELD"]
_READ_TUPLE_HELD = ABI_NUMBERS["READ_TUPLE_HELD"]
_LAYOUTS = {"C": (C_CONTIGUOUS, C_CONTIGUOUS), "F": (C_CONTIGUOUS | F_CONTIGUOUS, F_CONTIGUOUS), "A": (0, 0)}
"""By layout: a mask of NumPy's array flags, and the values that these flags must have."""


def kind_and_words(emitter: KernelEmitter, value: Value) -> Tuple[int, List[Expression]]:
    """(kind of object that a value becomes, its words); a complex number has one word for each part."""
    kind = value.type
    if isinstance(kind, Array):
        return _BOX_OBJECT, [emitter.with_object(value).object]
    text = emitter.text[value]
    if isinstance(kind, Object):
        return _BOX_OBJECT, [text]
    scalar = scalar_type(value)
    words: List[Expression] = ["creal(%s)" % text, "cimag(%s)" % text] if scalar.dtype.kind == "c" else [text]
    return box_number(scalar), words


def box_number(kind: Scalar) -> int:
    """The runtime's number of a scalar's class."""
    return BOXES[kind] if kind in BOXES else kind.dtype.num


def spec_words(emitter: KernelEmitter, values: Sequence[Value]) -> List[Expression]:
    """[kind, word, word] of each value, as the runtime reads them."""
    words: List[Expression] = []
    for value in values:
        code, own = kind_and_words(emitter, value)
        words += [str(code)] + (own + ["0"])[:2]
    return words or ["0"]


def boxed(emitter: KernelEmitter, value: Value) -> Tuple[int, Operand]:
    """(kind of object that a value becomes, address of its words), for the runtime's effects."""
    code, words = kind_and_words(emitter, value)
    return code, emitter.let("set_words(frame, %d, %s)" % (emitter.layout.scratch(len(words)), listed(words)))


def _effect(emitter: KernelEmitter, op: Op) -> None:
    """Call the runtime's function for the operation. All operands except the last are objects or words."""
    code, address = boxed(emitter, op.args[-1])
    operands = [emitter.text[value] for value in op.args[:-1]]
    emitter.checked(OPS[op.name].runtime or op.name, *operands, code, address, op=op)


def _literal(emitter: KernelEmitter, op: Op) -> None:
    """Make a new tuple, list, dict or other object of values.

    The runtime reads the words of each value and leaves the object in the first word.
    """
    words = spec_words(emitter, op.args)
    at = emitter.layout.scratch(len(words))
    address = emitter.let("set_words(frame, %d, %s)" % (at, listed(words)))
    count = len(op.args) // (2 if op.name == "new_dict" else 1)
    emitter.checked(op.name, "frame", count, address)
    emitter.define(result_of(op), "ld_i8(frame, %d)" % (8 * at))


def _origin(emitter: KernelEmitter, op: Op) -> None:
    emitter.define(result_of(op), emitter.text[op.args[0]])


def _of_object(emitter: KernelEmitter, op: Op) -> None:
    """Make a new object from another one; the runtime leaves it in a word."""
    address = emitter.let("set_words(frame, %d, 0)" % emitter.layout.scratch(1))
    emitter.checked(op.name, "frame", emitter.text[op.args[0]], address, op=op)
    emitter.define(result_of(op), "ld_i8(%s, 0)" % address)


def _list_size(emitter: KernelEmitter, op: Op) -> None:
    of_set = is_among(cast(Object, op.args[0].type).python, (set, frozenset))
    emitter.define(result_of(op), "ld_i8(%s, %d)" % (emitter.text[op.args[0]], USED_OFFSET if of_set else SIZE_OFFSET))


def _has_class(emitter: KernelEmitter, op: Op) -> None:
    owner, cls = (emitter.text[value] for value in op.args)
    emitter.define(result_of(op), "ld_i8(%s, %d) == %s" % (owner, CLASS_OFFSET, cls))


def _plain(emitter: KernelEmitter, op: Op) -> None:
    """Call the runtime's function of the operation's name. All operands are objects or words."""
    emitter.checked(op.name, *[emitter.text[value] for value in op.args], op=op)


def _hold(emitter: KernelEmitter, op: Op) -> None:
    emitter.checked("hold", "frame", emitter.text[op.args[0]], op=op)


def _asked(emitter: KernelEmitter, op: Op) -> None:
    """Define the result as what the runtime's function of the operation's name returns; it cannot fail."""
    emitter.define(result_of(op), emitter.runtime(op.name, *[emitter.text[value] for value in op.args]))


def _same_text(emitter: KernelEmitter, op: Op) -> None:
    emitter.define(result_of(op), "%s != 0" % emitter.runtime(op.name, *[emitter.text[value] for value in op.args]))


def _byte_at(emitter: KernelEmitter, op: Op) -> None:
    _asked(emitter, op)
    emitter.guard(op, "%s < 0" % emitter.text[result_of(op)])


def _text_add(emitter: KernelEmitter, op: Op) -> None:
    """Join two strings. The left one grows in place if it is dead afterwards and nothing else refers to it."""
    left, right = op.args
    if left is right or left not in emitter.plan.ownership.after(op):
        _new_text(emitter, op, op.name)
        return
    _new_text(emitter, op, "text_append")
    emitter.inherited.add(left)


def _char_at(emitter: KernelEmitter, op: Op) -> None:
    _new_text(emitter, op, op.name)


def _new_text(emitter: KernelEmitter, op: Op, function: str) -> None:
    at = emitter.layout.scratch(1)
    emitter.checked(function, "frame", *[emitter.text[value] for value in op.args], "address_of_word(frame, %d)" % at)
    emitter.define(result_of(op), "ld_i8(frame, %d)" % (8 * at))


def _has_key(emitter: KernelEmitter, op: Op) -> None:
    at = emitter.layout.scratch(1)
    emitter.checked(op.name, *[emitter.text[value] for value in op.args], "address_of_word(frame, %d)" % at, op=op)
    emitter.define(result_of(op), "ld_i8(frame, %d) != 0" % (8 * at))


def _search(emitter: KernelEmitter, op: Op) -> None:
    """Search or count; the runtime leaves the position or the number in a word."""
    code, address = boxed(emitter, op.args[1])
    at = emitter.layout.scratch(1)
    emitter.checked(op.name, emitter.text[op.args[0]], code, address, "address_of_word(frame, %d)" % at, op=op)
    emitter.define(result_of(op), "ld_i8(frame, %d)" % (8 * at))


def _draw(emitter: KernelEmitter, op: Op) -> None:
    """Draw a random number. The runtime reads the arguments from words and leaves the number in the first one."""
    at = emitter.layout.scratch(2)
    numbers = [emitter.text[value] for value in op.args[1:]] or [NULL]
    address = emitter.let("set_words(frame, %d, %s)" % (at, listed(numbers)))
    emitter.checked("draw", emitter.text[op.args[0]], op.attrs["method"], address, op=op)
    if op.result in emitter.used:
        emitter.define(result_of(op), emitter.read_word(scalar_type(result_of(op)), at))


def _wanted(emitter: KernelEmitter, op: Op) -> Tuple[int, ...]:
    """The words that tell the runtime what a read must find."""
    kind = result_of(op).type
    if isinstance(kind, SampledClass):
        return (_READ_ANY_HELD if emitter.plan.ownership.holds(op) else _READ_ANY,)
    if isinstance(kind, Array):
        mask, flags = _LAYOUTS[kind.layout]
        always = ALIGNED | (WRITEABLE if kind.writeable else 0)
        return _READ_ARRAY, kind.dtype.num, kind.ndim, mask | always | WARN_ON_WRITE, flags | always
    if isinstance(kind, Object):
        held = kind.python is tuple and emitter.plan.ownership.holds(op)
        return (_READ_TUPLE_HELD if held else _READ_OBJECTS[cast(type, kind.python)],)
    return (box_number(scalar_type(result_of(op))),)


def _read(emitter: KernelEmitter, op: Op) -> None:
    """Read a value. The words tell the runtime what it must find, and it leaves the value's words in the same place."""
    count, kind = len(OPS[op.name].operands.replace(" ", "").replace("v", "")), result_of(op).type
    operands: List[Any] = [emitter.text[value] for value in op.args[:count]]
    operands += [part for value in op.args[count:] for part in boxed(emitter, value)]
    at = emitter.layout.scratch(max(5, 2 + 2 * kind.ndim) if isinstance(kind, Array) else 2)
    spec = emitter.let("set_words(frame, %d, %s)" % (at, listed(_wanted(emitter, op))))
    emitter.checked(op.name, "frame", *operands, spec, op=op)
    if isinstance(kind, Array):
        emitter.arrays[result_of(op)] = emitter.array_at(result_of(op), at)
    else:
        emitter.define(result_of(op), "ld_i8(frame, %d)" % (8 * at) if isinstance(kind, Object)
                       else emitter.read_word(scalar_type(result_of(op)), at))


_BY_CALL: Dict[str, Callable[[KernelEmitter, Op], None]] = {
    WORDS: _plain, BOXED: _effect, ANSWERS: _asked, SEARCHES: _search, MAKES: _literal}
"""By the column ``calls`` of the table of operations."""

OBJECT_OPERATIONS: Dict[str, Callable[[KernelEmitter, Op], None]] = {
    **{name: _BY_CALL[info.calls] for name, info in OPS.items() if info.calls}, **dict.fromkeys(FOUND, _read),
    "tuple_of": _of_object, "list_size": _list_size, "origin": _origin, "hold": _hold, "draw": _draw,
    "has_key": _has_key, "has_text": _has_key, "char_at": _char_at, "text_add": _text_add, "byte_at": _byte_at,
    "same_text": _same_text, "has_class": _has_class, "lacks_own": _same_text,
}
