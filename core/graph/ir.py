"""The intermediate representation of a captured segment: blocks of typed operations in SSA form.

A :class:`Graph` has inputs (the launcher's fetched values), blocks with parameters instead of phi nodes, and
exits. The first block is the entry; its parameters are the graph's inputs, and nothing jumps to it. An
operation that could raise, warn or overflow carries a :class:`SideExit`: the bytecode instruction to resume at
and the values needed there, taken *before* the operation has any effect.
"""

from __future__ import annotations

from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple

from pijit.core.graph.types import Type
from pijit.guards.facts import is_exactly, type_name

PRINTED = frozenset([int, float, bool, complex, str, bytes, type(None), type(Ellipsis)])
"""Types of constants that are printed by value; of others the type is named, since their repr is the user's code."""


class Value:
    """One SSA value: defined once, by an operation, a block parameter or a graph input."""

    __slots__ = ("id", "type", "hint")

    def __init__(self, id: int, type: Type, hint: str = "") -> None:
        self.id = id
        self.type = type
        self.hint = hint

    def __repr__(self) -> str:
        return "%%%d" % self.id


class Output:
    """One value that bytecode receives at an exit.

    ``kind`` is "value" (``value`` is an SSA value), "input" (graph input number ``value``, by identity),
    "const" (``value`` is the object), "range" (start, stop, step as SSA words) or "range_iterator" (index, start,
    step,
    length as SSA words: a new iterator at that position); "advance": the iterator of input number ``value``, with its
    moving words set to ``words``. The others are made of ``parts``, which are outputs: "tuple", and new iterators,
    "sequence_iterator", "list_iterator" and "reversed_iterator" (an array; the index), "enumerate" (an iterator; the
    count), "zip" (iterators), "stepped" and "stepped_reversed" (what ``iter`` or ``reversed`` makes of an object,
    stepped ``value`` times), "stepped_values" and "stepped_items" (the same of these views of a dict), "map" and
    "filter" (a function, iterators), "called" (a C function, its arguments), "function" (code, qualified name, cells),
    "instance" (a class, values of attributes; ``value`` is their names and what stands for the object, which is made
    once for an exit),
    "kept_instance" (the same, unless the word is the address of an object, which leaves then),
    "changed_instance" (that object gets these attributes) and "generator" (a function,
    variables, operand stack; ``value`` says how its frame waits, see `resume.plan`).
    """

    __slots__ = ("kind", "value", "parts", "words")

    def __init__(self, kind: str, value: Any = None, parts: Sequence["Output"] = (),
                 words: Sequence[Value] = ()) -> None:
        self.kind = kind
        self.value = value
        self.parts = tuple(parts)
        self.words = tuple(words)

    def values(self) -> Iterator[Value]:
        """The SSA values used, in the order in which they leave."""
        if self.kind == "value":
            yield self.value
        for part in self.parts:
            yield from part.values()
        yield from self.words

    def map(self, rename: Any) -> "Output":
        """The same output with every SSA value ``v`` replaced by ``rename(v)``."""
        return Output(self.kind, rename(self.value) if self.kind == "value" else self.value,
                      [part.map(rename) for part in self.parts], [rename(word) for word in self.words])

    def is_same(self, other: "Output") -> bool:
        """Whether bytecode receives the very same."""
        return (self.kind == other.kind and (self.value is other.value or self.kind != "const" and
                                             not isinstance(self.value, Value) and self.value == other.value)
                and self.words == other.words and len(self.parts) == len(other.parts)
                and all(map(Output.is_same, self.parts, other.parts)))

    def with_parts(self, parts: Sequence["Output"]) -> "Output":
        """The same output made of other parts."""
        return Output(self.kind, self.value, parts, self.words)

    def __repr__(self) -> str:
        if self.kind == "value":
            return repr(self.value)
        if self.kind == "input":
            return "input%d" % self.value
        if self.kind == "const" and not is_exactly(self.value, PRINTED):
            return "const(<%s>)" % type_name(type(self.value))
        own = [] if self.value is None and self.kind != "const" else [self.value]
        return "%s(%s)" % (self.kind, ", ".join(map(repr, own + list(self.parts + self.words))))


class SideExit:
    """Where bytecode resumes and what it needs there.

    ``exit`` indexes ``Graph.exits``; ``outputs`` are in the order of that exit's ``slots``.
    """

    __slots__ = ("exit", "outputs")

    def __init__(self, exit: int, outputs: Sequence[Output]) -> None:
        self.exit = exit
        self.outputs = tuple(outputs)

    def values(self) -> Iterator[Value]:
        for output in self.outputs:
            yield from output.values()

    def is_same(self, other: Any) -> bool:
        """Whether it leaves to where another one does, with the very same."""
        return self is other or (isinstance(other, SideExit) and self.exit == other.exit
                                 and len(self.outputs) == len(other.outputs)
                                 and all(map(Output.is_same, self.outputs, other.outputs)))

    def __repr__(self) -> str:
        return "exit%d(%s)" % (self.exit, ", ".join(map(repr, self.outputs)))


class Exit:
    """One way out of the graph: the target instruction, the locals it stores and the stack items it pushes.

    Exits with the same target and slots share a number. A ``side`` exit repeats the instruction in bytecode. At a
    ``poll`` exit bytecode first does what the interpreter has to do. ``way`` names the place where control goes on,
    by the re-entry there if there is one. ``rest`` is what is left of a call that was inlined: bytecode runs it
    before the target, on the top item of the stack. ``given`` are stack items that bytecode makes of what is left,
    ``deleted`` the locals that have no value there. ``empty`` are the positions of stack items without a value, counted
    from the lowest: what inlined comprehensions put aside (3.12). They are not among the ``stack`` items.
    The values of an exit are its locals in order, then the stack items, the top one first.
    """

    __slots__ = ("target", "locals", "stack", "side", "poll", "way", "rest", "given", "deleted", "empty")

    def __init__(self, target: int, locals: Tuple[str, ...], stack: int, side: bool, poll: bool = False,
                 way: Any = None, rest: Any = None, given: Tuple[Any, ...] = (),
                 deleted: Tuple[str, ...] = (), empty: Tuple[int, ...] = ()) -> None:
        self.target = target
        self.locals = locals
        self.stack = stack
        self.side = side
        self.poll = poll
        self.way = way
        self.rest = rest
        self.given = given
        self.deleted = deleted
        self.empty = empty

    @property
    def slots(self) -> int:
        return len(self.locals) + self.stack


class Origin(NamedTuple):
    """Whose code an operation is: the name of an inlined function, and its file if that is not the caller's."""

    function: str
    file: str


HERE = Origin("", "")
"""The code of the function that is captured."""


class Op:
    """One operation: ``result = name(args){attrs} [else side exit]``. ``result`` is None for pure effects.

    ``origin`` says in which inlined function the line is.
    """

    __slots__ = ("name", "args", "attrs", "result", "exit", "lineno", "origin")

    def __init__(self, name: str, args: Sequence[Value], attrs: Optional[Dict[str, Any]] = None,
                 result: Optional[Value] = None, exit: Optional[SideExit] = None, lineno: int = 0,
                 origin: "Origin" = HERE) -> None:
        self.name = name
        self.args = tuple(args)
        self.attrs = attrs or {}
        self.result = result
        self.exit = exit
        self.lineno = lineno
        self.origin = origin


class Jump:
    """Go to a block with arguments for its parameters."""

    __slots__ = ("block", "args")

    def __init__(self, block: "Block", args: Sequence[Value]) -> None:
        self.block = block
        self.args = tuple(args)

    def targets(self) -> List["Jump"]:
        return [self]

    def values(self) -> Iterator[Value]:
        yield from self.args


class Branch:
    """Go to ``then`` if the FLAG value ``condition`` is true, else to ``other``; each is a Jump or a SideExit."""

    __slots__ = ("condition", "then", "other")

    def __init__(self, condition: Value, then: Any, other: Any) -> None:
        self.condition = condition
        self.then = then
        self.other = other

    def targets(self) -> List[Jump]:
        return [arm for arm in (self.then, self.other) if isinstance(arm, Jump)]

    def values(self) -> Iterator[Value]:
        yield self.condition
        yield from self.then.values()
        yield from self.other.values()


class Leave:
    """End of the graph: take an exit."""

    __slots__ = ("exit",)

    def __init__(self, exit: SideExit) -> None:
        self.exit = exit

    def targets(self) -> List[Jump]:
        return []

    def values(self) -> Iterator[Value]:
        yield from self.exit.values()


class Block:
    """Parameters, operations in order, one terminator."""

    __slots__ = ("index", "params", "ops", "terminator", "lineno")

    def __init__(self, index: int, params: Optional[List[Value]] = None, lineno: int = 0) -> None:
        self.index = index
        self.params: List[Value] = params or []
        self.ops: List[Op] = []
        self.terminator: Any = None
        self.lineno = lineno


class Graph:
    """A typed, captured segment. ``blocks[0]`` is the entry and its params are ``inputs``."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.inputs: List[Value] = []
        self.blocks: List[Block] = []
        self.exits: List[Exit] = []
        self._next = 0

    def new_value(self, type: Type, hint: str = "") -> Value:
        value = Value(self._next, type, hint)
        self._next += 1
        return value

    def new_block(self, lineno: int = 0) -> Block:
        block = Block(len(self.blocks), lineno=lineno)
        self.blocks.append(block)
        return block

    def uses(self) -> Iterator[Value]:
        """Each value once for every operation, jump, branch or exit that names it."""
        for block in self.blocks:
            for op in block.ops:
                yield from op.args
                if op.exit is not None:
                    yield from op.exit.values()
            yield from block.terminator.values()
            for jump in block.terminator.targets():
                yield from jump.args

    def exit_number(self, target: int, locals: Tuple[str, ...], stack: int, side: bool, poll: bool = False,
                    way: Any = None, rest: Any = None, given: Tuple[Any, ...] = (),
                    deleted: Tuple[str, ...] = (), empty: Tuple[int, ...] = ()) -> int:
        """The number of the exit with these slots, added when new.

        Side exits are kept apart: they resume at the original instruction, never at another segment's start.
        """
        wanted = (target, locals, stack, side, poll, way, rest, given, deleted, empty)
        for number, known in enumerate(self.exits):
            if tuple(getattr(known, name) for name in Exit.__slots__) == wanted:
                return number
        self.exits.append(Exit(*wanted))
        return len(self.exits) - 1
