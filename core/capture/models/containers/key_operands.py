"""Keys of dicts and members of sets as operands, and operands that name an item.

Models that read and change containers at run time call these functions.
"""

from __future__ import annotations

from typing import List, Tuple

from pijit.core.capture.models.containers import contents
from pijit.core.capture.models.containers.expectations import ITEM_KEYS, KEYED
from pijit.core.capture.models.protocol import Interpreter
from pijit.core.capture.values.describe import describe
from pijit.core.capture.values.lattice import Abstract, Const, Sequence, class_of, number_type
from pijit.core.errors import Break
from pijit.core.graph.ir import Value
from pijit.core.graph.types import INT, Object
from pijit.guards.facts import is_among


def keyed(interpreter: Interpreter, name: str, owner: Abstract, index: Abstract) -> Tuple[str, List[Value]]:
    """Name and operands of an operation on an item of a dict; a computed int needs no object."""
    if number_type(index) != INT or interpreter.constant(index) is not None:
        return name, item_operands(interpreter, owner, index)
    return name.replace("_key", "_int"), [interpreter.object_value(owner), interpreter.number_value(index)]


def item_operands(interpreter: Interpreter, owner: Abstract, index: Abstract) -> List[Value]:
    """The operands that name an item of a list or tuple by position, or of a dict by its key."""
    if not is_among(class_of(owner), KEYED):
        return [interpreter.object_value(owner), interpreter.word(index)]
    return [interpreter.object_value(owner), key_value(interpreter, index)]


def key_value(interpreter: Interpreter, index: Abstract) -> Value:
    """The key of a dict or the member of a set as an operand: a number, a string, or a tuple of these."""
    key = interpreter.constant(index)
    if type(key) in ITEM_KEYS:
        return interpreter.object_value(Const(key))
    require_key(interpreter, index)
    if number_type(index) is not None:
        return interpreter.emit("box", [interpreter.number_value(index)], Object(class_of(index)))
    return interpreter.object_value(index)


def require_key(interpreter: Interpreter, value: Abstract) -> None:
    """Break unless dicts and sets find a value by its value, without user code.
    Exit for NaN, which they find by its identity."""
    kind = number_type(value)
    if isinstance(value, Sequence) or isinstance(value, Const) and type(value.object) is tuple:
        for item in contents.items_of(interpreter, value) or ():
            require_key(interpreter, interpreter.use(item))
    elif kind is not None and kind.dtype.kind == "f" and not isinstance(value, Const):
        contents.require_equal_to_itself(interpreter, value)
    elif (kind is None and class_of(value) is not str or kind is not None and kind.dtype.kind == "c"
          or isinstance(value, Const) and value.object != value.object):
        raise Break("PJ205", index=describe(value))
