"""Sequences as code: forwards, either in place or so that older versions stay, and backwards.

A sequence is written forwards in one of two ways. *Plain* code does what the program does. *Recorded* code is followed
by backward code: a store copies its array if the older version is needed, and loops save what they need. `joint` and
`backward` call it. It must not change the program's results.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Collection, Dict, Iterable, Mapping, Optional, Sequence, Set, Type, cast

import numpy as np

from pijit.core.graph.ir import Op, Value
from pijit.core.graph.ops import STORES
from pijit.core.graph.reverse.code import Code
from pijit.core.graph.reverse.errors import ANSWERS, OtherShapes, TooLarge
from pijit.core.graph.reverse.forward import HOST_CALL, MARKS, expression, host_call, statement
from pijit.core.graph.reverse.library_calls import is_root_of_sum
from pijit.core.graph.reverse.needs import Needs, SequenceNeeds
from pijit.core.graph.reverse.regions import Conditional, LoopExit, LoopRegion, RegionItem, RequiredCondition
from pijit.core.graph.reverse.rows.checkpoints import Checkpoints
from pijit.core.graph.reverse.rows.in_rows import NONE, InRows, RowUpdate, find_in_rows, row_update, whole_update
from pijit.core.graph.reverse.rows.limits import most_kept
from pijit.core.graph.reverse.uncounted import UncountedLoops
from pijit.core.graph.types import Array, Object, Scalar


class Forward:
    """Writes sequences forwards.

    Args:
        code: where to.
        needs: what is needed backwards.
        limit: the most bytes that a loop may save.
        checkpointed, levels: the loops that save checkpoints alone, and their levels; see `Checkpoints`.

    Attributes:
        is_repeating: whether the items run a second time, for the backward part: then without host calls and the
            strings that are made for them.
        before: the names of stored arrays before each item that recorded code has.
        after: the same after it.
    """

    def __init__(self, code: Code, needs: Needs, limit: int, checkpointed: Mapping[LoopRegion, Set[Value]],
                 levels: int) -> None:
        self.code, self.needs, self.memory_limit = code, needs, limit
        self.checkpoints = Checkpoints(self, checkpointed, levels)
        self._uncounted = UncountedLoops(self, limit, levels)
        self.is_repeating = False
        self.before: Dict[RegionItem, Dict[Value, str]] = {}
        self.after: Dict[RegionItem, Dict[Value, str]] = {}
        self._makers = {op.result: op for op in code.all_ops}

    def plain(self, items: Sequence[RegionItem]) -> None:
        """Write items as the program has them."""
        for item in items:
            if isinstance(item, Op):
                self._op(item)
            elif isinstance(item, LoopRegion):
                self._loop(item, False)
            elif isinstance(item, Conditional):
                self._conditional(item)
            elif isinstance(item, LoopExit):
                self._uncounted.exit(item)
            else:
                self._guard(item)

    def recorded(self, items: Sequence[RegionItem], needs: SequenceNeeds, kept: Optional[Collection[RegionItem]],
                 borrowed: Collection[Value] = (), last: Mapping[Value, str] = MappingProxyType({})) -> None:
        """Write items that backward code follows.

        Args:
            items: the sequence.
            needs: its needs.
            kept: the items to write; None: all.
            borrowed: arrays of outside that must not be written.
            last: the names of the last versions that are saved.
        """
        kept_arrays, before = set(borrowed), self.is_repeating
        self.is_repeating |= kept is not None
        for item in items:
            self.before[item] = dict(self.code.now)
            if (kept is None or item in kept) and not self._renew(item, needs, kept_arrays):
                if isinstance(item, Op):
                    self._op(item)
                elif isinstance(item, LoopRegion):
                    self._loop(item, self.needs.is_active(item))
                elif isinstance(item, Conditional):
                    self._conditional(item)
                elif isinstance(item, RequiredCondition) and kept is None:
                    self._guard(item)
            for root, name in last.items():
                if root in self.needs.stored_by(item) and needs.versions[item][root] + 1 == needs.last[root]:
                    self.code.now[root] = name
            self.after[item] = dict(self.code.now)
        self.is_repeating = before

    def _renew(self, item: RegionItem, needs: SequenceNeeds, kept_arrays: Set[Value]) -> bool:
        """Give stored arrays a new version where the older one is needed; returns whether that has done the item."""
        code, update = self.code, ""
        for root in sorted(self.needs.stored_by(item), key=lambda value: value.id):
            if root in kept_arrays or (root, needs.versions[item][root]) in needs.preserved:
                name, update = code.version(root), whole_update(code, item, root)
                code.line("%s = %s" % (name, update or code.name(root) + ".copy()"))
                code.now[root] = name
                kept_arrays.discard(root)
        return bool(update)

    def again(self, op: Op) -> None:
        """Write an operation on arrays a second time."""
        self.code.line("%s = %s" % (self.code.name(cast(Value, op.result)), expression(self.code, op)))

    def _guard(self, guard: RequiredCondition) -> None:
        self.require(("not %s" if guard.holds else "%s") % self.code.name(guard.condition))

    def require(self, fails: str, error: Type[OtherShapes] = OtherShapes) -> None:
        """Write that a call which fails a test leaves the joint function."""
        self.code.line("if %s:" % fails)
        self.code.line("    return %r" % ANSWERS[error])

    def _op(self, op: Op) -> None:
        code = self.code
        if self.is_repeating and (op.name == HOST_CALL or op.result is not None and isinstance(op.result.type, Object)):
            return
        if op.name in STORES:
            code.line(statement(code, op))
        elif op.name == HOST_CALL:
            for line in ("%s.append(0)" % MARKS, host_call(code, op), "%s.append(0)" % MARKS):
                code.line(line)
        elif op.result is None:  # an exit unless the condition holds
            self.require("not %s" % code.name(op.args[0]))
        elif op.result not in code.constants:
            stays = op.result in code.roots.view and code.roots.of(op.result) in code.roots.stored
            if not stays:
                code.line("%s = %s" % (code.name(op.result), expression(code, op)))
            for axis, size in () if self.is_repeating else code.dims.required.get(op.result, ()):
                self.require("%s.shape[%d] != %s" % (code.name(op.result), axis, code.size(size)))
            if not self.is_repeating and is_root_of_sum(op, self._makers):
                name = code.name(op.result)
                self.require("(%s == 0.0).any()" % name if isinstance(op.result.type, Array) else name + " == 0.0")

    def _conditional(self, item: Conditional) -> None:
        """Write a conditional. Its backward part computes again what it needs of the side that was taken."""
        for word, side in zip(("if %s:" % self.code.name(item.condition), "else:"), item.sides):
            self.code.line(word)
            self.code.depth += 1
            start = len(self.code.lines)
            self.plain(side.items)
            self.move(item.params, side.args)
            if len(self.code.lines) == start:
                self.code.line("pass")
            self.code.depth -= 1

    # ---- loops ----

    @staticmethod
    def least_name(loop: LoopRegion) -> str:
        """Stands for the least number of iterations, until the backward part is written."""
        return "LEAST_%d" % loop.number

    def _loop(self, loop: LoopRegion, saving: bool) -> None:
        """Write a loop; ``saving``: it saves what its backward part needs."""
        code = self.code
        if not loop.is_counted:
            self._uncounted.write(loop, saving)
            return
        if saving:
            code.line("%s = %s - %s" % (code.count(loop), code.name(loop.limit), code.name(loop.start)))
            self.require("%s < %s" % (code.count(loop), self.least_name(loop)))
            self._allocate(loop)
        in_rows, names = self._in_rows(loop) if saving else NONE, dict(code.now)
        for value, first in [*zip(loop.params, loop.first), *((root, root) for root in in_rows.stored)]:
            if value in in_rows.carried or value in in_rows.stored:
                self._save_value(loop, value, "0", first)
        self._move_carried(loop, loop.first, in_rows)
        code.line("for %s in range(%s, %s):" % (code.name(loop.index), code.name(loop.start), code.name(loop.limit)))
        code.depth += 1
        if saving:
            self._save(loop, in_rows)
        self.body(loop, saving, in_rows)
        code.depth -= 1
        code.now = names
        for value in [*in_rows.carried, *in_rows.stored]:
            code.line("%s = %s[%s].copy()" % (code.name(value), code.rows(loop, value), code.count(loop)))
        if saving and loop not in self.checkpoints.loops:
            self.save_following(loop, code.count(loop), in_rows)
        if not self.needs.read_after.isdisjoint([loop.index, *(cast(Value, op.result) for op in loop.header)]):
            code.line("%s = %s" % (code.name(loop.index), code.name(loop.limit)))
            self.plain(loop.header)

    def body(self, loop: LoopRegion, saving: bool, in_rows: InRows = NONE, place: str = "") -> None:
        """Write the body of a loop; ``saving``: the random numbers that it draws become rows.

        Arrays that are in rows become the row after ``place``.
        """
        stores = {op: root for root, op in in_rows.stored.items()}
        following = (place or self.place(loop)) + " + 1"
        for item in loop.items:
            if item in stores:
                self._store_into_row(loop, item, stores[item], following)
            else:
                self.plain([item])
            if saving and isinstance(item, Op) and item.result in self.needs.of[loop].drawn:
                self._save_value(loop, item.result, self.place(loop))
        for param, value in in_rows.carried.items():
            self._save_value(loop, param, following, value)
        self._move_carried(loop, loop.next, in_rows)

    def _move_carried(self, loop: LoopRegion, values: Sequence[Value], in_rows: InRows) -> None:
        """Write that loop-carried values become other values, except those that are in rows."""
        pairs = [(param, value) for param, value in zip(loop.params, values) if param not in in_rows.carried]
        self.move([param for param, _ in pairs], [value for _, value in pairs])

    def _in_rows(self, loop: LoopRegion) -> InRows:
        return NONE if loop in self.checkpoints.loops else find_in_rows(loop, self.code, self.needs)

    def _store_into_row(self, loop: LoopRegion, op: Op, root: Value, place: str) -> None:
        """Write the first store into an array that is in rows: it makes the row at a place from the one before."""
        code, row = self.code, self.row(self.code.rows(loop, root), root, place)
        update, before = cast(RowUpdate, row_update(code, op, root)), code.name(root)
        if not update.part:
            code.line("%s = %s" % (row, update.value))
        code.now[root] = code.version(root)
        code.line("%s = %s" % (code.name(root), row))
        if update.part:
            code.line("%s%s = %s" % (code.name(root), update.part, update.value))
        for end in update.ends:
            code.line("%s%s = %s%s" % (code.name(root), end, before, end))

    def _allocate(self, loop: LoopRegion) -> None:
        """Write the arrays of saved rows. Beyond the limit, the tape runs the call, and reports that if it must."""
        code, saved = self.code, self.needs.rows(loop)
        if loop in self.checkpoints.loops:
            self.checkpoints.allocate(loop)
            saved = []
        if saved:
            limit = self.memory_limit if self.checkpoints.loops else min(self.memory_limit, most_kept(loop, code.roots))
            self.require("%s * (%s) > %d" % (code.count(loop), self.bytes_of(saved), limit), TooLarge)
        in_rows = self._in_rows(loop)
        following = {*self.needs.in_following_row(loop), *in_rows.carried, *in_rows.stored}
        for value in saved:
            one_more = " + 1" * (value in following)
            self.allocate(code.rows(loop, value), value, code.count(loop) + one_more)

    def bytes_of(self, values: Iterable[Value]) -> str:
        """The number of bytes of values, as code."""
        return " + ".join("%d%s" % (value.type.dtype.itemsize, "".join(  # type: ignore[union-attr]
            " * " + self.code.size(dim) for dim in self.code.dims.of.get(value, ()))) for value in values)

    def limit(self, size: str) -> None:
        """Write a test of the bytes that a loop saves."""
        self.require("%s > %d" % (size, self.memory_limit), TooLarge)

    def allocate(self, name: str, value: Value, count: str) -> None:
        """Write the allocation of rows for a value."""
        code, sizes = self.code, "".join(self.code.size(dim) + ", " for dim in self.code.dims.of.get(value, ()))
        code.line("%s = %s((%s, %s), %s)" % (
            name, code.object(np.empty, "empty"), count, sizes,
            code.object(value.type.dtype, value.type.dtype.name)))  # type: ignore[union-attr]

    def _save(self, loop: LoopRegion, in_rows: InRows) -> None:
        """Write what an iteration saves at its start, and that arrays in rows are read there."""
        if loop in self.checkpoints.loops:
            self.checkpoints.save(loop)
            return
        self.read_rows(loop, self.place(loop), in_rows)
        self.save(loop, self.place(loop), in_rows)

    def read_rows(self, loop: LoopRegion, place: str, in_rows: InRows) -> None:
        """Write that an iteration reads arrays that are in rows in its own row."""
        for value in [*in_rows.carried, *in_rows.stored]:
            if value in in_rows.stored:
                self.code.now[value] = self.code.version(value)
            self.code.line("%s = %s" % (
                self.code.name(value), self.row(self.code.rows(loop, value), value, place)))

    def save(self, loop: LoopRegion, place: str, in_rows: InRows = NONE) -> None:
        """Write that the values which an iteration needs backwards become a row, except those that are in rows."""
        self._save_values(loop, self.needs.saved(loop), place, in_rows)

    def save_following(self, loop: LoopRegion, place: str, in_rows: InRows = NONE) -> None:
        """Write the row after the last one, which the last iteration reads, except for arrays that are in rows."""
        self._save_values(loop, self.needs.in_following_row(loop), place, in_rows)

    def _save_values(self, loop: LoopRegion, values: Iterable[Value], place: str, in_rows: InRows) -> None:
        for value in values:
            if value not in in_rows.carried and value not in in_rows.stored:
                self._save_value(loop, value, place)

    def _save_value(self, loop: LoopRegion, value: Value, place: str, source: Optional[Value] = None) -> None:
        """Write that a value, or the one that it becomes, is saved as a row."""
        self.code.line("%s[%s] = %s" % (self.code.rows(loop, value), place, self.code.name(source or value)))

    def place(self, loop: LoopRegion) -> str:
        """The number of the current iteration."""
        index = self.code.name(loop.index)
        return index if self.code.is_zero(loop.start) else "%s - %s" % (index, self.code.name(loop.start))

    def restore(self, loop: LoopRegion) -> Dict[Value, str]:
        """Write what reads the saved values of an iteration; arrays of outside get the name of their row.

        Returns: the names of the last versions that are saved.
        """
        code, place = self.code, self.checkpoints.place(loop) if loop in self.checkpoints.loops else self.place(loop)
        needs, last = self.needs.of[loop], {}
        for value in self.needs.saved(loop):
            if value in needs.last:
                last[value] = code.version(value)
                code.line("%s = %s" % (last[value], self.row(code.rows(loop, value), value, place + " + 1")))
            if value in loop.params or value in needs.roots:
                if value not in loop.params:
                    code.now[value] = code.version(value)
                code.line("%s = %s" % (code.name(value), self.row(code.rows(loop, value), value, place)))
        for value in needs.drawn:
            code.line("%s = %s" % (code.name(value), self.row(code.rows(loop, value), value, place)))
        for value, param in needs.following.items():
            code.line("%s = %s" % (code.name(value), self.row(code.rows(loop, param), param, place + " + 1")))
        return last

    def row(self, rows: str, value: Value, place: str) -> str:
        """A saved row. Numbers have the type that the program's number has."""
        code, row = self.code, "%s[%s]" % (rows, place)
        if isinstance(value.type, Scalar) and value.type.family != "np":
            made = {"f": float, "i": int, "b": bool}[value.type.dtype.kind]
            return "%s(%s)" % (code.object(made, made.__name__), row)
        return row

    def move(self, targets: Sequence[Value], sources: Sequence[Value]) -> None:
        """Write an assignment of several values at once."""
        pairs = [(self.code.name(target), self.code.name(source)) for target, source in zip(targets, sources)]
        pairs = [(target, source) for target, source in pairs if target != source]
        if pairs:
            self.code.line("%s = %s" % (", ".join(target for target, _ in pairs),
                                        ", ".join(source for _, source in pairs)))
