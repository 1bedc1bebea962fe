"""Gathering: additions to shifted parts of one adjoint become one nest.

The adjoint of a stencil adds to parts of one vector that overlap::

    q = g[1:-1].copy()
    g[1:-1] = 0.0 + q
    g[2:] += 0.5 * q
    g[:-2] += 0.25 * q

Each statement goes over the whole vector. Here each element gathers its terms instead, in the same order. The elements
at the ends, which lack some terms, are computed apart::

    g[2:-2] = ((0.0 + q[1:-1]) + 0.5 * q[:-2]) + 0.25 * q[2:]
    g[1:2] = 0.0 + q[0:1]
    ...

`LoopAdjoints` calls `gather` with the lines of one iteration.
"""

from __future__ import annotations

import ast
import functools
import textwrap
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Set, Tuple, Union

Lacking = Callable[[str], Optional[int]]
"""Tells how many elements fewer than the vector an array has; `NUMBER` for numbers, None where that is not known."""

NUMBER = -1

MOST_TEXT = 6000
"""The most characters of the statements that replace others."""

_SIGNS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}


class Part(NamedTuple):
    """A slice ``name[low:-high]`` of a vector."""

    name: str
    low: int
    high: int

    @property
    def cut(self) -> int:
        """The number of elements that are not in the slice."""
        return self.low + self.high


class Update(NamedTuple):
    """A statement that stores a value into a part, or adds it."""

    part: Part
    adds: bool
    value: Any


class Gathered(NamedTuple):
    """The new lines, the vector that they change, and the least number of elements for which they are right."""

    lines: List[str]
    name: str
    least: int


class _Unknown(Exception):
    """An expression that is not known to be computed element by element."""


def gather(lines: Sequence[str], lacking: Callable[[str], Optional[Lacking]], elementwise: Set[str],
           temporary: Set[str]) -> Optional[Gathered]:
    """Gather the additions to one vector, if that is possible.

    Args:
        lines: the statements of an iteration.
        lacking: for the name of a vector, what tells the lengths of other variables; None for other arrays.
        elementwise: the names of functions that are computed element by element.
        temporary: the variables that only this iteration needs.
    """
    indent = lines[0][:len(lines[0]) - len(lines[0].lstrip())] if lines else ""
    statements = ast.parse(textwrap.dedent("\n".join(lines))).body
    if len(statements) != len(lines):
        return None
    for number, statement in enumerate(statements):
        copied = _copied(statement)
        lengths = lacking(copied[1].name) if copied is not None else None
        if copied is not None and lengths is not None:
            window = _Window(statements, number, copied, lengths, elementwise, temporary)
            found = window.lines()
            if found is not None:
                made = lines[:number + 1], [indent + line for line in found], lines[window.end:]
                return Gathered([line for part in made for line in part], copied[1].name, window.low + window.high)
    return None


def _copied(statement: ast.stmt) -> Optional[Tuple[str, Part]]:
    """The name and the part of ``name = part.copy()``."""
    if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name) \
            and isinstance(statement.value, ast.Call) and isinstance(statement.value.func, ast.Attribute) \
            and statement.value.func.attr == "copy":
        part = _part(statement.value.func.value)
        return None if part is None else (statement.targets[0].id, part)
    return None


def _number(node: Any) -> Optional[int]:
    """The number of a literal; None for other nodes."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        value = _number(node.operand)
        return None if value is None else -value
    value = _literal(node)
    return value if type(value) is int else None


def _literal(node: Any) -> Any:
    """The value of a literal; None for other nodes. CPython 3.7 has another attribute for it."""
    return node.value if hasattr(node, "value") else vars(node).get("n")


def _part(node: Any) -> Optional[Part]:
    """A slice of a vector with literal ends, or None."""
    if not isinstance(node, ast.Subscript) or not isinstance(node.value, ast.Name) \
            or not isinstance(node.slice, ast.Slice) or node.slice.step is not None:
        return None
    low = 0 if node.slice.lower is None else _number(node.slice.lower)
    high = 0 if node.slice.upper is None else _number(node.slice.upper)
    if low is None or high is None or low < 0 or high > 0 or high == 0 and node.slice.upper is not None:
        return None
    return Part(node.value.id, low, -high)


class _Window:
    """Statements from a copy of a part to the last update of the same vector."""

    def __init__(self, statements: Sequence[ast.stmt], start: int, copied: Tuple[str, Part], lacking: Lacking,
                 elementwise: Set[str], temporary: Set[str]) -> None:
        self.copy, self.part = copied
        self.start = self.end = start + 1
        self.updates: List[Update] = []
        self._lacking, self._elementwise = lacking, elementwise
        self._assigned: Dict[str, int] = {}
        self._collect(statements)
        self.low = max([self.part.low] + [update.part.low for update in self.updates])
        self.high = max([self.part.high] + [update.part.high for update in self.updates])
        later = {node.id for statement in statements[self.end:] for node in ast.walk(statement)
                 if isinstance(node, ast.Name)}
        inside = {name for name, number in self._assigned.items() if number < self.end}
        self._needed_later = bool(inside & later) or not inside <= temporary

    def _collect(self, statements: Sequence[ast.stmt]) -> None:
        values: Dict[str, Any] = {}
        for number in range(self.start, len(statements)):
            statement = statements[number]
            update = self._update(statement)
            if update is not None:
                self.updates.append(update._replace(value=_Bound(update.value, dict(values))))
                self.end = number + 1
            elif isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name) \
                    and statement.targets[0].id != self.copy:
                name = statement.targets[0].id
                values[name] = _Bound(statement.value, dict(values))
                self._assigned.setdefault(name, number)
            else:
                return

    def _update(self, statement: ast.stmt) -> Optional[Update]:
        """A statement that changes a part of the vector that is as long as the copied part."""
        target = statement.targets[0] if isinstance(statement, ast.Assign) else getattr(statement, "target", None)
        part = _part(target)
        if part is None or part.name != self.part.name or part.cut != self.part.cut:
            return None
        if isinstance(statement, ast.AugAssign) and isinstance(statement.op, ast.Add):
            return Update(part, True, statement.value)
        return Update(part, False, statement.value) if isinstance(statement, ast.Assign) else None

    def lines(self) -> Optional[List[str]]:
        """The statements that replace the window's, without the copy; None if it is left as it is."""
        parts = {update.part for update in self.updates}
        if len(self.updates) < 3 or len(parts) < 2 or self._needed_later or any(
                not update.adds for update in self.updates[1:]) or not self.updates[0].adds \
                and self.updates[0].part != self.part:
            return None
        try:
            found = [self._inner()] + self._ends()
        except _Unknown:
            return None
        return found if sum(map(len, found)) <= MOST_TEXT else None

    def _inner(self) -> str:
        """The statement for the elements that all updates change."""
        whole = "%s[%d:%s]" % (self.part.name, self.low, -self.high if self.high else "")
        text = whole if self.updates[0].adds else ""
        for update in self.updates:
            term = self._text(update.value, self.low - update.part.low, -(self.high - update.part.high) or None)
            text = "(%s + %s)" % (text, term) if text else term
        return "%s = %s" % (whole, text)

    def _ends(self) -> List[str]:
        """The statements for the elements at the ends."""
        found = []
        for update in self.updates:
            sign = "+=" if update.adds else "="
            missing = self.low - update.part.low
            if missing:
                found.append("%s[%d:%d] %s %s" % (self.part.name, update.part.low, self.low, sign,
                                                  self._text(update.value, 0, missing)))
            missing = self.high - update.part.high
            if missing:
                found.append("%s[%d:%s] %s %s" % (self.part.name, -self.high, -update.part.high or "", sign,
                                                  self._text(update.value, -missing, None)))
        return found

    # ---- expressions ----

    def _text(self, value: Union["_Bound", Any], start: int, stop: Optional[int], known: Any = None) -> str:
        """An expression for elements ``start:stop`` of the copied part."""
        if isinstance(value, _Bound):
            return self._text(value.node, start, stop, value.values)
        node, inner = value, functools.partial(self._text, start=start, stop=stop, known=known)
        piece = "" if start == 0 and stop is None else "[%s:%s]" % (start, "" if stop is None else stop)
        if isinstance(node, ast.Name):
            return self._name(node.id, piece, start, stop, known)
        if isinstance(node, ast.Subscript):
            part = _part(node)
            if part is None or part.name in known or part.name == self.part.name \
                    or self._lacking(part.name) != self.part.cut - part.cut:
                raise _Unknown
            return "%s[%d:%s]%s" % (part.name, part.low, -part.high if part.high else "", piece)
        if isinstance(node, ast.BinOp) and type(node.op) in _SIGNS:
            return "(%s %s %s)" % (inner(node.left), _SIGNS[type(node.op)], inner(node.right))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in self._elementwise \
                and not node.keywords:
            return "%s(%s)" % (node.func.id, ", ".join(map(inner, node.args)))
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return "(-%s)" % inner(node.operand)
        number = _literal(node)
        if type(number) in (int, float):
            return repr(number)
        raise _Unknown

    def _name(self, name: str, piece: str, start: int, stop: Optional[int], known: Any) -> str:
        if name in known:
            return self._text(known[name], start, stop)
        if name == self.copy:
            return name + piece
        lacking = self._lacking(name)
        if lacking == NUMBER:
            return name
        if lacking != self.part.cut or name == self.part.name:
            raise _Unknown
        return name + piece


class _Bound(NamedTuple):
    """An expression, and what the variables in it stand for."""

    node: Any
    values: Dict[str, Any]
