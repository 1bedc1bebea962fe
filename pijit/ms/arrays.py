"""Arrays of tensors: conversion of input data, and type promotion.

The promotion rules are MindSpore's. A Python number takes the type of the other operand, unless its kind is higher. An
integer and a float give the float's type. Quotients of integers are float32.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pijit.ms.dtype import CHARS

FLOAT = np.dtype(np.float32)
KINDS = "biufc"

_DEFAULTS = {"f": FLOAT, "i": np.dtype(np.int64), "c": np.dtype(np.complex64), "b": np.dtype(np.bool_)}
_ORDER = {"b": 0, "u": 1, "i": 1, "f": 2, "c": 3}


def as_array(data: Any, dtype: Any = None) -> np.ndarray[Any, Any]:
    """A new array of numbers; Python floats become float32, as in MindSpore.

    Raises:
        TypeError: `data` contains no numbers.
        ValueError: `data` is a ragged list.
    """
    if isinstance(data, (np.ndarray, np.generic)):
        made = np.array(data, dtype=dtype)
    else:
        made = np.array(data, dtype=dtype if dtype is not None else _dtype_of(data))
    if made.dtype.kind not in KINDS:
        raise TypeError("Tensor: input_data must be numbers, an array, or lists of these; not {!r}".format(data))
    return made


def _dtype_of(data: Any) -> Any:
    """float32 for Python floats; arrays in a list keep their dtype."""
    found = np.array(data)
    one = data
    while isinstance(one, (list, tuple)) and one:
        one = one[0]
    return found.dtype if isinstance(one, (np.ndarray, np.generic)) else _DEFAULTS.get(found.dtype.kind, found.dtype)


def _promoted(a: Any, b: Any) -> Any:
    low, high = sorted((a, b), key=lambda one: _ORDER[one.kind])
    if _ORDER[low.kind] == _ORDER[high.kind]:
        return np.promote_types(a, b)
    if high.kind == "c" and low == np.float64:
        return np.dtype(np.complex128)
    return high


_PROMOTED = {a: {b: _promoted(np.dtype(a), np.dtype(b)) for b in CHARS} for a in CHARS}


def promoted(a: Any, b: Any) -> Any:
    """The dtype in which an operation of two arrays computes.

    Example:
        >>> promoted(np.dtype("int64"), np.dtype("float32"))
        dtype('float32')
    """
    return _PROMOTED[a.char][b.char]


def _with_number(dtype: Any, kind: str) -> Any:
    if _ORDER[kind] <= _ORDER[dtype.kind]:
        return dtype
    if kind == "c":
        return np.dtype(np.complex128) if dtype == np.float64 else np.dtype(np.complex64)
    return _DEFAULTS[kind]


_WITH_NUMBER = {kind: {char: _with_number(np.dtype(char), kind) for char in CHARS} for kind in "bifc"}


def number_dtype(dtype: Any, number: Any) -> Any:
    """The dtype in which an operation of an array and a Python number computes.

    Example:
        >>> number_dtype(np.dtype("int32"), 0.5)
        dtype('float32')
    """
    kind = "b" if isinstance(number, bool) else "i" if isinstance(number, int) else \
        "f" if isinstance(number, float) else "c"
    return _WITH_NUMBER[kind][dtype.char]
