"""Rematerialisation: cheap values of the forward part are computed again for the backward part.

Otherwise they would be stored by one nest and read by another one. `joint` calls this for functions without loops;
loops compute the values of their bodies again in any case.
"""

from __future__ import annotations

from typing import Collection, Iterable, List, Sequence, Set, cast

from pijit.core.graph.ir import Op, Value
from pijit.core.graph.passes.fusion import FLOAT_LOOPS
from pijit.core.graph.reverse.regions import RegionItem
from pijit.core.graph.reverse.roots import Roots
from pijit.core.graph.types import Array


def rematerialised(items: Sequence[RegionItem], read: Iterable[Value], roots: Roots,
                   returned: Collection[Value]) -> List[Op]:
    """The operations to repeat, in order: those that a nest computes, and from which values that are read follow.

    Arrays that the function returns, or views of which it returns, are in memory in any case. They keep their identity.

    Args:
        items: the outermost sequence of a region.
        read: the values that the backward part reads.
        roots: the roots of the region.
        returned: what the function returns.
    """
    kept = set(map(roots.of, returned))
    wanted: Set[Value] = set(read)
    found: List[Op] = []
    for op in reversed(items):
        if isinstance(op, Op) and op.result in wanted and op.result not in kept and _is_cheap(op, roots):
            found.append(op)
            wanted.update(op.args)
    return found[::-1]


def _is_cheap(op: Op, roots: Roots) -> bool:
    """Whether an operation is arithmetic on the elements of arrays that no store changes."""
    result = cast(Value, op.result)
    if op.name != "ufunc" or op.attrs["ufunc"] not in FLOAT_LOOPS or not isinstance(result.type, Array):
        return False
    return op.attrs["types"][-1] in "fd" and not any(roots.of(value) in roots.stored for value in (*op.args, result))
