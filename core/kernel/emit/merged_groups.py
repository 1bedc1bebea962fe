"""Groups with several results: one nest computes and writes all of them, arrays and sums.

plan/multi_output_fusion.py finds these groups. `KernelEmitter` calls `write_merged` where the last operation is
reached. Like any group they leave by their first operation's exit, before a result can be seen.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Set

from pijit.core.graph.ir import Op, Value
from pijit.core.kernel.emit.expressions import Expression
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
from pijit.core.kernel.plan.multi_output_fusion import adds_up, reported_ops
from pijit.core.kernel.plan.nests import step_numbers, steps_of
from pijit.core.kernel.plan.operands import Operand, dtype_of, result_of

if TYPE_CHECKING:
    from pijit.core.kernel.emit.kernel_emitter import KernelEmitter


def write_merged(emitter: KernelEmitter, merged: MergedGroup) -> None:
    """Write a group with several results."""
    group = merged.ops
    _, scalars, shape = write_operands(emitter, group)
    texts = dict(zip(find_leaves(group)[1], scalars))
    plan = emitter.plan.groups.flags[group[-1]]
    for op in merged.outputs:
        if not adds_up(op):
            emitter.arrays[result_of(op)] = allocate(emitter, _makers(group, op), shape)
    own = not any(map(adds_up, merged.outputs))
    if plan.clears:
        emitter.clear_flags(own)
    for op, at in _write_nest(emitter, group, merged.outputs, shape, texts).items():
        emitter.define(result_of(op), emitter.element(dtype_of(op.args[0]), ("frame", str(8 * at))))
    if plan.clears:
        _check_flags(emitter, merged, shape, texts, emitter.flags_condition(plan.mask, own), own)


def _check_flags(emitter: KernelEmitter, merged: MergedGroup, shape: List[Operand], texts: Mapping[Any, Expression],
                 raised: Expression, own: bool) -> None:
    """Leave if operations have raised flags that are reported, which is the condition ``raised``.

    Operations that ignore flags may have raised them. Then a nest of the others alone runs again and tells.
    """
    first, reported = merged.ops[0], reported_ops(merged.parts, merged.ops)
    if len(reported) == len(merged.ops):
        emitter.guard(first, raised)
        return
    depth = emitter.depth
    emitter.line("if %s:" % raised)
    emitter.depth += 1
    emitter.clear_flags(own)
    _write_nest(emitter, reported, [op for op in merged.outputs if op in reported], shape, texts)
    emitter.guard(first, raised)
    emitter.depth = depth


def _write_nest(emitter: KernelEmitter, group: List[Op], outputs: List[Op], shape: List[Operand],
                texts: Mapping[Any, Expression]) -> Dict[Op, int]:
    """Write the nest of operations that computes the outputs among them. Returns the frame's words with the sums.

    ``texts`` are the sources of the scalars.
    """
    sums = [op for op in outputs if adds_up(op)]
    stored = [op for op in outputs if not adds_up(op)]
    leaves, scalars = find_leaves(group)
    shape, arrays = as_one_axis(emitter, group, shape,
                                [emitter.arrays[value] for value in leaves + [result_of(op) for op in stored]])
    lasts, words, beside = nest_operands(emitter, shape, arrays)
    left_out = emitter.plan.left_out_steps
    numbers = step_numbers(group, left_out)
    nest = Nest(len(shape), "".join(array.type.dtype.char for array in arrays), lasts,
                "".join(code for _, code in scalars), steps_of(group, left_out), least=emitter.flavour.least,
                beside=beside, outputs=tuple(numbers[result_of(op)] for op in (stored if sums else stored[:-1])))
    last = [texts[scalar] for scalar in scalars]
    if not sums:
        run_nest(emitter, group, nest, shape, [*words, *last], [])
        return {}
    dtype = dtype_of(sums[0].args[0])
    places = {op: emitter.layout.scratch(1) for op in sums}
    words += [emitter.let("address_of_word(frame, %d)" % at) for at in places.values()]
    nest = nest._replace(arrays=nest.arrays + dtype.char * len(sums), lasts=nest.lasts + ZERO * len(sums),
                         beside=nest.beside and nest.beside + (-1,) * len(sums), sums=True, halves=True, least=0,
                         totals=tuple(numbers[op.args[0]] for op in sums))
    run_nest(emitter, group, nest, shape, [*words, *last, *numpys_sum(emitter, group[0], dtype)], [])
    return places


def _makers(group: List[Op], last: Op) -> List[Op]:
    """The operations of a group that one result is computed from; the first one leaves by the group's exit."""
    wanted: Set[Value] = {result_of(last)}
    found: List[Op] = []
    for op in reversed(group):
        if op.result in wanted:
            found.insert(0, op)
            wanted.update(op.args)
    return [single(found[0], group), *found[1:]]
