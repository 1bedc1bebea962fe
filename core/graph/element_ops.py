"""Arithmetic on single elements in loop nests: the facts that fusion, plans and emitters ask for.

A ufunc applies such an operation to each element; `fusion.scalar_operation` gives its name. The machine code is in
kernel/llvm/nest/elements.py.
"""

from __future__ import annotations

from typing import Any, Dict, FrozenSet

import numpy as np

from pijit.core.named_tuples import NamedTuple

SCALAR_POWERS: Dict[float, Any] = {2: np.square, 0.5: np.sqrt, 1: np.positive, -1: np.reciprocal}
"""The ufunc that NumPy calls for a power of an array, by the exponent."""


class ElementOp(NamedTuple):
    """What is true of an operation; the first columns are about floats.

    Attributes:
        raises_flags: it can raise a floating-point flag that NumPy reports.
        underflows: that flag may be an underflow.
        divides: it is a quotient or a root: slow, and it may raise a flag even if the last operand is neither small
            nor large.
        passes_errors: the result is infinite or NaN if an operand is.
        bounded: the result's exponent is bounded by those of the operands.
        cheap: computing it again costs less than storing and loading the result.
        passes_zero_sign: for 0.0 and -0.0 as an operand the results are equal, but zeros may have other signs.
        ignores_zero_sign: it is arithmetic with the same result for 0.0 and -0.0.
        unsigned_zero: which operands must never be -0.0 so that the result never is: "any" (one of them), "first",
            or "none". "" means that it is not known.
        zero_of: which operand makes the result 0 or NaN if it is 0: "any" (one of them), or "first". "" means that none
            does, or that it is not known.
        exponent: how the bound of the result's exponent follows from those of the operands: see
            kernel/emit/exponent_bounds.py.
        wide: it is written the same way for vectors of floats and for single floats.
        streamed: rows with non-temporal stores may contain it.
    """

    raises_flags: bool = False
    underflows: bool = False
    divides: bool = False
    passes_errors: bool = False
    bounded: bool = False
    cheap: bool = False
    passes_zero_sign: bool = False
    ignores_zero_sign: bool = False
    unsigned_zero: str = ""
    zero_of: str = ""
    exponent: str = ""
    wide: bool = False
    streamed: bool = False


ELEMENT_OPS: Dict[str, ElementOp] = {
    "add": ElementOp(raises_flags=True, passes_errors=True, bounded=True, cheap=True, passes_zero_sign=True,
                     unsigned_zero="any", exponent="sum", wide=True, streamed=True),
    "sub": ElementOp(raises_flags=True, passes_errors=True, bounded=True, cheap=True, passes_zero_sign=True,
                     unsigned_zero="first", exponent="sum", wide=True, streamed=True),
    "mul": ElementOp(raises_flags=True, underflows=True, passes_errors=True, bounded=True, cheap=True,
                     passes_zero_sign=True, zero_of="any", exponent="product", wide=True, streamed=True),
    "truediv": ElementOp(raises_flags=True, underflows=True, divides=True, bounded=True, zero_of="first",
                         exponent="product", wide=True, streamed=True),
    "square": ElementOp(raises_flags=True, underflows=True, passes_errors=True, bounded=True, ignores_zero_sign=True,
                        unsigned_zero="none", exponent="product", wide=True, streamed=True),
    "sqrt": ElementOp(raises_flags=True, divides=True, passes_errors=True, unsigned_zero="first", wide=True,
                      streamed=True),
    "reciprocal": ElementOp(raises_flags=True, underflows=True, divides=True),
    "neg": ElementOp(passes_errors=True, bounded=True, cheap=True, passes_zero_sign=True, zero_of="first", wide=True,
                     streamed=True),
    "abs": ElementOp(passes_errors=True, bounded=True, cheap=True, unsigned_zero="none", wide=True, streamed=True),
    "minimum": ElementOp(streamed=True),
    "maximum": ElementOp(streamed=True),
    "clip": ElementOp(streamed=True),
    "where": ElementOp(exponent="choice", streamed=True),
    "picked": ElementOp(exponent="choice of 1"),
    "and": ElementOp(streamed=True),
    "or": ElementOp(streamed=True),
    "xor": ElementOp(streamed=True),
    "invert": ElementOp(streamed=True),
    **dict.fromkeys("less less_equal greater greater_equal equal not_equal".split(), ElementOp(streamed=True)),
}


def _named(column: str) -> FrozenSet[str]:
    return frozenset(name for name, info in ELEMENT_OPS.items() if getattr(info, column))


RAISING = _named("raises_flags")
UNDERFLOWING = _named("underflows")
DIVIDING = _named("divides")
PASSING = _named("passes_errors")
BOUNDED = _named("bounded")
CHEAP_ELEMENTS = _named("cheap")
PASSES_ZERO_SIGN = _named("passes_zero_sign")
IGNORES_ZERO_SIGN = _named("ignores_zero_sign")
UNSIGNED_ZERO: Dict[str, str] = {name: info.unsigned_zero for name, info in ELEMENT_OPS.items() if info.unsigned_zero}
ZERO_OF: Dict[str, str] = {name: info.zero_of for name, info in ELEMENT_OPS.items() if info.zero_of}
EXPONENT_RULES: Dict[str, str] = {name: info.exponent for name, info in ELEMENT_OPS.items()}
WIDE = _named("wide")
STREAMED = _named("streamed")
