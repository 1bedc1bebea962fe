"""Joint functions: the value and the gradients of a straight-line graph as one NumPy function.

`pijit/gradient_kernels.py` jits it. The forward part repeats the graph's operations. The backward part adds up adjoints
in the tape's order and by the tape's rules, so that gradients have the tape's bits.
"""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Mapping, NamedTuple, Sequence, Set, Tuple, cast

import numpy as np

from pijit.core.graph.derivatives.adjoints import cast_to, strong_zero, strong_zero_number
from pijit.core.graph.ir import Graph, Leave, Op, Value
from pijit.core.graph.ops import EFFECTS, VIEWS
from pijit.core.graph.reverse.activity import active_values, is_float, straight_line
from pijit.core.graph.reverse.adjoint import Contribution, contributions
from pijit.core.graph.reverse.dims import Dim, Dims, Size
from pijit.core.graph.reverse.errors import Irreversible
from pijit.core.graph.reverse.forward import expression, view_of
from pijit.core.graph.types import Array, Scalar

FLOAT64 = np.dtype(np.float64)


class OtherShapes(Exception):
    """The joint function was called with sizes for which it was not made."""


class Joint(NamedTuple):
    """A joint function: takes the graph's inputs, returns a tuple: the value, then the gradient of each active input.

    Attributes:
        name: its name.
        source: its source.
        objects: the objects that it refers to, by their names.
    """

    name: str
    source: str
    objects: Dict[str, Any]


def make_joint(graph: Graph, wanted: Sequence[Value], shapes: Mapping[Value, Tuple[int, ...]]) -> Joint:
    """The joint function of a graph.

    Args:
        graph: a captured graph whose last exit leaves one value, the function's result.
        wanted: the active inputs, float arrays in C order or floats.
        shapes: the shapes of the inputs that are arrays.

    Raises:
        Irreversible: the graph is not reversed; the message says why.
    """
    ops = straight_line(graph)
    if not ops:
        raise Irreversible("control flow")
    end = graph.blocks[-1].terminator
    assert isinstance(end, Leave)
    outputs = [output for output in end.exit.outputs if output.kind != "const"]
    if len(outputs) != 1 or outputs[0].kind != "value" or not _is_number(outputs[0].value):
        raise Irreversible("a result that is not one number that the function computes")
    for op in ops:
        if op.name in EFFECTS:
            raise Irreversible("a store (%s)" % op.name)
    return _Writer(graph, ops, wanted, shapes, outputs[0].value).joint()


def _is_number(value: Value) -> bool:
    return isinstance(value.type, Scalar) and is_float(value)


class _Writer:
    """Writes one joint function."""

    def __init__(self, graph: Graph, ops: List[Op], wanted: Sequence[Value], shapes: Mapping[Value, Tuple[int, ...]],
                 result: Value) -> None:
        self.graph, self.ops, self.wanted, self.result = graph, ops, wanted, result
        self.active = active_values(ops, wanted, result)
        if not self.active.issuperset(wanted):
            raise Irreversible("nothing flows to an argument")
        self.dims = Dims(shapes)
        self.lines: List[str] = []
        self.depth = 1
        self._objects: Dict[str, Any] = {}
        self._names: Dict[int, str] = {}
        self._constants = {cast(Value, op.result): op.attrs["value"] for op in ops if op.name == "const"}
        self._view = {cast(Value, op.result): op for op in ops if op.name in VIEWS}
        self._viewed: Set[Value] = {self.root(value) for value in self._view if value in self.active}
        self._shapes: Dict[Value, Tuple[Dim, ...]] = {}  # of the adjoints so far; broadcasting is left for later

    # ---- names ----

    def name(self, value: Value) -> str:
        return "v%d" % value.id

    def adjoint(self, value: Value) -> str:
        return "g%d" % value.id

    def object(self, value: Any, hint: str) -> str:
        known = self._names.get(id(value))
        if known is None:
            known = self._names[id(value)] = "%s_%d" % (hint if hint.isidentifier() else "rule", len(self._objects))
            self._objects[known] = value
        return known

    def constant(self, value: Value) -> Any:
        if value not in self._constants:
            raise Irreversible("a slice whose ends are computed")
        return self._constants[value]

    def root(self, value: Value) -> Value:
        """The array that a view looks into."""
        while value in self._view:
            value = self._view[value].args[0]
        return value

    def line(self, text: str) -> None:
        self.lines.append("    " * self.depth + text)

    # ---- the whole function ----

    def joint(self) -> Joint:
        for op in self.ops:
            self._forward(op)
        self.line("with %s(all='ignore'):" % self.object(np.errstate, "errstate"))
        self.depth += 1
        self.line("%s = %s" % (self.adjoint(self.result), self._seed()))
        self._shapes[self.result] = ()
        for op in reversed(self.ops):
            if op.result in self.active and op.result not in self._view:
                self._backward(op)
        for value in self.wanted:
            if self.root(value) not in self._shapes:
                raise Irreversible("nothing flows to an argument")
            self._fill(value)
        self.depth -= 1
        results = [self.name(self.result)] + [self.adjoint(value) for value in self.wanted]
        self.line("return %s" % ", ".join(results))
        name = "joint_%s" % self.graph.name
        head = "def %s(%s):" % (name, ", ".join(map(self.name, self.graph.inputs)))
        return Joint(name, "\n".join([head] + self._checks() + self.lines) + "\n", self._objects)

    def _seed(self) -> str:
        dtype = cast(Scalar, self.result.type).dtype
        return "1.0" if dtype == FLOAT64 else "%s(1.0)" % self.object(dtype.type, dtype.name)

    # ---- forward ----

    def _forward(self, op: Op) -> None:
        if op.result is None:  # an exit unless the condition holds
            self.line("if not %s:" % self.name(op.args[0]))
            self.line("    raise %s" % self.object(OtherShapes, "OtherShapes"))
            return
        self.line("%s = %s" % (self.name(op.result), expression(self, op)))
        self.dims.measure(op, self.constant)

    def _checks(self) -> List[str]:
        """Tests of the sizes of inputs and of their views, at the beginning of the function."""
        inputs = set(self.graph.inputs)
        for check in self.dims.checks:
            for size in check[:2]:
                if isinstance(size, Size) and self.root(size.array) not in inputs:
                    raise Irreversible("sizes of computed arrays that may differ")
        tests = ["%s != %s" % (self._size(check.one), self._size(check.other) if isinstance(check.other, Size)
                               else check.other) for check in self.dims.checks]
        if not tests:
            return []
        return ["    if %s:" % " or ".join(tests), "        raise %s" % self.object(OtherShapes, "OtherShapes")]

    def _size(self, size: Size) -> str:
        """A size of an input, or of a view of one, as code."""
        root, path = self._path(size.array, lambda value: repr(self.constant(value)))
        return "%s%s.shape[%d]" % (self.name(root), path, size.axis)

    def _path(self, value: Value, text: Callable[[Value], str]) -> Tuple[Value, str]:
        """The root of a value, and the code that makes this view of an array like it."""
        path = ""
        while value in self._view:
            op = self._view[value]
            path = view_of(op, text) + path
            value = op.args[0]
        return value, path

    # ---- backward ----

    def _backward(self, op: Op) -> None:
        result = cast(Value, op.result)
        if self.root(result) not in self._shapes:
            return
        parts = [part for part in contributions(op) if part.operand in self.active]
        if parts and parts[0].item is not None:
            self._fill(result)
            self.line("p%d = %s" % (result.id, self._rule(op, parts[0])))
        for part in parts:
            self._add_part(op, part)

    def _add_part(self, op: Op, part: Contribution) -> None:
        """Add a contribution, summed over the axes that broadcasting repeats."""
        result, operand, text = cast(Value, op.result), part.operand, self._part(op, part)
        if part.spreads:
            self._spread(op)
            return
        if part.item is not None:
            self._add(operand, text, self.dims.of.get(operand, ()))
            return
        shape = self.dims.broadcast([self._shapes[result]] + [self.dims.of.get(value, ()) for value in part.sizes])
        extra, ones = self.dims.summed(operand, result)
        if (extra or ones) and not self.dims.are_full(shape, result):
            text = "%s(%s, %s.shape)" % (self.object(np.broadcast_to, "broadcast_to"), text, self.name(result))
        total = self.object(np.sum, "sum")
        if extra:
            every = len(extra) == len(self.dims.of.get(result, ()))
            text = "%s(%s%s)" % (total, text, "" if every else ", axis=%r" % (extra if len(extra) > 1 else extra[0],))
        if ones:
            text = "%s(%s, axis=%r, keepdims=True)" % (total, text, ones if len(ones) > 1 else ones[0])
        self._add(operand, text, self.dims.of.get(operand, ()) if extra or ones else shape)

    def _spread(self, op: Op) -> None:
        """Add the adjoint of a sum to that of its operand. Broadcasting repeats it, once the axis is put back."""
        result, axis, ndim = cast(Value, op.result), op.attrs["axis"], len(self.dims.of[op.args[0]])
        shape, index = self._shapes[result], ""
        if axis is not None and not op.attrs["keepdims"] and shape:
            self._fill(result)
            shape, place = self._shapes[result], axis % ndim
            shape = shape[:place] + (1,) + shape[place:]
            index = "[%s]" % ", ".join("None" if number == place else ":" for number in range(ndim))
        self._add(op.args[0], self.adjoint(result) + index, shape)

    def _fill(self, value: Value) -> None:
        """Make the adjoint of an array as large as the array."""
        root = self.root(value)
        if not self.dims.are_full(self._shapes[root], root):
            self.line("%s = %s(%s) + %s" % (self.adjoint(root), self.object(np.zeros_like, "zeros_like"),
                                            self.name(root), self.adjoint(root)))
            self._shapes[root] = self.dims.of[root]

    def _rule(self, op: Op, part: Contribution) -> str:
        """The call of a rule."""
        result = cast(Value, op.result)
        words = [self.adjoint(result), self.name(result), *map(self.name, op.args)]
        words += ["%s=%r" % keyword for keyword in part.keywords]
        return "%s(%s)" % (self.object(part.rule, getattr(part.rule, "__name__", "rule").strip("_<>")),
                           ", ".join(words))

    def _part(self, op: Op, part: Contribution) -> str:
        """A contribution as an expression."""
        result = cast(Value, op.result)
        if part.rule is None:
            return self.adjoint(result)
        if part.item is not None:
            return "p%d[%d]" % (result.id, part.item)
        text = self._rule(op, part)
        if not part.singular:
            return text
        arrays = any(isinstance(value.type, Array) for value in (result, *op.args))
        function = strong_zero if arrays else strong_zero_number
        return "%s(%s, %s)" % (self.object(function, "strong_zero"), self.adjoint(result), text)

    def _add(self, operand: Value, part: str, shape: Tuple[Dim, ...]) -> None:
        """Add a contribution of these sizes to the adjoint of an operand. Arrays begin with 0, numbers do not."""
        kind = cast(Any, operand.type)
        if kind.dtype != FLOAT64:
            part = "%s(%s, %s)" % (self.object(cast_to, "cast_to"), part, self.object(kind.dtype, kind.dtype.name))
        root, g = self.root(operand), self.adjoint(operand)
        if root in self._viewed:
            if root not in self._shapes:
                self.line("%s = %s(%s)" % (self.adjoint(root), self.object(np.zeros_like, "zeros_like"),
                                           self.name(root)))
                self._shapes[root] = self.dims.of[root]
            self.line("%s += %s" % (self._shadow(operand), part))
        elif root in self._shapes:
            self.line("%s = %s + %s" % (g, g, part))
            self._shapes[root] = self.dims.broadcast([self._shapes[root], shape])
        else:
            self.line("%s = %s%s" % (g, "0.0 + " if isinstance(operand.type, Array) else "", part))
            self._shapes[root] = shape

    def _shadow(self, value: Value) -> str:
        """The adjoint of a value: a view of the adjoint of its root."""
        root, path = self._path(value, self.name)
        return self.adjoint(root) + path + ("" if path.endswith("]") else "[...]")
