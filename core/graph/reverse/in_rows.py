"""Arrays in rows: arrays of a loop that live in the rows that it saves, so that no iteration copies them there.

An iteration reads such an array in its own row, and computes it into the next one. There are two kinds: loop-carried
values, and arrays of outside whose first operation in place computes all elements (``u += 0.1 * v``)::

    s[0] = u
    for i in range(0, n):
        before = s[i]
        s[i + 1] = before + 0.1 * v
        after = s[i + 1]
    u = s[n].copy()

`Forward` writes them. Only loops of arithmetic on elements have such arrays: one nest computes the row. Stores into
parts, such as those of stencils, write in place faster, with a copy of each row.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Mapping, cast

from pijit.core.graph.ir import Op, Value
from pijit.core.graph.reverse.checkpoints import is_cheap
from pijit.core.graph.reverse.code import Code
from pijit.core.graph.reverse.forward import applied
from pijit.core.graph.reverse.needs import Needs
from pijit.core.graph.reverse.regions import LoopRegion
from pijit.core.graph.types import Array
from pijit.core.named_tuples import NamedTuple


class InRows(NamedTuple):
    """The arrays of a loop that are in rows.

    Attributes:
        carried: loop-carried values, with the value of the next iteration.
        stored: arrays of outside, with the operation that stores into them first.
    """

    carried: Mapping[Value, Value] = MappingProxyType({})
    stored: Mapping[Value, Op] = MappingProxyType({})


NONE = InRows()


def find_in_rows(loop: LoopRegion, code: Code, needs: Needs) -> InRows:
    """The arrays of a loop that can be in rows; the loop saves all iterations."""
    if not all(isinstance(item, Op) for item in loop.items) or not is_cheap(loop, code.roots):
        return NONE
    made = {item.result for item in loop.items if isinstance(item, Op) and item.name == "ufunc"}
    passed = list(map(code.roots.of, loop.next))  # arrays that the next iteration may have views of
    carried = {param: following for param, following in zip(loop.params, loop.next)
               if param in needs.saved(loop) and following in made and following.type == param.type
               and passed.count(following) == 1 and param not in passed
               and code.roots.stored.isdisjoint([param, following]) and _is_plain(param)
               and code.dims.are_full(code.dims.of.get(following, ()), param)}
    stored = {}
    for root in needs.saved(loop):
        if root not in loop.params and _is_plain(root) and not _is_shared(root, code):
            first = cast(Op, next(item for item in loop.items if root in needs.stored_by(item)))
            if whole_update(code, first, root):
                stored[root] = first
    return InRows(carried, stored)


def _is_plain(value: Value) -> bool:
    return isinstance(value.type, Array) and value.type.layout == "C"


def _is_shared(root: Value, code: Code) -> bool:
    """Whether loops or branches may pass an array on: then another variable may stand for it."""
    passed = [value for loop in code.all_loops for value in loop.first + loop.next] + list(code.all_passed)
    return root in map(code.roots.of, passed)


def whole_update(code: Code, item: object, root: Value) -> str:
    """The new version of an array, if an operation computes all of it from arrays of its dtype; else ""."""
    if not isinstance(item, Op) or item.name != "ufunc_into" or item.args[0] is not root:
        return ""
    kind, ufunc = cast(Array, root.type), item.attrs["ufunc"]
    shapes = [code.dims.of.get(value, ()) for value in item.args[1:]]
    same = code.dims.are_full(code.dims.broadcast(shapes), root) and kind.layout == "C"
    if not same or item.attrs["types"] != kind.dtype.char * ufunc.nin + "->" + kind.dtype.char:
        return ""
    return applied(code, item, item.args[1:])
