"""Guards on two sources: arrays without overlap or with equal shapes, and identity or non-identity of objects."""

from __future__ import annotations

from typing import Any, Optional, Tuple

import numpy

from pijit.guards.facts import extent, was_type
from pijit.guards.guard import Guard, GuardStep
from pijit.guards.source import Source

__all__ = ["DistinctObject", "NoOverlap", "SameObject", "SameShape"]


class Pair(Guard):
    """Base of the guards on two sources, `a` and `b`."""

    __slots__ = fields = ("a", "b")
    a: Source
    b: Source

    @property
    def sources(self) -> Tuple[Source, ...]:
        return self.a, self.b


class ArrayPair(Pair):
    """Base of the guards on two sources that both hold exact arrays."""

    __slots__ = ()

    def why_not(self, *values: Any) -> Optional[str]:
        for source, value in zip(self.sources, values):
            if type(value) is not numpy.ndarray:
                return was_type(source, "ndarray", value)
        return self.why_not_arrays(*values)

    def why_not_arrays(self, a: numpy.ndarray[Any, Any], b: numpy.ndarray[Any, Any]) -> Optional[str]:
        """As why_not, for two exact arrays."""
        raise NotImplementedError


class NoOverlap(ArrayPair):
    """The memory extents of two arrays, from lowest to highest byte, are disjoint; an empty array overlaps no array."""

    __slots__ = ()
    cost = 5

    def __str__(self) -> str:
        return f"{self.a} and {self.b} do not overlap in memory"

    def step(self) -> GuardStep:
        return GuardStep("CHECK_APART")

    def why_not_arrays(self, a: numpy.ndarray[Any, Any], b: numpy.ndarray[Any, Any]) -> Optional[str]:
        (a_low, a_high), (b_low, b_high) = extent(a), extent(b)
        if a_low == a_high or b_low == b_high or a_high <= b_low or b_high <= a_low:
            return None
        return f"{self.a} and {self.b} did not overlap in memory and now they may"


class SameShape(ArrayPair):
    """Two arrays have equal shapes."""

    __slots__ = ()

    def __str__(self) -> str:
        return f"{self.a}.shape == {self.b}.shape"

    def step(self) -> GuardStep:
        return GuardStep("CHECK_SHAPES")

    def why_not_arrays(self, a: numpy.ndarray[Any, Any], b: numpy.ndarray[Any, Any]) -> Optional[str]:
        if a.shape == b.shape:
            return None
        return f"{self.a} and {self.b} had equal shapes and now have {a.shape} and {b.shape}"


class SameObject(Pair):
    """Two sources hold the same object."""

    __slots__ = ()
    cost = 0

    def __str__(self) -> str:
        return f"{self.a} is {self.b}"

    def step(self) -> GuardStep:
        return GuardStep("CHECK_SAME")

    def why_not(self, *values: Any) -> Optional[str]:
        a, b = values
        return None if a is b else f"{self.a} and {self.b} were the same object and are now two"


class DistinctObject(Pair):
    """Two sources hold different objects."""

    __slots__ = ()
    cost = 0

    def __str__(self) -> str:
        return f"{self.a} is not {self.b}"

    def step(self) -> GuardStep:
        return GuardStep("CHECK_DISTINCT")

    def why_not(self, *values: Any) -> Optional[str]:
        a, b = values
        return None if a is not b else f"{self.a} and {self.b} were two objects and are now the same"
