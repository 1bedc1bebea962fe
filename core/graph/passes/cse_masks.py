"""Common subexpression elimination for masks that are computed again from the same operands.

Before::

    %2: bool[1d,C] = ufunc %1, 0.0 {ufunc=less}  else exit0()
    %3: float64[1d,C] = pick %1, %2  else exit0()
    %4: float64[1d,C] = ufunc %3 {ufunc=negative}  else exit0()
    %5: bool[1d,C] = ufunc %1, 0.0 {ufunc=less}  else exit0()
    put_mask %1, %5, %4  else exit0()

After::

    %2: bool[1d,C] = ufunc %1, 0.0 {ufunc=less}  else exit0()
    %3: float64[1d,C] = pick %1, %2  else exit0()
    %4: float64[1d,C] = ufunc %3 {ufunc=negative}  else exit0()
    put_mask %1, %2, %4  else exit0()

So ``x[x < 0] = -x[x < 0]`` is a group (fusion.py). No operation between the two may have an effect. Only operations of
the block that read the second mask may use it. Then the program cannot observe that there was another array.
"""

from __future__ import annotations

from typing import Any, Dict, List, Tuple

from pijit.core.graph.ir import Block, Graph, Op, Value
from pijit.core.graph.ops import EFFECTS, NEVER, UNDER_MASK
from pijit.core.graph.passes.simplify import rename
from pijit.core.graph.types import Array

_PLAIN = frozenset((bool, int, float))


def share_masks(graph: Graph) -> None:
    """Drop the second masks in place."""
    if not any(op.name == "pick" for block in graph.blocks for op in block.ops):
        return
    names: Dict[Value, Value] = {}
    for block in graph.blocks:
        _join_in(graph, block, names)
    if names:
        rename(graph, names)


def _join_in(graph: Graph, block: Block, names: Dict[Value, Value]) -> None:
    constants = {op.result: (type(op.attrs["value"]), repr(op.attrs["value"])) for op in block.ops
                 if op.name == "const" and type(op.attrs["value"]) in _PLAIN}
    known: Dict[Tuple[Any, ...], Value] = {}
    dropped: List[Op] = []
    for op in block.ops:
        if op.name in EFFECTS:
            known.clear()
        if not _is_mask(op):
            continue
        arguments = [constants.get(value, names.get(value, value)) for value in op.args]
        key = (op.attrs["ufunc"], op.attrs["types"], op.result.type) + tuple(arguments)  # type: ignore[union-attr]
        first = known.setdefault(key, op.result)  # type: ignore[arg-type]
        if first is not op.result and _is_read(graph, block, op.result) and _is_kept(block, first):
            names[op.result] = first  # type: ignore[index]
            dropped.append(op)
    block.ops = [op for op in block.ops if op not in dropped]


def _is_mask(op: Op) -> bool:
    return (op.name == "ufunc" and isinstance(op.result.type, Array)  # type: ignore[union-attr]
            and op.result.type.dtype.kind == "b" and "fits" not in op.attrs)  # type: ignore[union-attr]


def _is_read(graph: Graph, block: Block, mask: Any) -> bool:
    """Whether operations of the block read a mask, and nothing names it after the last of them."""
    users = [k for k, op in enumerate(block.ops) if mask in op.args]
    named = sum(mask in op.args for op in block.ops)
    for op in block.ops[:max(users, default=-1) + 1]:
        named += list(op.exit.values()).count(mask) if op.exit is not None else 0
    return (all(_reads(block.ops[k], mask) for k in users)
            and named == sum(value is mask for value in graph.uses()))


def _reads(op: Op, mask: Value) -> bool:
    return op.name in UNDER_MASK and op.args.index(mask) == 1 or _is_mask(op) and op.args.count(mask) == 1


def _is_kept(block: Block, mask: Value) -> bool:
    """Whether no NumPy operator computes its result into the memory of a mask."""
    return all(into == NEVER for op in block.ops if mask in op.args for into in op.attrs.get("into", ()))
