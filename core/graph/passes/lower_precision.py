"""Mixed precision: elementwise functions and products of matrices of float64 arrays are computed in float32.

It runs if the option `auto_mixed_precision` is "float32". Before::

    %2: float64[1d,C] = ufunc %0 {types='d->d', ufunc=exp}  else exit0()
    %3: float64[1d,C] = ufunc %2, %1 {types='dd->d', ufunc=multiply}  else exit0()

After, with a conversion of each operand from outside and of each result that is needed outside::

    %4: float32[1d,C] = alloc ...
    assign %4, %0  else exit0()
    %5: float32[1d,C] = ufunc %4 {types='f->f', ufunc=exp}  else exit0()
    ...
    assign %3, %7  else exit0()

Types outside do not change. Sums, comparisons, scalars, linear algebra and stores stay in float64. A group of connected
operations is lowered if it saves more than the conversions cost: `exp` takes less than a third of the time, and
additions save almost nothing. A number that float32 cannot hold raises the flag of an overflow. Then the kernel leaves,
and bytecode computes in float64.

Numbers that are operands are checked before, because no flag tells that their conversion overflows.

All operations of a group leave by the exit of the first one. So no exit needs an intermediate result in float64. That
is right because nothing between them has an effect, and bytecode may repeat all of them.
"""

from __future__ import annotations

from typing import Any, Dict, Iterator, List, Optional, Set, cast

import numpy as np

from pijit.core.graph.ir import Block, Graph, Op, SideExit, Value
from pijit.core.graph.library import FUNCTIONS
from pijit.core.graph.ops import EFFECTS
from pijit.core.graph.types import FLAG, FLOAT, WORD, Array, Scalar

_CONVERSION = 0.7
"""The ns per element of a conversion."""

_PRODUCT = 1000.0
"""The saving of a product of matrices, which is more than any conversion costs."""

_LOWER = {"d": "f"}

_LEAST, _MOST = 2.0 ** -126, 2.0 ** 127
"""The magnitudes of numbers that are converted."""


def lower_precision(graph: Graph) -> None:
    """Lower the groups of a graph in place, if the graph asks for it."""
    if graph.precision is None:
        return
    numbers = {cast(Value, op.result): op.attrs["value"] for block in graph.blocks for op in block.ops
               if op.name == "const"}
    for block in graph.blocks:
        needed = _Needed(graph, block)
        for group in _groups(block, numbers):
            if group.pays(needed):
                _LoweredGroup(graph, block, group, needed, numbers).run()


class _Group:
    """Connected operations of one block with no effect between them, in program order."""

    def __init__(self, ops: List[Op]) -> None:
        self.ops = ops
        self.results = {cast(Value, op.result) for op in ops}

    def operands(self) -> List[Value]:
        """The arrays from outside, each once."""
        found = {value: None for op in self.ops for value in op.args
                 if isinstance(value.type, Array) and value not in self.results}
        return list(found)

    def pays(self, needed: "_Needed") -> bool:
        """Whether the group saves more than its conversions cost."""
        conversions = len(self.operands()) + sum(needed.outside(value, self) for value in self.results)
        return sum(map(_saving, self.ops)) > conversions * _CONVERSION


class _Needed:
    """The operations of a block that use each value. None stands for a use by another block or a jump."""

    def __init__(self, graph: Graph, block: Block) -> None:
        self._users: Dict[Value, List[Optional[Op]]] = {}
        self._exits: Dict[Value, List[Op]] = {}
        for op in block.ops:
            for value in op.args:
                self._users.setdefault(value, []).append(op)
            for value in op.exit.values() if op.exit is not None else ():
                self._exits.setdefault(value, []).append(op)
        for value in _uses_elsewhere(graph, block):
            self._users.setdefault(value, []).append(None)

    def outside(self, value: Value, group: _Group) -> bool:
        """Whether another operation or its exit needs a result of the group."""
        inside = set(group.ops)
        users: List[Optional[Op]] = [*self._users.get(value, ()), *self._exits.get(value, ())]
        return any(op is None or op not in inside for op in users)


def _uses_elsewhere(graph: Graph, block: Block) -> Iterator[Value]:
    """The values that the end of the block and other blocks use."""
    for other in graph.blocks:
        if other is not block:
            for op in other.ops:
                yield from op.args
                yield from op.exit.values() if op.exit is not None else ()
        yield from other.terminator.values()
        for jump in other.terminator.targets():
            yield from jump.args


def _may_be_lowered(op: Op, numbers: Dict[Value, Any]) -> bool:
    """Whether float32 has a loop for an operation, and holds the numbers among its operands."""
    known = [numbers[value] for value in op.args if value in numbers]
    fit = all(number == 0 or _LEAST <= abs(number) <= _MOST for number in known if type(number) in (int, float))
    return fit and _loop_of(op) is not None


def _loop_of(op: Op) -> Optional[int]:
    """The number of the ufunc's loop for float32."""
    ufunc, types = op.attrs.get("ufunc"), op.attrs.get("types", "")
    if _saving(op) == 0.0 or op.exit is None or not set(types) <= set("d->"):
        return None
    arrays = [value.type for value in op.args if isinstance(value.type, Array)]
    arrays.append(cast(Array, cast(Value, op.result).type))
    if any(kind.ndim == 0 or kind.dtype != np.float64 or kind.layout != "C" and kind.ndim > 1 for kind in arrays):
        return None
    wanted = _types_in_float32(types)
    return ufunc.types.index(wanted) if ufunc is not None and wanted in ufunc.types else None


def _saving(op: Op) -> float:
    ufunc: Any = op.attrs.get("ufunc")
    if op.name == "gufunc":
        matrices = all(cast(Array, value.type).ndim > 1 for value in op.args)
        return _PRODUCT if ufunc is np.matmul and matrices else 0.0
    row = FUNCTIONS.get(ufunc.__name__) if op.name == "ufunc" else None
    return row.saving if row is not None and row.object is ufunc else 0.0


def _types_in_float32(types: str) -> str:
    return "".join(_LOWER.get(code, code) for code in types)


def _groups(block: Block, numbers: Dict[Value, Any]) -> List[_Group]:
    """The groups of operations that may be lowered.

    Operations are connected if one uses the result or an operand of another one, and no operation between them has an
    effect.
    """
    found: List[_Group] = []
    stretch: List[Op] = []
    for op in block.ops:
        if op.name in EFFECTS:
            found += _connected(stretch)
            stretch = []
        elif _may_be_lowered(op, numbers):
            stretch.append(op)
    return found + _connected(stretch)


def _connected(ops: List[Op]) -> List[_Group]:
    parts: List[Set[Value]] = []
    for op in ops:
        values = {value for value in op.args if isinstance(value.type, Array)} | {cast(Value, op.result)}
        joined = [part for part in parts if part & values]
        parts = [part for part in parts if not part & values] + [values.union(*joined)]
    return [_Group([op for op in ops if op.result in part]) for part in parts]


class _LoweredGroup:
    """The change of one group of a block."""

    def __init__(self, graph: Graph, block: Block, group: _Group, needed: _Needed, numbers: Dict[Value, Any]) -> None:
        self._graph, self._block, self._group, self._needed = graph, block, group, needed
        self._checked = set(numbers)
        self._exit = cast(SideExit, group.ops[0].exit)
        self._lower: Dict[Value, Value] = {}
        self._ops: List[Op] = []

    def run(self) -> None:
        """Replace the operations in place."""
        mine = set(self._group.ops)
        for op in self._block.ops:
            if op in mine:
                self._lower_operation(op)
            else:
                self._ops.append(op)
        self._block.ops = self._ops

    def _lower_operation(self, op: Op) -> None:
        for value in op.args:
            if isinstance(value.type, Scalar) and value.type.dtype == np.float64 and value not in self._checked:
                self._checked.add(value)
                self._check(value, op)
        args = [self._operand(value, op) if isinstance(value.type, Array) else value for value in op.args]
        kind, types = cast(Array, cast(Value, op.result).type), _types_in_float32(op.attrs["types"])
        result = self._graph.new_value(Array(np.float32, kind.ndim, kind.layout))
        attrs = dict(op.attrs, types=types, loop=_loop_of(op))
        self._ops.append(Op(op.name, args, attrs, result, self._exit, op.lineno, op.origin))
        if op.name == "gufunc":
            self._check_product(result, op)
        self._lower[cast(Value, op.result)] = result
        if self._needed.outside(cast(Value, op.result), self._group):
            self._convert(result, cast(Value, op.result), op)

    def _check_product(self, product: Value, op: Op) -> None:
        """Leave if an element of a product is not finite: libraries for linear algebra tell of no overflow."""
        total = self._graph.new_value(Scalar(np.dtype(np.float32), "np"))
        attrs = {"ufunc": np.add, "axis": None, "keepdims": False, "types": "f"}
        self._ops.append(Op("reduce", [product], attrs, total, self._exit, op.lineno, op.origin))
        self._check(total, op)

    def _check(self, number: Value, op: Op) -> None:
        """Leave unless a number is far from what float32 cannot hold."""
        for symbol, bound in (("<=", _MOST), (">=", -_MOST)):
            limit, flag = self._graph.new_value(FLOAT), self._graph.new_value(FLAG)
            self._ops.append(Op("const", [], {"value": bound}, limit, None, op.lineno, op.origin))
            if number.type != FLOAT:
                same = self._graph.new_value(number.type)
                self._ops.append(Op("cast", [limit], {}, same, self._exit, op.lineno, op.origin))
                limit = same
            self._ops.append(Op("compare", [number, limit], {"operator": symbol}, flag, None, op.lineno, op.origin))
            self._ops.append(Op("require", [flag], {}, None, self._exit, op.lineno, op.origin))

    def _operand(self, value: Value, op: Op) -> Value:
        """An operand in float32."""
        if value not in self._lower:
            self._lower[value] = self._graph.new_value(Array(np.float32, cast(Array, value.type).ndim, "C"))
            self._convert(value, self._lower[value], op)
        return self._lower[value]

    def _convert(self, value: Value, target: Value, op: Op) -> None:
        """Store a value into a new array of the other dtype."""
        sizes = []
        for axis in range(cast(Array, value.type).ndim):
            sizes.append(self._graph.new_value(WORD))
            self._ops.append(Op("dim", [value], {"axis": axis}, sizes[-1], None, op.lineno, op.origin))
        attrs = {"fill": None, "order": "C"}
        self._ops.append(Op("alloc", sizes, attrs, target, self._exit, op.lineno, op.origin))
        self._ops.append(Op("assign", [target, value], {}, None, self._exit, op.lineno, op.origin))
