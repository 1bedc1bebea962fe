"""Facts about opcodes of CPython 3.11 and later: their caches, arguments, jumps, and neighbours that must stay together."""

import dis
import opcode
from typing import Dict, FrozenSet, Optional, Tuple

from pijit.core.bytecode.instructions import Function, Instr, Unit

#: A jump of new code whose direction the assembler chooses.
JUMP = "JUMP"
#: The same; a backward one does not look at requests.
JUMP_NO_INTERRUPT = "JUMP_NO_INTERRUPT"
#: Access by new code to what is in a slot, a cell object among them. The argument is a slot in the numbering of the original.
LOCAL_OF: Dict[str, str] = {"LOAD_SLOT": "LOAD_FAST", "STORE_SLOT": "STORE_FAST"}

#: Number of cache units after an instruction, by opcode.
CACHES: Dict[int, int] = {
    dis.opmap[name]: sum(fields.values()) for name, fields in opcode._cache_format.items() if name in dis.opmap}
#: Opcodes of jumps; all are relative to the end of the instruction and its caches.
JUMPS: FrozenSet[int] = frozenset(number for number in dis.hasjrel if number < 256)
#: Opcodes of jumps that lead to lower offsets.
BACKWARD: FrozenSet[int] = frozenset(number for number in JUMPS if "BACKWARD" in dis.opname[number])
HAS_ARGUMENT: FrozenSet[int] = frozenset(getattr(dis, "hasarg", range(dis.HAVE_ARGUMENT, 256)))
FORWARD_JUMP = dis.opmap["JUMP_FORWARD"]
#: What jumps of new code become when they lead backwards.
BACKWARD_JUMPS: Dict[str, int] = {
    JUMP: dis.opmap["JUMP_BACKWARD"], JUMP_NO_INTERRUPT: dis.opmap["JUMP_BACKWARD_NO_INTERRUPT"]}
#: Their argument is a number in the numbering of locals, cells and free variables.
SLOTS: FrozenSet[int] = frozenset(dis.haslocal + dis.hasfree)
#: Opcodes with two slots in one argument, 4 bits each (3.13).
SLOT_PAIRS: FrozenSet[int] = frozenset(dis.opmap[name] for name in (
    "LOAD_FAST_LOAD_FAST", "STORE_FAST_LOAD_FAST", "STORE_FAST_STORE_FAST") if name in dis.opmap)

# The second finds the first by its position, or the first skips the second.
_TOGETHER = frozenset((
    ("PRECALL", "CALL"), ("KW_NAMES", "PRECALL"), ("KW_NAMES", "CALL"), ("SEND", "YIELD_VALUE"), ("YIELD_VALUE", "RESUME"),
    ("END_FOR", "POP_TOP")))
#: What a FOR_ITER that ends skips without running it; nothing on 3.11.
SKIPPED_BY_FOR_ITER = tuple(
    dis.opmap[name] for name in (("END_FOR", "POP_TOP")[:2 if "TO_BOOL" in dis.opmap else 1]) if "END_FOR" in dis.opmap)


def units_needed(arg: int) -> int:
    """Units of an instruction with this argument, without caches."""
    return 1 if arg < 256 else 2 if arg < 65536 else 3 if arg < 1 << 24 else 4


def encoded_units(instr: Instr) -> Tuple[Unit, ...]:
    """What an instruction of the normal form is encoded as; of one that is read as it is encoded, itself."""
    return instr.units or (Unit(instr.opcode, instr.raw, instr.size, instr.position),)


def encoded_names(instr: Instr) -> Tuple[str, ...]:
    """The names of what an instruction is encoded as."""
    return tuple(dis.opname[unit.opcode] for unit in encoded_units(instr))


def why_not_in_front(function: Function, index: int) -> Optional[str]:
    """Why new code before an instruction would change what the code does.

    FOR_ITER ends by skipping END_FOR (3.13: and the POP_TOP after it), wherever its jump leads. PRECALL skips CALL.
    A generator is known to delegate by the neighbours of its YIELD_VALUE. A frame is complete from its first RESUME on.

    Args:
        function: from `decode`.
        index: an instruction of it.

    Returns:
        The reason, or None where code may be inserted.
    """
    name = encoded_names(function.instructions[index])[0]
    if name == "END_FOR":
        return "FOR_ITER skips it by its position"
    before = encoded_names(function.instructions[index - 1])[-1] if index else None
    if before is not None and (before, name) in _TOGETHER:
        return "it has to stay directly behind {}".format(before)
    if index < first_place(function):
        return "the frame is not complete before the first RESUME has run"
    return None


def first_place(function: Function) -> int:
    """The first instruction behind those that make the frame complete; 0 in normal form, which has them apart."""
    if function.prologue:
        return 0
    return next((instr.index + 1 for instr in function.instructions if instr.opname == "RESUME"), 0)
