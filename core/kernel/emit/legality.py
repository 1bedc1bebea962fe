"""Legality: which operations the numba back end can compile, with reasons as sentences.

The capturer calls `supports` before it puts an operation into a graph.
"""

from __future__ import annotations

from typing import Any, Callable, Dict, Optional, Sequence

import numpy as np

from pijit.core.graph.ir import Graph
from pijit.core.graph.loops import loops_of
from pijit.core.graph.ops import NEEDS_GIL, OPS, SHARES_OBJECTS
from pijit.core.graph.types import Array, Scalar
from pijit.core.graph.verify import dominators
from pijit.core.kernel.emit import reductions, scalars, scans

_MEMORY_KINDS = frozenset("biufc")
MAX_OPERANDS = 16


def supports(name: str, attrs: Dict[str, Any], types: Sequence[Any]) -> Optional[str]:
    """Why the numba back end cannot compile an operation, as a sentence; None when it can.

    Arguments:
        name: the operation's name in ``graph.ops.OPS``.
        attrs: its attributes.
        types: the types of its operands (for ``cast`` and ``const``, the result's type may follow).
    Example:
        >>> supports("truediv", {}, (INT, INT))
        'truediv on py.int64 has no machine code'
    """
    if name not in OPS:
        return "there is no operation %s" % name
    for kind in types:
        reason = _why_not_type(kind)
        if reason:
            return reason
    special = _SPECIAL.get(name)
    if special is not None:
        return special(attrs, types)
    if name in _OF_ROWS and scalars.find_row(name, types[0]) is None:
        return "%s on %r has no machine code" % (name, types[0])
    return None


def _why_not_type(kind: Any) -> Optional[str]:
    if isinstance(kind, Array) and (kind.dtype.kind not in _MEMORY_KINDS or kind.dtype.str not in _MEMORY_DTYPES):
        return "arrays of %s are not supported" % kind.dtype
    if isinstance(kind, Scalar) and kind.family == "np" and kind.dtype.str not in _MEMORY_DTYPES:
        return "scalars of %s are not supported" % kind.dtype
    return None


_MEMORY_DTYPES = frozenset(np.dtype(code).str for code in "?bBhHiIlLqQfdFD")


def _why_not_loop(attrs: Dict[str, Any], types: Sequence[Any]) -> Optional[str]:
    operands, _, results = attrs["types"].partition("->")
    if len(results) != 1:
        return "%s has %d results" % (attrs["ufunc"].__name__, len(results))
    if len(operands) + 1 > MAX_OPERANDS:
        return "%s has more than %d operands" % (attrs["ufunc"].__name__, MAX_OPERANDS)
    for code in operands + results:
        if np.dtype(code).str not in _MEMORY_DTYPES:
            return "%s with the loop %s is not supported" % (attrs["ufunc"].__name__, attrs["types"])
    return None


def _why_not_libm(attrs: Dict[str, Any], types: Sequence[Any]) -> Optional[str]:
    if scalars.LIBM.get(attrs["function"]) != len(types):
        return "math.%s of %d arguments is not the process's libm function" % (attrs["function"], len(types))
    return None


def _why_not_compare(attrs: Dict[str, Any], types: Sequence[Any]) -> Optional[str]:
    if types[0].dtype.kind == "c" and attrs["operator"] not in ("==", "!="):
        return "complex numbers have no order"
    return None


def _why_not_cast(attrs: Dict[str, Any], types: Sequence[Any]) -> Optional[str]:
    if types[0].dtype.kind == "c" and (len(types) < 2 or types[1].dtype.kind != "c"):
        return "a complex number is not converted to another type"
    return None


def _why_not_where(attrs: Dict[str, Any], types: Sequence[Any]) -> Optional[str]:
    arrays = [kind for kind in types if isinstance(kind, Array)]
    if any(kind.layout != "C" for kind in arrays):
        return "where of strided arrays is not supported"
    result = np.dtype(attrs["types"][-1])
    if result.str not in _MEMORY_DTYPES or any(kind.dtype != result for kind in arrays[1:]):
        return "where with the types %s is not supported" % attrs["types"]
    return None


_SPECIAL: Dict[str, Callable[[Dict[str, Any], Sequence[Any]], Optional[str]]] = {
    "where": _why_not_where,
    "ufunc": _why_not_loop, "ufunc_into": _why_not_loop, "reduce": reductions.why_not_reduce,
    "scan": scans.why_not_scan,
    "libm": _why_not_libm,
    "compare": _why_not_compare, "cast": _why_not_cast,
}
_OF_ROWS = frozenset(name for name, _, _ in scalars.ROWS)


def touches_objects(graph: Graph) -> bool:
    """Whether operations read or change Python objects other than arrays, which other threads may change."""
    return any(op.name in SHARES_OBJECTS for block in graph.blocks for op in block.ops)


def has_fast_loop(graph: Graph) -> bool:
    """Whether there is a loop that need not touch a Python object in each iteration."""
    over = dominators(graph)
    slow = {block for block in graph.blocks if any(op.name in NEEDS_GIL for op in block.ops)}
    return any(not (slow & loop.body).intersection(*(over[block] for block, _ in loop.back))
               for loop in loops_of(graph, over))
