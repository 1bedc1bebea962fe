"""Loop nests of fused groups: which groups a nest computes, and the steps that it has.

emit/fused_nest.py and emit/stores/inplace_store.py write the nests; llvm/nest/nest.py builds them. The plans and the
emitter ask here. It must not write source.
"""

from __future__ import annotations

from typing import Any, Collection, Dict, Iterator, List, Mapping, Sequence, Tuple

import numpy as np

from pijit.core.graph.element_ops import DIVIDING, UNDERFLOWING
from pijit.core.graph.ir import Op, Value
from pijit.core.graph.ops import COMPUTES_NO_ELEMENTS, EFFECTS, NEVER
from pijit.core.graph.passes.fusion import (
    EVERY_FLAG,
    can_report,
    converts,
    operands,
    picks_floats,
    raises_flags,
    rounds,
    scalar_operation,
    watched,
)
from pijit.core.graph.types import Array, Scalar
from pijit.core.kernel.errors import CompileError
from pijit.core.kernel.llvm.nest.description import ANY, CONVERT, FAR, GATHER, STEPS, UNIT, ZERO, Step, likely_kind
from pijit.core.kernel.llvm.nest.elements import can_convert
from pijit.core.kernel.options import CompileOptions
from pijit.core.kernel.plan.array_layouts import ArrayLayout
from pijit.core.kernel.plan.graph_facts import GraphFacts
from pijit.core.kernel.plan.group_operands import find_leaves
from pijit.core.kernel.plan.operands import ArrayVariable, Operand, array_type, dtype_of, result_of
from pijit.core.kernel.plan.transposed_operands import transposed_leaves

Layouts = Mapping[Value, ArrayLayout]


def loop_dtypes(types: str) -> Tuple[List[np.dtype[Any]], np.dtype[Any]]:
    """Operand dtypes and result dtype of a loop such as ``dd->d``."""
    codes, _, results = types.partition("->")
    if len(results) != 1:
        raise CompileError("ufuncs with %d results are not supported" % len(results))
    return [np.dtype(code) for code in codes], np.dtype(results)


def goes_by_rows(array: ArrayLayout, value: Value, by_rows: Collection[Value]) -> bool:
    """Whether the last stride of an array is the smallest one, for certain or by the guess of `likely_by_rows`."""
    return array.last_stride != ANY or value in by_rows


def is_nest(group: List[Op], arrays: Layouts, constants: Mapping[Value, Any], by_rows: Collection[Value],
            options: CompileOptions) -> bool:
    """Whether a nest computes what NumPy computes, and faster: last strides are, or should be, the smallest ones.

    Args:
        group: the operations.
        arrays: the layouts of all arrays.
        constants: the scalars whose numbers are known.
        by_rows: the arrays whose last stride probably is the smallest.
        options: the compile options.
    """
    values, wanted = find_leaves(group)
    last, transposed = group[-1], transposed_leaves(group, values, arrays)
    written = [last.args[0]] if last.name in EFFECTS else []
    several = len(group) > 1
    if not values or any(
            not arrays[value].shape
            or not (goes_by_rows(arrays[value], value, by_rows) or value in transposed)
            and (array_type(value).ndim > 1 or not several) for value in values + written):
        return False
    if written and (max(array_type(value).ndim for value in values) > array_type(written[0]).ndim or any(
            array_type(value).transposed for value in values + written)):  # a buffer is in row order
        return False
    listens = not options.fast and any(map(raises_flags, group))
    if listens and not all(_is_finite(constants.get(value, 0)) for value, _ in wanted):
        return False  # LLVM folds operations on a NaN constant, and would drop the others with their flags
    dtypes = [dtype_of(value) for value in tables_of(group)]
    return all(can_convert(dtype, dtype) for dtype in dtypes) \
        and all(can_convert(source, target) for source, target in _conversions(group))


def _is_finite(number: Any) -> bool:
    return bool(number - number == 0) if not isinstance(number, (bool, np.bool_)) else True


def tables_of(group: List[Op]) -> List[Value]:
    """The arrays in which the group finds elements by index, one for each operation that does so."""
    return [op.args[0] for op in group if finds(op)]


def _conversions(group: List[Op]) -> Iterator[Tuple[np.dtype[Any], np.dtype[Any]]]:
    """The pairs of dtypes between which a group converts elements."""
    for op in group:
        if op.name == "assign":
            yield dtype_of(op.args[1]), dtype_of(op.args[0])
        if op.name in COMPUTES_NO_ELEMENTS:
            continue
        dtypes, result = loop_dtypes(op.attrs["types"])
        for value, dtype in zip(operands(op), dtypes):
            if isinstance(value.type, Array):
                yield value.type.dtype, dtype
        if op.name == "ufunc_into":
            yield result, dtype_of(op.args[0])


# ---- operations of a group ----


def may_underflow(op: Op) -> bool:
    return raises_flags(op) and (scalar_operation(op) in UNDERFLOWING or rounds(op))


def hides_underflow(op: Op) -> bool:
    """Whether an operation of a nest may underflow without a flag, as arithmetic of float16 does."""
    return may_underflow(op) and (rounds(op) or op.attrs["types"][0] == "e")


def finds(op: Op) -> bool:
    return op.name == GATHER


def asked(group: List[Op]) -> List[Op]:
    """The operations whose flags must be known at the end of the nest.

    If the last one has the attribute ``reports``, another operation asks for its flags.
    """
    return group[:-1] if group[-1].attrs.get("reports") else group


def reports_flags(group: Sequence[Op], fast: bool) -> bool:
    """Whether the program may hear of flags that these operations raise."""
    return not fast and any(can_report(op) and op.attrs.get("ignored", 0) & EVERY_FLAG != EVERY_FLAG
                            for op in group)


def asks_for_temporaries(group: List[Op], facts: GraphFacts) -> bool:
    """Whether an operator of the group may compute into an array that the kernel has not made, of any strides."""
    return any(into != NEVER and isinstance(value.type, Array) and value not in facts.made
               for op in group for value, into in zip(op.args, op.attrs.get("into", ())))


def watched_steps(group: List[Op], fast: bool) -> Tuple[int, ...]:
    """The numbers of the watched steps. If flags are not checked, these are only extremes and conversions."""
    wanted = watched(group)
    return tuple(number for number, op in enumerate(group)
                 if op in wanted and (picks_floats(op) or converts(op) or not fast))


def steps_of(group: List[Op], left_out: Mapping[Op, Value]) -> Tuple[Step, ...]:
    """The steps of a group's nest.

    ``left_out`` are the operations that are no steps, with the operands that replace them (signed_zeros.py).
    """
    return _numbered(group, left_out)[0]


def step_numbers(group: List[Op], left_out: Mapping[Op, Value]) -> Dict[Value, int]:
    """The number of the step that computes each inner result of a group without tables."""
    arrays, scalars = find_leaves(group)
    first = len(arrays) + len(scalars)
    return {item: number - first for item, number in _numbered(group, left_out)[1].items() if isinstance(item, Value)}


def _numbered(group: List[Op], left_out: Mapping[Op, Value]) -> Tuple[Tuple[Step, ...], Dict[Any, int]]:
    """The steps of a group's nest, and the number of each operand."""
    arrays, scalars = find_leaves(group)
    number: Dict[Any, int] = {item: k for k, item in enumerate(list(arrays) + list(scalars))}
    steps: List[Step] = []
    tables = 0
    picked = {op.result for op in group if op.name == "pick"}
    for op in group:
        if converts(op):
            steps.append(Step(CONVERT, dtype_of(op.args[0]).char, (number[op.args[0]],), dtype_of(result_of(op)).char))
        if op.name in COMPUTES_NO_ELEMENTS:
            continue
        codes = op.attrs["types"].partition("->")[0]
        numbers = tuple(number[(value, code) if isinstance(value.type, Scalar) else value]
                        for value, code in zip(operands(op), codes))
        if op in left_out:
            number[op.result] = number[left_out[op]]
            continue
        name = scalar_operation(op)
        if picked and name in DIVIDING and op.args[-1] not in picked and isinstance(op.args[-1].type, Array):
            # operands that are not picked could raise a flag, so 1 takes their place
            steps.append(Step("picked", "?" + codes[-1], (number[group[-1].args[1]], numbers[-1])))
            numbers = numbers[:-1] + (len(arrays) + len(scalars) + len(steps) - 1,)
        number[op.result] = len(arrays) + len(scalars) + len(steps)
        if finds(op):
            steps.append(Step(name, codes, numbers, table=tables))
            tables += 1
        else:
            steps.append(Step(name, codes, numbers))
    return tuple(steps), number


# ---- operands of a nest ----


def is_one_axis(shape: Sequence[Operand], arrays: Sequence[ArrayVariable]) -> bool:
    """Whether arrays can be gone through as vectors: all are certain to be in C order and have this shape.

    With short rows, too many elements would be left after the last whole vector of each row.
    """
    return len(shape) > 1 and not any(
        array.rolled or array.type.layout != "C" or array.shape != tuple(shape) for array in arrays)


def last_strides(shape: Sequence[Operand], arrays: Sequence[ArrayVariable]) -> Tuple[str, Tuple[int, ...]]:
    """For a nest over a shape: the kinds of last strides, and the number of the operand that each one is part of.

    The numbers are -1 for operands on their own; there are none if all are.
    """
    lasts, beside = "", []  # type: str, List[int]
    alike = [array.strides[-1] for array in arrays if array.last_stride == ANY]  # parts of one array have equal ones
    for number, array in enumerate(arrays):
        kind = FAR if array.has_transposed_order else array.last_stride
        if kind not in (ZERO, FAR) and array.shape[-1] != shape[-1]:
            kind = likely_kind(STEPS.get(kind, 1))  # the stride is 0 if this operand is broadcast
        elif kind == ANY:
            kind = likely_kind(alike.count(array.strides[-1]))
        lasts += kind
        beside.append(-1 if kind in (ZERO, UNIT) else _part_of(array, arrays[:number]))
    return lasts, tuple(beside) if max(beside) >= 0 else ()


def _part_of(array: ArrayVariable, others: Sequence[ArrayVariable]) -> int:
    """The number of the first array with equal strides at a known distance from this one, or -1."""
    def facts(one: ArrayVariable) -> Tuple[Any, ...]:
        return one.origin[0], one.strides, one.shape, one.type.dtype, one.rolled

    return next((k for k, other in enumerate(others) if facts(other) == facts(array) and array.rolled is None), -1)


def families(group: List[Op], facts: GraphFacts) -> Tuple[int, ...]:
    """For each operand, the number of the first operand that is part of the same array."""
    found = [facts.root_of(value) for value in find_leaves(group)[0]]
    return tuple(map(found.index, found))
