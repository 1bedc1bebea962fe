"""Groups of elementwise operations that one loop nest can compute without temporaries.

A group is a set of ``ufunc`` operations of one block with one result; its inner results have no use outside. It
may end in ``assign`` or ``ufunc_into``: then the nest computes into an array that was there before.

**Numbers under masks** (``x[x < low] = low``) are written so too: the nest chooses between the number and what was there.

**Elements under masks** (``x[m] = 2.0 - x[m]``) are computed where they are, without an array of those that are picked. What
is not picked counts as 1, so that it raises no flag. The mask is an operand, so that LLVM knows nothing of how it comes
about. The nest skips blocks of the mask in which nothing is picked. Where few elements are picked, and the nest would need a
buffer, or somebody had to look at all elements first, the kernel does these operations one by one.

**Leaving.** Leaving a group means leaving at its first operation's exit: between the first and the last
operation nothing has an effect, so repeating all of them in bytecode is the same. That is also why an inner
result may be named by the exits of the group's own operations, which are then never taken, but by no other
exit.

**Writing in place.** NumPy computes the value of a statement, warns or raises for floating-point flags, and
only then writes. A nest finds out about flags at its end. So a group that can raise one computes into a
buffer, which is copied when no flag was raised: had it written in place, repeating the statement would read
what it wrote, and where the warning is an error the program would see an array that NumPy leaves as it was.
Whether a group can raise one, it asks its operands (kernel/emit/exponent_bounds.py).
Where only the last operation can raise one, and it is an operator that writes in place, NumPy itself reports flags
behind what it wrote; so does bytecode then, to which the operation ``raised`` leads (bytecode/linker/deferred_warning.py).
Such a group has no comparisons of floats: of a NaN, machine code says that it is invalid, which nobody could tell from the
operator's own flag. A group that cannot raise another flag does not leave once its nest runs. It writes in place unless destination and
operands may overlap, as NumPy reads all before it writes; an operand that is the destination itself is read
at each index before that index is written.

**Sums along the last axis** end a group too: the elements of a row are added where they are computed; where NumPy adds
them pairwise, they are computed into a few cache lines at a time and added up in NumPy's order (kernel/llvm/nest/pairwise_sum.py). The
operand must be certain to be in C order, or NumPy would go another way.

**Counts of true elements** (``np.sum(x > y)``, ``count_nonzero``, ``any``, ``all``) end a group too, over all axes: what NumPy's
function would be called with is not made. Where the nest has seen something odd, the function is called.

**Floats that become integers** (``x.astype(np.uint8)``) end a group. Where one does not fit, or is NaN, the nest has
seen something odd, and NumPy's function makes of it what it will.

**Elements found by index** (``gather``) are loaded where they are needed, also at an index that is computed there. A nest
finds out at its end that an index was out of range, like a flag; the array that they are found in is no operand and
must be there before the group.

**Rolled arrays** (``np.roll(u, 1, axis=0)``) are not made where elements of theirs are needed: the nest goes through parts of
the axis, in each of which they lie one behind the other in the array that is rolled.

**Watched groups.** LLVM may leave out what ``where`` does not choose, or find out how a comparison of a computed number
comes out, and drop the arithmetic with its flag. So where these meet arithmetic, flags tell nothing: the nest watches
results instead. An error of arithmetic gives infinity or NaN (but for underflows, which NumPy ignores unless it is told
not to, and it is asked). ``minimum``, ``maximum`` and ``clip`` of floats are watched as well: which of 0.0 and -0.0, and of two
NaNs, NumPy's loops give depends on its version and on the element's position. Where the nest has seen such a number, the
operations are done again one by one. Only groups that make a new array are watched, without elements found by index.
"""

from __future__ import annotations

import itertools
from typing import Collection, Dict, List, Set, Tuple

import numpy as np

from pijit.core.graph.ir import Block, Graph, Op, Value
from pijit.core.graph.library import CLIP, CLOCKS
from pijit.core.graph.loops import loops_of
from pijit.core.graph.ops import EFFECTS, VIEWS
from pijit.core.graph.types import Array, Scalar
from pijit.core.graph.verify import dominators

COMPARISONS = {getattr(np, name): name
               for name in ("less", "less_equal", "greater", "greater_equal", "equal", "not_equal")}
_ARITHMETIC = {np.add: "add", np.subtract: "sub", np.multiply: "mul", np.negative: "neg",
               np.absolute: "abs"}
PREDICATES = {np.isnan: "isnan", np.isinf: "isinf", np.isfinite: "isfinite"}
_BITS = {np.bitwise_and: "and", np.bitwise_or: "or", np.bitwise_xor: "xor", np.invert: "invert"}

FLOAT_LOOPS = dict(_ARITHMETIC)
FLOAT_LOOPS.update({np.true_divide: "truediv", np.square: "square", np.sqrt: "sqrt",
                    np.reciprocal: "reciprocal", np.sign: "sign"})
FLOAT_LOOPS.update(COMPARISONS)
FLOAT_LOOPS.update(PREDICATES)
INTEGER_LOOPS = dict(_ARITHMETIC)
INTEGER_LOOPS.update(_BITS)
INTEGER_LOOPS.update({np.square: "square", np.minimum: "minimum", np.maximum: "maximum", CLIP: "clip"})
INTEGER_LOOPS.update(COMPARISONS)
BOOLEAN_LOOPS = dict(_BITS)
BOOLEAN_LOOPS.update({np.logical_and: "and", np.logical_or: "or", np.logical_xor: "xor",
                      np.logical_not: "invert"})
BOOLEAN_LOOPS.update(COMPARISONS)

_LOOPS = {"f": FLOAT_LOOPS, "i": INTEGER_LOOPS, "u": INTEGER_LOOPS, "b": BOOLEAN_LOOPS}
"""Ufuncs whose every element is one exact machine operation: the result has NumPy's bits in any loop."""

MAKING = ("ufunc", "where", "reduce", "gather", "invoke")
"""What makes a new array, or a number, of all its operands; other operations write to the first one."""

COUNTS = {"sum": "sum", "ndarray.sum": "sum", "count_nonzero": "sum", "any": "any", "ndarray.any": "any", "all": "all",
          "ndarray.all": "all"}
"""Library functions that the number of true elements of an array of bools tells."""

STEPLESS = ("assign", "reduce", "invoke", "roll", "view")
"""Operations that end a group, or only say where elements are, and compute none."""

PLACING = ("roll", "view")
"""Those that say where elements are."""

_RAISING = frozenset(("add", "sub", "mul", "truediv", "square", "sqrt", "reciprocal"))
_PASSING = frozenset(("add", "sub", "mul", "square", "sqrt", "neg", "abs"))
"""Operations whose result is infinite or NaN where an operand is."""
TOUCHY = frozenset(("truediv", "sqrt", "reciprocal"))
"""Operations that may raise a flag for a last operand that is neither small nor large."""
_TELLING = frozenset(COMPARISONS).union(PREDICATES)
_EXTREMES = {np.minimum: "minimum", np.maximum: "maximum", CLIP: "clip"}
_COSTLY = frozenset(("truediv", "sqrt", "reciprocal"))
_SLOW = frozenset([np.sign])
"""Ufuncs whose loops NumPy does not vectorise."""
_INTEGER_CODES = "bBhHiIlLqQ"
MEMORY_CODES = "?bBhHiIlLqQfd"


def scalar_operation(op: Op) -> str:
    """The name of the scalar operation that an elementwise ufunc does to each element, or ''."""
    if op.name in ("where", "gather"):
        return op.name
    if op.name in ("put_mask", "pick"):
        return ("where" if op.name == "put_mask" else "picked") if "types" in op.attrs else ""
    if op.name not in ("ufunc", "ufunc_into") or op.exit is None:
        return ""
    kind = op.args[0].type if op.name == "ufunc_into" else op.result.type
    operands, _, result = op.attrs["types"].partition("->")
    if not isinstance(kind, Array) or kind.ndim == 0 or len(set(operands)) != 1:
        return ""
    if operands[0] not in MEMORY_CODES:
        return ""
    loops = _LOOPS[np.dtype(operands[0]).kind]
    name = loops.get(op.attrs["ufunc"]) or (_EXTREMES.get(op.attrs["ufunc"], "") if op.name == "ufunc" else "")
    return name if result == ("?" if op.attrs["ufunc"] in _TELLING else operands[0]) else ""


def is_exact(op: Op) -> bool:
    """Whether each element's bits are the same however the ufunc's loop is called."""
    operands, _, result = op.attrs["types"].partition("->")
    kinds = {np.dtype(code).kind for code in operands + result}
    return not kinds & {"f", "c"} or len(set(operands)) == 1 and op.attrs["ufunc"] in _LOOPS.get(
        np.dtype(operands[0]).kind, {})


def sums_rows(op: Op) -> bool:
    """Whether an operation adds up the last axis of what may be computed element by element."""
    if op.name != "reduce" or op.exit is None or op.attrs["ufunc"] is not np.add:
        return False
    kind, axis = op.args[0].type, op.attrs["axis"]
    rows = kind.ndim == 1 if axis is None else axis == kind.ndim - 1
    return rows and kind.layout == "C" and kind.dtype.char == op.attrs["types"][-1] and kind.dtype.kind in "iuf"


def counts_true(op: Op) -> bool:
    """Whether a library function is called that the number of true elements tells."""
    kind = op.args[0].type if op.name == "invoke" and op.attrs["function"] in COUNTS else None
    return isinstance(kind, Array) and kind.dtype.kind == "b" and op.exit is not None and len(op.args) == 1


def puts_number(op: Op) -> bool:
    """Whether one number is stored under a mask."""
    return op.name == "put_mask" and isinstance(op.args[2].type, Scalar)


def converts(op: Op) -> bool:
    """Whether ``x.astype(dtype)`` of floats in C order gives integers."""
    if op.name != "invoke" or op.attrs["function"] != "ndarray.astype" or op.attrs["keywords"] or len(op.args) != 2:
        return False
    kind, result = op.args[0].type, op.result.type  # type: ignore[union-attr]
    return (op.exit is not None and isinstance(kind, Array) and isinstance(result, Array) and kind.ndim > 0
            and kind.layout == "C" and kind.dtype.char in "fd" and result.dtype.char in _INTEGER_CODES)


def raises_flags(op: Op) -> bool:
    """Whether an operation of a group can raise a floating-point flag that NumPy reports."""
    if op.name == "reduce":
        return op.args[0].type.dtype.kind == "f"
    if op.name in ("assign", "gather", "invoke") + PLACING:
        return False
    return op.attrs["types"][0] in "fd" and scalar_operation(op) in _RAISING


def may_leave(op: Op) -> bool:
    """Whether a nest finds out at its end that an operation of its group is to be repeated in bytecode."""
    return op.name == "gather" or raises_flags(op)


def picks_floats(op: Op) -> bool:
    """Whether an operation is the minimum or maximum of floats, or keeps floats between two others."""
    return op.name == "ufunc" and op.attrs["ufunc"] in _EXTREMES and op.attrs["types"][0] in "fd"


def watched(group: Collection[Op]) -> List[Op]:
    """The operations of a group whose results its nest must look at; none where flags tell."""
    makers = {op.result: op for op in group}
    users: Dict[Value, List[Tuple[Op, int]]] = {}
    for op in group:
        for number, value in enumerate(operands(op) if op.name not in STEPLESS else ()):
            users.setdefault(value, []).append((op, number))
    raising = [op for op in group if op.name != "reduce" and raises_flags(op)]
    mixed = bool(raising) and any(op.name == "where" or any(
        value in makers and _looks_at_floats(op, makers[value]) for value in op.args) for op in group)
    if not mixed and not any(picks_floats(op) or converts(op) for op in group):
        return []

    def passes_on(op: Op) -> bool:
        return op.result in users and all(
            scalar_operation(user) in _PASSING or scalar_operation(user) == "truediv" and number == 0
            for user, number in users[op.result])

    return [op for op in group if picks_floats(op) or converts(op) or _is_arithmetic(op) and not passes_on(op)]


def _is_arithmetic(op: Op) -> bool:
    """Whether an operation computes floats from floats: an infinite or odd result is an error, or was an operand."""
    return op.name == "ufunc" and op.attrs["types"][0] in "fd" and scalar_operation(op) in _RAISING | _PASSING


def operands(op: Op) -> List[Value]:
    """What an operation of a group computes with: all arguments but the destination, or what elements are found in."""
    if op.name in ("put_mask", "pick"):
        return [op.args[1], *op.args[2:], op.args[0]]
    if op.name in PLACING:
        return op.args[:1] if op.name == "view" else []
    return list(op.args) if op.name in MAKING and op.name != "gather" else list(op.args[1:])


def roots(graph: Graph) -> Dict[Value, Value]:
    """The array that each view looks into."""
    found: Dict[Value, Value] = {}
    for block in graph.blocks:
        for op in block.ops:
            if op.name in VIEWS:
                found[op.result] = found.get(op.args[0], op.args[0])
    return found


def looks_at_elements(op: Op) -> bool:
    """Whether an operation may be part of a group."""
    stores = op.name == "assign" and op.exit is not None
    computes = bool(scalar_operation(op)) and (op.name not in ("pick", "put_mask") or puts_number(op))
    return stores or computes or sums_rows(op) or counts_true(op) or converts(op)


def find_groups(graph: Graph, fast: bool = False) -> Dict[Op, List[Op]]:
    """The groups, in order of their operations, by last operation.

    A single operation is a group only if it writes to an array that was there before, NumPy would do it row by row,
    or slowly, or it is a sum of rows, or arithmetic in a loop, where arrays may be small; with ``fast`` also another
    sum, which then need not be NumPy's.
    """
    users: Dict[Value, List[Op]] = {}
    leaving: Dict[Value, List[Op]] = {}
    escaping: Set[Value] = set()
    for block in graph.blocks:
        for op in block.ops:
            for value in op.args:
                users.setdefault(value, []).append(op)
            for value in op.exit.values() if op.exit is not None else ():
                leaving.setdefault(value, []).append(op)
        escaping.update(block.terminator.values())
        for jump in block.terminator.targets():
            escaping.update(jump.args)
    groups: Dict[Op, List[Op]] = {}
    looping: Set[Block] = set().union(*[loop.body for loop in loops_of(graph, dominators(graph))])
    for block in graph.blocks:
        groups.update(_groups_in(block, users, leaving, escaping, fast, block in looping))
    return groups


def _groups_in(block: Block, users: Dict[Value, List[Op]], leaving: Dict[Value, List[Op]],
               escaping: Set[Value], fast: bool, loops: bool) -> Dict[Op, List[Op]]:
    position, effects = {op: number for number, op in enumerate(block.ops)}, count_effects(block)
    makers = {op.result: op for op in block.ops if op.name in ("ufunc", "where", "gather") and scalar_operation(op)}
    makers.update(_rolled(block, users))
    groups: Dict[Op, List[Op]] = {}
    taken: Set[Op] = set()
    for op in reversed(block.ops):
        if op.name in ("pick", "put_mask") and not puts_number(op):
            group = _under_mask(op, block, position, effects, users, leaving, escaping)
            if group and not taken.intersection(group):
                groups[op] = group
                taken.update(group)
            continue
        if op in taken or not looks_at_elements(op):
            continue
        excluded: Set[Op] = set()
        while True:
            group = _collect(op, makers, users, escaping, excluded | taken)
            late = {member for member in group if effect_between(effects, position[member], position[op])}
            outside = {member for member in group if member is not op
                       and any(user not in group for user in leaving.get(member.result, ()))}
            torn = {member for member in group if member.name == "view" and makers[member.args[0]] not in group}
            if not late and not outside and not torn:
                break
            excluded |= late | outside | torn
        if len(group) > 1 or op.name in ("ufunc_into", "where", "gather") or converts(op) \
                or op.name == "reduce" and (fast or op.args[0].type.ndim > 1) \
                or op.name == "ufunc" and (_by_rows(op) or loops and raises_flags(op) or op.attrs["ufunc"] in _SLOW):
            groups[op] = sorted(group, key=position.__getitem__)
            taken |= group
    return groups


def _rolled(block: Block, users: Dict[Value, List[Op]]) -> Dict[Value, Op]:
    """What np.roll makes in a block, and the views of all of that which nobody has without: they need not be made where only
    elements are wanted."""
    found = {op.result: op for op in block.ops if op.name == "roll" and op.exit is not None}
    for op in block.ops:
        if op.name == "view" and op.args[0] in found and set(op.attrs["index"]) == {"e"} and users[op.args[0]] == [op]:
            found[op.result] = op
    return found


def _under_mask(op: Op, block: Block, position: Dict[Op, int], effects: List[int], users: Dict[Value, List[Op]],
                leaving: Dict[Value, List[Op]], escaping: Set[Value]) -> List[Op]:
    """The operations of ``a[mask] = f(a[mask], b[mask])``, if nobody else needs what they compute; else none."""
    if op.name != "put_mask" or not scalar_operation(op) or op.exit is None:
        return []
    makers, group, todo = {one.result: one for one in block.ops}, {op}, [op.args[2]]
    while todo:
        maker = makers.get(todo.pop())
        if maker in group:
            continue
        if maker is None or maker.exit is None or maker.name not in ("ufunc", "pick") or not scalar_operation(maker):
            return []
        group.add(maker)
        if maker.name == "ufunc":
            todo += [value for value in maker.args if isinstance(value.type, Array)]
        elif maker.args[1] is not op.args[1]:
            return []
    inner = [one.result for one in group if one is not op]
    if any(value in escaping or not group.issuperset(users[value] + leaving.get(value, [])) for value in inner) \
            or effect_between(effects, min(position[one] for one in group), position[op]) or watched(group):
        return []
    return sorted(group, key=position.__getitem__)


def count_effects(block: Block) -> List[int]:
    """How many operations in front of each position of a block have an effect."""
    return [0, *itertools.accumulate(op.name in EFFECTS or op.attrs.get("function") in CLOCKS for op in block.ops)]


def effect_between(effects: List[int], first: int, last: int) -> bool:
    """Whether an operation from one position on and in front of another has an effect."""
    return effects[first] < effects[last]


def _collect(op: Op, makers: Dict[Value, Op], users: Dict[Value, List[Op]], escaping: Set[Value],
             excluded: Set[Op]) -> Set[Op]:
    """``op`` and the operations that only the group uses.

    Its nest may find out at its end that they are to be done one by one, unless it writes, or picks elements.
    """
    group, members, watchable, seen = {op}, [op], op.name in ("ufunc", "where", "invoke"), 0
    while seen < len(members):  # again: what a smaller group could not take in, this one may
        seen = len(members)
        for user in members:  # it grows
            for value in operands(user):
                maker = makers.get(value)
                if maker is None or maker in group or maker in excluded or value in escaping \
                        or _is_repeated(maker, op) or op.attrs.get("reports") and _tells_of_floats(maker) \
                        or maker.name in PLACING and op.name != "ufunc":
                    continue
                can_be_watched = watchable and maker.name not in ("gather",) + PLACING
                if all(one in group and not _writes(one, value) for one in users[value]) and (
                        can_be_watched or not watched(group | {maker})):
                    group.add(maker)
                    members.append(maker)
                    watchable = can_be_watched
    return group


def _is_repeated(maker: Op, root: Op) -> bool:
    """Whether a group that ends with ``root`` would compute elements of few axes for each of the others, and slowly."""
    whole = (root.result if root.name in ("ufunc", "where", "gather") else root.args[0]).type
    return scalar_operation(maker) in _COSTLY and maker.result.type.ndim < whole.ndim  # type: ignore[union-attr]


def _writes(user: Op, value: Value) -> bool:
    """Whether ``user`` needs the memory of an array: writes to it, or looks for elements in it."""
    return (user.name in EFFECTS or user.name in ("gather", "roll")) and user.args[0] is value


def _looks_at_floats(user: Op, maker: Op) -> bool:
    """Whether ``user`` compares what ``maker`` computed in floating point, or asks what kind of number it is."""
    return _tells(user) and maker.name not in ("gather",) + PLACING and maker.attrs["types"][0] in "fd"


def _tells_of_floats(op: Op) -> bool:
    """Whether machine code may raise a flag for a NaN that an operation looks at, where NumPy's ufunc raises none."""
    return _tells(op) and op.attrs["types"][0] in "fd"


def _tells(op: Op) -> bool:
    return op.attrs.get("ufunc") in _TELLING or op.attrs.get("ufunc") is np.sign


def _by_rows(op: Op) -> bool:
    """Whether NumPy's inner loop would run once per row, however short, or along elements that are apart: ranks
    differ, or an array is a part of another."""
    kinds = [value.type for value in operands(op) if isinstance(value.type, Array)]
    return len({kind.ndim for kind in kinds}) > 1 or any(kind.ndim > 0 and kind.layout == "A" for kind in kinds)
