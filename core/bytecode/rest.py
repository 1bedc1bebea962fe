"""The rest of a call: what bytecode runs when a kernel leaves in the middle of a callee that was inlined into it.

The kernel has done the first part of the call, so it cannot be made again. Its frame is made where it left: the
callee's code, with a new beginning that puts the operand stack in place and jumps to the instruction at which
bytecode goes on. The caller's linked code calls it with one tuple: the function, the variables, what is in dicts of
keywords, the operand stack from the bottom on::

    caller:  LOAD_CONST <rest>; ROT_TWO; CALL_FUNCTION 1           callee:  LOAD_FAST $s1 ...   the operand stack
             JUMP_ABSOLUTE <behind the call>                                LOAD_CONST <resume>; CALL_FUNCTION 0; POP_TOP
                                                                            JUMP_ABSOLUTE <where the kernel left>

If that callee was itself in the middle of a call, the tuple of the inner one comes last, and its rest is called
instead.
"""

from __future__ import annotations

from types import CodeType
from typing import Any, Callable, List, NamedTuple, Optional, Tuple

from pijit.core._hook import Rest as NativeRest
from pijit.core._launcher import resume
from pijit.core.bytecode.blocks import CFG
from pijit.core.bytecode.encode import Assembler, Item, Label, Op
from pijit.core.bytecode.moves import entered_behind, item_of, setup_below, stack_of

Announce = Callable[[Tuple[Tuple[CodeType, str], ...]], Any]
"""What is called right before a call of one of these functions, which are compiled on their own; None: nothing."""


class Rest(NamedTuple):
    """Where bytecode goes on in a callee, with these variables and so many stack items, after the rest of ``inner``.

    ``cfg`` is that of the code as it runs, with cell variables in cells. ``given`` are the positions of stack items
    that are made by a call with what is left for them, a tuple, and what is called. ``dicts`` are the variables that
    have dicts of keywords, and their keys. ``calls`` are instructions that call functions which may be compiled on
    their own, by (code, name).
    """

    cfg: CFG
    target: int
    locals: Tuple[str, ...]
    stack: int
    inner: Optional["Rest"]
    given: Tuple[Tuple[int, Any], ...] = ()
    dicts: Tuple[Tuple[str, Tuple[str, ...]], ...] = ()
    calls: Tuple[Tuple[int, Tuple[Tuple[CodeType, str], ...]], ...] = ()

    def __str__(self) -> str:
        own = "%s at %d" % (self.cfg.function.code.co_name, self.target)
        return own if self.inner is None else "%s, %s" % (own, self.inner)


def announcement(assembler: Assembler, index: int, callable: Any) -> List[Item]:
    """Code that says that an instruction is about to call a function which is compiled on its own."""
    line = assembler.function.instructions[index].lineno
    return [Op("LOAD_CONST", assembler.const(callable), line), Op("CALL_FUNCTION", 0, line),
            Op("POP_TOP", None, line)]


def call_rest(assembler: Assembler, rest: Rest, line: Optional[int], announce: Announce) -> List[Item]:
    """Code that runs the rest of a call on the tuple on top of the stack, which becomes the result."""
    return [Op("LOAD_CONST", assembler.const(_native(rest, announce)), line), Op("ROT_TWO", None, line),
            Op("CALL_FUNCTION", 1, line)]


def _native(rest: Rest, announce: Announce) -> Any:
    """What linked code calls. It owns a code object of its own, nothing that leads to the callee's."""
    assembler = Assembler(rest.cfg.function)
    dicts = [(name, keys, [assembler.fresh_local() for _ in keys]) for name, keys in rest.dicts]
    stack, entered = [assembler.fresh_local() for _ in range(rest.stack)], None
    if rest.inner is None:
        line = rest.cfg.function.instructions[rest.target].lineno
        end: List[Item] = [Op("LOAD_CONST", assembler.const(resume), line), Op("CALL_FUNCTION", 0, line),
                           Op("POP_TOP", None, line)]
    else:
        line = rest.cfg.function.instructions[rest.target - 1].lineno
        end = call_rest(assembler, rest.inner, line, announce)
        entered = entered_behind(rest.cfg, rest.target)
        if entered is not None:
            end += setup_below(assembler, rest.cfg, entered, assembler.inserted(entered.handler), line)
    items = [item for found in dicts for item in _dict_of(assembler, *found, line)]
    items += stack_of(assembler, rest.cfg, rest.target, stack, dict(rest.given), entered) + end
    begin = assembler.original(rest.target)
    for index, callees in rest.calls:
        callable = announce(callees)
        if callable is not None:
            label = Label("call at %d" % index)
            assembler.insert(index, [label] + announcement(assembler, index, callable))
            begin = label if index == rest.target else begin
    assembler.insert(0, items + [Op("JUMP_ABSOLUTE", begin, line)], redirect=False)
    code = assembler.assemble()
    cells = {name: code.co_nlocals + number for number, name in enumerate(code.co_cellvars)}
    slots = [cells[name] if name in cells else code.co_varnames.index(name) for name in rest.locals]
    slots += [slot for _, _, values in dicts for slot in values]
    return NativeRest(code, tuple(slots + stack)).callable


def _dict_of(assembler: Assembler, name: str, keys: Tuple[str, ...], slots: List[int],
             line: Optional[int]) -> List[Item]:
    """Code that gives a variable a dict of the values in other ones, which nobody else keeps."""
    items = [item for slot in slots for item in item_of(assembler, slot, None, line)]
    items += [Op("LOAD_CONST", assembler.const(keys), line), Op("BUILD_CONST_KEY_MAP", len(keys), line)] \
        if keys else [Op("BUILD_MAP", 0, line)]
    return items + [Op("STORE_FAST", assembler.local(name), line)]
