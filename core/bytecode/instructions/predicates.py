"""Predicates and accessors of single instructions in normal form: what an instruction does, without its opcode's name.

The capturer, the pipeline and the reports ask here. The sets of `opcodes` are for questions about groups.
"""

from __future__ import annotations

import sys
from typing import Callable, Dict, Optional, Sequence, Tuple

from pijit.core.bytecode.instructions import opcodes
from pijit.core.bytecode.instructions.instruction import Instr

NAMES_ON_STACK = not (3, 11) <= sys.version_info < (3, 13)
"""Whether the names of a call's keywords are on the operand stack, rather than part of the call."""
_FINDING = frozenset(["BINARY_SUBSCR", "CALL_METHOD", "CALL_METHOD_KW"])
_STORING_BACK = (["SWAP", "ROT_TWO", "STORE_SUBSCR"] if "SWAP" in opcodes.PRESENT else ["ROT_THREE", "STORE_SUBSCR"])


def is_return(instr: Instr) -> bool:
    return instr.opname in opcodes.RETURNS


def swapped_with(instr: Instr) -> Optional[int]:
    """How deep the operand is that an instruction swaps with the top, counted from 1; None if it swaps none."""
    return {"ROT_TWO": 2, "SWAP": instr.arg or 0}.get(instr.opname)


def drops(instr: Instr) -> bool:
    """Whether an instruction only drops the top of the stack."""
    return instr.opname in opcodes.DROPS


def loads_local(instr: Instr) -> bool:
    return instr.opname in opcodes.LOCAL_LOADS


def stores_local(instr: Instr) -> bool:
    return instr.opname in opcodes.LOCAL_STORES


def deletes_local(instr: Instr) -> bool:
    return instr.opname in opcodes.LOCAL_DELETES


def writes_local(instr: Instr) -> bool:
    """Whether an instruction stores or deletes a local variable."""
    return instr.opname in opcodes.LOCAL_WRITES


def writes_global(instr: Instr) -> bool:
    return instr.opname in opcodes.GLOBAL_WRITES


def writes_cell(instr: Instr) -> bool:
    """Whether an instruction stores or deletes a variable that is in a cell."""
    return instr.opname in opcodes.CELL_WRITES


def saves_local(instr: Instr) -> bool:
    """Whether an instruction saves a local on the operand stack for an inlined comprehension (3.12)."""
    return instr.opname in opcodes.LOCAL_SAVES


def loads_constant(instr: Instr) -> bool:
    return instr.opname in opcodes.CONSTANT_LOADS


def loads_attribute(instr: Instr) -> bool:
    """Whether an instruction loads an attribute that is not called as a method at once."""
    return instr.opname in opcodes.ATTRIBUTE_LOADS


def loads_method(instr: Instr) -> bool:
    """Whether an instruction loads a method and leaves its owner on the stack."""
    return instr.opname in opcodes.METHOD_LOADS


def loads_item(instr: Instr) -> bool:
    return instr.opname in opcodes.SUBSCRIPT_LOADS


def stores_item(instr: Instr) -> bool:
    return instr.opname in opcodes.SUBSCRIPT_STORES


def finds_shared(instr: Instr) -> bool:
    """Whether an instruction may push an object to which other paths lead: an item, or the result of a method."""
    return instr.opname in _FINDING


def stores_back(instructions: Sequence[Instr]) -> bool:
    """Whether a run of instructions begins by storing the result of the operator of ``x[i] += ...``."""
    return [instr.opname for instr in instructions[:len(_STORING_BACK)]] == _STORING_BACK


def compares(instr: Instr) -> bool:
    return instr.opname in opcodes.COMPARISONS


def tests_truth(instr: Instr) -> bool:
    """Whether an instruction tests the truth of a value and does nothing else with it."""
    return instr.opname in opcodes.TRUTH_TESTS


def unpacks_sequence(instr: Instr) -> bool:
    """Whether an instruction unpacks a sequence of known length; starred targets do not count."""
    return instr.opname in opcodes.SEQUENCE_UNPACKINGS


def steps_iterator(instr: Instr) -> bool:
    """Whether an instruction is the step of a loop at its header."""
    return instr.opname in opcodes.ITERATIONS


def makes_iterator(instr: Instr) -> bool:
    return instr.opname in opcodes.ITERATOR_MAKERS


def makes_function(instr: Instr) -> bool:
    return instr.opname in opcodes.FUNCTION_MAKERS


def builds_tuple(instr: Instr) -> bool:
    return instr.opname in opcodes.TUPLE_BUILDS


def builds_dict(instr: Instr) -> bool:
    return instr.opname in opcodes.DICT_BUILDS


def builds_set(instr: Instr) -> bool:
    return instr.opname in opcodes.SET_BUILDS


def adds_to_set(instr: Instr) -> bool:
    """Whether an instruction adds members to a set that is being built."""
    return instr.opname in opcodes.SET_ADDITIONS


def enters_with(instr: Instr) -> bool:
    return instr.opname in opcodes.WITH_ENTRIES


def ends_block(instr: Instr) -> bool:
    """Whether an instruction pops an entry of the block stack at the normal end of a block."""
    return instr.opname in opcodes.BLOCK_ENDS


def breaks_loop(instr: Instr) -> bool:
    """Whether an instruction unwinds to the innermost loop and leaves it (3.7)."""
    return instr.opname in opcodes.LOOP_BREAKS


def exits_loop(instr: Instr) -> bool:
    """Whether an instruction unwinds blocks on its way out of a loop or to its header (3.7)."""
    return instr.opname in opcodes.LOOP_EXITS


def raises(instr: Instr) -> bool:
    return instr.opname in opcodes.RAISES


def handles_exceptions(instr: Instr) -> bool:
    """Whether an instruction belongs to a with statement or a handler."""
    return instr.opname in opcodes.HANDLER_OPS


def calls(instr: Instr) -> bool:
    return instr.opname in opcodes.CALLS


def calls_plainly(instr: Instr) -> bool:
    """Whether an instruction is a call with positional arguments alone, of no method."""
    return instr.opname in opcodes.PLAIN_CALLS


def calls_method(instr: Instr) -> bool:
    return instr.opname in opcodes.METHOD_CALLS


def outer_write(instr: Instr) -> Optional[Tuple[str, str]]:
    """What an instruction writes outside of the frame, as (action, place); None if it writes nothing there.

    Example:
        ("store", "attribute") for an assignment to an attribute
    """
    return opcodes.OUTER_WRITES.get(instr.opname)


_ABOVE_CALLABLE: Dict[str, Callable[[int], int]] = {
    "CALL_FUNCTION": lambda count: count, "CALL_METHOD": lambda count: count,
    "CALL_FUNCTION_KW": lambda count: count + NAMES_ON_STACK, "CALL_METHOD_KW": lambda count: count + NAMES_ON_STACK,
    "CALL_FUNCTION_EX": lambda flags: 1 + (flags & 1),
    "LOAD_ATTR": lambda name: 0,
}


def operands_above_callable(instr: Instr) -> Optional[int]:
    """Number of operands above the object that an instruction calls, or whose attribute it reads; None for others.

    Reading an attribute may call a property.
    """
    above = _ABOVE_CALLABLE.get(instr.opname)
    return above(instr.arg or 0) if above is not None else None
