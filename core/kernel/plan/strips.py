"""Speculative strips: which loops may run without floating-point checks and be repeated if a flag was raised.

Such a loop has many iterations between two polls (graph/passes/strip_mining.py). It changes nothing except array
elements whose indices are affine in its counter. emit/stores/speculative_strips.py writes both versions of the loop.
"""

from __future__ import annotations

from typing import Any, Collection, Dict, Iterator, List, Optional, Set, Tuple, Union, cast

from pijit.core.graph.ir import Block, Branch, Jump, Op, Value
from pijit.core.graph.ops import ACCESSES_ELEMENT, AFFINE, CHEAP, OPS, PLAIN
from pijit.core.graph.types import WORD, Array, Scalar
from pijit.core.kernel.llvm.fp_status import READS_STATUS
from pijit.core.kernel.plan.control_tree import If, IfFlag, LoopNode, Move, SetFlag, StraightLine, Take
from pijit.core.kernel.plan.fp_check_plan import flag_check
from pijit.core.kernel.plan.graph_facts import GraphFacts
from pijit.core.kernel.plan.ownership import Ownership
from pijit.core.named_tuples import NamedTuple

ROOM = 32
"""Bytes that an iteration may store, because the previous contents are kept on the stack."""

DEPTH = 6
"""The most operations between an index and the loop's counter."""


class Combined(NamedTuple):
    """A sum, difference or product ("add", "sub", "mul") of two integers."""

    name: str
    one: Term
    other: Term


Term = Union[Value, int, Combined]
"""An integer that is known before a loop."""


class AffineIndex(NamedTuple):
    """An index that is affine in a loop's counter: its first value, and its step; None for a constant index."""

    first: Term
    step: Optional[Term]


class AffineElement(NamedTuple):
    """An element that a load or a store accesses in each iteration."""

    op: Op
    indices: List[AffineIndex]


class Strip(NamedTuple):
    """A loop that can be repeated.

    Attributes:
        counter: the loop's counter, a parameter of its header.
        limit: the value that ends the loop when the counter reaches it.
        params: the loop's variables.
        sets_flag: whether the loop sets the variable for pending jumps.
        elements: the elements whose indices are compared before the loop.
        free: the results that need no pin, because they become loop variables on the only path.
    """

    counter: Value
    limit: Value
    params: List[Value]
    sets_flag: bool
    elements: List[AffineElement]
    free: Set[Value]


def find_strips(tree: List[Any], facts: GraphFacts, ownership: Ownership, nogil: bool) -> Dict[LoopNode, Strip]:
    """The loops of a control tree that are written as speculative strips."""
    found: Dict[LoopNode, Strip] = {}
    for loop in _all(tree) if READS_STATUS else ():
        strip = _find(loop, facts, ownership, nogil) if isinstance(loop, LoopNode) else None
        if strip is not None:
            found[loop] = strip
    return found


def _find(loop: LoopNode, facts: GraphFacts, ownership: Ownership, nogil: bool) -> Optional[Strip]:
    nodes = list(_all(loop.body))
    if loop.label is None or any(isinstance(node, (LoopNode, Take)) for node in nodes):
        return None
    blocks = [node.block for node in nodes if isinstance(node, StraightLine)]
    ops = [op for block in blocks for op in block.ops]
    if not all(map(_is_plain, ops)) or not any(map(flag_check, ops)):
        return None
    if any(isinstance(param.type, Array) for block in blocks for param in block.params) \
            or any(any(ownership.edge(node.jump)) for node in nodes if isinstance(node, Move)):
        return None
    stores = [op for op in ops if op.name == "store"]
    counted = _counted(loop.label, blocks)
    if stores and nogil:
        return None  # another thread may have changed the elements before they are put back
    if counted is None or sum(cast(Array, op.args[0].type).dtype.itemsize for op in stores) > ROOM:
        return None
    lines = _AffineIntegers(facts, counted[0], blocks)
    elements = [element for element in map(lines.element, ops) if element is not None]
    if not {element.op for element in elements}.issuperset(stores):
        return None
    params = [param for param in loop.label.params if param in facts.used]
    return Strip(counted[0], counted[1], params, any(isinstance(node, SetFlag) for node in nodes), elements,
                 _free(blocks, params))


def _all(nodes: List[Any]) -> Iterator[Any]:
    """All nodes of a tree in program order. Without recursion: trees of many arms are as deep as they are long."""
    waiting = list(reversed(nodes))
    while waiting:
        node = waiting.pop()
        yield node
        if isinstance(node, If):
            waiting.extend(reversed(node.other))
            waiting.extend(reversed(node.then))
        elif isinstance(node, (LoopNode, IfFlag)):
            waiting.extend(reversed(node.body))


def _counted(header: Block, blocks: List[Block]) -> Optional[Tuple[Value, Value]]:
    """A loop's counter, which goes up by 1, and its limit, which is known before the loop; else None."""
    made = {op.result: op for block in blocks for op in block.ops}
    last = header.terminator
    test = made.get(last.condition) if isinstance(last, Branch) and _leaves(header, blocks) else None
    if test is None or test.name != "compare" or test.attrs["operator"] != "<":
        return None
    index, length = test.args
    if index.type != WORD or index not in header.params \
            or length in made or any(length in block.params for block in blocks):
        return None
    position = header.params.index(index)
    for jump in [jump for block in blocks for jump in block.terminator.targets() if jump.block is header]:
        step = made.get(jump.args[position])
        if step is None or step.name != "add" or step.args[0] is not index or not _is_one(made.get(step.args[1])):
            return None
    return index, length


def _leaves(header: Block, blocks: List[Block]) -> bool:
    """Whether a loop goes on only where its header's condition holds, and accesses elements only then."""
    around: Set[Block] = set()
    found = {header}
    while found:
        around |= found
        found = {block for block in blocks for jump in block.terminator.targets() if jump.block in around} - around
    other = header.terminator.other
    return isinstance(other, Jump) and other.block not in around \
        and not any(op.name in ACCESSES_ELEMENT for op in header.ops)


def _is_one(op: Optional[Op]) -> bool:
    return op is not None and op.name == "const" and bool(op.attrs["value"] == 1)


class _AffineIntegers:
    """The integers of a loop that are affine in its counter."""

    def __init__(self, facts: GraphFacts, index: Value, blocks: List[Block]) -> None:
        self.facts, self.index = facts, index
        self.made = {op.result: op for block in blocks for op in block.ops if op.result is not None}
        self.params = {param for block in blocks for param in block.params}

    def element(self, op: Op) -> Optional[AffineElement]:
        """The element of a store, or of a load with a check, if all its indices are affine; else None."""
        if op.name != "store" and (op.name != "load" or "inside" in op.attrs):
            return None
        indices = op.args[1:-1] if op.name == "store" else op.args[1:]
        if any(value not in self.made and self.facts.constants.get(value, 0) < 0 for value in indices):
            return None
        found = [self._line(value, DEPTH) for value in indices]
        lines = [line for line in found if line is not None]
        return AffineElement(op, lines) if len(lines) == len(found) else None

    def _line(self, value: Value, depth: int) -> Optional[AffineIndex]:
        if value is self.index:
            return AffineIndex(value, 1)
        op = self.made.get(value)
        if op is None:
            return None if value in self.params else AffineIndex(value, None)
        if op.name == "const":
            return AffineIndex(value, None)
        if op.name == "same":
            return self._line(op.args[0], depth)
        if op.name not in AFFINE or not depth or not all(map(_is_word, op.args)):
            return None
        a, b = (self._line(arg, depth - 1) for arg in op.args)
        return None if a is None or b is None else _combined(op.name, a, b)


def _is_word(value: Value) -> bool:
    return isinstance(value.type, Scalar) and value.type.dtype.kind == "i" and value.type.dtype.itemsize == 8


def _combined(name: str, a: AffineIndex, b: AffineIndex) -> Optional[AffineIndex]:
    first = Combined(name, a.first, b.first)
    if b.step is None and (a.step is None or name != "mul"):
        return AffineIndex(first, a.step)
    if name != "mul":
        same = a.step is None and name == "add"
        return AffineIndex(first, b.step if same else Combined(name, a.step or 0, cast(Term, b.step)))
    if a.step is None:
        return AffineIndex(first, Combined("mul", a.first, cast(Term, b.step)))
    return AffineIndex(first, Combined("mul", a.step, b.first)) if b.step is None else None


def _is_plain(op: Op) -> bool:
    if op.name in CHEAP:
        return True
    if op.name not in PLAIN or not all(isinstance(value.type, Scalar) for value in op.args):
        return False
    kind = op.args[0].type if op.args else None
    return kind is None or isinstance(kind, Scalar) and kind.dtype.kind not in OPS[op.name].not_plain


def _free(blocks: List[Block], params: Collection[Value]) -> Set[Value]:
    """Results that become loop variables on the only path from their definition; they are pinned as loop variables."""
    found: Set[Value] = set()
    header = blocks[0]
    for block in blocks:
        jump, given = block.terminator, {op.result: op.result for op in block.ops}
        while isinstance(jump, Jump) and jump.block is not header and jump.block in blocks:
            given.update({param: given[arg] for param, arg in zip(jump.block.params, jump.args) if arg in given})
            jump = jump.block.terminator
        if isinstance(jump, Jump) and jump.block is header:
            found.update(cast(Value, given[arg]) for param, arg in zip(header.params, jump.args)
                         if arg in given and param in params)
    return found
