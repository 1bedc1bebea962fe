"""Results of an inlined call: one value for the results of all returning paths, by the class of the joined result.

`inlined_graph` calls it. It must not join results of incompatible types; see `state/return_kinds.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, List, Tuple

from pijit.core.capture.state.return_kinds import CallOutcomes
from pijit.core.capture.values.base import Composite, Thrown
from pijit.core.capture.values.class_table import ClassTable
from pijit.core.capture.values.generator_frame import GeneratorFrame
from pijit.core.capture.values.lattice import (
    Abstract,
    Borrowed,
    Const,
    Lazy,
    LoopIterator,
    Null,
    OpaqueObject,
    PendingOperand,
    Range,
    Sequence,
    TypedValue,
    Unbound,
    UnescapedFunction,
    Unknown,
    Unrolled,
)
from pijit.core.capture.values.virtual_object import VirtualObject
from pijit.core.errors import Break
from pijit.core.graph.ir import Block
from pijit.core.graph.types import Object

if TYPE_CHECKING:
    from pijit.core.capture.build.graph_builder import GraphBuilder


def joined_result(builder: GraphBuilder, values: List[Abstract], like: Abstract, block: Block) -> Abstract:
    """One value for the results of all paths. Typed parts become parameters of ``block``.

    Raises:
        Break: the paths return values that no parameter can carry.
    """
    return RESULTS[type(like)](builder, values, like, block)


def _same_result(builder: GraphBuilder, values: List[Abstract], like: Abstract, block: Block) -> Abstract:
    """The result that all paths have."""
    if any(value.root != values[0].root or value != values[0] for value in values):
        raise Break("PJ213")
    return values[0]


def _constant_result(builder: GraphBuilder, values: List[Abstract], like: Const, block: Block) -> Abstract:
    return like if all(value.root is None for value in values) else _same_result(builder, values, like, block)


def _virtual_result(builder: GraphBuilder, values: List[Abstract], like: VirtualObject, block: Block) -> Abstract:
    return builder.block_parameters(like, block, "", values[0])


def _parameters(builder: GraphBuilder, values: List[Abstract], like: Abstract, block: Block) -> Abstract:
    return builder.block_parameters(like, block, "", None)


def _generator_result(builder: GraphBuilder, values: List[Any], like: GeneratorFrame, block: Block) -> Abstract:
    return like.like(_inner_results(builder, values, like, block))


def _tuple_result(builder: GraphBuilder, values: List[Any], like: Sequence, block: Block) -> Abstract:
    if not all(isinstance(value, Sequence) for value in values):
        return _same_result(builder, values, like, block)
    made = builder.graph.new_value(Object(tuple))
    block.params.append(made)
    return Sequence(list(_inner_results(builder, values, like, block)), value=made)


def _inner_results(builder: GraphBuilder, values: List[Abstract], like: Abstract, block: Block) -> Tuple[Abstract, ...]:
    """The parts of the results, joined one by one."""
    columns = zip(*[value.parts for value in values])
    return tuple(joined_result(builder, list(column), part, block) for column, part in zip(columns, like.parts))


RESULTS: ClassTable[Callable[..., Abstract]] = ClassTable({
    **dict.fromkeys((Unbound, Unknown, Thrown, PendingOperand, UnescapedFunction, Lazy, Borrowed, Null, OpaqueObject,
                     CallOutcomes), _same_result),
    **dict.fromkeys((TypedValue, Range, Composite, LoopIterator, Unrolled), _parameters),
    Const: _constant_result,
    GeneratorFrame: _generator_result,
    Sequence: _tuple_result,
    VirtualObject: _virtual_result,
})
"""One value for the results of all paths, by the class of the value that covers them."""
