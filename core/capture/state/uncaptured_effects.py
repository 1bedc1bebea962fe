"""Effects of uncaptured instructions on the abstract state: stack items popped, and values invalidated.

They are applied to each instruction that stays bytecode. The tables cover the opcodes of all supported CPython
versions. The analysis and the graph builder call it. It must not miss an effect: where it is unsure, it invalidates.
"""

from __future__ import annotations

import sys
from typing import Callable, Dict, List, Optional

from pijit.core.bytecode.codec.decode import Instr
from pijit.core.bytecode.flow.control_flow import EXCEPTION_ITEMS
from pijit.core.capture.state.frame_state import FrameState
from pijit.core.capture.values.element_types import LOOKED_AT, list_like
from pijit.core.capture.values.lattice import (
    UNBOUND,
    Abstract,
    Instance,
    LoopIterator,
    OpaqueObject,
    Sequence,
    Unknown,
    Unrolled,
    class_of,
)
from pijit.core.errors import Break
from pijit.core.graph.ir import Value
from pijit.core.graph.types import TEXT_ITERATORS, WORD, Holding, ListOf, Object
from pijit.guards.facts import is_among


def _arg(instr: Instr) -> int:
    return instr.arg or 0


HAS_QUALNAME = sys.version_info < (3, 11)
"""Whether MAKE_FUNCTION takes the qualified name from the stack, above the code."""


def _names_on_stack(instr: Instr) -> bool:
    """Whether the keyword names of a call are a stack operand rather than part of the instruction (3.11, 3.12)."""
    return type(instr.value) is not tuple


POPS: Dict[str, Callable[[Instr], int]] = {
    "CALL_FUNCTION": lambda i: _arg(i) + 1,
    "CALL_FUNCTION_KW": lambda i: _arg(i) + 1 + _names_on_stack(i),
    "CALL_FUNCTION_EX": lambda i: 2 + (_arg(i) & 1),
    "CALL_METHOD": lambda i: _arg(i) + 2,
    "CALL_METHOD_KW": lambda i: _arg(i) + 2 + _names_on_stack(i),
    "BUILD_TUPLE": _arg, "BUILD_LIST": _arg, "BUILD_SET": _arg, "BUILD_STRING": _arg, "BUILD_SLICE": _arg,
    "BUILD_TUPLE_UNPACK": _arg, "BUILD_LIST_UNPACK": _arg, "BUILD_SET_UNPACK": _arg, "BUILD_MAP_UNPACK": _arg,
    "BUILD_TUPLE_UNPACK_WITH_CALL": _arg, "BUILD_MAP_UNPACK_WITH_CALL": _arg,
    "BUILD_MAP": lambda i: 2 * _arg(i),
    "BUILD_CONST_KEY_MAP": lambda i: _arg(i) + 1,
    "FORMAT_VALUE": lambda i: 2 if _arg(i) & 4 else 1,
    "BUILD_INTERPOLATION": lambda i: 2 + (_arg(i) & 1), "BUILD_TEMPLATE": lambda i: 2,
    "MAKE_FUNCTION": lambda i: 1 + HAS_QUALNAME + bin(_arg(i) & 31).count("1"),
    "RAISE_VARARGS": _arg, "POP_EXCEPT": lambda i: EXCEPTION_ITEMS,
}

MADE: Dict[str, type] = {
    "BUILD_LIST": list, "BUILD_LIST_UNPACK": list, "BUILD_MAP": dict, "BUILD_CONST_KEY_MAP": dict,
    "BUILD_MAP_UNPACK": dict, "BUILD_SET": set, "BUILD_SET_UNPACK": set, "FORMAT_VALUE": str,
    "BUILD_STRING": str, "CONVERT_VALUE": str,
}
"""The class of the container or string that an instruction pushes."""

UNPACKED: Dict[str, Callable[[Instr], int]] = {
    "UNPACK_SEQUENCE": _arg, "UNPACK_EX": lambda i: (_arg(i) & 0xFF) + 1 + (_arg(i) >> 8),
}


def unpacked(instr: Instr) -> Optional[int]:
    """The number of values that an unpacking instruction pushes, else None."""
    count = UNPACKED.get(instr.opname)
    return count(instr) if count is not None else None


_FIXED = {
    0: ("LOAD_CONST", "LOAD_FAST", "LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF", "LOAD_CLASSDEREF", "LOAD_CLOSURE", "NOP",
        "DELETE_FAST", "DELETE_GLOBAL", "DELETE_NAME", "DELETE_DEREF", "JUMP_FORWARD", "JUMP_ABSOLUTE", "SETUP_LOOP",
        "POP_BLOCK", "SETUP_FINALLY", "SETUP_EXCEPT", "IMPORT_FROM", "LOAD_BUILD_CLASS", "LOAD_ASSERTION_ERROR",
        "GEN_START", "BEGIN_FINALLY", "WITH_EXCEPT_START", "BREAK_LOOP", "CONTINUE_LOOP", "RERAISE", "LOAD_CONTENT",
        "DELETE_CONTENT", "LOAD_CELL",
        "MAKE_CELL"),
    1: ("LOAD_ATTR", "LOAD_METHOD", "UNARY_POSITIVE", "UNARY_NEGATIVE", "UNARY_NOT", "UNARY_INVERT", "POP_TOP",
        "DELETE_ATTR", "STORE_GLOBAL", "STORE_NAME", "STORE_DEREF", "STORE_FAST", "UNPACK_SEQUENCE", "UNPACK_EX",
        "GET_ITER",
        "FOR_ITER", "LIST_APPEND", "SET_ADD", "LIST_EXTEND", "SET_UPDATE", "DICT_UPDATE", "DICT_MERGE",
        "LIST_TO_TUPLE",
        "POP_JUMP_IF_FALSE", "POP_JUMP_IF_TRUE", "JUMP_IF_FALSE_OR_POP", "JUMP_IF_TRUE_OR_POP", "SETUP_WITH",
        "RETURN_VALUE", "PRINT_EXPR", "DUP_TOP", "GET_LEN", "IMPORT_STAR", "MATCH_SEQUENCE", "MATCH_MAPPING",
        "STORE_CONTENT", "STORE_CELL", "TO_BOOL", "POP_JUMP_IF_NONE", "POP_JUMP_IF_NOT_NONE", "CONVERT_VALUE",
        "PUSH_EXC_INFO",
        "CHECK_EXC_MATCH", "CALL_INTRINSIC_1"),
    2: ("BINARY_SUBSCR", "DELETE_SUBSCR", "STORE_ATTR", "COMPARE_OP", "IS_OP", "CONTAINS_OP", "IMPORT_NAME",
        "MAP_ADD", "JUMP_IF_NOT_EXC_MATCH", "ROT_TWO", "DUP_TOP_TWO", "MATCH_KEYS", "CALL_INTRINSIC_2"),
    3: ("STORE_SUBSCR", "ROT_THREE", "MATCH_CLASS", "LOAD_SUPER_ATTR", "LOAD_SUPER_METHOD"),
    4: ("ROT_FOUR",),
    6: ("END_FINALLY",),
    7: ("WITH_CLEANUP_START",),  # the callable is below them and is popped too
    9: ("WITH_CLEANUP_FINISH",),
}
_FIXED_POPS: Dict[str, int] = {name: count for count, names in _FIXED.items() for name in names}


def pops(instr: Instr) -> Optional[int]:
    """The number of items that the instruction may pop or change; None when it is not known."""
    name = instr.opname
    if name in POPS:
        return POPS[name](instr)
    if name in ("ROT_N", "COPY", "SWAP"):
        return _arg(instr)
    if name.startswith(("BINARY_", "INPLACE_")) and name != "BINARY_SUBSCR":
        return 2
    return _FIXED_POPS.get(name)


def reach(instr: Instr) -> Optional[int]:
    """The depth down to which the instruction reads the stack; None when it is not known."""
    if instr.opname in ("LIST_APPEND", "LIST_EXTEND", "DICT_MERGE", "DICT_UPDATE", "SET_ADD", "SET_UPDATE"):
        return _arg(instr) + 1
    if instr.opname == "MAP_ADD":
        return _arg(instr) + 2
    if instr.opname == "IMPORT_FROM":
        return 1
    return pops(instr)


def apply_fallback(instr: Instr, state: FrameState, depth_after: int, result: Optional[Abstract]) -> FrameState:
    """The state after bytecode has run ``instr``. ``result`` is the observed value that it pushes, if known."""
    exact = _EXACT.get(instr.opname)
    if exact is not None:
        after = state.copy()
        exact(instr, after)
        return after
    count = pops(instr)
    kept = 0 if count is None else max(len(state.stack) - count, 0)
    stack = state.stack[:min(kept, depth_after)]
    while len(stack) < depth_after:
        stack.append(Unknown("PJ218", instr.index))
    if result is None and instr.opname == "GET_ITER":
        result = _text_iterator(instr, state.stack[-1]) or _list_iterator(instr, state.stack[-1])
    made = MADE.get(instr.opname) or _list_of_operator(instr, state)
    if result is None and made is not None:
        result = Instance(Object(made), defined_at=instr.index)
    if isinstance(result, Sequence) and len(result.items) == unpacked(instr) == depth_after - kept:
        return FrameState(dict(state.locals), stack[:kept] + list(reversed(result.items)))
    # below the pushed value: the iterator, or the ``__exit__`` of the block
    pushed = 2 if instr.opname in ("FOR_ITER", "SETUP_WITH") else 1
    if result is not None and depth_after == kept + pushed:
        stack[-1] = result
    return FrameState(dict(state.locals), stack)


def _text_iterator(instr: Instr, value: Abstract) -> Optional[Abstract]:
    """The result of ``iter`` for a string or bytes."""
    kind = class_of(value)
    if not is_among(kind, TEXT_ITERATORS):
        return None
    words = (Value(-1, WORD),)
    return LoopIterator(TEXT_ITERATORS[kind], words, (Instance(Object(kind)),), defined_at=instr.index)  # type: ignore


def _list_iterator(instr: Instr, value: Abstract) -> Optional[Abstract]:
    """The result of ``iter`` for a list with a known or expected element type."""
    expected = None
    if isinstance(value, Instance) and isinstance(value.type, (ListOf, Holding)) and value.type.python is list:
        expected = value.type
    elif isinstance(value, OpaqueObject) and type(value.sample) is list:
        expected = list_like(value.sample[:LOOKED_AT])  # type: ignore[assignment]
    if expected is None:
        return None
    return LoopIterator("list", (Value(-1, WORD),), (Instance(expected),), defined_at=instr.index)


MAKES_LIST = frozenset(["BINARY_ADD", "BINARY_MULTIPLY"])


def _list_of_operator(instr: Instr, state: FrameState) -> Optional[type]:
    """``list`` if an operator makes one from lists, else None."""
    if instr.opname not in MAKES_LIST:
        return None
    kinds = [class_of(value) for value in state.stack[-2:]]
    lists = sum(kind is list for kind in kinds)
    if instr.opname == "BINARY_ADD":
        return list if lists == 2 else None
    return list if lists == 1 and any(kind is int for kind in kinds) else None


def is_shuffle(instr: Instr) -> bool:
    """Whether the instruction only moves values. It then runs no code of the user's, apart from finalizers."""
    return instr.opname in _EXACT


def causes_of(broken: Break, instr: Instr, state: FrameState) -> List[Abstract]:
    """The operands from outside that may be why ``instr`` stays bytecode. Empty where it always does."""
    count = pops(instr) or 0
    if not count or "opcode" in broken.facts:
        return []
    operands = state.stack[-count:]
    if broken.reason_id == "PJ201":
        operands = operands[:2 if instr.opname.startswith("CALL_METHOD") else 1]
    return [value for value in operands if value.source is not None]


def _load_fast(instr: Instr, state: FrameState) -> None:
    value = state.locals.get(instr.value, UNBOUND)
    if isinstance(value, LoopIterator):
        value = Unknown("PJ209", instr.index)
    state.stack.append(value if value is not UNBOUND else Unknown("PJ212", instr.index))


def _store_fast(instr: Instr, state: FrameState) -> None:
    value = state.stack.pop()
    shared = isinstance(value, (LoopIterator, Unrolled))  # kernels allow one user: the loop that has it on the stack
    state.locals[instr.value] = Unknown("PJ209", instr.index) if shared else value


def _delete_fast(instr: Instr, state: FrameState) -> None:
    state.locals[instr.value] = UNBOUND


def _pop_top(instr: Instr, state: FrameState) -> None:
    state.stack.pop()


def _dup_top(instr: Instr, state: FrameState) -> None:
    state.stack.append(state.stack[-1])


def _rotate(instr: Instr, state: FrameState) -> None:
    count = {"ROT_TWO": 2, "ROT_THREE": 3, "ROT_FOUR": 4}.get(instr.opname, _arg(instr))
    items = state.stack[-count:]
    state.stack[-count:] = [items[-1]] + items[:-1]


def _load_and_clear(instr: Instr, state: FrameState) -> None:
    value = state.locals.get(instr.value, UNBOUND)
    state.stack.append(Unknown("PJ209", instr.index) if isinstance(value, LoopIterator) else value)
    state.locals[instr.value] = UNBOUND


def _copy(instr: Instr, state: FrameState) -> None:
    state.stack.append(state.stack[-_arg(instr)])


def _swap(instr: Instr, state: FrameState) -> None:
    below = -_arg(instr)
    state.stack[-1], state.stack[below] = state.stack[below], state.stack[-1]


_EXACT: Dict[str, Callable[[Instr, FrameState], None]] = {
    "LOAD_FAST": _load_fast, "STORE_FAST": _store_fast, "DELETE_FAST": _delete_fast, "POP_TOP": _pop_top,
    "DUP_TOP": _dup_top, "ROT_TWO": _rotate, "ROT_THREE": _rotate, "ROT_FOUR": _rotate, "ROT_N": _rotate,
    "COPY": _copy, "SWAP": _swap, "LOAD_FAST_AND_CLEAR": _load_and_clear,
}
