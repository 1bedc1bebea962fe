"""The protocol of interpreters: what models of operators, functions and objects ask of the interpreter that runs them.

Models are functions whose first argument is an `Interpreter`. They take abstract values and give abstract values; the
interpreter decides whether an operation is typed only (`type_propagation`) or recorded in a graph (`graph_builder`).
A model that cannot do something raises `Break`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ContextManager, Dict, List, Optional, Set, TypeVar, overload

from pijit.core.bytecode.analysis.blocks import CFG
from pijit.core.bytecode.analysis.liveness import Liveness
from pijit.core.bytecode.codec.decode import Function, Instr
from pijit.core.bytecode.linker.deferred_warning import FlagReport
from pijit.core.capture.context import CaptureContext
from pijit.core.capture.profile.range_unrolling import CapturePoint
from pijit.core.capture.state.edges import ExceptionEdge, Transfer
from pijit.core.capture.state.frame_state import FrameState
from pijit.core.capture.state.heap_locations import HeapLocation
from pijit.core.capture.state.return_kinds import CallOutcome
from pijit.core.capture.values.describe import Arguments
from pijit.core.capture.values.lattice import Abstract, Const, OpaqueObject, UnescapedFunction
from pijit.core.capture.values.virtual_object import VirtualObject
from pijit.core.errors import Break
from pijit.core.graph.ir import Block, Graph, Output, Value
from pijit.core.graph.library import LibraryFunction
from pijit.core.graph.types import Type

if TYPE_CHECKING:
    from typing import Protocol

    from pijit.core.capture.models.stdlib.context_managers import Errors
else:
    Protocol = object  # CPython 3.7 has none


SomeAbstract = TypeVar("SomeAbstract", bound=Abstract)


class AnalysedCallee(Protocol):
    """The analysis of a function that is inlined: its name, and the outcomes of the call."""

    name: str
    outcomes: List[CallOutcome]

    def build_into(self, parent: Any, context: CaptureContext, entry: FrameState, borrowed: List[int]) -> Abstract:
        """Build the body into the graph of the caller's builder; returns the result of the call."""


class Interpreter(Protocol):
    """An interpreter of one instruction over abstract values.

    Attributes:
        instr: the instruction that is interpreted.
        state: the abstract frame, locals and operand stack; ``before`` is the one before the instruction.
        context: the context of the capture: names that the function sees, options, and facts found so far.
        function, cfg, liveness: the function that is interpreted, its basic blocks, and its live variables.
        transfer: the control transfer at the end of the instruction.
        block: the block of the graph that operations are added to, if there is a graph.
        wrote: an effect has preceded.
        exception_edges: edges to handlers that the instruction has so far.
        derived: a call is being made whose result is not that of the instruction.
        unhandled: instructions without an edge to their handler.
        version: the number of the block version that is interpreted.
        returned: the result, after an instruction that leaves an inlined callee.
    """

    instr: Instr
    state: FrameState
    before: FrameState
    context: CaptureContext
    function: Function
    cfg: CFG
    liveness: Liveness
    transfer: Transfer
    block: Any
    wrote: bool
    exception_edges: List[ExceptionEdge]
    derived: bool
    unhandled: Set[int]
    version: int
    returned: Abstract

    @overload
    def emit(self, name: str, args: List[Value], type: Type, attrs: Optional[Dict[str, Any]] = None,
             exits: bool = False) -> Value: ...

    @overload
    def emit(self, name: str, args: List[Value], type: None, attrs: Optional[Dict[str, Any]] = None,
             exits: bool = False) -> None: ...

    def alone(self, value: Abstract) -> Abstract:
        """``value`` for a second use. Iterators have one user, because a second one would see the steps of the first.
        """

    def attribute(self, owner: Abstract, name: str) -> Abstract:
        """``owner.name``."""

    def binary(self, symbol: str, left: Abstract, right: Abstract) -> Abstract:
        """``left <symbol> right`` as a new abstract value."""

    def by_one_path(self, cls: Const) -> Const:
        """The class by the path at which the segment found it first. One path is enough to guard its attributes."""

    def call(self, callee: Abstract, arguments: List[Abstract], keywords: Arguments) -> Abstract:
        """The result of a call. Raises Break if it is not captured."""

    def call_row(self, row: LibraryFunction, arguments: List[Abstract], keywords: Arguments) -> Abstract:
        """Call a library function itself, with an output if one is given."""

    def catch_no_more(self) -> None:
        """Remove the edges to the handler: the kernel exits where the instruction raises."""

    def cell_value(self, root: Any) -> Value:
        """The SSA value of the pointer to the cell at ``root``."""

    def compare(self, symbol: str, left: Abstract, right: Abstract) -> Abstract:
        """``left <symbol> right`` for the six rich comparisons, ``is``, ``in`` and their negations."""

    def constant(self, value: Abstract) -> Any:
        """The object that ``value`` is known to be, or None."""

    def delete_attribute(self, owner: Abstract, name: str) -> None:
        """``del owner.name``."""

    def deriving(self) -> ContextManager[None]:
        """Calls in this context have results that are not the result of the instruction."""

    def either(self, flag: Value, one: CallOutcome, other: CallOutcome) -> Dict[int, CallOutcome]:
        """The outcomes of a call, by slot: ``one`` if the FLAG is true, else ``other``."""

    def enter(self, analysis: AnalysedCallee, context: CaptureContext, entry: FrameState,
              borrowed: List[int]) -> Abstract:
        """The result of an inlined call of ``analysis``'s function, with context ``context`` and entry state ``entry``.

        ``borrowed`` are the caller's tokens of the virtual objects in that state, see `lend`.
        """

    def errors_around(self) -> Errors:
        """The error handling that callers have set."""

    def gives_result(self) -> bool:
        """Whether the instruction pushes the result of the call that is being made."""

    def is_in_loop(self) -> bool:
        """Whether the instruction is in a loop of its function."""

    def may_report(self) -> bool:
        """Whether a kernel may exit after the instruction, so that the flags of its write are reported."""

    def not_inlined(self, callee: UnescapedFunction, error: Break) -> Break:
        """The error to raise where a call of such a function is not inlined after all."""

    def note_access(self, location: Any, owner: Abstract, changes: bool, relied: bool) -> None:
        """Note an access: objects of which a location is written must be distinct from those of which it is read."""

    def number_value(self, value: Abstract) -> Value:
        """The SSA value of a number."""

    def object_value(self, value: Abstract) -> Value:
        """The SSA value of the pointer to an object."""

    def pop(self) -> Abstract:
        """The top of the stack, which must be known."""

    def pop_many(self, count: int) -> List[Abstract]:
        """``count`` values, in the order in which they were pushed."""

    def push(self, value: Abstract) -> None:
        """Push a value; the instruction is its defining instruction if it has none."""

    def rely(self, value: Any, condition: Any) -> None:
        """Note that more than the type of a value or of the content of a Place is relied on: one of `predicates`."""

    def rely_on_ownership(self, virtual: VirtualObject) -> None:
        """Note that no other code may read or write a virtual object, which an earlier segment may have made."""

    def rely_on_length(self, word: Value, length: int) -> None:
        """Note that an integer is expected to have this value, as the lengths of arrays from outside tell."""

    def rely_on_unit_axes(self, lengths: List[Value]) -> None:
        """Note that it is expected which lengths of a computed array are 1, as the arrays from outside tell."""

    def report(self, report: FlagReport, written: Abstract) -> None:
        """Note that a kernel reports the floating-point flags of a write."""

    def same_object(self, left: OpaqueObject, right: OpaqueObject) -> bool:
        """Whether two objects from outside are identical; a guard ensures it."""

    def capture_point(self) -> CapturePoint:
        """The instruction, with the functions around it that are captured together."""

    def segment_input(self, root: Any, type: Type) -> Value:
        """The input of the segment with the value at ``root``."""

    def split(self, flag: Value) -> Optional[Block]:
        """Continue where the FLAG is false; returns the block where it is true."""

    def store_attribute(self, owner: Abstract, name: str, value: Abstract, plainly: bool = False) -> None:
        """``owner.name = value``; with ``plainly`` as ``object.__setattr__`` stores."""

    def store_subscript(self, index: Abstract, owner: Abstract, value: Abstract) -> None:
        """``owner[index] = value``."""

    def subscript(self, owner: Abstract, index: Abstract) -> Abstract:
        """``owner[index]``."""

    def take(self) -> Abstract:
        """As `pop`, for an instruction that only moves the value, so that no fact about it is relied on."""

    def throw(self, cls: type, block: Any) -> None:
        """In an inlined callee: continue at the caller's handler when the block is reached."""

    def unary(self, name: str, value: Abstract) -> Abstract:
        """``-x``, ``+x``, ``~x``, ``abs(x)``."""

    def use(self, value: SomeAbstract) -> SomeAbstract:
        """Note that a fact about ``value`` is relied on, and make its SSA value available."""

    def word(self, value: Abstract) -> Value:
        """A Python or NumPy integer as a machine word."""

    def written_attribute(self, owner: Abstract, name: str, hook: str, plainly: bool = False) -> HeapLocation:
        """The location of an attribute that the instruction writes, if ``hook`` of the class is the plain one."""


class Recorder(Interpreter, Protocol):
    """An interpreter that records operations in a graph: the graph builder."""

    graph: Graph

    def block_parameters(self, value: Abstract, block: Block, hint: str, like: Optional[Abstract]) -> Abstract:
        """A copy of ``value`` whose parts are parameters of ``block``."""

    def exit_output(self, value: Abstract) -> Output:
        """How an exit makes the object that ``value`` stands for."""

    def token_of(self, virtual: VirtualObject) -> Any:
        """What identifies a virtual object among those that the same exit makes."""

    def note_dict(self, path: Any) -> None:
        """Note that a dict whose items are known, if there is one, must not be a dict that the segment changes."""

    def value_parts(self, wanted: Abstract, given: Optional[Abstract]) -> List[Value]:
        """The values for the parameters that `block_parameters` has made for ``wanted``."""
