"""Shape classes: which arrays of a graph are certain to have the same shape.

The class of an axis is the set of sizes that it is broadcast from. Broadcasting does not depend on the order of its
operands, so axes with the same set have the same size. Tests of the program tell that sizes are equal: those of the
branches and requirements that every path to a block has passed. multi_output_fusion.py asks.
"""

from __future__ import annotations

from typing import Any, Callable, Dict, FrozenSet, Iterable, Iterator, List, Optional, Set, Tuple, cast

from pijit.core.graph.ir import Block, Branch, Graph, Jump, Op, Value
from pijit.core.graph.loops import loops_of
from pijit.core.graph.ops import ELEMENTWISE
from pijit.core.graph.types import Array
from pijit.core.graph.verify import dominators

AxisClass = FrozenSet[Any]
ShapeClass = Tuple[AxisClass, ...]

_ONE = ("const", 1)


class ShapeClasses:
    """The shape classes of a graph's arrays, as they are known in one block at a time.

    Args:
        graph: the graph.
    """

    def __init__(self, graph: Graph) -> None:
        self._made: Dict[Value, Op] = {op.result: op for block in graph.blocks for op in block.ops
                                       if op.result is not None}
        self._over = dominators(graph)
        self._proven = {block: list(self._proofs(block)) for block in self._over}
        self._same: Dict[Any, Any] = {}
        self._known: Dict[Value, ShapeClass] = {}
        self._given: Dict[Value, Value] = {}
        self._params: Dict[Value, ShapeClass] = {}
        self._find_params(graph)

    def enter(self, block: Block) -> None:
        """Use what is proven when a block begins."""
        self._use(self._over.get(block, ()))

    def _use(self, blocks: Iterable[Block]) -> None:
        """Use what is proven when these blocks begin."""
        self._same, self._known = {}, {}
        for over in blocks:
            for one, other in self._proven[over]:
                (first, *rest), (second, *others) = self.number(one), self.number(other)
                if not rest and not others and self._find(first) != self._find(second):
                    self._same[self._find(first)] = self._find(second)
        self._known = {}

    def _find_params(self, graph: Graph) -> None:
        """The classes of block parameters: those of all their arguments, if these agree.

        The search assumes that they agree, until an argument shows the opposite. It uses tests that ran before any
        loop: others tell about sizes of one iteration.
        """
        loops = loops_of(graph, self._over)
        inside: Set[Block] = set().union(*[loop.body for loop in loops])
        self._use([block for block in self._over if block not in inside and all(
            block in self._over[loop.header] for loop in loops)])
        given: Dict[Value, List[Value]] = {}
        for block in self._over:
            for jump in _jumps(block):
                for param, arg in zip(jump.block.params, jump.args):
                    if isinstance(param.type, Array):
                        first = jump.block not in self._over[block]  # an edge into the loop, if it is one
                        given.setdefault(param, []).insert(0 if first else len(given.get(param, ())), arg)
        self._given = {param: args[0] for param, args in given.items()}
        changed = True
        while changed:
            wrong = [param for param, args in given.items() if param in self._given and any(
                self.of(arg) != self.of(param) for arg in args)]
            for param in wrong:
                del self._given[param]
            changed, self._known = bool(wrong), {}
        self._params = {param: self.of(param) for param in self._given}

    def of(self, value: Value) -> ShapeClass:
        """The class of an array."""
        found = self._known.get(value)
        if found is None:
            op, given = self._made.get(value), self._given.get(value)
            derive = None if op is None else _elementwise if op.name in ELEMENTWISE else _DERIVED.get(op.name)
            shape = derive(self, cast(Op, op)) if derive is not None else None
            if given is not None:
                shape = self._params[value] if value in self._params else self.of(given)
            if shape is None:
                shape = tuple(frozenset([("size", value, axis)]) for axis in range(cast(Array, value.type).ndim))
            self._known[value] = found = tuple(map(self._reduced, shape))
        return found

    # ---- equal sizes ----

    def _proofs(self, block: Block) -> Iterator[Tuple[Value, Value]]:
        """Pairs of integers that are equal once a block has begun: its only way in has tested them."""
        ways = [(over, jump) for over in self._over for jump in _jumps(over) if jump.block is block]
        if len(ways) != 1 or not isinstance(ways[0][0].terminator, Branch):
            return
        branch = ways[0][0].terminator
        if branch.then is not branch.other:
            yield from self._equal(branch.condition, branch.then is ways[0][1])

    def _equal(self, condition: Value, holds: bool) -> Iterator[Tuple[Value, Value]]:
        op = self._made.get(condition)
        while op is not None and op.name in _KEEPS_TRUTH:
            holds = holds is _KEEPS_TRUTH[op.name]
            op = self._made.get(op.args[0])
        if op is not None and op.name == "compare" and op.attrs["operator"] == ("==" if holds else "!="):
            yield op.args[0], op.args[1]

    def _find(self, size: Any) -> Any:
        while size in self._same:
            size = self._same[size]
        return size

    def _reduced(self, sizes: AxisClass) -> AxisClass:
        """A set without sizes that are known to be others of it, or 1."""
        found = {self._find(size) for size in sizes}
        return frozenset(found - {_ONE} or {_ONE})

    def number(self, value: Value) -> AxisClass:
        """The class of an integer."""
        op = self._made.get(value)
        while op is not None and op.name == "same":
            value = op.args[0]
            op = self._made.get(value)
        if op is not None and op.name == "dim":
            axis: int = op.attrs["axis"]
            return self.of(op.args[0])[axis]
        return frozenset([("const", op.attrs["value"]) if op is not None and op.name == "const" else value])


def _jumps(block: Block) -> List[Jump]:
    return block.terminator.targets() if block.terminator else []


def _elementwise(classes: ShapeClasses, op: Op) -> Optional[ShapeClass]:
    shapes = [classes.of(value) for value in op.args if isinstance(value.type, Array)]
    count = max(map(len, shapes), default=0)
    if count != cast(Array, cast(Value, op.result).type).ndim:
        return None
    found: List[Set[Any]] = [set() for _ in range(count)]
    for shape in shapes:
        for axis, sizes in zip(found[count - len(shape):], shape):
            axis |= sizes
    return tuple(map(frozenset, found))


def _view(classes: ShapeClasses, op: Op) -> Optional[ShapeClass]:
    words, left = list(op.args[1:]), list(classes.of(op.args[0]))
    found: List[AxisClass] = []
    for item in op.attrs["index"]:
        count = 1 if item == "i" else item.count("v")
        bounds, words = words[:count], words[count:]
        if item == "n":
            found.append(frozenset([_ONE]))
            continue
        axis = left.pop(0)
        if item != "i":
            found.append(axis if item == "e" else _slice(axis, item, [classes.number(bound) for bound in bounds]))
    return tuple(found + left)


def _slice(axis: AxisClass, item: str, bounds: List[AxisClass]) -> AxisClass:
    """The class of a slice. Those with constant ends that lack as many elements have one size."""
    numbers = [_constant(bound) for bound in bounds]
    if None in numbers or item[3] == "v":
        return frozenset([("slice", axis, item, tuple(bounds))])
    low = cast(int, numbers[0]) if item[1] == "v" else 0
    high = -cast(int, numbers[-1]) if item[2] == "v" else 0
    if low < 0 or high < 0 or item[2] == "v" and high == 0:
        return frozenset([("slice", axis, item, tuple(bounds))])
    (first, *rest), lacking = axis, low + high
    if not rest and isinstance(first, tuple) and first[0] == "cut":
        axis, lacking = first[1], first[2] + lacking
    return frozenset([("cut", axis, lacking)]) if lacking else axis


def _constant(number: AxisClass) -> Optional[int]:
    """The number that a class stands for, or None."""
    first, *rest = number
    return cast(int, first[1]) if not rest and isinstance(first, tuple) and first[0] == "const" else None


def _transpose(classes: ShapeClasses, op: Op) -> Optional[ShapeClass]:
    shape = classes.of(op.args[0])
    return tuple(shape[axis] for axis in op.attrs["axes"])


def _alloc(classes: ShapeClasses, op: Op) -> Optional[ShapeClass]:
    return tuple(map(classes.number, op.args))


_DERIVED: Dict[str, Callable[[ShapeClasses, Op], Optional[ShapeClass]]] = {
    "view": _view, "transpose": _transpose, "alloc": _alloc}
"""How the class of a result follows from those of the operands."""

_KEEPS_TRUTH: Dict[str, bool] = {"flag": True, "truth": True, "same": True, "not": False}
"""Operations on a condition, and whether the result is true where the condition is."""
