"""With statements: managers whose methods are Python's, and those of `ready_managers`.

What ``with`` keeps on the operand stack is a `Manager`, the ``__exit__`` to be called at the end. A kernel that is
left inside hands over what makes the method that it stands for: linked code makes it, or the beginning of the rest of
an inlined callee. From then on nothing is known of it. Within ``np.errstate`` kernels do not look at flags that are
ignored, and leave for those that are not whatever NumPy's state is, for they do not set it; where they look at more
than they have to, they only leave more often.
"""

from __future__ import annotations

import types
from typing import Any, Callable, List, NamedTuple, Tuple

from pijit.core.bytecode.codec.decode import Instr
from pijit.core.bytecode.linker.osr import Given
from pijit.core.capture.models.objects.special_methods import call_special, class_place, special_method
from pijit.core.capture.models.operators import describe
from pijit.core.capture.models.stdlib.known_managers import FLAGS, entered, ready, refuse_loop
from pijit.core.capture.state.return_kinds import Outcomes
from pijit.core.capture.values.lattice import Abstract, Bound, Unknown
from pijit.core.capture.values.virtual_object import Display, records_in, replace_in
from pijit.core.errors import Break
from pijit.core.graph.ir import Output
from pijit.core.graph.ops import ASKS_NUMPY, LOOKS_AT_FLAGS
from pijit.guards.source import Attr


class Errors(NamedTuple):
    """The flags that no operation looks at, and those that each does, whatever the state around is."""

    ignored: int = 0
    heeded: int = 0


class Manager(Bound):
    """A context manager that was entered: its ``__exit__`` and the object; of ready ones the class and what it has.

    ``apart``: the version of the block that entered it. Paths on which several did so do not meet before it is left,
    for no segment can begin there.
    """

    __slots__ = ("apart",)

    def __init__(self, function: Abstract, owner: Abstract, born: int = -1, apart: int = 0) -> None:
        super().__init__(function, owner, born)
        self.apart = apart

    def key(self) -> Any:
        return (self.function, self.owner, self.apart)

    @property
    def make(self) -> Callable[..., Any]:
        """What makes the method, of the items of `parts`."""
        known = ready(self)
        return known.make if known is not None else types.MethodType

    def errors(self, around: "Errors") -> "Errors":
        """What is done with errors in its block."""
        known = [part.object for part in self.owner.items] if self.make is entered else []  # type: ignore[attr-defined]
        ignored, heeded = around
        for kind, how in zip(known[::2], known[1::2]):
            ignored, heeded = ignored & ~FLAGS[kind], heeded & ~FLAGS[kind]
            if how == "ignore":
                ignored |= FLAGS[kind]
            else:
                heeded |= FLAGS[kind]
        return Errors(ignored, heeded)

    def parts(self) -> Tuple[Abstract, ...]:
        if ready(self) is None:
            return self.function, self.owner
        return self.owner.items if isinstance(self.owner, Display) else (self.owner,)


class Managers:
    """Mixin of the interpreter: where with statements begin and end."""

    facts: Any
    state: Any
    cfg: Any
    pop: Callable[[], Abstract]
    push: Callable[[Abstract], None]
    known_object: Callable[..., Abstract]
    version = 0
    """Of the block that is interpreted, where that matters."""

    def op_SETUP_WITH(self, instr: Instr) -> None:
        refuse_loop(self, instr)
        if isinstance(self.state.stack[-1], Unknown):
            raise Break("PJ206", opcode=instr.opname)
        value = self.pop()
        known = ready(value)
        if known is not None:
            owner, result = known.enter(self, value.owner)  # type: ignore[attr-defined]
            manager = Manager(value.function, owner, instr.index, self._apart())  # type: ignore[attr-defined]
            self.state.stack += [manager, result]
            return
        function = special_method(value, "__exit__")
        if function is None or special_method(value, "__enter__") is None:
            raise Break("PJ206", type=describe(value))
        place = class_place(self, value).then(Attr, "__exit__")
        self.push(Manager(self.known_object(function, *place), value, instr.index, self._apart()))
        result = call_special(self, "__enter__", value)  # which may change what is known of the manager
        if result is None or isinstance(result, Outcomes):
            raise Break("PJ206", type=describe(value))
        self.push(result)

    def _apart(self) -> int:
        return 0 if self.facts.depth else self.version

    def leave_with(self, instr: Instr) -> None:
        """POP_BLOCK at the end of a with statement; Break if bytecode has entered it."""
        level = self.cfg.block_stack[instr.index][-1].level
        if not isinstance(self.state.stack[level - 1], Manager):
            raise Break("PJ206", opcode=instr.opname)

    def errors_around(self) -> Errors:
        """What callers have set."""
        return Errors()

    def errors(self) -> Errors:
        """What is done with errors here."""
        found = self.errors_around()
        for value in self.state.stack:
            found = value.errors(found) if isinstance(value, Manager) else found
        return found

    def with_errors(self, name: str, attrs: Any) -> Any:
        """The attributes of an operation, with the flags that it need not look at, and those that it has to.

        Raises:
            Break: it looks at those that NumPy's state names.
        """
        found = self.errors()
        if found.heeded and name in ASKS_NUMPY:
            raise Break("PJ206", opcode=self.instr.opname, because="np.errstate around a call of NumPy's")
        more = {"ignored": found.ignored} if found.ignored and name in LOOKS_AT_FLAGS else {}
        if found.heeded:
            more["heeded"] = found.heeded
        return dict(attrs or {}, **more) if more else attrs


def again_at(cfg: Any, index: int) -> int:
    """Where bytecode goes on in place of an instruction: not behind a with statement's block, where a signal would
    keep its manager from being left."""
    blocks = cfg.block_stack[index - 1] if index else None
    ends = blocks and blocks[-1].kind == "with" and cfg.function.instructions[index - 1].opname == "POP_BLOCK"
    return index - 1 if ends else index


# what bytecode gets


def given(stack: List[Abstract]) -> Tuple[Given, ...]:
    """The items of an operand stack that exits leave as tuples."""
    return tuple(Given(position, value.make) for position, value in enumerate(stack) if isinstance(value, Manager))


def item_output(self: Any, value: Abstract) -> Output:
    """What an exit leaves for an item of the operand stack."""
    if isinstance(value, Manager):
        return Output("tuple", None, [self._output(part) for part in value.parts()])
    return self._output(value)  # type: ignore[no-any-return]


def stranded(instr: Instr, stack: List[Abstract]) -> List[Abstract]:
    """What a break finds on the stack, without managers, which can be left anywhere but where their ``__exit__`` is
    called: there bytecode has to enter them."""
    called = stack[-4] if instr.opname == "CALL_FUNCTION" and instr.arg == 3 else None
    return [value for value in stack if not isinstance(value, Manager) or value is called]


def forget_managers(state: Any) -> None:
    """Behind bytecode nothing is known of what is to be called at the end, which has the manager."""
    entered = [value for value in state.stack if isinstance(value, Manager)]
    if not entered:
        return
    state.stack = [Unknown("PJ206", value.born) if isinstance(value, Manager) else value for value in state.stack]
    had = {record.token for value in entered for record in records_in(value)}
    replace_in(state, lambda record: record.like(writable=record.writable and record.token not in had))
