"""Rows of the instructions of CPython 3.7 to 3.10 that become helper calls.

`instrument` selects it. A row must leave on the stack what the instruction leaves.
"""

from __future__ import annotations

from typing import Any, Dict, Optional

from pijit.core.bytecode.rewrite.helper_rows import (
    OPERATORS,
    HelperRow,
    Helpers,
    Lines,
    before,
    common_rows,
    compared,
    contained,
)


def helper_rows(helpers: Helpers) -> Dict[str, HelperRow]:
    """The rows by the name of the instruction."""
    rows = common_rows(helpers, _helper)
    rows.update(_operators("BINARY_", helpers.binary))
    rows.update(_operators("INPLACE_", helpers.in_place))
    rows.update({name: before(_helper, helpers.truth, name)
                 for name in ("UNARY_NOT", "POP_JUMP_IF_TRUE", "POP_JUMP_IF_FALSE")})
    rows.update({
        "JUMP_IF_TRUE_OR_POP": _kept(helpers, "POP_JUMP_IF_TRUE"),
        "JUMP_IF_FALSE_OR_POP": _kept(helpers, "POP_JUMP_IF_FALSE"),
        "COMPARE_OP": lambda arg: _compare(helpers, arg),
        "FORMAT_VALUE": lambda arg: _formatted(helpers, arg),
        "SETUP_WITH": before(_helper, helpers.entered, "SETUP_WITH"),
        "LOAD_ATTR": lambda arg: [("LOAD_CONST", arg)] + _helper(helpers.attribute, 2),
        "LOAD_METHOD": lambda arg: [("LOAD_CONST", arg)] + _helper(helpers.attribute, 2),
        "CALL_FUNCTION": lambda arg: _call(helpers.call, arg),
        "CALL_METHOD": lambda arg: _call(helpers.call, arg),
        "CALL_FUNCTION_KW": lambda arg: _call(helpers.call_keywords, arg + 1),
        "CALL_FUNCTION_EX": lambda arg: _call(helpers.call_unpacked, 2 if arg & 1 else 1),
    })
    rows.update({name: _unpacking(name, helpers.all_listed) for name in (
        "BUILD_LIST_UNPACK", "BUILD_TUPLE_UNPACK", "BUILD_TUPLE_UNPACK_WITH_CALL", "BUILD_SET_UNPACK")})
    rows.update({name: _unpacking(name, helpers.all_mappings) for name in (
        "BUILD_MAP_UNPACK", "BUILD_MAP_UNPACK_WITH_CALL")})
    return rows


def _operators(prefix: str, functions: Dict[str, Any]) -> Dict[str, HelperRow]:
    return {prefix + name: _operator(functions[function]) for name, function in OPERATORS.items()}


def _operator(function: Any) -> HelperRow:
    return lambda arg: _helper(function, 2)


def _helper(function: Any, operands: int) -> Lines:
    if operands == 1:
        return [("LOAD_CONST", function), ("ROT_TWO",), ("CALL_FUNCTION", 1)]
    return [("LOAD_CONST", function), ("ROT_THREE",), ("CALL_FUNCTION", 2)]


def _call(function: Any, arguments: int) -> Lines:
    """Call a helper with the callable and a tuple of the values above it on the stack."""
    return [("BUILD_TUPLE", arguments), ("LOAD_CONST", function), ("ROT_THREE",), ("CALL_FUNCTION", 2)]


def _compare(helpers: Helpers, arg: Any) -> Optional[Lines]:
    name = getattr(arg, "name", "").lower()
    if name in ("in", "not_in"):
        return contained(helpers, _helper, name == "not_in")
    return compared(helpers, _helper, name)


def _kept(helpers: Helpers, name: str) -> HelperRow:
    """A jump that keeps the tested value if it jumps and drops it otherwise."""
    return lambda target: [("DUP_TOP",)] + _helper(helpers.truth, 1) + [(name, target), ("POP_TOP",)]


def _formatted(helpers: Helpers, arg: int) -> Lines:
    if arg & 4 == 0:
        return _helper(helpers.stand_in, 1) + [("FORMAT_VALUE", arg)]
    return [("ROT_TWO",)] + _helper(helpers.stand_in, 1) + [("ROT_TWO",), ("FORMAT_VALUE", arg)]


def _unpacking(name: str, helper: Any) -> HelperRow:
    """A literal with several unpacked operands, which CPython 3.7 and 3.8 build by one instruction."""
    return lambda arg: [("BUILD_TUPLE", arg)] + _helper(helper, 1) + [("UNPACK_SEQUENCE", arg), (name, arg)]
