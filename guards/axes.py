"""Guards on the lengths of axes of arrays.

Capture makes them, and `pijit.checking` does. They must read nothing but the array's shape.
"""

from __future__ import annotations

import struct
from typing import Any, FrozenSet, Optional

import numpy

from pijit.guards.facts import was_type
from pijit.guards.guard import GuardStep, OnSource
from pijit.guards.pairs import ArrayPair
from pijit.guards.source import Source

__all__ = ["AxisLength", "SameAxis", "UnitAxes"]

ENDLESS = 2 ** 63 - 1


class AxisLength(OnSource):
    """The value is exactly an array, and the length of an axis is in a range and in a residue class.

    The length is from `least` to `most`, and `remainder` more than a multiple of `divisor`.

    Args:
        axis: from 0 on; the guard fails if the array has too few dimensions.
        least, most: limits, both included; ENDLESS: no upper limit.
        divisor, remainder: see above; the guard fails for lengths below the remainder.
    """

    __slots__ = fields = ("source", "axis", "least", "most", "divisor", "remainder")
    cost = 4
    axis: int
    least: int
    most: int
    divisor: int
    remainder: int

    def __init__(self, source: Source, axis: int, least: int, most: int, divisor: int = 1,
                 remainder: int = 0) -> None:
        super().__init__(source, axis, least, most, divisor, remainder)

    def __str__(self) -> str:
        length = f"{self.source}.shape[{self.axis}]"
        most = "" if self.most == ENDLESS else f" <= {self.most}"
        words = f"{length} == {self.least}" if self.least == self.most else f"{self.least} <= {length}{most}"
        rest = self.remainder % self.divisor
        return words if self.divisor == 1 else f"{words}, {length} % {self.divisor} == {rest}"

    def step(self) -> GuardStep:
        rule = struct.pack("4q", self.least, self.most, self.divisor, self.remainder)
        return GuardStep("CHECK_AXIS", self.axis, rule)

    def why_not(self, *values: Any) -> Optional[str]:
        value, = values
        if type(value) is numpy.ndarray and value.ndim > self.axis and self._fits(value.shape[self.axis]):
            return None
        found = f"has shape {value.shape}" if type(value) is numpy.ndarray else f"is of type {type(value).__name__}"
        return f"{self} held and {self.source} now {found}"

    def _fits(self, length: int) -> bool:
        within = max(self.least, self.remainder) <= length <= self.most
        return within and (length - self.remainder) % self.divisor == 0


class UnitAxes(OnSource):
    """The value is exactly an array, and of its axes exactly those in `axes` have length 1.

    Arrays with more than 62 axes never fulfil it.
    """

    __slots__ = fields = ("source", "axes")
    cost = 4
    axes: FrozenSet[int]

    def __str__(self) -> str:
        return f"axes of length 1 of {self.source}: {', '.join(map(str, sorted(self.axes))) or 'none'}"

    def step(self) -> GuardStep:
        return GuardStep("CHECK_UNIT_AXES", sum(1 << axis for axis in self.axes))

    def why_not(self, *values: Any) -> Optional[str]:
        value, = values
        if type(value) is not numpy.ndarray:
            return was_type(self.source, "ndarray", value)
        found = {axis for axis, length in enumerate(value.shape) if length == 1}
        if found == self.axes and value.ndim <= 62:
            return None
        return f"{self} held and {self.source} now has shape {value.shape}"


class SameAxis(ArrayPair):
    """An axis of one array is as long as an axis of another."""

    __slots__ = ("axis", "other")
    fields = ("a", "b", "axis", "other")  # type: ignore[assignment]
    axis: int
    other: int

    def __str__(self) -> str:
        return f"{self.a}.shape[{self.axis}] == {self.b}.shape[{self.other}]"

    def step(self) -> GuardStep:
        return GuardStep("CHECK_SAME_AXIS", self.axis, mask=self.other)

    def why_not_arrays(self, a: numpy.ndarray[Any, Any], b: numpy.ndarray[Any, Any]) -> Optional[str]:
        if a.ndim > self.axis and b.ndim > self.other and a.shape[self.axis] == b.shape[self.other]:
            return None
        return f"{self} held and the shapes are now {a.shape} and {b.shape}"
