"""Constant folding of identity tests: decide which arrays are one object.

Before::

    %3: float64[1d,C] = ufunc %1, %2 {ufunc=multiply}  else exit0()
    %4: raw.bool = identical %3, %1
    branch %4 ? b1() : b2()

After::

    %3: float64[1d,C] = ufunc %1, %2 {ufunc=multiply}  else exit0()
    jump b2()

A new array is neither an input nor the result of another operation. Kernels compare the arrays of the other tests.
simplify.py calls this.
"""

from __future__ import annotations

from typing import Dict, List, Optional, Set

from pijit.core.graph.ir import Branch, Graph, Leave, Op, SideExit, Value
from pijit.core.graph.ops import KEEPS_TRUTH, MAKERS, VIEWS

_NEW = MAKERS | VIEWS


def decide_identities(graph: Graph) -> bool:
    """Replace operations by constants and branches by jumps, in place; True if a branch was replaced."""
    ops = [op for block in graph.blocks for op in block.ops]
    asked = [op for op in ops if op.name == "identical"]
    if not asked:
        return False
    origins = _Origins(graph)
    known: Dict[Optional[Value], bool] = {}
    for op in asked:
        answer = origins.same(*op.args)
        if answer is not None:
            op.name, op.args, op.attrs = "const", (), {"value": answer}
            known[op.result] = answer
    _pass_on(ops, known)
    decided = False
    for block in graph.blocks:
        last = block.terminator
        if isinstance(last, Branch) and last.condition in known:
            arm = last.then if known[last.condition] else last.other
            block.terminator = Leave(arm) if isinstance(arm, SideExit) else arm
            decided = True
    return decided


def _pass_on(ops: List[Op], known: Dict[Optional[Value], bool]) -> None:
    """Add the flags that follow from known flags."""
    count = -1
    while count != len(known):
        count = len(known)
        for op in ops:
            if op.name in KEEPS_TRUTH and op.args[0] in known:
                known[op.result] = known[op.args[0]]
            elif op.name == "not" and op.args[0] in known:
                known[op.result] = not known[op.args[0]]


class _Origins:
    """The values that an array may be: inputs and results of operations, passed through block parameters."""

    def __init__(self, graph: Graph) -> None:
        self._makers = {op.result: op for block in graph.blocks for op in block.ops}
        self._given: Dict[Value, Set[Value]] = {}
        for block in graph.blocks:
            for jump in block.terminator.targets():
                for param, argument in zip(jump.block.params, jump.args):
                    self._given.setdefault(param, set()).add(argument)

    def same(self, left: Value, right: Value) -> Optional[bool]:
        """Whether two values are one object; None if that differs between runs.

        A loop's value may be the result that the same operation gave in another iteration.
        """
        if left is right:
            return True
        ours, theirs = self._of(left), self._of(right)
        if ours & theirs:
            return None
        apart = all(self._is_apart(one, other) or self._is_apart(other, one) for one in ours for other in theirs)
        return False if apart else None

    def _is_apart(self, new: Value, other: Value) -> bool:
        """Whether ``new`` is a new array and ``other`` is not read from a container, which might hold ``new``."""
        return (new in self._makers and self._makers[new].name in _NEW
                and (other not in self._makers or self._makers[other].name in _NEW))

    def _of(self, value: Value) -> Set[Value]:
        visited, todo = {value}, [value]
        while todo:
            new = self._given.get(todo.pop(), set()) - visited
            visited |= new
            todo += new
        return {one for one in visited if one not in self._given}
