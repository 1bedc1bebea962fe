"""Abstract interpretation of one instruction at a time.

There are two clients: type propagation, in which ``emit`` makes typed placeholders, and graph building, in which it
adds operations. A handler that cannot model an instruction raises :class:`~pijit.core.errors.Break` before it changes
the state. The instruction then stays bytecode.
"""

from __future__ import annotations

import contextlib
from typing import Any, Callable, Dict, Iterator, List, Optional, Set, overload

from pijit.core.bytecode.analysis.blocks import CFG
from pijit.core.bytecode.analysis.liveness import Liveness
from pijit.core.bytecode.codec.decode import Function, Instr
from pijit.core.bytecode.instructions.opcodes import BINARY, CLASS_OF_NAME, INPLACE, TRY_AND_WITH, UNARY
from pijit.core.bytecode.instructions.predicates import operands_above_callable
from pijit.core.bytecode.linker.deferred_warning import FlagReport
from pijit.core.capture.context import CaptureContext
from pijit.core.capture.interpreter import (
    attributes,
    branches,
    calls,
    container_literals,
    deletions,
    exceptions,
    formatting,
    function_making,
    imports,
    loops,
    match,
    stack_moves,
    stores,
    subscripts,
    variables,
    with_statements,
)
from pijit.core.capture.interpreter.stack_moves import ROTATIONS
from pijit.core.capture.models import operators
from pijit.core.capture.models.iteration import comprehensions
from pijit.core.capture.models.objects.special_methods import method_called
from pijit.core.capture.models.predicted_exceptions import predict_exception
from pijit.core.capture.models.protocol import AnalysedCallee, SomeAbstract
from pijit.core.capture.models.stdlib import context_managers
from pijit.core.capture.profile.range_unrolling import CapturePoint
from pijit.core.capture.state.edges import FALL, ExceptionEdge, Transfer
from pijit.core.capture.state.frame_state import FrameState
from pijit.core.capture.state.return_kinds import CallOutcome
from pijit.core.capture.values.describe import describe
from pijit.core.capture.values.generator_frame import GeneratorFrame
from pijit.core.capture.values.lattice import (
    UNBOUND,
    Abstract,
    Const,
    LoopIterator,
    Number,
    OpaqueObject,
    Unknown,
    Unrolled,
    number_type,
)
from pijit.core.capture.values.predicates import HasValue
from pijit.core.capture.values.virtual_object import VirtualObject
from pijit.core.errors import Break
from pijit.core.graph.ir import Value
from pijit.core.graph.types import WORD, Scalar, Type
from pijit.guards.reading import NoPlaceError

REASON_OF = {"FORMAT_VALUE": "PJ216", "CONVERT_VALUE": "PJ216", "RAISE_VARARGS": "PJ221"}
REASON_OF.update((name, "PJ216") for name in CLASS_OF_NAME if name.startswith("BUILD_"))
REASON_OF.update(dict.fromkeys(TRY_AND_WITH, "PJ206"))
"""More specific reasons than PJ202 for instructions that never have a handler."""


HANDLERS: Dict[str, Callable[[AbstractInterpreter, Instr], None]] = {
    name[3:]: function for module in (
        attributes, branches, calls, container_literals, deletions, exceptions, formatting, function_making, imports,
        loops, match, stack_moves, stores, subscripts, variables, with_statements)
    for name, function in vars(module).items() if name.startswith("op_")}
"""By opcode, the function that interprets an instruction: the functions `op_OPCODE` of these modules."""


class AbstractInterpreter:
    """The abstract interpreter, base of both clients: stack, locals, constants, globals.

    It implements the protocol `Interpreter` of `models/protocol.py`.

    ``transfer`` is the control transfer at the end of the last instruction. Branches on known conditions become FALL or
    JUMP. ``derived``: a call is being made whose result is not that of the instruction.
    """

    # Operations that call each other. The functions are in the modules named here.
    attribute = attributes.attribute
    binary = operators.binary
    call = calls.call
    call_row = calls.call_row
    compare = operators.compare
    delete_attribute = deletions.delete_attribute
    store_attribute = stores.store_attribute
    store_subscript = subscripts.store_subscript
    subscript = subscripts.subscript
    unary = operators.unary
    written_attribute = stores.written_attribute

    # What a client replaces.
    catch_no_more = exceptions.catch_no_more
    errors_around = context_managers.errors_around
    jump_if = branches.jump_if
    not_inlined = comprehensions.not_inlined
    note_access = stores.note_access
    split = exceptions.split
    throw = exceptions.throw

    def __init__(self, function: Function, context: CaptureContext, cfg: CFG, liveness: Liveness) -> None:
        self.function, self.cfg, self.liveness = function, cfg, liveness
        self.context = context
        self.state = FrameState({}, [])
        self.instr: Instr = function.instructions[0]
        self.transfer: Transfer = FALL
        self.exception_edges: List[ExceptionEdge] = []
        self.before = self.state
        self.unhandled: Set[int] = set()
        self.derived = False
        self.returned: Abstract = UNBOUND
        self.work = context.base.work

    # implemented by the two clients

    wrote = False
    version = 0
    block: Any = None

    @overload
    def emit(self, name: str, args: List[Value], type: Type, attrs: Optional[Dict[str, Any]] = None,
             exits: bool = False) -> Value: ...

    @overload
    def emit(self, name: str, args: List[Value], type: None, attrs: Optional[Dict[str, Any]] = None,
             exits: bool = False) -> None: ...

    def emit(self, name: str, args: List[Value], type: Optional[Type], attrs: Optional[Dict[str, Any]] = None,
             exits: bool = False) -> Optional[Value]:
        raise NotImplementedError

    def segment_input(self, root: Any, type: Type) -> Value:
        """The input of the segment with the value at ``root``."""
        raise NotImplementedError

    def number_value(self, value: Abstract) -> Value:
        raise NotImplementedError

    def object_value(self, value: Abstract) -> Value:
        """The SSA value of the pointer to an object."""
        raise NotImplementedError

    def cell_value(self, root: Any) -> Value:
        """The SSA value of the pointer to the cell at ``root``."""
        raise NotImplementedError

    def use(self, value: SomeAbstract) -> SomeAbstract:
        """Note that a fact about ``value`` is relied on, and make its SSA value available."""
        return value

    def rely(self, value: Any, condition: Any) -> None:
        """Note that more than the type of a value or of the content of a Place is relied on: one of `predicates`."""

    def rely_on_ownership(self, virtual: VirtualObject) -> None:
        """Note that no other code may read or write a virtual object, which an earlier segment may have made."""

    def rely_on_length(self, word: Value, length: int) -> None:
        """Note that an integer is expected to have this value, as the lengths of arrays from outside tell."""

    def rely_on_unit_axes(self, lengths: List[Value]) -> None:
        """Note that it is expected which lengths of a computed array are 1, as the arrays from outside tell."""

    def by_one_path(self, cls: Const) -> Const:
        """The class by the path at which the segment found it first. One path is enough to guard its attributes."""
        return cls

    def same_object(self, left: OpaqueObject, right: OpaqueObject) -> bool:
        """Whether two objects from outside are identical; a guard ensures it."""
        return left.sample is right.sample

    def enter(self, analysis: AnalysedCallee, context: CaptureContext, entry: FrameState,
              borrowed: List[int]) -> Abstract:
        """The result of an inlined call of ``analysis``'s function, with context ``context`` and entry state ``entry``.

        ``borrowed`` are the caller's tokens of the virtual objects in that state, see `lend`.
        """
        raise NotImplementedError

    def constant(self, value: Abstract) -> Any:
        """The object that ``value`` is known to be, or None.

        A Python number from outside becomes known by its value. A guard ensures it, until a second value shows that it
        changes.
        """
        if isinstance(value, Const):
            return value.object
        if isinstance(value, Number) and self.context.options.specialisation.may_be_known(value):
            self.rely(value, HasValue(value.sample))
            return value.sample
        return None

    def is_in_loop(self) -> bool:
        """Whether the instruction is in a loop of its function."""
        return any(self.cfg.block_of[self.instr.index] in loop.body for loop in self.cfg.loops)

    def may_report(self) -> bool:
        """Whether a kernel may exit after the instruction, so that the flags of its write are reported."""
        return False

    def report(self, report: FlagReport, written: Abstract) -> None:
        """Note that a kernel reports the floating-point flags of a write."""
        raise NotImplementedError

    def gives_result(self) -> bool:
        """Whether the instruction pushes the result of the call that is being made."""
        called = operands_above_callable(self.instr) is not None or method_called(self.instr) is not None
        return not self.derived and (called or self.instr.opname == "SETUP_WITH")

    @contextlib.contextmanager
    def deriving(self) -> Iterator[None]:
        """Calls in this context have results that are not the result of the instruction."""
        before, self.derived = self.derived, True
        try:
            yield
        finally:
            self.derived = before

    # one instruction

    def step(self, instr: Instr) -> None:
        """Interpret ``instr``. On Break the state is unchanged. Raises Exhausted if the budget is used up."""
        self.work.step()
        self.instr = instr
        self.transfer, self.exception_edges = FALL, []
        saved = self.before = self.state.copy()
        try:
            predict_exception(self, instr)
            self._dispatch(instr)
        except Break:
            self.state = saved
            raise
        except NoPlaceError:
            self.state = saved
            raise Break("PJ205", key="one that is compared by code of its own")

    def rehearse(self, later: Callable[[], Any]) -> None:
        """Run the code of an edge during analysis, so that a Break on it is one of the instruction."""

    def either(self, flag: Value, one: CallOutcome, other: CallOutcome) -> Dict[int, CallOutcome]:
        """The outcomes of a call, by slot: ``one`` if the FLAG is true, else ``other``."""
        return {0: other, 1: one}

    def _dispatch(self, instr: Instr) -> None:
        name = instr.opname
        if name in BINARY:
            right, left = self.pop(), self.pop()
            self.push(self.binary(BINARY[name], left, right))
        elif name in INPLACE:
            right, left = self.pop(), self.pop()
            self.push(operators.inplace(self, INPLACE[name], left, right))
        elif name in UNARY:
            self.push(self.unary(UNARY[name], self.pop()))
        elif name in ROTATIONS:
            stack_moves.rotate(self, ROTATIONS[name])
        else:
            handler: Optional[Callable[[Any, Instr], None]] = getattr(type(self), "op_" + name, HANDLERS.get(name))
            if handler is None:
                raise Break(REASON_OF.get(name, "PJ202"), opcode=name)
            handler(self, instr)

    def capture_point(self) -> CapturePoint:
        """The instruction, with the functions around it that are captured together."""
        return self.context.within, self.instr.index

    def push(self, value: Abstract) -> None:
        if value.defined_at == -1:
            value.defined_at = self.instr.index
        self.state.stack.append(value)

    def pop(self) -> Abstract:
        """The top of the stack, which must be known."""
        return self.use(self.take())

    def take(self) -> Abstract:
        """As `pop`, for an instruction that only moves the value, so that no fact about it is relied on."""
        value = self.state.stack.pop()
        if isinstance(value, Unknown):
            raise Break(value.reason)
        return value

    def pop_many(self, count: int) -> List[Abstract]:
        """``count`` values, in the order in which they were pushed."""
        values = [self.pop() for _ in range(count)]
        values.reverse()
        return values

    def alone(self, value: Abstract) -> Abstract:
        """``value`` for a second use. Iterators have one user, because a second one would see the steps of the first.
        """
        if isinstance(value, (LoopIterator, Unrolled, GeneratorFrame)):
            raise Break("PJ209", type=describe(value))
        return value

    # shared by calls, attributes and subscripts

    def word(self, value: Abstract) -> Value:
        """A Python or NumPy integer as a machine word."""
        if isinstance(value, Const) and type(value.object) is int and -2 ** 63 <= value.object < 2 ** 63:
            return self.emit("const", [], WORD, {"value": value.object})
        kind = number_type(value)
        if kind is None or kind.dtype.kind not in "iu" or kind.dtype.char in "LQ":
            raise Break("PJ205", index=describe(value))
        return self.convert_word(self.number_value(value), kind)

    def convert_word(self, value: Value, kind: Scalar) -> Value:
        if kind.dtype == WORD.dtype:
            return self.emit("same", [value], WORD)
        return self.emit("cast", [value], WORD)
