"""`Tensor`: an array with MindSpore's operators; a plain class, so that captured code creates no objects for it."""

from __future__ import annotations

from typing import Any, Callable, Iterator, Optional, Sequence, Tuple

import numpy as np

from pijit.ms.arrays import FLOAT, KINDS, as_array, number_dtype, promoted
from pijit.ms.dtype import TYPES, Type, as_numpy
from pijit.signature import Symbol

NUMBERS = (bool, int, float, complex)
_new = object.__new__


class Tensor:
    """A tensor of numbers.

    Args:
        input_data: a number, an array, or nested lists of numbers; None with `shape` and `dtype`.
        dtype: an element type such as `float32`. By default that of the array; float32 for Python floats, int64 for
            Python integers.
        shape: the shape if `init` fills the tensor; None and a `Symbol` stand for unknown lengths in a signature.
        init: the name of an initializer, or an initializer, that fills a tensor of `shape` and `dtype`.
        const_arg: accepted without effect.

    Raises:
        TypeError: `input_data` contains no numbers, or `dtype` is not an element type.

    Example:
        >>> Tensor([1.0, 2.0]) * 2
        Tensor(shape=[2], dtype=Float32, value= [ 2.00000000e+00,  4.00000000e+00])
    """

    __array_priority__ = 1000.0
    _array: np.ndarray[Any, Any]
    _hooks: Sequence[Callable[..., Any]] = ()

    def __init__(self, input_data: Any = None, dtype: Any = None, shape: Any = None, init: Any = None,
                 internal: bool = False, const_arg: bool = False) -> None:
        wanted = None if dtype is None else as_numpy(dtype, "Tensor")
        if input_data is None:
            self._array = _unfilled(shape, wanted, init)
        else:
            self._array = as_array(
                input_data._array if isinstance(input_data, Tensor) else _unwrapped(input_data), wanted)

    # Properties.

    @property
    def shape(self) -> Tuple[int, ...]:
        """The lengths of the dimensions."""
        return self._array.shape  # type: ignore[no-any-return]

    @property
    def dtype(self) -> Type:
        """The element type."""
        return TYPES[self._array.dtype.char]

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return self._array.ndim

    @property
    def size(self) -> int:
        """The number of elements."""
        return self._array.size

    @property
    def itemsize(self) -> int:
        """Bytes of an element."""
        return self._array.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return self._array.nbytes

    @property
    def strides(self) -> Tuple[int, ...]:
        """Bytes between elements, per dimension."""
        return self._array.strides

    @property
    def T(self) -> "Tensor":
        """The tensor with its dimensions reversed."""
        return made(np.array(self._array.T, order="C"))

    @property
    def H(self) -> "Tensor":
        """The conjugate transpose of the tensor."""
        return made(np.conjugate(self._array.T))

    @property
    def has_init(self) -> bool:
        """Whether initial values are pending; always False, because they are computed at creation."""
        return False

    # Gradients.

    def register_hook(self, hook_fn: Callable[[Any], Any]) -> Any:
        """Call `hook_fn(grad)` with the gradient of this tensor in each backward pass, and take its result instead.

        The hook of an input or a parameter receives the complete gradient. Inside a function that is differentiated,
        the hook of an intermediate result receives the gradient from what uses the tensor afterwards.

        Args:
            hook_fn: takes a tensor; returns a tensor of the same shape, or None, which leaves the gradient as it is.

        Returns:
            A handle; its method `remove` removes the hook.

        Raises:
            TypeError: `hook_fn` is not callable.

        Example:
            >>> x = Tensor([3.0])
            >>> handle = x.register_hook(lambda g: g * 2)
            >>> grad(lambda x: x * x)(x)
            Tensor(shape=[1], dtype=Float32, value= [ 1.20000000e+01])
        """
        from pijit.ms.derivatives import register_tensor_hook

        return register_tensor_hook(self, hook_fn)

    # Values.

    def asnumpy(self) -> np.ndarray[Any, Any]:
        """The array itself; it shares memory with the tensor."""
        return self._array

    numpy = asnumpy

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray[Any, Any]:
        return self._array if dtype is None else self._array.astype(dtype)

    @staticmethod
    def from_numpy(array: np.ndarray[Any, Any]) -> "Tensor":
        """A tensor that shares memory with an array.

        Raises:
            TypeError: `array` is not an array of numbers.
        """
        if not isinstance(array, np.ndarray) or array.dtype.kind not in KINDS:
            raise TypeError("Tensor.from_numpy: array must be an array of numbers; not {!r}".format(array))
        return made(array.view(np.ndarray))

    def item(self, *index: Any) -> Any:
        """An element as a Python number."""
        return self._array.item(*index)

    def tolist(self) -> Any:
        """Nested lists of Python numbers."""
        return self._array.tolist()

    def __str__(self) -> str:
        return str(self._array)

    def __repr__(self) -> str:
        return "{}(shape={}, dtype={}, value={}{})".format(
            self._kind(), list(self.shape), self.dtype, " " if self.ndim < 2 else "\n", _values_text(self._array))

    def _kind(self) -> str:
        return "Tensor"

    def __bool__(self) -> bool:
        if self._array.size != 1:
            raise ValueError("The truth value of an array with several elements is ambiguous.")
        return bool(self._array)

    def __int__(self) -> int:
        return int(self._scalar())

    def __float__(self) -> float:
        return float(self._scalar())

    def __complex__(self) -> complex:
        return complex(self._scalar())

    def _scalar(self) -> Any:
        """The element of a tensor that has only one."""
        if self._array.size != 1:
            raise TypeError("only tensors of one element can be converted to Python scalars")
        return self._array.item()

    def __index__(self) -> int:
        if self._array.dtype.kind not in "iu" or self._array.size != 1:
            raise TypeError("only integer tensors of a single element can be converted to an index")
        return int(self._array.item())

    def __len__(self) -> int:
        if self._array.ndim == 0:
            raise TypeError("len() of a 0-d tensor")
        return len(self._array)

    def __iter__(self) -> Iterator["Tensor"]:
        if self._array.ndim == 0:
            raise TypeError("iteration over a 0-d tensor")
        return iter([made(np.array(self._array[i])) for i in range(len(self._array))])

    def __contains__(self, x: Any) -> bool:
        return bool(np.any(self._array == (x._array if isinstance(x, Tensor) else x)))

    def __hash__(self) -> int:
        return id(self)

    def __deepcopy__(self, memo: Any) -> "Tensor":
        return made(np.array(self._array))

    def __format__(self, spec: str) -> str:
        return format(self._array.item() if spec and self._array.ndim == 0 else str(self), spec)

    # Elements.

    def __getitem__(self, key: Any) -> "Tensor":
        return made(np.array(self._array[_index(key)]))

    def __setitem__(self, key: Any, value: Any) -> None:
        self._array[_index(key)] = value._array if isinstance(value, Tensor) else _unwrapped(value)

    def assign_value(self, value: "Tensor") -> "Tensor":
        """Copy the values of another tensor.

        Raises:
            TypeError: `value` is not a tensor.
        """
        if not isinstance(value, Tensor):
            raise TypeError("assign_value: value must be a Tensor; not {!r}".format(value))
        if value._array.shape == self._array.shape:
            self._array[...] = value._array
        else:
            self._array = np.array(value._array)
        return self

    def copy_(self, src: "Tensor") -> "Tensor":
        """Store the values of another tensor, broadcast to this one's shape."""
        self._array[...] = src._array
        return self

    def zero_(self) -> "Tensor":
        """Store zeros."""
        self._array[...] = 0
        return self

    def fill_(self, value: Any) -> "Tensor":
        """Store a number in all elements."""
        self._array[...] = value._array if isinstance(value, Tensor) else value
        return self

    # Operators.

    def __add__(self, other: Any) -> Any:
        return binary(np.add, self, other)

    def __radd__(self, other: Any) -> Any:
        return binary(np.add, other, self)

    def __sub__(self, other: Any) -> Any:
        return binary(np.subtract, self, other)

    def __rsub__(self, other: Any) -> Any:
        return binary(np.subtract, other, self)

    def __mul__(self, other: Any) -> Any:
        return binary(np.multiply, self, other)

    def __rmul__(self, other: Any) -> Any:
        return binary(np.multiply, other, self)

    def __truediv__(self, other: Any) -> Any:
        return divide(self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return divide(other, self)

    def __floordiv__(self, other: Any) -> Any:
        return binary(np.floor_divide, self, other)

    def __rfloordiv__(self, other: Any) -> Any:
        return binary(np.floor_divide, other, self)

    def __mod__(self, other: Any) -> Any:
        return binary(np.remainder, self, other)

    def __rmod__(self, other: Any) -> Any:
        return binary(np.remainder, other, self)

    def __pow__(self, other: Any) -> Any:
        return binary(np.power, self, other)

    def __rpow__(self, other: Any) -> Any:
        return binary(np.power, other, self)

    def __matmul__(self, other: Any) -> Any:
        return binary(np.matmul, self, other)

    def __rmatmul__(self, other: Any) -> Any:
        return binary(np.matmul, other, self)

    def __and__(self, other: Any) -> Any:
        return binary(np.bitwise_and, self, other)

    def __rand__(self, other: Any) -> Any:
        return binary(np.bitwise_and, other, self)

    def __or__(self, other: Any) -> Any:
        return binary(np.bitwise_or, self, other)

    def __ror__(self, other: Any) -> Any:
        return binary(np.bitwise_or, other, self)

    def __xor__(self, other: Any) -> Any:
        return binary(np.bitwise_xor, self, other)

    def __rxor__(self, other: Any) -> Any:
        return binary(np.bitwise_xor, other, self)

    def __lshift__(self, other: Any) -> Any:
        return binary(np.left_shift, self, other)

    def __rshift__(self, other: Any) -> Any:
        return binary(np.right_shift, self, other)

    def __lt__(self, other: Any) -> Any:
        return binary(np.less, self, other)

    def __le__(self, other: Any) -> Any:
        return binary(np.less_equal, self, other)

    def __gt__(self, other: Any) -> Any:
        return binary(np.greater, self, other)

    def __ge__(self, other: Any) -> Any:
        return binary(np.greater_equal, self, other)

    def __eq__(self, other: Any) -> Any:
        return binary(np.equal, self, other)

    def __ne__(self, other: Any) -> Any:
        return binary(np.not_equal, self, other)

    def __neg__(self) -> "Tensor":
        return made(np.negative(self._array))

    def __pos__(self) -> "Tensor":
        return made(np.positive(self._array))

    def __invert__(self) -> "Tensor":
        return made(np.invert(self._array))

    def __abs__(self) -> "Tensor":
        return made(np.absolute(self._array))

    def __round__(self, decimals: Optional[int] = None) -> "Tensor":
        return made(np.round(self._array, decimals or 0))


def made(array: Any) -> Tensor:
    """A tensor that holds this array, or the scalar that NumPy returned instead of a 0-d array."""
    tensor = _new(Tensor)
    tensor._array = array if isinstance(array, np.ndarray) else np.asarray(array)
    return tensor


def operands(x: Any, y: Any) -> Any:
    """The operands as arrays of their common dtype; None if one is not numeric."""
    if isinstance(x, Tensor):
        if isinstance(y, Tensor):
            return _two_arrays(x._array, y._array)
        if isinstance(y, NUMBERS):
            return _array_and_number(x._array, y)
    elif isinstance(x, NUMBERS) and isinstance(y, Tensor):
        array, number = _array_and_number(y._array, x)
        return number, array
    if not (_is_operand(x) and _is_operand(y)):
        return None
    return _two_arrays(array_of(x), array_of(y))


def _two_arrays(a: Any, b: Any) -> Any:
    if a.dtype == b.dtype:
        return a, b
    dtype = promoted(a.dtype, b.dtype)
    return a.astype(dtype), b.astype(dtype)


def _array_and_number(a: Any, number: Any) -> Any:
    dtype = number_dtype(a.dtype, number)
    if dtype == a.dtype:
        return a, a.dtype.type(number)
    return a.astype(dtype), dtype.type(number)


def _is_operand(x: Any) -> bool:
    return isinstance(x, (Tensor, np.ndarray, np.generic)) or isinstance(x, NUMBERS) or (
        isinstance(x, (list, tuple)) and bool(x))


def array_of(x: Any) -> Any:
    """The array of a tensor; a number, array or list is converted."""
    if isinstance(x, Tensor):
        return x._array
    return as_array(_unwrapped(x))


def binary(ufunc: Any, x: Any, y: Any) -> Any:
    """An elementwise operation of two operands, at least one of them a tensor; NotImplemented for others."""
    both = operands(x, y)
    if both is None:
        return NotImplemented
    return made(ufunc(both[0], both[1]))


def divide(x: Any, y: Any) -> Any:
    """The quotient; that of integers is float32."""
    both = operands(x, y)
    if both is None:
        return NotImplemented
    a, b = both
    if a.dtype.kind in "fc":
        return made(np.true_divide(a, b))
    return made(np.true_divide(np.asarray(a, FLOAT), np.asarray(b, FLOAT)))


def _index(key: Any) -> Any:
    """An index with tensors replaced by arrays."""
    if isinstance(key, (int, slice)):
        return key
    if isinstance(key, Tensor):
        return key._array
    if isinstance(key, tuple):
        return tuple([_index(one) for one in key])
    if isinstance(key, list):
        return [_index(one) for one in key]
    return key


def _unwrapped(x: Any) -> Any:
    """Nested lists with tensors replaced by arrays."""
    if isinstance(x, Tensor):
        return x._array
    if isinstance(x, (list, tuple)):
        return [_unwrapped(one) for one in x]
    return x


def _unfilled(shape: Any, dtype: Any, init: Any) -> np.ndarray[Any, Any]:
    """The array of a tensor described by its shape; dimensions of unknown length have one element."""
    if shape is None and dtype is None:
        raise TypeError("Tensor: input_data must be a number, an array or a list; or give shape and dtype")
    lengths = (shape,) if isinstance(shape, int) else tuple(
        1 if one is None or isinstance(one, Symbol) or one < 0 else one for one in shape or ())
    array = np.zeros(lengths, FLOAT if dtype is None else dtype)
    if init is not None:
        from pijit.ms.initializer import fill  # initializer makes tensors

        fill(array, init)
    return array


def _values_text(array: np.ndarray[Any, Any]) -> str:
    """The values of a tensor in the format of MindSpore's `repr`."""
    return np.array2string(array, separator=", ", formatter={"float_kind": "{: .8e}".format})


def tensor(input_data: Any = None, dtype: Any = None, shape: Any = None, init: Any = None,
           const_arg: bool = False) -> Tensor:
    """A tensor of a number, an array or nested lists; arguments and errors are those of `Tensor`."""
    return Tensor(input_data, dtype, shape, init or None)


def is_tensor(obj: Any) -> bool:
    """Whether an object is a tensor."""
    return isinstance(obj, Tensor)


def as_shape(shape: Any) -> Sequence[int]:
    """A shape as a tuple of integers, from an integer, a sequence or a tensor."""
    if type(shape) is tuple:
        return shape
    if isinstance(shape, Tensor):
        shape = shape._array.tolist()
    return (shape,) if isinstance(shape, int) else tuple(int(one) for one in shape)
