"""Strength reduction: compare magnitudes of complex numbers by their squares, without a square root.

Before::

    %3: py.float64 = abs %1  else exit0()
    %4: raw.bool = compare %3, %2 {operator='<='}

After::

    %4: raw.bool = compare_size %1, %2 {operator='<='}  else exit0()

The kernel takes the root only if the squares are too close. Nothing else may need the magnitude, and no operation
between the two may leave or have an effect.
"""

from __future__ import annotations

from collections import Counter
from typing import Dict

from pijit.core.graph.ir import Block, Graph, Op, Value
from pijit.core.graph.ops import EFFECTS
from pijit.core.graph.types import Scalar

MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


def compare_magnitudes(graph: Graph) -> None:
    """Replace the pairs of operations in place."""
    if not any(_is_size(op) for block in graph.blocks for op in block.ops):
        return
    counts = Counter(graph.uses())
    for block in graph.blocks:
        _in_block(block, counts)


def _is_size(op: Op) -> bool:
    kind = op.args[0].type if op.name == "abs" else None
    return isinstance(kind, Scalar) and kind.dtype.char == "D"


def _in_block(block: Block, counts: Dict[Value, int]) -> None:
    ops: Dict[Op, None] = {}
    sizes: Dict[Value, Op] = {}
    for op in block.ops:
        known = [sizes[value] for value in op.args if value in sizes and counts[value] == 1]
        if op.name == "compare" and op.attrs["operator"] in MIRRORED and len(known) == 1:
            del ops[known[0]]
            op = _comparison(op, known[0])
        if op.exit is not None or op.name in EFFECTS:
            sizes.clear()
        if _is_size(op):
            sizes[op.result] = op  # type: ignore[index]
        ops[op] = None
    block.ops = list(ops)


def _comparison(op: Op, size: Op) -> Op:
    """The operation that replaces both."""
    left, right = op.args
    symbol = op.attrs["operator"]
    bound, symbol = (right, symbol) if left is size.result else (left, MIRRORED[symbol])
    return Op("compare_size", [size.args[0], bound], {"operator": symbol}, op.result, size.exit, op.lineno)
