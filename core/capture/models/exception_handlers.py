"""Edges from an instruction to its exception handler, which kernels take where the instruction would raise.

`predicted_exceptions` and `interpreter/exceptions.py`, which describes them, call these functions.
"""

from __future__ import annotations

from typing import Callable, Optional, Tuple, cast

from pijit.core.bytecode.analysis.blocks import CFG
from pijit.core.bytecode.analysis.handler_clauses import names_in_clauses
from pijit.core.bytecode.flow.control_flow import BlockEntry
from pijit.core.bytecode.instructions.predicates import calls
from pijit.core.capture.models.protocol import Interpreter
from pijit.core.capture.models.stdlib.context_managers import Manager
from pijit.core.capture.state.edges import ExceptionEdge
from pijit.core.capture.state.frame_state import is_confined
from pijit.core.capture.state.return_kinds import Cut
from pijit.core.capture.values.base import Thrown
from pijit.core.capture.values.lattice import KERNEL_LOCAL
from pijit.core.graph.ir import Value
from pijit.core.graph.types import FLAG


def handler(interpreter: Interpreter) -> Optional[BlockEntry]:
    """The handler to which kernels may jump when the instruction raises, or None."""
    inner = innermost_block(interpreter.cfg, interpreter.instr.index)
    if inner is None or inner.kind != "except" or interpreter.instr.index in interpreter.unhandled:
        return None
    waits = any(is_confined(value) and type(value) not in (Manager, Thrown) for value in interpreter.state.stack)
    return inner if not waits else None


def is_caught(interpreter: Interpreter) -> bool:
    """Whether an exception of the instruction leads to a handler, of the function or of its caller."""
    return handler(interpreter) is not None or leads_out(interpreter)


def raise_where(interpreter: Interpreter, flag: Callable[[], Value], cls: type) -> None:
    """Add an edge to the handler: where the FLAG is true, the instruction raises an exception of the class.

    Nothing is added if no clause of the handler matches the class.
    """
    if not is_named(interpreter, cls):
        return
    block = interpreter.split(flag())
    if leads_out(interpreter):
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
    caught = (interpreter.context.catches or ()) if leads_out(interpreter) else named(interpreter)
    return any(id(one) in caught for one in type.mro(cls))


def named(interpreter: Interpreter) -> Tuple[int, ...]:
    """The ids of the classes that the clauses of the handler name."""
    entry, context = cast(BlockEntry, innermost_block(interpreter.cfg, interpreter.instr.index)), interpreter.context
    names = names_in_clauses(interpreter.function.instructions, entry.handler)
    if names is None:
        return (id(BaseException),)
    return tuple(id(context.globals.get(name, context.builtins.get(name))) for name in names)


def leads_out(interpreter: Interpreter) -> bool:
    """Whether the caller handles exceptions of the instruction, and no value on the stack lives inside one segment
    only."""
    if interpreter.context.catches is None or innermost_block(interpreter.cfg, interpreter.instr.index) is not None:
        return False
    return not any(map(is_confined, interpreter.state.stack))


def raise_rarely(interpreter: Interpreter, flag: Value, cls: type, never: Callable[[], Value]) -> None:
    """Add an edge to the handler where the first FLAG is true. The kernel exits where the other FLAG is true as
    well."""
    here = interpreter.split(flag)
    on, interpreter.block = interpreter.block, here
    interpreter.emit("require", [interpreter.emit("not", [never()], FLAG)], None, exits=True)
    if leads_out(interpreter):
        interpreter.throw(cls, interpreter.block)
    else:
        interpreter.exception_edges.append(ExceptionEdge(cls, interpreter.block))
    interpreter.block = on


def may_catch(interpreter: Interpreter) -> bool:
    """Whether exceptions of an inlined call may lead to the handler. No value on the stack may live inside one
    segment."""
    return (calls(interpreter.instr) and interpreter.gives_result()
            and handler(interpreter) is not None
            and not any(isinstance(value, KERNEL_LOCAL) for value in interpreter.state.stack))


def innermost_block(cfg: CFG, index: int, outside: bool = False) -> Optional[BlockEntry]:
    """The innermost block around an instruction that is no loop. ``outside``: around the handler that the instruction
    ends."""
    entries = [entry for entry in cfg.block_stack[index] or () if entry.kind != "loop"][:-1 if outside else None]
    return entries[-1] if entries else None
