"""Replacements of instructions of CPython 3.11 to 3.13.

A call has a slot beside its callable, which is empty (NULL) in most calls. Rewritten code puts `calls.site` below the
callable. CPython then calls `site(callable, *arguments)`.
"""

from __future__ import annotations

import sys
from typing import Any, Dict, Optional, Tuple

from bytecode.instr import UNSET

from pijit.core.tape import attributes, calls, managers, operations, special_methods
from pijit.core.tape.replacements import Lines, Row, before, common_rows, compared, operator_helper

NULL_FIRST = sys.version_info < (3, 13)
"""Whether the empty slot of a call lies below its callable; from 3.13 on it lies above."""

PREPARED = (("PRECALL", 1),) if sys.version_info < (3, 12) else ()
TESTS = sys.version_info < (3, 13)
"""Whether jumps and `not` test the truth of any value; from 3.13 on the preceding TO_BOOL does."""


def replacement(one: Any) -> Optional[Lines]:
    """The instructions that replace one; None keeps it."""
    make = ROWS.get(one.name)
    return None if make is None else make(one.arg)


def _helper(function: Any, operands: int) -> Lines:
    pushed: Lines = [("PUSH_NULL",), ("LOAD_CONST", function)] if NULL_FIRST else [
        ("LOAD_CONST", function), ("PUSH_NULL",)]
    below = [("SWAP", 2), ("SWAP", 3)] if operands == 1 else [("SWAP", 4), ("SWAP", 2), ("SWAP", 4), ("SWAP", 3)]
    prepared = [(name, operands) for name, _ in PREPARED]
    return pushed + below + prepared + [("CALL", operands)]


def _site_below(lines: Lines) -> Lines:
    """Push the site into the slot below the topmost value, which is the callable."""
    return lines + [("LOAD_CONST", calls.site), ("SWAP", 2)]


def _operator(arg: Any) -> Lines:
    group, _, rest = arg.name.partition("_")
    return _helper(operator_helper(rest if group == "INPLACE" else arg.name, group == "INPLACE"), 2)


def _compare(arg: Any) -> Optional[Lines]:
    name, _, cast = arg.name.lower().partition("_")
    lines = compared(_helper, name)
    return lines + _helper(special_methods.truth, 1) + [("TO_BOOL",)] if lines and cast else lines


def _global(arg: Any) -> Optional[Lines]:
    return [("LOAD_CONST", calls.site), ("LOAD_GLOBAL", (False, arg[1]))] if arg[0] else None


def _attribute(arg: Any) -> Lines:
    is_method, name = arg if issubclass(type(arg), tuple) else (False, arg)
    lines = [("LOAD_CONST", name)] + _helper(attributes.attribute, 2)
    return _site_below(lines) if is_method else lines


def _super_attribute(arg: Any) -> Lines:
    is_method, has_arguments, name = arg
    lines = [("BUILD_TUPLE", 3), ("LOAD_CONST", (name, has_arguments))] + _helper(attributes.attribute_of_super, 2)
    return _site_below(lines) if is_method else lines


def _intrinsic(arg: Any) -> Optional[Lines]:
    return _helper(operations.posit, 1) if arg.name == "INTRINSIC_UNARY_POSITIVE" else None


def _kept(name: str) -> Row:
    """A jump that keeps the tested value if it jumps and drops it otherwise; CPython 3.11."""
    return lambda target: [("COPY", 1)] + _helper(special_methods.truth, 1) + [(name, target), ("POP_TOP",)]


def _below_top(name: str) -> Row:
    """A helper call on the second value of the stack, followed by the instruction itself."""
    def row(arg: Any) -> Lines:
        last: Tuple[Any, ...] = (name, arg) if arg is not UNSET else (name,)
        return [("SWAP", 2)] + _helper(special_methods.stand_in, 1) + [("SWAP", 2), last]
    return row


def _formatted(arg: int) -> Optional[Lines]:
    row = _below_top("FORMAT_VALUE") if arg & 4 else before(_helper, special_methods.stand_in, "FORMAT_VALUE")
    return row(arg)


ROWS: Dict[str, Row] = common_rows(_helper)
ROWS.update({
    "BINARY_OP": _operator,
    "COMPARE_OP": _compare,
    "BINARY_SLICE": lambda arg: [("BUILD_SLICE", 2)] + _helper(operations.load, 2),
    "STORE_SLICE": lambda arg: [("BUILD_SLICE", 2), ("BUILD_TUPLE", 3)] + _helper(operations.store_slot, 1)
    + [("POP_TOP",)],
    "CALL_INTRINSIC_1": _intrinsic,
    "FORMAT_VALUE": _formatted,
    "FORMAT_WITH_SPEC": _below_top("FORMAT_WITH_SPEC"),
    "JUMP_IF_TRUE_OR_POP": _kept("POP_JUMP_FORWARD_IF_TRUE"),
    "JUMP_IF_FALSE_OR_POP": _kept("POP_JUMP_FORWARD_IF_FALSE"),
    "PUSH_NULL": lambda arg:
        [("LOAD_CONST", calls.site)] + ([] if NULL_FIRST else [("SWAP", 2)]),
    "LOAD_GLOBAL": _global,
    "LOAD_ATTR": _attribute,
    "LOAD_METHOD": lambda arg: _attribute((True, arg)),
    "LOAD_SUPER_ATTR": _super_attribute,
    "PRECALL": lambda arg: None if arg else [],
    "CALL": lambda arg: None if arg else _helper(calls.call_pair, 2),
    "CALL_FUNCTION_EX": lambda arg: [("BUILD_TUPLE", 2 if arg & 1 else 1), ("BUILD_TUPLE", 3)]
    + _helper(calls.call_unpacked_site, 1),
})
ROWS.update({name: before(_helper, function, name) for name, function in (
    ("BEFORE_WITH", managers.entered), ("TO_BOOL", special_methods.truth), ("CONVERT_VALUE", special_methods.stand_in),
    ("FORMAT_SIMPLE", special_methods.stand_in))})
if TESTS:
    ROWS.update({name: before(_helper, special_methods.truth, name) for name in (
        "UNARY_NOT", "POP_JUMP_IF_TRUE", "POP_JUMP_IF_FALSE", "POP_JUMP_FORWARD_IF_TRUE", "POP_JUMP_FORWARD_IF_FALSE",
        "POP_JUMP_BACKWARD_IF_TRUE", "POP_JUMP_BACKWARD_IF_FALSE")})
