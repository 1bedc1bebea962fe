"""Plans of scatters: which code stores at indices or under a mask.

group_plans.py makes one plan for each such store, and emit/stores/scatters.py writes it. `group_plans` makes them, and
`emit/stores/scatters.py` writes them. A plan must not change a bit.
"""

from __future__ import annotations

import enum
from typing import Mapping, Tuple

from pijit.core.graph.ir import Op, Value
from pijit.core.graph.types import Array
from pijit.core.kernel.plan.array_layouts import ArrayLayout
from pijit.core.kernel.plan.graph_facts import GraphFacts
from pijit.core.kernel.plan.store_plan import find_shared
from pijit.core.named_tuples import NamedTuple


class ScatterForm(enum.Enum):
    """The code that stores elements of which one place is not known from the others."""

    LIBRARY = "by NumPy"
    INDEXED = "at indices, by the runtime"
    FEW_INDEXED = "at indices, a few inline and more by the runtime"
    MASKED = "under a mask, by the runtime"


class ScatterPlan(NamedTuple):
    """How elements are stored at indices or under a mask.

    Attributes:
        form: the code that stores them.
        tested: the arrays that may share memory with the target, as a test at run time decides. If so, NumPy stores.
    """

    form: ScatterForm
    tested: Tuple[Value, ...] = ()

    def __str__(self) -> str:
        tested = "; compares memory with %s" % ", ".join(map(repr, self.tested)) if self.tested else ""
        return self.form.value + tested


def plan_scatter(op: Op, arrays: Mapping[Value, ArrayLayout], facts: GraphFacts) -> ScatterPlan:
    """The plan of a store at indices or under a mask; ``arrays`` are the layouts of all arrays."""
    tested = find_shared(facts, op.args[0], [value for value in op.args[1:] if isinstance(value.type, Array)])
    if tested is None:
        return ScatterPlan(ScatterForm.LIBRARY)
    if op.name == "put_mask":
        return ScatterPlan(ScatterForm.MASKED, tested)
    target = arrays[op.args[0]]
    dtype = target.type.dtype
    few = target.is_adjacent and dtype.kind in "iuf" and dtype.itemsize in (4, 8)
    return ScatterPlan(ScatterForm.FEW_INDEXED if few else ScatterForm.INDEXED, tested)
