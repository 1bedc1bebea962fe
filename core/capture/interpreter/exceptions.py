"""Exceptions caught in the same function: a predicted exception becomes a jump to its handler.

An instruction has an edge to its handler if it would raise for a reason that the kernel can test: a missing key, a
divisor of zero, a ``raise``. Neither the exception nor its traceback is made. The handler has `Raised` on the operand
stack instead, which only the opcodes of handlers accept.

Bytecode would see a current exception until the handler has ended, so kernels do not exit there. They exit before the
instruction that raises, and bytecode raises. That is impossible where code of the handler is not captured, or where it
uses the exception object. There the edge is removed, and the instruction exits like any other that raises.
"""

from __future__ import annotations

import builtins
from typing import Any, Dict, List, Optional, Tuple, cast

from pijit.core.bytecode.codec.decode import Instr
from pijit.core.bytecode.flow.control_flow import EXCEPTION_ITEMS, HANDLER_ITEMS, BlockEntry
from pijit.core.capture.models import exception_handlers
from pijit.core.capture.models.exception_handlers import innermost_block
from pijit.core.capture.models.protocol import Interpreter
from pijit.core.capture.state.edges import JUMP, RAISE, RETURN, ExceptionEdge
from pijit.core.capture.state.frame_state import FrameState
from pijit.core.capture.values.base import Raised, Thrown, raised_in
from pijit.core.capture.values.lattice import Abstract, Const, Sequence, Unknown
from pijit.core.capture.values.predicates import Holds
from pijit.core.errors import Break
from pijit.core.graph.ir import Block, Value
from pijit.core.graph.ops import CANNOT_FAIL, EFFECTS
from pijit.guards.facts import is_among
from pijit.guards.reading import class_value

FIRST_EDGE = 100
"""The slot of the first edge from a block to its handler. Lower slots are falls, jumps and outcomes."""
BUILT_IN = tuple(kind for kind in vars(builtins).values() if isinstance(kind, type) and issubclass(kind, Exception)
                 and not issubclass(kind, (OSError, SyntaxError, UnicodeError, ImportError)))
"""Exception classes that accept any arguments and only store them."""


BASES = (Exception, BaseException, object)
MAKING = ("__new__", "__init__", "__del__")


def without_raised(state: FrameState) -> FrameState:
    """The state as in bytecode, which has made the exception object."""
    def known(value: Abstract) -> Abstract:
        return Unknown("PJ206", value.defined_at) if isinstance(value, Raised) else value

    return FrameState({name: known(value) for name, value in state.locals.items()}, list(map(known, state.stack)))


def split(interpreter: Interpreter, flag: Value) -> Optional[Block]:
    """Continue where the FLAG is false; returns the block where it is true."""
    return None


def throw(interpreter: Interpreter, cls: type, block: Any) -> None:
    """In an inlined callee: continue at the caller's handler when the block is reached."""
    raise NotImplementedError


def catch_no_more(interpreter: Interpreter) -> None:
    """Remove the edges to the handler: the kernel exits where the instruction raises."""
    interpreter.unhandled.add(interpreter.instr.index)


def is_raise_caught(interpreter: Interpreter) -> bool:
    """Whether a ``raise`` leads to a handler, of the function or of its caller."""
    if exception_handlers.handler(interpreter) is not None:
        return True
    return innermost_block(interpreter.cfg, interpreter.instr.index) is None and interpreter.context.catches is not None


def handled_state(interpreter: Interpreter, state: FrameState, cls: type,
                  again: Optional[Raised] = None) -> Tuple[int, FrameState]:
    """The handler of the instruction and the state at its start."""
    entry = cast(BlockEntry, innermost_block(interpreter.cfg, interpreter.instr.index, again is not None))
    raised = again or Raised(cls, interpreter.instr.index, interpreter.version)
    return entry.handler, FrameState(dict(state.locals), state.stack[:entry.level] + [raised] * HANDLER_ITEMS)


def op_RAISE_VARARGS(interpreter: Interpreter, instr: Instr) -> None:
    value = interpreter.state.stack[-1] if instr.arg == 1 else None
    cls: Any = value.object if isinstance(value, Const) else value.cls if type(value) is Thrown else None
    if not is_raise_caught(interpreter) or not is_plain_exception(cls):
        raise Break("PJ221", opcode=instr.opname)
    interpreter.pop()
    if exception_handlers.handler(interpreter) is None:
        interpreter.returned = Thrown(cls, instr.index)
        interpreter.transfer = RETURN
        return
    interpreter.exception_edges.append(ExceptionEdge(cls))
    interpreter.transfer = RAISE


def op_RERAISE(interpreter: Interpreter, instr: Instr) -> None:
    """No clause matched the exception: continue at the next handler."""
    raised, outer = interpreter.state.stack[-1], innermost_block(interpreter.cfg, instr.index, True)
    if not isinstance(raised, Raised) or outer is None or outer.kind != "except":
        raise Break("PJ206", opcode=instr.opname)
    interpreter.exception_edges.append(ExceptionEdge(raised.cls, None, raised))
    interpreter.transfer = RAISE


op_END_FINALLY = op_RERAISE


def op_POP_EXCEPT(interpreter: Interpreter, instr: Instr) -> None:
    items = interpreter.state.stack[-EXCEPTION_ITEMS:]
    if len(items) < EXCEPTION_ITEMS or not all(isinstance(item, Raised) for item in items):
        raise Break("PJ206", opcode=instr.opname)
    del interpreter.state.stack[-EXCEPTION_ITEMS:]


def op_PUSH_EXC_INFO(interpreter: Interpreter, instr: Instr) -> None:
    """Keep the previously handled exception below the new one; the end of the handler removes it."""
    raised = interpreter.state.stack[-1]
    if not isinstance(raised, Raised):
        raise Break("PJ206", opcode=instr.opname)
    interpreter.state.stack.append(raised)


def op_CHECK_EXC_MATCH(interpreter: Interpreter, instr: Instr) -> None:
    interpreter.push(Const(matches(interpreter, interpreter.pop(), interpreter.state.stack[-1], instr)))


def op_JUMP_IF_NOT_EXC_MATCH(interpreter: Interpreter, instr: Instr) -> None:
    if not matches(interpreter, interpreter.pop(), interpreter.take(), instr):
        interpreter.transfer = JUMP


def matches(interpreter: Interpreter, wanted: Abstract, raised: Abstract, instr: Instr) -> bool:
    """Whether a clause matches the exception."""
    if not isinstance(raised, Raised):
        raise Break("PJ206", opcode=instr.opname)
    items = wanted.items if isinstance(wanted, Sequence) else (wanted,)
    classes: List[Any] = [item.object if isinstance(item, Const) else None for item in items]
    if classes and type(classes[0]) is tuple:
        classes = list(classes[0])
    if not all(issubclass(type(cls), type) and issubclass(cls, BaseException) for cls in classes):
        raise Break("PJ206", opcode=instr.opname)
    return any(cls in type.mro(raised.cls) for cls in classes)


def note_effect(interpreter: Interpreter, name: str, exits: bool) -> None:
    """While an exception is handled whose object was not made, no exit may follow an effect."""
    raised = raised_in(interpreter.state.stack)
    if raised is None:
        return
    if exits and raised.wrote and name not in CANNOT_FAIL:
        raise Break("PJ206", opcode=interpreter.instr.opname)
    if name in EFFECTS:
        later = Raised(raised.cls, raised.defined_at, raised.version, True)
        interpreter.state.stack = [later if isinstance(value, Raised) else value for value in interpreter.state.stack]


def is_plain_exception(cls: Any) -> bool:
    """Whether making an exception of a class runs no code of the user's and has no other effect."""
    if type(cls) is not type or not issubclass(cls, Exception):
        return False
    kinds = type.mro(cls)
    first = next((position for position, kind in enumerate(kinds) if is_among(kind, BUILT_IN)), None)
    own = [name for kind in kinds[:first] for name in MAKING if name in vars(kind)]
    return first is not None and not own and all(is_among(kind, BUILT_IN + BASES) for kind in kinds[first:])


def thrown(interpreter: Interpreter, target: Const) -> Optional[Abstract]:
    """The result of ``cls(...)`` if it is raised at once and handled in the function; else None."""
    following = interpreter.function.instructions[interpreter.instr.index + 1]
    raises = (following.opname, following.arg) == ("RAISE_VARARGS", 1) and is_raise_caught(interpreter)
    if not raises or not is_plain_exception(target.object):
        return None
    for name in MAKING[:2]:
        interpreter.rely(target, Holds(name, class_value(target.object, name)))
    return Thrown(target.object, interpreter.instr.index)


def handler_edges(interpreter: Interpreter) -> Dict[int, Tuple[int, FrameState]]:
    """The edges of an instruction that may raise: handler and state, by slot."""
    return {FIRST_EDGE + number: handled_state(interpreter, interpreter.before, edge.cls, edge.again)
            for number, edge in enumerate(interpreter.exception_edges)}


def caught_edges(interpreter: Interpreter,
                 edges: Dict[int, Tuple[int, FrameState]]) -> Dict[int, Tuple[int, FrameState]]:
    """The edges after a call: outcomes that raise lead to the handler."""
    tops = {slot: state.stack[-1] for slot, (_, state) in edges.items() if state.stack}
    caught = {slot: handled_state(interpreter, edges[slot][1], top.cls) for slot, top in tops.items()
              if type(top) is Thrown}
    return {**edges, **caught}
