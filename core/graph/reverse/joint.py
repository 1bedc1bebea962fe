"""Joint functions: the value and the gradients of a graph as one NumPy function.

`pijit/gradient_kernels.py` jits it. The forward part repeats the graph's operations. The backward part adds up adjoints
in the tape's order and by the tape's rules, so that gradients have the tape's bits. `pijit/gradient_kernels.py` calls
it. It must not run the joint function.
"""

from __future__ import annotations

import collections
from typing import Any, Collection, Dict, List, Mapping, Sequence, Set, Tuple, cast

import numpy as np

from pijit.core.graph.ir import Graph, Op, Value
from pijit.core.graph.linear_forms import Forms
from pijit.core.graph.reverse.activity import active_roots, is_float
from pijit.core.graph.reverse.backward import FLOAT64, Backward
from pijit.core.graph.reverse.code import ROWS, VALUE, Code
from pijit.core.graph.reverse.control_flow.structure import region_of
from pijit.core.graph.reverse.conversions import with_conversions
from pijit.core.graph.reverse.effects import check_effects
from pijit.core.graph.reverse.errors import ANSWERS, Irreversible, OtherShapes
from pijit.core.graph.reverse.forward import HOST_CALL, MARKS
from pijit.core.graph.reverse.gather import gather
from pijit.core.graph.reverse.library_calls import is_number_array, shares_memory
from pijit.core.graph.reverse.liveness import live_in, without_dead
from pijit.core.graph.reverse.needs import Needs
from pijit.core.graph.reverse.regions import Conditional, LoopRegion, RegionItem, all_ops, walk
from pijit.core.graph.reverse.rematerialisation import rematerialised
from pijit.core.graph.reverse.results import Result
from pijit.core.graph.reverse.roots import Roots, constants_of
from pijit.core.graph.reverse.sequence import Forward
from pijit.core.graph.reverse.sizes.dims import Dims
from pijit.core.graph.reverse.sizes.symbols import Dim, Size
from pijit.core.graph.types import Scalar
from pijit.core.named_tuples import NamedTuple


class Joint(NamedTuple):
    """A joint function: takes the graph's inputs, returns a tuple: the result, then the gradient of each active input.

    The result is the value, or (value, aux).

    If the graph has loops or branches, there are two functions. The first one returns the result and what the second
    one takes. The second one returns the gradients. So the floating-point flags of all backward operations can be
    ignored.

    Attributes:
        name: its name.
        source: its source.
        backward_source: the source of the second function, or "".
        objects: the objects that they refer to, by their names.
        has_host_calls: whether the first function makes host calls. Then its last argument is a list, to which it
            appends before and after each one.
    """

    name: str
    source: str
    backward_source: str
    objects: Dict[str, Any]
    has_host_calls: bool


def make_joint(graph: Graph, wanted: Sequence[Value], shapes: Mapping[Value, Tuple[int, ...]], limit: int,
               returning: Collection[int], levels: int = 1, has_aux: bool = False, are_static: bool = False) -> Joint:
    """The joint function of a graph.

    Args:
        graph: a captured graph. It is changed.
        wanted: the active inputs, float arrays in C order or floats.
        shapes: the shapes of the inputs that are arrays.
        limit: the most bytes that a loop may save.
        returning: the exits of the graph that leave the function's result.
        levels: 1: loops save all iterations; 2 or 3: they have checkpoints, and compute iterations again.
        has_aux: the result is (value, aux), and the value is differentiated; else the result is the value.
        are_static: whether the joint function is only called with arrays of these shapes.

    Raises:
        Irreversible: the graph is not reversed; the message says why.
    """
    region = region_of(graph, returning)
    outputs = region.outputs
    tuples = _tuples_in([output.value for output in outputs if output.kind == "value"], region.items)
    arrays = {op.result: op.args[0] for op in all_ops(region.items) if is_number_array(op)}
    results = [arrays.get(output.value, output.value) for output in outputs if output.kind == "value"]
    if has_aux and len(results) == 1 and results[0] in tuples:
        value, *rest = tuples[results[0]].args
        results = [arrays.get(value, value), *rest]
    if len(outputs) != 1 or len(results) != 1 + has_aux or not _is_number(results[0]):
        raise Irreversible("a result that is not one number that the function computes")
    return _JointWriter(graph, region.items, wanted, shapes, Result(results, tuples), limit, levels,
                        region.repeated, are_static).joint()


def _tuples_in(values: Sequence[Value], items: Sequence[RegionItem]) -> Dict[Any, Op]:
    """The operations that make the tuples among values, and the tuples in these."""
    makers = {op.result: op for op in items if isinstance(op, Op) and op.name == "new_tuple"}
    found: Dict[Any, Op] = {}
    left = list(values)
    while left:
        value = left.pop()
        if value in makers:
            found[value] = makers[value]
            left += makers[value].args
    return found


def _is_number(value: Value) -> bool:
    return isinstance(value.type, Scalar) and is_float(value)


def _function(name: str, parameters: Sequence[str], lines: Sequence[str]) -> str:
    return "\n".join(["def %s(%s):" % (name, ", ".join(parameters)), *lines]) + "\n"


class _JointWriter:
    """Writes one joint function."""

    def __init__(self, graph: Graph, items: Sequence[RegionItem], wanted: Sequence[Value],
                 shapes: Mapping[Value, Tuple[int, ...]], result: Result, limit: int, levels: int,
                 repeated: Set[Op], are_static: bool) -> None:
        self.graph, self.wanted, self._result = graph, wanted, result
        self.items = with_conversions(result.without_tuples(items))
        self.result = result.value
        self.roots = Roots(self.items)
        check_effects(self.items, self.roots, repeated)
        self._check_memory()
        self.active = active_roots(self.items, self.roots, wanted, self.result)
        if not self.active.issuperset(wanted):
            raise Irreversible("nothing flows to an argument")
        constants = constants_of(self.items)
        self.dims = Dims(shapes, are_static, Forms(graph))
        self.dims.measure(self.items, constants)
        self.needs = Needs(self.items, self.roots, self.active, result.values())
        self.code = Code(self.items, self.roots, constants, self.dims)
        self.code.inputs, self.code.outermost = set(graph.inputs), self._outermost()
        loops = {item: set().union(*map(self.needs.stored_by, self.items[number + 1:]))
                 for number, item in enumerate(self.items) if isinstance(item, LoopRegion) and item.is_counted
                 and not self.needs.of[item].drawn}
        self.forward = Forward(self.code, self.needs, limit, loops if levels > 1 else {}, levels)
        self.backward = Backward(self.code, self.forward, self.active)

    def _check_memory(self) -> None:
        """Refuse arrays whose adjoint might not be in C order, or might have to share memory."""
        carried = set(self.roots.stored).union(*(item.params for item in walk(self.items)
                                                 if isinstance(item, (LoopRegion, Conditional))))
        if self.roots.reshaped & carried:
            raise Irreversible("a reshaped array that is stored into, or that a loop or a branch changes")
        ops = all_ops(self.items)
        uses = collections.Counter(self.roots.of(arg) for op in ops for arg in op.args)
        for op in filter(shares_memory, ops):
            for root in map(self.roots.of, (cast(Value, op.result), *op.args)):
                if root in self.roots.stored or is_float(root) and root is not op.result and uses[root] > 1:
                    raise Irreversible("an array that may share memory with another one")

    def _outermost(self) -> Set[Value]:
        found = set(self.graph.inputs)
        for item in self.items:
            if isinstance(item, Op) and item.result is not None:
                found.add(item.result)
            elif isinstance(item, (LoopRegion, Conditional)):
                found.update(item.params)
        return found

    # ---- the whole function ----

    def joint(self) -> Joint:
        """The joint function."""
        code, backward = self.code, self.backward
        self.forward.recorded(self.items, self.needs.whole, None)
        code.reports_flags = False
        result, forward, code.lines = self._result.code(code.name), code.lines, []
        split = any(isinstance(item, (LoopRegion, Conditional)) for item in self.items)
        code.depth += not split
        for op in [] if split else rematerialised(self.items, self.needs.whole.read, self.roots,
                                                  self._result.values()):
            self.forward.again(op)
        code.line("%s = %s" % (code.adjoint(self.result), self._seed()))
        backward.shapes[self.result] = ()
        backward.sequence(self.items)
        for value in self.wanted:
            if value not in backward.shapes:
                raise Irreversible("nothing flows to an argument")
            backward.fill(value)
            if value in backward.flags and isinstance(value.type, Scalar):
                code.line("%s = %s if %s else %s" % (code.adjoint(value), code.adjoint(value), code.flag(value),
                                                    code.number(value.type.dtype, 0.0)))
        gradients = [code.adjoint(value) for value in self.wanted]
        if not split:
            self._gather(set(gradients))
        for loop in code.all_loops:
            old, new = self.forward.least_name(loop) + ":", "%d:" % backward.loops.least.get(loop, 1)
            forward = [line.replace(old, new) for line in forward]
            code.lines = [line.replace(old, new) for line in code.lines]
        name, inputs = "joint_%s" % self.graph.name, list(map(code.name, self.graph.inputs))
        if split:
            carried = [name for name in live_in(code.lines) if name in code.variables]
            forward.append("    return %s" % ", ".join([result] + carried))
            code.line("return %s," % ", ".join(gradients))
            backward_source = _function(name + "_backward", carried, self._equal_sizes(carried) + code.lines)
        else:
            forward.append("    with %s(all='ignore'):" % code.object(np.errstate, "errstate"))
            code.depth -= 1  # CPython 3.7 and 3.8 have no kernels for a return inside of a with statement
            code.line("return %s" % ", ".join([result] + gradients))
            forward, backward_source = forward + code.lines, ""
        has_host_calls = any(op.name == HOST_CALL for op in code.all_ops)
        source = _function(name, inputs + [MARKS] * has_host_calls, self._checks() + forward)
        return Joint(name, source, backward_source, code.objects, has_host_calls)

    def _gather(self, kept: Set[str]) -> None:
        """Gather additions to parts of arrays; ``kept`` are the variables that are returned."""
        code = self.code
        zeros = {code.object(np.zeros_like, "zeros_like"): code.object(np.empty_like, "empty_like"),
                 code.object(np.zeros, "zeros"): code.object(np.empty, "empty")}
        found = gather(code.lines, code.facts(lambda name: name not in kept, zeros))
        while found is not None:
            code.lines = without_dead(found.lines, lambda name: name not in kept)
            code.require_lengths(found.name, found.least)
            found = gather(code.lines, code.facts(lambda name: name not in kept, zeros))

    def _equal_sizes(self, names: Sequence[str]) -> List[str]:
        """A test of sizes at the beginning of the backward part. It never fails; the compiler learns from it."""
        code, found = self.code, {}  # type: Code, Dict[object, List[str]]
        for name in names:
            role, value = code.variables[name]
            for axis, dim in enumerate(self.dims.of.get(value, ()) if role in (VALUE, ROWS) else ()):
                found.setdefault(self.dims.found(dim), []).append("%s.shape[%d]" % (name, axis + (role == ROWS)))
        tests = ["%s != %s" % pair for dim, alike in found.items() if dim != 1 for pair in zip(alike, alike[1:])]
        return ["    if %s:" % " or ".join(tests),
                "        return %r" % ANSWERS[OtherShapes]] if tests else []

    def _seed(self) -> str:
        dtype = cast(Scalar, self.result.type).dtype
        has_branches = any(isinstance(item, Conditional) for item in walk(self.items))
        return "1.0" if dtype == FLOAT64 and not has_branches else self.code.number(dtype, 1.0)

    def _checks(self) -> List[str]:
        """Tests of the sizes of inputs and of their views, at the beginning of the function."""
        tests = ["%s != %s" % (self._size(check.one), self._size(check.other)) for check in self.dims.checks]
        tests += ["%s < %d" % (self.code.size(dim), least) for dim, least in self.code.lengths.items()]
        if not tests:
            return []
        return ["    if %s:" % " or ".join(tests),
                "        return %r" % ANSWERS[OtherShapes]]

    def _size(self, size: Dim) -> str:
        """A size of an input, or of a view of one, as code."""
        if not isinstance(size, Size):
            return repr(size)
        if self.roots.of(size.array) in self.code.inputs:
            root, path = self.roots.path(size.array, self._constant)
            return "%s%s.shape[%d]" % (self.code.name(root), path, size.axis)
        if size not in self.dims.cuts:
            raise Irreversible("sizes of computed arrays that may differ")
        whole, lacking = self.dims.cuts[size]
        return "%s(%s - %d, 0)" % (self.code.object(max, "max"), self._size(self.dims.found(whole)), lacking)

    def _constant(self, value: Value) -> str:
        if value not in self.code.constants:
            raise Irreversible("a slice whose ends are computed")
        return repr(self.code.constants[value])
