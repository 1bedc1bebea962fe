"""Intermediate representation of a captured segment: blocks of typed operations in SSA form.

A :class:`Graph` has inputs (the launcher's fetched values), blocks with parameters instead of phi nodes, and exits. The
first block is the entry; its parameters are the graph's inputs, and nothing may jump to it. An operation that could
raise, warn or overflow has a :class:`SideExit`: the bytecode instruction to resume at, and the values needed there. A
side exit is taken *before* the operation has any effect. Capture builds graphs, passes change them, emitters read them.
"""

from __future__ import annotations

from typing import Any, Dict, FrozenSet, Iterator, List, Optional, Sequence, Tuple

from pijit.core.graph.types import Type
from pijit.core.named_tuples import NamedTuple
from pijit.guards.facts import is_exactly, type_name

PRINTED: FrozenSet[type] = frozenset([int, float, bool, complex, str, bytes, type(None), type(Ellipsis)])
"""Types of constants that are printed by value; otherwise the type is named, because a repr may run user code."""


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

    ``kind`` tells how it is made. Without parts:
        "value": ``value`` is an SSA value.
        "input": graph input number ``value``, by identity.
        "const": ``value`` is the object.
        "range": start, stop, step as SSA words.
        "range_iterator": index, start, step, length as SSA words; a new iterator at that position.
        "advance": the iterator of input number ``value``, with its moving words set to ``words``.
    The others are made of ``parts``, which are outputs:
        "tuple": a tuple of the parts.
        "sequence_iterator", "list_iterator", "reversed_iterator": a new iterator (an array or list; the index).
        "enumerate": a new iterator (an iterator; the count). "zip": a new iterator (iterators).
        "stepped", "stepped_reversed": the result of ``iter`` or ``reversed`` of an object, stepped ``value`` times.
        "stepped_values", "stepped_items": the same of these views of a dict.
        "map", "filter": a function, iterators. "called": a C function, its arguments.
        "function": code, qualified name, cells.
        "instance": a class, values of attributes. ``value`` is their names and a token of the object, which is made
            once per exit.
        "kept_instance": the same, unless the word is the address of an object; then that object leaves.
        "changed_instance": that object gets these attributes.
        "generator": a function, variables, operand stack; ``value`` is the state of its frame, see `resume.plan`.
    """

    __slots__ = ("kind", "value", "parts", "words")

    def __init__(self, kind: str, value: Any = None, parts: Sequence["Output"] = (),
                 words: Sequence[Value] = ()) -> None:
        self.kind = kind
        self.value = value
        self.parts = tuple(parts)
        self.words = tuple(words)

    def values(self) -> Iterator[Value]:
        """The SSA values used, in the order in which the exit passes them."""
        if self.kind == "value":
            yield self.value
        for part in self.parts:
            yield from part.values()
        yield from self.words

    def map(self, rename: Any) -> "Output":
        """The same output with each SSA value ``v`` replaced by ``rename(v)``."""
        return Output(self.kind, rename(self.value) if self.kind == "value" else self.value,
                      [part.map(rename) for part in self.parts], [rename(word) for word in self.words])

    def is_same(self, other: "Output") -> bool:
        """Whether bytecode receives exactly the same value."""
        return (self.kind == other.kind and (self.value is other.value or self.kind != "const" and
                                             not isinstance(self.value, Value) and self.value == other.value)
                and self.words == other.words and len(self.parts) == len(other.parts)
                and all(map(Output.is_same, self.parts, other.parts)))

    def with_parts(self, parts: Sequence["Output"]) -> "Output":
        """The same output with other parts."""
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
    """A side exit: the point where bytecode resumes, and the values that it needs there.

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
        """Whether it leads to the same exit as another one, with exactly the same values."""
        return self is other or (isinstance(other, SideExit) and self.exit == other.exit
                                 and len(self.outputs) == len(other.outputs)
                                 and all(map(Output.is_same, self.outputs, other.outputs)))

    def __repr__(self) -> str:
        return "exit%d(%s)" % (self.exit, ", ".join(map(repr, self.outputs)))


class Exit(NamedTuple):
    """An exit of the graph: the target instruction, the locals it stores and the stack items it pushes.

    Exits with the same target and slots share a number. The values of an exit are its locals in order, then the stack
    items, the top one first.

    Attributes:
        side: a side exit; bytecode repeats the instruction.
        poll: a poll exit; the interpreter first handles its pending requests.
        reentry: the point where control continues, by the re-entry there if there is one.
        rest: the continuation of an inlined call; bytecode runs it before the target, on the top item of the stack.
        given: stack items that bytecode makes from the other values.
        deleted: the locals that are unbound there.
        empty: positions of stack items without a value, counted from the lowest; they are not ``stack`` items. Inlined
            comprehensions save unbound locals there (3.12).
    """

    target: int
    locals: Tuple[str, ...]
    stack: int
    side: bool
    poll: bool = False
    reentry: Any = None
    rest: Any = None
    given: Tuple[Any, ...] = ()
    deleted: Tuple[str, ...] = ()
    empty: Tuple[int, ...] = ()

    @property
    def slots(self) -> int:
        return len(self.locals) + self.stack


class Origin(NamedTuple):
    """The function that an operation comes from: an inlined function's name, and its file unless it is the caller's."""

    function: str
    file: str


HERE = Origin("", "")
"""The code of the function that is captured."""


class Op:
    """One operation: ``result = name(args){attrs} [else side exit]``. ``result`` is None for pure effects.

    ``origin`` is the inlined function that the line is in.
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
    """Jump to a block with arguments for its parameters."""

    __slots__ = ("block", "args")

    def __init__(self, block: "Block", args: Sequence[Value]) -> None:
        self.block = block
        self.args = tuple(args)

    def targets(self) -> List["Jump"]:
        return [self]

    def values(self) -> Iterator[Value]:
        yield from self.args


class Branch:
    """Jump to ``then`` if the FLAG value ``condition`` is true, else to ``other``; each is a Jump or a SideExit."""

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
    """Terminator that takes an exit and ends the graph."""

    __slots__ = ("exit",)

    def __init__(self, exit: SideExit) -> None:
        self.exit = exit

    def targets(self) -> List[Jump]:
        return []

    def values(self) -> Iterator[Value]:
        yield from self.exit.values()


class Block:
    """A basic block: parameters, operations in order, one terminator."""

    __slots__ = ("index", "params", "ops", "terminator", "lineno")

    def __init__(self, index: int, params: Optional[List[Value]] = None, lineno: int = 0) -> None:
        self.index = index
        self.params: List[Value] = params or []
        self.ops: List[Op] = []
        self.terminator: Any = None
        self.lineno = lineno


class Graph:
    """A typed, captured segment. ``blocks[0]`` is the entry and its params are ``inputs``.

    ``precision`` is the name of the dtype in which float64 arrays may be computed; see passes/lower_precision.py.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.inputs: List[Value] = []
        self.blocks: List[Block] = []
        self.exits: List[Exit] = []
        self.precision: Optional[str] = None
        self._next = 0

    @property
    def lineno(self) -> int:
        """The line of the function where the segment starts; 0 if no operation and no block has a line."""
        lines = (line for block in self.blocks
                 for line in (block.lineno, *(op.lineno for op in block.ops if op.origin is HERE)) if line)
        return next(lines, 0)

    def new_value(self, type: Type, hint: str = "") -> Value:
        value = Value(self._next, type, hint)
        self._next += 1
        return value

    def new_block(self, lineno: int = 0) -> Block:
        block = Block(len(self.blocks), lineno=lineno)
        self.blocks.append(block)
        return block

    def uses(self) -> Iterator[Value]:
        """The value of each use: by an operation, a jump, a branch or an exit."""
        for block in self.blocks:
            for op in block.ops:
                yield from op.args
                if op.exit is not None:
                    yield from op.exit.values()
            yield from block.terminator.values()
            for jump in block.terminator.targets():
                yield from jump.args

    def exit_number(self, exit: Exit) -> int:
        """The number of an exit; it is added if new.

        Side exits have numbers of their own: they resume at the original instruction, never at a segment's start.
        """
        if exit not in self.exits:
            self.exits.append(exit)
        return self.exits.index(exit)
