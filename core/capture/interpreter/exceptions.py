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
from typing import Any, Callable, Dict, List, Optional, Tuple, cast

from pijit.core.bytecode.analysis.blocks import CFG
from pijit.core.bytecode.codec.decode import Instr
from pijit.core.bytecode.flow.control_flow import EXCEPTION_ITEMS, HANDLER_ITEMS, BlockEntry
from pijit.core.capture.models.protocol import Interpreter
from pijit.core.capture.models.stdlib.context_managers import Manager
from pijit.core.capture.state.edges import JUMP, RAISE, RETURN, ExceptionEdge
from pijit.core.capture.state.frame_state import FrameState, is_confined
from pijit.core.capture.state.return_kinds import Cut
from pijit.core.capture.values.base import Raised, Thrown, raised_in
from pijit.core.capture.values.lattice import FRAGILE, Abstract, Const, Sequence, Unknown
from pijit.core.capture.values.predicates import Holds
from pijit.core.errors import Break
from pijit.core.graph.ir import Block, Value
from pijit.core.graph.ops import CANNOT_FAIL, EFFECTS
from pijit.core.graph.types import FLAG
from pijit.guards.facts import is_among
from pijit.guards.reading import class_value

FIRST_EDGE = 100
"""The slot of the first edge from a block to its handler. Lower slots are falls, jumps and outcomes."""
BUILT_IN = tuple(kind for kind in vars(builtins).values() if isinstance(kind, type) and issubclass(kind, Exception)
                 and not issubclass(kind, (OSError, SyntaxError, UnicodeError, ImportError)))
"""Exception classes that accept any arguments and only store them."""


CLAUSE = frozenset(["DUP_TOP", "LOAD_GLOBAL", "LOAD_ATTR", "BUILD_TUPLE", "COMPARE_OP", "POP_JUMP_IF_FALSE",
                    "JUMP_IF_NOT_EXC_MATCH", "CHECK_EXC_MATCH", "NOP"])
"""Instructions that a handler executes until it is clear that no clause matches the exception."""
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


def handler(interpreter: Interpreter) -> Optional[BlockEntry]:
    """The handler to which kernels may jump when the instruction raises, or None."""
    inner = _innermost(interpreter.cfg, interpreter.instr.index)
    if inner is None or inner.kind != "except" or interpreter.instr.index in interpreter.unhandled:
        return None
    waits = any(is_confined(value) and type(value) not in (Manager, Thrown) for value in interpreter.state.stack)
    return inner if not waits else None


def raise_where(interpreter: Interpreter, flag: Callable[[], Value], cls: type) -> None:
    """Add an edge to the handler: where the FLAG is true, the instruction raises an exception of the class.

    Nothing is added if no clause of the handler matches the class.
    """
    if not interpreter.is_named(cls):
        return
    block = interpreter.split(flag())
    if interpreter.leads_out():
        interpreter.throw(cls, block)
    else:
        interpreter.exception_edges.append(ExceptionEdge(cls, block))


def end_block(interpreter: Interpreter) -> None:
    """Make sure that the instruction is the last of its block, because it has several edges."""
    index = interpreter.instr.index
    if interpreter.cfg.blocks[cast(int, interpreter.cfg.block_of[index])].end != index + 1:
        raise Cut(interpreter.cfg, index + 1)


def is_named(interpreter: Interpreter, cls: type) -> bool:
    """Whether a clause of the handler names the class or a base of it, judged by names alone."""
    caught = (interpreter.context.catches or ()) if interpreter.leads_out() else interpreter.named()
    return any(id(one) in caught for one in type.mro(cls))


def named(interpreter: Interpreter) -> Tuple[int, ...]:
    """The ids of the classes that the clauses of the handler name."""
    instructions, entry = interpreter.function.instructions, _innermost(interpreter.cfg, interpreter.instr.index)
    named, index = [], cast(BlockEntry, entry).handler
    index += instructions[index].opname == "PUSH_EXC_INFO"
    if instructions[index].opname == "POP_TOP":
        return (id(BaseException),)
    while instructions[index].opname in CLAUSE:
        if instructions[index].opname == "LOAD_GLOBAL":
            name = instructions[index].value
            named.append(interpreter.context.globals.get(name, interpreter.context.builtins.get(name)))
        target = instructions[index].target
        index = target if target is not None else index + 1
    return tuple(map(id, named))


def leads_out(interpreter: Interpreter) -> bool:
    """Whether the caller handles exceptions of the instruction, and no value on the stack lives inside one segment
    only."""
    outside = interpreter.context.catches is not None and _innermost(interpreter.cfg, interpreter.instr.index) is None
    return outside and not any(map(is_confined, interpreter.state.stack))


def throw(interpreter: Interpreter, cls: type, block: Any) -> None:
    """In an inlined callee: continue at the caller's handler when the block is reached."""
    raise NotImplementedError


def raise_rarely(interpreter: Interpreter, flag: Value, cls: type, never: Callable[[], Value]) -> None:
    """Add an edge to the handler where the first FLAG is true. The kernel exits where the other FLAG is true as
    well."""
    here = interpreter.split(flag)
    on, interpreter.block = interpreter.block, here
    interpreter.emit("require", [interpreter.emit("not", [never()], FLAG)], None, exits=True)
    if interpreter.leads_out():
        interpreter.throw(cls, interpreter.block)
    else:
        interpreter.exception_edges.append(ExceptionEdge(cls, interpreter.block))
    interpreter.block = on


def may_catch(interpreter: Interpreter) -> bool:
    """Whether exceptions of an inlined call may lead to the handler. No value on the stack may live inside one
    segment."""
    return (interpreter.instr.opname.startswith("CALL_") and interpreter.gives_result()
            and interpreter.handler() is not None
            and not any(isinstance(value, FRAGILE) for value in interpreter.state.stack))


def catch_no_more(interpreter: Interpreter) -> None:
    """Remove the edges to the handler: the kernel exits where the instruction raises."""
    interpreter.unhandled.add(interpreter.instr.index)


def is_caught(interpreter: Interpreter) -> bool:
    """Whether a ``raise`` leads to a handler, of the function or of its caller."""
    inner = _innermost(interpreter.cfg, interpreter.instr.index)
    return interpreter.handler() is not None or inner is None and interpreter.context.catches is not None


def handled_state(interpreter: Interpreter, state: FrameState, cls: type,
                  again: Optional[Raised] = None) -> Tuple[int, FrameState]:
    """The handler of the instruction and the state at its start."""
    entry = cast(BlockEntry, _innermost(interpreter.cfg, interpreter.instr.index, again is not None))
    raised = again or Raised(cls, interpreter.instr.index, interpreter.version)
    return entry.handler, FrameState(dict(state.locals), state.stack[:entry.level] + [raised] * HANDLER_ITEMS)


def op_RAISE_VARARGS(interpreter: Interpreter, instr: Instr) -> None:
    value = interpreter.state.stack[-1] if instr.arg == 1 else None
    cls: Any = value.object if isinstance(value, Const) else value.cls if type(value) is Thrown else None
    if not is_caught(interpreter) or not is_plain_exception(cls):
        raise Break("PJ221", opcode=instr.opname)
    interpreter.pop()
    if interpreter.handler() is None:
        interpreter.returned = Thrown(cls, instr.index)
        interpreter.transfer = RETURN
        return
    interpreter.exception_edges.append(ExceptionEdge(cls))
    interpreter.transfer = RAISE


def op_RERAISE(interpreter: Interpreter, instr: Instr) -> None:
    """No clause matched the exception: continue at the next handler."""
    raised, outer = interpreter.state.stack[-1], _innermost(interpreter.cfg, instr.index, True)
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
    interpreter.push(Const(interpreter.matches(interpreter.pop(), interpreter.state.stack[-1], instr)))


def op_JUMP_IF_NOT_EXC_MATCH(interpreter: Interpreter, instr: Instr) -> None:
    if not interpreter.matches(interpreter.pop(), interpreter.take(), instr):
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


def _innermost(cfg: CFG, index: int, outside: bool = False) -> Optional[BlockEntry]:
    """The innermost block around an instruction that is no loop. ``outside``: around the handler that the instruction
    ends."""
    entries = [entry for entry in cfg.block_stack[index] or () if entry.kind != "loop"][:-1 if outside else None]
    return entries[-1] if entries else None


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
    raises = (following.opname, following.arg) == ("RAISE_VARARGS", 1) and is_caught(interpreter)
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
