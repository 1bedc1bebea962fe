"""The syntax tree of a generated function: lines, and statements that hold blocks of them."""

from __future__ import annotations

from typing import Iterator, List, Sequence, Tuple, Union

INDENT = "    "


class Line:
    """A statement on one line."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text


class Compound:
    """A statement of clauses, each a header such as ``else:`` and its block."""

    __slots__ = ("clauses",)

    def __init__(self, *clauses: Tuple[str, List["Node"]]) -> None:
        self.clauses = clauses


Node = Union[Line, Compound]


def lines_of(block: Sequence[Node], depth: int = 0) -> Iterator[str]:
    """The lines of a block, indented."""
    for node in block:
        if isinstance(node, Line):
            yield INDENT * depth + node.text
        else:
            for header, inner in node.clauses:
                yield INDENT * depth + header
                yield from lines_of(inner, depth + 1)


def render(block: Sequence[Node], depth: int = 0) -> str:
    """The source of a block."""
    return "".join(line + "\n" for line in lines_of(block, depth))
