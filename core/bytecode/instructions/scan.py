"""Scans of encoded code, which need no decoding.

They answer questions that are asked of many code objects, most of which are never compiled. The module imports
nothing of pijit, so that cold functions and `pijit.ms` can use it on any Python.
"""

from __future__ import annotations

import dis
from types import CodeType

_BACK = frozenset([
    "JUMP_ABSOLUTE", "POP_JUMP_IF_TRUE", "POP_JUMP_IF_FALSE", "CONTINUE_LOOP", "JUMP_BACKWARD",
    "POP_JUMP_BACKWARD_IF_TRUE", "POP_JUMP_BACKWARD_IF_FALSE", "POP_JUMP_BACKWARD_IF_NONE",
    "POP_JUMP_BACKWARD_IF_NOT_NONE"])
_CELL_WRITES = frozenset(dis.opmap.get(name) for name in ("STORE_DEREF", "DELETE_DEREF"))
_IMPORT_FROM = dis.opmap.get("IMPORT_FROM")


def has_backward_jump(code: CodeType) -> bool:
    """Whether the code has a loop."""
    return any(instr.opname in _BACK and isinstance(instr.argval, int) and instr.argval <= instr.offset
               for instr in dis.get_instructions(code))


def may_write_cells(code: CodeType) -> bool:
    """Whether some code unit has the opcode of a store to a cell or of a deletion. Arguments are not told apart."""
    return not _CELL_WRITES.isdisjoint(code.co_code[::2])


def is_importing_name(code: CodeType, offset: int) -> bool:
    """Whether the instruction at a byte offset, such as `f_lasti`, executes `from module import name`."""
    return 0 <= offset < len(code.co_code) and code.co_code[offset] == _IMPORT_FROM
