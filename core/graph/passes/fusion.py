"""Fusion: groups of elementwise operations that one loop nest computes without temporaries.

A group is a set of ``ufunc`` operations of one block with one result; its inner results have no use outside. It may
end in ``assign`` or ``ufunc_into``: then the nest computes into an existing array. Passes, plans and emitters ask here
which operations form groups.

**Numbers under masks** (``x[x < low] = low``) are stored by a nest, too: it selects the number or the old element.

**Elements under masks** (``x[m] = 2.0 - x[m]``) are computed in place, without an array of the selected elements.
Elements that are not selected count as 1, so that they raise no flag. The mask is an operand, so LLVM knows nothing
about its computation. The nest skips blocks of the mask in which no element is selected. The kernel does these
operations one by one if few elements are selected and the nest would need a buffer or an exponent scan.

**Leaving.** A group leaves by its first operation's exit. No operation between the first and the last one has an
effect, so bytecode may repeat all of them. Therefore exits of the group's own operations may name an inner result:
they are never taken. No other exit may name it.

**Writing in place.** NumPy computes the value of a statement, warns or raises for floating-point flags, and only then
writes. A nest finds out about flags at its end. So a group that can raise a flag computes into a buffer, which is
copied if no flag was raised. If it had written in place, repeating the statement would read what it wrote. If the
warning is an error, the program would see a changed array that NumPy leaves unchanged. The operands' exponents tell
whether a group can raise a flag (kernel/emit/exponent_bounds.py).

Sometimes only the last operation can raise a flag, and it is an operator that writes in place. Then NumPy itself
reports flags after it has written. So does bytecode, which the operation ``raised`` leads to
(bytecode/linker/deferred_warning.py). Such a group has no comparisons of floats: machine code calls a NaN there
invalid, and the flag would look like the operator's. A group that cannot raise another flag does not leave once its
nest runs. It writes in place unless destination and operands may overlap, because NumPy reads all operands before it
writes. An operand that is the destination itself is read at each index before that index is written.

**Sums along the last axis** end a group, too: the elements of a row are added as they are computed. If NumPy adds them
pairwise, they are computed into a few cache lines at a time and added in NumPy's order
(kernel/llvm/nest/pairwise_sum.py). The operand must be certain to be in C order, or NumPy would use another order.

**Counts of true elements** (``np.sum(x > y)``, ``count_nonzero``, ``any``, ``all``) end a group, too, over all axes.
The argument of NumPy's function is not made. If a watched result was odd, the kernel calls the function.

**Floats that become integers** (``x.astype(np.uint8)``) end a group. If a float is NaN or does not fit, the result is
odd, and the kernel calls NumPy's function.

**Gathered elements** (``gather``) are loaded where they are needed, also at an index that is computed there. A nest
finds out at its end that an index was out of range, like a flag. The array that is gathered from is no operand of the
nest. It must exist before the group.

**Rolled arrays** (``np.roll(u, 1, axis=0)``) are not made if only elements are needed. The nest goes through parts of
the axis in which the elements are contiguous in the array that is rolled.

**Watched groups.** LLVM may skip values that ``where`` does not select. It may also decide a comparison of a computed
number without the arithmetic, and so drop the flag. So if these meet arithmetic, flags are no evidence, and the nest
watches results instead. An error of arithmetic gives infinity or NaN, except for underflows. NumPy ignores underflows
by default; the kernel asks whether it does. ``minimum``, ``maximum`` and ``clip`` of floats are watched as well.
NumPy's version and the element's position decide which of 0.0 and -0.0, and which of two NaNs, its loops give. If a
nest has seen such a number, the operations are done again one by one. Only groups that make a new array are watched,
and only without gathered elements.
"""

from __future__ import annotations

import itertools
from typing import Collection, Dict, List, Set, Tuple, cast

import numpy as np

from pijit.core.graph.element_ops import DIVIDING, PASSING, RAISING
from pijit.core.graph.ir import Block, Graph, Op, Value
from pijit.core.graph.library import CLIP, CLOCKS
from pijit.core.graph.loops import loops_of
from pijit.core.graph.ops import (
    APPLIES_UFUNC,
    CHOOSES,
    COMPUTES_NO_ELEMENTS,
    EFFECTS,
    ELEMENTWISE,
    FINDS_ELEMENTS,
    PLACES_ELEMENTS,
    RAISES_FLAGS,
    READS_ELSEWHERE,
    UNDER_MASK,
    VIEWS,
)
from pijit.core.graph.types import Array, Scalar
from pijit.core.graph.verify import dominators

COMPARISONS: Dict[np.ufunc, str] = {
    getattr(np, name): name
    for name in ("less", "less_equal", "greater", "greater_equal", "equal", "not_equal")}
_ARITHMETIC: Dict[np.ufunc, str] = {
    np.add: "add", np.subtract: "sub", np.multiply: "mul", np.negative: "neg", np.absolute: "abs"}
PREDICATES: Dict[np.ufunc, str] = {np.isnan: "isnan", np.isinf: "isinf", np.isfinite: "isfinite"}
_BITS: Dict[np.ufunc, str] = {
    np.bitwise_and: "and", np.bitwise_or: "or", np.bitwise_xor: "xor", np.invert: "invert"}

FLOAT_LOOPS = dict(_ARITHMETIC)
FLOAT_LOOPS.update({np.true_divide: "truediv", np.square: "square", np.sqrt: "sqrt",
                    np.reciprocal: "reciprocal", np.sign: "sign"})
FLOAT_LOOPS.update(COMPARISONS)
FLOAT_LOOPS.update(PREDICATES)
HALF_LOOPS = dict(FLOAT_LOOPS)
HALF_LOOPS.update({np.minimum: "minimum", np.maximum: "maximum", CLIP: "clip"})
INTEGER_LOOPS = dict(_ARITHMETIC)
INTEGER_LOOPS.update(_BITS)
INTEGER_LOOPS.update({np.square: "square", np.minimum: "minimum", np.maximum: "maximum", CLIP: "clip"})
INTEGER_LOOPS.update(COMPARISONS)
BOOLEAN_LOOPS = dict(_BITS)
BOOLEAN_LOOPS.update({np.logical_and: "and", np.logical_or: "or", np.logical_xor: "xor",
                      np.logical_not: "invert"})
BOOLEAN_LOOPS.update(COMPARISONS)

_LOOPS = {"f": FLOAT_LOOPS, "i": INTEGER_LOOPS, "u": INTEGER_LOOPS, "b": BOOLEAN_LOOPS}


def _loops(code: str) -> Dict[np.ufunc, str]:
    """Ufuncs whose every element is one exact machine operation: the result has NumPy's bits in any loop."""
    return HALF_LOOPS if code == "e" else _LOOPS.get(np.dtype(code).kind, {})


COUNTS = {"sum": "sum", "ndarray.sum": "sum", "count_nonzero": "sum", "any": "any", "ndarray.any": "any", "all": "all",
          "ndarray.all": "all"}
"""Library functions whose result follows from the number of true elements of an array of bools."""

_STORING = EFFECTS & (APPLIES_UFUNC | COMPUTES_NO_ELEMENTS)
"""Operations that store whole arrays."""
_COMPUTING = ELEMENTWISE | FINDS_ELEMENTS
"""Operations that compute a new array in a loop nest."""
_MOVING = PLACES_ELEMENTS | FINDS_ELEMENTS
"""Operations whose results are elements of the first operand."""
_TELLING = frozenset(COMPARISONS).union(PREDICATES)
_EXTREMES = {np.minimum: "minimum", np.maximum: "maximum", CLIP: "clip"}
_SLOW = frozenset([np.sign])
"""Ufuncs whose loops NumPy does not vectorise. For float16 it vectorises none of those here."""
EVERY_FLAG = 15
"""All floating-point flags, as NumPy's bits."""
_INTEGER_CODES = "bBhHiIlLqQ"
_SUMMED = _INTEGER_CODES + "fd"
MEMORY_CODES = "?bBhHiIlLqQefd"
FLOAT_CODES = "efd"


def scalar_operation(op: Op) -> str:
    """The name of the scalar operation that an elementwise ufunc applies to each element, or ''."""
    if op.name in CHOOSES:
        return op.name
    if op.name in UNDER_MASK:
        return ("where" if op.name == "put_mask" else "picked") if "types" in op.attrs else ""
    if op.name not in APPLIES_UFUNC or op.exit is None:
        return ""
    kind = op.args[0].type if op.name == "ufunc_into" else cast(Value, op.result).type
    operands, _, result = op.attrs["types"].partition("->")
    if not isinstance(kind, Array) or kind.ndim == 0 or len(set(operands)) != 1:
        return ""
    if operands[0] not in MEMORY_CODES:
        return ""
    picks = op.name == "ufunc" and operands[0] != "e"
    name = _loops(operands[0]).get(op.attrs["ufunc"]) or (_EXTREMES.get(op.attrs["ufunc"], "") if picks else "")
    return name if result == ("?" if op.attrs["ufunc"] in _TELLING else operands[0]) else ""


def is_exact(op: Op) -> bool:
    """Whether each element has the same bits in any call of the ufunc's loop."""
    operands, _, result = op.attrs["types"].partition("->")
    kinds = {np.dtype(code).kind for code in operands + result}
    return not kinds & {"f", "c"} or len(set(operands)) == 1 and op.attrs["ufunc"] in _loops(operands[0])


def sums_rows(op: Op) -> bool:
    """Whether an operation adds up the last axis of an array that may be computed element by element."""
    if op.name != "reduce" or op.exit is None or op.attrs["ufunc"] is not np.add:
        return False
    kind, axis = cast(Array, op.args[0].type), op.attrs["axis"]
    rows = kind.ndim == 1 if axis is None else axis == kind.ndim - 1
    return rows and kind.layout == "C" and kind.dtype.char == op.attrs["types"][-1] in _SUMMED


def counts_true(op: Op) -> bool:
    """Whether an operation calls a library function whose result follows from the number of true elements."""
    kind = op.args[0].type if op.name == "invoke" and op.attrs["function"] in COUNTS else None
    return isinstance(kind, Array) and kind.dtype.kind == "b" and op.exit is not None and len(op.args) == 1


def puts_number(op: Op) -> bool:
    """Whether an operation stores one number under a mask."""
    return op.name == "put_mask" and isinstance(op.args[2].type, Scalar)


def converts(op: Op) -> bool:
    """Whether an operation is ``x.astype(dtype)`` from floats in C order to integers."""
    if op.name != "invoke" or op.attrs["function"] != "ndarray.astype" or op.attrs["keywords"] or len(op.args) != 2:
        return False
    kind, result = op.args[0].type, op.result.type  # type: ignore[union-attr]
    return (op.exit is not None and isinstance(kind, Array) and isinstance(result, Array) and kind.ndim > 0
            and kind.layout == "C" and kind.dtype.char in FLOAT_CODES and result.dtype.char in _INTEGER_CODES)


def converts_half(op: Op) -> bool:
    """Whether an operation stores numbers of another type as float16, or float16 as another type."""
    if op.name not in _STORING:
        return False
    types: str = op.attrs["types"] if op.name in APPLIES_UFUNC else op.args[1].type.dtype.char  # type: ignore[union-attr]
    return (types[-1] == "e") != (cast(Array, op.args[0].type).dtype.char == "e")


def rounds(op: Op) -> bool:
    """Whether an operation stores numbers of another type as float16. That may raise a flag."""
    return converts_half(op) and cast(Array, op.args[0].type).dtype.char == "e"


def can_report(op: Op) -> bool:
    """Whether NumPy may report floating-point flags of an operation."""
    return op.name in RAISES_FLAGS or rounds(op)


def raises_flags(op: Op) -> bool:
    """Whether an operation of a group can raise a floating-point flag that NumPy reports."""
    return op.attrs.get("ignored") != EVERY_FLAG and _sets_flags(op)


def _sets_flags(op: Op) -> bool:
    """Whether an operation of a group can set a floating-point flag, reported or not."""
    if op.name == "reduce":
        return cast(Array, op.args[0].type).dtype.kind == "f"
    if rounds(op):
        return True
    if op.name in FINDS_ELEMENTS or op.name in COMPUTES_NO_ELEMENTS:
        return False
    return op.attrs["types"][0] in FLOAT_CODES and scalar_operation(op) in RAISING


def picks_floats(op: Op) -> bool:
    """Whether an operation is a minimum, maximum or clip of floats."""
    return op.name == "ufunc" and op.attrs["ufunc"] in _EXTREMES and op.attrs["types"][0] in "fd"


def watched(group: Collection[Op]) -> List[Op]:
    """The operations of a group whose results its nest must watch; none if flags are reliable."""
    makers = {op.result: op for op in group}
    users: Dict[Value, List[Tuple[Op, int]]] = {}
    for op in group:
        for number, value in enumerate(operands(op) if op.name not in COMPUTES_NO_ELEMENTS else ()):
            users.setdefault(value, []).append((op, number))
    raising = [op for op in group if op.name != "reduce" and raises_flags(op)]
    mixed = bool(raising) and any(op.name == "where" or any(
        value in makers and _looks_at_floats(op, makers[value]) for value in op.args) for op in group)
    if not mixed and not any(picks_floats(op) or converts(op) for op in group):
        return []

    def passes_on(op: Op) -> bool:
        return op.result in users and all(
            scalar_operation(user) in PASSING or scalar_operation(user) == "truediv" and number == 0
            for user, number in users[op.result])

    return [op for op in group if picks_floats(op) or converts(op) or _is_arithmetic(op) and not passes_on(op)]


def _is_arithmetic(op: Op) -> bool:
    """Whether an operation computes floats from floats: then an infinite or NaN result is an error, or comes from an
    operand."""
    return op.name == "ufunc" and op.attrs["types"][0] in FLOAT_CODES and scalar_operation(op) in RAISING | PASSING


def operands(op: Op) -> List[Value]:
    """The operands of an operation in a group: all arguments except the destination and a gathered array."""
    if op.name in UNDER_MASK:
        return [op.args[1], *op.args[2:], op.args[0]]
    if op.name in PLACES_ELEMENTS:
        return list(op.args[:1]) if op.name == "view" else []
    return list(op.args[1:] if op.name in FINDS_ELEMENTS or op.name in EFFECTS else op.args)


def roots(graph: Graph) -> Dict[Value, Value]:
    """The array that each view is a view of."""
    found: Dict[Value, Value] = {}
    for block in graph.blocks:
        for op in block.ops:
            if op.name in VIEWS:
                found[cast(Value, op.result)] = found.get(op.args[0], op.args[0])
    return found


def looks_at_elements(op: Op) -> bool:
    """Whether an operation may be part of a group."""
    stores = op.name == "assign" and op.exit is not None
    computes = bool(scalar_operation(op)) and (op.name not in UNDER_MASK or puts_number(op))
    return stores or computes or sums_rows(op) or counts_true(op) or converts(op)


def find_groups(graph: Graph, fast: bool = False) -> Dict[Op, List[Op]]:
    """The groups, in order of their operations, by last operation.

    A single operation is a group in these cases: it writes to an existing array; NumPy would do it row by row, or
    slowly; it is a sum of rows; or it is arithmetic in a loop, where arrays may be small. With ``fast`` any sum is a
    group, because it need not have NumPy's bits.
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
    makers = {cast(Value, op.result): op for op in block.ops
              if op.name in _COMPUTING and scalar_operation(op)}
    makers.update(_rolled(block, users))
    groups: Dict[Op, List[Op]] = {}
    taken: Set[Op] = set()
    for op in reversed(block.ops):
        if op.name in UNDER_MASK and not puts_number(op):
            masked = _under_mask(op, block, position, effects, users, leaving, escaping)
            if masked and not taken.intersection(masked):
                groups[op] = masked
                taken.update(masked)
            continue
        if op in taken or not looks_at_elements(op):
            continue
        excluded: Set[Op] = set()
        while True:
            group = _collect(op, makers, users, escaping, excluded | taken)
            late = {member for member in group if effect_between(effects, position[member], position[op])}
            outside = {member for member in group if member is not op
                       and any(user not in group for user in leaving.get(cast(Value, member.result), ()))}
            torn = {member for member in group if member.name == "view" and makers[member.args[0]] not in group}
            if not late and not outside and not torn:
                break
            excluded |= late | outside | torn
        if len(group) > 1 or op.name == "ufunc_into" or op.name in CHOOSES or converts(op) or converts_half(op) \
                or op.name == "reduce" and (fast or cast(Array, op.args[0].type).ndim > 1) \
                or op.name == "ufunc" and (_by_rows(op) or loops and _sets_flags(op) or op.attrs["ufunc"] in _SLOW
                                       or op.attrs["types"][0] == "e"):
            groups[op] = sorted(group, key=position.__getitem__)
            taken |= group
    return groups


def _rolled(block: Block, users: Dict[Value, List[Op]]) -> Dict[Value, Op]:
    """The results of np.roll in a block, and whole views of them if nothing else uses the roll.

    They need not be made if only elements are needed.
    """
    found = {cast(Value, op.result): op for op in block.ops if op.name == "roll" and op.exit is not None}
    for op in block.ops:
        if op.name == "view" and op.args[0] in found and set(op.attrs["index"]) == {"e"} and users[op.args[0]] == [op]:
            found[cast(Value, op.result)] = op
    return found


def _under_mask(op: Op, block: Block, position: Dict[Op, int], effects: List[int], users: Dict[Value, List[Op]],
                leaving: Dict[Value, List[Op]], escaping: Set[Value]) -> List[Op]:
    """The operations of ``a[mask] = f(a[mask], b[mask])``, if no other operation needs their results; else none."""
    if op.name != "put_mask" or not scalar_operation(op) or op.exit is None:
        return []
    makers, group, todo = {one.result: one for one in block.ops}, {op}, [op.args[2]]
    while todo:
        maker = makers.get(todo.pop())
        if maker in group:
            continue
        if maker is None or maker.exit is None or not scalar_operation(maker):
            return []
        group.add(maker)
        if maker.name == "ufunc":
            todo += [value for value in maker.args if isinstance(value.type, Array)]
        elif maker.name != "pick" or maker.args[1] is not op.args[1]:
            return []
    inner = [cast(Value, one.result) for one in group if one is not op]
    if any(value in escaping or not group.issuperset(users[value] + leaving.get(value, [])) for value in inner) \
            or effect_between(effects, min(position[one] for one in group), position[op]) or watched(group):
        return []
    return sorted(group, key=position.__getitem__)


def count_effects(block: Block) -> List[int]:
    """For each position of a block, the number of earlier operations that have an effect."""
    return [0, *itertools.accumulate(op.name in EFFECTS or op.attrs.get("function") in CLOCKS for op in block.ops)]


def effect_between(effects: List[int], first: int, last: int) -> bool:
    """Whether an operation from position ``first`` up to, but not including, ``last`` has an effect."""
    return effects[first] < effects[last]


def _collect(op: Op, makers: Dict[Value, Op], users: Dict[Value, List[Op]], escaping: Set[Value],
             excluded: Set[Op]) -> Set[Op]:
    """``op`` and the operations that only the group uses.

    The nest may find out at its end that the operations must be done one by one, unless it writes or gathers elements.
    """
    group, members, watchable, size = {op}, [op], op.name == "invoke" or op.name in ELEMENTWISE, 0
    while size < len(members):  # repeat: a larger group may accept an operation that a smaller one could not
        size = len(members)
        for user in members:  # the list grows meanwhile
            for value in operands(user):
                maker = makers.get(value)
                if maker is None or maker in group or maker in excluded or value in escaping \
                        or _is_repeated(maker, op) or op.attrs.get("reports") and _tells_of_floats(maker) \
                        or maker.name in PLACES_ELEMENTS and op.name != "ufunc" or not _ignores_same(maker, members):
                    continue
                can_be_watched = watchable and maker.name not in _MOVING
                if all(one in group and not _writes(one, value) for one in users[value]) and (
                        can_be_watched or not watched(group | {maker})):
                    group.add(maker)
                    members.append(maker)
                    watchable = can_be_watched
    return group


def _ignores_same(maker: Op, members: List[Op]) -> bool:
    """Whether an operation ignores the same floating-point flags as the members of a group, as far as they set any."""
    return not _sets_flags(maker) or all(
        op.attrs.get("ignored") == maker.attrs.get("ignored") for op in members if _sets_flags(op))


def _is_repeated(maker: Op, root: Op) -> bool:
    """Whether a group that ends with ``root`` would repeat a costly computation along further axes."""
    whole = (cast(Value, root.result) if root.name in _COMPUTING else root.args[0]).type
    return scalar_operation(maker) in DIVIDING and maker.result.type.ndim < whole.ndim  # type: ignore[union-attr]


def _writes(user: Op, value: Value) -> bool:
    """Whether ``user`` needs an array's memory: it writes to it, or finds elements in it."""
    return (user.name in EFFECTS or user.name in READS_ELSEWHERE) and user.args[0] is value


def _looks_at_floats(user: Op, maker: Op) -> bool:
    """Whether ``user`` compares a float that ``maker`` computed, or tests what kind of number it is."""
    return _tells(user) and maker.name not in _MOVING and maker.attrs["types"][0] in FLOAT_CODES


def _tells_of_floats(op: Op) -> bool:
    """Whether machine code may raise a flag for a NaN that an operation tests, although NumPy's ufunc raises none."""
    return _tells(op) and op.attrs["types"][0] in "fd"


def _tells(op: Op) -> bool:
    return op.attrs.get("ufunc") in _TELLING or op.attrs.get("ufunc") is np.sign


def _by_rows(op: Op) -> bool:
    """Whether NumPy's inner loop would run once per short row, or along elements that are apart.

    That is so if the operands' numbers of axes differ, or an array is part of another one.
    """
    kinds = [value.type for value in operands(op) if isinstance(value.type, Array)]
    return len({kind.ndim for kind in kinds}) > 1 or any(kind.ndim > 0 and kind.layout == "A" for kind in kinds)
