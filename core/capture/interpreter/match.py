"""Pattern matching: the opcodes of ``match`` statements, decided by the class of the subject."""

from __future__ import annotations

import sys
import types
from typing import Any, Callable, List, Optional

from pijit.core.bytecode.codec.decode import Instr
from pijit.core.capture.models.operators import describe
from pijit.core.capture.state.frame_state import FrameState
from pijit.core.capture.values.lattice import Abstract, Const, Sequence, class_of
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


class Matching:
    """Mixin of the interpreter: MATCH_SEQUENCE, MATCH_MAPPING, MATCH_KEYS, MATCH_CLASS, GET_LEN."""

    state: FrameState
    use: Callable[[Abstract], Abstract]
    pop: Callable[[], Abstract]
    push: Callable[[Abstract], None]
    items_of: Callable[[Abstract], Optional[List[Abstract]]]
    new_tuple: Callable[[List[Abstract]], Sequence]
    call: Callable[..., Abstract]
    holds_item: Callable[[Abstract, Any], bool]
    container_item: Callable[[Abstract, Abstract], Abstract]
    is_changing: Callable[[Abstract], bool]

    def op_MATCH_SEQUENCE(self, instr: Instr) -> None:
        self._push_flag(SEQUENCE)

    def op_MATCH_MAPPING(self, instr: Instr) -> None:
        self._push_flag(MAPPING)

    def _push_flag(self, flag: int) -> None:
        """Push whether the class of the subject has a flag that no registration changes. The subject stays on the
        stack."""
        subject = self.use(self.state.stack[-1])
        kind = class_of(subject)
        if kind is None or is_heap_type(kind):
            raise Break("PJ203", operand=describe(subject))
        self.push(Const(bool(_flags_of(kind) & flag)))

    def op_GET_LEN(self, instr: Instr) -> None:
        self.push(self.call(Const(len), [self.use(self.state.stack[-1])], {}))

    def op_MATCH_KEYS(self, instr: Instr) -> None:
        """Push the values under the keys, or None; in 3.10 also whether all keys are present."""
        keys, subject = self.use(self.state.stack[-1]), self.use(self.state.stack[-2])
        wanted = self.items_of(keys)
        if class_of(subject) is not dict or wanted is None or self.is_changing(subject):
            raise Break("PJ203", operand=describe(subject))
        if not all(isinstance(key, Const) for key in wanted):
            raise Break("PJ203", operand=describe(keys))
        found = all(self.holds_item(subject, key.object) for key in wanted)  # type: ignore[attr-defined]
        values = [self.use(self.container_item(subject, key)) for key in wanted] if found else []
        self.push(self.new_tuple(values) if found else Const(None))
        if FLAGGED:
            self.push(Const(found))

    def op_MATCH_CLASS(self, instr: Instr) -> None:
        """Replace subject and class by the subpatterns' values, or by None if the class does not match.

        In 3.10 they are replaced by the values and True, or by the subject and False.
        """
        names, cls, subject = self.pop(), self.pop(), self.pop()
        kind = class_of(subject)
        if not isinstance(cls, Const) or type(cls.object) is not type or names != Const(()) or kind is None:
            raise Break("PJ203", operand=describe(cls))
        plain = is_among(cls.object, MATCH_SELF) and not issubclass(kind, types.ModuleType)
        if (instr.arg or 0) > 1 or instr.arg and not plain:
            raise Break("PJ203", operand=describe(cls))
        found = self.call(Const(isinstance), [subject, cls], {})
        if not isinstance(found, Const):
            raise Break("PJ203", operand=describe(cls))
        parts = self.new_tuple([subject] if instr.arg else [])
        if found.object:
            self.push(parts)
        else:
            self.push(subject if FLAGGED else Const(None))
        if FLAGGED:
            self.push(found)
