"""Strip mining: cut counted loops of cheap iterations into strips, so that they poll once per strip.

A poll in each iteration would keep LLVM from unrolling and vectorising such a loop. Before::

    b1(%i, %s):  %m = compare %i, %n {<}                b1 is a loop of one iteration after the other,
                 branch %m ? b2() : b3()                b4 its back edge
    b2():        ...                                    jump b4()
    b4():        poll else exit1(%s2, %i2)              jump b1(%i2, %s2)

After: the loop of b1 runs to the end of a strip. It is nested in a loop over strips, which polls::

    b5(%i', %s'):  %limit = the smaller of %i' + STRIP and %n              jump b1(%i', %s')
    b1(%i, %s):    %m = compare %i, %limit {<}          branch %m ? b2() : b6()
    b4():                                               jump b1(%i2, %s2)
    b6():          %m' = compare %i, %n {<}             branch %m' ? b7() : b3()
    b7():          poll else exit1(%s, %i)              jump b5(%i, %s)
"""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Set, Tuple

from pijit.core.graph.ir import Block, Branch, Graph, Jump, Op, SideExit, Value
from pijit.core.graph.ops import CHEAP
from pijit.core.graph.types import FLAG, WORD, Array, Scalar
from pijit.core.named_tuples import NamedTuple

STRIP = 1024


class CountedLoop(NamedTuple):
    """A loop that can be cut: its header, the latches with polls, its blocks, the comparison that ends it."""

    header: Block
    latches: List[Block]
    body: Set[Block]
    test: Op


def mine_strips(graph: Graph) -> None:
    """Cut each loop for which it is legal and worthwhile, in place."""
    before = _predecessors(graph)
    for header in list(graph.blocks):
        if header not in before:  # merged with another one
            continue
        if any(map(_is_polled, before[header])):
            _join_test(graph, header, before)
        loop = _counted(header, before)
        exit = _common_exit(loop) if loop is not None else None
        if loop is not None and exit is not None:
            _cut(graph, loop, exit, before[header])
            before = _predecessors(graph)


def _predecessors(graph: Graph) -> Dict[Block, List[Block]]:
    before: Dict[Block, List[Block]] = {block: [] for block in graph.blocks}
    for block in graph.blocks:
        for jump in block.terminator.targets():
            before[jump.block].append(block)
    return before


def _join_test(graph: Graph, header: Block, before: Dict[Block, List[Block]]) -> None:
    """Merge a header that only leads to the block with the test with that block."""
    last = header.terminator
    if header.ops or not isinstance(last, Jump) or last.args or before[last.block] != [header]:
        return
    test = last.block
    header.ops, header.terminator = test.ops, test.terminator
    for jump in header.terminator.targets():
        before[jump.block] = [header if block is test else block for block in before[jump.block]]
    graph.blocks.remove(test)
    for number, block in enumerate(graph.blocks):
        block.index = number


def _is_polled(block: Block) -> bool:
    return bool(block.ops) and block.ops[0].name == "poll"


def _counted(header: Block, before: Dict[Block, List[Block]]) -> Optional[CountedLoop]:
    """The loop with this header, if its iterations are cheap, it contains no loop, and its bound is loop-invariant."""
    latches = [block for block in before[header] if _is_polled(block)]
    last = header.terminator
    tests = [op for op in header.ops if isinstance(last, Branch) and op.result is last.condition]
    if not latches or not tests or tests[0].name != "compare" or tests[0].attrs["operator"] != "<":
        return None
    body = {header}
    todo = list(latches)
    while todo:
        block = todo.pop()
        if block not in body:
            body.add(block)
            todo += before[block]
    index, length = tests[0].args
    inside = _defined_in(body) - {op.result for op in _sizes(header, body)}
    if index.type != WORD or index not in header.params or length in inside:
        return None
    stays = isinstance(last.other, Jump) and last.other.block in body
    if stays or _loops_inside(header, body) or not all(isinstance(value.type, Scalar) for value in header.params):
        return None
    return CountedLoop(header, latches, body, tests[0]) if all(map(_is_cheap, body)) else None


def _loops_inside(header: Block, body: Set[Block]) -> bool:
    """Whether some blocks of the loop lead to themselves without passing the header: another loop, polled or not."""
    waiting = {block: sum(block in [jump.block for jump in other.terminator.targets()] for other in body)
               for block in body if block is not header}
    todo = [header]
    while todo:
        for target in {jump.block for jump in todo.pop().terminator.targets()} & set(waiting):
            waiting[target] -= 1
            if waiting[target] == 0:
                todo.append(target)
    return any(waiting.values())


def _sizes(header: Block, body: Set[Block]) -> List[Op]:
    """The sizes, read in the header, of arrays from before the loop."""
    inside = _defined_in(body)
    return [op for op in header.ops if op.name == "dim" and op.args[0] not in inside]


def _defined_in(body: Set[Block]) -> Set[Value]:
    return {value for block in body
            for value in block.params + [op.result for op in block.ops if op.result is not None]}


def _is_cheap(block: Block) -> bool:
    return all(op.name in CHEAP or not any(isinstance(value.type, Array) for value in op.args + (op.result,)
                                                 if value is not None) for op in block.ops)


def _common_exit(loop: CountedLoop) -> Optional[SideExit]:
    """The exit of all back edges in terms of the header's parameters, or None if the exits differ."""
    inside = _defined_in(loop.body)
    found: Dict[str, SideExit] = {}
    for latch in loop.latches:
        carried = dict(zip(reversed(latch.terminator.args), reversed(loop.header.params)))
        exit = latch.ops[0].exit
        if exit is None or any(value in inside and value not in carried for value in exit.values()):
            return None
        mapped = SideExit(exit.exit, [output.map(lambda value: carried.get(value, value)) for output in exit.outputs])
        found[repr(mapped)] = mapped
    return next(iter(found.values())) if len(found) == 1 else None


def _cut(graph: Graph, loop: CountedLoop, exit: SideExit, predecessors: List[Block]) -> None:
    header, (index, length) = loop.header, loop.test.args
    outer, again, poll = (graph.new_block(header.lineno) for _ in range(3))
    outer.params = [graph.new_value(value.type, value.hint) for value in header.params]
    for block in predecessors:
        if block not in loop.latches:
            _redirect(block, header, outer)
    outer.ops = _sizes(header, loop.body)
    header.ops = [op for op in header.ops if op not in outer.ops]
    position = header.params.index(index)
    start, limit = _bounds(graph, outer, outer.params[position], length)
    outer.terminator = Jump(header, outer.params[:position] + [start] + outer.params[position + 1:])
    loop.test.args = (index, limit)
    attrs = loop.latches[0].ops[0].attrs
    for latch in loop.latches:
        latch.ops = latch.ops[1:]
    more = graph.new_value(FLAG)
    again.ops.append(Op("compare", [index, length], {"operator": "<"}, more, None, header.lineno))
    branch = header.terminator
    again.terminator = Branch(more, Jump(poll, []), branch.other)
    header.terminator = Branch(branch.condition, branch.then, Jump(again, []))
    poll.ops.append(Op("poll", [], attrs, None, exit, header.lineno))
    poll.terminator = Jump(outer, header.params)


def _bounds(graph: Graph, block: Block, index: Value, length: Value) -> Tuple[Value, Value]:
    """The start and the end of the strip at ``index``; no sum overflows.

    The form tells LLVM facts that hold anyway: no index is negative, and none exceeds ``length``. So it drops checks.
    """
    def add(name: str, args: List[Value], kind: Any = WORD, **attrs: Any) -> Value:
        result = graph.new_value(kind)
        block.ops.append(Op(name, args, attrs, result, None, block.lineno))
        return result

    zero, strip = add("const", [], value=0), add("const", [], value=STRIP)
    start = add("select", [add("compare", [index, zero], FLAG, operator="<"), zero, index])
    is_long = add("compare", [add("sub", [length, start]), strip], FLAG, operator=">")
    end = add("select", [is_long, add("add", [start, strip]), length])
    return start, add("select", [add("compare", [end, length], FLAG, operator="<"), end, length])


def _redirect(block: Block, old: Block, new: Block) -> None:
    for jump in block.terminator.targets():
        if jump.block is old:
            jump.block = new
