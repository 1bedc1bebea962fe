"""Tables of the instructions that become helper calls, as far as all versions of CPython share them.

A row maps an instruction's argument to the instructions that replace it, as (name, argument) tuples; None keeps the
instruction. The helpers are functions of the tape, see `Helpers`. `instrument` applies the rows.
"""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Optional, Tuple

from bytecode.instr import UNSET

from pijit.core.named_tuples import NamedTuple

Lines = List[Tuple[Any, ...]]
HelperRow = Callable[[Any], Optional[Lines]]
HelperCall = Callable[[Any, int], Lines]
"""Writes the call of a helper with the given number of stack operands, which its result replaces. Versions differ."""


class Helpers(NamedTuple):
    """The functions that instrumented code calls.

    ``binary`` and ``in_place`` are keyed by the names of the functions of `operator`, ``binary`` also by comparisons.
    ``site`` stands in the empty slot beside a callable, so that CPython calls ``site(callable, *arguments)`` (3.11).
    A ``call`` helper takes a callable and a tuple of the values above it on the stack.
    """

    binary: Dict[str, Any]
    in_place: Dict[str, Any]
    negate: Any
    posit: Any
    invert: Any
    load: Any
    store_slot: Any
    delete: Any
    attribute: Any
    attribute_of_super: Any
    store_attribute: Any
    delete_attribute: Any
    contains: Any
    truth: Any
    stand_in: Any
    iterate: Any
    delegated: Any
    streamed: Any
    listed: Any
    mapping: Any
    all_listed: Any
    all_mappings: Any
    entered: Any
    site: Any
    call: Any
    call_pair: Any
    call_keywords: Any
    call_unpacked: Any
    call_unpacked_site: Any


OPERATORS = {
    "ADD": "add", "SUBTRACT": "sub", "MULTIPLY": "mul", "TRUE_DIVIDE": "truediv", "FLOOR_DIVIDE": "floordiv",
    "MODULO": "mod", "REMAINDER": "mod", "POWER": "pow", "MATRIX_MULTIPLY": "matmul", "AND": "and_", "OR": "or_",
    "XOR": "xor", "LSHIFT": "lshift", "RSHIFT": "rshift"}
"""Functions of `operator` by CPython's names of operators."""

COMPARISONS = ("lt", "le", "gt", "ge", "eq", "ne")


def common_rows(helpers: Helpers, call: HelperCall) -> Dict[str, HelperRow]:
    """The rows of instructions that all versions have."""
    named = _named_rows(helpers, call)
    named.update({name: before(call, function, name) for name, function in (
        ("GET_YIELD_FROM_ITER", helpers.delegated), ("UNPACK_SEQUENCE", helpers.streamed),
        ("UNPACK_EX", helpers.streamed), ("LIST_EXTEND", helpers.listed), ("SET_UPDATE", helpers.listed),
        ("DICT_UPDATE", helpers.mapping), ("DICT_MERGE", helpers.mapping))})
    return named


def _named_rows(helpers: Helpers, call: HelperCall) -> Dict[str, HelperRow]:
    return {
        "BINARY_SUBSCR": lambda arg: call(helpers.load, 2),
        "STORE_SUBSCR": lambda arg: [("BUILD_TUPLE", 3)] + call(helpers.store_slot, 1) + [("POP_TOP",)],
        "STORE_ATTR": lambda arg: [("BUILD_TUPLE", 2), ("LOAD_CONST", arg)] + call(helpers.store_attribute, 2)
        + [("POP_TOP",)],
        "DELETE_SUBSCR": lambda arg: call(helpers.delete, 2) + [("POP_TOP",)],
        "DELETE_ATTR": lambda arg: [("LOAD_CONST", arg)] + call(helpers.delete_attribute, 2) + [("POP_TOP",)],
        "UNARY_NEGATIVE": lambda arg: call(helpers.negate, 1),
        "UNARY_POSITIVE": lambda arg: call(helpers.posit, 1),
        "UNARY_INVERT": lambda arg: call(helpers.invert, 1),
        "CONTAINS_OP": lambda arg: contained(helpers, call, bool(arg)),
        "GET_ITER": lambda arg: call(helpers.iterate, 1),
    }


def before(call: HelperCall, function: Any, name: str) -> HelperRow:
    """A helper call on the topmost value, followed by the instruction itself."""
    return lambda arg: call(function, 1) + [(name, arg) if arg is not UNSET else (name,)]


def contained(helpers: Helpers, call: HelperCall, negated: bool) -> Lines:
    """`in`, or `not in`."""
    return call(helpers.contains, 2) + [("UNARY_NOT",)] * negated


def compared(helpers: Helpers, call: HelperCall, name: str) -> Optional[Lines]:
    """A comparison by its name, such as lt; None for `is` and other tests that call no methods of the operands."""
    return call(helpers.binary[name], 2) if name in COMPARISONS else None
