"""With statements: context managers whose methods are Python code, and those of `known_managers`.

A `Manager` on the operand stack stands for the ``__exit__`` that the end of the block calls. A kernel that exits
inside the block hands over the parts of that method. Linked code makes the method from them, or the start of an
inlined callee's continuation does. From then on nothing is known of the manager.

Within ``np.errstate`` kernels do not check flags that are ignored. They exit for the other flags whatever NumPy's
state is, because kernels do not set that state. Checking more flags than necessary only causes more exits.
"""

from __future__ import annotations

import types
from typing import Any, Callable, List, Tuple, cast

from pijit.core.bytecode.codec.decode import Instr
from pijit.core.bytecode.flow.block_stack import Blocks
from pijit.core.bytecode.instructions.predicates import calls_plainly, ends_block
from pijit.core.bytecode.linker.osr import Given
from pijit.core.capture.models.protocol import Interpreter, Recorder
from pijit.core.capture.models.stdlib.known_managers import FLAGS, entered, ready
from pijit.core.capture.values.lattice import Abstract, BoundFunction, Const, Unknown
from pijit.core.capture.values.virtual_object import StackTuple, replace_in, virtual_objects_in
from pijit.core.errors import Break
from pijit.core.graph.ir import Output
from pijit.core.graph.ops import ASKS_NUMPY, RAISES_FLAGS
from pijit.core.named_tuples import NamedTuple


class Errors(NamedTuple):
    """Flags that no operation checks (``ignored``), and flags that each one checks,
    whatever the state around is (``always_checked``)."""

    ignored: int = 0
    always_checked: int = 0


class Manager(BoundFunction):
    """A context manager that was entered: its ``__exit__`` and the object; for a known manager the class and its
    parts.

    ``apart`` is the version of the block that entered it. Paths on which different versions entered it do not meet
    before it is left, because no segment can begin there.
    """

    __slots__ = ("apart",)

    def __init__(self, function: Abstract, owner: Abstract, defined_at: int = -1, apart: int = 0) -> None:
        super().__init__(function, owner, defined_at)
        self.apart = apart

    def key(self) -> Any:
        return (self.function, self.owner, self.apart)

    @property
    def make(self) -> Callable[..., Any]:
        """The callable that makes the method from `exit_parts`."""
        known = ready(self)
        return known.make if known is not None else types.MethodType

    def errors(self, around: "Errors") -> "Errors":
        """The error handling inside the manager's block, given the handling around it."""
        known = []
        if self.make is entered:
            known = [cast(Const, part).object for part in cast(StackTuple, self.owner).items]
        ignored, always_checked = around
        for kind, how in zip(known[::2], known[1::2]):
            ignored, always_checked = ignored & ~FLAGS[kind], always_checked & ~FLAGS[kind]
            if how == "ignore":
                ignored |= FLAGS[kind]
            else:
                always_checked |= FLAGS[kind]
        return Errors(ignored, always_checked)

    def exit_parts(self) -> Tuple[Abstract, ...]:
        """The operands of `make`."""
        if ready(self) is None:
            return self.function, self.owner
        return self.owner.items if isinstance(self.owner, StackTuple) else (self.owner,)


def leave_with(interpreter: Interpreter, instr: Instr) -> None:
    """POP_BLOCK at the end of a with statement; Break if bytecode has entered it."""
    level = cast(Blocks, interpreter.cfg.block_stack[instr.index])[-1].level
    if not isinstance(interpreter.state.stack[level - 1], Manager):
        raise Break("PJ206", opcode=instr.opname)


def errors_around(interpreter: Interpreter) -> Errors:
    """The error handling that callers have set, or that the function always has."""
    return Errors(interpreter.context.options.ignored_flags)


def errors(interpreter: Interpreter) -> Errors:
    """The error handling at the current instruction."""
    found = interpreter.errors_around()
    for value in interpreter.state.stack:
        found = value.errors(found) if isinstance(value, Manager) else found
    return found


def with_errors(interpreter: Interpreter, name: str, attrs: Any) -> Any:
    """The attributes of an operation, with the flags that it need not check and those that it must check.

    Raises:
        Break: the operation checks the flags that NumPy's own state names.
    """
    found = errors(interpreter)
    if found.always_checked and name in ASKS_NUMPY:
        raise Break("PJ206", opcode=interpreter.instr.opname, because="np.errstate around a call of NumPy's")
    more = {"ignored": found.ignored} if found.ignored and name in RAISES_FLAGS else {}
    if found.always_checked:
        more["always_checked"] = found.always_checked
    return dict(attrs or {}, **more) if more else attrs


def again_at(cfg: Any, index: int) -> int:
    """Where bytecode resumes in place of an instruction: never directly after a with block, but at its POP_BLOCK.
    After it, an exception of a signal handler would skip the manager's ``__exit__``."""
    blocks = cfg.block_stack[index - 1] if index else None
    ends = blocks and blocks[-1].kind == "with" and ends_block(cfg.function.instructions[index - 1])
    return index - 1 if ends else index


# values for bytecode


def given(stack: List[Abstract]) -> Tuple[Given, ...]:
    """The items of an operand stack that exits leave as tuples of parts."""
    return tuple(Given(position, value.make) for position, value in enumerate(stack) if isinstance(value, Manager))


def item_output(interpreter: Recorder, value: Abstract) -> Output:
    """The output of an exit for one item of the operand stack."""
    if isinstance(value, Manager):
        return Output("tuple", None, [interpreter.exit_output(part) for part in value.exit_parts()])
    return interpreter.exit_output(value)


def stranded(instr: Instr, stack: List[Abstract]) -> List[Abstract]:
    """The operand stack at a break, without managers, because a kernel can exit inside their blocks. A manager
    whose ``__exit__`` is called here stays in the list: bytecode has to enter it."""
    called = stack[-4] if calls_plainly(instr) and instr.arg == 3 else None
    return [value for value in stack if not isinstance(value, Manager) or value is called]


def forget_managers(state: Any) -> None:
    """Forget pending ``__exit__`` calls after bytecode has run; other code may now hold their managers."""
    entered = [value for value in state.stack if isinstance(value, Manager)]
    if not entered:
        return
    state.stack = [Unknown("PJ206", value.defined_at) if isinstance(value, Manager) else value for value in state.stack]
    had = {virtual.token for value in entered for virtual in virtual_objects_in(value)}
    replace_in(state, lambda virtual: virtual.like(writable=virtual.writable and virtual.token not in had))
