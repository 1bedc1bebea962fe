"""Functions whose work one inner loop of a generalised ufunc does: which loop, on what, and what its errors mean.

A loop runs on one matrix or vector per operand, of exactly its types: what NumPy would cast, broadcast or buffer first
is left to NumPy. Products by ``dot`` use another road than ``matmul``; only its vectors meet in a loop.
"""

from __future__ import annotations

import importlib
import re
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from pijit.core.graph.dot_errors import DOT_REPORTS
from pijit.core.graph.types import Array

LINALG: Any = importlib.import_module("numpy.linalg._umath_linalg")

REPORTED, RAISED, IGNORED = "reported", "raised", "ignored"
"""What becomes of floating-point errors: warnings as np.errstate says, an exception in any case, or nothing."""


class Loop(NamedTuple):
    """An inner loop: of which ufunc, its number, its types and what its errors become."""

    ufunc: np.ufunc
    index: int
    types: str
    errors: str

    @property
    def result(self) -> np.dtype:
        """The dtype of the result."""
        return np.dtype(self.types[-1])


class Cores(NamedTuple):
    """The axes of each operand by name, inputs first: None for one that the operand does not have; and all names."""

    operands: Tuple[Tuple[Optional[str], ...], ...]
    names: Tuple[str, ...]


_SOLVERS = {(2, 1): "solve1", (2, 2): "solve"}
_ROWS: Dict[str, Tuple[Dict[Tuple[int, ...], str], str]] = {
    "linalg.solve": (_SOLVERS, RAISED), "linalg.inv": ({(2,): "inv"}, RAISED),
    "linalg.det": ({(2,): "det"}, REPORTED),
    "linalg.cholesky": ({(2,): "cholesky_lo"}, RAISED), "linalg.eigvalsh": ({(2,): "eigvalsh_lo"}, RAISED),
}
"""By the function's path: the loop's name for the operands' numbers of axes, and what its errors become."""

_DOT = ("dot", "inner", "ndarray.dot")
EXACT_IN_LINALG = ("d", "D")
"""Types in which np.linalg computes; it casts others."""


def loop_of(path: str, kinds: Sequence[Any]) -> Optional[Loop]:
    """The loop that does the work of a function of arrays, None if NumPy has to do more than run it."""
    if not all(isinstance(kind, Array) for kind in kinds) or len({kind.dtype.char for kind in kinds}) != 1:
        return None
    axes, code = tuple(kind.ndim for kind in kinds), kinds[0].dtype.char
    if path == "matmul" and len(axes) == 2 and set(axes) <= {1, 2}:
        return _loop(np.matmul, code, 2, REPORTED)
    if path in _DOT and axes == (1, 1) and all(kind.layout == "C" for kind in kinds):
        return _loop(np.matmul, code, 2, REPORTED if DOT_REPORTS else IGNORED)
    names, errors = _ROWS.get(path, ({}, ""))
    if axes not in names or code not in EXACT_IN_LINALG:
        return None
    return _loop(getattr(LINALG, names[axes]), code, len(axes), errors)


def _loop(ufunc: np.ufunc, code: str, count: int, errors: str) -> Optional[Loop]:
    for index, types in enumerate(ufunc.types):
        if types.startswith(code * count + "->"):
            return Loop(ufunc, index, types, errors)
    return None


def multiplies(path: str, kinds: Sequence[Any]) -> bool:
    """Whether a call is a product by ``dot``, which NumPy's C interface makes of any two arrays."""
    return path in ("dot", "ndarray.dot") and len(kinds) == 2 and all(
        isinstance(kind, Array) and kind.ndim in (1, 2) for kind in kinds)


def cores_of(ufunc: np.ufunc, ndims: Sequence[int]) -> Cores:
    """The axes of the operands of a ufunc, of which the inputs have these numbers of axes."""
    groups = re.findall(r"\(([^)]*)\)", ufunc.signature or "")
    parts: List[List[str]] = [re.findall(r"\w+\??", group) for group in groups]
    missing = {name for part, ndim in zip(parts, ndims) if len(part) > ndim for name in part if name.endswith("?")}
    operands = tuple(tuple(None if name in missing else name for name in part) for part in parts)
    return Cores(operands, tuple(dict.fromkeys(name for part in parts for name in part)))
