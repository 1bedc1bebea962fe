"""Facts about a value beyond its type that steered a capture: each becomes a guard on where the value comes from."""

from __future__ import annotations

from typing import Any, List, NamedTuple

from pijit.guards import guard as kinds


class HasLength(NamedTuple):
    """A tuple, list or dict has this many items."""

    length: int

    def guards(self, source: Any) -> List[Any]:
        return [kinds.LengthIs(source, self.length)]


class HasValue(NamedTuple):
    """A number or another plain value is this one."""

    value: Any

    def guards(self, source: Any) -> List[Any]:
        return [kinds.Equals(source, self.value)]
