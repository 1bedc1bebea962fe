"""Structural comparison of two object graphs: finds every difference that a program could observe.

Two graphs are equal if their objects can be paired one to one, so that identity and aliasing agree. Types and the bits
of numbers must match exactly. For arrays this includes dtype, shape, strides, flags, base, and overlaps in memory.
With a tolerance, floating-point numbers may differ by this fraction of the largest number in their array.
"""

from __future__ import annotations

import struct
import types
from typing import Any, Callable, Dict, List, Sequence, Tuple

import numpy as np

from pijit.core.named_tuples import NamedTuple

ARRAY_FLAGS = ("c_contiguous", "f_contiguous", "owndata", "writeable", "aligned")

TOLERANCES: Dict[Any, float] = {None: 0.0, "float32": 1e-3}
"""The tolerance of comparisons, by the option `auto_mixed_precision`."""

_BY_VALUE = (bool, int, str, bytes, range, type(None), type(Ellipsis), type(NotImplemented), np.dtype)
_BY_IDENTITY = (type, types.ModuleType, types.BuiltinFunctionType, np.ufunc)


class Difference(NamedTuple):
    """One difference.

    Attributes:
        kind: "type", "value", "bits", "dtype", "shape", "strides", "flags", "identity", "memory", "length",
            "order", "exception", "traceback", "stdout", "stderr", "warning" or "random".
        where: a path such as `result[0]` or `args[1].w`.
        expected, got: the value without pijit, and the value with it.
    """

    kind: str
    where: str
    expected: str
    got: str

    def __str__(self) -> str:
        return "{} of {}: expected {}, got {}".format(self.kind, self.where, self.expected, self.got)


def differences(expected: Sequence[Tuple[str, Any]], got: Sequence[Tuple[str, Any]],
                tolerance: float = 0.0) -> List[Difference]:
    """Compare named roots of two graphs as one graph, so that identity counts across roots, too.

    Args:
        expected, got: the roots with their names.
        tolerance: by which fraction of the largest number in an array its floating-point numbers may differ.

    Example:
        >>> x = [0.0]
        >>> [str(d) for d in differences([("a", [x, x])], [("a", [x, [-0.0]])])]
        ['identity of a[1]: expected the object at a[0], got another object']
    """
    comparison = Comparison(tolerance)
    for (where, one), (_, other) in zip(expected, got):
        comparison.walk(where, one, other)
    comparison.compare_memory()
    return comparison.found


class Comparison:
    """A simultaneous traversal of two graphs; `found` lists the differences. For the tolerance see `differences`."""

    def __init__(self, tolerance: float = 0.0) -> None:
        self.found: List[Difference] = []
        self._tolerance = tolerance
        self._partner: Dict[int, Any] = {}
        self._taken: Dict[int, str] = {}
        self._where: Dict[int, str] = {}
        self._arrays: List[Tuple[str, np.ndarray[Any, Any], np.ndarray[Any, Any]]] = []
        self._alive: List[Any] = []

    def add(self, kind: str, where: str, expected: Any, got: Any) -> None:
        """Note a difference."""
        self.found.append(Difference(kind, where, str(expected), str(got)))

    def walk(self, where: str, a: Any, b: Any) -> None:
        """Compare the graph at `a` (expected) with that at `b`."""
        if not _same_type(type(a), type(b)):
            return self.add("type", where, _type_and_value(a), _type_and_value(b))
        if isinstance(a, _BY_VALUE) and type(a).__module__ in ("builtins", "numpy", "numpy.dtypes"):
            if a != b:
                self.add("value", where, repr(a), repr(b))
        elif type(a) in (float, complex):
            self._bits(where, a, b, _float_bits(a), _float_bits(b))
        elif isinstance(a, np.generic) and not isinstance(a, np.object_):
            self._numpy_scalar(where, a, b)
        elif isinstance(a, _BY_IDENTITY):
            if a is not b and "<locals>" not in getattr(a, "__qualname__", ""):
                self.add("identity", where, repr(a), repr(b))
        elif self._pair(where, a, b):
            self._contents(where, a, b)

    def _bits(self, where: str, a: Any, b: Any, a_bits: bytes, b_bits: bytes) -> None:
        if a_bits != b_bits and not self._are_close(np.asarray(a), np.asarray(b)):
            self.add("bits", where, "{!r} ({})".format(a, a_bits.hex()), "{!r} ({})".format(b, b_bits.hex()))

    def _are_close(self, a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> bool:
        """Whether floating-point numbers differ by the tolerance at most, with NaN and infinity at the same places."""
        if not self._tolerance or a.dtype.kind not in "fc":
            return False
        finite = np.isfinite(a)
        if not np.array_equal(finite, np.isfinite(b)) or not np.array_equal(a[~finite], b[~finite], equal_nan=True):
            return False
        with np.errstate(all="ignore"):
            apart, largest = np.abs(a[finite] - b[finite]), np.abs(a[finite])
        return not apart.size or bool(apart.max() <= self._tolerance * largest.max())

    def _numpy_scalar(self, where: str, a: np.generic, b: np.generic) -> None:
        if a.dtype != b.dtype:
            self.add("dtype", where, a.dtype, b.dtype)
        else:
            self._bits(where, a, b, a.tobytes(), b.tobytes())

    def _pair(self, where: str, a: Any, b: Any) -> bool:
        """Make `a` and `b` partners. False if they already are, or cannot be."""
        if type(a) is tuple and not a and not b:
            return False
        if id(a) in self._partner:
            if self._partner[id(a)] is not b:
                self.add("identity", where, "the object at " + self._where[id(a)], "another object")
            return False
        if id(b) in self._taken:
            self.add("identity", where, "another object", "the object at " + self._taken[id(b)])
            return False
        self._partner[id(a)], self._where[id(a)], self._taken[id(b)] = b, where, where
        self._alive += (a, b)
        return a is not b

    def _contents(self, where: str, a: Any, b: Any) -> None:
        for kind, compare in _CONTENTS:
            if isinstance(a, kind):
                return compare(self, where, a, b)
        return self._instance(where, a, b)

    def _sequence(self, where: str, a: Sequence[Any], b: Sequence[Any]) -> None:
        if len(a) != len(b):
            return self.add("length", where, len(a), len(b))
        for index, (one, other) in enumerate(zip(a, b)):
            self.walk("{}[{}]".format(where, index), one, other)
        return self._attributes(where, a, b)

    def _mapping(self, where: str, a: Dict[Any, Any], b: Dict[Any, Any]) -> None:
        if len(a) != len(b):
            return self.add("length", where, sorted(map(repr, a)), sorted(map(repr, b)))
        if list(map(repr, a)) != list(map(repr, b)) and sorted(map(repr, a)) == sorted(map(repr, b)):
            return self.add("order", where, list(a), list(b))
        for (a_key, one), (b_key, other) in zip(a.items(), b.items()):
            self.walk("key {!r} of {}".format(a_key, where), a_key, b_key)
            self.walk("{}[{!r}]".format(where, a_key), one, other)
        return self._attributes(where, a, b)

    def _set(self, where: str, a: Any, b: Any) -> None:
        items, others = sorted(map(_type_and_value, a)), sorted(map(_type_and_value, b))
        if items != others:
            self.add("value", where, items, others)

    def _array(self, where: str, a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> None:
        for kind in ("dtype", "shape", "strides"):
            if getattr(a, kind) != getattr(b, kind):
                self.add(kind, where, getattr(a, kind), getattr(b, kind))
        for flag in ARRAY_FLAGS:
            if getattr(a.flags, flag) != getattr(b.flags, flag):
                self.add("flags", where, "{}={}".format(flag, getattr(a.flags, flag)), getattr(b.flags, flag))
        if a.dtype == b.dtype and a.shape == b.shape:
            self._arrays.append((where, a, b))
            self._elements(where, a, b)
            self.walk(where + ".base", _array_or_none(a.base), _array_or_none(b.base))
        self._attributes(where, a, b)

    def _elements(self, where: str, a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> None:
        if a.dtype.hasobject:
            for index in np.ndindex(*a.shape):
                self.walk("{}[{}]".format(where, ",".join(map(str, index))), a[index], b[index])
            return
        if a.tobytes() == b.tobytes() or self._are_close(a, b):
            return
        for index in np.ndindex(*a.shape):
            if a[index].tobytes() != b[index].tobytes():
                place = "{}[{}]".format(where, ",".join(map(str, index)))
                return self._bits(place, a[index], b[index], a[index].tobytes(), b[index].tobytes())

    def _function(self, where: str, a: types.FunctionType, b: types.FunctionType) -> None:
        if a.__qualname__ != b.__qualname__:
            return self.add("value", where, a.__qualname__, b.__qualname__)
        self.walk(where + ".__defaults__", a.__defaults__, b.__defaults__)
        self.walk(where + ".__kwdefaults__", a.__kwdefaults__, b.__kwdefaults__)
        self.walk(where + ".__closure__", cell_values(a), cell_values(b))
        return self._attributes(where, a, b)

    def _exception(self, where: str, a: BaseException, b: BaseException) -> None:
        self.walk(where + ".args", a.args, b.args)
        if str(a) != str(b):
            self.add("value", where, str(a), str(b))
        self.walk(where + ".__cause__", a.__cause__, b.__cause__)
        self.walk(where + ".__context__", a.__context__, b.__context__)
        self._attributes(where, a, b)

    def _attributes(self, where: str, a: Any, b: Any) -> None:
        self.walk(where + ".__dict__", getattr(a, "__dict__", None), getattr(b, "__dict__", None))

    def _instance(self, where: str, a: Any, b: Any) -> None:
        """Compare any other object by the state that pickle and copy use."""
        try:
            a_parts, b_parts = a.__reduce_ex__(2), b.__reduce_ex__(2)
        except Exception:  # generators, files, locks: cannot be compared without consuming them
            return
        if isinstance(a_parts, str) or isinstance(b_parts, str):
            return self.walk(where, a_parts, b_parts)
        a_parts, b_parts = _expanded(a_parts), _expanded(b_parts)
        if len(a_parts) != len(b_parts):
            return self.add("length", where, a_parts, b_parts)
        for index, (one, other) in enumerate(zip(a_parts, b_parts)):
            self._alive += (one, other)
            self.walk(where + ("" if index < 2 else ".state"), one, other)

    def compare_memory(self) -> None:
        """Compare which arrays overlap, and the distance between their first bytes."""
        for index, (where, a, b) in enumerate(self._arrays):
            for other_where, other_a, other_b in self._arrays[:index]:
                expected, got = _distance(other_a, a), _distance(other_b, b)
                if expected != got:
                    self.add("memory", "{} and {}".format(other_where, where), expected, got)


_CONTENTS: Tuple[Tuple[Any, Callable[[Comparison, str, Any, Any], None]], ...] = (
    (np.ndarray, Comparison._array),
    ((list, tuple), Comparison._sequence),
    (dict, Comparison._mapping),
    ((set, frozenset), Comparison._set),
    (types.FunctionType, Comparison._function),
    (BaseException, Comparison._exception),
)


def cell_values(function: types.FunctionType) -> Tuple[Any, ...]:
    """The contents of a function's closure cells; an empty cell gives the marker `types.CodeType`."""
    values = []
    for cell in function.__closure__ or ():
        try:
            values.append(cell.cell_contents)
        except ValueError:
            values.append(types.CodeType)
    return tuple(values)


def _same_type(a: type, b: type) -> bool:
    """Whether two types are identical, or were made by the same class statement inside a function."""
    names = (a.__module__, a.__qualname__)
    return a is b or ("<locals>" in a.__qualname__ and names == (b.__module__, b.__qualname__))


def _type_and_value(value: Any) -> str:
    text = repr(value)
    return "{} {}".format(type(value).__name__, text if len(text) <= 200 else text[:200] + "...")


def _float_bits(value: Any) -> bytes:
    if type(value) is complex:
        return struct.pack(">dd", value.real, value.imag)
    return struct.pack(">d", value)


def _array_or_none(base: Any) -> Any:
    return base if isinstance(base, np.ndarray) else None


def _expanded(parts: Tuple[Any, ...]) -> List[Any]:
    """The result of __reduce_ex__, with its item iterators as lists."""
    return [list(part) if index in (3, 4) and part is not None else part for index, part in enumerate(parts)]


def _distance(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> str:
    if not np.may_share_memory(a, b):
        return "no overlap"
    return "overlap at {} bytes".format(b.__array_interface__["data"][0] - a.__array_interface__["data"][0])
