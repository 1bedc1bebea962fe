"""Values that exits pass to bytecode: how an exit passes a value, by the value's class.

`exits` asks it. It must not decide which values leave.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Callable

from pijit.core.capture.build.segment import Refusal, Unhandled
from pijit.core.capture.models.iteration.generators import function_output, suspended_output
from pijit.core.capture.models.iteration.iterators import ITERATOR_OUTPUTS, UNROLLED_OUTPUTS, moving_words
from pijit.core.capture.models.objects.materialize import virtual_object_output
from pijit.core.capture.state.return_kinds import CallOutcomes
from pijit.core.capture.values.base import Composite, Raised, StackSlice, Thrown
from pijit.core.capture.values.class_table import ClassTable
from pijit.core.capture.values.generator_frame import GeneratorFrame
from pijit.core.capture.values.lattice import (
    Abstract,
    Borrowed,
    Const,
    KnownContainer,
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
from pijit.core.graph.ir import Output
from pijit.core.graph.types import SKIP

if TYPE_CHECKING:
    from pijit.core.capture.build.graph_builder import GraphBuilder


def _no_output(builder: GraphBuilder, value: Abstract) -> Output:
    raise Break("PJ202", value=repr(value))


def _found_output(builder: GraphBuilder, value: Abstract) -> Output:
    """The object that the segment has found."""
    if value.root is None:
        raise Break("PJ202", value=repr(value))
    return Output("value", builder.segment_input(value.root, SKIP))


def _raised_output(builder: GraphBuilder, value: Raised) -> Output:
    raise Unhandled(value.defined_at, Break("PJ206"))


def _unbound_output(builder: GraphBuilder, value: Unbound) -> Output:
    if value.defined_at >= 0:
        raise Refusal(value.defined_at, Break("PJ212"))
    raise Break("PJ202", value=repr(value))


def _function_exit(builder: GraphBuilder, value: UnescapedFunction) -> Output:
    """The function from outside, or a new one."""
    if value.root is not None or value.name is None:
        return _found_output(builder, value)
    builder.leave_once(value)
    return function_output(builder, value)


def _range_output(builder: GraphBuilder, value: Range) -> Output:
    if not value.parts:
        raise Break("PJ202", value=repr(value))
    return _called_output(builder, value)


def _called_output(builder: GraphBuilder, value: Abstract) -> Output:
    """A new object of the class, which is called with the parts."""
    builder.leave_once(value)
    return Output("called", None, [Output("const", value.python)] + list(map(builder.exit_output, value.parts)))


def _typed_output(builder: GraphBuilder, value: TypedValue) -> Output:
    return Output("value", builder.use(value).value)


def _container_output(builder: GraphBuilder, value: KnownContainer) -> Output:
    return _typed_output(builder, value) if value.value is not None else _found_output(builder, value)


def _iterator_output(builder: GraphBuilder, value: LoopIterator) -> Output:
    """The iterator object from outside, advanced, or a new iterator if the segment has made it."""
    value = builder.use(value)
    if value.input is not None:
        return Output("advance", value.input, (), moving_words(value))
    return Output(ITERATOR_OUTPUTS[value.kind], None, [builder.exit_output(part) for part in value.parts],
                  value.words)


def _unrolled_output(builder: GraphBuilder, value: Unrolled) -> Output:
    return Output(UNROLLED_OUTPUTS[value.what], value.position, [builder.exit_output(value.owner)])


def _composite_output(builder: GraphBuilder, value: Composite) -> Output:
    if value.root is None and value.value is not None:
        return Output("value", value.value)
    return _found_output(builder, value)


def _tuple_output(builder: GraphBuilder, value: Sequence) -> Output:
    """The tuple that the segment has found or made, or a new one."""
    if value.root is not None:
        return _found_output(builder, value)
    if value.value is not None:
        return Output("value", value.value)
    builder.leave_once(value)
    return Output("tuple", None, [builder.exit_output(item) for item in value.items])


def _object_output(builder: GraphBuilder, value: VirtualObject) -> Output:
    return _found_output(builder, value) if value.root is not None else virtual_object_output(builder, value)


def _constant_output(builder: GraphBuilder, value: Const) -> Output:
    return _found_output(builder, value) if value.root is not None else Output("const", value.object)


EXIT_OUTPUTS: ClassTable[Callable[..., Output]] = ClassTable({
    **dict.fromkeys((Thrown, PendingOperand, Lazy, Borrowed, Null), _no_output),
    **dict.fromkeys((Unknown, OpaqueObject, CallOutcomes), _found_output),
    Composite: _composite_output,
    Const: _constant_output,
    GeneratorFrame: suspended_output,
    KnownContainer: _container_output,
    LoopIterator: _iterator_output,
    Raised: _raised_output,
    Range: _range_output,
    Sequence: _tuple_output,
    StackSlice: _called_output,
    TypedValue: _typed_output,
    Unbound: _unbound_output,
    UnescapedFunction: _function_exit,
    Unrolled: _unrolled_output,
    VirtualObject: _object_output,
})
"""How an exit passes a value to bytecode, by the class of the value."""
