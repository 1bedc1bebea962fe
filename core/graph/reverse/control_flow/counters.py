"""Counters: the induction variable of a loop over a range.

`structure` asks it. It must not change the graph.
"""

from __future__ import annotations

from typing import Optional

from pijit.core.graph.ir import Branch, Jump, Value
from pijit.core.graph.loops import Loop
from pijit.core.named_tuples import NamedTuple


class Counter(NamedTuple):
    """The variable of a loop that counts up by 1, its first value, and the value that ends the loop."""

    variable: Value
    start: Value
    limit: Value


def counter_of(loop: Loop, entering: Jump) -> Optional[Counter]:
    """The counter of a loop that its header leaves, if it has one; ``entering`` is the jump to the header."""
    header, end = loop.header, loop.header.terminator
    if not isinstance(end, Branch) or not isinstance(end.then, Jump) or end.then.block not in loop.body \
            or not isinstance(end.other, Jump) or end.other.block in loop.body:
        return None
    made = {op.result: op for block in loop.body for op in block.ops}
    inside = set(made).union(*[block.params for block in loop.body])
    test = made.get(end.condition)
    if test is None or test.name != "compare" or test.attrs["operator"] != "<" \
            or test.args[0] not in header.params or test.args[1] in inside:
        return None
    place = header.params.index(test.args[0])
    following = {jump.args[place] for block in loop.body for jump in block.terminator.targets() if jump.block is header}
    step = made.get(following.pop()) if len(following) == 1 else None
    if step is None or step.name != "add" or step.args[0] is not test.args[0]:
        return None
    one = made.get(step.args[1])
    if one is None or one.name != "const" or one.attrs["value"] != 1:
        return None
    return Counter(test.args[0], entering.args[place], test.args[1])
