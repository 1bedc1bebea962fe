"""Moving a running call to newer linked code at a loop's header: the way out of the old code, and into the new.

Old code asks a *mover* at the header (`pijit.core._hook.mover`). What that answers, unless it is None, is returned,
with the operand stack in the local `STACK`; the hook then runs newer code, made by `link` with a `start`, on the same
locals::

    LOAD_CONST <mover>; CALL_FUNCTION 0; DUP_TOP             new code begins with
    POP_JUMP_IF_FALSE on                                     LOAD_FAST $stack; UNPACK_SEQUENCE n; <back on the stack>
    STORE_FAST $move; BUILD_TUPLE n; STORE_FAST $stack       [SETUP_LOOP]  CPython 3.7
    LOAD_FAST $move; RETURN_VALUE                            JUMP_ABSOLUTE header
    on: POP_TOP
"""

from __future__ import annotations

from typing import Any, Callable, Dict, List, NamedTuple, Optional

from pijit.core.bytecode.blocks import CFG
from pijit.core.bytecode.encode import Assembler, Item, Label, Op
from pijit.core.bytecode.flow import BlockEntry

STACK = "$stack"
MOVE = "$move"


class Given(NamedTuple):
    """An item of the operand stack that bytecode has to make, from a tuple that a kernel leaves: ``make(*items)``."""

    position: int
    make: Callable[..., Any]


def move_points(cfg: CFG) -> Dict[int, Optional[str]]:
    """The headers of all loops, and why a call cannot move there; None if it can."""
    starts = [cfg.blocks[loop.header].start for loop in cfg.loops]
    inside = "it is inside a try or with statement"
    return {start: None if all(entry.kind == "loop" for entry in cfg.block_stack[start] or ()) else inside
            for start in starts}


def add_mover(assembler: Assembler, cfg: CFG, header: int, make: Callable[[int], Any]) -> None:
    """Ask at a loop's header; ``make`` gives the mover for the local that takes the operand stack."""
    line = cfg.function.instructions[header].lineno
    stack, move, on = assembler.local(STACK), assembler.local(MOVE), Label("no move")
    assembler.insert(header, [
        Op("LOAD_CONST", assembler.const(make(stack)), line), Op("CALL_FUNCTION", 0, line), Op("DUP_TOP", None, line),
        Op("POP_JUMP_IF_FALSE", on, line), Op("STORE_FAST", move, line),
        Op("BUILD_TUPLE", cfg.stack_depth[header], line), Op("STORE_FAST", stack, line), Op("LOAD_FAST", move, line),
        Op("RETURN_VALUE", None, line), on, Op("POP_TOP", None, line)])


def add_start(assembler: Assembler, cfg: CFG, header: int, to: Label) -> None:
    """Begin at a loop's header, on the operand stack that a move has left. Nothing may be inserted before."""
    line = cfg.function.instructions[header].lineno
    slots = [assembler.fresh_local() for _ in range(cfg.stack_depth[header] or 0)]
    stack = assembler.local(STACK)
    items: List[Item] = [Op("LOAD_FAST", stack, line), Op("DELETE_FAST", stack, line),
                         Op("UNPACK_SEQUENCE", len(slots), line)]
    items += [Op("STORE_FAST", slot, line) for slot in slots]
    items += stack_of(assembler, cfg, header, slots)
    assembler.insert(0, items + [Op("JUMP_ABSOLUTE", to, line)], redirect=False)


def entered_behind(cfg: CFG, target: int) -> Optional[BlockEntry]:
    """The block of a with statement that begins at ``target``, behind the call of ``__enter__``."""
    setup = cfg.function.instructions[target - 1]
    return (cfg.block_stack[target] or (None,))[-1] if setup.opname == "SETUP_WITH" else None


def setup_below(assembler: Assembler, cfg: CFG, block: BlockEntry, handler: Label, line: Optional[int]) -> List[Item]:
    """Code that puts a block on the block stack, below the top item of the operand stack."""
    slot = assembler.fresh_local()
    return [Op("STORE_FAST", slot, line), Op(setup_of(cfg, block), handler, line), Op("LOAD_FAST", slot, line),
            Op("DELETE_FAST", slot, line)]


def stack_of(assembler: Assembler, cfg: CFG, index: int, slots: List[int],
             given: Optional[Dict[int, Any]] = None, without: Optional[BlockEntry] = None) -> List[Item]:
    """Code that puts the operand stack of an instruction, and the blocks around it, back from locals.

    ``given`` is what is called to make items, by their positions; the locals have tuples of its arguments then.
    The block ``without`` is not put back yet.
    """
    line = cfg.function.instructions[index].lineno
    items: List[Item] = []
    blocks = [block for block in cfg.block_stack[index] or () if block is not without]
    for position in range(len(slots) + 1):
        while blocks and blocks[0].level == position:
            items.append(Op(setup_of(cfg, blocks[0]), assembler.inserted(blocks.pop(0).handler), line))
        if position < len(slots):
            items += item_of(assembler, slots[position], (given or {}).get(position), line)
    return items


def item_of(assembler: Assembler, slot: int, make: Any, line: Optional[int]) -> List[Item]:
    """Code that puts an item of the operand stack back; one that is `Given` is made."""
    item: List[Item] = [Op("LOAD_FAST", slot, line), Op("DELETE_FAST", slot, line)]
    if make is None:
        return item
    return [Op("LOAD_CONST", assembler.const(make), line), *item, Op("CALL_FUNCTION_EX", 0, line)]


def setup_of(cfg: CFG, block: BlockEntry) -> str:
    """The instruction that puts a block on the block stack, and does no more."""
    return "SETUP_FINALLY" if block.kind == "with" else cfg.function.instructions[block.pusher].opname
