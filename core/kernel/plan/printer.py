"""Kernel plans as text: one line per decision, for `print_after_all` and `pijit.dump`.

`Kernel` calls `format_plan` before the source is written. The text decides nothing.
"""

from __future__ import annotations

from typing import Collection, Iterable, List

from pijit.core.graph.ir import Op, Value
from pijit.core.kernel.plan.deferred_fills import FillPlan
from pijit.core.kernel.plan.exponents import BoundedArrays
from pijit.core.kernel.plan.graph_facts import GraphFacts
from pijit.core.kernel.plan.kernel_plan import Plan
from pijit.core.kernel.plan.skewing import SkewingRun
from pijit.core.kernel.plan.store_plan import StorePlan
from pijit.core.kernel.plan.strips import Strip
from pijit.core.kernel.plan.tiling import TilingRun


def format_plan(plan: Plan) -> str:
    """The decisions of a plan. Groups of one operation and values without a decision are left out."""
    groups = plan.groups
    lines = _groups(plan.facts, groups.nests) + _escape(plan) + _bounded(plan.bounded) + _fills(groups.fills)
    lines += [_skewed(run) for run in groups.skewing.values()] + [_tiled(run) for run in plan.tiling.values()]
    lines += [_strip(strip) for strip in plan.strips.values()]
    lines += [_store(op, store) for op, store in groups.stores.items()]
    lines += ["left out of nests, because they change no bit: " + _ops(plan.left_out_steps)] * bool(plan.left_out_steps)
    return "\n".join(lines) or "nothing is decided"


def _names(values: Iterable[Value]) -> str:
    return ", ".join(map(repr, sorted(values, key=lambda value: value.id))) or "none"


def _op(op: Op) -> str:
    """An operation, by its result or by what it stores into."""
    return repr(op.result) if op.result is not None else "%s into %r" % (op.name, op.args[0])


def _ops(ops: Iterable[Op]) -> str:
    return ", ".join(map(_op, ops)) or "none"


def _groups(facts: GraphFacts, nests: Collection[Op]) -> List[str]:
    several = [(last, group) for last, group in facts.groups.items() if len(group) > 1 and last not in facts.merged]
    return ["%s: %s" % ("one nest" if last in nests else "one by one", _ops(group)) for last, group in several] + [
        "one nest: %s; results: %s" % (_ops(group.ops), _ops(group.outputs))
        for last, group in facts.merged.items() if last in nests]


def _escape(plan: Plan) -> List[str]:
    private = [value for value in plan.facts.made if plan.escape.is_private(value)]
    return ["do not escape: " + _names(private)] if private else []


def _bounded(bounded: BoundedArrays) -> List[str]:
    return ["exponent bounds: " + _names(bounded.all())] if bounded.all() else []


def _fills(fills: FillPlan) -> List[str]:
    return ["first contents of %r wait for: %s" % (array, _ops(op for op, other in fills.stores.items()
                                                               if other is array))
            for array in fills.waiting.values()]


def _skewed(run: SkewingRun) -> str:
    phases = "; ".join("phase %d: %s" % (number, _ops(ops)) for number, ops in enumerate(run.phases))
    return "skewed blocks of at least %d rows: %s" % (run.reach, phases)


def _tiled(run: TilingRun) -> str:
    return "tiled by rows of %s: %s; needed afterwards: %s" % (_names(run.rows), _ops(run.ops), _names(run.lasting))


def _strip(strip: Strip) -> str:
    return "speculative strip: %r to %r, elements of %s" % (strip.counter, strip.limit, _ops(
        element.op for element in strip.elements))


def _store(op: Op, store: StorePlan) -> str:
    return "store into %r: %s" % (op.args[0], store)
