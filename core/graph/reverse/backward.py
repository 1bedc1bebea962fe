"""The backward part of a joint function: adjoints, added up in the tape's order.

The adjoint of a number is absent until something flows to it. The adjoint of an array begins with zeros, as on the
tape. While it has fewer elements than the array, broadcasting is left for later. `joint` calls it. It must not add
terms in another order than the tape.
"""

from __future__ import annotations

from typing import Any, Dict, Iterable, Sequence, Set, Tuple, cast

import numpy as np

from pijit.core.graph.derivatives.adjoints import cast_to, strong_zero_array, strong_zero_number
from pijit.core.graph.derivatives.products import OF_EQUAL_STACKS
from pijit.core.graph.ir import Op, Value
from pijit.core.graph.ops import STORES
from pijit.core.graph.reverse.activity import operands
from pijit.core.graph.reverse.adjoint import Contribution, contributions
from pijit.core.graph.reverse.code import Code
from pijit.core.graph.reverse.conditionals import ConditionalAdjoints
from pijit.core.graph.reverse.library_calls import is_selection
from pijit.core.graph.reverse.loops import LoopAdjoints
from pijit.core.graph.reverse.regions import Conditional, LoopRegion, RegionItem
from pijit.core.graph.reverse.sequence import Forward
from pijit.core.graph.reverse.sizes.symbols import Dim
from pijit.core.graph.types import Array, Scalar

FLOAT64 = np.dtype(np.float64)

_WEAK_SCALARS = not np.lib.NumpyVersion(np.__version__) < "2.0.0"


def dtype_of(value: Value) -> Any:
    """The dtype of a number or an array."""
    return cast(Any, value.type).dtype


def _needs_array(part: Contribution, dtype: Any) -> bool:
    """Whether a rule has other bits for an adjoint that is a number than for an array of the result's dtype.

    NumPy computes operations of a number and an array in the array's type, which may be smaller. NumPy 1 computes those
    of two numbers in float64.
    """
    if part.rule is None:
        return False
    return not _WEAK_SCALARS and dtype != FLOAT64 or any(
        isinstance(value.type, Array) and value.type.dtype.kind == "f" and value.type.dtype.itemsize < dtype.itemsize
        for value in part.reads)


class Backward:
    """Writes sequences backwards.

    Args:
        code: where to.
        forward: what has written the sequences forwards.
        active: the roots that carry adjoints.

    Attributes:
        shapes: the sizes of the adjoints that exist, or may exist.
        flags: for those that may exist, the variable that tells whether they do; see `conditionals`.
        loops: writes loops.
    """

    def __init__(self, code: Code, forward: Forward, active: Set[Value]) -> None:
        self.code, self.forward, self.active = code, forward, active
        self.shapes: Dict[Value, Tuple[Dim, ...]] = {}
        self._cleared: Dict[Value, Value] = {}  # by root: the view of its adjoint that is 0, once `settle` is called
        self.flags: Dict[Value, str] = {}
        self.loops = LoopAdjoints(self)
        self._conditionals = ConditionalAdjoints(self)

    def sequence(self, items: Sequence[RegionItem]) -> None:
        """Write items from the last to the first. Each of them sees the names that it had."""
        for item in reversed(items):
            self.code.now = dict(self.forward.before[item])
            if isinstance(item, LoopRegion):
                self.loops.write(item)
            elif isinstance(item, Conditional):
                self._conditionals.write(item)
            elif isinstance(item, Op):
                self._any_op(item)

    def _any_op(self, op: Op) -> None:
        """Write an operation or a store; of those whose adjoint may not exist, with a test."""
        target = op.args[0] if op.name in STORES else op.result
        if target is None or self._root(target) not in self.active or op.result in self.code.roots.view:
            return
        root = self._root(target)
        write = self._store if op.name in STORES else self._op
        if root in self.flags:
            self._conditionals.if_exists(root, lambda: write(op), op.name not in STORES)
        else:
            write(op)

    def _root(self, value: Value) -> Value:
        return self.code.roots.of(value)

    # ---- one operation ----

    def _op(self, op: Op) -> None:
        result = cast(Value, op.result)
        if self._root(result) not in self.shapes or op.name == "alloc":
            return
        self.settle(self._root(result))
        if op.name == "load":
            if self._root(op.args[0]) in self.active:
                self._add_element(op, self.code.adjoint(result))
            return
        if is_selection(op):
            self._add_selected(op)
            return
        if op.name == "concatenate":
            self._add_pieces(op)
            return
        parts = [part for part in contributions(op) if self._root(part.operand) in self.active]
        if parts and (parts[0].is_whole or parts[0].item is not None):
            self.fill(result)
        if parts and parts[0].item is not None:
            self.code.line("p%d = %s" % (result.id, self._rule(op, parts[0], self.code.adjoint(result))))
        for part in parts:
            self._add_part(op, part, self.code.adjoint(self._root(result)), self.shapes[self._root(result)], result)

    def _store(self, op: Op) -> None:
        """The adjoint of what a store overwrites is 0; what it stores gets the adjoint."""
        target, code = op.args[0], self.code
        root = self._root(target)
        if root not in self.active or root not in self.shapes:
            return
        g, shape = code.fresh("q"), code.dims.of[target]
        self.settle(root)
        if op.name == "store":
            self.fill(root)
            place, shape = "%s[%s]" % (self.shadow(target), ", ".join(map(code.index, op.args[1:-1]))), ()
            code.line("%s = %s" % (g, place))
            code.line("%s = 0.0" % place)
        elif target is root:
            code.line("%s = %s" % (g, code.adjoint(root)))
            shape = self.shapes[root]
            self._cleared[root] = target
        else:
            self.fill(root)
            code.line("%s = %s.copy()" % (g, self.shadow(target)))
            self._cleared[root] = target
        for part in contributions(op):
            if self._root(part.operand) in self.active:
                self._add_part(op, part, g, shape, part.operand if op.name == "store" else target)

    def _add_element(self, op: Op, g: str) -> None:
        """Add the adjoint of an element to its place."""
        root = self._root(op.args[0])
        self.settle(root)
        if root is op.args[0] and not op.args[1:]:
            self._add_only_element(root, g)
            return
        self._start(root)
        index = ", ".join(map(self.code.index, op.args[1:])) or "()"
        self.code.line("%s[%s] += %s" % (self.shadow(op.args[0]), index, g))

    def _add_only_element(self, root: Value, g: str) -> None:
        """Add the adjoint of the element of an array of shape (), whose adjoint is a number."""
        code, dtype = self.code, dtype_of(root)
        before = code.adjoint(root) if root in self.shapes else "0.0"
        code.line("%s = %s(%s + %s)" % (code.adjoint(root), code.object(dtype.type, dtype.name), before, g))
        self.shapes[root] = ()
        self.flags.pop(root, None)

    def _add_selected(self, op: Op) -> None:
        """Add the adjoints of elements that index arrays or a mask select to their places."""
        array, indices = op.args[0], op.args[1:]
        root = self._root(array)
        self.fill(cast(Value, op.result))
        self.settle(root)
        self._start(root)
        index = ", ".join(map(self.code.name, indices))
        index = index if len(indices) == 1 else "(%s)" % index
        words = self.shadow(array), index, self.code.adjoint(cast(Value, op.result))
        if op.name == "pick":
            self.code.line("%s[%s] += %s" % words)
        else:
            self.code.line("%s.at(%s, %s, %s)" % (self.code.object(np.add, "add"), *words))

    def _add_pieces(self, op: Op) -> None:
        """Add the pieces of the adjoint of a concatenation to the adjoints of its operands."""
        result, axis, code = cast(Value, op.result), op.attrs["axis"], self.code
        self.fill(result)
        start = "0"
        for number, operand in enumerate(op.args):
            is_last = number == len(op.args) - 1
            stop = "" if is_last else start + " + " + code.size(code.dims.of[operand][axis])
            if self._root(operand) in self.active:
                place = ":, " * axis + "%s:%s" % (start, stop)
                self.add(operand, "%s[%s]" % (code.adjoint(result), place), code.dims.of[operand], dtype_of(result))
            start = stop

    def _add_part(self, op: Op, part: Contribution, g: str, shape: Tuple[Dim, ...], whole: Value) -> None:
        """Add a contribution, summed over the axes that broadcasting repeats.

        Args:
            op: the operation.
            part: the contribution.
            g, shape: the adjoint of the result, and its sizes.
            whole: a value with the sizes of the result.
        """
        operand, dims, code = part.operand, self.code.dims, self.code
        dtype = dtype_of(op.args[0] if op.name in STORES else cast(Value, op.result))
        if part.spreads:
            self._spread(op)
            return
        if part.is_whole or part.item is not None:
            if part.call is not None and len(dims.of.get(operand, ())) > 1:
                self.settle(self._root(operand))
                self._start(self._root(operand))  # rules may return other layouts than that of the operand
            self.add(operand, self._part(op, part, g, dims.of.get(operand, ())), dims.of.get(operand, ()), dtype)
            return
        if not shape and dims.of.get(whole) and _needs_array(part, dtype):
            shape = dims.of[whole]
            g = "%s(%s(%s), %s)" % (code.object(np.broadcast_to, "broadcast_to"), code.object(dtype.type, dtype.name),
                                    g, code.shape_of(whole))
        shape = dims.broadcast([shape] + [dims.of.get(value, ()) for value in part.reads]
                               + ([dims.of.get(whole, ())] if part.reads_result else []))
        text = self._part(op, part, g, shape)
        extra, ones = dims.summed(operand, whole)
        if (extra or ones) and not dims.are_full(shape, whole):
            text = "%s(%s, %s)" % (code.object(np.broadcast_to, "broadcast_to"), text, code.shape_of(whole))
        total = code.object(np.sum, "sum")
        if extra:
            axis = "" if len(extra) == len(dims.of.get(whole, ())) else ", axis=%r" % (
                extra if len(extra) > 1 else extra[0],)
            text = "(0.0 + %s(%s%s))" % (total, text, axis)
        if ones:
            text = "%s(%s, axis=%r, keepdims=True)" % (total, text, ones if len(ones) > 1 else ones[0])
        self.add(operand, text, dims.of.get(operand, ()) if extra or ones else shape, dtype)

    def _spread(self, op: Op) -> None:
        """Add the adjoint of a sum to that of its operand. Broadcasting repeats it, once the axes are put back."""
        result, axis, ndim = cast(Value, op.result), op.attrs["axis"], len(self.code.dims.of[op.args[0]])
        shape, index = self.shapes[result], ""
        if axis is not None and not op.attrs["keepdims"] and shape:
            self.fill(result)
            shape = self.shapes[result]
            places = sorted(one % ndim for one in (axis if isinstance(axis, tuple) else (axis,)))
            for place in places:
                shape = shape[:place] + (1,) + shape[place:]
            index = "[%s]" % ", ".join("None" if number in places else ":" for number in range(ndim))
        self.add(op.args[0], self.code.adjoint(result) + index, shape, dtype_of(result), is_cast=False)

    def _rule(self, op: Op, part: Contribution, g: str) -> str:
        """The call of a rule. Values that it does not read are 0."""
        code = self.code
        words = [g, "0.0"]
        if part.reads_result:
            kept, code.now = code.now, self.forward.after[op]
            words[1] = code.name(op.args[0] if op.name in STORES else cast(Value, op.result))
            code.now = kept
        if part.call is not None:
            words += list(map(code.name, part.call.args))
            words += ["%s=%s" % (name, code.name(value)) for name, value in part.call.keywords]
        else:
            words += [code.name(value) if value in part.reads else "0.0" for value in operands(op)]
        words += ["%s=%r" % keyword for keyword in part.keywords]
        rule = self._specialised(op, part)
        return "%s(%s)" % (code.object(rule, getattr(rule, "__name__", "rule").strip("_<>")), ", ".join(words))

    def _specialised(self, op: Op, part: Contribution) -> Any:
        """The rule of a contribution; of products of stacks of the same sizes, one without branches."""
        dims, mine, whole = self.code.dims, *map(self.code.dims.of.get, (part.operand, cast(Value, op.result)))
        if part.rule not in OF_EQUAL_STACKS or not mine or not whole or not 3 <= len(mine) == len(whole) or any(
                dims.found(one) != dims.found(other) for one, other in zip(mine[:-2], whole[:-2])):
            return part.rule
        return OF_EQUAL_STACKS[part.rule]

    def _part(self, op: Op, part: Contribution, g: str, shape: Tuple[Dim, ...]) -> str:
        """A contribution as an expression; ``shape`` are its sizes."""
        if part.rule is None:
            return g
        if part.item is not None:
            return "p%d[%d]" % (cast(Value, op.result).id, part.item)
        text = self._rule(op, part, g)
        if not part.singular:
            return text
        whole = op.args[0] if op.name in STORES else op.result
        zero = dtype_of(cast(Value, whole)).type(0)
        arrays = any(isinstance(value.type, Array) for value in (cast(Value, whole), *operands(op)))
        if not arrays or not shape and type(zero) is np.float64:
            return "%s(%s, %s)" % (self.code.object(strong_zero_number, "strong_zero"), g, text)
        return "%s(%s, %s, %s)" % (self.code.object(strong_zero_array, "strong_zero"), g, text,
                                   "0.0" if type(zero) is np.float64 else self.code.object(zero, "zero"))

    # ---- adjoints ----

    def add(self, operand: Value, part: str, shape: Tuple[Dim, ...], dtype: Any = None, is_cast: bool = True) -> None:
        """Add a contribution to the adjoint of an operand. Arrays begin with 0, numbers do not.

        Args:
            operand: the operand.
            part, shape: the contribution and its sizes.
            dtype: the type of the operation's result; None: that of the operand.
            is_cast: whether the contribution may have another type than ``dtype``.
        """
        kind, code = dtype_of(operand), self.code
        if is_cast and kind != FLOAT64 or dtype is not None and dtype != kind:
            part = "%s(%s)" % (code.object(kind.type, kind.name), part) if isinstance(operand.type, Scalar) else \
                "%s(%s, %s)" % (code.object(cast_to, "cast_to"), part, code.object(kind, kind.name))
        root = self._root(operand)
        g = code.adjoint(root)
        cleared = self._cleared.pop(root, None)
        same = cleared is not None and self.shadow(cleared) == self.shadow(operand)
        if cleared is not None and not (same and code.dims.are_full(shape, operand)):
            self._clear(root, cleared)
            cleared = None
        if self.shadow(operand) != g or root in self.code.roots.reshaped:
            self._start(root)
            form = "%s += %s" if cleared is None else "%s = 0.0 + %s"
            code.line(form % (self._target(operand), part))
        elif root in self.shapes and cleared is None:
            code.line("%s = %s + %s" % (g, g, part))
            self.shapes[root] = code.dims.broadcast([self.shapes[root], shape])
            self.flags.pop(root, None)
        else:
            code.line("%s = %s%s" % (g, "0.0 + " if isinstance(operand.type, Array) else "", part))
            self.shapes[root] = shape

    def _clear(self, root: Value, target: Value) -> None:
        """Write that the adjoint of a view is 0."""
        if target is root:
            self.code.line("%s = %s" % (self.code.adjoint(root), self.code.zeros(root)))
            self.shapes[root] = self.code.dims.of[root]
        else:
            self.code.line("%s = 0.0" % self._target(target))

    def settle(self, root: Value) -> None:
        """Write what was left for later about the adjoint of a root, before that is read."""
        if root in self._cleared:
            self._clear(root, self._cleared.pop(root))

    def forget(self, values: Iterable[Value]) -> None:
        """Drop the adjoints of values that an iteration has made."""
        for value in values:
            self.shapes.pop(value, None)
            self.flags.pop(value, None)
            self._cleared.pop(value, None)

    def move(self, source: Value, target: Value) -> None:
        """The adjoint of a value becomes that of another one, to which nothing has flowed so far."""
        code = self.code
        code.line("%s = %s" % (code.adjoint(target), code.adjoint(source)))
        self.shapes[target] = self.shapes.pop(source)
        if source in self.flags:
            del self.flags[source]
            self.flags[target] = code.flag(target)
            code.line("%s = %s" % (code.flag(target), code.flag(source)))

    def _start(self, root: Value) -> None:
        """Make the adjoint of a root exist, as large as the array, before it is changed in place."""
        self.flags.pop(root, None)
        g, shape = self.code.adjoint(root), self.code.dims.of[root]
        if root not in self.shapes:
            self.code.line("%s = %s" % (g, self.code.zeros(root)))
            self.shapes[root] = shape
            return
        self.fill(root)
        if not shape:
            self.code.line("%s = %s(%s)" % (g, self.code.object(np.asarray, "asarray"), g))

    def fill(self, value: Value) -> None:
        """Make the adjoint of an array as large as the array."""
        root, code = self._root(value), self.code
        self.settle(root)
        if not code.dims.are_full(self.shapes[root], root):
            code.line("%s = %s + %s" % (code.adjoint(root), code.zeros(root), code.adjoint(root)))
            self.shapes[root] = code.dims.of[root]

    def shadow(self, value: Value) -> str:
        """The adjoint of a value: a view of the adjoint of its root."""
        root, path = self.code.roots.path(value, self.code.index, aliases=True)
        return self.code.adjoint(root) + path

    def _target(self, value: Value) -> str:
        """The adjoint of a value as the target of an assignment."""
        return self.shadow(value) + ("" if self.code.roots.ends_in_index(value, aliases=True) else "[...]")
