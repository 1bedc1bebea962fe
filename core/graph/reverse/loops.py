"""Backward parts of loops: from the last iteration to the first.

Each iteration restores what was saved at its start, computes needed values again, and adds up the adjoints of its
operations. The adjoint of a loop-carried value becomes that of the value that the previous iteration computed.

Iterations differ in which adjoints exist: a value may be used after the loop only. So the last iterations are written
one by one until nothing changes any more. A loop does the others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Dict, List, Set, Tuple

from pijit.core.graph.ir import Value
from pijit.core.graph.reverse.errors import Irreversible
from pijit.core.graph.reverse.gather import gather
from pijit.core.graph.reverse.liveness import without_dead
from pijit.core.graph.reverse.regions import LoopRegion, all_ops, made, passed
from pijit.core.graph.reverse.sum_sinking import sink_sums

if TYPE_CHECKING:
    from pijit.core.graph.reverse.backward import Backward

MOST_PEELED = 3
"""The most iterations at the end of a loop that are written one by one."""


class LoopAdjoints:
    """Writes the backward parts of loops.

    Args:
        backward: writes sequences.

    Attributes:
        least: for each loop, the least number of iterations for which its backward part is right.
    """

    def __init__(self, backward: Backward) -> None:
        self._backward = backward
        self.least: Dict[LoopRegion, int] = {}

    def write(self, loop: LoopRegion) -> None:
        """Write the backward part of a loop."""
        backward, code = self._backward, self._backward.code
        if not backward.forward.needs.is_active(loop):
            return
        names = dict(code.now)
        peeled, least = 0, int(bool(self._aliases(loop)))
        if loop in backward.forward.checkpoints.loops:
            backward.forward.checkpoints.begin(loop)
        self._fill(loop)
        while True:
            before = self._present(loop)
            start = len(code.lines)
            code.line(self._head(loop, peeled, least))
            self._run_again(loop)
            first = len(code.lines)
            self._iteration(loop)
            self._fill(loop)
            self._gather(loop, first)
            self._sink(loop, first)
            code.now = dict(names)
            if len(code.lines) == first:  # nothing flows into earlier iterations
                del code.lines[start:]
                break
            if self._present(loop) == before:
                code.indent(start + 1)
                break
            code.replace(start, "%s = %s - %d" % (code.name(loop.index), code.name(loop.limit), peeled + 1))
            peeled += 1
            if peeled > MOST_PEELED:
                raise Irreversible("a loop whose iterations differ")
        self.least[loop] = max(self.least.get(loop, 1), peeled + least)
        if least:
            self._alias(loop)
        else:
            self._give_back(loop)

    # ---- which iterations ----

    def _head(self, loop: LoopRegion, peeled: int, least: int) -> str:
        """The head of the loop over the iterations that are alike, from the last one to the first."""
        code = self._backward.code
        return "for %s in range(%s, %s, -1):" % (
            code.name(loop.index), "%s - %d" % (code.name(loop.limit), peeled + 1),
            str(least - 1) if code.is_zero(loop.start) else "%s - %d" % (code.name(loop.start), 1 - least))

    # ---- one iteration ----

    def _iteration(self, loop: LoopRegion) -> None:
        self._begin(loop)
        self._backward.sequence(loop.items)
        self._backward.forget(self._made(loop))

    def _run_again(self, loop: LoopRegion) -> None:
        checkpoints = self._backward.forward.checkpoints
        if loop in checkpoints.loops:
            checkpoints.run_again(loop)

    def _begin(self, loop: LoopRegion) -> None:
        """Restore the values of an iteration, compute the needed ones again, and carry adjoints over from the next."""
        forward = self._backward.forward
        needs = forward.needs.of[loop]
        last = forward.restore(loop)
        forward.recorded(loop.items, needs, needs.kept, needs.roots, last)
        self._carry(loop)

    def _gather(self, loop: LoopRegion, start: int) -> None:
        """Gather additions to parts of arrays in the lines of an iteration."""
        code, temporary = self._backward.code, self._temporary(loop)
        found = gather(code.lines[start:], code.facts(temporary.__contains__))
        while found is not None:
            code.lines[start:] = without_dead(found.lines, temporary.__contains__)
            code.require_lengths(found.name, found.least)
            found = gather(code.lines[start:], code.facts(temporary.__contains__))

    def _temporary(self, loop: LoopRegion) -> Set[str]:
        """The variables that only the statements of one iteration need."""
        code, made = self._backward.code, self._made(loop)
        return set(map(code.adjoint, made)) | set(map(code.first, made))

    def _sink(self, loop: LoopRegion, start: int) -> None:
        """Sink sums in the lines of an iteration."""
        code, temporary = self._backward.code, self._temporary(loop)
        sunk = sink_sums(code.lines[start:], code.functions(), code.is_number)
        if sunk != code.lines[start:]:
            code.lines[start:] = without_dead(sunk, temporary.__contains__)

    def _carry(self, loop: LoopRegion) -> None:
        """The adjoints of loop-carried values become those of the values that they had at the end of the iteration."""
        backward, code = self._backward, self._backward.code
        roots, shapes = code.roots, backward.shapes
        carried = [(param, following) for param, following in zip(loop.params, loop.next)
                   if param in backward.active and param in shapes]
        kept = {param: shapes.pop(param) for param, _ in carried}
        flags = {param for param, _ in carried if backward.flags.pop(param, "")}
        moved: List[Tuple[Value, Value]] = []
        added: List[Tuple[Value, Value]] = []
        targets: Set[Value] = set()
        inside = self._made(loop) | set(loop.params)
        for param, following in carried:
            root = roots.of(following)
            if root not in backward.active:
                continue
            if root not in inside or root in targets:
                raise Irreversible("a loop that carries one value twice, or a value of outside")
            targets.add(root)
            (moved if root is following else added).append((param, following))
        left = [code.adjoint(roots.of(following)) for _, following in moved]
        right = [code.adjoint(param) for param, _ in moved]
        names = [code.fresh("q") for _ in added]
        left += names + [code.flag(roots.of(following)) for param, following in moved if param in flags]
        right += [code.adjoint(param) for param, _ in added]
        right += [code.flag(param) for param, _ in moved if param in flags]
        if left and left != right:
            code.line("%s = %s" % (", ".join(left), ", ".join(right)))
        for param, following in moved:
            shapes[roots.of(following)] = kept[param]
            if param in flags:
                backward.flags[following] = code.flag(following)
        for (param, following), name in zip(added, names):
            if param in flags:
                raise Irreversible("a loop that carries a view to which nothing may flow")
            backward.add(following, name, kept[param])

    def _made(self, loop: LoopRegion) -> Set[Value]:
        """What the body makes."""
        return set(made(loop.items))

    # ---- before the first iteration ----

    def _aliases(self, loop: LoopRegion) -> List[Value]:
        """The loop-carried values whose first value has other uses: both share an adjoint in the first iteration."""
        return [param for param, first in zip(loop.params, loop.first)
                if param in self._backward.active and self._backward.code.roots.of(first) in self._backward.active
                and self._has_other_uses(first, loop)]

    def _has_other_uses(self, first: Value, loop: LoopRegion) -> bool:
        roots, code = self._backward.code.roots, self._backward.code
        root = roots.of(first)
        if root is not first or root in roots.viewed or loop.first.count(first) > 1:
            return True
        return first in code.all_passed or any(first in op.args for op in code.all_ops) or any(
            first in other.first + other.next for other in code.all_loops if other is not loop)

    def _alias(self, loop: LoopRegion) -> None:
        """The first iteration, in which loop-carried values share adjoints with what they are."""
        backward, code = self._backward, self._backward.code
        roots = code.roots
        code.line("%s = %s" % (code.name(loop.index), code.name(loop.start)))
        self._run_again(loop)
        self._begin(loop)
        aliases = {param: first for param, first in zip(loop.params, loop.first)
                   if param in backward.active and roots.of(first) in backward.active}
        for param, first in aliases.items():
            if param in backward.shapes:
                if first in backward.shapes or roots.of(first) is not first:
                    raise Irreversible("a loop that carries one value twice, or a value of outside")
                backward.move(param, first)
        roots.alias.update(aliases)
        viewed = {roots.of(first) for param, first in aliases.items() if param in roots.viewed}
        for value in viewed - roots.viewed:
            if value in backward.shapes:
                backward.fill(value)
        added = viewed - roots.viewed
        roots.viewed |= added
        backward.sequence(loop.items)
        roots.viewed -= added
        for param in aliases:
            del roots.alias[param]
        backward.forget(self._made(loop) | set(loop.params))

    def _give_back(self, loop: LoopRegion) -> None:
        """The adjoints that are left belong to the values before the loop."""
        backward = self._backward
        for param, first in zip(loop.params, loop.first):
            if param in backward.shapes and first in backward.active:
                backward.move(param, first)
            backward.forget([param])

    # ---- adjoints between iterations ----

    def _outside(self, loop: LoopRegion) -> Set[Value]:
        """The roots that exist between iterations and may get contributions in the loop."""
        roots = self._backward.code.roots
        found = {roots.of(arg) for op in all_ops(loop.items) for arg in op.args}
        found.update(map(roots.of, passed(loop.items)))
        return (found | set(loop.params)) - self._made(loop)

    def _fill(self, loop: LoopRegion) -> None:
        """Make these adjoints as large as their arrays."""
        for value in sorted(self._outside(loop), key=lambda value: value.id):
            if value in self._backward.shapes:
                self._backward.fill(value)

    def _present(self, loop: LoopRegion) -> Tuple[Set[Value], Set[Value]]:
        """Which of these adjoints exist or may exist, and which may exist."""
        found = self._outside(loop) & set(self._backward.shapes)
        return found, found & set(self._backward.flags)
