"""Pattern matching: the opcodes of ``match`` statements, decided by the class of the subject.

The dispatch table of `interpreter` has its functions. They must run no code of the subject's class.
"""

from __future__ import annotations

import sys
import types

from pijit.core.bytecode.codec.decode import Instr
from pijit.core.capture.models.containers import constructions, contents, expectations, item_reads
from pijit.core.capture.models.protocol import Interpreter
from pijit.core.capture.values.describe import constants_of, describe
from pijit.core.capture.values.lattice import Const, class_of
from pijit.core.errors import Break
from pijit.guards.facts import is_among
from pijit.guards.held import is_heap_type

SEQUENCE, MAPPING = 1 << 5, 1 << 6
"""Class flags that sequence and mapping patterns test, from CPython 3.10 on."""
MATCH_SELF = (bool, bytearray, bytes, dict, float, frozenset, int, list, set, str, tuple)
"""Builtin classes for which one positional pattern matches the subject itself."""
FLAGGED = sys.version_info < (3, 11)
"""Whether a flag on the stack tells if keys or a class match. Later versions push None if they do not."""
_flags_of = type.__dict__["__flags__"].__get__


def op_MATCH_SEQUENCE(interpreter: Interpreter, instr: Instr) -> None:
    _push_flag(interpreter, SEQUENCE)


def op_MATCH_MAPPING(interpreter: Interpreter, instr: Instr) -> None:
    _push_flag(interpreter, MAPPING)


def _push_flag(interpreter: Interpreter, flag: int) -> None:
    """Push whether the class of the subject has a flag that no registration changes. The subject stays on the
    stack."""
    subject = interpreter.use(interpreter.state.stack[-1])
    kind = class_of(subject)
    if kind is None or is_heap_type(kind):
        raise Break("PJ203", operand=describe(subject))
    interpreter.push(Const(bool(_flags_of(kind) & flag)))


def op_GET_LEN(interpreter: Interpreter, instr: Instr) -> None:
    interpreter.push(interpreter.call(Const(len), [interpreter.use(interpreter.state.stack[-1])], {}))


def op_MATCH_KEYS(interpreter: Interpreter, instr: Instr) -> None:
    """Push the values under the keys, or None; in 3.10 also whether all keys are present."""
    keys, subject = interpreter.use(interpreter.state.stack[-1]), interpreter.use(interpreter.state.stack[-2])
    wanted = contents.items_of(interpreter, keys)
    if class_of(subject) is not dict or wanted is None or expectations.is_changing(interpreter, subject):
        raise Break("PJ203", operand=describe(subject))
    known = constants_of(wanted)
    if known is None:
        raise Break("PJ203", operand=describe(keys))
    found = all(contents.holds_item(interpreter, subject, key) for key in known)
    values = [interpreter.use(item_reads.container_item(interpreter, subject, key)) for key in wanted] if found else []
    interpreter.push(constructions.new_tuple(interpreter, values) if found else Const(None))
    if FLAGGED:
        interpreter.push(Const(found))


def op_MATCH_CLASS(interpreter: Interpreter, instr: Instr) -> None:
    """Replace subject and class by the subpatterns' values, or by None if the class does not match.

    In 3.10 they are replaced by the values and True, or by the subject and False.
    """
    names, cls, subject = interpreter.pop(), interpreter.pop(), interpreter.pop()
    kind = class_of(subject)
    if not isinstance(cls, Const) or type(cls.object) is not type or names != Const(()) or kind is None:
        raise Break("PJ203", operand=describe(cls))
    plain = is_among(cls.object, MATCH_SELF) and not issubclass(kind, types.ModuleType)
    if (instr.arg or 0) > 1 or instr.arg and not plain:
        raise Break("PJ203", operand=describe(cls))
    found = interpreter.call(Const(isinstance), [subject, cls], {})
    if not isinstance(found, Const):
        raise Break("PJ203", operand=describe(cls))
    parts = constructions.new_tuple(interpreter, [subject] if instr.arg else [])
    if found.object:
        interpreter.push(parts)
    else:
        interpreter.push(subject if FLAGGED else Const(None))
    if FLAGGED:
        interpreter.push(found)
