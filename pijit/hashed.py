"""`hash_args`: values on which a function depends and a change of which makes it be captured again."""

from __future__ import annotations

from typing import Any, Tuple

import numpy as np

_CONTAINERS = (list, tuple, set, frozenset)


class HashArgs:
    """The values; equal and hashable by identity, whatever they are.

    Args:
        given: a value, or a list or tuple of values.
    """

    __slots__ = ("values",)

    def __init__(self, given: Any) -> None:
        self.values = tuple(given) if isinstance(given, (list, tuple)) else (given,)


def key_of(value: Any) -> Tuple[Any, ...]:
    """What changes with a value: items of containers, bytes of arrays, the hash of others, or else identity."""
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
