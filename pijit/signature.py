"""`input_signature`: descriptions of arguments, which each call is checked against, and examples that fit them."""

from __future__ import annotations

import inspect
import sys
from typing import Any, Callable, Dict, Iterator, Mapping, Optional, Sequence, Tuple

import numpy as np

SCALARS = (int, float, bool, complex)
ENTRIES = ("a pijit.Tensor, an array as an example, int, float, bool or complex, None for an argument that may be "
           "anything, or a list or tuple of these")
USUAL = 4
"""The length of a dimension of an example that may have any."""


class Symbol:
    """A length that a dimension of a `Tensor` may have: any `N * divisor + remainder` between `min` and `max`.

    Args:
        max: the greatest length; 0: there is none.
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
        """The least length from 2 on that fits, or else the least one."""
        found = [length for length in (self._from(max(self.min, 2)), self._from(self.min))
                 if not self.max or length <= self.max]
        return found[0] if found else self._from(self.min)

    def _from(self, least: int) -> int:
        return least + (self.remainder - least) % self.divisor if least > self.remainder else self.remainder

    def why_not(self, length: int) -> Optional[str]:
        """Why a length does not fit, or None."""
        if length < self.min or self.max and length > self.max:
            return "must be from {} to {}".format(self.min, self.max or "any")
        if length < self.remainder or (length - self.remainder) % self.divisor:
            return "must be {} times a number, plus {}".format(self.divisor, self.remainder)
        return None

    def __repr__(self) -> str:
        return "Symbol(max={}, min={}, divisor={}, remainder={}, unique={})".format(
            self.max, self.min, self.divisor, self.remainder, self.unique)


class Tensor:
    """An array argument in an `input_signature`.

    Args:
        shape: a list or tuple with a length, a `Symbol`, or None for any length, per dimension; None: any number of
            dimensions.
        dtype: the dtype, or anything that `numpy.dtype` accepts; None: any.

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
        """A contiguous array of ones that fits; None if that leaves too much open."""
        if self.shape is None or self.dtype is None:
            return None
        return np.ones([USUAL if length is None else getattr(length, "example", length) for length in self.shape],
                       self.dtype)

    def __repr__(self) -> str:
        return "Tensor(shape={}, dtype={})".format(None if self.shape is None else list(self.shape), self.dtype)


class Signature:
    """The checked form of an `input_signature`.

    Args:
        given: a dict by name; a list or tuple by position; anything else describes the one argument.

    Raises:
        TypeError: there is something in it that describes no argument.
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
        """The descriptions by name of the parameter; those of `self` and `cls` are left out where they come first.

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


class Checker:
    """Checks the calls of one function against a signature.

    Args:
        function: the function.
        signature: its signature.

    Raises:
        ValueError: the signature describes parameters that the function does not have.
    """

    def __init__(self, function: Any, signature: Signature) -> None:
        self._name = function.__qualname__
        self._signature = inspect.signature(function)
        named = [one for one in self._signature.parameters.values()
                 if one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)]
        self._entries = signature.entries([one.name for one in named])
        self._rows = [(k if one.kind != one.KEYWORD_ONLY else sys.maxsize, one.name, self._entries[one.name],
                       _quick_test(self._entries[one.name]))
                      for k, one in enumerate(named) if self._entries.get(one.name) is not None]

    def __call__(self, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> None:
        """Raise TypeError or ValueError, naming the argument, if a call does not fit. What is missing or too much
        passes: the function itself refuses it."""
        lengths: Dict[int, Tuple[int, str]] = {}
        for position, name, entry, test in self._rows:
            if position < len(args):
                value = args[position]
            elif name in kwargs:
                value = kwargs[name]
            else:
                continue
            if test is None or not test(value):
                for error, problem in _problems(entry, value, name, lengths):
                    raise error("{}: argument {}".format(self._name, problem))

    def example(self) -> Optional[Tuple[Tuple[Any, ...], Dict[str, Any]]]:
        """Arguments of a call that fits, or None if the signature leaves too much open."""
        values = {name: _example(entry) for name, entry in self._entries.items()}
        needed = [name for name, one in self._signature.parameters.items() if one.default is one.empty
                  and one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)]
        if any(values.get(name) is None for name in needed):
            return None
        try:
            bound = self._signature.bind(**{name: value for name, value in values.items() if value is not None})
        except TypeError:
            return None
        return bound.args, bound.kwargs


def _quick_test(entry: Any) -> Optional[Callable[[Any], bool]]:
    """A test that holds only for what fits; None where each value goes the long way, as dimensions with Symbols
    do."""
    if not isinstance(entry, Tensor) or entry.shape is None or any(isinstance(one, Symbol) for one in entry.shape):
        return None
    dtype, ndim = entry.dtype, len(entry.shape)
    fixed = [(axis, length) for axis, length in enumerate(entry.shape) if length is not None]

    def fits(value: Any) -> bool:
        return (type(value) is np.ndarray and value.ndim == ndim and (dtype is None or value.dtype == dtype)
                and not (fixed and any(value.shape[axis] != length for axis, length in fixed)))

    return fits


Problems = Iterator[Tuple[Any, str]]


def _problems(entry: Any, value: Any, name: str, lengths: Dict[int, Tuple[int, str]]) -> Problems:
    """The error and the sentence for each thing in which a value does not fit."""
    if isinstance(entry, np.ndarray):
        entry = Tensor(entry.shape, entry.dtype)
    if isinstance(entry, Tensor):
        yield from _array_problems(entry, value, name, lengths)
    elif isinstance(entry, (list, tuple)):
        yield from _sequence_problems(entry, value, name, lengths)
    elif entry is not None and type(value) is not entry:
        yield TypeError, "{} must be exactly of type {}, not {}".format(name, entry.__name__, type(value).__name__)


def _array_problems(entry: Tensor, value: Any, name: str, lengths: Dict[int, Tuple[int, str]]) -> Problems:
    if not isinstance(value, np.ndarray):
        yield TypeError, "{} must be a numpy.ndarray, as {} in input_signature says, not {}".format(
            name, entry, type(value).__name__)
        return
    if entry.dtype is not None and value.dtype != entry.dtype:
        yield TypeError, "{} must have dtype {}, as input_signature says, not {}".format(
            name, entry.dtype, value.dtype)
    if entry.shape is None:
        return
    if value.ndim != len(entry.shape):
        yield ValueError, "{} must have {} dimensions, as {} in input_signature says, not {}".format(
            name, len(entry.shape), entry, value.ndim)
        return
    for axis, (wanted, length) in enumerate(zip(entry.shape, value.shape)):
        why = _why_not_length(wanted, length, "{}, dimension {}".format(name, axis), lengths)
        if why is not None:
            yield ValueError, "{} has shape {}, but dimension {} {}".format(name, value.shape, axis, why)


def _why_not_length(wanted: Any, length: int, where: str, lengths: Dict[int, Tuple[int, str]]) -> Optional[str]:
    if not isinstance(wanted, Symbol):
        return "must be {}".format(wanted) if wanted is not None and length != wanted else None
    why = wanted.why_not(length)
    if why is None and wanted.unique:
        first, place = lengths.setdefault(id(wanted), (length, where))
        why = "must be {}, as that of {}".format(first, place) if first != length else None
    return why


def _sequence_problems(entry: Any, value: Any, name: str, lengths: Dict[int, Tuple[int, str]]) -> Problems:
    kind = list if isinstance(entry, list) else tuple
    if not isinstance(value, kind):
        yield TypeError, "{} must be a {}, as input_signature says, not {}".format(
            name, kind.__name__, type(value).__name__)
    elif len(value) != len(entry):
        yield ValueError, "{} must have {} items, as input_signature says, not {}".format(
            name, len(entry), len(value))
    else:
        for k, (part, item) in enumerate(zip(entry, value)):
            yield from _problems(part, item, "{}[{}]".format(name, k), lengths)


def _example(entry: Any) -> Any:
    if isinstance(entry, np.ndarray):
        return entry.copy()
    if isinstance(entry, Tensor):
        return entry.example
    if isinstance(entry, (list, tuple)):
        parts = [_example(part) for part in entry]
        kind = list if isinstance(entry, list) else tuple
        return None if any(part is None for part in parts) else kind(parts)
    return None if entry is None else entry(2)
