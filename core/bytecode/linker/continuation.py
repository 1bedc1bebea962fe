"""Continuation of an inlined call: bytecode that runs after an exit in the middle of a callee.

The kernel has done the first part of the call, so the call cannot be repeated. Instead the callee gets a frame that
starts at the exit. Its code is the callee's with a new beginning, which restores the operand stack and jumps to the
instruction at which bytecode continues. The caller's linked code calls the continuation with one tuple. Its items are
the function, the variables, the contents of keyword dicts, and the operand stack from the bottom on::

    caller:  LOAD_CONST <rest>; ROT_TWO; CALL_FUNCTION 1       callee:  LOAD_FAST $s1 ...   the operand stack
             JUMP_ABSOLUTE <after the call>                             LOAD_CONST <resume>; CALL_FUNCTION 0; POP_TOP
                                                                        JUMP_ABSOLUTE <where the kernel left>

If that callee was itself in the middle of a call, the tuple of the inner call is the last item. Then the inner
continuation is called instead of `resume`.
"""

from __future__ import annotations

from types import CodeType
from typing import Any, Callable, List, Optional, Tuple

from pijit.core.bytecode.analysis.blocks import CFG
from pijit.core.bytecode.assembler import natives
from pijit.core.bytecode.assembler.emit import Emit, after_call, announcement, arrived, finished, frame_slots, stack_of
from pijit.core.bytecode.codec.encode import Assembler, CodeItem, Label
from pijit.core.named_tuples import NamedTuple

Announce = Callable[[Tuple[Tuple[CodeType, str], ...]], Any]
"""Takes functions that are compiled on their own; returns the callable to call right before their call, or None."""


class Continuation(NamedTuple):
    """Continuation in a callee at ``target``, with these variables and ``stack`` stack items, after that of ``inner``.

    ``cfg`` is that of the code as it runs, with cell variables in cells. ``given`` lists the stack items that are
    created by a call, as position and callable; the kernel leaves a tuple of the arguments in their place. ``dicts``
    lists the variables that hold dicts of keywords, with their keys. ``calls`` lists instructions that call functions
    which may be compiled on their own, with the (code, name) of each function.
    """

    cfg: CFG
    target: int
    locals: Tuple[str, ...]
    stack: int
    inner: Optional["Continuation"]
    given: Tuple[Tuple[int, Any], ...] = ()
    dicts: Tuple[Tuple[str, Tuple[str, ...]], ...] = ()
    calls: Tuple[Tuple[int, Tuple[Tuple[CodeType, str], ...]], ...] = ()

    def __str__(self) -> str:
        own = "%s at %d" % (self.cfg.function.code.co_name, self.target)
        return own if self.inner is None else "%s, %s" % (own, self.inner)


def call_and_drop(emit: Emit, callable: Any) -> List[CodeItem]:
    """Code that calls a callable and drops the result."""
    return [*emit.call(callable), emit.op("POP_TOP")]


def call_continuation(emit: Emit, rest: Continuation, announce: Announce) -> List[CodeItem]:
    """Code that runs a continuation on the tuple on top of the stack, which the result replaces."""
    return emit.call_on_top(_native(rest, announce))


def _native(rest: Continuation, announce: Announce) -> Any:
    """The callable that linked code calls. It owns a code object of its own and holds no reference to the callee's."""
    assembler = Assembler(rest.cfg.function)
    dicts = [(name, keys, [assembler.fresh_local() for _ in keys]) for name, keys in rest.dicts]
    stack = [assembler.fresh_local() for _ in range(rest.stack)]
    if rest.inner is None:
        emit = Emit(assembler, rest.target, columns=True)
        end = call_and_drop(emit, natives.resume())
    else:
        emit = Emit(assembler, rest.target - 1, columns=True)
        end = call_continuation(emit, rest.inner, announce) + after_call(emit, rest.cfg, rest.target)
    slots = [slot for _, _, values in dicts for slot in values] + stack
    items = arrived(emit, rest.locals, slots)
    items += [item for name, keys, values in dicts for item in _dict_of(emit, name, keys, values)]
    items += stack_of(emit, rest.cfg, rest.target, stack, dict(rest.given), rest.inner is not None) + end
    begin = assembler.original(rest.target)
    for index, callees in rest.calls:
        callable = announce(callees)
        if callable is not None:
            label = Label("call at %d" % index)
            assembler.insert(index, [label] + announcement(Emit(assembler, index, columns=True), rest.cfg, callable))
            begin = label if index == rest.target else begin
    assembler.insert(assembler.first_place(), items + [emit.jump(begin)], redirect=False)
    code = finished(assembler)
    return natives.continuation(code, frame_slots(code, rest.locals, slots))


def _dict_of(emit: Emit, name: str, keys: Tuple[str, ...], slots: List[int]) -> List[CodeItem]:
    """Code that stores a new dict of the values of other variables in a variable; no one else holds the dict."""
    items = [item for key, slot in zip(keys, slots) for item in [emit.const(key), *emit.put_back([slot])]]
    return items + [emit.op("BUILD_MAP", len(keys)), emit.op("STORE_FAST", emit.assembler.local(name))]
