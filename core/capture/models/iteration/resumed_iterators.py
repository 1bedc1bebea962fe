"""C iterators over which a loop continues where a kernel exits.

They replace the generators of `itertools_python`. So an exception or warning of an iterable or a function has the
frames and lines that it has in bytecode. Called by `generators` at exits.
"""

from __future__ import annotations

import itertools
import operator
from typing import Any, Callable, Dict, List

from pijit.core.capture.models.iteration import itertools_python as code_of
from pijit.core.graph.ir import Output

Named = Dict[str, Callable[[], Output]]
Stack = List[Output]
Resume = Callable[[bool, Named, Stack], Output]
"""Gives the output for a generator from three facts:
whether it has not begun, its variables, and its operand stack."""


def _called(function: Any, *arguments: Output) -> Output:
    return Output("called", None, [Output("const", function)] + list(arguments))


def _const(value: Any) -> Output:
    return Output("const", value)


def _one(item: Output) -> Output:
    return Output("tuple", None, [item])


def _items(begins: bool, named: Named, stack: Stack) -> Output:
    """The iterator below the loop."""
    return named["items"]() if not stack else stack[-1]


def _accumulated(begins: bool, named: Named, stack: Stack) -> Output:
    """The total so far becomes the first item again; it is skipped if it was yielded before."""
    items = _items(begins, named, stack)
    if "total" in named:
        items = _called(itertools.chain, _one(named["total"]()), items)
    by = [named["function"]()] if "function" in named else []
    made = _called(itertools.accumulate, items, *by)
    return made if begins else _called(itertools.islice, made, _const(1), _const(None))


def _chained(begins: bool, named: Named, stack: Stack) -> Output:
    return _called(itertools.chain, *stack, *[named[name]() for name in sorted(named)])


def _chained_from(begins: bool, named: Named, stack: Stack) -> Output:
    if begins:
        return _called(itertools.chain.from_iterable, named["parts"]())
    return _called(itertools.chain, stack[-1], _called(itertools.chain.from_iterable, stack[0]))


def _picked(position: int, pairs: Output) -> Output:
    return _called(map, _const(operator.itemgetter(position)), pairs)


def _first(begins: bool, named: Named, stack: Stack) -> Output:
    return _picked(1, named["pairs"]() if begins else stack[0])


def _sliced(begins: bool, named: Named, stack: Stack) -> Output:
    """The pairs count all items and end where the slice ends."""
    pairs = named["pairs"]() if begins else stack[0]
    return _picked(1, _called(itertools.islice, pairs, named["skipped"](), _const(None), named["step"]()))


def _paired(begins: bool, named: Named, stack: Stack) -> Output:
    pairwise = itertools.pairwise
    if begins:
        return _called(pairwise, named["items"]())
    return _called(pairwise, _called(itertools.chain, _one(named["item"]()), stack[0]))


def _selected(begins: bool, named: Named, stack: Stack) -> Output:
    pairs = named["pairs"]() if begins else stack[0]
    return _picked(0, _called(filter, _const(operator.itemgetter(1)), pairs))


def _dropped(begins: bool, named: Named, stack: Stack) -> Output:
    return _called(itertools.dropwhile, named["function"](), named["items"]()) if begins else stack[0]


def _backwards(begins: bool, named: Named, stack: Stack) -> Output:
    position = named["position"]()
    return Output("reversed_iterator", None, [named["items"]()], list(position.values()))


def _by(function: Any) -> Resume:
    return lambda begins, named, stack: _called(function, named["function"](), _items(begins, named, stack))


RESUMED: Dict[int, Resume] = {
    id(code_of.ADDED_UP): _accumulated, id(code_of.FOLDED): _accumulated, id(code_of.ADDED_UP_FROM): _accumulated,
    id(code_of.FOLDED_FROM): _accumulated, id(code_of.CHAINED_FROM): _chained_from, id(code_of.FIRST_ONES): _first,
    id(code_of.PAIRED): _paired, id(code_of.SLICED): _sliced, id(code_of.SELECTED): _selected,
    id(code_of.FROM_FALSE): _dropped,
    id(code_of.STARRED): _by(itertools.starmap), id(code_of.WHILE_TRUE): _by(itertools.takewhile),
    id(code_of.FALSE_ONES): _by(itertools.filterfalse), id(code_of.BACKWARDS): _backwards,
}
RESUMED.update((id(code_of.chained(count)), _chained) for count in range(1, code_of.MOST_CHAINED + 1))
