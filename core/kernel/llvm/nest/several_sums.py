"""Rows of nests with several sums: each element's operands are loaded once; some results may be stored, too.

The sums have the bits of NumPy's ``add.reduce`` (pairwise_sum.py). A run with a NaN in its sum is computed again for
NumPy's loop, without the stores. So a stored result must not be memory that the nest reads. Called by nest.py.
"""

from __future__ import annotations

from typing import Any, Dict, List

from llvmlite import ir

from pijit.core.kernel.llvm.nest.elements import converted, memory_type
from pijit.core.kernel.llvm.nest.pairwise_sum import PAIRWISE_LEAST, Summands, write_sums


def write_row(writer: Any, size: Any, rows: List[Any], lasts: str, fixed: Dict[int, Any], wide: bool) -> None:
    """Write the sums and the stored results of a row.

    Args:
        writer: the writer of the nest.
        size: the number of elements.
        rows: the addresses of the arrays' rows.
        lasts: the kinds of their last strides.
        fixed: the values that are the same for the whole row, by operand number.
        wide: whether elements can be computed as vectors.
    """
    nest, builder = writer.nest, writer.builder
    kind = memory_type(writer.dtypes[-1])
    summed = [writer.first_step + step for step in nest.totals]
    stored = {nest.read + number: writer.first_step + step for number, step in enumerate(nest.outputs)}

    def own(values: Dict[int, Any], number: int, array: int) -> Any:
        return converted(builder, values[number], writer.kinds[number], writer.dtypes[array])

    def element(index: Any, number: int) -> Any:
        return own(writer.values(writer.places(rows[:nest.read], index, lasts), fixed), number, -1)

    def elements(index: Any) -> List[Any]:
        places = writer.places(rows, index, lasts)
        values = writer.values(places[:nest.read], fixed)
        for array, number in stored.items():
            writer.store(places[array], own(values, number, array))
        return [own(values, number, -1) for number in summed]

    vectors = writer.vectors(rows, lasts, fixed, PAIRWISE_LEAST)
    repeated = ir.VectorType(kind, PAIRWISE_LEAST)

    def lanes(index: Any) -> List[Any]:
        values, places = vectors(index), writer.places(rows, index, lasts)
        for array, number in stored.items():
            builder.store(values[number], builder.bitcast(places[array], repeated.as_pointer()), align=1)
        return [values[number] for number in summed]

    targets = [builder.bitcast(row, kind.as_pointer()) for row in rows[-nest.targets:]]
    alone = [lambda index, number=number: element(index, number) for number in summed]
    write_sums(builder, size, writer.pairwise, nest.halves, targets,
               Summands(kind, len(summed), elements, alone, lanes if wide else None))
