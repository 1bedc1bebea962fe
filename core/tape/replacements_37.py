"""Replacements of instructions of CPython 3.7 to 3.10."""

from __future__ import annotations

from typing import Any, Dict, Optional

from pijit.core.tape import attributes, calls, iteration, managers, special_methods
from pijit.core.tape.replacements import (
    OPERATORS,
    Lines,
    Row,
    before,
    common_rows,
    compared,
    contained,
    operator_helper,
)


def replacement(one: Any) -> Optional[Lines]:
    """The instructions that replace one; None keeps it."""
    group, _, rest = one.name.partition("_")
    if rest in OPERATORS and group in ("BINARY", "INPLACE"):
        return _helper(operator_helper(rest, group == "INPLACE"), 2)
    make = ROWS.get(one.name)
    return None if make is None else make(one.arg)


def _helper(function: Any, operands: int) -> Lines:
    if operands == 1:
        return [("LOAD_CONST", function), ("ROT_TWO",), ("CALL_FUNCTION", 1)]
    return [("LOAD_CONST", function), ("ROT_THREE",), ("CALL_FUNCTION", 2)]


def _call(function: Any, arguments: int) -> Lines:
    """Call a helper with the callable and a tuple of the values above it on the stack."""
    return [("BUILD_TUPLE", arguments), ("LOAD_CONST", function), ("ROT_THREE",), ("CALL_FUNCTION", 2)]


def _compare(arg: Any) -> Optional[Lines]:
    name = getattr(arg, "name", "").lower()
    return contained(_helper, name == "not_in") if name in ("in", "not_in") else compared(_helper, name)


def _kept(name: str) -> Row:
    """A jump that keeps the tested value if it jumps and drops it otherwise."""
    return lambda target: [("DUP_TOP",)] + _helper(special_methods.truth, 1) + [(name, target), ("POP_TOP",)]


def _formatted(arg: int) -> Lines:
    if arg & 4 == 0:
        return _helper(special_methods.stand_in, 1) + [("FORMAT_VALUE", arg)]
    return [("ROT_TWO",)] + _helper(special_methods.stand_in, 1) + [("ROT_TWO",), ("FORMAT_VALUE", arg)]


def _unpacking(name: str, helper: Any) -> Row:
    """A literal with several unpacked operands, which CPython 3.7 and 3.8 build by one instruction."""
    return lambda arg: [("BUILD_TUPLE", arg)] + _helper(helper, 1) + [("UNPACK_SEQUENCE", arg), (name, arg)]


ROWS: Dict[str, Row] = common_rows(_helper)
ROWS.update({name: before(_helper, special_methods.truth, name)
             for name in ("UNARY_NOT", "POP_JUMP_IF_TRUE", "POP_JUMP_IF_FALSE")})
ROWS.update({
    "JUMP_IF_TRUE_OR_POP": _kept("POP_JUMP_IF_TRUE"),
    "JUMP_IF_FALSE_OR_POP": _kept("POP_JUMP_IF_FALSE"),
    "COMPARE_OP": _compare,
    "FORMAT_VALUE": _formatted,
    "SETUP_WITH": before(_helper, managers.entered, "SETUP_WITH"),
    "LOAD_ATTR": lambda arg: [("LOAD_CONST", arg)] + _helper(attributes.attribute, 2),
    "LOAD_METHOD": lambda arg: [("LOAD_CONST", arg)] + _helper(attributes.attribute, 2),
    "CALL_FUNCTION": lambda arg: _call(calls.call, arg),
    "CALL_METHOD": lambda arg: _call(calls.call, arg),
    "CALL_FUNCTION_KW": lambda arg: _call(calls.call_keywords, arg + 1),
    "CALL_FUNCTION_EX": lambda arg: _call(calls.call_unpacked, 2 if arg & 1 else 1),
})
ROWS.update({name: _unpacking(name, iteration.all_listed) for name in (
    "BUILD_LIST_UNPACK", "BUILD_TUPLE_UNPACK", "BUILD_TUPLE_UNPACK_WITH_CALL", "BUILD_SET_UNPACK")})
ROWS.update({name: _unpacking(name, iteration.all_mappings) for name in (
    "BUILD_MAP_UNPACK", "BUILD_MAP_UNPACK_WITH_CALL")})
