"""Sinking of sums: an iteration computes numbers after arrays, and its sums repeat the arithmetic that they read.

The adjoint of a number that scales arrays is a sum over an array. The backward part of an iteration computes it between
operations on arrays::

    a = g * h
    s = s + sum(a * v)
    b = 0.0 + a
    t = sum(b * w)
    g = b * c

Each sum splits the loop nest of the array operations, and each array that a sum reads is stored. So sums repeat cheap
arithmetic (rematerialisation). Then the statements of numbers move after those of arrays (code sinking), as far as no
operand changes::

    a = g * h
    b = 0.0 + a
    s = s + sum(g * h * v)
    t = sum((0.0 + g * h) * w)
    g = b * c

`LoopAdjoints` (`loops`) calls `sink_sums` with the lines of one iteration. It never changes what is computed, so bits
stay the same.
"""

from __future__ import annotations

import ast
from typing import Any, Callable, Dict, FrozenSet, List, Optional, Sequence, Set, Tuple

from pijit.core.graph.reverse.array_parts import literal
from pijit.core.graph.reverse.liveness import statements_of
from pijit.core.named_tuples import NamedTuple

MOST_REPEATED = 16
"""The most operations that a sum repeats for one variable: more take longer than to read a stored array."""

_SIGNS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*"}


class Functions(NamedTuple):
    """The names of functions: those that add up an array, and cheap ones that are computed element by element."""

    sums: Set[str]
    cheap: Set[str]


class _Statement(NamedTuple):
    """An assignment: its line, the variables that it reads and assigns, and the expression."""

    line: str
    reads: FrozenSet[str]
    writes: FrozenSet[str]
    value: Any

    def conflicts(self, other: "_Statement") -> bool:
        """Whether the order of two statements matters."""
        return not (self.writes.isdisjoint(other.reads | other.writes) and self.reads.isdisjoint(other.writes))


def sink_sums(lines: Sequence[str], functions: Functions, is_number: Callable[[str], bool]) -> List[str]:
    """The lines with sums after the operations on arrays; unchanged if nothing is known to be gained.

    Args:
        lines: the statements of an iteration.
        functions: what they call.
        is_number: whether a variable holds a number.
    """
    statements = _assignments(lines)
    if statements is None or not any(_is_of_number(statement, is_number) and _calls(statement.value, functions.sums)
                                     for statement in statements):
        return list(lines)
    repeated = _Repeated(functions)
    statements = [repeated.statement(one, _is_of_number(one, is_number)) for one in statements]
    numbers = [statement for statement in statements if _is_of_number(statement, is_number)]
    return [statement.line for statement in _sunk(statements, numbers)]


def _assignments(lines: Sequence[str]) -> Optional[List[_Statement]]:
    """The lines as assignments to variables; None if there are other statements."""
    statements, found = statements_of(lines), []
    if len(statements) != len(lines):
        return None
    for line, statement in zip(lines, statements):
        if not isinstance(statement, ast.Assign):
            return None
        names = [node for node in ast.walk(statement) if isinstance(node, ast.Name)]
        targets = [node for one in statement.targets for node in ast.walk(one) if isinstance(node, ast.Subscript)]
        if targets:
            return None  # a store into an array
        found.append(_Statement(line, frozenset(node.id for node in names if isinstance(node.ctx, ast.Load)),
                                frozenset(node.id for node in names if isinstance(node.ctx, ast.Store)),
                                statement.value))
    return found


def _is_of_number(statement: _Statement, is_number: Callable[[str], bool]) -> bool:
    return len(statement.writes) == 1 and all(map(is_number, statement.writes))


def _calls(node: Any, names: Set[str]) -> bool:
    return any(isinstance(one, ast.Call) and getattr(one.func, "id", "") in names for one in ast.walk(node))


def _sunk(statements: Sequence[_Statement], numbers: Sequence[_Statement]) -> List[_Statement]:
    """The statements of numbers as late as the others allow."""
    found: List[_Statement] = []
    late: List[_Statement] = []
    for statement in statements:
        if statement in numbers:
            late.append(statement)
            continue
        needed: List[_Statement] = []
        for one in reversed(late):
            if any(one.conflicts(other) for other in [statement, *needed]):
                needed.append(one)
        late = [one for one in late if one not in needed]
        found += needed[::-1] + [statement]
    return found + late


class _Repeated:
    """The arithmetic that variables stand for, while its operands are unchanged."""

    def __init__(self, functions: Functions) -> None:
        self._functions = functions
        self._known: Dict[str, Tuple[str, int, FrozenSet[str]]] = {}  # text, operations, variables that it reads

    def statement(self, statement: _Statement, is_number: bool) -> _Statement:
        """A statement; sums of numbers repeat arithmetic."""
        has_sum = is_number and _calls(statement.value, self._functions.sums)
        made = self._text(statement.value, False) if has_sum else None
        target, = statement.writes if len(statement.writes) == 1 else ("",)
        own = None if is_number or not target else self._text(statement.value, True)
        for name in [one for one, (_, _, reads) in self._known.items()
                     if one in statement.writes or not reads.isdisjoint(statement.writes)]:
            del self._known[name]
        if own is not None and 0 < own[1] <= MOST_REPEATED and target not in own[2]:
            self._known[target] = own
        if made is None:
            return statement
        indent = statement.line[:len(statement.line) - len(statement.line.lstrip())]
        return statement._replace(line="%s%s = %s" % (indent, target, made[0]), reads=made[2])

    def _text(self, node: Any, repeats: bool) -> Optional[Tuple[str, int, FrozenSet[str]]]:
        """An expression of cheap arithmetic and sums, its number of operations, and what it reads; else None.

        ``repeats``: variables are replaced by the arithmetic that they stand for.
        """
        if isinstance(node, ast.Name):
            known = self._known.get(node.id) if repeats else None
            return known or (node.id, 0, frozenset([node.id]))
        if isinstance(node, ast.BinOp) and type(node.op) in _SIGNS:
            return self._joined("(%s " + _SIGNS[type(node.op)] + " %s)", [node.left, node.right], repeats)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return self._joined("(-%s)", [node.operand], repeats)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
            is_sum = node.func.id in self._functions.sums
            if is_sum and not repeats or node.func.id in self._functions.cheap:
                form = node.func.id + "(" + ", ".join(["%s"] * len(node.args)) + ")"
                return self._joined(form, node.args, repeats or is_sum)
        number = literal(node)
        return (repr(number), 0, frozenset()) if type(number) in (int, float) else None

    def _joined(self, form: str, nodes: Sequence[Any], repeats: bool) -> Optional[Tuple[str, int, FrozenSet[str]]]:
        parts = [self._text(node, repeats) for node in nodes]
        known = [part for part in parts if part is not None]
        if len(known) < len(parts):
            return None
        return (form % tuple(text for text, _, _ in known), 1 + sum(count for _, count, _ in known),
                frozenset().union(*(reads for _, _, reads in known)))
