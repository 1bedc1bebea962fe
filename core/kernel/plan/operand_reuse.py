"""In-place reuse: which operands a result may be computed into.

NumPy's operators reuse large temporaries, and kernels reuse dead arrays; native/runtime/arrays/elision.h decides at run
time. emit/array_ops.py writes the words that tell the runtime. `memory_plan` and `emit/array_ops.py` ask here. It must
not let a result overwrite a live operand.
"""

from __future__ import annotations

from typing import Optional

from pijit.core._launcher import ABI_NUMBERS
from pijit.core.graph.ir import Op, Value
from pijit.core.graph.ops import ALWAYS, NEVER, UNKNOWN
from pijit.core.graph.passes.fusion import is_exact
from pijit.core.graph.types import Array
from pijit.core.kernel.plan.graph_facts import GraphFacts
from pijit.core.kernel.plan.operands import result_of

_ASK_FOUND, _ASK_INPUT = ABI_NUMBERS["INTO_ASK_FOUND"], ABI_NUMBERS["INTO_ASK_INPUT"]
_FREE, _AS_NUMPY = ABI_NUMBERS["INTO_FREE"], ABI_NUMBERS["INTO_AS_NUMPY"]
ASKS = frozenset((_ASK_FOUND, _ASK_INPUT))
"""The codes with which the object's reference count decides."""


def computes_into(facts: GraphFacts, op: Op, number: int) -> int:
    """The code of an operand for native/runtime/arrays/elision.h.

    It is ``into`` of the operation, or says that the object's reference count decides.
    """
    value = op.args[number]
    into: int = op.attrs["into"][number] if "into" in op.attrs and value not in facts.roots else NEVER
    if into != ALWAYS or value in facts.made:
        return into
    if value in facts.params:
        return UNKNOWN
    return _ASK_INPUT if value in facts.inputs else _ASK_FOUND


def may_be_computed_into(facts: GraphFacts, op: Op, number: int) -> Optional[bool]:
    """Whether NumPy computes the result into an operand if that is large enough; None if that is unknown."""
    into = computes_into(facts, op, number)
    return into == ALWAYS if into in (NEVER, ALWAYS) else None


def freedom(op: Op, value: Value) -> int:
    """The code with which the result may be computed into a dead operand of its shape and strides; 0 if it may not.

    Complex numbers only reuse operands where NumPy does, because their loops may then compute in another way.
    """
    kind = value.type
    if op.name != "ufunc" or not isinstance(kind, Array) or kind != result_of(op).type:
        return 0
    if kind.dtype.kind == "c" and kind.layout == "C":
        return _FREE + _AS_NUMPY
    return _FREE if is_exact(op) else 0
