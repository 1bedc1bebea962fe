"""Table of NumPy and standard-library functions that kernels call as they are: one row each.

A row's function has no effect except its result, and none if it raises. So a kernel may call it. If it raises, warns or
returns an unexpected type, bytecode may call it again. Warnings of arithmetic are raised (``COMPUTES`` and
``STATISTICS``): bytecode repeats the call and gives them once, with the caller's line. That also holds if the kernel
would leave later in the same statement. For other warnings ``needs`` must say when there are none.

Parameters are those that calls may use, in NumPy's order. ``*`` marks parameters that must be known at capture, because
the type of the result depends on them. ``#`` marks sizes: small ones stand for them in samples. Parameters after
``...`` or ``|`` are keyword-only. ``out`` is never passed on. A function that has it also has the row ``into.PATH``.
That row's function takes an array first and returns what the function would have left in it.
"""

from __future__ import annotations

import builtins
import cmath
import collections
import math
import operator
import time
from functools import lru_cache
from typing import Any, Dict, Iterator, List, Tuple

import numpy as np

from pijit.core.graph import library_helpers, scatters
from pijit.core.named_tuples import NamedTuple


class Trait:
    """What is true of a library function, as bits.

    NEW_CONTAINER: the result, if it is a list or another container, is a new object.
    REPEATS: elements of arrays that are shorter than those of samples are repeated, so the result has any strides.
    READS_FIRST: all operands are read in their original state, whatever memory an output shares with them.
    ANY_STRIDE: on one axis the elements do not depend on the stride of an output.
    ANY_ORDER: the elements do not depend on the strides of an output.
    ROUNDS_SUMS: an output of float16 holds the sums before they are divided, so that they are rounded twice.
    """

    NEW_CONTAINER = 1 << 0
    REPEATS = 1 << 1
    READS_FIRST = 1 << 2
    ANY_STRIDE = 1 << 3
    ANY_ORDER = 1 << 4
    ROUNDS_SUMS = 1 << 5


class LibraryFunction(NamedTuple):
    """A row of the table.

    Attributes:
        path: the name by which `resolve` finds it.
        parameters: names in order, with their marks; ``...`` stands for any number of arguments, ``|`` for none.
        strict: whether an error of arithmetic is raised: bytecode repeats the statement, and a warning would come
            twice.
        needs: the condition under which it never warns; see capture/models/numpy/library.py.
        traits: bits of `Trait`.
        operation: the operation that makes the result, where it can; see capture/models/numpy/library.py.
        axis: the axis along which it joins arrays by default.
        saving: the ns per element that float32 saves, if it is a ufunc; see passes/lower_precision.py.
    """

    path: str
    parameters: Tuple[str, ...]
    strict: bool
    needs: str
    traits: int = 0
    operation: str = ""
    axis: int = 0
    saving: float = 0.0

    @property
    def least_edge(self) -> int:
        """The minimum axis length. For shorter axes the result has another type, or there is none."""
        return _LEAST_EDGES.get(self.needs, 1)

    @property
    def object(self) -> Any:
        """The function itself."""
        return resolve(self.path)


def resolve(path: str) -> Any:
    """The object at a dotted path in NumPy or another module; None if this NumPy has no such function."""
    if path.startswith(INTO):
        return _into(path[len(INTO):])
    names = path.split(".")
    found: Any = MODULES.get(names[0], np)
    for name in names[1:] if names[0] in MODULES else names:
        found = getattr(found, name, None)
    return found


INTO = "into."


@lru_cache(maxsize=None)
def _into(path: str) -> Any:
    return library_helpers.into(resolve(path))


MODULES = {"operator": operator, "builtins": builtins, "math": math, "cmath": cmath, "collections": collections,
           "time": time, "helpers": library_helpers, "scatters": scatters}
MOVES = {
    "sort": "a axis* kind*", "argsort": "a axis* kind*", "searchsorted": "a v side* sorter",
    "unique": "ar return_index* return_inverse* return_counts* axis*", "argmin": "a axis* out | keepdims*",
    "argmax": "a axis* out | keepdims*", "any": "a axis* out keepdims* | where",
    "all": "a axis* out keepdims* | where", "count_nonzero": "a axis* keepdims*", "nonzero": "a", "flatnonzero": "a",
    "argwhere": "a", "where": "condition x y", "take": "a indices axis* out mode*",
    "compress": "condition a axis* out", "extract": "condition arr", "choose": "a choices out mode*",
    "repeat": "a repeats# axis*", "tile": "A reps#", "roll": "a shift axis*", "flip": "m axis*", "fliplr": "m",
    "flipud": "m", "rot90": "m k*", "concatenate": "arrays axis* out | dtype* casting*",
    "stack": "arrays axis* out | dtype* casting*", "hstack": "tup", "vstack": "tup", "dstack": "tup",
    "column_stack": "tup", "append": "arr values axis*", "delete": "arr obj axis*", "insert": "arr obj values axis*",
    "reshape": "a newshape#", "ravel": "a order*", "transpose": "a axes*", "swapaxes": "a axis1* axis2*",
    "moveaxis": "a source* destination*", "expand_dims": "a axis*", "squeeze": "a axis*",
    "diagonal": "a offset axis1* axis2*", "diag": "v k", "triu": "m k", "tril": "m k", "atleast_1d": "a",
    "atleast_2d": "a", "copy": "a order*", "imag": "val", "eye": "N# M# k dtype* order*", "identity": "n# dtype*",
    "zeros_like": "a dtype* order* subok* shape#", "ones_like": "a dtype* order* subok* shape#",
    "tri": "N# M# k dtype*", "array_equal": "a1 a2", "isin": "element test_elements",
    "bincount": "x weights minlength#", "digitize": "x bins", "partition": "a kth* axis*",
    "argpartition": "a kth* axis*", "intersect1d": "ar1 ar2", "union1d": "ar1 ar2", "setdiff1d": "ar1 ar2",
    "operator.getitem": "a b#", "take_along_axis": "arr indices axis*", "lexsort": "keys axis*", "ix_": "...",
    "select": "condlist choicelist default", "meshgrid": "... indexing* sparse* copy*",
    "broadcast_to": "array shape#", "unravel_index": "indices# shape#", "ravel_multi_index": "multi_index# dims#",
    "lib.stride_tricks.sliding_window_view": "x window_shape# axis*", "isreal": "x", "iscomplex": "x",
    "fft.fftshift": "x axes*", "fft.ifftshift": "x axes*", "rollaxis": "a axis* start*", "atleast_3d": "a",
    "array_split": "ary indices_or_sections# axis*", "split": "ary indices_or_sections# axis*",
    "hsplit": "ary indices_or_sections#", "vsplit": "ary indices_or_sections#", "diagflat": "v k",
    "triu_indices": "n# k# m#", "tril_indices": "n# k# m#", "diag_indices": "n# ndim*",
    "indices": "dimensions# dtype* sparse*", "array_equiv": "a1 a2", "setxor1d": "ar1 ar2", "in1d": "ar1 ar2",
    "trim_zeros": "filt trim*", "size": "a axis*", "block": "arrays", "zeros": "shape# dtype* order*",
    "ones": "shape# dtype* order*", "empty": "shape# dtype* order*", "empty_like": "a dtype* order* subok* shape#",
    "isneginf": "x", "isposinf": "x", "r_.__getitem__": "key", "c_.__getitem__": "key", "mgrid.__getitem__": "key#",
    "ogrid.__getitem__": "key#",
}
"""Functions that inspect, move and count elements."""

COMPUTES = {
    "amin": "a axis* out keepdims* initial where", "amax": "a axis* out keepdims* initial where",
    "min": "a axis* out keepdims* initial where", "max": "a axis* out keepdims* initial where",
    "ptp": "a axis* out keepdims*", "pad": "array pad_width# mode* ... constant_values reflect_type*",
    "ascontiguousarray": "a dtype*", "asarray": "a dtype* order*", "array": "object dtype* | copy* order* ndmin*",
    "arange": "start# stop# step# dtype*", "full": "shape# fill_value dtype* order*",
    "full_like": "a fill_value dtype* order* subok* shape#", "sum": "a axis* dtype* out keepdims* initial where",
    "prod": "a axis* dtype* out keepdims* initial where", "cumsum": "a axis* dtype* out",
    "cumprod": "a axis* dtype* out", "diff": "a n* axis* prepend append", "ediff1d": "ary",
    "gradient": "f ... axis* edge_order*", "nansum": "a axis*", "dot": "a b out", "vdot": "a b", "inner": "a b",
    "outer": "a b out", "matmul": "a b out", "kron": "a b", "tensordot": "a b axes*",
    "trace": "a offset axis1* axis2* dtype* out", "einsum": "subscripts* ... optimize* out",
    "linspace": "start stop num# endpoint* retstep* dtype*", "sinc": "x", "hanning": "M#", "hamming": "M#",
    "blackman": "M#", "bartlett": "M#", "angle": "z deg*", "fft.fft": "a n* axis*", "fft.ifft": "a n* axis*",
    "fft.rfft": "a n* axis*", "fft.irfft": "a n* axis*", "fft.fft2": "a", "fft.ifft2": "a", "fft.fftfreq": "n# d",
    "fft.rfftfreq": "n# d", "clip": "a a_min a_max out", "around": "a decimals* out", "round": "a decimals* out",
    "interp": "x xp fp left right", "convolve": "a v mode*", "correlate": "a v mode*", "polyval": "p x",
    "vander": "x N#", "nan_to_num": "x | nan posinf neginf", "allclose": "a b rtol atol equal_nan",
    "isclose": "a b rtol atol equal_nan",
    "linalg.norm": "x ord* axis* keepdims*", "linalg.solve": "a b", "linalg.inv": "a", "linalg.det": "a",
    "linalg.slogdet": "a", "linalg.eigh": "a UPLO*", "linalg.eig": "a", "linalg.eigvals": "a", "linalg.qr": "a",
    "linalg.svd": "a full_matrices* compute_uv* hermitian*", "linalg.lstsq": "a b rcond*",
    "linalg.matrix_rank": "A tol hermitian*", "linalg.cond": "x p*", "linalg.multi_dot": "arrays",
    "linalg.tensorsolve": "a b axes*", "cross": "a b axisa* axisb* axisc* axis*", "cov": "m y rowvar*",
    "corrcoef": "x y rowvar*", "histogram": "a bins# range# density* weights", "asanyarray": "a dtype* order*",
    "asfortranarray": "a dtype*", "logspace": "start stop num# endpoint* base dtype*", "unwrap": "p discont axis*",
    "geomspace": "start stop num# endpoint* dtype*", "i0": "x", "trapz": "y x dx axis*", "trapezoid": "y x dx axis*",
    "roots": "p", "poly": "seq_of_zeros", "polyder": "p m*", "polyint": "p m*",
    "polynomial.polynomial.polyval": "x c", "fft.fftn": "a", "fft.ifftn": "a", "fft.rfft2": "a", "fft.irfft2": "a",
    "nancumsum": "a axis*", "nanprod": "a axis*", "linalg.cholesky": "a", "linalg.eigvalsh": "a UPLO*",
    "linalg.matrix_power": "a n*", "linalg.pinv": "a",
}
COMPUTES.update(("scatters." + name, "a b axis* ...") for name in scatters.BY_NAME)
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
"""Functions that are called with integers only: a float may cause a warning."""

ON_COMPLEX = {"cmath." + name: "x" for name in (
    "acos acosh asin asinh atan atanh cos cosh exp isfinite isinf isnan log10 phase polar sin sinh sqrt tan "
    "tanh").split()}
ON_COMPLEX.update({"cmath.log": "x base", "cmath.rect": "r phi", "cmath.isclose": "a b"})
"""Functions that are called with numbers, real or complex."""

CLOCKS = {"time.%s%s" % (name, unit): ""
          for name in ("perf_counter", "monotonic", "time", "process_time", "thread_time")
          for unit in ("", "_ns")}
"""Clocks: computations before the read of a clock must not move after it."""

OF_HANDLERS = {
    "builtins.sorted": "iterable reverse*", "builtins.isinstance": "x cls", "builtins.pow": "x y z",
    "math.log": "x base", "math.fsum": "items", "math.dist": "p q", "operator.add": "a b", "operator.mul": "a b",
    "operator.pow": "a b", "builtins.slice": "start stop step",
    "helpers.union": "a b", "helpers.intersection": "a b", "helpers.difference": "a b",
    "helpers.symmetric_difference": "a b", "builtins.list": "x", "builtins.list.copy": "x",
    "collections.deque": "iterable maxlen", "collections.defaultdict": "factory",
    "builtins.dict": "x", "collections.defaultdict.copy": "x", "collections.Counter.copy": "x",
    "builtins.set": "x", "builtins.frozenset": "x", "helpers.frozen": "items",
    "helpers.counted": "items", "helpers.recounted": "items", "helpers.most_common": "owner count",
    "helpers.joined": "...", "builtins.range": "start stop step",
    "builtins.len": "x", "helpers.range_start": "x", "helpers.range_step": "x",
    "helpers.constant_copy": "a", "helpers.variable": "environment name", "helpers.lacks_variable": "environment name",
    "helpers.part_of": "owner start stop step", "helpers.sorted_by": "items keys reverse",
    "helpers.sorted_plain": "items reverse", "helpers.sorted_by_plain": "items keys reverse",
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
"""Functions that handlers of the capture call; the handlers check the arguments."""

STATISTICS = {
    "mean": "a axis* dtype* out keepdims*", "var": "a axis* dtype* out ddof* keepdims*",
    "std": "a axis* dtype* out ddof* keepdims*", "average": "a axis* weights",
    "median": "a axis* out overwrite_input* keepdims*", "percentile": "a q axis*", "quantile": "a q axis*",
}
"""Functions that warn about too few elements."""

OF_HANDLERS.update(("helpers.nan." + name, "a axis* | keepdims* ddof*") for name in library_helpers.PASS_OVER_NAN)

METHODS = {
    "sum": "axis* dtype* out keepdims* initial where", "prod": "axis* dtype* out keepdims* initial where",
    "min": "axis* out keepdims* initial where", "max": "axis* out keepdims* initial where",
    "any": "axis* out keepdims* | where", "all": "axis* out keepdims* | where", "argmin": "axis* out | keepdims*",
    "argmax": "axis* out | keepdims*", "ptp": "axis* out keepdims*", "cumsum": "axis* dtype* out",
    "cumprod": "axis* dtype* out", "dot": "b out", "trace": "offset axis1* axis2* dtype* out", "clip": "min max out",
    "round": "decimals* out", "mean": "axis* dtype* out keepdims*", "var": "axis* dtype* out ddof* keepdims*",
    "std": "axis* dtype* out ddof* keepdims*", "reshape": "...#", "ravel": "order*", "flatten": "order*",
    "transpose": "...*", "swapaxes": "axis1* axis2*", "squeeze": "axis*", "diagonal": "offset axis1* axis2*",
    "take": "indices axis* out mode*", "repeat": "repeats# axis*", "compress": "condition axis* out", "nonzero": "",
    "argsort": "axis* kind*", "searchsorted": "v side*", "copy": "order*",
    "astype": "dtype* order* casting* subok* copy*", "conj": "", "conjugate": "", "view": "dtype*", "item": "...",
    "tolist": "", "argpartition": "kth* axis*",
}

UFUNC_METHODS = {
    "reduce": "array axis* dtype* out keepdims* initial where", "accumulate": "array axis* dtype* out",
    "reduceat": "array indices axis* dtype* out",
}
"""Methods of ufuncs with two operands."""

WRITES = {
    "operator.setitem": "a index value", "helpers.put": "a ind v mode*", "putmask": "a mask values",
    "copyto": "dst src | where", "fill_diagonal": "a val wrap*", "put_along_axis": "arr indices values axis*",
}
"""Functions that write their first argument, write nothing if they raise, and have no result."""


NEEDS = {"cov": "several", "corrcoef": "several", "cross": "three"}
_LEAST_EDGES = {"several": 2, "three": 3}

_TRAITS = (
    (Trait.NEW_CONTAINER, "operator.add operator.mul builtins.list builtins.list.copy builtins.set builtins.sorted"),
    (Trait.NEW_CONTAINER, "collections.deque helpers.part_of helpers.joined helpers.sorted_by helpers.sorted_plain"),
    (Trait.NEW_CONTAINER, "helpers.sorted_by_plain helpers.union helpers.intersection helpers.difference"),
    (Trait.NEW_CONTAINER, "helpers.symmetric_difference"),
    (Trait.REPEATS, "broadcast_to"),
    (Trait.READS_FIRST, "matmul"),
    (Trait.READS_FIRST | Trait.ANY_STRIDE, "sum prod min max amin amax var std"),
    (Trait.READS_FIRST | Trait.ANY_STRIDE | Trait.ROUNDS_SUMS, "mean"),
    (Trait.READS_FIRST | Trait.ANY_STRIDE | Trait.ANY_ORDER, "any all cumsum cumprod clip round around"),
    (Trait.ANY_ORDER, "take choose compress concatenate stack"),
)
"""The traits of functions, and of the methods of arrays with the same names."""

_TRAITS_OF_UFUNC_METHODS = {
    "reduce": Trait.READS_FIRST | Trait.ANY_STRIDE, "reduceat": Trait.READS_FIRST | Trait.ANY_STRIDE,
    "accumulate": Trait.READS_FIRST | Trait.ANY_STRIDE | Trait.ANY_ORDER}

_OPERATIONS = {"reshape": ("reshape", 0), "ndarray.reshape": ("reshape", 0), "concatenate": ("concatenate", 0),
               "vstack": ("concatenate", 0), "hstack": ("concatenate", 1), "stack": ("concatenate", 0),
               "column_stack": ("concatenate", 1), "dstack": ("concatenate", 2)}
"""Operations that make the results of functions, and the axis along which these join arrays by default."""

_SAVINGS = {
    "exp": 5.7, "exp2": 2.0, "log": 4.0, "log2": 2.0, "log10": 1.4, "sin": 8.9, "cos": 8.7, "tan": 4.7, "arctan": 2.7,
    "arcsin": 1.2, "arccos": 1.0, "tanh": 11.5, "power": 9.0, "sqrt": 1.0, "reciprocal": 0.4, "true_divide": 0.2,
    "divide": 0.2, "add": 0.1, "subtract": 0.1, "multiply": 0.1, "negative": 0.1, "absolute": 0.1, "square": 0.1,
    "minimum": 0.1, "maximum": 0.1,
}
"""Ufuncs, and the ns per element that float32 saves: the mean of NumPy 2.2 and 2.5, with AVX2.

Float32 saves nothing in `expm1`, `log1p`, `sinh` and `cosh`.
"""

TAKEN_AS_ARRAYS = frozenset("a x m xp fp y v ar arr ar1 ar2 weights w p b".split())
"""Parameters that NumPy's functions convert to arrays."""

TAKEN_ONE_BY_ONE = frozenset("arrays tup choices condlist choicelist items iterable key keys multi_index".split())
"""Parameters whose items NumPy's functions convert to arrays."""

_numpy_core: Any = getattr(np, "_core") if hasattr(getattr(np, "_core", None), "_methods") else getattr(np, "core")
CLIP = _numpy_core.umath.clip
"""The ufunc that computes ``np.clip``."""

CLIP_WARNS = hasattr(_numpy_core._methods, "_clip_dep_is_scalar_nan")
"""Whether this NumPy warns about a bound that is NaN."""


def _is_strict(path: str) -> bool:
    name = path[len("ndarray."):] if path.startswith("ndarray.") else path
    return (name in COMPUTES or name in STATISTICS or path in ("ndarray.astype", "operator.pow")
            or name.split(".")[0] in library_helpers.UFUNCS or path.startswith(("helpers.at.", "helpers.nan.")))


def _ufunc_rows() -> Iterator[Tuple[str, str]]:
    """(path, names) of NumPy's elementwise functions and their methods."""
    for name, ufunc in library_helpers.UFUNCS.items():
        yield name, "x y z w"[:2 * ufunc.nin] + (" out" if ufunc.nout == 1 else "") + " | dtype* casting*"
        if ufunc.nout == 1 and ufunc.nin <= 2:
            yield "helpers.at." + name, "a indices" + " b" * (ufunc.nin - 1)
        if (ufunc.nin, ufunc.nout) == (2, 1):
            for method, names in UFUNC_METHODS.items():
                yield "%s.%s" % (name, method), names


def _with_out(path: str, names: Tuple[str, ...]) -> Tuple[str, ...]:
    """The parameters of the row ``into.PATH``, which returns what the function would leave in its argument ``out``."""
    rest = tuple(name for name in names if name != "out")
    return ("out",) + rest + (("where",) if path in library_helpers.UFUNCS else ())


def _traits() -> Dict[str, int]:
    """The traits of functions, by path; ufuncs and their methods read their operands first."""
    found: Dict[str, int] = {}
    for traits, names in _TRAITS:
        for path in names.split():
            found[path] = found["ndarray." + path] = traits
    for name in library_helpers.UFUNCS:
        found[name] = found.get(name, 0) | Trait.READS_FIRST
        for method, traits in _TRAITS_OF_UFUNC_METHODS.items():
            found["%s.%s" % (name, method)] = traits
    return found


def _rows() -> List[LibraryFunction]:
    tables = (MOVES, COMPUTES, ON_NUMBERS, ON_INTEGERS, ON_COMPLEX, CLOCKS, OF_HANDLERS, STATISTICS, WRITES)
    named = [(path, names) for table in tables for path, names in table.items()] + list(_ufunc_rows())
    named += [("ndarray." + name, "self " + names) for name, names in METHODS.items()]
    rows, traits = [], _traits()
    for path, names in named:
        needs = "elements" if path.split(".")[-1] in STATISTICS else NEEDS.get(path, "")
        row = LibraryFunction(path, tuple(names.split()), _is_strict(path), needs, traits.get(path, 0),
                              *_OPERATIONS.get(path, ("", 0)), _SAVINGS.get(path, 0.0))
        if callable(row.object) and not (CLIP_WARNS and path.endswith("clip")):
            rows.append(row)
            if "out" in row.parameters:
                rows.append(LibraryFunction(INTO + path, _with_out(path, row.parameters), row.strict, needs))
    return rows


FUNCTIONS: Dict[str, LibraryFunction] = {row.path: row for row in _rows()}
