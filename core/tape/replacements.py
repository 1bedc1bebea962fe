"""Tables of instruction replacements that all versions of CPython share.

A row maps an instruction's argument to the instructions that replace it, as (name, argument) tuples; None keeps the
instruction. `helper` writes the call of a helper function; it depends on the version.
"""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Optional, Tuple

from bytecode.instr import UNSET

from pijit.core.tape import attributes, iteration, operations, special_methods

Lines = List[Tuple[Any, ...]]
Row = Callable[[Any], Optional[Lines]]
Helper = Callable[[Any, int], Lines]
"""Writes the call of a helper with the given number of stack operands, which its result replaces."""

OPERATORS = {
    "ADD": "add", "SUBTRACT": "sub", "MULTIPLY": "mul", "TRUE_DIVIDE": "truediv", "FLOOR_DIVIDE": "floordiv",
    "MODULO": "mod", "REMAINDER": "mod", "POWER": "pow", "MATRIX_MULTIPLY": "matmul", "AND": "and_", "OR": "or_",
    "XOR": "xor", "LSHIFT": "lshift", "RSHIFT": "rshift"}

COMPARISONS = ("lt", "le", "gt", "ge", "eq", "ne")


def common_rows(helper: Helper) -> Dict[str, Row]:
    """The rows of instructions that all versions have."""
    named = _named_rows(helper)
    named.update({name: before(helper, function, name) for name, function in (
        ("GET_YIELD_FROM_ITER", iteration.delegated), ("UNPACK_SEQUENCE", iteration.streamed),
        ("UNPACK_EX", iteration.streamed), ("LIST_EXTEND", iteration.listed), ("SET_UPDATE", iteration.listed),
        ("DICT_UPDATE", iteration.mapping), ("DICT_MERGE", iteration.mapping))})
    return named


def _named_rows(helper: Helper) -> Dict[str, Row]:
    return {
        "BINARY_SUBSCR": lambda arg: helper(operations.load, 2),
        "STORE_SUBSCR": lambda arg: [("BUILD_TUPLE", 3)] + helper(operations.store_slot, 1) + [("POP_TOP",)],
        "STORE_ATTR": lambda arg: [("BUILD_TUPLE", 2), ("LOAD_CONST", arg)] + helper(attributes.store_attribute, 2)
        + [("POP_TOP",)],
        "DELETE_SUBSCR": lambda arg: helper(operations.delete, 2) + [("POP_TOP",)],
        "DELETE_ATTR": lambda arg: [("LOAD_CONST", arg)] + helper(attributes.delete_attribute, 2) + [("POP_TOP",)],
        "UNARY_NEGATIVE": lambda arg: helper(operations.negate, 1),
        "UNARY_POSITIVE": lambda arg: helper(operations.posit, 1),
        "UNARY_INVERT": lambda arg: helper(operations.invert, 1),
        "CONTAINS_OP": lambda arg: contained(helper, bool(arg)),
        "GET_ITER": lambda arg: helper(iteration.iterate, 1),
    }


def before(helper: Helper, function: Any, name: str) -> Row:
    """A helper call on the topmost value, followed by the instruction itself."""
    return lambda arg: helper(function, 1) + [(name, arg) if arg is not UNSET else (name,)]


def operator_helper(name: str, in_place: bool) -> Any:
    """The helper of an operator, by its name in CPython such as ADD."""
    return (operations.INPLACE if in_place else operations.BINARY)[OPERATORS[name]]


def contained(helper: Helper, negated: bool) -> Lines:
    """`in`, or `not in`."""
    return helper(special_methods.contains, 2) + [("UNARY_NOT",)] * negated


def compared(helper: Helper, name: str) -> Optional[Lines]:
    """A comparison by its name, such as lt; None for `is` and other tests that call no methods of the operands."""
    return helper(operations.BINARY[name], 2) if name in COMPARISONS else None
