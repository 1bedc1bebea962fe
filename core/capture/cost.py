"""Whether a kernel is worth its call: what the bytecode that it replaces costs against what the call costs.

The unit is an operation on two Python floats in bytecode. The numbers are ratios of times measured in one run
(docs/design.md, "What is worth a kernel"); they need to be right within a factor, for what is near the limit gains
and loses little.
"""

from __future__ import annotations

from pijit.core.bytecode.decode import Function
from pijit.core.capture.captured import Captured
from pijit.core.graph.ir import Graph, Op
from pijit.core.graph.ops import OPS
from pijit.core.graph.types import Array, Scalar

SEGMENT_WORK = 12
"""What it costs to call a kernel from linked code, with the function's share of guards and frame."""
WHOLE_WORK = 5
"""What it costs to call a kernel in place of a function, without a frame."""
ARRAY_WORK = 12
"""At least what a call of NumPy for arrays takes."""
ELEMENT_WORK = 3
"""What an operation on a NumPy scalar or on one element of an array takes."""
FREE = frozenset(["const", "same", "flag", "dim", "iterator_part", "range_length", "poll",
                  "new_tuple", "new_list", "new_dict"])
LIBRARY = frozenset(["invoke", "set_items"])
OF_ELEMENTS = frozenset(["load", "store", "view", "part"])


def work_of(graph: Graph, has_loop: bool) -> int:
    """A rough count of what a kernel saves; a loop is always worth it."""
    work = sum(_work_of(op) for block in graph.blocks for op in block.ops if op.name not in FREE)
    return work + (SEGMENT_WORK if has_loop and work else 0)


def _work_of(op: Op) -> int:
    if op.name in LIBRARY:  # the call is no faster than in bytecode
        return 1
    if op.name in OF_ELEMENTS:
        return ELEMENT_WORK
    types = [value.type for value in op.args] + ([op.result.type] if op.result is not None else [])
    if any(isinstance(kind, Array) for kind in types) and not stores_into_object(op):
        return ARRAY_WORK
    return ELEMENT_WORK if any(isinstance(kind, Scalar) and kind.family == "np" for kind in types) else 1


def least_work(captured: Captured, function: Function) -> int:
    """How much work is worth a kernel for this segment of a function."""
    return WHOLE_WORK if captured.returning(function) else SEGMENT_WORK


def stores_into_object(op: Op) -> bool:
    """Whether the operation is an effect on a Python object: bytecode does it about as fast."""
    return OPS[op.name].effect and not isinstance(op.args[0].type, Array)
