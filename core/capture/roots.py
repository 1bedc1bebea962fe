"""Where a segment finds the values that it starts from."""

from __future__ import annotations

from typing import Any, NamedTuple


class Root(NamedTuple):
    """A local variable ("local", name), an operand stack position ("stack", k), a cell or free variable ("cell", k), or
    the cell itself ("closure", k)."""

    kind: str
    name: Any

    def __str__(self) -> str:
        return {"local": "L[%r]", "stack": "stack[%d]", "cell": "cell %d", "closure": "closure[%d]"}[self.kind] % self.name
