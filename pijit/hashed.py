"""`hash_args`: values on which a function depends; when one changes, the function is captured again.

`pijit.decorator` and `pijit.function` call it. It must not change the values.
"""

from __future__ import annotations

from operator import is_
from typing import Any, Callable, Optional, Tuple

import numpy as np

_CONTAINERS = (list, tuple, set, frozenset)
_ATOMS = frozenset([int, float, complex, bool, str, bytes, type(None)]
                   + [np.dtype(code).type for code in np.typecodes["All"] if code != "V"])
"""Immutable types; tuples and frozensets of their objects are immutable, too."""


class HashArgs:
    """The values of `hash_args`; instances are compared and hashed by identity.

    Args:
        given: a value, or a list or tuple of values.
    """

    __slots__ = ("values",)

    def __init__(self, given: Any) -> None:
        self.values = tuple(given) if isinstance(given, (list, tuple)) else (given,)


def key_of(value: Any) -> Tuple[Any, ...]:
    """Fingerprint of a value: the items of a container, the bytes of an array, its hash, or else its identity."""
    kind = type(value)
    if isinstance(value, _CONTAINERS):
        keys = [key_of(item) for item in value]
        return (kind, tuple(sorted(keys, key=repr) if isinstance(value, (set, frozenset)) else keys))
    if isinstance(value, dict):
        return (kind, tuple((key_of(key), key_of(item)) for key, item in value.items()))
    if isinstance(value, np.ndarray):
        return (kind, value.dtype, value.shape, value.tobytes())
    try:
        return (kind, hash(value))
    except TypeError:
        return (kind, id(value))


def never_changes(value: Any) -> bool:
    """Whether the key of a value is constant."""
    kind = type(value)
    if kind in (tuple, frozenset):
        return all(map(never_changes, value))
    hashing: Any = kind.__hash__
    by_identity = not issubclass(kind, (np.ndarray, dict) + _CONTAINERS) and hashing is object.__hash__
    return kind in _ATOMS or by_identity


def _test_of(value: Any) -> Callable[[], bool]:
    """A test that succeeds only while the key of a value is unchanged."""
    kind = type(value)
    if kind is list and all(map(never_changes, value)):
        items, length = tuple(value), len(value)
        return lambda: len(value) == length and all(map(is_, value, items))
    if kind is dict and all(map(never_changes, value)) and all(map(never_changes, value.values())):
        names, found, length = tuple(value), tuple(value.values()), len(value)
        return lambda: len(value) == length and all(map(is_, value, names)) and all(map(is_, value.values(), found))
    key = key_of(value)
    return lambda: key_of(value) == key


def watch_of(given: HashArgs, forget: Callable[[str], None]) -> Optional[Callable[[], bool]]:
    """A function to run before each call; None if none of the values can change.

    When the key of a value has changed, it calls `forget` with the value's name and returns True."""
    changing = [(number, value) for number, value in enumerate(given.values) if not never_changes(value)]
    values = [value for _, value in changing]
    tests = list(map(_test_of, values))
    keys = list(map(key_of, values))

    def before() -> bool:
        for test in tests:
            if not test():
                break
        else:
            return False
        tests[:] = map(_test_of, values)
        previous, keys[:] = keys[:], map(key_of, values)
        if keys == previous:
            return False
        changed = next(number for (number, _), key, old in zip(changing, keys, previous) if key != old)
        forget("hash_args[{}]".format(changed))
        return True

    return before if values else None
