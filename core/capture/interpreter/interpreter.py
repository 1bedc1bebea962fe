"""Abstract interpretation of one instruction at a time.

There are two clients: type propagation, in which ``emit`` makes typed placeholders, and graph building, in which it
adds operations. A handler that cannot model an instruction raises :class:`~pijit.core.errors.Break` before it changes
the state. The instruction then stays bytecode.
"""

from __future__ import annotations

import contextlib
from typing import Any, Callable, Dict, Iterator, List, Optional, Set

from pijit.core.bytecode.analysis.liveness import Liveness
from pijit.core.bytecode.codec.decode import Function, Instr
from pijit.core.bytecode.flow.control_flow import unwound_level
from pijit.core.bytecode.instructions.opcodes import BINARY, CLASS_OF_NAME, INPLACE, PRESENT, TRY_AND_WITH, UNARY
from pijit.core.capture.context import CaptureContext
from pijit.core.capture.interpreter.attributes import Attributes
from pijit.core.capture.interpreter.calls import Calls
from pijit.core.capture.interpreter.deletions import Deletions
from pijit.core.capture.interpreter.exceptions import ExceptionEdge, Handlers
from pijit.core.capture.interpreter.loops import Iteration
from pijit.core.capture.interpreter.match import Matching
from pijit.core.capture.interpreter.stack_moves import ROTATIONS, StackMoves
from pijit.core.capture.interpreter.stores import Effects
from pijit.core.capture.interpreter.subscripts import Subscripts
from pijit.core.capture.models.containers.characters import Characters
from pijit.core.capture.models.containers.contents import Containers
from pijit.core.capture.models.containers.literals import Displays
from pijit.core.capture.models.containers.reads import ContainerReads
from pijit.core.capture.models.containers.strings import Texts
from pijit.core.capture.models.containers.updates import ContainerEffects
from pijit.core.capture.models.functions.callees import CALLEE_BELOW
from pijit.core.capture.models.functions.shared_cells import content
from pijit.core.capture.models.iteration.comprehensions import Comprehensions
from pijit.core.capture.models.iteration.generators import Generators
from pijit.core.capture.models.numpy.library import LibraryCalls
from pijit.core.capture.models.objects.special_methods import is_object, method_called, truth_special
from pijit.core.capture.models.operators import Operators, describe
from pijit.core.capture.models.predicted_exceptions import foresee
from pijit.core.capture.models.stdlib.context_managers import Managers
from pijit.core.capture.models.stdlib.modules import Imports
from pijit.core.capture.state.frame_state import FrameState, rounds_of
from pijit.core.capture.state.return_kinds import CallOutcome
from pijit.core.capture.values.base import Raised, raised_in
from pijit.core.capture.values.generator_frame import GeneratorFrame, is_generating, worn
from pijit.core.capture.values.lattice import (
    FRAGILE,
    IMMUTABLE_BY_VALUE,
    UNBOUND,
    Abstract,
    Borrowed,
    Const,
    KnownContainer,
    LoopIterator,
    Number,
    OpaqueObject,
    Sequence,
    Tensor,
    Unbound,
    UnescapedFunction,
    Unknown,
    Unrolled,
    known_of,
    number_type,
    scalar_type,
)
from pijit.core.capture.values.predicates import HasValue
from pijit.core.errors import Break
from pijit.core.graph.ir import Value
from pijit.core.graph.types import BOOL, FLAG, WORD, Scalar, Type
from pijit.guards.facts import is_exactly
from pijit.guards.reading import NoPlaceError

REASON_OF = {"FORMAT_VALUE": "PJ216", "CONVERT_VALUE": "PJ216", "RAISE_VARARGS": "PJ221"}
REASON_OF.update((name, "PJ216") for name in CLASS_OF_NAME if name.startswith("BUILD_"))
REASON_OF.update(dict.fromkeys(TRY_AND_WITH, "PJ206"))
"""More specific reasons than PJ202 for instructions that never have a handler."""

MAKES_BOOL = "TO_BOOL" in PRESENT
"""Whether the argument of a comparison says that its result is converted to bool (3.13)."""

PASSED = frozenset(["loop", "except", "finally"])
"""Kinds of blocks that need no action when they are left without an exception."""

class Interpreter(Operators, Subscripts, Containers, ContainerReads, Displays, Attributes, Calls, LibraryCalls,
                  Comprehensions, Generators, Iteration, Effects, Deletions, ContainerEffects, Matching, Texts,
                  Characters, Managers, Imports, Handlers, StackMoves):
    """Base of both clients: stack, locals, constants, globals.

    ``flow`` tells how the last instruction ends. "fall" continues with the next instruction, "jump" at the target.
    ("branch", flag) goes to the target if the FLAG is true. Branches on known conditions become "fall" or "jump". A
    loop step is ("iterate", flag, enter): if the FLAG is true, it continues with the values of ``enter()`` on the
    stack, else at the target. ``derived``: a call is being made whose result is not that of the instruction.
    """

    def __init__(self, function: Function, facts: CaptureContext) -> None:
        self.function = function
        self.facts = facts
        self.state = FrameState({}, [])
        self.instr: Instr = function.instructions[0]
        self.flow: Any = "fall"
        self.ways: List[ExceptionEdge] = []
        self.before = self.state
        self.unhandled: Set[int] = set()
        self.derived = False
        self.work = facts.base.work

    # implemented by the two clients

    def emit(self, name: str, args: List[Value], type: Optional[Type], attrs: Optional[Dict[str, Any]] = None,
             exits: bool = False) -> Optional[Value]:
        raise NotImplementedError

    liveness: Liveness
    wrote = False

    def number_value(self, value: Abstract) -> Value:
        raise NotImplementedError

    def object_value(self, value: Abstract) -> Value:
        """The SSA value of the pointer to an object."""
        raise NotImplementedError

    def cell_value(self, number: int) -> Value:
        """The SSA value of the pointer to a cell."""
        raise NotImplementedError

    def use(self, value: Abstract) -> Abstract:
        """Note that a fact about ``value`` is relied on, and make its SSA value available."""
        return value

    def rely(self, value: Any, condition: Any) -> None:
        """Note that more than the type of a value or of the content of a Place is relied on: one of `predicates`."""

    def by_one_path(self, cls: Const) -> Const:
        """The class by the path at which the segment found it first. One path is enough to guard its attributes."""
        return cls

    def same_object(self, left: OpaqueObject, right: OpaqueObject) -> bool:
        """Whether two objects from outside are identical; a guard ensures it."""
        return left.sample is right.sample

    def enter(self, analysis: Any, facts: CaptureContext, entry: FrameState) -> Abstract:
        """The result of an inlined call of ``analysis``'s function, with context ``facts`` and entry state ``entry``.
        """
        raise NotImplementedError

    def constant(self, value: Abstract) -> Any:
        """The object that ``value`` is known to be, or None.

        A Python number from outside becomes known by its value. A guard ensures it, until a second value shows that it
        changes.
        """
        if isinstance(value, Const):
            return value.object
        if self.facts.steering.may_be_known(value):
            self.rely(value, HasValue(value.sample))  # type: ignore[attr-defined]
            return value.sample  # type: ignore[attr-defined]
        return None

    def is_in_loop(self) -> bool:
        """Whether the instruction is in a loop of its function."""
        return any(self.cfg.block_of[self.instr.index] in loop.body for loop in self.cfg.loops)

    def may_report(self) -> bool:
        """Whether a kernel may exit after the instruction, so that the flags of its write are reported."""
        return False

    def gives_result(self) -> bool:
        """Whether the instruction pushes the result of the call that is being made."""
        called = self.instr.opname in CALLEE_BELOW or method_called(self.instr) is not None
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
        self.flow, self.ways = "fall", []
        saved = self.before = self.state.copy()
        try:
            foresee(self, instr)
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
            self.push(self.inplace(INPLACE[name], left, right))
        elif name in UNARY:
            self.push(self.unary(UNARY[name], self.pop()))
        elif name in ROTATIONS:
            self.rotate(ROTATIONS[name])
        else:
            handler: Optional[Callable[[Instr], None]] = getattr(self, "op_" + name, None)
            if handler is None:
                raise Break(REASON_OF.get(name, "PJ202"), opcode=name)
            handler(instr)

    def push(self, value: Abstract) -> None:
        if value.born < 0:
            value.born = self.instr.index
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

    def take_many(self, count: int) -> List[Abstract]:
        """``count`` values to move, in the order in which they were pushed."""
        values = [self.take() for _ in range(count)]
        values.reverse()
        return values

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

    # stack and locals

    def op_NOP(self, instr: Instr) -> None:
        """Nothing."""

    def op_LOAD_CONST(self, instr: Instr) -> None:
        self.push(Const(instr.value))

    def op_LOAD_FAST(self, instr: Instr) -> None:
        value = self.state.locals.get(instr.value, Unknown("PJ212"))
        if isinstance(value, Unbound):
            raise Break("PJ212", name=instr.value)
        if isinstance(value, Unknown):
            raise Break(value.reason, name=instr.value)
        is_iterator = isinstance(value, (LoopIterator, Unrolled, GeneratorFrame))
        if is_iterator and instr.value not in self.liveness.live_in(instr.index + 1):
            self.state.locals[instr.value] = UNBOUND  # it moves to its only user
            self.state.stack.append(value)
            return
        if isinstance(value, LoopIterator) and self.is_stepped_alone(instr):
            self.push(Borrowed(instr.value))
            return
        self.state.stack.append(self.alone(value))

    def op_STORE_FAST(self, instr: Instr) -> None:
        value = self.as_object(self.take())
        if isinstance(value, UnescapedFunction) and value.name is not None and not self.facts.depth:
            value = worn(value)
        elif isinstance(value, UnescapedFunction):
            self.want_object(value)
        elif isinstance(value, FRAGILE) and not isinstance(value, Raised) or rounds_of(value) or is_generating(value):
            value = self.named_iterator(value)
        self.state.locals[instr.value] = value

    def op_LOAD_FAST_AND_CLEAR(self, instr: Instr) -> None:
        """Save the value of a variable that an inlined comprehension hides; the variable may be unbound (3.12)."""
        value = self.state.locals.get(instr.value, UNBOUND)
        if isinstance(value, Unknown):
            raise Break(value.reason, name=instr.value)
        self.state.stack.append(value)
        self.state.locals[instr.value] = UNBOUND

    def op_DELETE_FAST(self, instr: Instr) -> None:
        """Delete a number, an array or None. The deletion of other values may run finalizers."""
        value = self.state.locals.get(instr.value, Unknown("PJ212"))
        if not isinstance(value, (Number, Tensor)) and value != Const(None):
            raise Break("PJ212" if isinstance(value, (Unbound, Unknown)) else "PJ202", name=instr.value)
        self.use(value)  # which ensures that the variable has a value
        self.state.locals[instr.value] = Unbound(None, instr.index)

    def op_LOAD_GLOBAL(self, instr: Instr) -> None:
        name = instr.value
        place = self.facts.global_place(name)
        if place is not None:
            self.state.stack.append(self.read_place(place))
            return
        sample, where = self.facts.find_global(name, self)
        self.state.stack.append(self.known_object(sample, *where))

    def op_LOAD_DEREF(self, instr: Instr) -> None:
        self.state.stack.append(self.cell_content(instr))

    def cell_content(self, instr: Instr) -> Abstract:
        """The content of the cell that ``instr`` names."""
        return self.content_of(instr.arg or 0, instr.value)

    def content_of(self, number: int, name: str) -> Abstract:
        """The content of a cell or free variable."""
        if name in self.facts.shared:
            return content(self, name)
        place = self.facts.cell_place(number, name)
        self.note_cell(number, False)
        if place is not None:
            return self.read_place(place)
        sample, where = self.facts.find_cell(number, self, name)
        return self.known_object(sample, *where)

    def known_object(self, sample: Any, source: Any, root: Any) -> Abstract:
        """A value found by lookup: code and modules are known by identity, all others by type.

        It is relied on only when an instruction pops it from the stack. A value that is only moved is not guarded.
        """
        value = self.facts.arriving(known_of(sample, source, self.instr.index))
        if isinstance(value, Unknown):
            raise Break(value.reason)
        value.root = root
        return value

    # comparison and jumps

    def op_COMPARE_OP(self, instr: Instr) -> None:
        if instr.value == "exception match":
            self.push(Const(self.matches(self.pop(), self.take(), instr)))
            return
        right, left = self.pop(), self.pop()
        self.push(self.compare(instr.value, left, right))
        if instr.arg and MAKES_BOOL:
            self.op_TO_BOOL(instr)

    def op_IS_OP(self, instr: Instr) -> None:
        right, left = self.pop(), self.pop()
        self.push(self.compare("is not" if instr.arg else "is", left, right))

    def op_CONTAINS_OP(self, instr: Instr) -> None:
        right, left = self.pop(), self.pop()
        self.push(self.compare("not in" if instr.arg else "in", left, right))

    def op_UNARY_NOT(self, instr: Instr) -> None:
        value = truth_special(self, self.pop())
        known = self.known_truth(value)
        if known is not None:
            self.push(Const(not known))
            return
        flag = self.emit("not", [self.truth(value)], FLAG)
        self.push(Number(BOOL, self.emit("flag", [flag], BOOL)))

    def known_truth(self, value: Abstract) -> Optional[bool]:
        """``bool(value)`` when it is certain at capture time."""
        if isinstance(value, Const):
            if is_exactly(value.object, IMMUTABLE_BY_VALUE) or scalar_type(value.object) is not None:
                return bool(value.object)
            return len(value.object) > 0 if type(value.object) is tuple else self.is_true(value)
        if isinstance(value, Sequence):
            return bool(value.items)
        if not (isinstance(value, KnownContainer) or is_object(value)) or self.is_changing(value) or self.asks_anew(value):
            return None
        return self.is_true(value)

    def op_JUMP_FORWARD(self, instr: Instr) -> None:
        self.flow = "jump"

    op_JUMP_ABSOLUTE = op_JUMP_FORWARD

    def _conditional(self, when: bool, keep: Optional[bool]) -> None:
        """Jump if the truth of the top is ``when``. ``keep``: the truth value for which the top stays on the stack."""
        value = self.pop()
        asked = truth_special(self, value)
        known = self.known_truth(asked)
        if known is not None:
            self.flow = "jump" if known == when else "fall"
            if keep is not None and known == keep:
                self.push(value)
            return
        flag = self.truth(asked)
        if not when:
            flag = self.emit("not", [flag], FLAG)
        self.flow = ("branch", flag, [value] if keep is not None else [])

    def op_POP_JUMP_IF_FALSE(self, instr: Instr) -> None:
        self._conditional(False, None)

    def op_POP_JUMP_IF_TRUE(self, instr: Instr) -> None:
        self._conditional(True, None)

    def op_POP_JUMP_IF_NONE(self, instr: Instr) -> None:
        self.push(self.compare("is", self.pop(), Const(None)))
        self._conditional(True, None)

    def op_POP_JUMP_IF_NOT_NONE(self, instr: Instr) -> None:
        self.push(self.compare("is", self.pop(), Const(None)))
        self._conditional(False, None)

    def op_TO_BOOL(self, instr: Instr) -> None:
        """Convert to bool: a jump of 3.13 accepts nothing but True and False."""
        value = truth_special(self, self.pop())
        known = self.known_truth(value)
        is_bool = isinstance(value, Number) and value.type == BOOL
        if known is not None:
            self.push(Const(known))
        else:
            self.push(value if is_bool else Number(BOOL, self.emit("flag", [self.truth(value)], BOOL)))

    def op_JUMP_IF_FALSE_OR_POP(self, instr: Instr) -> None:
        self._conditional(False, False)

    def op_JUMP_IF_TRUE_OR_POP(self, instr: Instr) -> None:
        self._conditional(True, True)

    # blocks of try statements and of 3.7's loops: kernels raise nothing, so they only tell what exits must restore

    def op_SETUP_FINALLY(self, instr: Instr) -> None:
        """No operation: exits restore the block stack."""

    op_SETUP_EXCEPT = op_SETUP_LOOP = op_SETUP_FINALLY

    def op_POP_BLOCK(self, instr: Instr) -> None:
        kind = self.cfg.block_stack[instr.index][-1].kind
        if kind == "with":
            self.leave_with(instr)
        elif kind not in PASSED:
            raise Break("PJ206", opcode=instr.opname)

    def op_BREAK_LOOP(self, instr: Instr) -> None:
        """CPython 3.7: leave the innermost loop and the blocks in it, or continue with the next iteration."""
        handled = raised_in(self.state.stack) is not None
        level = unwound_level(self.cfg.block_stack[instr.index], instr.opname, handled)
        if level is None:
            raise Break("PJ206", opcode=instr.opname)
        self.state.stack = self.state.stack[:level]
        self.flow = "jump"

    op_CONTINUE_LOOP = op_BREAK_LOOP

    # shared by calls, attributes and subscripts

    def word(self, value: Abstract) -> Value:
        """A Python or NumPy integer as a machine word."""
        if isinstance(value, Const) and type(value.object) is int and -2 ** 63 <= value.object < 2 ** 63:
            return self.emit("const", [], WORD, {"value": value.object})  # type: ignore[return-value]
        kind = number_type(value)
        if kind is None or kind.dtype.kind not in "iu" or kind.dtype.char in "LQ":
            raise Break("PJ205", index=describe(value))
        return self.convert_word(self.number_value(value), kind)

    def convert_word(self, value: Value, kind: Scalar) -> Value:
        if kind.dtype == WORD.dtype:
            return self.emit("same", [value], WORD)  # type: ignore[return-value]
        return self.emit("cast", [value], WORD)  # type: ignore[return-value]
