"""Opcode metadata of CPython 3.11 and later: caches, arguments, jumps, inseparable neighbours.

Reader, layout, linker and verification use it. It describes encoded instructions, not the normal form.
"""

import dis
import opcode
import sys
from typing import Dict, FrozenSet, Optional, Tuple

from pijit.core.bytecode.instructions.instruction import Function, Instr, Unit

#: A jump in new code; the assembler chooses its direction.
JUMP = "JUMP"
#: The same; a backward one does not check the eval breaker.
JUMP_NO_INTERRUPT = "JUMP_NO_INTERRUPT"
#: Access of new code to the content of a slot, which may be a cell object. The argument is a slot in the original
#: numbering.
LOCAL_OF: Dict[str, str] = {"LOAD_SLOT": "LOAD_FAST", "STORE_SLOT": "STORE_FAST"}

#: Number of cache units after an instruction, by opcode.
CACHES: Dict[int, int] = {
    dis.opmap[name]: sum(fields.values())
    for name, fields in opcode._cache_format.items()  # type: ignore[attr-defined]  # private, from 3.11 on
    if name in dis.opmap}
#: Opcodes of jumps; all are relative to the end of the instruction and its caches.
JUMPS: FrozenSet[int] = frozenset(number for number in dis.hasjrel if number < 256)
#: Opcodes that name an instruction by its distance but never jump. END_ASYNC_FOR names its loop's END_SEND for tools
#: (3.14).
NAMING: FrozenSet[int] = frozenset(number for number in JUMPS if dis.opname[number] == "END_ASYNC_FOR")
#: Opcodes of jumps to lower offsets, and of instructions that name a lower offset.
BACKWARD: FrozenSet[int] = NAMING | frozenset(number for number in JUMPS if "BACKWARD" in dis.opname[number])
HAS_ARGUMENT: FrozenSet[int] = frozenset(getattr(dis, "hasarg", range(dis.HAVE_ARGUMENT, 256)))
FORWARD_JUMP = dis.opmap["JUMP_FORWARD"]
#: The opcodes that jumps of new code get if they lead backwards.
BACKWARD_JUMPS: Dict[str, int] = {
    JUMP: dis.opmap["JUMP_BACKWARD"], JUMP_NO_INTERRUPT: dis.opmap["JUMP_BACKWARD_NO_INTERRUPT"]}
#: Opcodes whose argument is an index into locals, cells and free variables.
SLOTS: FrozenSet[int] = frozenset(number for number in dis.haslocal + dis.hasfree if number < 256)
#: Opcodes whose slot holds a cell.
CELL_SLOTS: FrozenSet[int] = frozenset(
    number for number in SLOTS if number in dis.hasfree or dis.opname[number] == "LOAD_DEREF")
#: Opcodes with two slots in one argument, 4 bits each (3.13).
SLOT_PAIRS: FrozenSet[int] = frozenset(dis.opmap[name] for name in (
    "LOAD_FAST_LOAD_FAST", "STORE_FAST_LOAD_FAST", "STORE_FAST_STORE_FAST", "LOAD_FAST_BORROW_LOAD_FAST_BORROW")
    if name in dis.opmap)

# Pairs of neighbours: the second finds the first by its position, or the first skips the second.
_TOGETHER = frozenset((
    ("PRECALL", "CALL"), ("KW_NAMES", "PRECALL"), ("KW_NAMES", "CALL"), ("SEND", "YIELD_VALUE"),
    ("YIELD_VALUE", "RESUME"), ("END_FOR", "POP_TOP"), ("END_FOR", "POP_ITER")))
_ENDS_OF_LOOPS = {(3, 11): (), (3, 12): ("END_FOR",), (3, 13): ("END_FOR", "POP_TOP"), (3, 14): ("END_FOR", "POP_ITER")}
#: Opcodes at the target of a FOR_ITER; the loop is over after them. FOR_ITER skips all of them except POP_ITER (3.14),
#: which runs. Before 3.14 FOR_ITER itself releases the iterator.
SKIPPED_BY_FOR_ITER: Tuple[int, ...] = tuple(dis.opmap[name] for name in _ENDS_OF_LOOPS[sys.version_info[:2]])


def units_needed(arg: int) -> int:
    """Number of units of an instruction with this argument, without caches."""
    return 1 if arg < 256 else 2 if arg < 65536 else 3 if arg < 1 << 24 else 4


def encoded_units(instr: Instr) -> Tuple[Unit, ...]:
    """The encoded instructions of one instruction of the normal form; one unit if nothing was merged."""
    return instr.units or (Unit(instr.opcode, instr.raw, instr.size, instr.position),)


def encoded_names(instr: Instr) -> Tuple[str, ...]:
    """The names of the encoded instructions of one instruction."""
    return tuple(dis.opname[unit.opcode] for unit in encoded_units(instr))


def why_not_before(function: Function, index: int) -> Optional[str]:
    """The reason why new code before an instruction would change the meaning of the code.

    FOR_ITER ends by skipping END_FOR (3.13: and the POP_TOP after it), wherever its jump leads. PRECALL skips CALL.
    END_FOR and POP_ITER (3.14) are one end of a loop, in normal form too. In normal form nothing is inserted where
    the operand stack holds an item that is not an object (3.14): in the handler of a with statement.
    The interpreter sees that a generator delegates from the neighbours of its YIELD_VALUE. A frame is complete only
    after its first RESUME.

    Args:
        function: from `decode`.
        index: an instruction of it.

    Returns:
        The reason, or None if code may be inserted.
    """
    name = encoded_names(function.instructions[index])[0]
    if name == "END_FOR":
        return "FOR_ITER skips it by its position"
    before = encoded_names(function.instructions[index - 1])[-1] if index else None
    if before is not None and (before, name) in _TOGETHER:
        return "it has to stay directly after {}".format(before)
    if function.operands is not None and index in function.operands.with_offset:
        return "an item of the operand stack is no object"
    if index < first_place(function):
        return "the frame is not complete before the first RESUME has run"
    return None


def first_place(function: Function) -> int:
    """The first instruction after those that complete the frame; 0 in normal form, which keeps these in `prologue`."""
    if function.prologue:
        return 0
    return next((instr.index + 1 for instr in function.instructions if instr.opname == "RESUME"), 0)
