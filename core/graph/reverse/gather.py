"""Gathering: additions to shifted parts of one adjoint become one nest.

The adjoint of a stencil adds to parts of one array that overlap::

    q = g[1:-1].copy()
    g[1:-1] = 0.0 + q
    g[2:] += 0.5 * q
    g[:-2] += 0.25 * q

Each statement goes over the whole array. Here each element gathers its terms instead, in the same order. The elements
at the ends of each axis, which lack some terms, are computed apart::

    q_0_first = g[1:-1][:2].copy()
    ...
    g[2:-2] = ((0.0 + g[1:-1][1:-1]) + 0.5 * g[1:-1][:-2]) + 0.25 * g[1:-1][2:]
    g[1:2] = 0.0 + q_0_first[:1]
    ...

Terms of the same elements at an end are one statement, too. No other end has these elements, so their order stays.

The new statement reads the array itself, so that the copy is not needed: NumPy computes all elements before it stores
one, and kernels store in order. Elements at the ends are copied before. A copy that later statements read stays.

The array may also begin as zeros: then all statements are additions. If they store all elements, the array begins
without contents. Cheap arithmetic that a term reads is computed again in the term, so that it need not be stored:
``v = 0.1 * u[1:]`` and ``q * v[:-1]`` give ``q * (0.1 * u[1:][:-1])`` (rematerialisation). `LoopAdjoints` calls
`gather` with the lines of one iteration, and `joint` with those of a function without loops.
"""

from __future__ import annotations

import ast
import functools
from typing import Any, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple, Union

from pijit.core.graph.reverse.array_parts import (
    WHOLE,
    ArrayPart,
    Cuts,
    SliceBounds,
    literal,
    part_of,
    slices_code,
    within_part,
)
from pijit.core.graph.reverse.liveness import statements_of
from pijit.core.graph.reverse.repeated_expressions import NUMBER, BoundExpression, Definitions, Facts, Lacking
from pijit.core.named_tuples import NamedTuple

MOST_TEXT = 12000
"""The most characters of the statements that replace others."""

_SIGNS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}


class Update(NamedTuple):
    """A statement that stores a value into a part, or adds it."""

    part: ArrayPart
    adds: bool
    value: Any


class Gathered(NamedTuple):
    """The new lines, the array that they change, and the least sizes for which they are right."""

    lines: List[str]
    name: str
    least: Tuple[int, ...]


class _NotElementwise(Exception):
    """An expression that is not known to be computed element by element."""


def gather(lines: Sequence[str], facts: Facts) -> Optional[Gathered]:
    """Gather the additions to one array in these statements, if that is possible."""
    indent = lines[0][:len(lines[0]) - len(lines[0].lstrip())] if lines else ""
    statements = statements_of(lines)
    if len(statements) != len(lines):
        return None
    for number, statement in enumerate(statements):
        name, copy = _zeroed(statement, facts.zeros), ""
        copied = _copied(statement)
        if copied is not None:
            copy, name = copied[0], copied[1].name
        lengths = facts.lacking(name) if name else None
        if lengths is not None:
            window = _UpdateWindow(statements, number, copied[1] if copied else None, name, copy, lengths, facts)
            found = window.lines()
            if found is not None:
                begin = number if window.drops_copy or window.stores_all else number + 1
                if window.stores_all:
                    function = statement.value.func.id  # type: ignore[attr-defined]
                    found.insert(0, lines[number].strip().replace(function, facts.zeros[function], 1))
                made = lines[:begin], [indent + line for line in found], lines[window.end:]
                return Gathered([line for part in made for line in part], name, window.least())
    return None


def _zeroed(statement: ast.stmt, zeros: Mapping[str, str]) -> str:
    """The name of an array that a statement makes of zeros, or ""."""
    if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name) \
            and isinstance(statement.value, ast.Call) and isinstance(statement.value.func, ast.Name) \
            and statement.value.func.id in zeros:
        return statement.targets[0].id
    return ""


def _copied(statement: ast.stmt) -> Optional[Tuple[str, ArrayPart]]:
    """The name and the part of ``name = part.copy()``."""
    if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name) \
            and isinstance(statement.value, ast.Call) and isinstance(statement.value.func, ast.Attribute) \
            and statement.value.func.attr == "copy":
        part = part_of(statement.value.func.value)
        return None if part is None else (statement.targets[0].id, part)
    return None


class _UpdateWindow:
    """Statements from a copy of a part, or from zeros, to the last update of the same array.

    Attributes:
        drops_copy: whether the new statements do not need the copy.
        stores_all: whether they store all elements of an array of zeros before they read one, once `lines` is called.
    """

    def __init__(self, statements: Sequence[ast.stmt], start: int, part: Optional[ArrayPart], name: str, copy: str,
                 lacking: Lacking, facts: Facts) -> None:
        self.copy, self.name, self.part = copy, name, part
        self.start = self.end = start + 1
        self.updates: List[Update] = []
        self._lacking, self._elementwise = lacking, facts.elementwise
        self._assigned: Dict[str, int] = {}
        self._collect(statements, Definitions(statements[:start], facts, not copy))
        parts = [update.part for update in self.updates] + ([part] if part is not None else [])
        self.low = tuple(map(max, zip(*(one.low for one in parts))))
        self.high = tuple(map(max, zip(*(one.high for one in parts))))
        later = {node.id for statement in statements[self.end:] for node in ast.walk(statement)
                 if isinstance(node, ast.Name)}
        inside = {name for name, number in self._assigned.items() if number < self.end}
        self._needed_later = bool(inside & later) or not all(map(facts.temporary, inside))
        self.drops_copy, self.stores_all = bool(copy) and copy not in later, False
        self._ends: Dict[str, Tuple[SliceBounds, ...]] = {}
        self._source = ""

    def _collect(self, statements: Sequence[ast.stmt], definitions: Definitions) -> None:
        for number in range(self.start, len(statements)):
            statement = statements[number]
            update = self._update(statement)
            if update is not None:
                self.updates.append(update._replace(value=BoundExpression(update.value, definitions.values())))
                self.part = self.part or update.part
                self.end = number + 1
            elif isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name) \
                    and statement.targets[0].id not in (self.copy, self.name):
                name = statement.targets[0].id
                definitions.define(name, statement.value)
                self._assigned.setdefault(name, number)
            else:
                return

    def _update(self, statement: ast.stmt) -> Optional[Update]:
        """A statement that changes a part of the array that is as large as the first one."""
        target = statement.targets[0] if isinstance(statement, ast.Assign) else getattr(statement, "target", None)
        part = part_of(target)
        if part is None or part.name != self.name or self.part is not None and part.cuts != self.part.cuts:
            return None
        if isinstance(statement, ast.AugAssign) and isinstance(statement.op, ast.Add):
            return Update(part, True, statement.value)
        return Update(part, False, statement.value) if isinstance(statement, ast.Assign) else None

    def least(self) -> Tuple[int, ...]:
        """The least sizes of the array."""
        return tuple(low + high for low, high in zip(self.low, self.high))

    def lines(self) -> Optional[List[str]]:
        """The statements that replace the window's, after a copy that is kept; None if it is left as it is."""
        parts = {update.part for update in self.updates}
        if len(self.updates) < 3 or len(parts) < 2 or self._needed_later or any(
                not update.adds for update in self.updates[1:]) or not self.updates[0].adds and (
                    not self.copy or self.updates[0].part != self.part):
            return None
        try:
            found = [self._inner(), *self._outer()]
        except _NotElementwise:
            return None
        if self.drops_copy:
            found[:0] = ["%s = %s%s.copy()" % (end, self._whole(), slices_code(places))
                         for end, places in self._ends.items()]
        return found if sum(map(len, found)) <= MOST_TEXT else None

    def _inside(self, axis: int) -> SliceBounds:
        """The elements of an axis that all updates change."""
        return self.low[axis], -self.high[axis] or None

    def _inner(self) -> str:
        """The statement for the elements that all updates change."""
        axes = range(len(self.low))
        self._source = self._whole() if self.drops_copy else self.copy
        whole = self.name + slices_code(list(map(self._inside, axes)))
        text = whole if self.updates[0].adds and self.copy else "" if self.copy else "0.0"
        for update in self.updates:
            term = self._text(update.value, [self._within(update.part, axis) for axis in axes], self._cuts())
            text = "(%s + %s)" % (text, term) if text else term
        return "%s = %s" % (whole, text)

    def _within(self, part: ArrayPart, axis: int) -> SliceBounds:
        """The same elements of an axis, counted in a part."""
        return self.low[axis] - part.low[axis], part.high[axis] - self.high[axis] or None

    def _outer(self) -> List[str]:
        """The statements for the elements at the ends of the axes; those for the same elements are one."""
        found: List[Tuple[str, str]] = []
        latest: Dict[Tuple[int, bool], int] = {}
        for side, target, adds, term in self._terms():
            number = latest.get(side, -1)
            if adds and number >= 0 and found[number][0] == target:
                found[number] = target, "(%s + %s)" % (found[number][1], term)
            else:
                latest[side] = len(found)
                before = "0.0" if number < 0 and not self.copy else target
                found.append((target, "(%s + %s)" % (before, term) if adds else term))
        once = len(found) == len(latest) and len(self.low) == 1
        self.stores_all = not self.copy and once and all(
            0 in {getattr(update.part, side)[0] for update in self.updates} for side in ("low", "high"))
        return ["%s = %s" % one for one in found]

    def _terms(self) -> Iterator[Tuple[Tuple[int, bool], str, bool, str]]:
        """The terms of elements at the ends: axis and whether it is its last end, elements, whether it adds, value."""
        axes = range(len(self.low))
        for update in self.updates:
            part = update.part
            for axis in axes:
                for own, place in self._beyond(part, axis):
                    self._source = self._end(axis, own) if self.drops_copy else self.copy
                    places = [self._inside(k) for k in axes[:axis]] + [place] + [
                        (part.low[k], -part.high[k] or None) for k in axes[axis + 1:]]
                    within = [self._within(part, k) for k in axes[:axis]] + [own] + [WHOLE] * len(axes[axis + 1:])
                    yield ((axis, own[1] is None), self.name + slices_code(places), update.adds,
                           self._text(update.value, within, self._cuts()))

    def _beyond(self, part: ArrayPart, axis: int) -> Iterator[Tuple[SliceBounds, SliceBounds]]:
        """The elements of an axis that a part has and others lack: counted in the part, and in the array."""
        before, after = self.low[axis] - part.low[axis], self.high[axis] - part.high[axis]
        if before:
            yield (0, before), (part.low[axis], self.low[axis])
        if after:
            yield (-after, None), (-self.high[axis], -part.high[axis] or None)

    # ---- expressions ----

    def _text(self, value: Union[BoundExpression, Any], ranges: Sequence[SliceBounds], cuts: Cuts,
              known: Any = None) -> str:
        """An expression for some elements, counted in an array with these cuts."""
        if isinstance(value, BoundExpression):
            return self._text(value.node, ranges, cuts, value.values)
        node, inner = value, functools.partial(self._text, ranges=ranges, cuts=cuts, known=known)
        if isinstance(node, ast.Name):
            return self._variable(node.id, ranges, cuts, known)
        if isinstance(node, ast.Subscript):
            return self._subscript(node, ranges, cuts, known)
        if isinstance(node, ast.BinOp) and type(node.op) in _SIGNS:
            return "(%s %s %s)" % (inner(node.left), _SIGNS[type(node.op)], inner(node.right))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in self._elementwise \
                and not node.keywords:
            return "%s(%s)" % (node.func.id, ", ".join(map(inner, node.args)))
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return "(-%s)" % inner(node.operand)
        number = literal(node)
        if type(number) in (int, float):
            return repr(number)
        raise _NotElementwise

    def _cuts(self) -> Cuts:
        assert self.part is not None
        return self.part.cuts

    def _variable(self, name: str, ranges: Sequence[SliceBounds], cuts: Cuts, known: Any) -> str:
        piece = "" if all(one == WHOLE for one in ranges) else slices_code(ranges)
        if name in known:
            repeated = self._repeated(known[name], ranges, cuts, name)
            if repeated:
                return repeated
        if name == self.copy and cuts == self._cuts():
            return self._source + piece
        found = self._lacking(name)
        if found == NUMBER:
            return name
        if found != cuts or name == self.name:
            raise _NotElementwise
        return name + piece

    def _whole(self) -> str:
        """The part that the copy copies."""
        assert self.part is not None
        return self.name + slices_code([(low, -high or None) for low, high in zip(self.part.low, self.part.high)])

    def _end(self, axis: int, own: SliceBounds) -> str:
        """The copy of one end of an axis. Slices that begin or stop there have the same numbers in it."""
        end = "%s_%d_%s" % (self.copy, axis, "last" if own[1] is None else "first")
        most = max(abs(there[0] or there[1] or 0) for update in self.updates
                   for there, _ in self._beyond(update.part, axis) if (there[1] is None) == (own[1] is None))
        place: SliceBounds = (-most, None) if own[1] is None else (0, most)
        self._ends[end] = (WHOLE,) * axis + (place,) + (WHOLE,) * (len(self.low) - axis - 1)
        return end

    def _subscript(self, node: ast.Subscript, ranges: Sequence[SliceBounds], cuts: Cuts, known: Any) -> str:
        """Some elements of a part of another array."""
        part = part_of(node)
        whole = self._lacking(part.name) if part is not None else None
        if part is None or part.name == self.name or not whole or len(whole) != len(part.low) \
                or cuts != tuple(map(sum, zip(whole, part.cuts))):
            raise _NotElementwise
        if part.name in known:
            places = list(map(within_part, part.low, part.high, ranges))
            repeated = self._repeated(known[part.name], places, whole, part.name)
            if repeated:
                return repeated
        piece = "" if all(one == WHOLE for one in ranges) else slices_code(ranges)
        return part.name + slices_code([(low, -high or None) for low, high in zip(part.low, part.high)]) + piece

    def _repeated(self, value: BoundExpression, ranges: Sequence[SliceBounds], cuts: Cuts, name: str) -> str:
        """The expression of a variable, or "" if the variable has to be read, which the window must not assign."""
        try:
            return self._text(value, ranges, cuts)
        except _NotElementwise:
            if name in self._assigned:
                raise
            return ""
