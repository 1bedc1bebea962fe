"""Conversions of arrays: a new array into which another one is stored whole, as one operation.

`x.astype(dtype)` and `x.copy()` are captured as an ``alloc`` and an ``assign``. `joint` turns the two into a ``cast``
of an array, if nothing else is stored into the new array. So its adjoint is that of an operation, not of a store.
"""

from __future__ import annotations

import collections
from typing import Dict, List, Optional, Sequence

from pijit.core.graph.ir import Op, Value
from pijit.core.graph.ops import STORES
from pijit.core.graph.reverse.regions import RegionItem, all_ops
from pijit.core.graph.reverse.roots import Roots
from pijit.core.graph.types import Array


def with_conversions(items: Sequence[RegionItem]) -> List[RegionItem]:
    """The outermost sequence of a region, with conversions as operations."""
    roots, ops = Roots(items), all_ops(items)
    stores = collections.Counter(roots.of(op.args[0]) for op in ops if op.name in STORES)
    makers: Dict[Optional[Value], Op] = {op.result: op for op in ops}
    allocs: Dict[Optional[Value], Op] = {}
    found: List[RegionItem] = []
    for item in items:
        if isinstance(item, Op) and item.name == "assign" and item.args[0] in allocs and _is_whole(item, makers):
            made = allocs.pop(item.args[0])
            found.remove(made)
            item = Op("cast", [item.args[1]], {}, made.result, None, item.lineno, item.origin)
        elif isinstance(item, Op):
            for value in item.args:
                allocs.pop(value, None)
            if item.name == "alloc" and item.attrs["fill"] is None and item.result is not None and stores[
                    item.result] == 1:
                allocs[item.result] = item
        else:
            allocs.clear()
        found.append(item)
    return found


def _is_whole(op: Op, makers: Dict[Optional[Value], Op]) -> bool:
    """Whether a store copies an array into one whose sizes are computed from that array's."""
    target, source = op.args
    sizes = [makers.get(size) for size in makers[target].args]
    return isinstance(source.type, Array) and source.type.ndim == len(sizes) and all(
        size is not None and size.name == "dim" and size.args[0] is source and size.attrs["axis"] == axis
        for axis, size in enumerate(sizes))
