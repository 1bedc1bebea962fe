"""Instrumented functions: operators, subscripts, stores, calls and attributes become calls of the tape's helpers.

Each code object is rewritten once and cached. `core/bytecode/rewrite/instrument.py` rewrites.
"""

from __future__ import annotations

import collections
from types import CodeType, FunctionType
from typing import Any, Tuple

from pijit.core.bytecode.rewrite.instrument import Helpers, helper_rows, with_helper_calls
from pijit.core.graph.derivatives import CUTS, ELEMENTWISE, FUNCTIONS
from pijit.core.tape import attributes, calls, iteration, managers, operations, special_methods
from pijit.core.tape.callables import HANDLERS
from pijit.core.tape.callee_rules import CALLEES
from pijit.core.tape.native import (
    attribute_helper,
    call_helper,
    forget_rewritten,
    load_helper,
    remember_rewritten,
    set_instrumented,
    site_helper,
    store_attribute_helper,
    store_slot_helper,
    truth_helper,
)

HELPERS_IN_PYTHON = Helpers(
    binary=operations.BINARY_IN_PYTHON, in_place=operations.INPLACE_IN_PYTHON, negate=operations.negate_in_python,
    posit=operations.posit_in_python, invert=operations.invert, load=operations.load, store_slot=operations.store_slot,
    delete=operations.delete, attribute=attributes.attribute, attribute_of_super=attributes.attribute_of_super,
    store_attribute=attributes.store_attribute, delete_attribute=attributes.delete_attribute,
    contains=special_methods.contains, truth=special_methods.truth, stand_in=special_methods.stand_in,
    iterate=iteration.iterate, delegated=iteration.delegated, streamed=iteration.streamed, listed=iteration.listed,
    mapping=iteration.mapping, all_listed=iteration.all_listed, all_mappings=iteration.all_mappings,
    entered=managers.entered, site=calls.site, call=calls.call, call_pair=calls.call_pair,
    call_keywords=calls.call_keywords, call_unpacked=calls.call_unpacked, call_unpacked_site=calls.call_unpacked_site)
"""Helpers for all kinds of values."""

SITE = site_helper(CALLEES, calls.site)


def call_pair(lower: Any, upper: Any) -> Any:
    """A call with two stack slots and no further arguments (CPython 3.11+): `upper()`, or `lower(upper)`."""
    return SITE(upper) if lower is SITE else SITE(lower, upper)


HELPERS = HELPERS_IN_PYTHON._replace(
    binary=operations.BINARY, in_place=operations.INPLACE, negate=operations.negate, posit=operations.posit,
    load=load_helper(operations.load), store_slot=store_slot_helper(operations.store_slot),
    attribute=attribute_helper(attributes.attribute),
    store_attribute=store_attribute_helper(attributes.store_attribute),
    truth=truth_helper(special_methods.truth), site=SITE, call=call_helper(CALLEES, calls.call), call_pair=call_pair)
"""Helpers in C for plain values on one tape; for all else they call those in Python."""

ROWS = helper_rows(HELPERS)
"""What replaces each instruction."""

LIMIT = 4096
"""Capacity of the cache of rewritten code objects; the least recently used is evicted first."""

_made: "collections.OrderedDict[int, Tuple[CodeType, CodeType]]" = collections.OrderedDict()

_SHARED = frozenset(id(one.__code__) for table in (HANDLERS, FUNCTIONS, CUTS, ELEMENTWISE) for one in table
                    if type(one) is FunctionType)
"""The code of functions that do not run rewritten code. A copy of such a function may."""


def instrumented_code(code: CodeType) -> CodeType:
    """The rewritten code of a code object."""
    found = _made.get(id(code))
    if found is None:
        found = code, with_helper_calls(code, ROWS)
        set_instrumented(found[1], True)
        while len(_made) >= LIMIT:
            old, rewritten = _made.popitem(last=False)[1]
            set_instrumented(rewritten, False)
            forget_rewritten(old)
    else:
        del _made[id(code)]
    _made[id(code)] = found
    return found[1]


def instrumented(function: FunctionType) -> FunctionType:
    """A copy of the function with rewritten code; it shares everything else with the original."""
    made = FunctionType(instrumented_code(function.__code__), function.__globals__, function.__name__,
                        function.__defaults__, function.__closure__)
    made.__kwdefaults__ = function.__kwdefaults__
    made.__qualname__ = function.__qualname__
    return made


def remember(function: FunctionType) -> None:
    """Let calls of a function that was instrumented, and of others with its code, be made in C."""
    code = function.__code__
    found = _made.get(id(code))
    if found is not None and id(code) not in _SHARED:
        remember_rewritten(code, found[1], function.__module__)
