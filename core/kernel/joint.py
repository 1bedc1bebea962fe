"""One loop nest for several groups, with a new array for each result that others need; see graph/passes/joint.py."""

from __future__ import annotations

from typing import Any, Dict, Set

import numpy as np
from pijit.core.graph.ir import Value
from pijit.core.graph.passes.fuse import raises_flags
from pijit.core.graph.passes.joint import Joint
from pijit.core.kernel.array_ops import broadcast
from pijit.core.kernel.fusion import (
    as_one_axis,
    asks_for_temporaries,
    can_fuse,
    find_leaves,
    nest_operands,
    nest_steps,
    require_shapes,
    run_nest,
)
from pijit.core.kernel.nests import Nest
from pijit.core.kernel.slots import made_array


def can_join(emitter: Any, joint: Joint) -> bool:
    """Whether all results are certain to be of one shape and in C order, and no store waits for the bound of one."""
    group, results = joint.group, [part[-1].result for part in joint.parts]
    if any(result in emitter.calm.made for result in results) or not can_fuse(emitter, group):
        return False
    leaves = find_leaves(group)[0]
    if group[-1].result.type.ndim > 1:  # type: ignore[union-attr]
        shape = emitter.arrays[leaves[0]].shape
        return not asks_for_temporaries(emitter, group) and all(
            value.type.layout == "C" and emitter.arrays[value].shape == shape for value in leaves)
    sizes: Dict[Value, Set[str]] = {value: set(emitter.arrays[value].shape) for value in leaves}
    for part, result in zip(joint.parts, results):
        sizes[result] = set().union(*[sizes[value] for value in find_leaves(part)[0]])  # type: ignore[index]
    return all(sizes[result] == sizes[results[-1]] for result in results)  # type: ignore[index]


def write_joint(emitter: Any, joint: Joint) -> None:
    """Write the nest; leaves by the first operation's exit."""
    group, first = joint.group, joint.group[0]
    values, wanted = find_leaves(group)
    arrays = [emitter.arrays[value] for value in values]
    scalars = [emitter.converted(emitter.text[value], value.type, np.dtype(code), first) for value, code in wanted]
    require_shapes(emitter, group)
    shape = broadcast(emitter, first, [array.shape for array in arrays])
    for op in joint.stored:
        emitter.arrays[op.result] = made_array(emitter, first, op.result, shape)
        emitter.by_rows.add(op.result)
    results = [emitter.arrays[op.result] for op in joint.stored]
    flags = not emitter.flavour.fast and any(map(raises_flags, group))
    if flags:
        emitter.clear_flags(own=True)
    shape, every = as_one_axis(emitter, group, shape, arrays + results)
    lasts, words, beside = nest_operands(emitter, shape, every)
    more = len(results) - 1
    steps = nest_steps(group, more)
    start = len(arrays) + more + len(scalars)
    stores = tuple((len(arrays) + number, start + group.index(op)) for number, op in enumerate(joint.stored[:-1]))
    nest = Nest(len(shape), "".join(array.type.dtype.char for array in every), lasts,
                "".join(code for _, code in wanted), steps, least=emitter.flavour.least, beside=beside, stores=stores)
    run_nest(emitter, group, nest, shape, words + scalars, [])
    if flags:
        emitter.guard(first, emitter.raised_flags(*group, own=True))
