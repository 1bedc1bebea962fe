"""Code of a joint function: lines, and the names of values and objects.

Arrays that stores write to have another name after each store that keeps the older version. `sequence`, `backward` and
`joint` write into it. It must not decide what is written.
"""

from __future__ import annotations

import types
from types import MappingProxyType
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Set, Tuple, cast

import numpy as np

from pijit.core.graph.derivatives import ELEMENTWISE
from pijit.core.graph.derivatives.adjoints import cast_to, strong_zero_array
from pijit.core.graph.ir import Value
from pijit.core.graph.reverse.array_parts import Cuts
from pijit.core.graph.reverse.errors import Irreversible
from pijit.core.graph.reverse.regions import LoopRegion, RegionItem, all_ops, passed, walk
from pijit.core.graph.reverse.repeated_expressions import NUMBER, Facts, Lacking
from pijit.core.graph.reverse.roots import Roots
from pijit.core.graph.reverse.sizes.dims import Dims
from pijit.core.graph.reverse.sizes.symbols import Dim, Size
from pijit.core.graph.reverse.sum_sinking import Functions
from pijit.core.graph.types import Array, Scalar
from pijit.core.named_tuples import NamedTuple

_RULES = frozenset([partial for rule in ELEMENTWISE.values() for partial in rule.partials] + [
    cast_to, strong_zero_array])
"""Functions that the backward part calls and that are computed element by element."""

_CHEAP = frozenset([np.add, np.subtract, np.multiply, np.negative, np.square])
"""Operations that are repeated rather than stored."""

_CHEAP_RULES = frozenset([partial for ufunc in _CHEAP for partial in ELEMENTWISE[ufunc].partials])
"""The rules of these operations, which are as cheap."""

MOST_LINES = 600
"""The most lines of a joint function: nested loops repeat their bodies."""


VALUE, ADJOINT, ROWS, COUNT, FLAG = "value", "adjoint", "rows", "count", "flag"


class Variable(NamedTuple):
    """What a variable holds: a value, its adjoint, its saved rows, the number of iterations that it limits, or whether
    its adjoint exists."""

    role: str
    value: Value


class Code:
    """The lines of one joint function.

    Args:
        items: the region.
        roots, constants, dims: facts about it.

    Attributes:
        all_ops, all_loops: the operations and the loops of the region.
        all_passed: what its conditionals pass to their joins.
        lines: the source.
        depth: the depth of indentation.
        objects: the objects that the source refers to, by their names.
        variables: what the variables hold, by their names; those that one statement needs are left out.
        inputs: the inputs of the function.
        outermost: the values that the function computes outside of loops, and its inputs.
        lengths: the least size of axes.
        now: the names of arrays whose current version has another name than the first one.
        reports_flags: whether the lines run under an error state that raises for floating-point flags.
    """

    def __init__(self, items: Sequence[RegionItem], roots: Roots, constants: Mapping[Value, Any], dims: Dims) -> None:
        self.roots, self.constants, self.dims = roots, constants, dims
        self.all_ops = all_ops(items)
        self.all_loops = [item for item in walk(items) if isinstance(item, LoopRegion)]
        self.all_passed = set(passed(items))
        self.inputs: Set[Value] = set()
        self.outermost: Set[Value] = set()
        self.lines: List[str] = []
        self.depth = 1
        self.objects: Dict[str, Any] = {}
        self.variables: Dict[str, Variable] = {}
        self.lengths: Dict[Dim, int] = {}
        self.now: Dict[Value, str] = {}
        self.reports_flags = True
        self._names: Dict[int, str] = {}
        self._fresh = 0

    def line(self, text: str) -> None:
        """Add a line. Raises Irreversible when the function becomes too long."""
        self.lines.append("    " * self.depth + text)
        if len(self.lines) > MOST_LINES:
            raise Irreversible("its joint function is too long")

    def replace(self, place: int, text: str) -> None:
        """Put another line in the place of one."""
        self.lines[place] = "    " * self.depth + text

    def indent(self, place: int) -> None:
        """Make the lines from a place on the body of the statement before them."""
        self.lines[place:] = ["    " + line for line in self.lines[place:]]

    def fresh(self, hint: str) -> str:
        """A name that nothing else has."""
        self._fresh += 1
        return "%s_%d" % (hint, self._fresh)

    # ---- names ----

    def _variable(self, name: str, role: str, value: Value) -> str:
        self.variables[name] = Variable(role, value)
        return name

    def name(self, value: Value) -> str:
        """The code that reads a value at this point."""
        if value in self.constants:
            return self._constant(self.constants[value])
        if self._is_view(value):
            root, path = self.roots.path(value, self.index)
            return self.name(root) + path
        return self.now[value] if value in self.now else self.first(value)

    def _is_view(self, value: Value) -> bool:
        """Whether the code that reads a value is a view of its root."""
        return value in self.roots.view and self.roots.of(value) in self.roots.stored

    def is_zero(self, value: Value) -> bool:
        """Whether an integer is the constant 0."""
        known = self.constants.get(value)
        return type(known) is int and known == 0

    def first(self, value: Value) -> str:
        """The variable of a value, or of the first version of an array."""
        return self._variable("v%d" % value.id, VALUE, value)

    def version(self, value: Value) -> str:
        """The variable of a further version of an array."""
        return self._variable(self.fresh("v%d" % value.id), VALUE, value)

    def rows(self, loop: LoopRegion, value: Value) -> str:
        """The variable of what the iterations of a loop save of a value."""
        return self._variable("s%d_%d" % (value.id, loop.number), ROWS, value)

    def checkpoints(self, loop: LoopRegion, value: Value, level: int) -> str:
        """The variable of a value at the checkpoints of a loop."""
        return self._variable("c%d_%d_%d" % (value.id, loop.number, level), ROWS, value)

    def interval(self, loop: LoopRegion) -> str:
        """The variable of the number of iterations from one checkpoint of a loop to the next."""
        return self._variable("k_%d" % loop.number, COUNT, loop.limit)

    def count(self, loop: LoopRegion) -> str:
        """The variable of a loop's number of iterations."""
        return self._variable("n_%d" % loop.number, COUNT, loop.limit)

    def _constant(self, value: Any) -> str:
        if type(value) in (int, bool) or type(value) is float and value - value == 0.0:
            return repr(value) if str(value)[0] != "-" else "(%r)" % value
        return self.object(value, "constant")

    def index(self, value: Value) -> str:
        """A number in an index."""
        return repr(self.constants[value]) if value in self.constants else self.name(value)

    def adjoint(self, root: Value) -> str:
        """The variable of a root's adjoint."""
        return self._variable("g%d" % root.id, ADJOINT, root)

    def flag(self, root: Value) -> str:
        """The variable that tells whether a root's adjoint exists, where that is not certain."""
        return self._variable("h%d" % root.id, FLAG, root)

    def nothing(self, root: Value) -> str:
        """The adjoint of a root to which nothing flows: additions to it give what is added."""
        if isinstance(root.type, Array):
            return self.zeros(root)
        return self.number(cast(Scalar, root.type).dtype, -0.0)

    def number(self, dtype: Any, value: float) -> str:
        """A NumPy number. Adjoints are NumPy's numbers, so that they have one type on both sides of a branch."""
        return "%s(%r)" % (self.object(dtype.type, dtype.name), value)

    def object(self, value: Any, hint: str) -> str:
        """The variable of an object that the joint function refers to."""
        known = self._names.get(id(value))
        if known is None:
            known = self._names[id(value)] = "%s_%d" % (hint if hint.isidentifier() else "rule", len(self.objects))
            self.objects[known] = value
        return known

    # ---- sizes of adjoints and other arrays ----

    def facts(self, temporary: Callable[[str], bool], zeros: Mapping[str, str] = MappingProxyType({})) -> Facts:
        """What `gather` asks; see there."""
        elementwise = {name for name, value in self.objects.items() if isinstance(value, np.ufunc) or value in _RULES}
        adjoints = {name for name, variable in self.variables.items() if variable.role == ADJOINT}
        cheap = {name for name in elementwise if self.objects[name] in _CHEAP}
        return Facts(self._lacking, elementwise, cheap, adjoints, temporary, zeros)

    def functions(self) -> Functions:
        """What `sink_sums` asks; see there."""
        return Functions({name for name, value in self.objects.items() if value is np.sum},
                         {name for name, value in self.objects.items()
                          if isinstance(value, (np.ufunc, types.FunctionType)) and value in _CHEAP | _CHEAP_RULES})

    def is_number(self, name: str) -> bool:
        """Whether a variable holds a number, or the adjoint of one."""
        variable = self.variables.get(name)
        return variable is not None and variable.role in (VALUE, ADJOINT) and isinstance(variable.value.type, Scalar)

    def _lacking(self, adjoint: str) -> Optional[Lacking]:
        """For the adjoint of an array, what tells how many elements fewer other variables have along each axis."""
        whole = self._lengths(adjoint)
        if not whole or any(cut or not isinstance(dim, Size) or dim.array not in self.inputs for dim, cut in whole):
            return None

        def found(name: str) -> Optional[Cuts]:
            if name in self.objects:
                return NUMBER if isinstance(self.objects[name], (np.generic, np.dtype)) else None
            variable = self.variables.get(name)
            if variable is None or variable.role not in (VALUE, ADJOINT):
                return None
            if isinstance(variable.value.type, Scalar):
                return NUMBER
            lengths = self._lengths(name) if variable.role == VALUE else []
            if [dim for dim, _ in lengths] != [dim for dim, _ in whole]:
                return None
            return tuple(cut for _, cut in lengths)
        return found

    def _lengths(self, name: str) -> List[Tuple[Dim, int]]:
        """For each axis of an array, or of its adjoint: a size, and how many elements fewer it has; none for others."""
        variable, found = self.variables.get(name), []
        known = variable is not None and variable.role in (VALUE, ADJOINT)
        for one in self.dims.of.get(variable.value, ()) if variable is not None and known else ():
            dim, lacking = self.dims.found(one), 0
            while isinstance(dim, Size) and dim in self.dims.cuts:
                whole, cut = self.dims.cuts[dim]
                dim, lacking = self.dims.found(whole), lacking + cut
            found.append((dim, lacking))
        return found

    def require_lengths(self, adjoint: str, least: Sequence[int]) -> None:
        """Require that an array has these sizes at least."""
        for (dim, _), size in zip(self._lengths(adjoint), least):
            self.lengths[dim] = max(size, self.lengths.get(dim, 0))

    # ---- sizes ----

    def size(self, dim: Dim) -> str:
        """A size, as code that holds anywhere in the function."""
        dim = self.dims.found(dim)
        if not isinstance(dim, Size):
            return repr(dim)
        if dim.array not in self.outermost:
            if dim in self.dims.cuts:
                whole, lacking = self.dims.cuts[dim]
                return "%s(%s - %d, 0)" % (self.object(max, "max"), self.size(whole), lacking)
            raise Irreversible("sizes that change in a loop")
        return "%s.shape[%d]" % (self.name(dim.array), dim.axis)

    def shape(self, value: Value) -> str:
        """The shape of an array as a tuple."""
        return "(%s)" % "".join(self.size(dim) + ", " for dim in self.dims.of.get(value, ()))

    def target(self, value: Value) -> str:
        """The code of an array as the target of an assignment."""
        return self.name(value) + ("" if self._is_view(value) and self.roots.ends_in_index(value) else "[...]")

    def zeros(self, value: Value) -> str:
        """New zeros in the shape and layout of an array."""
        kind = cast(Array, value.type)
        if value in self.outermost:
            return "%s(%s)" % (self.object(np.zeros_like, "zeros_like"), self.name(value))
        if kind.layout != "C" and kind.ndim > 1:
            raise Irreversible("an array in a loop that is not in C order")
        return "%s(%s, %s)" % (self.object(np.zeros, "zeros"), self.shape(value),
                               self.object(kind.dtype, kind.dtype.name))

    def shape_of(self, value: Value) -> str:
        """The code of an array's shape; of arrays outside of loops, their own."""
        return self.name(value) + ".shape" if value in self.outermost else self.shape(value)
