"""Plans of products and solvers: how the loop of a generalised ufunc runs, and what becomes of short vectors.

group_plans.py makes one plan for each operation, and emit/linear_algebra.py writes it. `group_plans` makes them, and
`emit/linear_algebra.py` writes them. A plan must not change a bit.
"""

from __future__ import annotations

import enum
from typing import Dict, Mapping, Optional

import numpy as np

from pijit.core import _launcher
from pijit.core.graph.ir import Op, Value
from pijit.core.graph.types import Scalar
from pijit.core.kernel.llvm.nest.reciprocal_division import fuses_products
from pijit.core.kernel.plan.array_layouts import ArrayLayout
from pijit.core.kernel.plan.operands import dtype_of, result_of
from pijit.core.named_tuples import NamedTuple


class LoopForm(enum.Enum):
    """How the inner loop of a generalised ufunc runs."""

    LIBRARY = "NumPy's loop"
    SMALL_PRODUCT = "small products by the runtime, others by NumPy's loop"


class UnitForm(enum.Enum):
    """How `np.dot` multiplies two vectors of length 1."""

    LOOP = "as longer vectors"
    INLINE = "inline, without a sum"
    LIBRARY = "by NumPy"


class DotOrder(enum.Enum):
    """An order in which a loop may add up products: its number in native/runtime/linalg/small_matmul.inc."""

    PLAIN = 0
    FUSED = 1
    WIDE = 6


class InlineDot(NamedTuple):
    """Vectors of up to ``most`` elements are multiplied inline, in an order of summation."""

    most: int
    order: DotOrder

    def __str__(self) -> str:
        return "up to %d elements inline, in the order %s" % (self.most, self.order.name)


class ProductPlan(NamedTuple):
    """How a generalised ufunc runs once.

    Attributes:
        loop: how its loop runs.
        unit: how vectors of length 1 are multiplied.
        inline: which vectors are multiplied inline, or None.
    """

    loop: LoopForm
    unit: UnitForm = UnitForm.LOOP
    inline: Optional[InlineDot] = None

    def __str__(self) -> str:
        parts = [self.loop.value] + ["one product " + self.unit.value] * (self.unit is not UnitForm.LOOP)
        return "; ".join(parts + [str(self.inline)] * (self.inline is not None))


def plan_product(op: Op, arrays: Mapping[Value, ArrayLayout]) -> ProductPlan:
    """The plan of a ``gufunc`` or a ``dot``; ``arrays`` are the layouts of all arrays."""
    dtype = dtype_of(op.args[0])
    # the runtime may know the order of summation for few products (native/runtime/linalg/small_matmul.h)
    small = op.attrs["ufunc"] is np.matmul and dtype.char in "fd"
    vectors = small and isinstance(result_of(op).type, Scalar)
    return ProductPlan(LoopForm.SMALL_PRODUCT if small else LoopForm.LIBRARY, _unit_form(op),
                       _inline_dot(op, arrays) if vectors else None)


def _unit_form(op: Op) -> UnitForm:
    """One product of floats that BLAS makes is not added to 0. For complex numbers NumPy decides which of several NaNs
    results."""
    code = dtype_of(result_of(op)).char
    return _UNIT_FORMS.get(code, UnitForm.LOOP) if op.name == "dot" else UnitForm.LOOP


_UNIT_FORMS: Dict[str, UnitForm] = {"f": UnitForm.INLINE, "d": UnitForm.INLINE, "F": UnitForm.LIBRARY,
                                    "D": UnitForm.LIBRARY}
"""By dtype; others, such as float16, are multiplied by the loop."""


def _inline_dot(op: Op, arrays: Mapping[Value, ArrayLayout]) -> Optional[InlineDot]:
    """The longest vectors of which a probe has seen the loop's order of summation; None if there are none."""
    dtype = dtype_of(op.args[0])
    if not all(arrays[value].is_adjacent for value in op.args):
        return None
    words = _launcher.ufunc_loop(op.attrs["ufunc"], op.attrs["loop"])
    orders = [DotOrder.PLAIN] + [DotOrder.FUSED] * fuses_products() + [DotOrder.WIDE] * (dtype.char == "f")
    most, number = max((_launcher.short_dot(*words, dtype.itemsize, order.value), order.value) for order in orders)
    return InlineDot(most, DotOrder(number)) if most > 1 else None
