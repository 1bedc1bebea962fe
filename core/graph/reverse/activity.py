"""Activity analysis: the values of a graph that depend on an active input and reach its result.

Values are *varied* if they depend on an active input, and *useful* if the result depends on them. Only values that are
both carry adjoints. An array is as varied and as useful as its root, because views share its elements. Complex numbers
have no adjoints here: a function in which one is varied and useful is not reversed.
"""

from __future__ import annotations

from typing import Collection, Iterator, List, Sequence, Set, Tuple

from pijit.core.graph.ir import Op, Value
from pijit.core.graph.ops import STORES
from pijit.core.graph.reverse.errors import Irreversible
from pijit.core.graph.reverse.library_calls import is_constant
from pijit.core.graph.reverse.regions import Conditional, LoopRegion, RegionItem, walk
from pijit.core.graph.reverse.roots import Roots
from pijit.core.graph.types import Array, Scalar


def is_float(value: Value) -> bool:
    """Whether a value can carry an adjoint: a real number or an array of these."""
    return isinstance(value.type, (Array, Scalar)) and value.type.dtype.kind == "f"


def _has_derivative(value: Value) -> bool:
    """Whether derivatives flow through a value: through real and complex numbers, and arrays of these."""
    return isinstance(value.type, (Array, Scalar)) and value.type.dtype.kind in "fc"


def operands(op: Op) -> List[Value]:
    """The operands whose values an operation uses for its result, or for what it stores."""
    if op.name == "store":
        return [op.args[-1]]
    return list(op.args[1:] if op.name in STORES else op.args)


def _flows(items: Sequence[RegionItem], roots: Roots) -> Iterator[Tuple[Value, Value]]:
    """(source, target) for each way on which a derivative flows, between roots."""
    for item in walk(items):
        if isinstance(item, Op):
            target = item.args[0] if item.name in STORES else item.result
            if target is not None and _has_derivative(target) and not is_constant(item):
                for source in operands(item):
                    if _has_derivative(source):
                        yield roots.of(source), roots.of(target)
        elif isinstance(item, LoopRegion):
            for param, first, following in zip(item.params, item.first, item.next):
                if _has_derivative(param):
                    yield roots.of(first), param
                    yield roots.of(following), param
        elif isinstance(item, Conditional):
            for param, one, other in zip(item.params, item.then.args, item.other.args):
                if _has_derivative(param):
                    yield roots.of(one), param
                    yield roots.of(other), param


def active_roots(items: Sequence[RegionItem], roots: Roots, wanted: Collection[Value], result: Value) -> Set[Value]:
    """The roots that are varied and useful.

    Args:
        items: the region.
        roots: its roots.
        wanted: the active inputs.
        result: the value that is differentiated.

    Raises:
        Irreversible: complex numbers are among them.
    """
    flows = list(_flows(items, roots))
    found = _closed(wanted, flows) & _closed([result], [(target, source) for source, target in flows])
    if not all(map(is_float, found)):
        raise Irreversible("derivatives of complex numbers")
    return found


def _closed(start: Collection[Value], flows: List[Tuple[Value, Value]]) -> Set[Value]:
    """All values that flows lead to."""
    found = set(start)
    size = -1
    while size != len(found):
        size = len(found)
        for source, target in flows:
            if source in found:
                found.add(target)
    return found
