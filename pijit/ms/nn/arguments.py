"""Checks of the arguments of layers."""

from __future__ import annotations

from typing import Any


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
