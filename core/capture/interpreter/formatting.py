"""Instructions of f-strings: format a value, convert it, join the parts.

The dispatch table of `interpreter` has its functions. They must run no `__format__` of the user.
"""

from __future__ import annotations

from pijit.core.bytecode.codec.decode import Instr
from pijit.core.capture.models.containers import characters, constructions
from pijit.core.capture.models.containers.strings import require_plain
from pijit.core.capture.models.protocol import Interpreter
from pijit.core.capture.values.describe import constants_of, describe
from pijit.core.capture.values.lattice import Abstract, Const, class_of
from pijit.core.errors import Break

CONVERSIONS = {1: "builtins.str", 2: "builtins.repr", 3: "builtins.ascii"}
"""By conversion, the function that FORMAT_VALUE calls first, and that CONVERT_VALUE calls."""


def op_FORMAT_VALUE(interpreter: Interpreter, instr: Instr) -> None:
    flags = instr.arg or 0
    spec = interpreter.pop() if flags & 4 else Const("")
    value = interpreter.pop()
    require_plain(interpreter, value)
    if class_of(spec) is not str:
        raise Break("PJ216", operand=describe(spec))
    value = _converted(interpreter, value, flags & 3)
    as_it_is = class_of(value) is str and spec == Const("")
    interpreter.push(value if as_it_is else characters.made_text(interpreter, "builtins.format", [value, spec]))


def _converted(interpreter: Interpreter, value: Abstract, conversion: int) -> Abstract:
    plain = not conversion or conversion == 1 and class_of(value) is str
    return value if plain else characters.made_text(interpreter, CONVERSIONS[conversion], [value])


def op_CONVERT_VALUE(interpreter: Interpreter, instr: Instr) -> None:
    """The conversion in an f-string, separate from its format (from CPython 3.13 on)."""
    value = interpreter.pop()
    require_plain(interpreter, value)
    interpreter.push(_converted(interpreter, value, instr.arg or 0))


def op_BUILD_STRING(interpreter: Interpreter, instr: Instr) -> None:
    parts = interpreter.pop_many(instr.arg or 0)
    if any(class_of(part) is not str for part in parts):
        raise Break("PJ216", opcode=instr.opname)
    known = constants_of(parts)
    if known is not None:
        interpreter.push(Const("".join(known)))
        return
    interpreter.push(characters.made_text(interpreter, "builtins.str.join",
                                          [Const(""), constructions.new_tuple(interpreter, parts)]))
