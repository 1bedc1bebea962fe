"""Element types: `Type` objects that map MindSpore's names to NumPy's dtypes."""

from __future__ import annotations

import builtins
from typing import Any, Dict, Optional

import numpy as np

from pijit.names import closest


class Type:
    """An element type.

    Attributes:
        name: the printed name, for example "Float32".
        nptype: the NumPy dtype; None for types that no array has.

    Example:
        >>> float32, float32 == Type("Float32", np.float32)
        (Float32, True)
    """

    __slots__ = ("name", "nptype")

    def __init__(self, name: str, nptype: Any = None) -> None:
        self.name = name
        self.nptype: Optional[np.dtype[Any]] = None if nptype is None else np.dtype(nptype)

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, Type) and self.name == other.name

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        return self.name

    def __reduce__(self) -> Any:
        return Type, (self.name, self.nptype)


bool_ = Type("Bool", np.bool_)
int8 = Type("Int8", np.int8)
int16 = Type("Int16", np.int16)
int32 = Type("Int32", np.int32)
int64 = Type("Int64", np.int64)
uint8 = Type("UInt8", np.uint8)
uint16 = Type("UInt16", np.uint16)
uint32 = Type("UInt32", np.uint32)
uint64 = Type("UInt64", np.uint64)
float16 = Type("Float16", np.float16)
float32 = Type("Float32", np.float32)
float64 = Type("Float64", np.float64)
complex64 = Type("Complex64", np.complex64)
complex128 = Type("Complex128", np.complex128)
number = Type("Number")
string = Type("String")
tensor_type = Type("TensorType")

byte, short, half, double, float_, int_, intc, intp, uint = (
    int8, int16, float16, float64, float32, int32, int32, int64, uint32)
single, uint_ = float32, uint32

NUMERIC = (bool_, int8, int16, int32, int64, uint8, uint16, uint32, uint64, float16, float32, float64, complex64,
           complex128)
"""The element types of arrays."""

CHARS = "?bhilqBHILQefdFD"
"""Type characters of the supported NumPy dtypes; two map to one type if C's types have the same size."""

TYPES: Dict[str, Type] = {char: one for char in CHARS for one in NUMERIC if one.nptype == np.dtype(char)}
"""The type of a NumPy dtype, by its character; capture folds a dict lookup with a string key."""

BY_PYTHON = {builtins.bool: bool_, builtins.int: int64, builtins.float: float32, builtins.complex: complex64}
"""The element types of arrays made from Python numbers."""

number_type = NUMERIC
int_type = (int8, int16, int32, int64)
uint_type = (uint8, uint16, uint32, uint64)
float_type = (float16, float32, float64)
complex_type = (complex64, complex128)
all_types = NUMERIC


def dtype_to_nptype(type_: Type) -> Any:
    """The NumPy scalar type of an element type.

    Raises:
        TypeError: `type_` is not the type of an array.

    Example:
        >>> dtype_to_nptype(float32)
        <class 'numpy.float32'>
    """
    if not isinstance(type_, Type) or type_.nptype is None:
        raise TypeError("dtype_to_nptype: type_ must be an element type such as float32; not {!r}".format(type_))
    return type_.nptype.type


def dtype_to_pytype(type_: Type) -> type:
    """The Python number type of an element type.

    Example:
        >>> dtype_to_pytype(float32)
        <class 'float'>
    """
    kind = np.dtype(dtype_to_nptype(type_)).kind
    return {"b": builtins.bool, "f": builtins.float, "c": builtins.complex}.get(kind, builtins.int)


def pytype_to_dtype(obj: Any) -> Type:
    """The element type for a Python type, a NumPy scalar type or dtype, or a type's own name.

    Raises:
        NotImplementedError: there is no such element type.

    Example:
        >>> pytype_to_dtype(float), pytype_to_dtype(np.int32)
        (Float32, Int32)
    """
    found = as_type(obj)
    if found is None:
        raise NotImplementedError("pytype_to_dtype: obj must be a number type; not {!r}".format(obj))
    return found


def as_type(x: Any) -> Optional[Type]:
    """The element type that an object names, or None."""
    if isinstance(x, Type):
        return x
    if isinstance(x, type) and x in BY_PYTHON:
        return BY_PYTHON[x]
    if isinstance(x, (np.dtype, str)) or isinstance(x, type) and issubclass(x, np.generic):
        try:
            return TYPES.get(np.dtype(x).char)
        except TypeError:
            return None
    return None


def as_numpy(x: Any, caller: str = "dtype") -> np.dtype[Any]:
    """The NumPy dtype that an object names.

    Raises:
        TypeError: it does not name one.
    """
    if isinstance(x, Type) and x.nptype is not None:
        return x.nptype
    found = as_type(x)
    if found is None or found.nptype is None:
        raise TypeError("{}: dtype must be {}; not {!r}".format(
            caller, closest(x, [one.name for one in NUMERIC]) if isinstance(x, str) else
            "an element type such as float32", x))
    return found.nptype
