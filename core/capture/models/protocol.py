"""The protocol of interpreters: what models of operators, functions and objects ask of the interpreter that runs them.

Models are functions whose first argument is an `Interpreter`. They take abstract values and give abstract values; the
interpreter decides whether an operation is typed only (`type_propagation`) or recorded in a graph (`graph_builder`).
A model that cannot do something raises `Break`. `container_protocol` has the part about containers and strings.
"""

from __future__ import annotations

from typing import (
    TYPE_CHECKING,
    Any,
    Callable,
    ContextManager,
    Dict,
    Iterable,
    List,
    Optional,
    Sequence,
    Set,
    Tuple,
    TypeVar,
    overload,
)

import numpy as np

from pijit.core.bytecode.analysis.blocks import CFG
from pijit.core.bytecode.analysis.liveness import Liveness
from pijit.core.bytecode.codec.decode import Function, Instr
from pijit.core.bytecode.flow.block_stack import BlockEntry
from pijit.core.bytecode.linker.deferred_warning import FlagReport
from pijit.core.bytecode.rewrite.generator_to_loop import Consumer
from pijit.core.capture.context import CaptureContext
from pijit.core.capture.models.container_protocol import ContainerModels
from pijit.core.capture.state.edges import ExceptionEdge, Transfer
from pijit.core.capture.state.frame_state import FrameState
from pijit.core.capture.state.heap_locations import HeapLocation
from pijit.core.capture.state.return_kinds import CallOutcome
from pijit.core.capture.typing.result_types import SampleOperand
from pijit.core.capture.values.describe import Arguments
from pijit.core.capture.values.lattice import Abstract, Const, OpaqueObject, Tensor, UnescapedFunction
from pijit.core.capture.values.virtual_object import VirtualObject
from pijit.core.errors import Break
from pijit.core.graph.ir import Block, Graph, Output, Value
from pijit.core.graph.library import LibraryFunction
from pijit.core.graph.types import Scalar, Type

if TYPE_CHECKING:
    from typing import Protocol

    from pijit.core.capture.models.functions.function_values import FunctionValue
    from pijit.core.capture.models.stdlib.context_managers import Errors
else:
    Protocol = object  # CPython 3.7 has none


SomeAbstract = TypeVar("SomeAbstract", bound=Abstract)


class Interpreter(ContainerModels, Protocol):
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

    def any_value(self, value: Abstract) -> Value:
        """The SSA value of an array or a number."""

    def apart_from_classes(self, name: Any, classes: Iterable[type]) -> None:
        """Break if captured code stores the attribute into a class that a lookup searches."""

    def apart_from_stores(self, location: Any, owner: Abstract) -> None:
        """Break if an object from outside may be one that captured code made before and stores into."""

    def attribute(self, owner: Abstract, name: str) -> Abstract:
        """``owner.name``."""

    def attribute_location(self, owner: Abstract, name: str) -> Optional[HeapLocation]:
        """The location of an attribute if captured code of the function writes it."""

    def binary(self, symbol: str, left: Abstract, right: Abstract) -> Abstract:
        """``left <symbol> right`` as a new abstract value."""

    def by_one_path(self, cls: Const) -> Const:
        """The class by the path at which the segment found it first. One path is enough to guard its attributes."""

    def call(self, callee: Abstract, arguments: List[Abstract], keywords: Arguments) -> Abstract:
        """The result of a call. Raises Break if it is not captured."""

    def call_closure(self, callee: FunctionValue, arguments: List[Abstract], keywords: Arguments) -> Abstract:
        """A call of a function value. If it is not inlined, bytecode makes the function, so that more can be done with
        it."""

    def call_made(self, callee: UnescapedFunction, arguments: List[Abstract], keywords: Arguments) -> Abstract:
        """A call of a function that was made here; the body of a generator does not run yet."""

    def call_row(self, row: LibraryFunction, arguments: List[Abstract], keywords: Arguments) -> Abstract:
        """Call a library function itself, with an output if one is given."""

    def catch_no_more(self) -> None:
        """Remove the edges to the handler: the kernel exits where the instruction raises."""

    def cell_content(self, instr: Instr) -> Abstract:
        """The content of the cell that ``instr`` names."""

    def cell_value(self, root: Any) -> Value:
        """The SSA value of the pointer to the cell at ``root``."""

    def changing(self, location: Any, owner: Abstract, relied: bool = True) -> None:
        """Note that a kernel changes ``location`` of an object: an attribute's name, or the class for items."""

    def compare(self, symbol: str, left: Abstract, right: Abstract) -> Abstract:
        """``left <symbol> right`` for the six rich comparisons, ``is``, ``in`` and their negations."""

    def constant(self, value: Abstract) -> Any:
        """The object that ``value`` is known to be, or None."""

    def consume(self, consumer: Consumer, value: Abstract, given: Optional[Dict[str, Abstract]] = None) -> Abstract:
        """The result of a builtin that takes all items of ``value``; ``given`` are variables of the consumer."""

    def content_of(self, number: int, name: str) -> Abstract:
        """The content of a cell or free variable."""

    def convert(self, value: Abstract, have: Any, want: Scalar, exact: bool = False) -> Value:
        """``value`` converted to ``want``, the type of the operation's result; Break where the conversion could change
        the result."""

    def delete_attribute(self, owner: Abstract, name: str) -> None:
        """``del owner.name``."""

    def deriving(self) -> ContextManager[None]:
        """Calls in this context have results that are not the result of the instruction."""

    def dim(self, owner: Tensor, axis: int) -> Value:
        """The length of an axis as a Python int."""

    def dimension(self, owner: Tensor, axis: int) -> Value:
        """``shape[axis]`` as a Python int."""

    def either(self, flag: Value, one: CallOutcome, other: CallOutcome) -> Dict[int, CallOutcome]:
        """The outcomes of a call, by slot: ``one`` if the FLAG is true, else ``other``."""

    def end_block(self) -> None:
        """Make sure that the instruction is the last of its block, because it has several edges."""

    def enter(self, analysis: Any, context: CaptureContext, entry: FrameState, borrowed: List[int]) -> Abstract:
        """The result of an inlined call of ``analysis``'s function, with context ``context`` and entry state ``entry``.

        ``borrowed`` are the caller's tokens of the virtual objects in that state, see `lend`.
        """

    def errors_around(self) -> Errors:
        """The error handling that callers have set."""

    def gives_result(self) -> bool:
        """Whether the instruction pushes the result of the call that is being made."""

    def may_catch(self) -> bool:
        """Whether exceptions of an inlined call may lead to the handler."""

    def handler(self) -> Optional[BlockEntry]:
        """The handler to which kernels may jump when the instruction raises, or None."""

    def inplace(self, symbol: str, left: Abstract, right: Abstract) -> Abstract:
        """``left <symbol>= right``; an array is written and stays the same object."""

    def invoke(self, row: LibraryFunction, arguments: List[Abstract], keywords: Arguments) -> Abstract:
        """The result of a call of a library function; Break if kernels cannot make the call."""

    def is_in_loop(self) -> bool:
        """Whether the instruction is in a loop of its function."""

    def is_named(self, cls: type) -> bool:
        """Whether a clause of the handler names the class or a base of it, judged by names alone."""

    def is_stepped_alone(self, instr: Instr) -> bool:
        """Whether the iterator that ``instr`` loads is the argument of a call of ``next``."""

    def item_location(self, owner: Abstract, key: Any) -> Optional[HeapLocation]:
        """The location of a list's item, if captured code stores into the list at known positions only."""

    def jump_if(self, when: bool, keep: Optional[bool]) -> None:
        """Jump if the truth of the top is ``when``. ``keep``: the truth value for which the top stays on the stack."""

    def known(self, value: Abstract) -> Any:
        """The object of an argument that is specialised by value: a constant, or a tuple of constants."""

    def known_object(self, sample: Any, source: Any, root: Any) -> Abstract:
        """A value found by lookup: code and modules are known by identity, all others by type."""

    def known_truth(self, value: Abstract) -> Optional[bool]:
        """``bool(value)`` when it is certain at capture time."""

    def leads_out(self) -> bool:
        """Whether the caller handles exceptions of the instruction, and no value on the stack lives inside one segment
        only."""

    def leave_with(self, instr: Instr) -> None:
        """POP_BLOCK at the end of a with statement; Break if bytecode has entered it."""

    def list_question(self, kind: Type) -> Any:
        """The stand-in for a list of which only the type of the items is known: two items."""

    def matches(self, wanted: Abstract, raised: Abstract, instr: Instr) -> bool:
        """Whether a clause matches the exception."""

    def may_report(self) -> bool:
        """Whether a kernel may exit after the instruction, so that the flags of its write are reported."""

    def named(self) -> Tuple[int, ...]:
        """The ids of the classes that the clauses of the handler name."""

    def named_iterator(self, value: Abstract) -> Abstract:
        """The value of a variable to which a new generator, ``map`` or ``filter`` is assigned; Break for others."""

    def next_of(self, name: str) -> Abstract:
        """``next`` of the iterator in a variable. When it has ended, a local handler catches StopIteration, or bytecode
        repeats the call."""

    def not_inlined(self, callee: UnescapedFunction, error: Break) -> Break:
        """The error to raise where a call of such a function is not inlined after all."""

    def note_access(self, location: Any, owner: Abstract, changes: bool, relied: bool) -> None:
        """Note an access: objects of which a location is written must be distinct from those of which it is read."""

    def note_cell(self, number: int, changes: bool) -> None:
        """Note an access to a cell. A written cell must be the same cell as at capture, and distinct from those that
        are read."""

    def note_store(self, location: HeapLocation, value: Abstract) -> None:
        """Note that the instruction has written a location, and its new value."""

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

    def questions_of(self, row: LibraryFunction, arguments: List[Abstract], keywords: Arguments) -> Tuple[Any, ...]:
        """The stand-ins for the arguments of a call in a sample call, keywords last."""

    def raise_rarely(self, flag: Value, cls: type, never: Callable[[], Value]) -> None:
        """Add an edge to the handler where the first FLAG is true. The kernel exits where the other FLAG is true as
        well."""

    def raise_where(self, flag: Callable[[], Value], cls: type) -> None:
        """Add an edge to the handler: where the FLAG is true, the instruction raises an exception of the class."""

    def read_location(self, location: HeapLocation) -> Abstract:
        """The value of a location."""

    def reading(self, location: Any, owner: Abstract) -> None:
        """Check that ``location`` of an object may be read under guards, which hold at the start of the segment."""

    def rehearse(self, later: Callable[[], Any]) -> None:
        """Run the code of an edge during analysis, so that a Break on it is one of the instruction."""

    def rely(self, value: Any, condition: Any) -> None:
        """Note that more than the type of a value or of the content of a Place is relied on: one of `predicates`."""

    def rely_on_ownership(self, virtual: VirtualObject) -> None:
        """Note that no other code may read or write a virtual object, which an earlier segment may have made."""

    def report(self, report: FlagReport, written: Abstract) -> None:
        """Note that a kernel reports the floating-point flags of a write."""

    def require_elements_of(self, owner: Tensor) -> None:
        """Side exit if the array is empty, because NumPy would warn about an index out of range instead of raising."""

    def require_shape(self, one: Tensor, other: Tensor) -> None:
        """Side exit unless two arrays have the same shape."""

    def row(self, owner: Tensor, index: Value) -> Tensor:
        """``owner[index]`` of an array with several axes, for an index that is known to be in range."""

    def same_object(self, left: OpaqueObject, right: OpaqueObject) -> bool:
        """Whether two objects from outside are identical; a guard ensures it."""

    def segment_input(self, root: Any, type: Type) -> Value:
        """The input of the segment with the value at ``root``."""

    def size(self, owner: Tensor, axes: Optional[Sequence[int]] = None) -> Value:
        """The number of elements, in total or along some axes, as a Python int. It always fits into 64 bits."""

    def split(self, flag: Value) -> Optional[Block]:
        """Continue where the FLAG is false; returns the block where it is true."""

    def step_generator(self, value: Abstract) -> None:
        """FOR_ITER on a generator, or on an enumerate above one: the outcomes of the step decide how the loop
        continues."""

    def store(self, owner: Tensor, index: Abstract, value: Abstract) -> None:
        """``owner[index] = value`` for a writeable array."""

    def store_attribute(self, owner: Abstract, name: str, value: Abstract, plainly: bool = False) -> None:
        """``owner.name = value``; with ``plainly`` as ``object.__setattr__`` stores."""

    def store_item(self, owner: Abstract, index: Abstract, value: Abstract) -> None:
        """``owner[index] = value`` for a list. An item at a known position is a location if all stores are at known
        positions."""

    def store_part(self, owner: Tensor, name: str, value: Abstract) -> None:
        """``owner.real = value`` and ``owner.imag = value`` of a complex array."""

    def store_subscript(self, index: Abstract, owner: Abstract, value: Abstract) -> None:
        """``owner[index] = value``."""

    def stored_scalar(self, value: Abstract, question: SampleOperand, dtype: np.dtype[Any]) -> Value:
        """A scalar converted as ``a[...] = scalar`` converts it, or Break."""

    def stored_value(self, value: Abstract) -> Value:
        """The value that an effect stores: an array, a number, or an object by identity. Break for values only bytecode
        makes."""

    def subscript(self, owner: Abstract, index: Abstract) -> Abstract:
        """``owner[index]``."""

    def take(self) -> Abstract:
        """As `pop`, for an instruction that only moves the value, so that no fact about it is relied on."""

    def take_many(self, count: int) -> List[Abstract]:
        """``count`` values to move, in the order in which they were pushed."""

    def throw(self, cls: type, block: Any) -> None:
        """In an inlined callee: continue at the caller's handler when the block is reached."""

    def truth(self, value: Abstract) -> Value:
        """The FLAG of ``bool(value)``, of which `known_truth` does not know the answer."""

    def ufunc_call(self, ufunc: np.ufunc, operands: List[Abstract], out: Optional[Tensor] = None,
                   is_operator: bool = False) -> Abstract:
        """A call of a NumPy ufunc on arrays and numbers, with the semantics of a function or of an operator."""

    def unary(self, name: str, value: Abstract) -> Abstract:
        """``-x``, ``+x``, ``~x``, ``abs(x)``."""

    def updates_picked(self) -> bool:
        """Whether this is the operator of ``x[:, i] += ...``."""

    def use(self, value: SomeAbstract) -> SomeAbstract:
        """Note that a fact about ``value`` is relied on, and make its SSA value available."""

    def view_of(self, owner: Tensor, items: List[Abstract]) -> Tensor:
        """``owner[items]`` for a basic index."""

    def want_object(self, made: UnescapedFunction) -> None:
        """Make a function an object in the next run of the analysis, because more than a call on the spot uses it."""

    def with_variables(self, made: UnescapedFunction) -> UnescapedFunction:
        """A function with what its maker's variables hold now; Break if these are another function's and unknown."""

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
