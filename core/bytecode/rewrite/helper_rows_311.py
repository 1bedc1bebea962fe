"""Rows of the instructions of CPython 3.11 to 3.13 that become helper calls.

A call has a slot beside its callable, which is empty (NULL) in most calls. Rewritten code puts the helper ``site``
below the callable. CPython then calls ``site(callable, *arguments)``.
"""

from __future__ import annotations

import sys
from typing import Any, Dict, Optional, Tuple

from bytecode.instr import UNSET

from pijit.core.bytecode.rewrite.helper_rows import OPERATORS, HelperRow, Helpers, Lines, before, common_rows, compared

NULL_FIRST = sys.version_info < (3, 13)
"""Whether the empty slot of a call lies below its callable; from 3.13 on it lies above."""

PREPARED = (("PRECALL", 1),) if sys.version_info < (3, 12) else ()
TESTS = sys.version_info < (3, 13)
"""Whether jumps and `not` test the truth of any value; from 3.13 on the preceding TO_BOOL does."""
_TESTING = ("UNARY_NOT", "POP_JUMP_IF_TRUE", "POP_JUMP_IF_FALSE", "POP_JUMP_FORWARD_IF_TRUE",
            "POP_JUMP_FORWARD_IF_FALSE", "POP_JUMP_BACKWARD_IF_TRUE", "POP_JUMP_BACKWARD_IF_FALSE") if TESTS else ()


def helper_rows(helpers: Helpers) -> Dict[str, HelperRow]:
    """The rows by the name of the instruction."""
    rows = common_rows(helpers, _helper)
    rows.update({
        "BINARY_OP": lambda arg: _operator(helpers, arg),
        "COMPARE_OP": lambda arg: _compare(helpers, arg),
        "BINARY_SLICE": lambda arg: [("BUILD_SLICE", 2)] + _helper(helpers.load, 2),
        "STORE_SLICE": lambda arg: [("BUILD_SLICE", 2), ("BUILD_TUPLE", 3)] + _helper(helpers.store_slot, 1)
        + [("POP_TOP",)],
        "CALL_INTRINSIC_1": lambda arg:
            _helper(helpers.posit, 1) if arg.name == "INTRINSIC_UNARY_POSITIVE" else None,
        "FORMAT_VALUE": lambda arg: _formatted(helpers, arg),
        "FORMAT_WITH_SPEC": _below_top(helpers, "FORMAT_WITH_SPEC"),
        "JUMP_IF_TRUE_OR_POP": _kept(helpers, "POP_JUMP_FORWARD_IF_TRUE"),
        "JUMP_IF_FALSE_OR_POP": _kept(helpers, "POP_JUMP_FORWARD_IF_FALSE"),
        "PUSH_NULL": lambda arg: [("LOAD_CONST", helpers.site)] + ([] if NULL_FIRST else [("SWAP", 2)]),
        "LOAD_GLOBAL": lambda arg:
            [("LOAD_CONST", helpers.site), ("LOAD_GLOBAL", (False, arg[1]))] if arg[0] else None,
        "LOAD_ATTR": lambda arg: _attribute(helpers, *arg if issubclass(type(arg), tuple) else (False, arg)),
        "LOAD_METHOD": lambda arg: _attribute(helpers, True, arg),
        "LOAD_SUPER_ATTR": lambda arg: _super_attribute(helpers, *arg),
        "PRECALL": lambda arg: None if arg else [],
        "CALL": lambda arg: None if arg else _helper(helpers.call_pair, 2),
        "CALL_FUNCTION_EX": lambda arg: [("BUILD_TUPLE", 2 if arg & 1 else 1), ("BUILD_TUPLE", 3)]
        + _helper(helpers.call_unpacked_site, 1),
    })
    rows.update({name: before(_helper, function, name) for name, function in (
        ("BEFORE_WITH", helpers.entered), ("TO_BOOL", helpers.truth), ("CONVERT_VALUE", helpers.stand_in),
        ("FORMAT_SIMPLE", helpers.stand_in))})
    rows.update({name: before(_helper, helpers.truth, name) for name in _TESTING})
    return rows


def _helper(function: Any, operands: int) -> Lines:
    pushed: Lines = [("PUSH_NULL",), ("LOAD_CONST", function)] if NULL_FIRST else [
        ("LOAD_CONST", function), ("PUSH_NULL",)]
    below = [("SWAP", 2), ("SWAP", 3)] if operands == 1 else [("SWAP", 4), ("SWAP", 2), ("SWAP", 4), ("SWAP", 3)]
    prepared = [(name, operands) for name, _ in PREPARED]
    return pushed + below + prepared + [("CALL", operands)]


def _site_below(helpers: Helpers, lines: Lines) -> Lines:
    """Push the site into the slot below the topmost value, which is the callable."""
    return lines + [("LOAD_CONST", helpers.site), ("SWAP", 2)]


def _operator(helpers: Helpers, arg: Any) -> Lines:
    group, _, rest = arg.name.partition("_")
    function = helpers.in_place[OPERATORS[rest]] if group == "INPLACE" else helpers.binary[OPERATORS[arg.name]]
    return _helper(function, 2)


def _compare(helpers: Helpers, arg: Any) -> Optional[Lines]:
    name, _, cast = arg.name.lower().partition("_")
    lines = compared(helpers, _helper, name)
    return lines + _helper(helpers.truth, 1) + [("TO_BOOL",)] if lines and cast else lines


def _attribute(helpers: Helpers, is_method: bool, name: str) -> Lines:
    lines = [("LOAD_CONST", name)] + _helper(helpers.attribute, 2)
    return _site_below(helpers, lines) if is_method else lines


def _super_attribute(helpers: Helpers, is_method: bool, has_arguments: bool, name: str) -> Lines:
    lines = [("BUILD_TUPLE", 3), ("LOAD_CONST", (name, has_arguments))] + _helper(helpers.attribute_of_super, 2)
    return _site_below(helpers, lines) if is_method else lines


def _kept(helpers: Helpers, name: str) -> HelperRow:
    """A jump that keeps the tested value if it jumps and drops it otherwise; CPython 3.11."""
    return lambda target: [("COPY", 1)] + _helper(helpers.truth, 1) + [(name, target), ("POP_TOP",)]


def _below_top(helpers: Helpers, name: str) -> HelperRow:
    """A helper call on the second value of the stack, followed by the instruction itself."""
    def row(arg: Any) -> Lines:
        last: Tuple[Any, ...] = (name, arg) if arg is not UNSET else (name,)
        return [("SWAP", 2)] + _helper(helpers.stand_in, 1) + [("SWAP", 2), last]
    return row


def _formatted(helpers: Helpers, arg: int) -> Optional[Lines]:
    row = _below_top(helpers, "FORMAT_VALUE") if arg & 4 else before(_helper, helpers.stand_in, "FORMAT_VALUE")
    return row(arg)
