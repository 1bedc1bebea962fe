"""Repeated expressions: what a term of a gathered sum may compute again, instead of reading a stored variable.

`gather` and `code` use it. It must not change a bit of the result.
"""

from __future__ import annotations

import ast
from types import MappingProxyType
from typing import Any, Callable, Dict, Mapping, Optional, Sequence, Set, Union

from pijit.core.graph.reverse.array_parts import Cuts, literal, part_of
from pijit.core.named_tuples import NamedTuple

Lacking = Callable[[str], Optional[Cuts]]
"""For each axis, how many elements fewer than the adjoint a variable has; `NUMBER` for numbers, None if not known."""

NUMBER: Cuts = ()

MOST_REPEATED = 4
"""The most operations of an expression that is computed again in each term."""


class Facts(NamedTuple):
    """What is known about the variables and functions of a joint function.

    Attributes:
        lacking: for the name of an adjoint, what tells the sizes of other variables; None for other arrays.
        elementwise: the names of functions that are computed element by element.
        cheap: the names of those among them that are cheap to repeat.
        adjoints: the variables that hold adjoints.
        temporary: tells whether only the statements of a call need a variable.
        zeros: the names of functions that make arrays of zeros, with those that make such arrays without contents.
    """

    lacking: Callable[[str], Optional[Lacking]]
    elementwise: Set[str]
    cheap: Set[str]
    adjoints: Set[str]
    temporary: Callable[[str], bool]
    zeros: Mapping[str, str] = MappingProxyType({})


class BoundExpression(NamedTuple):
    """An expression, and what the variables in it stand for."""

    node: Any
    values: Dict[str, Any]


class Definitions:
    """The expressions of variables that a term may repeat instead of reading the variable.

    Args:
        statements: what is computed before the window. Cheap arithmetic is repeated while its operands are unchanged.
        facts: about the variables.
        adjoints: whether adjoints are repeated, too. Their sizes are not known.
    """

    def __init__(self, statements: Sequence[ast.stmt], facts: Facts, adjoints: bool) -> None:
        self._facts = facts
        self._values: Dict[str, BoundExpression] = {}
        self._costs: Dict[str, int] = {}
        for statement in statements:
            target = statement.targets[0] if isinstance(statement, ast.Assign) else getattr(statement, "target", None)
            if not isinstance(target, ast.Name) or isinstance(statement, ast.AugAssign):
                self._stored(getattr(getattr(target, "value", target), "id", ""))
            if isinstance(target, ast.Name):
                self._assigned(target.id)
                if isinstance(statement, ast.Assign):
                    self._enter(target.id, statement.value, adjoints)

    def _enter(self, name: str, value: Any, adjoints: bool) -> None:
        cost = self._cost(value)
        if name in self._facts.adjoints:
            if adjoints:
                self.define(name, value)
        elif cost is not None and 0 < cost <= MOST_REPEATED:
            self.define(name, value)
            self._costs[name] = cost

    def values(self) -> Dict[str, BoundExpression]:
        """What variables stand for at this point."""
        return dict(self._values)

    def define(self, name: str, node: Any) -> None:
        """A variable gets the value of an expression."""
        bound = BoundExpression(node, dict(self._values))
        self._assigned(name)
        self._values[name] = bound

    def _assigned(self, name: str) -> None:
        """Forget the expressions that read an older value of a variable."""
        for other in [one for one in self._costs if one == name or _reads(self._values[one], name)]:
            self._values.pop(other)
            self._costs.pop(other)
        self._values.pop(name, None)

    def _stored(self, name: str) -> None:
        """Elements of an array change: only adjoints share no memory with what the expressions read."""
        self._values.pop(name, None)
        if name not in self._facts.adjoints:
            for other in self._costs:
                self._values.pop(other, None)
            self._costs.clear()

    def _cost(self, node: Any) -> Optional[int]:
        """The number of operations of cheap arithmetic; None for other expressions."""
        if isinstance(node, ast.Name):
            return None if node.id in self._facts.adjoints else self._costs.get(node.id, 0)
        if isinstance(node, ast.Subscript):
            return None if part_of(node) is None else self._cost(node.value)
        if isinstance(node, ast.BinOp) and type(node.op) in (ast.Add, ast.Sub, ast.Mult):
            parts = [self._cost(node.left), self._cost(node.right)]
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") in self._facts.cheap and not node.keywords:
            parts = list(map(self._cost, node.args))
        else:
            return 0 if type(literal(node)) in (int, float) else None
        return None if None in parts else 1 + sum(parts)  # type: ignore[arg-type]


def _reads(value: Union[BoundExpression, Any], name: str) -> bool:
    """Whether an expression, or one that it stands for, reads a variable."""
    names = {node.id for node in ast.walk(value.node) if isinstance(node, ast.Name)}
    return name in names or any(other in names and _reads(bound, name) for other, bound in value.values.items())
