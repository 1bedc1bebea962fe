"""Types of values in a graph: scalars, arrays, objects, iterators, and raw machine words.

Capture, graphs and the kernel compiler use it. It must not know abstract values or LLVM.
"""

from __future__ import annotations

import functools
import weakref
from typing import TYPE_CHECKING, Any, Dict, FrozenSet, Iterator, Optional, Tuple, Union

import numpy as np

from pijit.guards.facts import type_name

if TYPE_CHECKING:
    from numpy.typing import DTypeLike


@functools.lru_cache(maxsize=256)
def dtype_name(dtype: np.dtype[Any]) -> str:
    """NumPy's name of a dtype; cached, because NumPy builds the string on each access."""
    return str(dtype.name)


class Scalar:
    """A number with exact Python semantics ("int", "float", "bool", "complex"), a NumPy scalar, or a raw word.

    ``family`` tells whose rules hold: "py" (Python's numbers), "np" (NumPy scalars of exactly ``dtype``) or
    "raw" (the compiler's own machine integers and booleans, which wrap silently and which users never see).
    """

    __slots__ = ("dtype", "family")

    def __init__(self, dtype: DTypeLike, family: str) -> None:
        self.dtype: np.dtype[Any] = np.dtype(dtype)
        self.family = family

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Scalar) and self.dtype == other.dtype and self.family == other.family

    def __hash__(self) -> int:
        return hash((self.dtype.str, self.family))

    def __repr__(self) -> str:
        return "%s.%s" % (self.family, dtype_name(self.dtype))


LengthHint = Optional[Tuple[int, ...]]
"""The expected length of each axis, or SEVERAL; None: nothing is expected."""

SEVERAL = 0
"""The expected length of an axis that has another number of elements than 1; it is not known which."""


class Array:
    """A ``numpy.ndarray``: dtype, number of dimensions, layout and whether the program may write it.

    ``layout`` is "C" (C-contiguous), "F" (Fortran-contiguous and not C) or "A" (any strides). These are only hints, and
    do not distinguish types: ``transposed``: the observed array had any strides, and no rows of close elements;
    ``ordered``: the strides shrink from axis to axis, as those of a slice of a C-contiguous array do; ``computed``: the
    array is a new result, so that it is in C order if the operands are ordered; ``lengths``: the expected length of
    each axis, None if nothing is expected.
    """

    __slots__ = ("dtype", "ndim", "layout", "writeable", "transposed", "ordered", "computed", "lengths")

    def __init__(self, dtype: DTypeLike, ndim: int, layout: str = "A", writeable: bool = True,
                 transposed: bool = False, ordered: bool = False, computed: bool = False,
                 lengths: LengthHint = None) -> None:
        self.dtype: np.dtype[Any] = np.dtype(dtype)
        self.ndim = ndim
        self.layout = layout
        self.writeable = writeable
        self.transposed = transposed
        self.ordered = ordered or layout == "C"
        self.computed = computed
        self.lengths = lengths

    def __eq__(self, other: object) -> bool:
        return (isinstance(other, Array) and self.dtype == other.dtype and self.ndim == other.ndim
                and self.layout == other.layout and self.writeable == other.writeable)

    def __hash__(self) -> int:
        return hash((self.dtype.str, self.ndim, self.layout, self.writeable))

    def __repr__(self) -> str:
        return "%s[%dd,%s%s]" % (dtype_name(self.dtype), self.ndim, self.layout, "" if self.writeable else ",ro")

    def join(self, other: "Array") -> Optional["Array"]:
        """The least type that covers both, or None when dtype or ndim differ."""
        if self.dtype != other.dtype or self.ndim != other.ndim:
            return None
        layout = self.layout if self.layout == other.layout else "A"
        return Array(self.dtype, self.ndim, layout, self.writeable and other.writeable,
                     self.transposed or other.transposed, self.ordered and other.ordered,
                     self.computed and other.computed,
                     _common_lengths(self.lengths, other.lengths))

    @property
    def unit_axes(self) -> Optional[FrozenSet[int]]:
        """The axes that are expected to have length 1; None if nothing is expected."""
        if self.lengths is None:
            return None
        return frozenset(axis for axis, length in enumerate(self.lengths) if length == 1)

    def expecting(self, lengths: LengthHint) -> "Array":
        """The same type with other expectations of the lengths of axes."""
        return Array(self.dtype, self.ndim, self.layout, self.writeable, self.transposed, self.ordered, self.computed,
                     lengths)


def _common_lengths(one: LengthHint, other: LengthHint) -> LengthHint:
    """What two expectations of the lengths of axes have in common."""
    if one is None or other is None or any((a == 1) != (b == 1) for a, b in zip(one, other)):
        return None
    return tuple(a if a == b else SEVERAL for a, b in zip(one, other))


class Opaque:
    """A fetched object that is not a number or an array: "skip" (at most returned by identity)."""

    __slots__ = ("kind",)

    def __init__(self, kind: str) -> None:
        self.kind = kind

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Opaque) and self.kind == other.kind

    def __hash__(self) -> int:
        return hash(self.kind)

    def __repr__(self) -> str:
        return self.kind


class Object:
    """A Python object, passed as a borrowed pointer to the runtime.

    Its class is exactly ``python``. None: the class is unknown, and the object is only passed on.
    """

    __slots__ = ("python",)

    def __init__(self, python: Optional[type]) -> None:
        self.python = python

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Object) and self.python is other.python

    def __hash__(self) -> int:
        return hash(id(self.python))

    def __repr__(self) -> str:
        return "object" if self.python is None else "object.%s" % type_name(self.python)


class SampledClass(Object):
    """An object of one class, or of any class if ``python`` is None, such as an element of a long list.

    ``sampled`` is the number of the samples that it resembles, or the types of its attributes by name. Each read must
    check the type. Graphs may outlive the class; then no guard on it holds.
    """

    __slots__ = ("reference", "sampled")

    def __init__(self, python: Optional[type], sampled: Union[int, Dict[str, Optional["Type"]]]) -> None:
        self.reference = weakref.ref(python) if python is not None else None
        self.sampled = sampled

    @property
    def python(self) -> Any:  # type: ignore[override]
        """The class, while it lives."""
        return self.reference() if self.reference is not None else None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SampledClass) and self.reference is other.reference

    def __hash__(self) -> int:
        return id(self.reference)


class Entries(Object):
    """A dict that resembles the sampled dicts of a number; each read of an entry must check its type."""

    __slots__ = ("sampled",)

    def __init__(self, sampled: int) -> None:
        super().__init__(dict)
        self.sampled = sampled


class ListOf(Object):
    """A list whose items are expected to be scalars of one type; each read must check."""

    __slots__ = ("items",)

    def __init__(self, items: Scalar) -> None:
        super().__init__(list)
        self.items = items


class TupleOf(Object):
    """A new tuple of unknown length, whose items have one expected type; each read must check."""

    __slots__ = ("items",)

    def __init__(self, items: Type) -> None:
        super().__init__(tuple)
        self.items = items


class Vacant(Object):
    """A list, dict or set that was empty when its items were sampled; types are then expected from what is stored."""

    __slots__ = ()
    items = ()

    def __init__(self, python: type = list) -> None:
        super().__init__(python)


class Holding(Object):
    """A list, tuple, dict or set whose items have expected types.

    ``items`` is one type for a list and one per item for a tuple. It is the types of keys and values for a dict, and a
    tuple of one type for a set.
    """

    __slots__ = ("items",)

    def __init__(self, python: type, items: Any) -> None:
        super().__init__(python)
        self.items = items


ITERATOR_WORDS: Dict[str, Tuple[str, ...]] = {
    "range": ("index", "start", "step", "length"), "sequence": ("index",), "reversed": ("index",),
    "enumerate": ("count",), "zip": (), "list": ("index",), "text": ("index",), "bytes": ("index",),
}
"""The words of each kind of iterator. A step changes the first one, for iterators over dicts and sets the first two."""
OF_ENTRIES = ("dict_keys", "dict_values", "dict_items", "set")
ITERATOR_WORDS.update(dict.fromkeys(OF_ENTRIES, ("position", "left", "used")))
TEXT_ITERATORS: Dict[type, str] = {str: "text", bytes: "bytes"}
"""The kinds of iterators over immutable sequences of characters."""


def moving_words(kind: str) -> int:
    """The number of its own words that a step of an iterator changes."""
    return 2 if kind in OF_ENTRIES else 1


class IteratorType:
    """A fetched iterator of one of Python's own types, by the type that it iterates over.

    "range" has no parts. "sequence" (``iter`` of an array) and "reversed" have an Array, "list" has a list.
    "dict_keys", "dict_values" and "dict_items" have a dict, "set" a set or frozenset, "text" a string, "bytes" bytes.
    "enumerate" has one iterator and "zip" any number.
    """

    __slots__ = ("kind", "parts")

    def __init__(self, kind: str, parts: Tuple["Type", ...] = ()) -> None:
        self.kind = kind
        self.parts = parts

    def __eq__(self, other: object) -> bool:
        return isinstance(other, IteratorType) and self.kind == other.kind and self.parts == other.parts

    def __hash__(self) -> int:
        return hash((self.kind, self.parts))

    def __repr__(self) -> str:
        return "%s iterator" % self.kind + ("(%s)" % ", ".join(map(repr, self.parts)) if self.parts else "")

    def moving(self) -> Iterator[str]:
        """The words that a step changes, outermost first."""
        yield from ITERATOR_WORDS[self.kind][:moving_words(self.kind)]
        for part in self.parts:
            if isinstance(part, IteratorType):
                yield from part.moving()


Type = Union[Scalar, Array, Opaque, Object, IteratorType]

CELL = Object(type((lambda item: lambda: item)(None).__closure__[0]))  # type: ignore[index]  # it has a cell

INT = Scalar(np.dtype(np.int64), "py")
FLOAT = Scalar(np.dtype(np.float64), "py")
BOOL = Scalar(np.dtype(np.bool_), "py")
COMPLEX = Scalar(np.dtype(np.complex128), "py")
WORD = Scalar(np.dtype(np.int64), "raw")
FLAG = Scalar(np.dtype(np.bool_), "raw")
SKIP = Opaque("skip")

PYTHON_SCALARS = {int: INT, float: FLOAT, bool: BOOL, complex: COMPLEX}
PYTHON_CLASS = {kind: python for python, kind in PYTHON_SCALARS.items()}

CAPTURED_DTYPES = frozenset(np.dtype(code) for code in ("?", "b", "B", "h", "H", "i", "I", "l", "L", "q", "Q", "e",
                                                        "f", "d", "F", "D"))


def half_of(kind: Scalar) -> Scalar:
    """The type of the parts of a complex number."""
    return Scalar(np.dtype("f%d" % (kind.dtype.itemsize // 2)), kind.family)


def numpy_scalar(dtype: DTypeLike) -> Scalar:
    """The NumPy scalar type of ``dtype``."""
    return Scalar(dtype, "np")
