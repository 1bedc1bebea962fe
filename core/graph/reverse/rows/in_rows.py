"""Arrays in rows: arrays of a loop that live in the rows that it saves, so that no iteration copies them there.

An iteration reads such an array in its own row, and computes it into the next one. There are two kinds: loop-carried
values, and arrays of outside whose first operation in place computes all elements (``u += 0.1 * v``)::

    s[0] = u
    for i in range(0, n):
        before = s[i]
        s[i + 1] = before + 0.1 * v
        after = s[i + 1]
    u = s[n].copy()

The first operation may also store into a part that leaves out some elements at the ends of axes, as stencils do. These
elements are copied into the next row. `Forward` writes such loops, and `Checkpoints` the repeated runs of intervals.
Only loops of arithmetic on elements have such arrays: one nest computes the row.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import List, Mapping, Optional, Tuple, cast

from pijit.core.graph.ir import Op, Value
from pijit.core.graph.ops import APPLIES_UFUNC, STORES_ALL
from pijit.core.graph.reverse.code import Code
from pijit.core.graph.reverse.forward import applied
from pijit.core.graph.reverse.needs import Needs
from pijit.core.graph.reverse.regions import LoopRegion
from pijit.core.graph.reverse.rows.limits import is_cheap
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
            if row_update(code, first, root) is not None:
                stored[root] = first
    return InRows(carried, stored)


def _is_plain(value: Value) -> bool:
    return isinstance(value.type, Array) and value.type.layout == "C"


def _is_shared(root: Value, code: Code) -> bool:
    """Whether loops or branches may pass an array on: then another variable may stand for it."""
    passed = [value for loop in code.all_loops for value in loop.first + loop.next] + list(code.all_passed)
    return root in map(code.roots.of, passed)


class RowUpdate(NamedTuple):
    """An operation that makes the next row of an array from the current one.

    Attributes:
        part: the code of the part that it stores, as a view of the row; "" for the whole row.
        value: the code of the elements of this part.
        ends: the code of the other parts, which stay as they are.
    """

    part: str
    value: str
    ends: Tuple[str, ...]


def row_update(code: Code, item: object, root: Value) -> Optional[RowUpdate]:
    """How an operation makes the next row, if it computes all elements but ends from arrays of its dtype; or None."""
    if not isinstance(item, Op) or item.name not in STORES_ALL or code.roots.of(item.args[0]) is not root:
        return None
    kind, target, values = cast(Array, root.type), item.args[0], item.args[1:]
    ends = _ends(code, target, root)
    same = code.dims.are_full(code.dims.broadcast([code.dims.of.get(value, ()) for value in values]), target)
    if ends is None or not same or kind.layout != "C":
        return None
    if item.name not in APPLIES_UFUNC:
        whole = isinstance(values[0].type, Array) and values[0].type.dtype == kind.dtype
        value = code.name(values[0]) if whole else ""
    else:
        types = kind.dtype.char * item.attrs["ufunc"].nin + "->" + kind.dtype.char
        value = applied(code, item, values) if item.attrs["types"] == types else ""
    return RowUpdate(code.roots.path(target, code.index)[1], value, tuple(ends)) if value else None


def whole_update(code: Code, item: object, root: Value) -> str:
    """The new version of an array, if an operation computes all of it in place; else ""."""
    update = row_update(code, item, root) if isinstance(item, Op) and item.name in APPLIES_UFUNC else None
    return update.value if update is not None and not update.part else ""


def _ends(code: Code, target: Value, root: Value) -> Optional[List[str]]:
    """The parts of an array that a slice with literal ends leaves out; None for other views."""
    if target is root:
        return []
    ops = code.roots.ops(target)
    if len(ops) != 1 or ops[0].name != "view":
        return None
    values: List[object] = [code.constants.get(value) for value in ops[0].args[1:]]
    inner: List[str] = []
    found: List[str] = []
    for item in ops[0].attrs["index"]:
        low, high = (values.pop(0) if part == "v" else 0 for part in item[1:3]) if item[0] == "s" else (0, 0)
        if item not in ("e", "s---", "sv--", "s-v-", "svv-") or type(low) is not int or type(high) is not int \
                or low < 0 or high > 0 or high == 0 and item[2:3] == "v":
            return None
        found += ["[%s]" % ", ".join(inner + [end]) for end in [":%d" % low] * (low > 0) + ["%d:" % high] * (high < 0)]
        inner.append("%s:%s" % (low or "", high or ""))
    return found
