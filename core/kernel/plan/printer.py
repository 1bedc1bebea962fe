"""Kernel plans as text, for `print_after_all` and `pijit.dump`: all decisions, but no facts that the graph shows.

`Kernel` calls `format_plan` before the source is written. The text decides nothing. Each field of a plan has a row in
one of the tables here.
"""

from __future__ import annotations

from typing import Any, Callable, Dict, Iterable, List

from pijit.core.graph.ir import Op, Value
from pijit.core.kernel.plan.control_tree import format_tree
from pijit.core.kernel.plan.exponents import BoundedArrays
from pijit.core.kernel.plan.flag_plan import FlagPlan
from pijit.core.kernel.plan.forms.block_size import BlockSize
from pijit.core.kernel.plan.kernel_plan import Plan
from pijit.core.kernel.plan.memory_plan import MOST_SLOTS
from pijit.core.kernel.plan.skewing import SkewingRun
from pijit.core.kernel.plan.strips import AffineElement, AffineIndex, Combined, Strip
from pijit.core.kernel.plan.tiling import TiledRows, TilingRun


def format_plan(plan: Plan) -> str:
    """The decisions of a plan."""
    return "\n".join(line for write in PLAN_LINES.values() for line in write(plan))


# ---- parts of a line ----


def _op(op: Op) -> str:
    """An operation, by its result or by what it stores into."""
    if op.result is not None:
        return repr(op.result)
    return "%s into %r" % (op.name, op.args[0]) if op.args else op.name


def _list(items: Iterable[Any]) -> str:
    return ", ".join(map(_text, items))


def _sorted(values: Iterable[Value]) -> List[Value]:
    return sorted(values, key=lambda value: value.id)


def _index(index: AffineIndex) -> str:
    return _text(index.first) if index.step is None else "%s by %s" % (_text(index.first), _text(index.step))


_TEXTS: Dict[type, Callable[[Any], str]] = {
    Value: repr, Op: _op, list: _list, tuple: _list, AffineIndex: _index,
    set: lambda values: _list(_sorted(values)),
    dict: lambda items: ", ".join("%s: %s" % (_text(key), _text(item)) for key, item in items.items()),
    Combined: lambda term: "%s(%s, %s)" % (term.name, _text(term.one), _text(term.other)),
    AffineElement: lambda element: "%s[%s]" % (_op(element.op), _list(element.indices)),
    BlockSize: lambda size: "(%s)" % _record(size)}
"""The text of an item of a plan, by its class; other items are numbers."""


def _text(item: Any) -> str:
    return _TEXTS.get(type(item), str)(item)


FIELDS: Dict[type, Dict[str, str]] = {
    FlagPlan: {"watched": "watched steps", "clears": "cleared before", "mask": "tested after, with mask",
               "raising": "may leave at the end", "has_bounds": "bounds may exclude them",
               "hides_underflow": "underflow is asked for before"},
    BoundedArrays: {"inputs": "inputs", "made": "results", "begun": "other new arrays",
                    "regions": "regions of"},
    BlockSize: {"rows": "rows", "elements": "elements", "multiple": "rows in multiples of", "least": "rows at least",
                "most": "elements at most"},
    SkewingRun: {"block": "blocks with", "phases": "", "groups": "groups", "ahead": "done before",
                 "first": "exit of", "made": "phases of results", "slots": "blocks in memory",
                 "roots": "changes or reads", "order": ""},
    TiledRows: {"rows": "cuts", "block": "blocks with"},
    TilingRun: {"rows": "rows of", "ops": "operations", "ahead": "done before", "first": "exit of", "made": "results",
                "lasting": "needed afterwards", "order": ""},
    Strip: {"counter": "counter", "limit": "limit", "params": "variables", "sets_flag": "sets the jump variable",
            "elements": "elements", "free": "without pins"}}
"""What the fields of records are called in a line. Those without a name have a text of their own, or are positions."""


def _record(record: Any) -> str:
    """The fields of a record; empty ones are left out."""
    items = [(name, getattr(record, field)) for field, name in FIELDS[type(record)].items() if name]
    return "; ".join(name if item is True else "%s %s" % (name, _text(item)) for name, item in items
                     if item not in (False, [], (), {}, set()))


def _one(head: str, items: Any) -> List[str]:
    """A line, unless there are no items."""
    return ["%s: %s" % (head, _text(items))] if items else []


# ---- groups ----


def _nests(plan: Plan) -> List[str]:
    """The groups; those of one operation share lines."""
    facts, nests = plan.facts, plan.groups.nests
    plain = [(last, group) for last, group in facts.groups.items() if last not in facts.merged]
    lines = ["%s: %s" % ("one nest" if last in nests else "one by one", _list(group)) for last, group in plain
             if len(group) > 1]
    lines += ["one nest: %s; results: %s" % (_list(group.ops), _list(group.outputs))
              for last, group in facts.merged.items() if last in nests]
    single = [last for last, group in plain if len(group) == 1]
    return lines + _one("nests of one operation", [op for op in single if op in nests]) \
        + _one("operations without a nest", [op for op in single if op not in nests])


def _unmerged(plan: Plan) -> List[str]:
    return ["written in parts: " + " | ".join(map(_list, plan.facts.merged[op].parts)) for op in plan.facts.merged
            if op in plan.groups.unmerged]


def _fills(plan: Plan) -> List[str]:
    fills = plan.groups.fills
    return ["initial contents of %r, by %s, wait for: %s" % (array, _op(first), _list(
        op for op, other in fills.stores.items() if other is array)) for first, array in fills.waiting.items()]


def _skewed(run: SkewingRun) -> str:
    phases = ["phase %d: %s" % (number, _list(ops)) for number, ops in enumerate(run.phases)]
    return "skewed: " + "; ".join([*phases, _record(run)])


def _in_order(plan: Plan, ops: Iterable[Op]) -> List[Op]:
    """Last operations of groups, in the order of the groups."""
    found = set(ops)
    return [op for op in plan.facts.groups if op in found]


GROUP_LINES: Dict[str, Callable[[Plan], List[str]]] = {
    "nests": _nests,
    "unmerged": _unmerged,
    "transposed": lambda plan: _one("nests that read by columns", _in_order(plan, plan.groups.transposed)),
    "by_rows": lambda plan: _one("probably in row order", plan.groups.by_rows),
    "fills": _fills,
    "skewing": lambda plan: list(map(_skewed, plan.groups.skewing.values())),
    "tiled": lambda plan: ["tiled run from %s: %s" % (_op(op), _record(cut)) for op, cut in plan.groups.tiled.items()],
    "stores": lambda plan: ["store into %r: %s" % (op.args[0], store) for op, store in plan.groups.stores.items()],
    "flags": lambda plan: ["flags of %s: %s" % (_op(op), _record(flags)) for op, flags in plan.groups.flags.items()
                           if any(flags)],
    "scatters": lambda plan: ["%s: %s" % (_op(op), form) for op, form in plan.groups.scatters.items()],
    "products": lambda plan: ["product %r: %s" % item for item in plan.groups.products.items()]}
"""The lines of each field of `GroupPlans`."""


# ---- memory ----


def _spare_slots(plan: Plan) -> List[str]:
    spare = plan.memory.spare_slots
    return ["stack slots left for temporary arrays: %d" % spare] if spare < MOST_SLOTS else []


MEMORY_LINES: Dict[str, Callable[[Plan], List[str]]] = {
    "pooled": lambda plan: _one("may borrow buffers", plan.memory.pooled),
    "borrowed": lambda plan: _one("may take borrowed buffers from operands", plan.memory.borrowed - plan.memory.pooled),
    "reused": lambda plan: ["%s takes memory of: %s" % (_op(op), _list(values))
                            for op, values in plan.memory.reused.items()],
    "offered": lambda plan: ["%s may be computed into: %s" % (_op(op), _list(values))
                             for op, values in plan.memory.offered.items()],
    "slots": lambda plan: _one("have stack slots", plan.memory.slots),
    "spare_slots": _spare_slots}
"""The lines of each field of `MemoryPlan`."""


# ---- the plan ----


def _facts(plan: Plan) -> List[str]:
    roots = plan.facts.roots
    return ["views: " + ", ".join("%r of %r" % item for item in roots.items())] if roots else []


def _tree(plan: Plan) -> List[str]:
    return ["control tree:", format_tree(plan.tree, "    ")]


def _ownership(plan: Plan) -> List[str]:
    ownership = plan.ownership
    lines = _one("the frame owns references to", ownership.owners)
    lines += ["after %s released: %s" % (_op(op), _list(values)) for op, values in ownership.releases()]
    for jump, (retained, released) in ownership.edges():
        lines += _one("on a jump to b%d retained" % jump.block.index, retained)
        lines += _one("on a jump to b%d released" % jump.block.index, released)
    return lines + _one("memory may be used again after the last use of", ownership.reusable)


def _escape(plan: Plan) -> List[str]:
    escape, private = plan.escape, _sorted(plan.escape.private)
    exits = {value: escape.exits_with(value) for value in private if escape.exits_with(value)}
    return _one("do not escape", private) + _one("side exits that hand out arrays", exits)


def _bounded(plan: Plan) -> List[str]:
    return ["exponent bounds: " + _record(plan.bounded)] if plan.bounded.all() else []


def _fp_checks(plan: Plan) -> List[str]:
    kinds, before, after, exits = plan.fp_checks
    placed = [("before", op, check) for op, check in before.items()]
    placed += [("after", op, check) for op, checks in after.items() for check in checks]
    lines = ["check of flags %s %s: %s; takes exit%d" % (
        place, _op(op), ", ".join("%s %s" % (kinds[one], _op(one)) for one in check.ops), check.exit.exit)
        for place, op, check in placed]
    taken = ["%s: exit%d" % (_op(op), exit.exit) for op, exit in exits.items()]
    return lines + _one("take the exit of a pending check", taken)


PLAN_LINES: Dict[str, Callable[[Plan], List[str]]] = {
    "groups": lambda plan: [line for write in GROUP_LINES.values() for line in write(plan)],
    "facts": _facts,
    "escape": _escape,
    "memory": lambda plan: [line for write in MEMORY_LINES.values() for line in write(plan)],
    "bounded": _bounded,
    "tiling": lambda plan: ["tiled: " + _record(run) for run in plan.tiling.values()],
    "strips": lambda plan: ["speculative strip: " + _record(strip) for strip in plan.strips.values()],
    "fp_checks": _fp_checks,
    "left_out_steps": lambda plan: _one("left out of nests, because they change no bit", list(plan.left_out_steps)),
    "ownership": _ownership,
    "tree": _tree}
"""The lines of each field of `Plan`."""
