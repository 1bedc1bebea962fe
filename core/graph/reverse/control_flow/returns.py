"""Returns: a graph whose exits leave the function's result at several places gets one block that returns.

`structure` and `specialisation` call it. It must not change a result.
"""

from __future__ import annotations

from typing import Collection, List, Sequence, Set, cast

from pijit.core.graph.ir import Block, Graph, Jump, Leave, Op, Output, SideExit, Value
from pijit.core.graph.reverse.errors import Irreversible
from pijit.core.graph.types import PYTHON_SCALARS, Array, Opaque, Scalar, Type


def with_one_return(graph: Graph, returning: Collection[int]) -> Block:
    """Give a graph one block that returns; the others jump to it. Returns this block.

    Args:
        graph: the graph.
        returning: the exits that leave the function's result. It is their last value.

    Raises:
        Irreversible: the results differ in more than one value, or in their type.
    """
    found = _blocks(graph.blocks, returning)
    if not found:
        raise Irreversible("it does not return")
    if len(found) == 1:
        return found[0]
    return _merged(graph, found)


def types_returned(blocks: Collection[Block], returning: Collection[int]) -> Set[Type]:
    """The types of the results that blocks return."""
    return {_type(_output(block)) for block in _blocks(blocks, returning)}


def _blocks(blocks: Collection[Block], returning: Collection[int]) -> List[Block]:
    """The blocks that return."""
    return [block for block in blocks if isinstance(block.terminator, Leave)
            and block.terminator.exit.exit in returning]


def _output(block: Block) -> Output:
    return cast(Leave, block.terminator).exit.outputs[-1]


def _type(output: Output) -> Type:
    """The type of a result; that of objects without a type is the type of their output."""
    if output.kind == "value":
        return cast(Value, output.value).type
    return PYTHON_SCALARS.get(type(output.value), Opaque(output.kind))


def _merged(graph: Graph, blocks: Sequence[Block]) -> Block:
    """Merge blocks that return."""
    kinds = {_type(_output(block)) for block in blocks}
    if len(kinds) > 1 or not isinstance(next(iter(kinds)), (Scalar, Array)):
        raise Irreversible("it returns results of several types")
    if any(output.kind != "const" for block in blocks for output in block.terminator.exit.outputs[:-1]):
        raise Irreversible("it returns at several places")
    end = graph.new_block()
    end.params = [graph.new_value(kinds.pop())]
    end.terminator = Leave(SideExit(blocks[0].terminator.exit.exit, [Output("value", end.params[0])]))
    for block in blocks:
        output = _output(block)
        value = output.value
        if output.kind != "value":
            value = graph.new_value(end.params[0].type)
            block.ops.append(Op("const", [], {"value": output.value}, value))
        block.terminator = Jump(end, [value])
    return end
