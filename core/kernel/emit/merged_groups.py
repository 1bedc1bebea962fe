"""Groups with several results: one nest computes and writes all of them, arrays and sums.

plan/multi_output_fusion.py finds these groups. `KernelEmitter` calls `write_merged` where the last operation is
reached. Like any group they leave by their first operation's exit, before a result can be seen.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Dict, List, Set

from pijit.core.graph.ir import Op, Value
from pijit.core.graph.passes.fusion import may_leave, raises_flags
from pijit.core.kernel.emit.fused_nest import (
    allocate,
    as_one_axis,
    nest_operands,
    numpys_sum,
    run_nest,
    single,
    write_operands,
)
from pijit.core.kernel.llvm.nest.description import ZERO, Nest
from pijit.core.kernel.plan.graph_facts import MergedGroup
from pijit.core.kernel.plan.group_operands import find_leaves
from pijit.core.kernel.plan.multi_output_fusion import adds_up
from pijit.core.kernel.plan.nests import step_numbers, steps_of
from pijit.core.kernel.plan.operands import Operand, dtype_of, result_of

if TYPE_CHECKING:
    from pijit.core.kernel.emit.kernel_emitter import KernelEmitter


def write_merged(emitter: KernelEmitter, merged: MergedGroup) -> None:
    """Write a group with several results."""
    group, first = merged.ops, merged.ops[0]
    sums = [op for op in merged.outputs if adds_up(op)]
    stored = [op for op in merged.outputs if not adds_up(op)]
    arrays, scalars, shape = write_operands(emitter, group)
    flags = not emitter.flavour.fast and any(map(may_leave, group)) and any(map(raises_flags, group))
    results = []
    for op in stored:
        results.append(allocate(emitter, _makers(group, op), shape))
        emitter.arrays[result_of(op)] = results[-1]
    if flags:
        emitter.clear_flags(own=True)
    shape, own = as_one_axis(emitter, group, shape, arrays + results)
    lasts, words, beside = nest_operands(emitter, shape, own)
    left_out = emitter.plan.zero_additions
    numbers = step_numbers(group, left_out)
    nest = Nest(len(shape), "".join(array.type.dtype.char for array in own), lasts,
                "".join(code for _, code in find_leaves(group)[1]), steps_of(group, left_out),
                least=emitter.flavour.least, beside=beside,
                outputs=tuple(numbers[result_of(op)] for op in (stored if sums else stored[:-1])))
    if sums:
        _write_sums(emitter, group, nest, shape, [*words, *scalars], len(words), sums, numbers)
        return
    run_nest(emitter, group, nest, shape, [*words, *scalars], [])
    if flags:
        emitter.guard(first, emitter.raised_flags(*group, own=True))


def _write_sums(emitter: KernelEmitter, group: List[Op], nest: Nest, shape: List[Operand], words: List[str],
                arrays: int, sums: List[Op], numbers: Dict[Value, int]) -> None:
    """Write a nest that also adds up results of steps; the first ``arrays`` words are those of its arrays."""
    dtype = dtype_of(sums[0].args[0])
    places = [emitter.layout.scratch(1) for _ in sums]
    targets = [emitter.let("address_of_word(frame, %d)" % at) for at in places]
    pairwise = numpys_sum(emitter, group[0], dtype)
    nest = nest._replace(arrays=nest.arrays + dtype.char * len(sums), lasts=nest.lasts + ZERO * len(sums),
                         beside=nest.beside and nest.beside + (-1,) * len(sums), sums=True, halves=True, least=0,
                         totals=tuple(numbers[op.args[0]] for op in sums))
    run_nest(emitter, group, nest, shape, [*words[:arrays], *targets, *words[arrays:], *pairwise], [])
    for op, at in zip(sums, places):
        emitter.define(result_of(op), emitter.element(dtype, ("frame", str(8 * at))))


def _makers(group: List[Op], last: Op) -> List[Op]:
    """The operations of a group that one result is computed from; the first one leaves by the group's exit."""
    wanted: Set[Value] = {result_of(last)}
    found: List[Op] = []
    for op in reversed(group):
        if op.result in wanted:
            found.insert(0, op)
            wanted.update(op.args)
    return [single(found[0], group), *found[1:]]
