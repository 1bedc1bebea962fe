"""Memory order of arrays of unknown layout: a guess which ones probably have rows of close elements.

Loop nests (fused_nest.py) go along rows. Layout "A" tells nothing, neither for array parts that are arguments nor for
values from the previous iteration. But a part has rows like the whole array. NumPy also gives rows to results that are
computed elementwise from arrays with rows. A wrong guess only costs time: nests take strides as they are, and go along
another axis where they know none.
"""

from __future__ import annotations

from typing import Dict, List, Set, cast

from pijit.core.graph.ir import Graph, Op, Value
from pijit.core.graph.ops import KEEPS_ROWS
from pijit.core.graph.types import Array


def likely_by_rows(graph: Graph) -> Set[Value]:
    """The kernel's inputs and block parameters that probably have rows."""
    sources = {op.result: _operands(op) for block in graph.blocks for op in block.ops
               if op.result is not None and isinstance(op.result.type, Array)}
    brought: Dict[Value, List[Value]] = {param: [] for block in graph.blocks[1:] for param in block.params
                                         if isinstance(param.type, Array)}
    for block in graph.blocks:
        for jump in block.terminator.targets():
            for param, value in zip(jump.block.params, jump.args):
                if param in brought:
                    brought[param].append(value)
    sources.update(brought)
    outside = {value for value in graph.inputs if isinstance(value.type, Array) and value.type.layout == "A"}
    found = outside.union(sources)
    while True:
        wrong = {value for value, given in sources.items() if value in found and not _has_rows(value, given, found)}
        if not wrong:
            return found.intersection(outside.union(brought))
        found -= wrong


def _operands(op: Op) -> List[Value]:
    return [value for value in op.args if isinstance(value.type, Array)] if op.name in KEEPS_ROWS else []


def _has_rows(value: Value, given: List[Value], found: Set[Value]) -> bool:
    kind = cast(Array, value.type)
    if kind.ndim < 2 or kind.layout == "C":
        return True
    return kind.layout == "A" and bool(given) and all(
        one in found or cast(Array, one.type).layout == "C" or cast(Array, one.type).ndim < 2 for one in given)
