"""The protocol of interpreters: what models of operators, functions and objects ask of the interpreter that runs them.

Models are functions whose first argument is an `Interpreter`. They take abstract values and give abstract values; the
interpreter decides whether an operation is typed only (`type_propagation`) or recorded in a graph (`graph_builder`).
A model that cannot do something raises `Break`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, ContextManager, Dict, Iterable, List, Optional, Tuple
from typing import Sequence as Axes

import numpy as np

from pijit.core.bytecode.flow.block_stack import BlockEntry
from pijit.core.capture.state.return_kinds import CallOutcome
from pijit.core.capture.typing.result_types import Operand
from pijit.core.capture.values.describe import Arguments
from pijit.core.capture.values.lattice import (
    Abstract,
    Const,
    Instance,
    KnownContainer,
    Number,
    Sequence,
    Tensor,
    UnescapedFunction,
)
from pijit.core.graph.ir import Block, Output, Value
from pijit.core.graph.library import LibraryFunction
from pijit.core.graph.types import Object, Scalar, Type

if TYPE_CHECKING:
    from typing import Protocol
else:
    Protocol = object  # CPython 3.7 has none


class Interpreter(Protocol):
    """An interpreter of one instruction over abstract values.

    Attributes:
        instr: the instruction that is interpreted.
        state: the abstract frame: locals and operand stack.
        facts: the context of the capture: names that the function sees, options, and facts found so far.
        function, cfg: the function that is interpreted, and its basic blocks.
        graph: the graph that operations are recorded in; types alone are propagated without one.
        wrote, ways, derived: effects, outcomes and results of the instruction so far.
    """

    instr: Any
    state: Any
    facts: Any
    function: Any
    cfg: Any
    graph: Any
    wrote: Any
    ways: Any
    derived: Any

    def segment_input(self, root: Any, type: Type) -> Value: ...

    def exit_output(self, value: Abstract) -> Output: ...

    def block_parameters(self, value: Abstract, block: Block, hint: str, like: Optional[Abstract]) -> Abstract:
        """A copy of ``value`` whose parts are parameters of ``block``."""

    def value_parts(self, wanted: Abstract, given: Optional[Abstract]) -> List[Value]: ...

    def add_entries(self, owner: Abstract, more: Abstract) -> Abstract:
        """``owner.update(more)`` of two dicts, also as ``owner |= more``; the first one afterwards."""

    def any_value(self, value: Abstract) -> Value:
        """The SSA value of an array or a number."""

    def apart_from_classes(self, name: Any, classes: Iterable[type]) -> None:
        """Break if captured code stores the attribute into a class that a lookup searches."""

    def apart_from_stores(self, place: Any, owner: Abstract) -> None:
        """Break if an object from outside may be one that captured code made before and stores into."""

    def as_object(self, value: Abstract) -> Abstract:
        """A value in the form in which more than the operand stack can hold it."""

    def attribute(self, owner: Abstract, name: str) -> Abstract:
        """``owner.name``."""

    def binary(self, symbol: str, left: Abstract, right: Abstract) -> Abstract:
        """``left <symbol> right`` as a new abstract value."""

    def by_one_path(self, cls: Const) -> Const:
        """The class by the path at which the segment found it first. One path is enough to guard its attributes."""

    def call(self, callee: Abstract, arguments: List[Abstract], keywords: Arguments) -> Abstract:
        """The result of a call. Raises Break if it is not captured."""

    def call_made(self, callee: UnescapedFunction, arguments: List[Abstract], keywords: Arguments) -> Abstract:
        """A call of a function that was made here; the body of a generator does not run yet."""

    def call_row(self, row: LibraryFunction, arguments: List[Abstract], keywords: Arguments) -> Abstract:
        """Call a library function itself, with an output if one is given."""

    def call_ufunc(self, ufunc: np.ufunc, arguments: List[Abstract], keywords: Arguments) -> Abstract: ...

    def cell_value(self, number: int) -> Value:
        """The SSA value of the pointer to a cell."""

    def changing_container(self, owner: Abstract, resized: bool = True) -> None:
        """Record a change of a container that is no store at a known position of a list."""

    def compare(self, symbol: str, left: Abstract, right: Abstract) -> Abstract:
        """``left <symbol> right`` for the six rich comparisons, ``is``, ``in`` and their negations."""

    def constant(self, value: Abstract) -> Any:
        """The object that ``value`` is known to be, or None."""

    def consume(self, consumer: Any, value: Abstract, given: Optional[Dict[str, Abstract]] = None) -> Abstract:
        """The result of a builtin that takes all items of ``value``; ``given`` are variables of the consumer."""

    def container_item(self, owner: Abstract, index: Abstract) -> Abstract:
        """``owner[index]`` of a tuple, list, dict or deque."""

    def content_of(self, number: int, name: str) -> Abstract:
        """The content of a cell or free variable."""

    def convert(self, value: Abstract, have: Any, want: Scalar, exact: bool = False) -> Value:
        """``value`` converted to ``want``, the type of the operation's result; Break where the conversion could"""

    def copied(self, owner: Abstract) -> Abstract:
        """A new list of all items of a list."""

    def delete_attribute(self, owner: Abstract, name: str) -> None:
        """``del owner.name``."""

    def deriving(self) -> ContextManager[None]:
        """Calls in this context have results that are not the result of the instruction."""

    def dim(self, owner: Tensor, axis: int) -> Value:
        """The length of an axis as a Python int."""

    def dimension(self, owner: Tensor, axis: int) -> Value:
        """``shape[axis]`` as a Python int."""

    def effect(self, name: str, owner: Abstract, operands: List[Value], resized: bool = True) -> None:
        """An operation that changes a container and gives no value."""

    def either(self, flag: Value, one: CallOutcome, other: CallOutcome) -> Dict[int, CallOutcome]:
        """The outcomes of a call, by slot: ``one`` if the FLAG is true, else ``other``."""

    def emit(self, name: str, args: List[Value], type: Optional[Type], attrs: Optional[Dict[str, Any]] = None,
             exits: bool = False) -> Optional[Value]: ...

    def end_block(self) -> None:
        """Make sure that the instruction is the last of its block, because it has several edges."""

    def entries_expected(self, value: Abstract, what: str) -> Optional[Object]:
        """Expected types of the keys and values of a dict that is iterated natively."""

    def expect_like(self, default: Abstract) -> None:
        """Expect an item of the default's type; Break where earlier runs had another type."""

    def expected(self, owner: Abstract, key: Any) -> Abstract:
        """A value of the type that an item probably has; ``key`` is its key if that is known, else None."""

    def found(self, name: str, operands: List[Value], like: Abstract) -> Abstract:
        """The result of a read operation as a value like ``like``."""

    def get_now(self, owner: Abstract, index: Abstract, default: Abstract) -> Abstract:
        """``owner.get(index, default)`` of a dict that changes: the item must be of the default's type."""

    def handler(self) -> Optional[BlockEntry]:
        """The handler to which kernels may jump when the instruction raises, or None."""

    def has_key_now(self, owner: Abstract, index: Abstract) -> Abstract:
        """``index in owner`` of a dict or set that changes, or of any computed key."""

    def holds_item(self, owner: Abstract, key: Any) -> bool:
        """Whether a container from outside has an item at this position or key, under a guard."""

    def inplace(self, symbol: str, left: Abstract, right: Abstract) -> Abstract:
        """``left <symbol>= right``; an array is written and stays the same object."""

    def invoke(self, row: LibraryFunction, arguments: List[Abstract], keywords: Arguments) -> Abstract:
        """The result of a call of a library function; Break if kernels cannot make the call."""

    def is_caught(self) -> bool:
        """Whether a ``raise`` leads to a handler, of the function or of its caller."""

    def is_changing(self, owner: Abstract) -> bool:
        """Whether the contents of a container are known only at run time."""

    def is_dropped(self) -> bool:
        """Whether the next instruction drops what this one pushes."""

    def is_named(self, cls: type) -> bool:
        """Whether a clause of the handler names the class or a base of it, judged by names alone."""

    def is_short(self, value: Abstract) -> bool:
        """Whether all items of a tuple or list are known or can be guarded one by one."""

    def item_of_list(self, owner: Instance, index: Value) -> Abstract:
        """The item at a WORD index of a list that has an expected item type."""

    def item_of_text(self, owner: Instance, index: Value) -> Abstract:
        """The item at a WORD index that is in range."""

    def item_operands(self, owner: Abstract, index: Abstract) -> List[Value]:
        """The operands that name an item of a list or tuple by position, or of a dict by its key."""

    def items_expected(self, value: Abstract) -> Optional[Object]:
        """Expected type of a list that is iterated natively;"""

    def items_of(self, value: Abstract) -> Optional[List[Abstract]]:
        """All items of a tuple or list, or None if it is neither."""

    def key_at(self, owner: Abstract, position: int) -> Abstract:
        """Key number ``position`` of a dict of known length, under a guard."""

    def key_value(self, index: Abstract) -> Value:
        """The key of a dict or the member of a set as an operand: a number, a string, or a tuple of these."""

    def keyed(self, name: str, owner: Abstract, index: Abstract) -> Tuple[str, List[Value]]:
        """Name and operands of an operation on an item of a dict; a computed int needs no object."""

    def known(self, value: Abstract) -> Any:
        """The object of an argument that is specialised by value: a constant, or a tuple of constants."""

    def known_object(self, sample: Any, source: Any, root: Any) -> Abstract:
        """A value found by lookup: code and modules are known by identity, all others by type."""

    def known_truth(self, value: Abstract) -> Optional[bool]:
        """``bool(value)`` when it is certain at capture time."""

    def leads_out(self) -> bool:
        """Whether the caller handles exceptions of the instruction, and no value on the stack lives inside one
        segment"""

    def length_now(self, owner: Abstract) -> Abstract:
        """``len(owner)`` of a container that changes."""

    def length_of(self, value: Abstract) -> Optional[int]:
        """``len(value)`` of a tuple, list, dict or constant string; None for other values."""

    def lengthen(self, owner: Abstract, more: Abstract) -> Abstract:
        """``owner += more`` of a list; the list afterwards."""

    def list_question(self, kind: Type) -> Any:
        """The stand-in for a list of which only the type of the items is known: two items."""

    def made_text(self, function: str, arguments: List[Abstract], kind: Type = ...) -> Abstract:
        """The result of a function of numbers and strings; a constant if all of them are known."""

    def members_expected(self, value: Abstract) -> Optional[Object]:
        """Expected type of the members of a set that is iterated; None for other values."""

    def negated(self, answer: Abstract) -> Abstract:
        """``not answer`` of a constant or a bool."""

    def new_dict(self, keys: List[Any], values: List[Abstract]) -> KnownContainer:
        """A new dict of these keys, each an int or a string, and values."""

    def new_list(self, items: List[Abstract]) -> KnownContainer:
        """A new list of these values."""

    def new_set(self, items: List[Abstract]) -> Instance:
        """A new set of these values."""

    def new_tuple(self, items: List[Abstract]) -> Sequence:
        """A new tuple of these values. One with slices is an index and one of cells is a closure;"""

    def next_of(self, name: str) -> Abstract:
        """``next`` of the iterator in a variable. When it has ended, a local handler catches StopIteration, or
        bytecode"""

    def note_dict(self, path: Any) -> None:
        """Note that a dict whose items are known, if there is one, must not be a dict that the segment changes."""

    def number_value(self, value: Abstract) -> Value: ...

    def object_value(self, value: Abstract) -> Value:
        """The SSA value of the pointer to an object."""

    def ordinal(self, value: Abstract) -> Number:
        """``ord(value)`` of a string."""

    def pop(self) -> Abstract:
        """The top of the stack, which must be known."""

    def pop_many(self, count: int) -> List[Abstract]:
        """``count`` values, in the order in which they were pushed."""

    def position_of(self, owner: Abstract, value: Abstract, operation: str = 'find_item') -> Value:
        """The first position of a value in a list or tuple as a WORD, -1 if it is absent."""

    def questions_of(self, row: LibraryFunction, arguments: List[Abstract], keywords: Arguments) -> Tuple[Any, ...]:
        """The stand-ins for the arguments of a call in a sample call, keywords last."""

    def raise_rarely(self, flag: Value, cls: type, never: Callable[[], Value]) -> None:
        """Add an edge to the handler where the first FLAG is true. The kernel exits where the other FLAG is true as"""

    def raise_where(self, flag: Callable[[], Value], cls: type) -> None:
        """Add an edge to the handler: where the FLAG is true, the instruction raises an exception of the class."""

    def reading(self, place: Any, owner: Abstract) -> None:
        """Check that ``place`` of an object may be read under guards, which hold at the start of the segment."""

    def rely(self, value: Any, condition: Any) -> None:
        """Note that more than the type of a value or of the content of a Place is relied on: one of `predicates`."""

    def remove(self, owner: Abstract, index: Abstract) -> None:
        """``del owner[index]``."""

    def require_elements_of(self, owner: Tensor) -> None:
        """Side exit if the array is empty, because NumPy would warn about an index out of range instead of raising."""

    def require_key(self, value: Abstract) -> None:
        """Break unless dicts and sets find a value by its value, without user code."""

    def require_plain(self, value: Abstract) -> None:
        """Break unless a value is a number or a string, whose formatting runs no user code."""

    def require_shape(self, one: Tensor, other: Tensor) -> None:
        """Side exit unless two arrays have the same shape."""

    def row(self, owner: Tensor, index: Value) -> Tensor:
        """``owner[index]`` of an array with several axes, for an index that is known to be in range."""

    def same_or_equal(self, left: Abstract, right: Abstract) -> Abstract:
        """``left is right or left == right`` of plain values, as containers compare their items."""

    def size(self, owner: Tensor, axes: Optional[Axes[int]] = None) -> Value:
        """The number of elements, in total or along some axes, as a Python int. It always fits into 64 bits."""

    def store(self, owner: Tensor, index: Abstract, value: Abstract) -> None:
        """``owner[index] = value`` of a writeable array."""

    def store_attribute(self, owner: Abstract, name: str, value: Abstract) -> None:
        """``owner.name = value``."""

    def store_subscript(self, index: Abstract, owner: Abstract, value: Abstract) -> None:
        """``owner[index] = value``."""

    def stored_scalar(self, value: Abstract, question: Operand, dtype: np.dtype) -> Value:
        """A scalar converted as ``a[...] = scalar`` converts it, or Break."""

    def stored_value(self, value: Abstract) -> Value:
        """The value that an effect stores: an array, a number, or an object by identity. Break for values only
        bytecode"""

    def subscript(self, owner: Abstract, index: Abstract) -> Abstract:
        """``owner[index]``."""

    def text_length(self, value: Abstract) -> Number:
        """``len(value)``."""

    def text_object(self, value: Abstract) -> Value:
        """The object of a string or bytes. From now on the value is known by its class alone."""

    def truth(self, value: Abstract) -> Optional[Value]:
        """The FLAG of ``bool(value)``, or None when only a constant is known (see :meth:`known_truth`)."""

    def typed_item(self, name: str, owner: Value, index: Value, kind: Type) -> Abstract:
        """The result of a read operation as a value of this type; of a tuple all items are read as well."""

    def ufunc_call(self, ufunc: np.ufunc, operands: List[Abstract], out: Optional[Tensor] = None,
                   is_operator: bool = False) -> Abstract:
        """A call of a NumPy ufunc on arrays and numbers, with the semantics of a function or of an operator."""

    def unary(self, name: str, value: Abstract) -> Abstract:
        """``-x``, ``+x``, ``~x``, ``abs(x)``."""

    def use(self, value: Abstract) -> Abstract:
        """Note that a fact about ``value`` is relied on, and make its SSA value available."""

    def view_of(self, owner: Tensor, items: List[Abstract]) -> Tensor:
        """``owner[items]`` for a basic index."""

    def word(self, value: Abstract) -> Value:
        """A Python or NumPy integer as a machine word."""
