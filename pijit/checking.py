"""Checks of calls against an `input_signature`.

Guards describe calls that passed a check; calls that fulfil them are not checked again.
"""

from __future__ import annotations

import inspect
import sys
from typing import Any, Callable, Dict, Iterator, List, Optional, Sequence, Tuple

import numpy as np

from pijit.guards.axes import ENDLESS, AxisLength, SameAxis
from pijit.guards.cache import EntryCache
from pijit.guards.guard import IsArray, IsType, LengthIs
from pijit.guards.program import GuardProgram
from pijit.guards.source import Item, Local
from pijit.signature import Signature, Symbol, Tensor

ACCEPTED_LIMIT = 8
"""Maximum number of call variants that are cached as having passed the check."""


class Checker:
    """Checks the calls of one function against a signature.

    Args:
        function: the function.
        signature: its signature.

    Attributes:
        accepted: guards over the function's arguments; if those of one entry hold, the call needs no check.

    Raises:
        ValueError: the signature describes parameters that the function does not have.
    """

    def __init__(self, function: Any, signature: Signature) -> None:
        self.accepted = EntryCache(ACCEPTED_LIMIT)
        self._name = function.__qualname__
        self._signature = inspect.signature(function)
        named = [one for one in self._signature.parameters.values()
                 if one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)]
        self._entries = signature.entries([one.name for one in named])
        self._rows = [(k if one.kind != one.KEYWORD_ONLY else sys.maxsize, one.name, k, self._entries[one.name],
                       _quick_test(self._entries[one.name]))
                      for k, one in enumerate(named) if self._entries.get(one.name) is not None]

    def __call__(self, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> None:
        """Raise TypeError or ValueError, naming the argument, if a call does not match.

        Missing and surplus arguments pass, because the function itself rejects them."""
        lengths: Dict[int, Tuple[int, str]] = {}
        known: List[Tuple[Any, Any, Any]] = []
        for position, name, slot, entry, test in self._rows:
            if position < len(args):
                value = args[position]
            elif name in kwargs:
                value = kwargs[name]
            else:
                known += self._default(slot, name, entry)
                continue
            known.append((Local(slot, name), entry, value))
            if test is None or not test(value):
                for error, problem in _problems(entry, value, name, lengths):
                    raise error("{}: argument {}".format(self._name, problem))
        if not self.accepted.full and len(known) == len(self._rows):
            guards = acceptance(known)
            if guards is not None:
                self.accepted.add(GuardProgram(guards), True)

    def _default(self, slot: int, name: str, entry: Any) -> List[Tuple[Any, Any, Any]]:
        """The row of a parameter whose default passes the check, or nothing."""
        value = self._signature.parameters[name].default
        fits = value is not inspect.Parameter.empty and not any(_problems(entry, value, name, {}))
        return [(Local(slot, name), entry, value)] if fits else []

    def example(self) -> Optional[Tuple[Tuple[Any, ...], Dict[str, Any]]]:
        """Arguments of a call that matches; None if the signature leaves too much open."""
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
    """A fast test that accepts only matching values; None if every value needs the full check, as with Symbols."""
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
    """The error class and the message for each mismatch of a value."""
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


def acceptance(known: Sequence[Tuple[Any, Any, Any]]) -> Optional[List[Any]]:
    """Guards that accept only calls which match as these (source, entry, value) rows do; None if there are none.

    They state no more than the entries, except for dtypes and numbers of dimensions that the entries leave open.
    """
    guards: List[Any] = []
    alike: Dict[int, Tuple[Any, int]] = {}
    rows = list(known)
    while rows:
        source, entry, value = rows.pop()
        kind = type(value)
        if isinstance(entry, np.ndarray):
            entry = Tensor(entry.shape, entry.dtype)
        if isinstance(entry, Tensor):
            if kind is not np.ndarray or not value.dtype.isnative:
                return None
            guards.append(IsArray(source, value.dtype, value.ndim, "A", None, None))
            for axis, wanted in enumerate(entry.shape or ()):
                guards += _axis_guards(source, axis, wanted, alike)
        elif isinstance(entry, (list, tuple)):
            if kind not in (list, tuple):
                return None
            guards += [IsType(source, kind), LengthIs(source, len(entry))]
            rows += [(Item(source, k), part, value[k]) for k, part in enumerate(entry)]
        elif entry is not None:
            guards.append(IsType(source, kind))
    return guards


def _axis_guards(source: Any, axis: int, wanted: Any, alike: Dict[int, Tuple[Any, int]]) -> List[Any]:
    """Guards for one axis of an entry; `alike` maps each unique Symbol to its first axis."""
    if wanted is None:
        return []
    if not isinstance(wanted, Symbol):
        return [AxisLength(source, axis, wanted, wanted)]
    found: List[Any] = [AxisLength(source, axis, wanted.min, wanted.max or ENDLESS, wanted.divisor, wanted.remainder)]
    if wanted.unique:
        other, position = alike.setdefault(id(wanted), (source, axis))
        if (other, position) != (source, axis):
            found.append(SameAxis(other, source, position, axis))
    return found


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
