"""Groups with several results: one nest computes and writes all of them.

plan/multi_output_fusion.py finds these groups. `KernelEmitter` calls `write_merged` where the last operation is
reached. Like any group they leave by their first operation's exit, before a result can be seen.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, List, Set

from pijit.core.graph.ir import Op, Value
from pijit.core.graph.passes.fusion import may_leave, raises_flags
from pijit.core.kernel.emit.fused_nest import allocate, as_one_axis, nest_operands, run_nest, single, write_operands
from pijit.core.kernel.llvm.nest.nest import Nest
from pijit.core.kernel.plan.graph_facts import MergedGroup
from pijit.core.kernel.plan.group_operands import find_leaves
from pijit.core.kernel.plan.nests import steps_of
from pijit.core.kernel.plan.operands import result_of

if TYPE_CHECKING:
    from pijit.core.kernel.emit.kernel_emitter import KernelEmitter


def write_merged(emitter: KernelEmitter, merged: MergedGroup) -> None:
    """Write a group with several results."""
    group, first = merged.ops, merged.ops[0]
    arrays, scalars, shape = write_operands(emitter, group)
    flags = not emitter.flavour.fast and any(map(may_leave, group)) and any(map(raises_flags, group))
    results = []
    for op in merged.outputs:
        results.append(allocate(emitter, _makers(group, op), shape))
        emitter.arrays[result_of(op)] = results[-1]
    if flags:
        emitter.clear_flags(own=True)
    shape, own = as_one_axis(emitter, group, shape, arrays + results)
    lasts, words, beside = nest_operands(emitter, shape, own)
    nest = Nest(len(shape), "".join(array.type.dtype.char for array in own), lasts,
                "".join(code for _, code in find_leaves(group)[1]), steps_of(group),
                least=emitter.flavour.least, beside=beside,
                outputs=tuple(group.index(op) for op in merged.outputs[:-1]))
    run_nest(emitter, group, nest, shape, [*words, *scalars], [])
    if flags:
        emitter.guard(first, emitter.raised_flags(*group, own=True))


def _makers(group: List[Op], last: Op) -> List[Op]:
    """The operations of a group that one result is computed from; the first one leaves by the group's exit."""
    wanted: Set[Value] = {result_of(last)}
    found: List[Op] = []
    for op in reversed(group):
        if op.result in wanted:
            found.insert(0, op)
            wanted.update(op.args)
    return [single(found[0], group), *found[1:]]
