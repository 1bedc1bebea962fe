"""Pending call operands, such as a bound method on the operand stack: block parameters and exit values.

They need parameters where paths meet in the arguments of the call, as in ``values.append(x if x > 0.0 else -x)``.
"""

from __future__ import annotations

import types
from typing import TYPE_CHECKING, Any, List, Optional

from pijit.core._hook import call
from pijit.core.capture.models.stdlib.context_managers import Manager, item_output
from pijit.core.capture.values.lattice import KERNEL_LOCAL, Abstract, BoundFunction, Method, Null, class_of
from pijit.core.graph.ir import Block, Output, Value
from pijit.guards.reading import class_value

if TYPE_CHECKING:
    from pijit.core.capture.build.graph_builder import GraphBuilder


def waiting_parameters(builder: GraphBuilder, value: Abstract, block: Block, hint: str,
                       like: Optional[Abstract]) -> Abstract:
    """A copy of ``value`` whose parts are parameters of ``block``."""
    if isinstance(value, Manager):
        known = like if isinstance(like, Manager) else value
        return value.with_parts((known.function, builder.block_parameters(value.owner, block, hint, known.owner)))
    likes = like.parts if type(like) is type(value) else (None,) * len(value.parts)
    return value.with_parts(tuple(builder.block_parameters(part, block, hint, part_like)
                                  for part, part_like in zip(value.parts, likes)))


def waiting_values(builder: GraphBuilder, wanted: Abstract, given: Any) -> List[Value]:
    """The arguments for the parameters in ``wanted``."""
    if isinstance(wanted, Manager):
        return builder.value_parts(wanted.owner, given.owner)
    return [part for want, have in zip(wanted.parts, given.parts)
            for part in builder.value_parts(want, have)]


def is_stuck(stack: List[Abstract]) -> bool:
    """Whether a value on the operand stack cannot leave the kernel, not even as the method that CPython has there."""
    return any(isinstance(value, KERNEL_LOCAL) and not isinstance(value, Manager) and not _may_leave(stack, position)
               for position, value in enumerate(stack))


def _may_leave(stack: List[Abstract], position: int) -> bool:
    """Whether a value is a method, or the slot that LOAD_METHOD leaves below the method's owner or a callable."""
    value = stack[position]
    if not isinstance(value, Null):
        return _is_method(value)
    above = stack[position + 1] if position + 1 < len(stack) else value
    return _is_method(above) or not isinstance(above, KERNEL_LOCAL)


def _is_method(value: Abstract) -> bool:
    if isinstance(value, Method):
        return type(_descriptor(value)) is types.MethodDescriptorType
    bound = isinstance(value, BoundFunction) and not isinstance(value, Manager)
    return bound and class_of(value.function) is types.FunctionType  # type: ignore[attr-defined]


def _descriptor(method: Method) -> Any:
    kind = class_of(method.owner)
    return class_value(kind, method.name) if kind is not None and kind is not type else None


def stack_outputs(builder: GraphBuilder, stack: List[Abstract]) -> List[Output]:
    """The operand stack that an exit leaves: LOAD_METHOD's function and first argument, or LOAD_ATTR's method.

    A callable above LOAD_METHOD's NULL, such as a module's function, becomes the first argument of `call`.
    """
    outputs: List[Output] = []
    for position, value in enumerate(stack):
        paired = position > 0 and isinstance(stack[position - 1], Null)
        if not _may_leave(stack, position):
            outputs.append(item_output(builder, value))
        elif isinstance(value, Null):
            outputs.append(_function_output(builder, stack[position + 1]))
        else:
            owner = builder.exit_output(value.owner)  # type: ignore[attr-defined]
            outputs.append(owner if paired else _object_output(builder, value, owner))
    return outputs


def _function_output(builder: GraphBuilder, above: Any) -> Output:
    """The output for the slot below a method or a callable."""
    if isinstance(above, Method):
        return Output("const", _descriptor(above))
    return builder.exit_output(above.function) if isinstance(above, BoundFunction) else Output("const", call)


def _object_output(builder: GraphBuilder, value: Any, owner: Output) -> Output:
    if isinstance(value, Method):
        return Output("called", None, [Output("const", getattr), owner, Output("const", value.name)])
    return Output("called", None, [Output("const", types.MethodType), builder.exit_output(value.function), owner])
