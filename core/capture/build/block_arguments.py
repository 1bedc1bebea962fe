"""Block parameters and arguments: the SSA values that carry an abstract value from one block to the next."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, List, Optional, Tuple

from pijit.core.capture.build.pending_calls import waiting_parameters, waiting_values
from pijit.core.capture.models.objects.composites import parted_parameters, parted_values
from pijit.core.capture.models.objects.materialize import virtual_object_parameters, virtual_object_parts
from pijit.core.capture.values.base import Composite
from pijit.core.capture.values.generator_frame import GeneratorFrame
from pijit.core.capture.values.lattice import (
    Abstract,
    Const,
    Instance,
    KnownContainer,
    LoopIterator,
    Number,
    OpaqueObject,
    PendingOperand,
    Range,
    Sequence,
    Tensor,
    TypedValue,
    UnescapedFunction,
    Unrolled,
)
from pijit.core.capture.values.virtual_object import StackTuple, VirtualObject
from pijit.core.errors import Break
from pijit.core.graph.ir import Block, Value
from pijit.core.graph.types import ITERATOR_WORDS, WORD, Object

if TYPE_CHECKING:
    from pijit.core.capture.build.graph_builder import GraphBuilder


def block_parameters(builder: GraphBuilder, value: Abstract, block: Block, hint: str,
                     like: Optional[Abstract]) -> Abstract:
    """A copy of ``value`` whose parts are parameters of ``block``."""
    if isinstance(value, VirtualObject):
        return virtual_object_parameters(builder, value, block, hint, like)
    if isinstance(value, KnownContainer):
        block.params.append(builder.graph.new_value(value.type, hint))
        made = block.params[-1]
        likes = like.items if isinstance(like, KnownContainer) else [None] * len(value.items)
        return value.like([builder.block_parameters(item, block, hint, item_like)
                           for item, item_like in zip(value.items, likes)], made)
    if isinstance(value, TypedValue):
        carried = builder.graph.new_value(value.type, hint)
        copy = type(value)(value.type, carried, None, value.defined_at)
        block.params.append(carried)
        return copy
    if isinstance(value, Sequence):
        likes = like.items if isinstance(like, Sequence) else [None] * len(value.items)
        made = builder.graph.new_value(Object(tuple), hint)
        block.params += [] if isinstance(value, StackTuple) else [made]
        items = [builder.block_parameters(item, block, hint, item_like) for item, item_like in zip(value.items, likes)]
        return type(value)(items, None, value.defined_at, None if isinstance(value, StackTuple) else made)
    if isinstance(value, Composite):
        return parted_parameters(builder, value, block, hint, like)
    if isinstance(value, Range):
        return Range(_word_parameters(builder, ("start", "step", "length"), block), value.defined_at)
    if isinstance(value, LoopIterator):
        words = _word_parameters(builder, ITERATOR_WORDS[value.kind], block)
        likes = like.parts if isinstance(like, LoopIterator) else [None] * len(value.parts)
        parts = tuple(builder.block_parameters(part, block, hint, part_like)
                      for part, part_like in zip(value.parts, likes))
        source = like.input if isinstance(like, LoopIterator) else None
        return LoopIterator(value.kind, words, parts, source, value.defined_at, value.count)
    if isinstance(value, Unrolled):
        owner = like.owner if isinstance(like, Unrolled) else None
        return value.over(builder.block_parameters(value.owner, block, hint, owner), value.position)
    if isinstance(value, UnescapedFunction):
        likes = like.free if isinstance(like, UnescapedFunction) else [None] * len(value.free)
        return value.with_parts(tuple(builder.block_parameters(part, block, hint, part_like)
                                     for part, part_like in zip(value.free, likes)))
    if isinstance(value, GeneratorFrame):
        likes = like.parts if isinstance(like, GeneratorFrame) else [None] * len(value.parts)
        maker = like.maker if isinstance(like, GeneratorFrame) else None
        if isinstance(value.maker, UnescapedFunction):
            maker = builder.block_parameters(value.maker, block, hint, maker)
        return value.like(tuple(builder.block_parameters(part, block, hint, part_like)
                                for part, part_like in zip(value.parts, likes)), maker)
    if isinstance(value, PendingOperand):
        return waiting_parameters(builder, value, block, hint, like)
    if isinstance(value, (Const, OpaqueObject)):
        return value.rooted(like.root if isinstance(like, OpaqueObject) else None)
    return value


def _word_parameters(builder: GraphBuilder, names: Tuple[str, ...], block: Block) -> Tuple[Value, ...]:
    words = tuple(builder.graph.new_value(WORD, name) for name in names)
    block.params += words
    return words


def value_parts(builder: GraphBuilder, wanted: Abstract, given: Any) -> List[Value]:
    if isinstance(wanted, VirtualObject):
        return virtual_object_parts(builder, wanted, given)
    if isinstance(wanted, Number):
        return [builder.number_value(builder.use(given))]
    if isinstance(wanted, Instance):
        parts = [builder.object_value(given)]
        if isinstance(wanted, KnownContainer):
            given = builder.use(given)
            parts += [part for want, have in zip(wanted.items, given.items) for part in builder.value_parts(want, have)]
        return parts
    if isinstance(wanted, Tensor):
        return [builder.use(given).value]
    if isinstance(wanted, Sequence):
        given = builder.use(given)
        parts = [part for want, have in zip(wanted.items, given.items) for part in builder.value_parts(want, have)]
        return parts if isinstance(wanted, StackTuple) else [builder.object_value(given)] + parts
    if isinstance(wanted, Composite):
        return parted_values(builder, wanted, builder.use(given))
    if isinstance(wanted, Range):
        return list(given.words)
    if isinstance(wanted, LoopIterator):
        given = builder.use(given)
        parts = [part for want, have in zip(wanted.parts, given.parts) for part in builder.value_parts(want, have)]
        return list(given.words) + parts
    if isinstance(wanted, Unrolled):
        owned: List[Value] = builder.value_parts(wanted.owner, given.owner)
        return owned
    if isinstance(wanted, UnescapedFunction):
        given = builder.use(given)
        return [part for want, have in zip(wanted.free, given.free) for part in builder.value_parts(want, have)]
    if isinstance(wanted, GeneratorFrame):
        given = builder.use(given)
        maker = builder.value_parts(wanted.maker, given.maker) if isinstance(wanted.maker, UnescapedFunction) else []
        if not isinstance(wanted.maker, UnescapedFunction) and wanted.maker.paths.root != given.maker.paths.root:
            raise Break("PJ213")
        return maker + [part for want, have in zip(wanted.parts, given.parts)
                        for part in builder.value_parts(want, have)]
    if isinstance(wanted, PendingOperand):
        return waiting_values(builder, wanted, given)
    if isinstance(wanted, OpaqueObject) and (given is None or wanted.root != given.root):
        raise Break("PJ213")
    if isinstance(wanted, Const):
        builder.use(given)
    return []
