"""Facts about opcodes of CPython 3.11 and later: their caches, arguments, jumps, and neighbours that must stay together."""

import dis
import opcode
import sys
from typing import Dict, FrozenSet, Optional, Tuple

from pijit.core.bytecode.instructions.instruction import Function, Instr, Unit

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
#: What names an instruction by its distance and never leads there: END_ASYNC_FOR tells tools of its loop's END_SEND (3.14).
NAMING: FrozenSet[int] = frozenset(number for number in JUMPS if dis.opname[number] == "END_ASYNC_FOR")
#: Opcodes of jumps that lead to lower offsets, and of what names such an instruction.
BACKWARD: FrozenSet[int] = NAMING | frozenset(number for number in JUMPS if "BACKWARD" in dis.opname[number])
HAS_ARGUMENT: FrozenSet[int] = frozenset(getattr(dis, "hasarg", range(dis.HAVE_ARGUMENT, 256)))
FORWARD_JUMP = dis.opmap["JUMP_FORWARD"]
#: What jumps of new code become when they lead backwards.
BACKWARD_JUMPS: Dict[str, int] = {
    JUMP: dis.opmap["JUMP_BACKWARD"], JUMP_NO_INTERRUPT: dis.opmap["JUMP_BACKWARD_NO_INTERRUPT"]}
#: Their argument is a number in the numbering of locals, cells and free variables.
SLOTS: FrozenSet[int] = frozenset(number for number in dis.haslocal + dis.hasfree if number < 256)
#: Those whose slot has a cell.
CELL_SLOTS: FrozenSet[int] = frozenset(
    number for number in SLOTS if number in dis.hasfree or dis.opname[number] == "LOAD_DEREF")
#: Opcodes with two slots in one argument, 4 bits each (3.13).
SLOT_PAIRS: FrozenSet[int] = frozenset(dis.opmap[name] for name in (
    "LOAD_FAST_LOAD_FAST", "STORE_FAST_LOAD_FAST", "STORE_FAST_STORE_FAST", "LOAD_FAST_BORROW_LOAD_FAST_BORROW") if name in dis.opmap)

# The second finds the first by its position, or the first skips the second.
_TOGETHER = frozenset((
    ("PRECALL", "CALL"), ("KW_NAMES", "PRECALL"), ("KW_NAMES", "CALL"), ("SEND", "YIELD_VALUE"), ("YIELD_VALUE", "RESUME"),
    ("END_FOR", "POP_TOP"), ("END_FOR", "POP_ITER")))
_ENDS_OF_LOOPS = {(3, 11): (), (3, 12): ("END_FOR",), (3, 13): ("END_FOR", "POP_TOP"), (3, 14): ("END_FOR", "POP_ITER")}
#: What stands where a FOR_ITER leads, and is over when control goes on behind it. All is skipped but 3.14's POP_ITER, which
#: runs: before 3.14 FOR_ITER itself lets go of the iterator.
SKIPPED_BY_FOR_ITER: Tuple[int, ...] = tuple(dis.opmap[name] for name in _ENDS_OF_LOOPS[sys.version_info[:2]])


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

    FOR_ITER ends by skipping END_FOR (3.13: and the POP_TOP after it), wherever its jump leads. PRECALL skips CALL. With
    POP_ITER (3.14) END_FOR is one end of a loop in normal form, too. In normal form nothing is inserted where the operand stack
    has what is no object (3.14): a with statement's handler.
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
    if function.operands is not None and index in function.operands.with_offset:
        return "an item of the operand stack is no object"
    if index < first_place(function):
        return "the frame is not complete before the first RESUME has run"
    return None


def first_place(function: Function) -> int:
    """The first instruction behind those that make the frame complete; 0 in normal form, which has them apart."""
    if function.prologue:
        return 0
    return next((instr.index + 1 for instr in function.instructions if instr.opname == "RESUME"), 0)
