"""Operand stacks and block stacks of exits, and of code that starts in the middle, on CPython 3.7 to 3.10.

Try statements, with statements and loops of CPython 3.7 have entries on a block stack, which instructions push and pop.
`emit` selects it. Later versions must not import it.
"""

from __future__ import annotations

from types import CodeType
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple, cast

from pijit.core.bytecode.analysis.blocks import CFG
from pijit.core.bytecode.assembler.emit_37 import Emit
from pijit.core.bytecode.codec.encode import Assembler, CodeItem, Label
from pijit.core.bytecode.flow.control_flow import BlockEntry
from pijit.core.bytecode.instructions.instruction import Instr
from pijit.core.bytecode.instructions.line_table import LINE_TABLE_FIELD

STACK, MOVE = "$stack", "$move"
LANDINGS = True
# Before 3.10 tracing reports a line again after code of another line, so this code is not among the site's.
REQUESTS_APART = LINE_TABLE_FIELD == "co_lnotab"


def setup_of(cfg: CFG, block: BlockEntry) -> str:
    """The instruction that pushes a block on the block stack and has no other effect."""
    return "SETUP_FINALLY" if block.kind == "with" else cfg.function.instructions[block.pusher].opname


def entered_after_call(cfg: CFG, target: int) -> Optional[BlockEntry]:
    """The block of a with statement that begins at ``target``, after the call of ``__enter__``, or None."""
    setup = cfg.function.instructions[target - 1]
    return (cfg.block_stack[target] or (None,))[-1] if setup.opname == "SETUP_WITH" else None


def item_of(emit: Emit, slot: int, make: Any = None) -> List[CodeItem]:
    """Code that restores an item of the operand stack; ``make`` creates one that is `Given`."""
    item = emit.put_back([slot])
    return item if make is None else emit.call_starred(make, item)


def stack_of(emit: Emit, cfg: CFG, index: int, slots: Sequence[int], given: Optional[Dict[int, Any]] = None,
             in_call: bool = False) -> List[CodeItem]:
    """Code that restores the operand stack of an instruction, and the blocks around it, from locals.

    ``given`` has the callables that create items, by position; the locals then hold tuples of their arguments.
    ``in_call``: the top item is the operand of a pending call; the block that begins after the call is not restored.
    """
    items: List[CodeItem] = []
    without = entered_after_call(cfg, index) if in_call else None
    blocks = [block for block in cfg.block_stack[index] or () if block is not without]
    for position in range(len(slots) + 1):
        while blocks and blocks[0].level == position:
            items.append(emit.op(setup_of(cfg, blocks[0]), emit.assembler.inserted(blocks.pop(0).handler)))
        if position < len(slots):
            items += item_of(emit, slots[position], (given or {}).get(position))
    return items


def _setup_below(emit: Emit, cfg: CFG, block: BlockEntry, handler: Label) -> List[CodeItem]:
    """Code that pushes a block on the block stack, with a level below the top item of the operand stack."""
    slot = emit.assembler.fresh_local()
    return [emit.op("STORE_FAST", slot), emit.op(setup_of(cfg, block), handler), *emit.put_back([slot])]


def after_call(emit: Emit, cfg: CFG, target: int) -> List[CodeItem]:
    """Code after a call whose result is the top item: it pushes the block that begins there, if there is one."""
    entered = entered_after_call(cfg, target)
    return [] if entered is None else _setup_below(emit, cfg, entered, emit.assembler.inserted(entered.handler))


def arrived(emit: Emit, names: Sequence[str], slots: Sequence[int]) -> List[CodeItem]:
    """Nothing: the creator of the frame has stored the values."""
    return []


def frame_slots(code: CodeType, names: Sequence[str], slots: Sequence[int]) -> Tuple[int, ...]:
    """The positions of a frame's values: those of variables, then those of new locals."""
    cells = {name: code.co_nlocals + number for number, name in enumerate(code.co_cellvars)}
    return tuple(cells[name] if name in cells else code.co_varnames.index(name) for name in names) + tuple(slots)


def moved_in(emit: Emit, slots: Sequence[int]) -> List[CodeItem]:
    """Code that stores the operand stack of a move in locals; the frame has the variables already."""
    stack = emit.assembler.local(STACK)
    return [*emit.put_back([stack]), emit.op("UNPACK_SEQUENCE", len(slots)),
            *(emit.op("STORE_FAST", slot) for slot in slots)]


def finished(assembler: Assembler) -> CodeType:
    """The assembled code: all loads of these versions are checked."""
    return assembler.assemble()


class SiteStack:
    """The operands that launchers at a site take.

    Args:
        emit: for the site's code.
        cfg: the control flow graph of the function.
        depth, entry_depth: number of operands that stay on the stack, and number of all operands.
        targets: the targets of the site's exits.
    """

    __slots__ = ("emit", "cfg", "depth", "slots", "inside")

    def __init__(self, emit: Emit, cfg: CFG, depth: int, entry_depth: int, targets: Sequence[int]) -> None:
        self.emit, self.cfg, self.depth = emit, cfg, depth
        #: For code between `take_off` and `put_back`.
        self.inside: Emit = emit
        #: The locals that hold the operands, by position.
        self.slots: Dict[int, int] = {position: emit.assembler.fresh_local() for position in range(depth, entry_depth)}

    def take_off(self) -> List[CodeItem]:
        """Code that stores the operands in locals."""
        return [self.emit.op("STORE_FAST", slot) for slot in reversed(list(self.slots.values()))]

    def put_back(self) -> List[CodeItem]:
        """Code that pushes them again."""
        return self.emit.put_back(list(self.slots.values()))

    def let_go(self, taken: Sequence[int]) -> List[CodeItem]:
        """Code that clears the locals; launchers have taken those at the positions `taken` as arguments."""
        return self.emit.drop(self.slots.values())

    def exit(self, target: int, stack: int, given: Dict[int, Any], in_call: bool, empty: Sequence[int]) -> "ExitStack":
        """The stack of an exit; all its items have values."""
        return ExitStack(self.emit, self.cfg, self.depth, target, stack, given, in_call)


class ExitStack:
    """Arranges the operand stack and the block stack that the target of an exit expects.

    Args:
        emit: for the exit's code.
        cfg: the control flow graph of the function.
        depth: number of operands below those that the exit leaves.
        target, stack: those of the exit; see `link.ExitPlan`.
        given: the callables that create items, by position.
        in_call: whether a call follows; see `stack_of`.
    """

    __slots__ = ("emit", "cfg", "depth", "target", "stack", "given", "in_call", "stubs")

    def __init__(self, emit: Emit, cfg: CFG, depth: int, target: int, stack: int, given: Dict[int, Any],
                 in_call: bool) -> None:
        self.emit, self.cfg = emit, cfg
        self.depth, self.target, self.stack, self.given, self.in_call = depth, target, stack, given, in_call
        self.stubs: List[Tuple[Label, Label]] = []

    def arrange(self) -> List[CodeItem]:
        """Pop and push blocks of try statements, and those of loops (3.7), and create the given items."""
        emit, cfg = self.emit, self.cfg
        have, want = [[block for block in cfg.block_stack[index] or () if block.kind != "handler"]
                      for index in (cast(int, emit.index), self.target)]
        if self.in_call and entered_after_call(cfg, self.target) is not None:
            want.pop()
        common = 0
        while common < min(len(have), len(want)) and have[common] == want[common]:
            common += 1
        if common == len(have) == len(want) and not self.given:
            return []
        slots = [emit.assembler.fresh_local() for _ in range(self.stack)]
        items: List[CodeItem] = [emit.op("STORE_FAST", slot) for slot in slots]
        items += [emit.op("POP_BLOCK") for _ in have[common:]]
        position, missing = self.depth, want[common:]
        while missing or slots:
            if missing and missing[0].level <= position:
                block = missing.pop(0)
                items.append(emit.op(setup_of(cfg, block), self._forwards(block.handler)))
                continue
            items += item_of(emit, slots.pop(), self.given.get(position))
            position += 1
        return items

    def after_call(self, emit: Emit) -> List[CodeItem]:
        """Like `after_call` of this module; the setup may come after the block's handler in the code."""
        entered = entered_after_call(self.cfg, self.target)
        return [] if entered is None else _setup_below(emit, self.cfg, entered, self._forwards(entered.handler))

    def epilogue(self) -> List[CodeItem]:
        """Code that has to follow the exit's code: jumps to handlers."""
        return [item for stub, handler in self.stubs for item in (stub, self.emit.jump(handler))]

    def _forwards(self, handler: int) -> Label:
        """A label for an instruction, or for a jump to it from after the exit: setups cannot lead backwards."""
        label = self.emit.assembler.inserted(handler)
        if handler > cast(int, self.emit.index):
            return label
        self.stubs.append((Label("stub"), label))
        return self.stubs[-1][0]


def moved_away(emit: Emit, cfg: CFG, header: int, make: Callable[[int], Any]) -> List[CodeItem]:
    """Code that makes an OSR check and returns its answer unless that is None; see `osr`."""
    stack, move, stays, on = emit.assembler.local(STACK), emit.assembler.local(MOVE), Label("no move"), Label("go on")
    check = make(stack)
    return [*emit.if_item(check, [
        *emit.call(check), *emit.if_none(stays), emit.op("STORE_FAST", move),
        emit.op("BUILD_TUPLE", cfg.stack_depth[header]), emit.op("STORE_FAST", stack), emit.op("LOAD_FAST", move),
        emit.op("RETURN_VALUE"), stays, emit.op("POP_TOP"), emit.jump_over(on)]), on]


def to_go_on(linked: CodeType) -> Any:
    """The answer for an OSR check: the code that continues the call, and its local for the operand stack."""
    return linked, linked.co_varnames.index(STACK)


def has_site(instr: Instr) -> bool:
    """True: the frame of any call can be announced to the hook."""
    return True


def announcement(emit: Emit, cfg: CFG, callable: Any) -> List[CodeItem]:
    """Code that announces that an instruction is about to call a function that is compiled on its own."""
    return [*emit.call(callable), emit.op("POP_TOP")]


def handled_at(cfg: CFG, target: int) -> int:
    """`target` itself: exits lead to before the end of a with statement; see `context_managers.again_at`."""
    return target
