"""Provenance: the starts of the paths by which a segment fetches its input values.

Interpreter, models and graph builder use it. A path must not hold the value that it leads to.
"""

from __future__ import annotations

from typing import Any

from pijit.core.named_tuples import NamedTuple


class Root(NamedTuple):
    """The start of a path.

    It is a local variable ("local", name), an operand stack item ("stack", k), the content of a cell or free variable
    ("cell", k), or the cell itself ("closure", k).
    """

    kind: str
    name: Any

    def __str__(self) -> str:
        text: str = {"local": "L[%r]", "stack": "stack[%d]", "cell": "cell %d",
                     "closure": "closure[%d]"}[self.kind] % self.name
        return text
