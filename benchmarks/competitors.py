"""Competing versions of a kernel, and the comparison of their results with NumPy's."""

from __future__ import annotations

import re
import time
from typing import Any, Callable, Dict, List, Optional, Tuple

import numba
import numpy as np

import pijit
from benchmarks.cases.case import Case

try:
    import numexpr
except ImportError:
    numexpr = None

WARM_UP = 3
"""Calls before the clock runs: the first compiles, the second uses what the first observed."""

TOLERANCE = {8: 1e-7, 4: 2e-3}
"""Allowed error of competitors, relative to the largest value, by the element's size: they add up in other orders."""


class Competitors:
    """The versions of one kernel for one dtype.

    Attributes:
        functions: by name, without the versions that refuse the case.
        refused: why these versions refuse it.
        first: the seconds of the first calls, compilation included.
    """

    def __init__(self, case: Case, dtype: str, size: int) -> None:
        self.case = case
        self.functions: Dict[str, Callable[..., Any]] = {"numpy": case.function}
        self.refused: Dict[str, str] = {}
        self.first: Dict[str, float] = {}
        options: Dict[str, Any] = {"error_model": "numpy", "fastmath": case.fastmath}
        makers: Dict[str, Optional[Callable[[], Callable[..., Any]]]] = {
            # in one thread, as the others
            "pijit": lambda: pijit.jit(case.function, jit_config={"cache": False, "parallel": False}),
            "njit": lambda: numba.njit(case.function),
            "tuned": (lambda: numba.njit(**options)(case.tuned)) if case.tuned is not None else None,
            "numexpr": (lambda: _numexpr(case)) if case.expression and numexpr is not None else None,
        }
        for name, make in makers.items():
            if make is not None:
                self._start(name, make, case.make(size, dtype))

    def _start(self, name: str, make: Callable[[], Callable[..., Any]], arguments: Tuple[Any, ...]) -> None:
        """Make a version and call it once; an exception is its refusal."""
        try:
            start = time.perf_counter()
            function = make()
            function(*arguments)
            self.first[name] = time.perf_counter() - start
            self.functions[name] = function
        except Exception as error:  # numba has many kinds of refusal
            if name == "pijit" or name == "tuned" and not isinstance(error, ImportError):  # numba may need SciPy
                raise
            self.refused[name] = "%s: %s" % (type(error).__name__, _said(str(error)))

    def compare(self, size: int, dtype: str) -> Dict[str, str]:
        """Differences from NumPy's results, by version: pijit's in any bit, others' beyond rounding.

        Versions without a difference are left out.
        """
        expected = outcome(self.case.function, self.case.make(size, dtype))
        found = {}
        for name, function in self.functions.items():
            if name == "numpy":
                continue
            for _ in range(WARM_UP if name == "pijit" else 1):
                got = outcome(function, self.case.make(size, dtype))
            wanted = expected[:1] if name == "numexpr" else expected
            why = differ(wanted, got) if name == "pijit" else far(wanted, got)
            if why:
                found[name] = why
        return found


def _numexpr(case: Case) -> Callable[..., Any]:
    names = case.function.__code__.co_varnames[:case.function.__code__.co_argcount]
    numexpr.set_num_threads(1)
    return lambda *arguments: numexpr.evaluate(case.expression, dict(zip(names, arguments)), {})


def _said(text: str) -> str:
    """The line of numba's long error text that names the unsupported construct."""
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("Failed in")]
    told = [line for line in lines if line.startswith(("No impl", "Use of unsupported", "Cannot unify", ">>>"))]
    return re.sub(r" at 0x\w+|, defined at .*", "", (told or lines or [""])[0])[:160]


def start_compilers() -> None:
    """Compile one function with pijit and numba, so that no kernel's first call includes their one-time start-up."""
    for jit in (pijit.jit, numba.njit):
        jit(_any_kernel)(np.ones(3))


def _any_kernel(x: Any) -> Any:
    return (x + 1.0) * 2.0 - x.sum()


def outcome(function: Callable[..., Any], arguments: Tuple[Any, ...]) -> List[Any]:
    """The outcome of a call: the parts of its result, then its written arguments."""
    result = function(*arguments)
    written = [argument for argument in arguments if isinstance(argument, (np.ndarray, dict))]
    return list(result if isinstance(result, tuple) else (result,)) + written


def differ(expected: List[Any], got: List[Any]) -> str:
    """The first difference of two outcomes in type, layout or bits; empty if there is none."""
    for one, two in zip(expected, got):
        if type(one) is not type(two):
            return "type %s, not %s" % (type(two).__name__, type(one).__name__)
        if isinstance(one, np.ndarray):
            if (one.dtype, one.shape, one.strides) != (two.dtype, two.shape, two.strides):
                return "other dtype, shape or layout"
            if one.tobytes() != two.tobytes():
                return "other bits"
        elif repr(one) != repr(two):
            return "%r, not %r" % (two, one)
    return "" if len(expected) == len(got) else "other number of results"


def far(expected: List[Any], got: List[Any]) -> str:
    """The first difference of two outcomes beyond rounding; empty if there is none."""
    for one, two in zip(expected, got):
        if isinstance(one, dict):
            continue
        left, right = np.asarray(one), np.asarray(two)
        if left.shape != right.shape:
            return "other shape"
        wide = np.complex128 if left.dtype.kind == "c" else np.float64
        left, right = left.astype(wide), right.astype(wide)
        scale = max(float(np.abs(left).max()), 1e-30) if left.size else 1.0
        tolerance = TOLERANCE.get(np.asarray(one).dtype.itemsize, 1e-7)
        if np.asarray(one).dtype == np.uint8:
            tolerance = 1.0 / 255.0
        if not np.allclose(left, right, rtol=tolerance, atol=tolerance * scale):
            return "other values"
    return ""
