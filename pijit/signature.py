"""`input_signature`: descriptions of arguments, and examples that match them. `pijit.checking` checks calls.

It must not call user code.
"""

from __future__ import annotations

from typing import Any, Dict, Mapping, Optional, Sequence

import numpy as np

SCALARS = (int, float, bool, complex)
ENTRIES = ("a pijit.Tensor, an array as an example, int, float, bool or complex, None for an argument that may be "
           "anything, or a list or tuple of these")
USUAL = 4
"""Length that an example array gets in a dimension that accepts any."""


class Symbol:
    """A length that a dimension of a `Tensor` may have: any `N * divisor + remainder` between `min` and `max`.

    Args:
        max: the greatest length; 0: unlimited.
        min: the least length.
        divisor, remainder: see above.
        unique: dimensions described by this same object have equal lengths in a call.

    Raises:
        TypeError: an argument has a wrong type.
        ValueError: no length fits.

    Example:
        >>> n = Symbol(max=64, divisor=8, unique=True)
        >>> square = Tensor(shape=[n, n], dtype=float)
    """

    __slots__ = ("max", "min", "divisor", "remainder", "unique")

    def __init__(self, max: int = 0, min: int = 1, divisor: int = 1, remainder: int = 0,
                 unique: bool = False) -> None:
        for name, value, least in (("max", max, 0), ("min", min, 0), ("divisor", divisor, 1),
                                   ("remainder", remainder, 0)):
            if type(value) is not int:
                raise TypeError("Symbol: {} must be an int >= {}, not {!r}".format(name, least, value))
            if value < least:
                raise ValueError("Symbol: {} must be an int >= {}, not {!r}".format(name, least, value))
        if type(unique) is not bool:
            raise TypeError("Symbol: unique must be True or False, not {!r}".format(unique))
        self.max, self.min, self.divisor, self.remainder, self.unique = max, min, divisor, remainder, unique
        if max and self.example > max:
            raise ValueError("Symbol: no length fits {}".format(self))

    @property
    def example(self) -> int:
        """The least matching length from 2 on; if there is none, the least matching length."""
        found = [length for length in (self._from(max(self.min, 2)), self._from(self.min))
                 if not self.max or length <= self.max]
        return found[0] if found else self._from(self.min)

    def _from(self, least: int) -> int:
        return least + (self.remainder - least) % self.divisor if least > self.remainder else self.remainder

    def why_not(self, length: int) -> Optional[str]:
        """Why a length does not match, or None."""
        if length < self.min or self.max and length > self.max:
            return "must be from {} to {}".format(self.min, self.max) if self.max else \
                "must be at least {}".format(self.min)
        if length < self.remainder or (length - self.remainder) % self.divisor:
            plus = ", plus {}".format(self.remainder) if self.remainder else ""
            return "must be a multiple of {}{}".format(self.divisor, plus)
        return None

    def __repr__(self) -> str:
        return "Symbol(max={}, min={}, divisor={}, remainder={}, unique={})".format(
            self.max, self.min, self.divisor, self.remainder, self.unique)


class Tensor:
    """An array argument in an `input_signature`.

    Args:
        shape: a list or tuple with one item per dimension: a length, a `Symbol`, or None for any length; None as shape:
            any number of dimensions.
        dtype: the dtype, or an object that `numpy.dtype` accepts; None: any.

    Raises:
        TypeError: a dimension or the dtype is something else.
        ValueError: a length is negative.

    Example:
        >>> Tensor(shape=[None, 3], dtype=float)
        Tensor(shape=[None, 3], dtype=float64)
    """

    __slots__ = ("shape", "dtype")

    def __init__(self, shape: Optional[Sequence[Any]] = None, dtype: Any = None) -> None:
        if shape is not None and not isinstance(shape, (list, tuple)):
            raise TypeError("Tensor: shape must be None, or a list or tuple of lengths, Symbols and None; "
                            "not {!r}".format(shape))
        for length in shape or ():
            if not (length is None or isinstance(length, (int, Symbol)) and not isinstance(length, bool)):
                raise TypeError("Tensor: each dimension must be an int, a Symbol or None, not {!r}".format(length))
            if isinstance(length, int) and length < 0:
                raise ValueError("Tensor: a length must not be negative, as {!r} is; None is any".format(length))
        self.shape = None if shape is None else tuple(shape)
        self.dtype = None if dtype is None else np.dtype(dtype)

    @property
    def example(self) -> Optional[np.ndarray[Any, Any]]:
        """A contiguous array of ones that matches; None if shape or dtype is open."""
        if self.shape is None or self.dtype is None:
            return None
        return np.ones([USUAL if length is None else getattr(length, "example", length) for length in self.shape],
                       self.dtype)

    @property
    def jit_typing(self) -> Optional[str]:
        """The text for `pijit.hint`; None if the dtype is open."""
        if self.dtype is None:
            return None
        return "tensor_type[{}{}]".format(self.dtype, "" if self.shape is None else ", {}".format(len(self.shape)))

    def __repr__(self) -> str:
        return "Tensor(shape={}, dtype={})".format(None if self.shape is None else list(self.shape), self.dtype)


class Signature:
    """The checked form of an `input_signature`.

    Args:
        given: a dict by name; a list or tuple by position; any other object describes the only argument.

    Raises:
        TypeError: an item does not describe an argument.
    """

    __slots__ = ("given",)

    def __init__(self, given: Any) -> None:
        if isinstance(given, Mapping):
            given = dict(given)
        elif not isinstance(given, (list, tuple)):
            given = (given,)
        for entry in given.values() if isinstance(given, dict) else given:
            _refuse_entry(entry)
        self.given = given

    def entries(self, parameters: Sequence[str]) -> Dict[str, Any]:
        """The descriptions by parameter name; a leading `self` or `cls` is left out.

        Raises:
            ValueError: there is no such parameter.
        """
        if isinstance(self.given, dict):
            named = dict(self.given)
        else:
            own = [name for k, name in enumerate(parameters) if k or name not in ("self", "cls")]
            if len(self.given) > len(own):
                raise ValueError("jit: input_signature describes {} arguments, but there are {}: {}".format(
                    len(self.given), len(own), ", ".join(own) or "none"))
            named = dict(zip(own, self.given))
        unknown = [name for name in named if name not in parameters]
        if unknown:
            raise ValueError("jit: input_signature describes {!r}, but the parameters are {}".format(
                unknown[0], ", ".join(parameters) or "none"))
        return named


def _refuse_entry(entry: Any) -> None:
    if isinstance(entry, (list, tuple)):
        for part in entry:
            _refuse_entry(part)
    elif not (entry is None or isinstance(entry, (Tensor, np.ndarray)) or any(entry is kind for kind in SCALARS)):
        raise TypeError("jit: an entry of input_signature must be {}; not {!r}".format(ENTRIES, entry))
