"""Shape classes: which arrays of a graph are certain to have the same shape.

The class of an axis is the set of sizes that it is broadcast from. Broadcasting does not depend on the order of its
operands, so axes with the same set have the same size. Tests of the program tell that sizes are equal: those of the
branches and requirements that every path to a block has passed. multi_output_fusion.py asks.
"""

from __future__ import annotations

from typing import Any, Callable, Dict, FrozenSet, Iterable, Iterator, List, Optional, Set, Tuple, cast

from pijit.core.graph.ir import Block, Branch, Graph, Jump, Op, Value
from pijit.core.graph.loops import loops_of
from pijit.core.graph.ops import ELEMENTWISE, KEEPS_TRUTH
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
        self._over = dominators(graph)
        self._made: Dict[Value, Op] = {op.result: op for block in self._over for op in block.ops
                                       if op.result is not None}
        self._plain: Dict[Value, ShapeClass] = {}  # without any test
        for block in self._over:  # dominators come first, so no operand is missing
            for op in block.ops:
                if op.result is not None and isinstance(op.result.type, Array):
                    self._plain[op.result] = self._derived(op, op.result)
        self._proven = {block: list(self._proofs(block)) for block in self._over}
        self._same: Dict[Any, Any] = {}
        self._params: Dict[Any, AxisClass] = {}
        self._known: Dict[AxisClass, AxisClass] = {}
        self._find_params(graph)

    def enter(self, block: Block) -> None:
        """Use what is proven when a block begins."""
        self._use(self._over.get(block, ()))

    def of(self, value: Value) -> ShapeClass:
        """The class of an array in the current block."""
        return tuple(map(self._reduced, self.plain(value)))

    def plain(self, value: Value) -> ShapeClass:
        """The class of an array without any test."""
        if value not in self._plain:
            self._plain[value] = _own(value)
        return self._plain[value]

    def number(self, value: Value) -> AxisClass:
        """The class of an integer without any test."""
        op = self._made.get(value)
        while op is not None and op.name == "same":
            value = op.args[0]
            op = self._made.get(value)
        if op is not None and op.name == "dim":
            axis: int = op.attrs["axis"]
            return self.plain(op.args[0])[axis]
        return frozenset([("const", op.attrs["value"]) if op is not None and op.name == "const" else value])

    def _derived(self, op: Op, result: Value) -> ShapeClass:
        derive = _elementwise if op.name in ELEMENTWISE else _DERIVED.get(op.name)
        shape = derive(self, op) if derive is not None else None
        return _own(result) if shape is None else shape

    # ---- equal sizes ----

    def _use(self, blocks: Iterable[Block]) -> None:
        """Use what is proven when these blocks begin."""
        self._same, self._known = {}, {}
        for over in blocks:
            for one, other in self._proven[over]:
                (first, *rest), (second, *others) = self._reduced(self.number(one)), self._reduced(self.number(other))
                if not rest and not others and self._find(first) != self._find(second):
                    self._same[self._find(first)] = self._find(second)
                    self._known = {}

    def _find(self, size: Any) -> Any:
        while size in self._same:
            size = self._same[size]
        return size

    def _reduced(self, sizes: AxisClass) -> AxisClass:
        """A set with one name for sizes that are known to be equal, and without 1."""
        found = self._known.get(sizes)
        if found is None:
            parts: Set[Any] = set().union(*map(self._named, sizes))
            self._known[sizes] = found = frozenset(parts - {_ONE} or {_ONE})
        return found

    def _named(self, size: Any) -> AxisClass:
        if size in self._params:
            return self._reduced(self._params[size])
        if isinstance(size, tuple) and size[0] == "cut":
            size = "cut", self._reduced(size[1]), size[2]
        elif isinstance(size, tuple) and size[0] == "slice":
            size = "slice", self._reduced(size[1]), size[2], tuple(map(self._reduced, size[3]))
        return frozenset([self._find(size)])

    def _proofs(self, block: Block) -> Iterator[Tuple[Value, Value]]:
        """Pairs of integers that are equal once a block has begun: its only way in has tested them."""
        entering = [(over, jump) for over in self._over for jump in _jumps(over) if jump.block is block]
        if len(entering) != 1 or not isinstance(entering[0][0].terminator, Branch):
            return
        branch = entering[0][0].terminator
        if branch.then is not branch.other:
            yield from self._equal(branch.condition, branch.then is entering[0][1])

    def _equal(self, condition: Value, holds: bool) -> Iterator[Tuple[Value, Value]]:
        op = self._made.get(condition)
        while op is not None and (op.name == "not" or op.name in KEEPS_TRUTH):
            holds = holds is (op.name != "not")
            op = self._made.get(op.args[0])
        if op is not None and op.name == "compare" and op.attrs["operator"] == ("==" if holds else "!="):
            yield op.args[0], op.args[1]

    def _find_params(self, graph: Graph) -> None:
        """Find the block parameters that have the shape of the arguments of all jumps, if these agree.

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
                entering = jump.block not in self._over[block]  # not the way back in a loop
                for param, arg in zip(jump.block.params, jump.args):
                    if isinstance(param.type, Array):
                        given.setdefault(param, []).insert(0 if entering else len(given.get(param, ())), arg)
        left = {param: args for param, args in given.items() if self.plain(args[0]) != self.plain(param)}
        while True:
            self._known = {}
            self._params = {size: axis for param, args in left.items() for (size,), axis in zip(
                self.plain(param), self.plain(args[0]))}
            wrong = [param for param, args in left.items() if any(self.of(arg) != self.of(param) for arg in args)]
            if not wrong:
                return
            for param in wrong:
                del left[param]


def _own(value: Value) -> ShapeClass:
    """The class of an array of which nothing is known."""
    return tuple(frozenset([("size", value, axis)]) for axis in range(cast(Array, value.type).ndim))


def _jumps(block: Block) -> List[Jump]:
    return block.terminator.targets() if block.terminator else []


def _elementwise(classes: ShapeClasses, op: Op) -> Optional[ShapeClass]:
    shapes = [classes.plain(value) for value in op.args if isinstance(value.type, Array)]
    count = max(map(len, shapes), default=0)
    if count != cast(Array, cast(Value, op.result).type).ndim:
        return None
    found: List[Set[Any]] = [set() for _ in range(count)]
    for shape in shapes:
        for axis, sizes in zip(found[count - len(shape):], shape):
            axis |= sizes
    return tuple(map(frozenset, found))


def _view(classes: ShapeClasses, op: Op) -> Optional[ShapeClass]:
    words, left = list(op.args[1:]), list(classes.plain(op.args[0]))
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
    shape = classes.plain(op.args[0])
    return tuple(shape[axis] for axis in op.attrs["axes"])


def _alloc(classes: ShapeClasses, op: Op) -> Optional[ShapeClass]:
    return tuple(map(classes.number, op.args))


_DERIVED: Dict[str, Callable[[ShapeClasses, Op], Optional[ShapeClass]]] = {
    "view": _view, "transpose": _transpose, "alloc": _alloc}
"""How the class of a result follows from those of the operands."""
