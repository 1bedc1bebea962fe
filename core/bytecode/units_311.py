"""Facts about opcodes of CPython 3.11 and later: their caches, arguments, jumps, and neighbours that must stay together."""

import dis
import opcode
from typing import Dict, FrozenSet, Optional

from pijit.core.bytecode.instructions import Function

#: A jump of new code whose direction the assembler chooses.
JUMP = "JUMP"

#: Number of cache units after an instruction, by opcode.
CACHES: Dict[int, int] = {
    dis.opmap[name]: sum(fields.values()) for name, fields in opcode._cache_format.items() if name in dis.opmap}
#: Opcodes of jumps; all are relative to the end of the instruction and its caches.
JUMPS: FrozenSet[int] = frozenset(number for number in dis.hasjrel if number < 256)
#: Opcodes of jumps that lead to lower offsets.
BACKWARD: FrozenSet[int] = frozenset(number for number in JUMPS if "BACKWARD" in dis.opname[number])
HAS_ARGUMENT: FrozenSet[int] = frozenset(getattr(dis, "hasarg", range(dis.HAVE_ARGUMENT, 256)))
FORWARD_JUMP, BACKWARD_JUMP = dis.opmap["JUMP_FORWARD"], dis.opmap["JUMP_BACKWARD"]
#: Their argument is a number in the numbering of locals, cells and free variables.
SLOTS: FrozenSet[int] = frozenset(dis.haslocal + dis.hasfree)
#: Opcodes with two slots in one argument, 4 bits each (3.13).
SLOT_PAIRS: FrozenSet[int] = frozenset(dis.opmap[name] for name in (
    "LOAD_FAST_LOAD_FAST", "STORE_FAST_LOAD_FAST", "STORE_FAST_STORE_FAST") if name in dis.opmap)

# The second finds the first by its position, or the first skips the second.
_TOGETHER = frozenset((
    ("PRECALL", "CALL"), ("KW_NAMES", "PRECALL"), ("KW_NAMES", "CALL"), ("SEND", "YIELD_VALUE"), ("YIELD_VALUE", "RESUME"),
    ("END_FOR", "POP_TOP")))
_PROLOGUE = frozenset(("COPY_FREE_VARS", "MAKE_CELL", "RETURN_GENERATOR", "POP_TOP", "RESUME"))
#: What a FOR_ITER that ends skips without running it; nothing on 3.11.
SKIPPED_BY_FOR_ITER = tuple(
    dis.opmap[name] for name in (("END_FOR", "POP_TOP")[:2 if "TO_BOOL" in dis.opmap else 1]) if "END_FOR" in dis.opmap)


def units_needed(arg: int) -> int:
    """Units of an instruction with this argument, without caches."""
    return 1 if arg < 256 else 2 if arg < 65536 else 3 if arg < 1 << 24 else 4


def why_not_in_front(function: Function, index: int) -> Optional[str]:
    """Why new code before an instruction would change what the code does.

    FOR_ITER ends by skipping END_FOR (3.13: and the POP_TOP after it), wherever its jump leads. PRECALL skips CALL. A generator is
    known to delegate by the neighbours of its YIELD_VALUE. A frame is complete, and shown, from its first RESUME on.

    Args:
        function: from `decode`.
        index: an instruction of it.

    Returns:
        The reason, or None where code may be inserted.
    """
    instructions = function.instructions
    here = instructions[index].opname
    if here == "END_FOR":
        return "FOR_ITER skips it by its position"
    if index and (instructions[index - 1].opname, here) in _TOGETHER:
        return "it has to stay directly behind {}".format(instructions[index - 1].opname)
    if here in _PROLOGUE and _in_prologue(function, index):
        return "the frame is not complete before the first RESUME has run"
    return None


def _in_prologue(function: Function, index: int) -> bool:
    """Whether an instruction is the first RESUME or comes before it."""
    names = [instr.opname for instr in function.instructions[:index]]
    rest = (instr.opname for instr in function.instructions[index:])
    return "RESUME" not in names and _PROLOGUE.issuperset(names) and "RESUME" in rest
