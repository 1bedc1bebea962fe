"""Array values in kernel source: variables of an array, descriptors in scratch words, runtime calls and loop nests.

`ArrayWriter` is a base class of the numba emitter, and the other modules of this package call its methods.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Dict, List, Optional, Sequence, Set, cast

import numpy as np

from pijit.core import _launcher
from pijit.core.graph.ir import Graph, Op, Value
from pijit.core.graph.types import Array, Scalar, numpy_scalar
from pijit.core.kernel import symbols
from pijit.core.kernel.abi import FrameLayout
from pijit.core.kernel.emit import scalars
from pijit.core.kernel.emit.array_variables import variables_of, variables_of_layout
from pijit.core.kernel.emit.emitter import Emitter
from pijit.core.kernel.emit.expressions import Expression, Place, listed
from pijit.core.kernel.errors import CompileError
from pijit.core.kernel.llvm import intrinsics
from pijit.core.kernel.llvm.fp_check_codes import UNDERFLOW
from pijit.core.kernel.llvm.nest.description import Nest
from pijit.core.kernel.llvm.nest.nest import nest_intrinsic
from pijit.core.kernel.options import CompileOptions
from pijit.core.kernel.plan.flag_plan import ALWAYS_CHECKED, flags_mask
from pijit.core.kernel.plan.kernel_plan import Plan
from pijit.core.kernel.plan.operands import NULL, ZERO, ArrayVariable, Literal, Name, Operand
from pijit.core.kernel.runtime_entries import BAILS_OUT, STATUS, check_call, entry
from pijit.core.kernel.symbols import LinkSymbol, Meaning

if TYPE_CHECKING:
    from pijit.core.kernel.emit.stores.tiled_loops import TiledLoops

PRIVATE = _launcher.ABI_NUMBERS["PRIVATE"]
"""Added to the type number of an array that never leaves the kernel: its memory may come from the buffer pool."""


def type_number(dtype: np.dtype[Any], private: bool) -> int:
    """The number by which alloc and alloc_like know the type of a new array."""
    return dtype.num + (PRIVATE if private else 0)


def memory_code(dtype: np.dtype[Any]) -> str:
    """The suffix of the ``ld_`` and ``st_`` intrinsics for this dtype."""
    if dtype.char in "gG" or dtype.kind not in "biufc":
        raise CompileError("arrays of %s are not supported" % dtype)
    return "%s%d" % (dtype.kind, dtype.itemsize)


BUFFER = Name("buffer_d")
"""The address of the kernel's buffer; see `ArrayWriter.need_buffer`."""


class ArrayWriter(Emitter):
    """The part of `kernel_emitter.KernelEmitter` that writes about arrays.

    ``names`` are the globals that the source needs. ``symbols`` say what those stand for that differ between kernels.
    ``text`` has the operand of each scalar.
    """

    blocking: TiledLoops

    def __init__(self, graph: Graph, layout: FrameLayout, plan: Plan, flavour: CompileOptions,
                 names: Dict[str, Any]) -> None:
        super().__init__(graph, layout, plan.facts.used)
        self.flavour = flavour
        self.names = dict(names)
        self.symbols: Dict[str, Meaning] = {}
        self.text: Dict[Value, Operand] = {}
        self.plan = plan
        self.facts = plan.facts
        self.inherited: Set[Value] = set()  # arrays whose memory another value has taken over
        self.buffered = False
        self.spare_slots = plan.memory.spare_slots  # the stack slots that temporary arrays have not used yet
        self.reports_own = False  # whether the next ``raised`` checks flags of the kernel's own arithmetic only
        self.watches: List[Name] = []  # variables that are 0 until a watched nest has found a suspicious result
        self._known: Dict[str, Operand] = {}  # the operand that has the value of a source
        self._excluded: Set[str] = set()  # conditions that cannot hold after a guard
        self._fitting: Dict[Operand, Set[Operand]] = {}  # size of an axis: sizes that are equal to it, or 1
        self._block_depth = 0
        self.arrays: Dict[Value, ArrayVariable] = {}

    # ---- small writers ----

    def guard(self, op: Op, condition: Expression) -> None:
        """Leave through the operation's exit, if it has one, when the condition holds."""
        raise NotImplementedError

    def let(self, source: Expression) -> Operand:
        """A variable with this value; a literal or variable stands for itself."""
        return source if isinstance(source, (Name, Literal)) else self.renamed(source)

    def renamed(self, source: Expression) -> Name:
        """A new variable with this value."""
        name = self.fresh()
        self.line("%s = %s" % (name, source))
        return name

    def pure(self, source: Expression) -> Operand:
        """As ``let``, for a source with the same value everywhere in the block: it is written once."""
        key = str(source)
        if key in self._known:
            return self._known[key]
        name = self.let(source)
        if self.depth == self._block_depth:
            self._known[key] = name
        return name

    def guard_once(self, op: Op, condition: str) -> None:
        """As ``guard``, for a pure condition: it cannot hold after an earlier guard of the block."""
        if condition in self._excluded:
            return
        self.guard(op, condition)
        if op.exit is not None and self.depth == self._block_depth:
            self._excluded.add(condition)

    def fits(self, size: Operand, wanted: Operand) -> bool:
        """Whether the size of an axis is known to be 1 or equal to another size."""
        return size == wanted or size.value == 1 or size in self._fitting.get(wanted, ())

    def common_size(self, op: Op, size: Operand, other: Operand) -> Operand:
        """The size that two axes broadcast to, which both are known to fit then; leaves where they do not broadcast."""
        if self.fits(other, size):
            return size
        if self.fits(size, other):
            return other
        fails = "broadcast_fails(%s, %s)" % (size, other)
        self.guard_once(op, fails)
        common = self.pure("broadcast_size(%s, %s)" % (size, other))
        if fails in self._excluded:
            self._fitting[common] = {size, other}.union(*[self._fitting.get(one, ()) for one in (size, other)])
        return common

    def start_block(self) -> None:
        """Forget what is known in another block, because its variables may have changed."""
        self._known.clear()
        self._excluded.clear()
        self._fitting.clear()
        self._block_depth = self.depth

    def enter_scope(self) -> Any:
        """Begin a scope such as a loop body, whose facts end with it. Returns the state for leave_scope."""
        outside = dict(self._known), set(self._excluded), dict(self._fitting), self._block_depth
        self.depth += 1
        self._block_depth = self.depth
        return outside

    def leave_scope(self, outside: Any) -> None:
        self._known, self._excluded, self._fitting, self._block_depth = outside
        self.depth -= 1

    def indented(self, head: str, *lines: str) -> None:
        self.line(head)
        self.depth += 1
        for line in lines:
            self.line(line)
        self.depth -= 1

    def runtime(self, name: str, *args: Any) -> str:
        """The source of a call of a runtime function."""
        check_call(name, args)
        return "call(%s)" % listed([self.runtime_address(name), *args])

    def runtime_address(self, name: str) -> str:
        """The source of the address of a runtime function."""
        return "ld_i8(ld_i8(frame, 0), %d)" % entry(name).offset

    def clear_flags(self, own: bool = False) -> None:
        """Clear floating-point flags before operations whose flags NumPy reports; ``own``: no called function
        has any."""
        if not self.flavour.fast:
            own_clear = "clear_raised(%s)" % self.runtime_address("own_flags_clear")
            self.line(own_clear if own else self.runtime("flags_clear"))

    def raised_flags(self, *ops: Op, own: bool = False) -> str:
        """The condition that these operations have raised flags since `clear_flags`; "" if nothing reports them."""
        return self.flags_condition(flags_mask(ops, self.flavour.fast), own)

    def flags_condition(self, mask: int, own: bool) -> str:
        """The condition that flags of a mask were raised since `clear_flags`; "" if the mask is empty."""
        return "%s != 0" % self.flags_raised(mask, own) if mask else ""

    def underflow_listened(self, ops: Sequence[Op]) -> str:
        """The source of a number that is not 0 if underflows of these operations are reported."""
        always_checked = any(op.attrs.get("always_checked", 0) & UNDERFLOW for op in ops)
        return self.runtime("flags_listened", UNDERFLOW | UNDERFLOW << ALWAYS_CHECKED if always_checked else UNDERFLOW)

    def guard_underflow(self, op: Op, condition: str) -> None:
        """Leave if an operation underflows, which is the condition, and the program hears of it."""
        if op.exit is None or not condition:
            return
        self.line("if %s:" % condition)
        self.depth += 1
        self.guard(op, "%s != 0" % self.underflow_listened([op]))
        self.depth -= 1

    def flags_raised(self, mask: int, own: bool) -> str:
        """The source of a number: the reported flags of a mask that were raised since `clear_flags`."""
        if own:
            return "flags_raised(%s, %d)" % (self.runtime_address("own_flags_test"), mask)
        return self.runtime("flags_test", mask)

    def checked(self, name: str, *args: Any, op: Optional[Op] = None) -> None:
        """Call a runtime function. If it fails, leave by the operation's exit, which repeats it; without one, raise.

        A capture gives an operation no exit if it has proved that the function succeeds.
        """
        if entry(name).result not in ((STATUS,) if op is None else (STATUS, BAILS_OUT)):
            raise CompileError("the runtime function %s may bail out or gives a value, and nothing is repeated" % name)
        self.line("if %s != 0:" % self.runtime(name, *args))
        self.depth += 1
        if op is not None and op.exit is not None:
            self.line(self.runtime("clear_exception"))
            self.take_because([op], op.exit)
        else:
            self.line("return %d" % _launcher.ERROR)
        self.depth -= 1

    def libm(self, function: str, arity: int, single: bool = False) -> str:
        """The name of a global that calls the process's libm function, for ``single`` floats or for doubles."""
        if function in ("sqrt", "fabs"):
            return "fsqrt" if function == "sqrt" else "fabs"
        function += "f" if single else ""
        name = "libm_" + function
        if name not in self.names:
            symbol = symbols.libm_symbol(function, _launcher.libm(function))
            self.names[name], self.symbols[name] = intrinsics.symbol_caller(symbol.name, arity, single), symbol
        return name

    def breaker(self, signals: bool) -> str:
        """The name of a global that reads the eval breaker, or the word for ``signals``. All threads share both."""
        name, address = ("signals", _launcher.SIGNALS) if signals else ("eval_breaker", _launcher.EVAL_BREAKER)
        symbol = symbols.word_symbol(name, cast(int, address))
        self.names[name], self.symbols[name] = intrinsics.symbol_reader(symbol.name), symbol
        return name

    def asks(self, signals: bool) -> str:
        """The condition for a poll to leave: the interpreter has requests; with ``signals``, only signals to handle."""
        if _launcher.THREAD_POLLS is None:
            return "%s() != 0" % self.breaker(signals)
        place, bits, of_signals = _launcher.THREAD_POLLS
        return "bits_set(ld_i8(ld_i8(frame, 8), %d), %d) != 0" % (place, of_signals if signals else bits)

    def loop_table(self, ufunc: np.ufunc, index: int) -> str:
        """The name of a global that returns the address of [function, data] of a ufunc's inner loop."""
        words = _launcher.ufunc_loop(ufunc, index, symbols.is_numpys(ufunc))
        return self.address_of(symbols.loop_symbol(ufunc, index, words), "loop_")

    def object_address(self, symbol: str, known: Any) -> str:
        """The name of a global that returns the address of an object, which lives as long as the process."""
        return self.address_of(symbols.object_symbol(symbol, known), "object_")

    def address_of(self, symbol: LinkSymbol, prefix: str) -> str:
        """The name of a global that returns the address of a symbol."""
        for name, known in self.symbols.items():
            if known == symbol:
                return name
        name = "%s%d" % (prefix, len(self.symbols))
        self.names[name], self.symbols[name] = intrinsics.symbol_address(symbol.name), symbol
        return name

    def nest_name(self, nest: Nest) -> str:
        """The name of a global that runs a loop nest."""
        for name, known in self.symbols.items():
            if known == nest:
                return name
        name = "nest_%d" % len(self.symbols)
        self.names[name], self.symbols[name] = nest_intrinsic(nest), nest
        self.line("# %s: %r" % (name, nest))
        return name

    # ---- memory of arrays ----

    def need_buffer(self, op: Op, size: Expression) -> None:
        """Make ``buffer_d`` the address of at least ``size`` bytes, for use within a statement.

        The buffer stays between iterations of a loop, so that its pages are touched once.
        """
        self.buffered = True
        wanted = self.let(size)
        self.line("if %s > buffer_n:" % wanted)
        self.depth += 1
        self.indented("if buffer_o != 0:", self.runtime("release", "frame", "buffer_o"))
        made = self.new_array(op, Array(np.dtype(np.uint8), 1, "C"), str(self.fresh()), [wanted], private=True)
        self.line("buffer_d = %s" % made.data)
        self.line("buffer_o = %s" % made.object)
        self.line("buffer_n = %s" % wanted)
        self.depth -= 1

    # ---- arrays ----

    def array_at(self, value: Value, word: int) -> ArrayVariable:
        """An input array whose descriptor starts at a frame word."""
        array = variables_of(value)
        for offset, variable in enumerate((array.data, array.object) + array.shape + array.shown):
            self.line("%s = ld_i8(frame, %d)" % (variable, 8 * (word + offset)))
        return array

    def describe(self, kind: Array, name: str, at: int, shape: Sequence[Operand]) -> ArrayVariable:
        return self.describe_at(kind, name, "address_of_word(frame, %d)" % at, shape)

    def describe_at(self, kind: Array, name: str, address: Expression, shape: Sequence[Operand]) -> ArrayVariable:
        """Variables for an array whose descriptor the runtime has completed."""
        words = self.let(address)
        array = variables_of_layout(kind, name, shape)
        self.line("%s = ld_i8(%s, 0)" % (array.data, words))
        self.line("%s = ld_i8(%s, 8)" % (array.object, words))
        for axis, variable in enumerate(array.shown):
            self.line("%s = ld_i8(%s, %d)" % (variable, words, 8 * (2 + kind.ndim + axis)))
        return array

    def descriptor(self, array: ArrayVariable, at: int) -> Operand:
        """Write the array's descriptor at scratch word ``at``; returns its address. The object word stays 0."""
        return self.let("set_words(frame, %d, %s)" % (at, listed([
            array.data, NULL, *array.shape, *array.shown])))

    def with_object(self, value: Value) -> ArrayVariable:
        """The array, after writing code that makes its object if a view or a stack array has none yet."""
        array = self.arrays[value]
        if array.lazy:
            self.line("if %s == 0:" % array.object)
            self.depth += 1
            at = self.layout.scratch(2 + 2 * len(array.shape))
            address = self.descriptor(array, at)
            made: List[Any] = ["frame", address, len(array.shape), array.type.dtype.num]
            if array.in_slot:
                self.checked("copied", *made)
            else:
                self.checked("view", *made, array.base)
            self.line("%s = ld_i8(frame, %d)" % (array.object, 8 * (at + 1)))
            self.depth -= 1
        return array

    def release(self, array: ArrayVariable) -> None:
        """Release the frame's reference to the array's object, if the object was made."""
        call = self.runtime("release", "frame", array.object)
        if array.lazy:
            self.indented("if %s != 0:" % array.object, call)
        else:
            self.line(call)

    def new_array(self, op: Op, kind: Array, name: str, shape: Sequence[Operand],
                  order: int = 0, private: bool = False) -> ArrayVariable:
        """Allocate an array of a shape; leaves by the operation's exit when there is no memory."""
        at = self.layout.scratch(2 + 2 * len(shape))
        address = self.let("set_words(frame, %d, %s)" % (at, listed([NULL, NULL, *shape])))
        self.checked("alloc", "frame", address, type_number(kind.dtype, private), len(shape), order, op=op)
        return self.describe(kind, name, at, shape)

    # ---- loop nests ----

    def nest(self, shape: Sequence[Operand], arrays: Sequence[ArrayVariable],
             body: Callable[[List[Place]], None]) -> None:
        """Write a loop over ``shape``; ``body`` gets (address, byte offset) of the current element of each array.

        The arrays broadcast to the shape.
        """
        padded = [[ZERO] * (len(shape) - len(array.shape)) + [
            ZERO if size.value == 1 else self.broadcast_stride(array, axis, shape)
            for axis, size in enumerate(array.shape)] for array in arrays]
        rows: List[Operand] = [array.data for array in arrays]
        depth = self.depth
        for axis in range(len(shape)):
            index = self.fresh()
            self.line("%s = 0" % index)
            self.line("while %s < %s:" % (index, shape[axis]))
            self.depth += 1
            # The index advances first, so that a body may leave the nest anywhere.
            position = self.let("iadd(%s, 0)" % index)
            self.line("%s = iadd(%s, 1)" % (index, index))
            offsets = [self._offset(position, strides[axis]) for strides in padded]
            if axis < len(shape) - 1:
                rows = [self.let("iadd(%s, %s)" % pair) for pair in zip(rows, offsets)]
            else:
                body([(row, offset) for row, offset in zip(rows, offsets)])
        if not shape:
            body([(row, "0") for row in rows])
        self.depth = depth

    @staticmethod
    def _offset(position: Operand, stride: Operand) -> str:
        """The byte offset of an element of an axis.

        LLVM 22 may end the process at loops that multiply an index by a negative constant (nest.py).
        """
        is_negative = isinstance(stride.value, int) and stride.value < 0
        return "imul(%s, %s)" % (position, "unknown_word(%s)" % stride if is_negative else stride)

    def broadcast_stride(self, array: ArrayVariable, axis: int, shape: Sequence[Operand]) -> Operand:
        """The stride of an axis; 0 where an axis of length 1 is repeated."""
        target = shape[len(shape) - len(array.shape) + axis]
        if array.shape[axis] == target or array.strides[axis].value == 0:
            return array.strides[axis]
        return self.pure("choose(%s == %s, %s, 0)" % (array.shape[axis], target, array.strides[axis]))

    # ---- scalars and elements ----

    def element(self, dtype: np.dtype[Any], place: Place) -> str:
        """The source that reads one element, in the form of a scalar variable."""
        return "ld_%s(%s, %s)" % ((memory_code(dtype),) + place)

    def converted(self, source: Expression, kind: Scalar, dtype: np.dtype[Any], op: Op,
                  unchecked: bool = False) -> Expression:
        """A scalar converted to another dtype; leaves by the operation's exit when it does not fit.

        ``unchecked``: integers wrap, as in NumPy arrays.
        """
        if kind.dtype == dtype:
            return source
        to = numpy_scalar(dtype)
        row = scalars.cast(kind, to, op.exit is not None and not unchecked)
        a = self.let(source)
        fields = dict(scalars.parameters(to if dtype.kind in "iu" else kind), a=a)
        self.guard(op, row.before.format(**fields))
        self.guard_underflow(op, row.underflows.format(**fields))
        return a if row.is_same else self.let(row.value.format(**fields))
