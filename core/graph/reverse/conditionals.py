"""Backward parts of conditionals: the adjoints of the side that was taken.

A side computes the values that it needs again, and goes through its items backwards. The adjoint of a parameter of the
join becomes that of what the side passed.

The sides differ in which adjoints exist. An adjoint that only one of them makes *may exist*: a flag tells at run time
whether it does. Without it, a number is -0.0 and an array is zeros, which additions leave as they are. But rules must
not run, because they could make other zeros or NaN. So what reads such an adjoint tests the flag.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Callable, Dict, List, Tuple

from pijit.core.graph.ir import Value
from pijit.core.graph.reverse.errors import Irreversible
from pijit.core.graph.reverse.needs import SequenceNeeds
from pijit.core.graph.reverse.regions import Conditional, Side, made
from pijit.core.graph.reverse.sizes.symbols import Dim
from pijit.core.graph.types import Array
from pijit.core.named_tuples import NamedTuple

if TYPE_CHECKING:
    from pijit.core.graph.reverse.backward import Backward


class _WrittenSide(NamedTuple):
    """What was written for one side: its lines, and the sizes and the flags of adjoints after it."""

    lines: List[str]
    shapes: Dict[Value, Tuple[Dim, ...]]
    flags: Dict[Value, str]


class ConditionalAdjoints:
    """Writes the backward parts of conditionals.

    Args:
        backward: writes sequences.
    """

    def __init__(self, backward: Backward) -> None:
        self._backward = backward

    def write(self, item: Conditional) -> None:
        """Write the backward part of a conditional."""
        backward = self._backward
        needs = backward.forward.needs
        if not needs.is_active(item):
            return
        for root in list(backward.shapes):
            backward.settle(root)
        then, other = (self._written(functools.partial(self._side, item, side, inner))
                       for side, inner in zip(item.sides, needs.sides[item]))
        backward.forget(item.params)
        self._merge(backward.code.name(item.condition), then, other)

    def if_exists(self, root: Value, write: Callable[[], None], is_last: bool) -> None:
        """Write what reads the adjoint of a root, which may not exist; ``is_last``: nothing reads it later."""
        backward = self._backward
        for other in list(backward.shapes):
            backward.settle(other)
        flag = backward.flags[root]

        def body() -> None:
            del backward.flags[root]
            write()

        there, absent = self._written(body), self._written(lambda: None)
        if is_last:
            for one in (there, absent):
                one.shapes.pop(root, None)
                one.flags.pop(root, None)
        self._merge(flag, there, absent)

    # ---- one side ----

    def _written(self, write: Callable[[], None]) -> _WrittenSide:
        """What ``write`` writes. The state stays as it was."""
        backward, code = self._backward, self._backward.code
        state = dict(backward.shapes), dict(backward.flags), dict(code.now), code.lines
        code.lines = []
        code.depth += 1
        write()
        for root in list(backward.shapes):
            backward.settle(root)
        found = _WrittenSide(code.lines, backward.shapes, backward.flags)
        code.depth -= 1
        backward.shapes, backward.flags, code.now, code.lines = state
        return found

    def _side(self, item: Conditional, side: Side, needs: SequenceNeeds) -> None:
        backward = self._backward
        backward.forward.recorded(side.items, needs, needs.kept, needs.roots)
        self._pass(item, side)
        backward.sequence(side.items)
        backward.forget(made(side.items))

    def _pass(self, item: Conditional, side: Side) -> None:
        """The adjoints of the parameters of the join become those of what a side passes."""
        backward = self._backward
        roots = backward.code.roots
        for param, arg in zip(item.params, side.args):
            root = roots.of(arg)
            if param not in backward.shapes or root not in backward.active:
                continue
            if root in backward.shapes:
                raise Irreversible("a branch that chooses a value with other uses")
            if root is arg:
                backward.move(param, arg)
            elif param in backward.flags:
                self.if_exists(param, functools.partial(self._add, param, arg), True)
            else:
                self._add(param, arg)

    def _add(self, param: Value, arg: Value) -> None:
        backward = self._backward
        backward.add(arg, backward.code.adjoint(param), backward.shapes[param])

    # ---- both sides ----

    def _merge(self, condition: str, then: _WrittenSide, other: _WrittenSide) -> None:
        """Write both sides, after which the same adjoints exist or may exist."""
        backward = self._backward
        code = backward.code
        shapes: Dict[Value, Tuple[Dim, ...]] = {}
        flags: Dict[Value, str] = {}
        for root in sorted({*then.shapes, *other.shapes}, key=lambda value: value.id):
            same = all(root in one.shapes for one in (then, other)) and list(map(
                code.dims.found, then.shapes[root])) == list(map(code.dims.found, other.shapes[root]))
            certain = [root in one.shapes and root not in one.flags for one in (then, other)]
            if not same or not all(certain):
                self._extend(then, root, all(certain))
                self._extend(other, root, all(certain))
            shapes[root] = then.shapes[root]
            if not all(certain):
                flags[root] = code.flag(root)
        backward.shapes, backward.flags = shapes, flags
        indent = "    " * code.depth
        if then.lines:
            code.lines += [indent + "if %s:" % condition, *then.lines]
            code.lines += [indent + "else:", *other.lines] if other.lines else []
        elif other.lines:
            code.lines += [indent + "if not %s:" % condition, *other.lines]

    def _extend(self, written: _WrittenSide, root: Value, certain: bool) -> None:
        """Make the adjoint of a root as large as the root, at the end of a side, and set its flag."""
        backward, code = self._backward, self._backward.code
        kept = backward.shapes, backward.flags, code.lines
        backward.shapes, backward.flags, code.lines = written.shapes, written.flags, written.lines
        code.depth += 1
        exists = root in written.shapes
        if exists:
            backward.fill(root)
        else:
            code.line("%s = %s" % (code.adjoint(root), code.nothing(root)))
            backward.shapes[root] = code.dims.of[root] if isinstance(root.type, Array) else ()
        if not certain and root not in written.flags:
            code.line("%s = %s" % (code.flag(root), exists))
        code.depth -= 1
        backward.shapes, backward.flags, code.lines = kept
