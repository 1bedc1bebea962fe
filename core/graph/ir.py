"""The intermediate representation of a captured segment: blocks of typed operations in SSA form.

A :class:`Graph` has inputs (the launcher's fetched values), blocks with parameters instead of phi nodes, and
exits. The first block is the entry; its parameters are the graph's inputs, and nothing jumps to it. An
operation that could raise, warn or overflow carries a :class:`SideExit`: the bytecode instruction to resume at
and the values needed there, taken *before* the operation has any effect.
"""

from __future__ import annotations

from typing import Any, Dict, Iterator, List, Optional, Sequence, Tuple

from pijit.core.graph.types import Type

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
    "const" (``value`` is the object), "tuple" (``value`` is a tuple of outputs), "range" (start, stop, step as SSA
    words), "range_iterator" (index, start, step, length as SSA words: a new iterator at that position) or
    "advance" (``value`` is (input number, SSA word): that input's range iterator, moved to the index).
    """

    __slots__ = ("kind", "value")

    def __init__(self, kind: str, value: Any) -> None:
        self.kind = kind
        self.value = value

    def values(self) -> Iterator[Value]:
        """The SSA values used, in order."""
        if self.kind == "value":
            yield self.value
        elif self.kind == "tuple":
            for item in self.value:
                yield from item.values()
        elif self.kind in ("range", "range_iterator"):
            yield from self.value
        elif self.kind == "advance":
            yield self.value[1]

    def map(self, rename: Any) -> "Output":
        """The same output with every SSA value ``v`` replaced by ``rename(v)``."""
        if self.kind == "value":
            return Output("value", rename(self.value))
        if self.kind == "tuple":
            return Output("tuple", tuple(item.map(rename) for item in self.value))
        if self.kind in ("range", "range_iterator"):
            return Output(self.kind, tuple(rename(v) for v in self.value))
        if self.kind == "advance":
            return Output("advance", (self.value[0], rename(self.value[1])))
        return self

    def __repr__(self) -> str:
        if self.kind == "value":
            return repr(self.value)
        if self.kind == "input":
            return "input%d" % self.value
        if self.kind == "const" and type(self.value) not in PRINTED:
            return "const(<%s>)" % type(self.value).__name__
        return "%s(%r)" % (self.kind, self.value)


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

    def __repr__(self) -> str:
        return "exit%d(%s)" % (self.exit, ", ".join(map(repr, self.outputs)))


class Exit:
    """One way out of the graph: the target instruction, the locals it stores and the stack items it pushes.

    Exits with the same target and slots share a number. A ``side`` exit repeats the instruction in bytecode.
    The values of an exit are its locals in order, then the stack items, the top one first.
    """

    __slots__ = ("target", "locals", "stack", "side")

    def __init__(self, target: int, locals: Tuple[str, ...], stack: int, side: bool) -> None:
        self.target = target
        self.locals = locals
        self.stack = stack
        self.side = side

    @property
    def slots(self) -> int:
        return len(self.locals) + self.stack


class Op:
    """One operation: ``result = name(args){attrs} [else side exit]``. ``result`` is None for pure effects."""

    __slots__ = ("name", "args", "attrs", "result", "exit", "lineno")

    def __init__(self, name: str, args: Sequence[Value], attrs: Optional[Dict[str, Any]] = None,
                 result: Optional[Value] = None, exit: Optional[SideExit] = None, lineno: int = 0) -> None:
        self.name = name
        self.args = tuple(args)
        self.attrs = attrs or {}
        self.result = result
        self.exit = exit
        self.lineno = lineno


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

    def exit_number(self, target: int, locals: Tuple[str, ...], stack: int, side: bool) -> int:
        """The number of the exit with these slots, added when new.

        Side exits are kept apart: they resume at the original instruction, never at another segment's start.
        """
        for number, known in enumerate(self.exits):
            if (known.target, known.locals, known.stack, known.side) == (target, locals, stack, side):
                return number
        self.exits.append(Exit(target, locals, stack, side))
        return len(self.exits) - 1
