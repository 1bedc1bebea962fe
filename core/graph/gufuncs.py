"""Generalised ufuncs: functions whose work is one inner loop, with its operands and error rules.

A loop runs on one matrix or vector per operand, of exactly its types. If NumPy would cast, broadcast or buffer first,
NumPy itself runs the function. Products by ``dot`` do not use the loop of ``matmul``, except for vectors.
models/numpy/library.py looks up the loops, emit/linear_algebra.py calls them.
"""

from __future__ import annotations

import importlib
import re
from typing import Any, Dict, List, Optional, Sequence, Tuple

import numpy as np

from pijit.core.graph.dot_errors import DOT_REPORTS
from pijit.core.graph.types import Array
from pijit.core.named_tuples import NamedTuple

LINALG: Any = importlib.import_module("numpy.linalg._umath_linalg")

REPORTED, RAISED, IGNORED = "reported", "raised", "ignored"
"""Effect of floating-point errors: warnings as np.errstate says, always an exception, or none."""


class GufuncLoop(NamedTuple):
    """An inner loop: its ufunc, its number in it, its types, and the effect of its errors."""

    ufunc: np.ufunc
    index: int  # type: ignore[assignment]  # hides tuple.index
    types: str
    errors: str

    @property
    def result(self) -> np.dtype[Any]:
        """The dtype of the result."""
        return np.dtype(self.types[-1])


class Cores(NamedTuple):
    """The axes of each operand by name, inputs first, None for an axis that the operand lacks; and all names."""

    operands: Tuple[Tuple[Optional[str], ...], ...]
    names: Tuple[str, ...]


_SOLVERS: Dict[Tuple[int, ...], str] = {(2, 1): "solve1", (2, 2): "solve"}
_ROWS: Dict[str, Tuple[Dict[Tuple[int, ...], str], str]] = {
    "linalg.solve": (_SOLVERS, RAISED), "linalg.inv": ({(2,): "inv"}, RAISED),
    "linalg.det": ({(2,): "det"}, REPORTED),
    "linalg.cholesky": ({(2,): "cholesky_lo"}, RAISED), "linalg.eigvalsh": ({(2,): "eigvalsh_lo"}, RAISED),
}
"""By the function's path: the loop's name for the operands' numbers of axes, and the effect of its errors."""

_DOT = ("dot", "inner", "ndarray.dot")
EXACT_IN_LINALG = ("d", "D")
"""Types in which np.linalg computes; it casts other types."""


def loop_of(path: str, kinds: Sequence[Any]) -> Optional[GufuncLoop]:
    """The loop that does all the work of a function for these operands; None if NumPy has to do more."""
    if not all(isinstance(kind, Array) for kind in kinds) or len({kind.dtype.char for kind in kinds}) != 1:
        return None
    axes, code = tuple(kind.ndim for kind in kinds), kinds[0].dtype.char
    if path == "matmul" and len(axes) == 2 and set(axes) <= {1, 2}:
        return _loop(np.matmul, code, 2, REPORTED)
    by_rows = axes == (1, 1) and all(kind.layout == "C" for kind in kinds)
    if path in _DOT and (by_rows or code == "e" and path != "inner" and len(axes) == 2 and set(axes) <= {1, 2}):
        return _loop(np.matmul, code, 2, REPORTED if DOT_REPORTS else IGNORED)
    names, errors = _ROWS.get(path, ({}, ""))
    if axes not in names or code not in EXACT_IN_LINALG:
        return None
    return _loop(getattr(LINALG, names[axes]), code, len(axes), errors)


def _loop(ufunc: np.ufunc, code: str, count: int, errors: str) -> Optional[GufuncLoop]:
    for index, types in enumerate(ufunc.types):
        if types.startswith(code * count + "->"):
            return GufuncLoop(ufunc, index, types, errors)
    return None


def multiplies(path: str, kinds: Sequence[Any]) -> bool:
    """Whether a call is a product by ``dot``, which NumPy's C interface computes for any two arrays."""
    return path in ("dot", "ndarray.dot") and len(kinds) == 2 and all(
        isinstance(kind, Array) and kind.ndim in (1, 2) for kind in kinds)


def cores_of(ufunc: np.ufunc, ndims: Sequence[int]) -> Cores:
    """The axes of a ufunc's operands, given the numbers of axes of its inputs."""
    groups = re.findall(r"\(([^)]*)\)", ufunc.signature or "")
    parts: List[List[str]] = [re.findall(r"\w+\??", group) for group in groups]
    missing = {name for part, ndim in zip(parts, ndims) if len(part) > ndim for name in part if name.endswith("?")}
    operands = tuple(tuple(None if name in missing else name for name in part) for part in parts)
    return Cores(operands, tuple(dict.fromkeys(name for part in parts for name in part)))
