"""Facts about values and descriptions of values, found without running user code.

Guards compare facts, and use descriptions in messages. Functions here must not call `__eq__`, `__repr__` or properties
of user classes.
"""

from __future__ import annotations

import struct
import types
from typing import Any, Callable, Dict, Iterable, Tuple

import numpy

C_CONTIGUOUS, F_CONTIGUOUS, ALIGNED, WRITEABLE = 0x1, 0x2, 0x100, 0x400  # NPY_ARRAY_* of NumPy's ABI
HEAP_TYPE = 1 << 9  # Py_TPFLAGS_HEAPTYPE
WARN_ON_WRITE = -0x80000000  # of np.broadcast_arrays: the first store warns, and so does reading flags.writeable
LAYOUTS = {"C": "C-contiguous", "F": "Fortran-contiguous", "A": "of any layout"}
SINGLETONS = (type(None), bool, type(Ellipsis))
CONSTANT_TYPES = SINGLETONS + (int, float, complex, str, bytes, tuple)
LONGEST_REPR = 60

_class_name = type.__dict__["__name__"].__get__
_class_module = type.__dict__["__module__"].__get__
_class_flags = type.__dict__["__flags__"].__get__
_module_dict = vars(types.ModuleType)["__dict__"].__get__  # from CPython 3.11 on m.__dict__ may be a key of the dict


def is_exactly(value: Any, types: Iterable[type]) -> bool:
    """Whether the type of a value is one of these.

    Its metaclass may define `__eq__` and `__hash__`, so neither `in` nor a dict can be used.
    """
    return any(type(value) is cls for cls in types)


def is_among(cls: Any, types: Iterable[Any]) -> bool:
    """As is_exactly, for a class or None."""
    return any(cls is one for one in types)


def is_heap_type(value: Any) -> bool:
    """Whether a value is a class, and not a static class of C code: its name may change."""
    return issubclass(type(value), type) and bool(_class_flags(value) & HEAP_TYPE)


def is_constant(value: Any) -> bool:
    """Whether Equals can compare a value: an exact builtin immutable, or a tuple of those."""
    return is_exactly(value, CONSTANT_TYPES) and (type(value) is not tuple or all(map(is_constant, value)))


def constant_key(value: Any) -> Tuple[Any, ...]:
    """A tuple that is equal for two constants exactly if their types and values are equal, floats by their bits."""
    if type(value) is tuple:
        return (tuple,) + tuple(map(constant_key, value))
    if type(value) is float:
        return float, struct.pack("d", value)
    if type(value) is complex:
        return complex, struct.pack("dd", value.real, value.imag)
    return type(value), value


def extent(array: numpy.ndarray[Any, Any]) -> Tuple[int, int]:
    """The address range [low, high) of an array's elements; low == high if there are none."""
    low = high = array.__array_interface__["data"][0]
    if array.size == 0:
        return low, high
    for size, stride in zip(array.shape, array.strides):
        reach = (size - 1) * stride
        low, high = low + min(reach, 0), high + max(reach, 0)
    return low, high + array.itemsize


def layout_of(array: numpy.ndarray[Any, Any]) -> str:
    """'C' if C-contiguous, else 'F' if Fortran-contiguous, else 'A'."""
    flags = array.flags
    return "C" if flags.c_contiguous else "F" if flags.f_contiguous else "A"


def layout_words(array: numpy.ndarray[Any, Any]) -> str:
    """The layout of an array, in words."""
    layout = layout_of(array)
    return "not contiguous" if layout == "A" else LAYOUTS[layout]


def count(number: int, noun: str) -> str:
    """A number and its noun.

    Example:
        >>> count(2, "item")
        '2 items'
    """
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def type_name(cls: type) -> str:
    """The name of a class, whatever its metaclass does."""
    return str(_class_name(cls))


def type_module(cls: type) -> str:
    """The module that a class names as its own; "" if it names none."""
    try:
        module = _class_module(cls)
    except AttributeError:
        return ""
    return module if type(module) is str else ""


def was_type(source: object, old: str, value: Any) -> str:
    """The sentence about a value that is no longer of the type named `old`."""
    new = type_name(type(value))
    return f"{source} was of type {old} and is now of {'another type' if old == new else 'type'} {new}"


def _describe_builtin(value: Any) -> str:
    if type(value) is int and value.bit_length() > 128:
        return f"an int of {value.bit_length()} bits"
    text = repr(value)
    return text if len(text) <= LONGEST_REPR else text[:LONGEST_REPR - 3] + "..."


def _describe_array(value: numpy.ndarray[Any, Any]) -> str:
    return f"a {value.dtype} array of {count(value.ndim, 'dimension')}"


def _describe_code(value: types.CodeType) -> str:
    return f"{value.co_name} ({value.co_filename}:{value.co_firstlineno})"


def _describe_module(value: types.ModuleType) -> str:
    name = _module_dict(value).get("__name__")
    return f"the module {name}" if type(name) is str else "a module"


_DESCRIPTIONS: Dict[type, Callable[[Any], str]] = {
    numpy.ndarray: _describe_array,
    numpy.ufunc: lambda value: f"the ufunc {value.__name__}",
    types.CodeType: _describe_code,
    type(numpy.sum): lambda value: f"NumPy's function {value.__name__}",  # a plain function in older versions
    types.WrapperDescriptorType: lambda value: f"the method {value.__qualname__}",
    types.FunctionType: lambda value: f"the function {_describe_code(value.__code__)}",
    types.BuiltinFunctionType: lambda value: f"the builtin function {value.__name__}",
    types.ModuleType: _describe_module,
}


def describe(value: Any) -> str:
    """A short description of a value.

    Example:
        >>> describe(3), describe(len)
        ('3', 'the builtin function len')
    """
    if is_constant(value):
        return _describe_builtin(value)
    if issubclass(type(value), type):  # isinstance would ask the value for its __class__
        return f"the class {type_name(value)}"
    special = _DESCRIPTIONS[type(value)] if is_exactly(value, _DESCRIPTIONS) else None
    return special(value) if special is not None else f"an object of type {type_name(type(value))}"
