"""Groups of elementwise operations that one loop can compute without temporaries.

A group is a tree of ``ufunc`` operations of one block whose inner results have no other use. Leaving a
group means leaving at its first operation's exit: between the first and the last operation nothing has an
effect, so repeating all of them in bytecode is the same. That is also why an inner result may be named by
the exits of the group's own operations, which are then never taken, but by no other exit.
"""

from __future__ import annotations

from typing import Dict, List, Set

import numpy as np

from ..ir import Block, Graph, Op, Value
from ..ops import EFFECTS
from ..types import Array

FLOAT_LOOPS = {np.add: "add", np.subtract: "sub", np.multiply: "mul", np.true_divide: "truediv",
               np.negative: "neg",
               np.square: "square", np.sqrt: "sqrt", np.absolute: "abs"}
INTEGER_LOOPS = {np.add: "add", np.subtract: "sub", np.multiply: "mul", np.negative: "neg",
                 np.bitwise_and: "and",
                 np.bitwise_or: "or", np.bitwise_xor: "xor"}
"""Ufuncs whose every element is one exact machine operation: the result has NumPy's bits in any loop."""


def scalar_operation(op: Op) -> str:
    """The name of the scalar operation that an elementwise ufunc does to each element, or ''."""
    if op.name != "ufunc" or op.exit is None or not isinstance(op.result.type, Array):
        return ""
    codes = op.attrs["types"].replace("->", "")
    if len(set(codes)) != 1 or op.result.type.ndim == 0:
        return ""
    if codes[0] in "fd":
        return FLOAT_LOOPS.get(op.attrs["ufunc"], "")
    return INTEGER_LOOPS.get(op.attrs["ufunc"], "") if codes[0] in "bBhHiIlLqQ" else ""


def find_groups(graph: Graph) -> Dict[Op, List[Op]]:
    """The groups, in order of their operations, by last operation. A single operation is no group."""
    users: Dict[Value, List[Op]] = {}
    leaving: Dict[Value, List[Op]] = {}
    escaping: Set[Value] = set()
    for block in graph.blocks:
        for op in block.ops:
            for value in op.args:
                users.setdefault(value, []).append(op)
            for value in op.exit.values() if op.exit is not None else ():
                leaving.setdefault(value, []).append(op)
        escaping.update(block.terminator.values())
        for jump in block.terminator.targets():
            escaping.update(jump.args)
    groups: Dict[Op, List[Op]] = {}
    for block in graph.blocks:
        groups.update(_groups_in(block, users, leaving, escaping))
    return groups


def _groups_in(block: Block, users: Dict[Value, List[Op]], leaving: Dict[Value, List[Op]],
               escaping: Set[Value]) -> Dict[Op, List[Op]]:
    position = {op: number for number, op in enumerate(block.ops)}
    makers = {op.result: op for op in block.ops if scalar_operation(op)}
    groups: Dict[Op, List[Op]] = {}
    taken: Set[Op] = set()
    for op in reversed(block.ops):
        if not scalar_operation(op) or op in taken:
            continue
        excluded: Set[Op] = set()
        while True:
            group = _collect(op, makers, users, escaping, excluded | taken)
            late = {member for member in group if _effect_between(block, position[member], position[op])}
            outside = {member for member in group if member is not op
                       and any(user not in group for user in leaving.get(member.result, ()))}
            if not late and not outside:
                break
            excluded |= late | outside
        if len(group) > 1:
            groups[op] = sorted(group, key=position.__getitem__)
            taken |= group
    return groups


def _effect_between(block: Block, first: int, last: int) -> bool:
    return any(op.name in EFFECTS for op in block.ops[first:last])


def _collect(op: Op, makers: Dict[Value, Op], users: Dict[Value, List[Op]], escaping: Set[Value],
             excluded: Set[Op]) -> Set[Op]:
    """``op`` and the operations that only it, directly or not, uses."""
    group, todo = {op}, [op]
    while todo:
        for value in todo.pop().args:
            maker = makers.get(value)
            if maker is None or maker in excluded or value in escaping or len(users[value]) != 1:
                continue
            group.add(maker)
            todo.append(maker)
    return group
