"""Writes blocks of statements: draws templates, fills their slots, and knows which names are bound where."""

from __future__ import annotations

import functools
import re
from typing import Any, Callable, Dict, List, Sequence, Tuple

from hypothesis import strategies as st

from tests.fuzz.expressions import EXPRESSIONS, GROWING, LEAVES, Templates
from tests.fuzz.statements import CONTEXTS, HANDLERS, LOOPS, RETURNS, SIMPLE, Variables
from tests.fuzz.tree import Compound, Line, Node

MAX_DEPTH = 3  # of blocks in blocks
PRODUCTS_UP_TO = 1  # loops around a product of two scalars

_SLOT = re.compile(r"\{(\w+)([=!]?)\}")

_below = functools.lru_cache(maxsize=None)(lambda count: st.integers(0, count - 1))


def mentions(names: str, text: str) -> bool:
    """Whether one of the names, separated by ``|``, stands in a text as a name of its own."""
    return re.search(r"(?<![.\w%])(?:{})\b".format(names), text) is not None


class Scope:
    """What a block may use: names by kind, how many loops are around it, the jumps out of it, what it returns."""

    __slots__ = ("names", "loops", "jumps", "result", "depth")

    def __init__(self, names: Dict[str, Tuple[str, ...]], loops: int, result: str) -> None:
        self.names = dict(names)
        self.loops = loops
        self.jumps: Tuple[str, ...] = ()
        self.result = result
        self.depth = 0

    def inner(self) -> "Scope":
        """The scope of a block in this one's block."""
        scope = Scope(self.names, self.loops, self.result)
        scope.jumps, scope.depth = self.jumps, self.depth + 1
        return scope

    def bind(self, kind: str, name: str) -> None:
        """Note that a name is bound from here on."""
        kind = "int" if kind == "loop" else kind
        if name not in self.names.get(kind, ()):
            self.names[kind] = self.names.get(kind, ()) + (name,)


class Writer:
    """Draws one function's statements.

    Args:
        draw: Hypothesis' function for drawing from a strategy.
        groups: the groups of templates to draw from.
        variables: the names it may bind and begins with.
        budget: how many statements it may write.
        barred: names, separated by ``|``, that its templates may not mention.
        columns: the number of columns of arrays with a few.
    """

    def __init__(self, draw: Callable[[Any], Any], groups: Sequence[str], variables: Variables, budget: int,
                 barred: str = "", columns: str = "3") -> None:
        self._draw = draw
        self._groups = groups
        self._variables = variables
        self._budget = budget
        self._barred = barred
        self._columns = columns
        self._tables: Dict[int, Tuple[str, ...]] = {}

    def scope(self, result: str, loops: int = 0) -> Scope:
        """The scope in which the function begins."""
        return Scope(self._variables.parameters, loops, result)

    def chance(self, one_in: int) -> bool:
        """True once in so many times; shrinks to False."""
        return bool(self._draw(_below(one_in)) == one_in - 1)

    def choose(self, options: Sequence[str]) -> str:
        return options[self._draw(_below(len(options)))]

    def _of(self, templates: Templates) -> Tuple[str, ...]:
        """The templates of this program's groups."""
        known = self._tables.get(id(templates))
        if known is None:
            chosen = [text for group in self._groups for text in templates.get(group, ())]
            known = tuple(text for text in chosen if not self._barred or not mentions(self._barred, text))
            self._tables[id(templates)] = known
        return known

    def expression(self, kind: str, scope: Scope, depth: int) -> str:
        """An expression of a kind; at depth 0 a name or a constant, where the kind has any."""
        leaves = scope.names.get(kind, ()) + tuple(
            text for text in LEAVES[kind] if not self._barred or not mentions(self._barred, text))
        templates = self._of(EXPRESSIONS[kind])
        if not leaves:
            return self.fill(self.choose(templates if depth > 0 else templates[:2]), scope, depth - 1)
        if depth <= 0 or not self._draw(_below(3)):
            return self.choose(leaves)
        if scope.loops <= PRODUCTS_UP_TO:
            templates += GROWING.get(kind, ())
        return self.fill(self.choose(templates), scope, depth - 1)

    def fill(self, template: str, scope: Scope, depth: int = 2) -> str:
        """A template with its slots filled; the names that it binds are known afterwards."""
        bound: List[Tuple[str, str]] = []

        def slot(match: Any) -> str:
            kind, mark = match.groups()
            if kind == "columns":
                return self._columns
            if mark == "=":
                name = self.choose(self._variables.bound[kind])
                bound.append((kind, name))
                return name
            if mark == "!":
                return self.choose(self._existing(kind, scope) or self._existing("num", scope))
            return self.expression(kind, scope, depth)

        text = _SLOT.sub(slot, template)
        for kind, name in bound:
            scope.bind(kind, name)
        return text

    def _existing(self, kind: str, scope: Scope) -> List[str]:
        """The variables of a kind that are bound and may be bound anew."""
        return [name for name in scope.names.get(kind, ()) if name in self._variables.bound[kind]]

    def block(self, scope: Scope, most: int) -> List[Node]:
        """Up to so many statements; each is there or not by a draw of its own, so that shrinking can take out any."""
        nodes: List[Node] = []
        for _ in range(most):
            if self._budget > 0 and self._draw(_below(4)):
                nodes.append(self.statement(scope))
        return nodes or [Line("pass")]

    def statement(self, scope: Scope) -> Node:
        """One statement with all that it holds."""
        self._budget -= 1
        choice = self._draw(_below(12))
        if scope.depth < MAX_DEPTH and self._budget > 0 and choice > 5:
            return _COMPOUND[choice](self, scope)
        if scope.depth and choice == 5 and self.chance(3):
            return self._leave(scope)
        return Line(self.fill(self.choose(self._of(SIMPLE)), scope))

    def _leave(self, scope: Scope) -> Node:
        """A jump or a return under a condition."""
        options = scope.jumps + (RETURNS[scope.result],)
        condition = self.fill("if {cond}:", scope)
        return Compound((condition, [Line(self.fill(self.choose(options), scope))]))

    def _if(self, scope: Scope) -> Node:
        clauses = [(self.fill("if {cond}:", scope), self.block(scope.inner(), 3))]
        if self.chance(4):
            clauses.append((self.fill("elif {cond}:", scope), self.block(scope.inner(), 2)))
        if self.chance(2):
            clauses.append(("else:", self.block(scope.inner(), 2)))
        return Compound(*clauses)

    def _loop(self, scope: Scope) -> Node:
        header = self.choose(self._of(LOOPS))
        inner = scope.inner()
        inner.loops += 1
        inner.jumps = ("break", "continue")
        before, start = [], []  # type: List[Tuple[str, List[Node]]], List[Node]
        if header == "while":
            counter = "w{}".format(scope.depth)
            before = [(counter + " = 0", [])]
            header = "while {} < {{bound}}{}:".format(counter, " and {cond}" if self.chance(2) else "")
            start = [Line(counter + " += 1")]
        header = self.fill(header, inner)
        clauses = before + [(header, start + self.block(inner, 3))]
        if self.chance(8):
            clauses.append(("else:", self.block(scope.inner(), 1)))
        self._leak(scope, inner)
        return Compound(*clauses)

    def _leak(self, scope: Scope, inner: Scope) -> None:
        """Make a loop's variables known behind it, though it may not have run."""
        if "errors" in self._groups and self.chance(2):
            scope.names.update(inner.names)

    def _try(self, scope: Scope) -> Node:
        clauses = [("try:", self.block(scope.inner(), 3))]
        handled = self._draw(_below(3)) < 2
        if handled:
            header = self.choose(HANDLERS)
            handler = self.block(scope.inner(), 2)
            if " as " in header:
                handler.insert(0, Line("print(type(error), error)"))
            clauses.append((header, handler))
            if self.chance(4):
                clauses.append(("else:", self.block(scope.inner(), 1)))
        if not handled or self.chance(4):
            final = scope.inner()
            final.jumps = ()  # Python 3.7 has no `continue` there
            clauses.append(("finally:", self.block(final, 2)))
        return Compound(*clauses)

    def _with(self, scope: Scope) -> Node:
        return Compound((self.choose(self._of(CONTEXTS)), self.block(scope.inner(), 3)))


_COMPOUND = {6: Writer._if, 7: Writer._loop, 8: Writer._loop, 9: Writer._if, 10: Writer._try, 11: Writer._with}
