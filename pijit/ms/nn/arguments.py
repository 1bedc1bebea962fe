"""Checks of the arguments of layers."""

from __future__ import annotations

from typing import Any, Optional


def positive(layer: str, name: str, value: Any) -> int:
    """The argument of a layer if it is a positive integer.

    Raises:
        TypeError, ValueError: it is none; the text names the layer and the argument.
    """
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError("{}: {} must be an int; not {!r}".format(layer, name, value))
    if value < 1:
        raise ValueError("{}: {} must be positive; not {!r}".format(layer, name, value))
    return value


def dimensions(layer: str, x: Any, count: int, or_count: Optional[int] = None) -> None:
    """Check the number of dimensions of an input.

    Raises:
        ValueError: it is neither `count` nor `or_count`.
    """
    if x.ndim != count and x.ndim != or_count:
        raise ValueError("{}: x must have {} dimensions; not {}".format(
            layer, count if or_count is None else "{} or {}".format(count, or_count), x.ndim))
