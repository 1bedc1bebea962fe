"""Kernel emitter: writes a graph as kernel source, ``def kernel(frame)`` over raw words.

`Kernel` in kernel/compile.py calls it, and llvm/lower.py translates the source to LLVM. The source has only typed
scalars, loops and calls of intrinsics. scalars.py and array_ops.py say what each operation becomes. An exit stores its
values in the frame's output words and returns its number.
"""

from __future__ import annotations

from typing import Any, Collection, List, Optional, Set, Tuple

from pijit.core._launcher import ERROR
from pijit.core.graph.ir import Graph, Jump, Op, SideExit, Value
from pijit.core.graph.ops import EFFECTS, STORES
from pijit.core.graph.types import Array, IteratorType, Object, Opaque, Scalar, half_of
from pijit.core.kernel.abi import FrameLayout, part_word
from pijit.core.kernel.emit import fused_nest, scalars
from pijit.core.kernel.emit.array_ops import ARRAY_OPERATIONS
from pijit.core.kernel.emit.array_values import ArrayWriter
from pijit.core.kernel.emit.array_variables import variables_of
from pijit.core.kernel.emit.exponent_bounds import ExponentBounds
from pijit.core.kernel.emit.expressions import Expression, listed
from pijit.core.kernel.emit.fp_checks import write_check_before, write_checks_after
from pijit.core.kernel.emit.gathers import write_gather
from pijit.core.kernel.emit.library_calls import LIBRARY_OPERATIONS
from pijit.core.kernel.emit.linear_algebra import GUFUNC_OPERATIONS
from pijit.core.kernel.emit.merged_groups import write_merged
from pijit.core.kernel.emit.objects import OBJECT_OPERATIONS
from pijit.core.kernel.emit.rolled_operands import forget_rolled, place_rolled
from pijit.core.kernel.emit.scans import SCAN_OPERATIONS
from pijit.core.kernel.emit.stores.deferred_fill import DeferredFills
from pijit.core.kernel.emit.stores.inplace_store import write_store
from pijit.core.kernel.emit.stores.scatters import SCATTER_OPERATIONS, write_masked
from pijit.core.kernel.emit.stores.skewed_loops import SkewedLoops
from pijit.core.kernel.emit.stores.speculative_strips import Unchecked, unchecked_operation, write_strip
from pijit.core.kernel.emit.stores.tiled_loops import TiledLoops
from pijit.core.kernel.errors import CompileError
from pijit.core.kernel.llvm.intrinsic_table import INTRINSICS
from pijit.core.kernel.options import FAST, CompileOptions
from pijit.core.kernel.plan.control_tree import LoopNode
from pijit.core.kernel.plan.flag_plan import ALWAYS_CHECKED, LISTENING
from pijit.core.kernel.plan.kernel_plan import Plan
from pijit.core.kernel.plan.operands import Literal, Name, Operand, result_of, scalar_type


class KernelEmitter(ArrayWriter):
    """Writes the source of one kernel from its plan, which decides."""

    def __init__(self, graph: Graph, layout: FrameLayout, plan: Plan, flavour: CompileOptions) -> None:
        super().__init__(graph, layout, plan, flavour, INTRINSICS)
        self.exponent_bounds = ExponentBounds(self, plan.bounded)
        self.fills = DeferredFills(self, plan.groups.fills)
        self.blocking = TiledLoops(self)
        self.skewing = SkewedLoops(self)
        self.unchecked: Optional[Unchecked] = None

    def source(self, name: str) -> str:
        for value, code, word in zip(self.graph.inputs, self.layout.inputs, self.layout.input_word):
            if value in self.used:
                self._input(value, code, word)
        for param in self.facts.params:
            self._name_param(param)
        self.nodes(self.plan.tree)
        head = ["    buffer_d = buffer_o = buffer_n = 0"] if self.buffered else []
        head += self.exponent_bounds.head() + ["    %s = 0" % name for name in self.watches]
        mark = [FAST] if self.flavour.fast else []
        return "\n".join(mark + ["def %s(frame):" % name] + head + self.lines) + "\n"

    def writes_blocks(self) -> bool:
        """Whether the operations that are being written compute a block of their operands."""
        return self.blocking.run is not None or self.skewing.run is not None

    # ---- inputs ----

    def _input(self, value: Value, code: Tuple[Any, ...], word: int) -> None:
        if isinstance(value.type, Array):
            self.arrays[value] = self.array_at(value, word)
        elif isinstance(value.type, Scalar):
            self.define(value, self.read_word(value.type, word))
        elif isinstance(value.type, Object):
            self.define(value, "ld_i8(frame, %d)" % (8 * word))
        elif isinstance(value.type, IteratorType):
            self.text[value] = Literal(word, str(word))

    def read_word(self, kind: Scalar, word: int) -> str:
        """The source that reads a scalar from frame words."""
        letter, offset = scalars.machine_kind(kind), 8 * word
        if letter == "b":
            return "ld_i8(frame, %d) != 0" % offset
        if letter == "u":
            return "ld_u8(frame, %d)" % offset
        if letter == "c":
            half = half_of(kind)
            return "cpair(%s, %s)" % (self.read_word(half, word), self.read_word(half, word + 1))
        if letter in "fh":
            source = "ld_f8(frame, %d)" % offset
            return source if kind.dtype.itemsize == 8 else "narrow(%s)" % source
        return "ld_i8(frame, %d)" % offset

    def _name_param(self, param: Value) -> None:
        if isinstance(param.type, Array):
            self.arrays[param] = variables_of(param)
        elif isinstance(param.type, (Opaque, IteratorType)):
            raise CompileError("a %r cannot be a block parameter" % param.type)
        else:
            self.text[param] = Name("v%d" % param.id)

    # ---- Emitter ----

    def condition(self, value: Value) -> Expression:
        return self.text[value]

    def moves(self, jump: Jump) -> List[Tuple[Operand, Operand]]:
        pairs: List[Tuple[Operand, Operand]] = []
        for param, value in zip(jump.block.params, jump.args):
            if param not in self.used:
                continue
            if isinstance(param.type, Array):
                pairs += self.arrays[param].moves_from(self.arrays[value])
            else:
                pairs.append((self.text[param], self.text[value]))
        return pairs

    def loop(self, node: LoopNode) -> None:
        strip = self.plan.strips.get(node)
        if strip is not None:
            write_strip(self, node, strip)
        else:
            self.write_loop(node)

    def take(self, exit: SideExit) -> None:
        if self.blocking.run is not None:
            self.blocking.leave()
            return
        if self.skewing.run is not None:
            self.skewing.leave(exit)
            return
        if self.unchecked is not None:
            self.line("%s = 0" % self.unchecked.quiet)
            self.line("break")
            return
        number, values = self.layout.exit(exit)
        self.fills.before_leaving(values)
        items: List[Expression] = ["frame", str(self.layout.output_word), str(self.answer(number))]
        texts = {value: self._shown(value) if isinstance(value.type, Array) else self.text[value]
                 for value in dict.fromkeys(values)}
        items += [texts[value] for value in values]
        self.line("return leave(%s)" % listed(items))

    def _shown(self, value: Value) -> Operand:
        """The object of an array that leaves the kernel; a copy if the array may have memory of the buffer pool."""
        pointer = self.with_object(value).object
        if value in self.plan.memory.borrowed:
            pointer = self.let(self.runtime("own", "frame", pointer))
            self.indented("if %s == 0:" % pointer, "return %d" % ERROR)
        return pointer

    def before_jump(self, jump: Jump) -> None:
        """The objects of views are made first, because a view may look into an array that is released."""
        retained, released = self.plan.ownership.edge(jump)
        for param, value in zip(jump.block.params, jump.args):
            if param in self.used and isinstance(param.type, Array):
                self.with_object(value)
        for value in retained:
            pointer = self.arrays[value].object if isinstance(value.type, Array) else self.text[value]
            self.checked("retain", "frame", pointer)
        for value in released:
            self.release_value(value)

    def release_value(self, value: Value) -> None:
        """Release one reference of the frame to the value's object, if there is one."""
        if value in self.arrays:
            self.release(self.arrays[value])
        elif isinstance(value.type, Object):
            self.line(self.runtime("release", "frame", self.text[value]))

    def operations(self, ops: List[Op]) -> None:
        done: Set[Op] = set()
        for op in ops:
            if self.unchecked is None and op in self.plan.groups.skewing:
                done.update(self.skewing.write(self.plan.groups.skewing[op]))
            elif self.unchecked is None and op in self.plan.tiling:
                run = self.plan.tiling[op]
                self.blocking.write(run)
                done.update(run.ops + run.ahead)
            if op not in done:
                self.operation(op)

    def operation(self, op: Op) -> None:
        if op is self.facts.group_of(op)[-1]:
            self.layout.reuse_scratch()
            write_check_before(self, op)
            self.write_group_of(op)
            self.exponent_bounds.begin(op)
            write_checks_after(self, op)
            self.release_after(op)

    def write_group_of(self, op: Op) -> None:
        """Write the group whose last operation is given."""
        if op in self.plan.groups.unmerged:
            for part in self.facts.merged[op].parts:
                self._write_group(part[-1], part)
        else:
            self._write_group(op, self.facts.group_of(op))

    def _write_group(self, op: Op, group: List[Op]) -> None:
        if len(group) > 1 and op in self.facts.merged and group is self.facts.merged[op].ops:
            self.together = group
            write_merged(self, self.facts.merged[op])
            self.together = ()
        elif op in self.plan.groups.nests:
            place_rolled(self, group)
            write = write_masked if group[0].name == "pick" else write_store
            self.together = group
            (write if op.name in EFFECTS else fused_nest.write_group)(self, group)
            self.together = ()
            forget_rolled(self, group)
        else:
            self.fills.settle(op)
            for member in group:
                self.write_one(member)
            for member in group:
                if member.name in EFFECTS:
                    self.exponent_bounds.forget(self.facts.root_of(member.args[0]) if member.name in STORES else None)

    def release_after(self, op: Op, kept: Collection[Value] = ()) -> None:
        """Release the values that are dead after an operation and its group, except those in ``kept``."""
        for member in self.facts.group_of(op):
            for value in self.plan.ownership.after(member):
                if value not in self.inherited and value not in kept:
                    self.release_value(value)

    def write_one(self, op: Op) -> None:
        if op.name in ARRAY_OPERATIONS:
            ARRAY_OPERATIONS[op.name](self, op)
            return
        special = _SPECIAL.get(op.name)
        if special is not None:
            special(self, op)
            return
        kind = scalar_type(op.args[0])
        row = scalars.find_row(op.name, kind)
        if row is None:
            raise CompileError("no %s on %r" % (op.name, kind))
        self.row(op, row, kind)

    def row(self, op: Op, row: scalars.ScalarRow, kind: Scalar) -> None:
        """Write one operation of a row in scalars.py; ``kind`` gives the bounds in its templates."""
        fields = scalars.parameters(kind)
        fields.update(zip("abc", (self.text[value] for value in op.args)))
        fields["r"] = Name("v%d" % result_of(op).id)
        if row.libm:
            fields[row.libm] = self.libm(row.libm, 2, kind.dtype.itemsize == 8)
        self.guard(op, row.before.format(**fields))
        if self.unchecked is not None and op in self.plan.fp_checks.kinds:
            self.define(result_of(op), unchecked_operation(self.unchecked, op, row.value, fields))
            return
        self.define(result_of(op), row.value.format(**fields))
        self.guard(op, row.after.format(**fields))
        self.guard_underflow(op, row.underflows.format(**fields))

    def guard(self, op: Op, condition: Expression) -> None:
        """Leave through the operation's exit, if it has one, when the condition holds."""
        if op.exit is None or not condition:
            return
        self.line("if %s:" % condition)
        self.depth += 1
        self.take_because([op], self.plan.fp_checks.exits.get(op, op.exit))
        self.depth -= 1

    def define(self, value: Value, source: Expression) -> None:
        name = self.text[value] = Name("v%d" % value.id)
        self.line("%s = %s" % (name, source))


# ---- operations that are not plain rows ----


def _const(emitter: KernelEmitter, op: Op) -> None:
    emitter.text[result_of(op)] = scalars.constant(op.attrs["value"], scalar_type(result_of(op)))


def _cast(emitter: KernelEmitter, op: Op) -> None:
    kind, to = scalar_type(op.args[0]), scalar_type(result_of(op))
    emitter.row(op, scalars.cast(kind, to, op.exit is not None), to if to.dtype.kind in "iu" else kind)


def _same(emitter: KernelEmitter, op: Op) -> None:
    emitter.text[result_of(op)] = emitter.text[op.args[0]]


def _compare(emitter: KernelEmitter, op: Op) -> None:
    left, right = (emitter.text[value] for value in op.args)
    emitter.define(result_of(op), "%s %s %s" % (left, op.attrs["operator"], right))


def _compare_size(emitter: KernelEmitter, op: Op) -> None:
    """Compare absolute values by their squares; if these are too near, too large or too small, compare the values."""
    number, bound = (emitter.text[value] for value in op.args)
    symbol = op.attrs["operator"]
    emitter.define(result_of(op), "csquare(%s) %s fmul(%s, %s)" % (number, symbol, bound, bound))
    emitter.line("if not csquares_tell(%s, %s):" % (number, bound))
    emitter.depth += 1
    size = emitter.let("%s(creal(%s), cimag(%s))" % (emitter.libm("hypot", 2), number, number))
    test = "makes_odd" if scalar_type(op.args[0]).family == "py" else "odd_size"
    emitter.guard(op, "%s(%s, creal(%s), cimag(%s))" % (test, size, number, number))
    emitter.define(result_of(op), "%s %s %s" % (size, symbol, bound))
    emitter.depth -= 1


def _libm(emitter: KernelEmitter, op: Op) -> None:
    function = op.attrs["function"]
    arity = scalars.LIBM.get(function)
    if arity != len(op.args):
        raise CompileError("no libm function %s of %d arguments" % (function, len(op.args)))
    emitter.define(result_of(op), "%s(%s)" % (emitter.libm(function, arity),
                                          listed(emitter.text[value] for value in op.args)))
    if "finite" in op.attrs:
        emitter.guard(op, "special(%s)" % emitter.text[result_of(op)])
        return
    operands = [emitter.text[value] for value in [result_of(op), *(list(op.args) * 2)[:2]]]
    emitter.guard(op, "makes_special(%s)" % listed(operands))


def _power(emitter: KernelEmitter, op: Op) -> None:
    operands = listed(emitter.text[value] for value in op.args)
    emitter.define(result_of(op), "%s(%s)" % (emitter.libm("pow", 2), operands))
    given = "(%s, %s)" % (emitter.text[result_of(op)], operands)
    if op.attrs["by"] == "python":
        emitter.guard(op, "power_raises" + given)
        return
    emitter.line("if power_reports%s:" % given)
    emitter.depth += 1
    emitter.guard(op, "not power_underflows%s or %s != 0" % (given, emitter.underflow_listened([op])))
    emitter.depth -= 1


def _iterator_part(emitter: KernelEmitter, op: Op) -> None:
    kind = op.args[0].type
    if not isinstance(kind, IteratorType):
        raise CompileError("iterator_part of a %r" % kind)
    word: int = emitter.text[op.args[0]].value + part_word(kind, op.attrs["path"])
    if isinstance(result_of(op).type, Array):
        emitter.arrays[result_of(op)] = emitter.array_at(result_of(op), word)
        return
    emitter.define(result_of(op), "ld_i8(frame, %d)" % (8 * word))


def _require(emitter: KernelEmitter, op: Op) -> None:
    emitter.guard(op, "not %s" % emitter.text[op.args[0]])


def _raised(emitter: KernelEmitter, op: Op) -> None:
    mask = LISTENING | op.attrs.get("always_checked", 0) << ALWAYS_CHECKED
    emitter.define(result_of(op), "0" if emitter.flavour.fast else emitter.flags_raised(mask, emitter.reports_own))


def _poll(emitter: KernelEmitter, op: Op) -> None:
    signals = "signals" in op.attrs
    if "serves" in op.attrs and not emitter.flavour.nogil:
        emitter.line("if %s:" % emitter.asks(False))
        emitter.depth += 1
        emitter.checked("served")
        emitter.depth -= 1
        return
    if not emitter.flavour.nogil:
        emitter.guard(op, emitter.asks(signals))
        return
    # A thread that takes the GIL meanwhile may clear the eval breaker although signals wait for another thread.
    emitter.line("if %s or %s:" % (emitter.asks(True), emitter.asks(False)))
    emitter.depth += 1
    emitter.guard(op, "%s != 0" % emitter.runtime("asked", int(signals)))
    emitter.depth -= 1


def _where(emitter: KernelEmitter, op: Op) -> None:
    fused_nest.write_group(emitter, [op])


_SPECIAL = {"where": _where, "const": _const, "cast": _cast, "same": _same, "flag": _same, "compare": _compare,
            "compare_size": _compare_size, "libm": _libm, "power": _power,
            "iterator_part": _iterator_part, "require": _require, "raised": _raised, "poll": _poll, **OBJECT_OPERATIONS,
            **LIBRARY_OPERATIONS, **GUFUNC_OPERATIONS, **SCATTER_OPERATIONS, **SCAN_OPERATIONS, "gather": write_gather}
