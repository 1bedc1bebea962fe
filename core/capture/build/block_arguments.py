"""Block parameters and arguments: the SSA values that carry an abstract value from one block to the next.

`graph_builder` calls it. It decides no types: the analysis has found them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, List, Optional, Tuple, Union

from pijit.core.capture.build.pending_calls import waiting_parameters, waiting_values
from pijit.core.capture.models.objects.composites import composite_parameters, composite_values
from pijit.core.capture.models.objects.materialize import virtual_object_parameters, virtual_object_parts
from pijit.core.capture.state.return_kinds import CallOutcomes
from pijit.core.capture.values.base import Composite, Thrown
from pijit.core.capture.values.class_table import ClassTable
from pijit.core.capture.values.generator_frame import GeneratorFrame
from pijit.core.capture.values.lattice import (
    Abstract,
    Borrowed,
    Const,
    Instance,
    KnownContainer,
    Lazy,
    LoopIterator,
    Null,
    Number,
    OpaqueObject,
    PendingOperand,
    Range,
    Sequence,
    Tensor,
    TypedValue,
    Unbound,
    UnescapedFunction,
    Unknown,
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
    return PARAMETERS[type(value)](builder, value, block, hint, like)


def _inner_parameters(builder: GraphBuilder, value: Abstract, block: Block, hint: str,
                      like: Optional[Abstract]) -> Tuple[Abstract, ...]:
    """The parts of a value as parameters. ``like`` is a value of the same class, or None."""
    likes = like.parts if like is not None else (None,) * len(value.parts)
    return tuple(builder.block_parameters(part, block, hint, part_like) for part, part_like in zip(value.parts, likes))


def _no_parameters(builder: GraphBuilder, value: Abstract, block: Block, hint: str,
                   like: Optional[Abstract]) -> Abstract:
    return value


def _constant_parameters(builder: GraphBuilder, value: Union[Const, OpaqueObject], block: Block, hint: str,
                         like: Optional[Abstract]) -> Abstract:
    return value.rooted(like.root if isinstance(like, OpaqueObject) else None)


def _typed_parameters(builder: GraphBuilder, value: TypedValue, block: Block, hint: str,
                      like: Optional[Abstract]) -> TypedValue:
    carried = builder.graph.new_value(value.type, hint)
    block.params.append(carried)
    return type(value)(value.type, carried, None, value.defined_at)


def _container_parameters(builder: GraphBuilder, value: KnownContainer, block: Block, hint: str,
                          like: Optional[Abstract]) -> KnownContainer:
    made = builder.graph.new_value(value.type, hint)
    block.params.append(made)
    like = like if isinstance(like, KnownContainer) else None
    return value.like(list(_inner_parameters(builder, value, block, hint, like)), made)


def _tuple_parameters(builder: GraphBuilder, value: Sequence, block: Block, hint: str,
                      like: Optional[Abstract]) -> Sequence:
    made = builder.graph.new_value(Object(tuple), hint)
    block.params += [] if isinstance(value, StackTuple) else [made]
    items = _inner_parameters(builder, value, block, hint, like if isinstance(like, Sequence) else None)
    return type(value)(list(items), None, value.defined_at, None if isinstance(value, StackTuple) else made)


def _range_parameters(builder: GraphBuilder, value: Range, block: Block, hint: str, like: Optional[Abstract]) -> Range:
    return Range(_word_parameters(builder, ("start", "step", "length"), block), value.defined_at)


def _iterator_parameters(builder: GraphBuilder, value: LoopIterator, block: Block, hint: str,
                         like: Optional[Abstract]) -> LoopIterator:
    words = _word_parameters(builder, ITERATOR_WORDS[value.kind], block)
    like = like if isinstance(like, LoopIterator) else None
    parts = _inner_parameters(builder, value, block, hint, like)
    return LoopIterator(value.kind, words, parts, like.input if like is not None else None, value.defined_at,
                        value.count)


def _word_parameters(builder: GraphBuilder, names: Tuple[str, ...], block: Block) -> Tuple[Value, ...]:
    words = tuple(builder.graph.new_value(WORD, name) for name in names)
    block.params += words
    return words


def _unrolled_parameters(builder: GraphBuilder, value: Unrolled, block: Block, hint: str,
                         like: Optional[Abstract]) -> Unrolled:
    owner = like.owner if isinstance(like, Unrolled) else None
    return value.over(builder.block_parameters(value.owner, block, hint, owner), value.position)


def _function_parameters(builder: GraphBuilder, value: UnescapedFunction, block: Block, hint: str,
                         like: Optional[Abstract]) -> UnescapedFunction:
    like = like if isinstance(like, UnescapedFunction) else None
    return value.with_parts(_inner_parameters(builder, value, block, hint, like))


def _generator_parameters(builder: GraphBuilder, value: GeneratorFrame, block: Block, hint: str,
                          like: Optional[Abstract]) -> GeneratorFrame:
    like = like if isinstance(like, GeneratorFrame) else None
    maker = like.maker if like is not None else None
    if isinstance(value.maker, UnescapedFunction):
        maker = builder.block_parameters(value.maker, block, hint, maker)
    return value.like(_inner_parameters(builder, value, block, hint, like), maker)


PARAMETERS: ClassTable[Callable[..., Abstract]] = ClassTable({
    **dict.fromkeys((Unbound, Unknown, Thrown, Lazy, Borrowed, Null, CallOutcomes), _no_parameters),
    Composite: composite_parameters,
    Const: _constant_parameters,
    GeneratorFrame: _generator_parameters,
    KnownContainer: _container_parameters,
    LoopIterator: _iterator_parameters,
    OpaqueObject: _constant_parameters,
    PendingOperand: waiting_parameters,
    Range: _range_parameters,
    Sequence: _tuple_parameters,
    TypedValue: _typed_parameters,
    UnescapedFunction: _function_parameters,
    Unrolled: _unrolled_parameters,
    VirtualObject: virtual_object_parameters,
})
"""The value with parameters of a block for its parts, by the class of the value."""


def value_parts(builder: GraphBuilder, wanted: Abstract, given: Any) -> List[Value]:
    return ARGUMENTS[type(wanted)](builder, wanted, given)


def _inner_arguments(builder: GraphBuilder, wanted: Abstract, given: Abstract) -> List[Value]:
    """The values for the parts of a value."""
    return [part for want, have in zip(wanted.parts, given.parts) for part in builder.value_parts(want, have)]


def _no_arguments(builder: GraphBuilder, wanted: Abstract, given: Any) -> List[Value]:
    return []


def _constant_arguments(builder: GraphBuilder, wanted: Const, given: Any) -> List[Value]:
    builder.use(given)
    return []


def _opaque_arguments(builder: GraphBuilder, wanted: OpaqueObject, given: Any) -> List[Value]:
    if given is None or wanted.root != given.root:
        raise Break("PJ213")
    return []


def _number_arguments(builder: GraphBuilder, wanted: Number, given: Any) -> List[Value]:
    return [builder.number_value(builder.use(given))]


def _array_arguments(builder: GraphBuilder, wanted: Tensor, given: Any) -> List[Value]:
    return [builder.use(given).value]


def _object_arguments(builder: GraphBuilder, wanted: Instance, given: Any) -> List[Value]:
    return [builder.object_value(given)]


def _container_arguments(builder: GraphBuilder, wanted: KnownContainer, given: Any) -> List[Value]:
    made = builder.object_value(given)
    return [made] + _inner_arguments(builder, wanted, builder.use(given))


def _tuple_arguments(builder: GraphBuilder, wanted: Sequence, given: Any) -> List[Value]:
    given = builder.use(given)
    parts = _inner_arguments(builder, wanted, given)
    return [builder.object_value(given)] + parts


def _used_arguments(builder: GraphBuilder, wanted: Abstract, given: Any) -> List[Value]:
    return _inner_arguments(builder, wanted, builder.use(given))


def _composite_arguments(builder: GraphBuilder, wanted: Composite, given: Any) -> List[Value]:
    return composite_values(builder, wanted, builder.use(given))


def _range_arguments(builder: GraphBuilder, wanted: Range, given: Any) -> List[Value]:
    return list(given.words)


def _iterator_arguments(builder: GraphBuilder, wanted: LoopIterator, given: Any) -> List[Value]:
    given = builder.use(given)
    parts = _inner_arguments(builder, wanted, given)
    return list(given.words) + parts


def _generator_arguments(builder: GraphBuilder, wanted: GeneratorFrame, given: Any) -> List[Value]:
    given = builder.use(given)
    maker = builder.value_parts(wanted.maker, given.maker) if isinstance(wanted.maker, UnescapedFunction) else []
    if not isinstance(wanted.maker, UnescapedFunction) and wanted.maker.paths.root != given.maker.paths.root:
        raise Break("PJ213")
    return maker + _inner_arguments(builder, wanted, given)


ARGUMENTS: ClassTable[Callable[..., List[Value]]] = ClassTable({
    **dict.fromkeys((Unbound, Unknown, Thrown, Lazy, Borrowed, Null, CallOutcomes), _no_arguments),
    Composite: _composite_arguments,
    Const: _constant_arguments,
    GeneratorFrame: _generator_arguments,
    Instance: _object_arguments,
    KnownContainer: _container_arguments,
    LoopIterator: _iterator_arguments,
    Number: _number_arguments,
    OpaqueObject: _opaque_arguments,
    PendingOperand: waiting_values,
    Range: _range_arguments,
    Sequence: _tuple_arguments,
    StackTuple: _used_arguments,
    Tensor: _array_arguments,
    UnescapedFunction: _used_arguments,
    Unrolled: _inner_arguments,
    VirtualObject: virtual_object_parts,
})
"""The values for the parameters in a wanted value, by the class of that value."""
