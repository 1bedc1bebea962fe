"""Helper functions that kernels call where Python has no function; library.py lists them.

Like all rows of that table, one that raises must not have had an effect.
"""

from __future__ import annotations

import operator
from collections import Counter
from types import SimpleNamespace
from typing import Any, Callable, Dict, FrozenSet, Iterable, List, Sequence

import numpy as np


def joined(*dicts: Dict[Any, Any]) -> Dict[Any, Any]:
    """``{**one, **other}``"""
    made: Dict[Any, Any] = {}
    for one in dicts:
        made.update(one)
    return made


def range_start(items: range) -> int:
    """The start of a range; OverflowError if its last item is not an int64, because kernels compute items as words."""
    if items and not -2**63 <= items[-1] < 2**63:
        raise OverflowError("the range goes beyond a word")
    return items.start


def range_step(items: range) -> int:
    """The step of a range."""
    return items.step


def constant_copy(x: Any) -> Any:
    """``np.array(x)``, which is a constant for gradients."""
    return np.array(x)


constant_copy.tape_aware = True  # type: ignore[attr-defined]  # no tape records what it does


def part_of(owner: Any, start: Any, stop: Any, step: Any) -> Any:
    """``owner[start:stop:step]``."""
    return owner[start:stop:step]


def variable(environment: Any, name: str) -> str:
    """``os.environ[name]``; KeyError if it is missing."""
    return environment[name]  # type: ignore[no-any-return]


def lacks_variable(environment: Any, name: str) -> bool:
    """``name not in os.environ``"""
    return name not in environment


def sorted_by(items: List[Any], keys: Sequence[Any], reverse: bool = False) -> List[Any]:
    """``sorted(items, key=..., reverse=...)`` with computed keys; they are compared as ``sorted`` compares them."""
    return [items[position] for position in sorted(range(len(items)), key=keys.__getitem__, reverse=reverse)]


PLAIN = frozenset([int, float, bool, str, bytes]) | {
    np.dtype(code).type for code in np.typecodes["AllInteger"] + np.typecodes["Float"] + "?"}
"""The classes of numbers and strings; comparing them runs no user code."""


def require_plain(items: Iterable[Any]) -> None:
    """Raise TypeError unless all items are numbers and strings, or tuples of them."""
    for kind in set(map(type, items)) - PLAIN:
        if kind is not tuple:
            raise TypeError("the comparison may run code of the user's")
        for item in items:
            if type(item) is tuple:
                require_plain(item)


def _of_sets(operation: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def combined(one: Any, other: Any) -> Any:
        """An operator on two sets whose items compare without user code; TypeError for other items."""
        require_plain(one)
        require_plain(other)
        return operation(one, other)
    return combined


union, intersection = _of_sets(operator.or_), _of_sets(operator.and_)
difference, symmetric_difference = _of_sets(operator.sub), _of_sets(operator.xor)


def frozen(items: List[Any]) -> FrozenSet[Any]:
    """``frozenset(items)`` of numbers and strings; ValueError for a NaN, which sets find by identity."""
    made = frozenset(items)
    if any(item != item for item in made):
        raise ValueError("NaN")
    return made


def counted(items: Iterable[Any]) -> Any:
    """``Counter(items)`` of items that compare without user code; TypeError for other items."""
    if type(items) is not np.ndarray:
        require_plain(items)
    return Counter(items)


def recounted(items: List[Any]) -> Any:
    """The same for numbers that were boxed again; ValueError for a NaN, which a Counter finds by identity."""
    if any(item != item for item in items):
        raise ValueError("NaN")
    return counted(items)


def most_common(owner: Any, count: Any) -> List[Any]:
    """``owner.most_common(count)`` for counts that are plain numbers; TypeError for others."""
    require_plain(owner.values())
    return owner.most_common(count)  # type: ignore[no-any-return]


def sorted_plain(items: Sequence[Any], reverse: bool = False) -> List[Any]:
    """``sorted(items, reverse=...)`` of items that compare without user code; TypeError for other items."""
    require_plain(items)
    return sorted(items, reverse=reverse)


def sorted_by_plain(items: List[Any], keys: Sequence[Any], reverse: bool = False) -> List[Any]:
    """:func:`sorted_by` for keys that compare without user code; TypeError for other keys."""
    require_plain(keys)
    return sorted_by(items, keys, reverse)


def into(function: Callable[..., Any]) -> Callable[..., np.ndarray[Any, Any]]:
    """A function that returns what ``function(..., out=out)`` would leave in its first argument ``out``.

    It writes no existing array, so a kernel may take a side exit afterwards.
    """
    def call(out: np.ndarray[Any, Any], *arguments: Any, **keywords: Any) -> np.ndarray[Any, Any]:
        made = out.copy("K") if "where" in keywords else np.empty_like(out)
        function(*arguments, out=made, **keywords)
        return made
    return call


def put(array: np.ndarray[Any, Any], indices: Any, values: Any, mode: Any = "raise") -> None:
    """``np.put``, but an index out of range raises before anything is written."""
    if mode == "raise":
        array.take(indices)
    elif not array.size:
        raise IndexError("there is nothing to put values into")  # NumPy before 1.22 writes nevertheless
    array.put(indices, values, mode)


def _at(ufunc: np.ufunc) -> Callable[..., None]:
    """``ufunc.at``, but the array is unchanged if it raises; NumPy computes first and reports afterwards."""
    def call(array: np.ndarray[Any, Any], indices: Any, *values: Any) -> None:
        before = np.array(array[indices])
        try:
            ufunc.at(array, indices, *values)
        except FloatingPointError:
            array[indices] = before
            raise
    return call


def _of_numbers(function: Callable[..., Any]) -> Callable[..., Any]:
    """A NaN-ignoring function of NumPy, which raises where NumPy would warn that too few numbers are left."""
    def call(a: np.ndarray[Any, Any], axis: Any = None, **keywords: Any) -> Any:
        left = np.count_nonzero(a == a, axis=axis)
        if np.any(left <= keywords.get("ddof", 0)):
            raise ValueError("there are too few numbers")
        return function(a, axis=axis, **keywords)
    return call


PASS_OVER_NAN = ("nanmean", "nanmin", "nanmax", "nanvar", "nanstd", "nanmedian", "nanargmin", "nanargmax")
nan = SimpleNamespace(**{name: _of_numbers(getattr(np, name)) for name in PASS_OVER_NAN})


def _is_elementwise(ufunc: np.ufunc) -> bool:
    """Whether NumPy has it under its own name, and its loop runs on single elements."""
    return getattr(np, ufunc.__name__, None) is ufunc and ufunc.signature is None


UFUNCS: Dict[str, np.ufunc] = {
    ufunc.__name__: ufunc for ufunc in vars(np).values() if isinstance(ufunc, np.ufunc) and _is_elementwise(ufunc)}
"""NumPy's elementwise functions by name."""

at = SimpleNamespace(**{name: _at(ufunc) for name, ufunc in UFUNCS.items() if ufunc.nout == 1})
