"""Functions of NumPy that kernels call as they are: one row each.

A row's function has no effect but its result, and none if it raises; so a kernel may call it, and where it raises,
warns or answers with another type than was expected, bytecode may call it again. Warnings of arithmetic are raised
(``COMPUTES`` and ``STATISTICS``): bytecode repeats the call and gives them, with the caller's line, and once, also
where the kernel would leave later in the same statement. Of other warnings ``needs`` must say when there are none.

Parameters are those that calls may use, in NumPy's order; a ``*`` marks those that must be known at capture since
they steer the type of the result, a ``#`` those that are sizes: small ones stand for them in samples. Those behind
``...`` are given by keyword only.
"""

from __future__ import annotations

import builtins
import cmath
import math
import operator
from typing import Any, Dict, List, NamedTuple, Tuple

import numpy as np
from pijit.core.graph import helpers


class Function(NamedTuple):
    """A row of the table.

    Attributes:
        path: under which name `resolve` finds it.
        parameters: names in order, with their marks; ``...`` stands for any number of arguments.
        strict: whether an error of arithmetic is raised: bytecode repeats the statement, and a warning would come
            twice.
        needs: what must hold for it never to warn; see capture/library_calls.py.
    """

    path: str
    parameters: Tuple[str, ...]
    strict: bool
    needs: str

    @property
    def object(self) -> Any:
        """The function itself."""
        return resolve(self.path)


def resolve(path: str) -> Any:
    """What a dotted path below NumPy, or from another module, leads to; None if this NumPy has no such function."""
    names = path.split(".")
    found: Any = MODULES.get(names[0], np)
    for name in names[1:] if names[0] in MODULES else names:
        found = getattr(found, name, None)
    return found


MODULES = {"operator": operator, "builtins": builtins, "math": math, "cmath": cmath, "helpers": helpers}
MOVES = {
    "sort": "a axis* kind*", "argsort": "a axis* kind*", "searchsorted": "a v side* sorter",
    "unique": "ar return_index* return_inverse* return_counts*", "argmin": "a axis*", "argmax": "a axis*",
    "any": "a axis* keepdims*", "all": "a axis* keepdims*", "count_nonzero": "a axis* keepdims*", "nonzero": "a",
    "flatnonzero": "a", "argwhere": "a", "where": "condition x y", "take": "a indices axis*",
    "compress": "condition a axis*", "extract": "condition arr", "choose": "a choices", "repeat": "a repeats# axis*",
    "tile": "A reps#", "roll": "a shift axis*", "flip": "m axis*", "fliplr": "m", "flipud": "m", "rot90": "m k*",
    "concatenate": "arrays axis*", "stack": "arrays axis*", "hstack": "tup", "vstack": "tup", "dstack": "tup",
    "column_stack": "tup", "append": "arr values axis*", "delete": "arr obj axis*", "insert": "arr obj values axis*",
    "reshape": "a newshape#", "ravel": "a order*", "transpose": "a axes*", "swapaxes": "a axis1* axis2*",
    "moveaxis": "a source* destination*", "expand_dims": "a axis*", "squeeze": "a axis*",
    "diagonal": "a offset axis1* axis2*", "diag": "v k", "triu": "m k", "tril": "m k", "atleast_1d": "a",
    "atleast_2d": "a", "copy": "a order*", "eye": "N# M# k dtype*", "identity": "n# dtype*", "zeros_like": "a dtype*",
    "ones_like": "a dtype*", "tri": "N# M# k dtype*", "array_equal": "a1 a2", "isin": "element test_elements",
    "bincount": "x weights minlength#", "digitize": "x bins", "partition": "a kth*", "argpartition": "a kth*",
    "intersect1d": "ar1 ar2", "union1d": "ar1 ar2", "setdiff1d": "ar1 ar2", "operator.getitem": "a b#",
    "take_along_axis": "arr indices axis*", "lexsort": "keys axis*", "ix_": "...",
    "select": "condlist choicelist default", "meshgrid": "... indexing* sparse* copy*",
    "broadcast_to": "array shape#", "unravel_index": "indices# shape#", "ravel_multi_index": "multi_index# dims#",
    "lib.stride_tricks.sliding_window_view": "x window_shape# axis*", "logical_and.reduce": "array axis*",
    "logical_or.reduce": "array axis*", "isreal": "x", "iscomplex": "x", "fft.fftshift": "x axes*",
    "fft.ifftshift": "x axes*",
}
"""Functions that look at elements, move and count them."""

COMPUTES = {
    "amin": "a axis* keepdims*", "amax": "a axis* keepdims*", "min": "a axis* keepdims*", "max": "a axis* keepdims*",
    "ptp": "a axis* keepdims*", "pad": "array pad_width# mode* ... constant_values reflect_type*",
    "ascontiguousarray": "a dtype*", "asarray": "a dtype*", "array": "object dtype*",
    "arange": "start# stop# step# dtype*", "full": "shape# fill_value dtype*", "full_like": "a fill_value dtype*",
    "add.reduce": "array axis* dtype*", "multiply.reduce": "array axis* dtype*",
    "maximum.reduce": "array axis* dtype*", "minimum.reduce": "array axis* dtype*",
    "add.accumulate": "array axis* dtype*", "multiply.accumulate": "array axis* dtype*",
    "maximum.accumulate": "array axis* dtype*", "minimum.accumulate": "array axis* dtype*",
    "sum": "a axis* dtype* keepdims*", "prod": "a axis* dtype* keepdims*", "cumsum": "a axis* dtype*",
    "cumprod": "a axis* dtype*", "diff": "a n* axis* prepend append", "ediff1d": "ary", "gradient": "f varargs",
    "nansum": "a axis*", "dot": "a b", "vdot": "a b", "inner": "a b", "outer": "a b", "matmul": "a b", "kron": "a b",
    "tensordot": "a b axes*", "trace": "a offset", "einsum": "subscripts* ... optimize*",
    "linspace": "start stop num# endpoint* retstep* dtype*", "sinc": "x", "hanning": "M#", "hamming": "M#",
    "blackman": "M#", "bartlett": "M#", "angle": "z deg*", "fft.fft": "a n* axis*", "fft.ifft": "a n* axis*",
    "fft.rfft": "a n* axis*", "fft.irfft": "a n* axis*", "fft.fft2": "a", "fft.ifft2": "a", "fft.fftfreq": "n# d",
    "fft.rfftfreq": "n# d", "clip": "a a_min a_max", "around": "a decimals*", "round": "a decimals*",
    "interp": "x xp fp left right", "convolve": "a v mode*", "correlate": "a v mode*", "polyval": "p x",
    "vander": "x N#", "nan_to_num": "x", "allclose": "a b rtol atol", "isclose": "a b rtol atol",
    "linalg.norm": "x ord* axis* keepdims*", "linalg.solve": "a b", "linalg.inv": "a", "linalg.det": "a",
    "linalg.cholesky": "a", "linalg.eigvalsh": "a", "linalg.matrix_power": "a n*", "linalg.pinv": "a",
}
"""Functions that do arithmetic, or cast."""

ON_NUMBERS = {
    "math.floor": "x", "math.ceil": "x", "math.trunc": "x", "math.fabs": "x", "math.isnan": "x", "math.isfinite": "x",
    "math.isinf": "x", "math.degrees": "x", "math.radians": "x", "math.asinh": "x", "math.acosh": "x",
    "math.atanh": "x",
    "math.erf": "x", "math.erfc": "x", "math.gamma": "x", "math.lgamma": "x", "math.log2": "x", "math.pow": "x y",
    "math.hypot": "...", "math.atan2": "x y", "math.fmod": "x y", "math.copysign": "x y", "math.remainder": "x y",
    "math.isclose": "a b rel_tol abs_tol", "math.modf": "x", "math.frexp": "x", "math.ldexp": "x i",
    "math.nextafter": "x y", "math.ulp": "x", "builtins.round": "x n", "builtins.hash": "x",
}
"""Functions that are called with numbers only."""

ON_INTEGERS = {"math.gcd": "...", "math.lcm": "...", "math.isqrt": "x", "math.factorial": "x", "math.comb": "n k",
               "math.perm": "n k"}
"""Functions that are called with integers only: a float may be a warning."""

ON_COMPLEX = {"cmath." + name: "x" for name in (
    "acos acosh asin asinh atan atanh cos cosh exp isfinite isinf isnan log10 phase polar sin sinh sqrt tan tanh").split()}
ON_COMPLEX.update({"cmath.log": "x base", "cmath.rect": "r phi", "cmath.isclose": "a b"})
"""Functions that are called with numbers, real or complex."""

OF_HANDLERS = {
    "builtins.sorted": "iterable reverse*", "builtins.isinstance": "x cls", "builtins.pow": "x y z",
    "math.log": "x base", "math.fsum": "items", "math.dist": "p q", "operator.add": "a b", "operator.mul": "a b",
    "operator.pow": "a b", "builtins.slice": "start stop step",
    "builtins.list.copy": "x", "helpers.part_of": "owner start stop step", "helpers.sorted_by": "items keys reverse",
    "builtins.str": "x", "builtins.repr": "x", "builtins.ascii": "x", "builtins.format": "x spec",
    "builtins.str.join": "x y", "builtins.str.format": "x ...", "operator.mod": "a b", "operator.eq": "a b",
    "operator.ne": "a b", "operator.lt": "a b", "operator.le": "a b", "operator.gt": "a b", "operator.ge": "a b",
    "builtins.int.bit_length": "x", "builtins.float.is_integer": "x", "builtins.chr": "x",
    "builtins.int": "x", "builtins.float": "x",
}
STRING_METHODS = ("capitalize", "count", "endswith", "find", "isalnum", "isalpha", "isdecimal", "isdigit", "islower",
                  "isspace", "isupper", "lower", "lstrip", "replace", "rfind", "rstrip", "startswith", "strip",
                  "swapcase", "title", "upper", "zfill")
OF_HANDLERS.update(("builtins.str." + name, "x ...") for name in STRING_METHODS)
"""Functions that handlers of the capture call, which see to what they are called with."""

STATISTICS = {
    "mean": "a axis* dtype* keepdims*", "var": "a axis* dtype* ddof* keepdims*",
    "std": "a axis* dtype* ddof* keepdims*",
    "average": "a axis*", "median": "a axis* keepdims*", "percentile": "a q axis*", "quantile": "a q axis*",
}
"""Functions that warn of too few elements."""

METHODS = {
    "sum": "axis* dtype* keepdims*", "prod": "axis* dtype* keepdims*", "min": "axis* keepdims*",
    "max": "axis* keepdims*",
    "any": "axis* keepdims*", "all": "axis* keepdims*", "argmin": "axis*", "argmax": "axis*",
    "ptp": "axis* keepdims*",
    "cumsum": "axis* dtype*", "cumprod": "axis* dtype*", "dot": "b", "trace": "offset", "clip": "min max",
    "round": "decimals*", "mean": "axis* dtype* keepdims*", "var": "axis* dtype* ddof* keepdims*",
    "std": "axis* dtype* ddof* keepdims*", "reshape": "...#", "ravel": "order*", "flatten": "order*",
    "transpose": "...*", "swapaxes": "axis1* axis2*", "squeeze": "axis*", "diagonal": "offset",
    "take": "indices axis*",
    "repeat": "repeats# axis*", "compress": "condition axis*", "nonzero": "", "argsort": "axis* kind*",
    "searchsorted": "v side*", "copy": "order*", "astype": "dtype* copy*", "conj": "", "conjugate": "",
    "view": "dtype*",
}


_methods: Any = (getattr(np, "_core", None) or getattr(np, "core"))._methods
CLIP_WARNS = hasattr(_methods, "_clip_dep_is_scalar_nan")
"""Whether this NumPy warns of a bound that is NaN."""


def _is_strict(path: str) -> bool:
    name = path[len("ndarray."):] if path.startswith("ndarray.") else path
    return name in COMPUTES or name in STATISTICS or path in ("ndarray.astype", "operator.pow")


def _rows() -> List[Function]:
    tables = (MOVES, COMPUTES, ON_NUMBERS, ON_INTEGERS, ON_COMPLEX, OF_HANDLERS, STATISTICS)
    named = [(path, names) for table in tables for path, names in table.items()]
    named += [("ndarray." + name, "self " + names) for name, names in METHODS.items()]
    rows = [Function(path, tuple(names.split()), _is_strict(path), "elements" if path.split(".")[-1] in STATISTICS
                     else "")
            for path, names in named]
    return [row for row in rows if callable(row.object) and not (CLIP_WARNS and row.path.endswith("clip"))]


FUNCTIONS: Dict[str, Function] = {row.path: row for row in _rows()}
