"""Plan of floating-point checks: which scalar operations share one check of flags, and where it is written.

The checks of NumPy's floats and complex numbers are deferred. A pending check is written before an operation that has
an effect or must not see infinity or NaN; before a reference is released; before a run of blocks; and at the end of the
block. An operation of another precision starts another check, and so does one too many. An operation with an exit of
its own, such as one of the next statement, takes the exit of the pending check: nothing was done since.

`make_plan` calls `plan_fp_checks`, and emit/fp_checks.py writes the checks. `flag_check` alone knows which operations
are checked; strips.py asks it, too. The planner must follow the operations in the order in which `KernelEmitter` writes
them.
"""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, Optional, Set

import numpy as np

from pijit.core.graph.ir import Block, Op, SideExit
from pijit.core.graph.ops import FLAG_CHECKS, PRECEDES_CHECKS
from pijit.core.graph.types import Scalar, half_of
from pijit.core.kernel.plan.graph_facts import GraphFacts
from pijit.core.kernel.plan.operands import scalar_type
from pijit.core.kernel.plan.ownership import Ownership
from pijit.core.kernel.plan.skewing import SkewingRun
from pijit.core.kernel.plan.tiling import TilingRun
from pijit.core.named_tuples import NamedTuple

MOST_OPERATIONS = 16
"""The most operations that share a check, because it names the results and operands of all of them."""

_PREFIXES = {"f": "", "d": "", "F": "complex ", "D": "complex "}
"""What the kinds of checks begin with, by the operands' dtype. Operations on float16 are checked one by one."""


class SharedCheck(NamedTuple):
    """One check of several operations.

    Attributes:
        ops: the operations, in order.
        exit: the exit that is taken if one of them has raised a flag.
    """

    ops: List[Op]
    exit: SideExit


class FpCheckPlan(NamedTuple):
    """The checks of scalar operations in one kernel.

    Attributes:
        kinds: the operations that are checked, with the kinds of their checks in `fp_check_codes.CODES`.
        before: the checks that are written before operations, or before the groups that these end.
        after: the checks that are written after an operation, and before values are released.
        exits: the exits of pending checks, by the operations that take them instead of their own.
    """

    kinds: Dict[Op, str]
    before: Dict[Op, SharedCheck]
    after: Dict[Op, List[SharedCheck]]
    exits: Dict[Op, SideExit]


def flag_check(op: Op) -> str:
    """The kind of check that an operation on NumPy's floats or complex numbers needs; "" for other operations."""
    if op.exit is None or op.name not in FLAG_CHECKS:
        return ""
    kind = op.args[0].type
    if not isinstance(kind, Scalar) or kind.family != "np" or kind.dtype.char not in _PREFIXES:
        return ""
    return _PREFIXES[kind.dtype.char] + FLAG_CHECKS[op.name]


def plan_fp_checks(order: List[Block], facts: GraphFacts, ownership: Ownership, skewing: Mapping[Op, SkewingRun],
                   tiling: Mapping[Op, TilingRun], fast: bool) -> FpCheckPlan:
    """The checks of the blocks of a graph; with ``fast`` there are none.

    ``skewing`` and ``tiling`` are the runs that are written as blocks of rows, by the operations where they are
    written.
    """
    plan = FpCheckPlan({}, {}, {}, {})
    if not fast:
        planner = _CheckPlanner(plan, facts, ownership, skewing, tiling)
        for block in order:
            planner.block(block)
    return plan


class _CheckPlanner:
    """Plans the checks of one graph. No check is pending where a block begins."""

    def __init__(self, plan: FpCheckPlan, facts: GraphFacts, ownership: Ownership, skewing: Mapping[Op, SkewingRun],
                 tiling: Mapping[Op, TilingRun]) -> None:
        self._plan = plan
        self._facts = facts
        self._ownership = ownership
        self._skewing = skewing
        self._tiling = tiling
        self._pending: Optional[SharedCheck] = None
        self._kind: Optional[np.dtype[Any]] = None  # of the floats of the pending check
        self._last: Optional[Op] = None  # the operation that is written last

    def block(self, block: Block) -> None:
        """Plan the checks of a block."""
        checked = list(filter(flag_check, block.ops))
        if not checked:
            return
        self._plan.kinds.update((op, flag_check(op)) for op in checked)
        done: Set[Op] = set()
        for op in block.ops:
            if op in self._skewing:
                skewed = self._skewing[op]
                self._run(skewed.preheader, skewed.first)
                done.update(skewed.ops())
            elif op in self._tiling:
                tiled = self._tiling[op]
                self._run(tiled.preheader, tiled.first)
                done.update(tiled.preheader)
            concerned = self._pending is not None or op in self._plan.kinds
            if concerned and op not in done and op is self._facts.group_of(op)[-1]:
                self._operation(op)
        self._end()

    def _run(self, preheader: List[Op], first: Op) -> None:
        """Plan the checks before a loop over blocks. The operations there take the exit of the run's first one."""
        self._end()
        for op in preheader:
            self._write(op, first.exit)
        self._end()

    def _operation(self, op: Op) -> None:
        """Plan the checks around an operation, or around the group that it ends."""
        if self._pending is not None and op.name not in PRECEDES_CHECKS:
            self._plan.before[op] = self._pending
            self._pending = None
        self._write(op, op.exit)
        if self._ownership.after(op):
            self._end()

    def _write(self, op: Op, exit: Optional[SideExit]) -> None:
        """Note that an operation is written, which leaves by an exit if no check is pending."""
        self._last = op
        if self._pending is not None and exit is not None and not exit.is_same(self._pending.exit):
            exit = self._pending.exit
            if op not in self._plan.kinds:
                self._plan.exits[op] = exit
        if op in self._plan.kinds and exit is not None:
            self._add(op, exit)

    def _add(self, op: Op, exit: SideExit) -> None:
        kind = _floats(op)
        if self._pending is None or self._kind != kind or len(self._pending.ops) >= MOST_OPERATIONS:
            self._end()
            self._pending, self._kind = SharedCheck([], exit), kind
        self._pending.ops.append(op)

    def _end(self) -> None:
        """Place the pending check after the operation that is written last."""
        if self._pending is not None and self._last is not None:
            self._plan.after.setdefault(self._last, []).append(self._pending)
        self._pending = None


def _floats(op: Op) -> np.dtype[Any]:
    """The dtype of an operation's floats: of its operands, or of their parts."""
    operand = scalar_type(op.args[0])
    return half_of(operand).dtype if operand.dtype.kind == "c" else operand.dtype
