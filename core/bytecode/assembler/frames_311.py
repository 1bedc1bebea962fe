"""Operand stacks of exits, and of code that starts in the middle of a function, on CPython 3.11 and later.

A table maps positions to handlers, so an exit only has to arrange the operand stack. Code that starts in the middle
requests its values: it calls a constant, `arrive`, and unpacks the tuple that this returns::

    <code that completes the frame, RESUME>
    LOAD_CONST <arrive>; CALL 0; UNPACK_SEQUENCE m; STORE_FAST ...
    <the operand stack>; JUMP <where it begins>
"""

from __future__ import annotations

import sys
from types import CodeType, MethodType
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple, cast

from pijit.core.bytecode.analysis.blocks import CFG
from pijit.core.bytecode.analysis.definite_assignment_311 import checked, maybe_unbound
from pijit.core.bytecode.assembler import natives
from pijit.core.bytecode.assembler.emit_311 import Emit, cell_slot
from pijit.core.bytecode.codec.encode import Assembler, CodeItem, Label
from pijit.core.bytecode.instructions.instruction import Instr
from pijit.core.bytecode.instructions.names_311 import KEYWORDS_HAVE_A_SLOT, NULL_ABOVE_CALLABLE
from pijit.core.bytecode.instructions.units_311 import encoded_units

MOVE = "$move"
_THROUGH_SITES = frozenset(("CALL_FUNCTION", "CALL_FUNCTION_KW", "CALL_FUNCTION_EX", "CALL_METHOD", "CALL_METHOD_KW"))
NOTHING = "$nothing"
"""The local variable that receives empty slots; it never has a value."""
LANDINGS = False
# Code before the function's own jumps forwards to the resume point: tracing reports a line again after a backward jump.
REQUESTS_APART = True


def finished(assembler: Assembler) -> CodeType:
    """The assembled code; loads that new code has made unsafe become checked loads."""
    code = assembler.assemble()
    return checked(code, assembler.assembled)


def stack_layout(cfg: CFG, index: int) -> List[Optional[int]]:
    """The operand stack of an instruction, from the bottom on.

    Args:
        cfg: of a function in normal form.
        index: the instruction.

    Returns:
        The position of each item in the normal form, or None for an empty slot beside a callable.
    """
    operands = cfg.function.operands
    if operands is None or operands.depths[index] is None:
        raise ValueError("the operand stack of {!r} is not known".format(cfg.function.instructions[index]))
    empty = set(operands.nulls[index])
    positions = iter(range(cfg.stack_depth[index] or 0))
    return [None if place in empty else next(positions) for place in range(operands.depths[index] or 0)]


def _pushed(emit: Emit, target: int, layout: Sequence[Optional[int]], base: int, slots: Dict[int, int],
            given: Dict[int, Any]) -> List[CodeItem]:
    """Code that pushes the values of locals, and empty slots, above the lowest `base` items of an operand stack."""
    at_target = Emit(emit.assembler, target)
    at_target.line = emit.line
    items: List[CodeItem] = []
    for place in range(base, len(layout)):
        position, inner = layout[place], at_target.handled_below(place)
        if position is None:
            items.append(inner.op("PUSH_NULL"))
        else:
            item = inner.put_back([slots[position]])
            items += item if position not in given else inner.call_starred(given[position], item)
    return items


def stack_of(emit: Emit, cfg: CFG, index: int, slots: Sequence[int], given: Optional[Dict[int, Any]] = None,
             in_call: bool = False) -> List[CodeItem]:
    """Code that restores the operand stack of an instruction from locals.

    ``given`` has the callables that create items, by position; the locals then hold tuples of their arguments.
    ``in_call``: the top item is the operand of a pending call.
    """
    return _pushed(emit, index, stack_layout(cfg, index), 0, dict(enumerate(slots)), given or {})


def after_call(emit: Emit, cfg: CFG, target: int) -> List[CodeItem]:
    """Nothing: the handler of a with statement is found by position."""
    return []


def arrived(emit: Emit, names: Sequence[str], slots: Sequence[int]) -> List[CodeItem]:
    """Code that requests the values of variables and new locals, in this order, and stores them.

    Arguments of the function that are not among them lose the values with which they were called.
    """
    code = emit.assembler.function.code
    first = emit.handled_below(0)
    items = [*first.call(natives.arrive()), first.op("UNPACK_SEQUENCE", len(names) + len(slots))]
    items += [_stored(first, code, name) for name in names] + [first.op("STORE_FAST", slot) for slot in slots]
    for name in code.co_varnames[:emit.assembler.function.argument_count]:
        if name not in names:
            items.append(_cell_op(first, code, "DELETE_DEREF", name) if name in code.co_cellvars else
                         first.op("DELETE_FAST", emit.assembler.local(name)))
    return items


def _stored(emit: Emit, code: CodeType, name: str) -> CodeItem:
    if name in code.co_cellvars:
        return _cell_op(emit, code, "STORE_DEREF", name)
    return emit.op("STORE_FAST", emit.assembler.local(name))


def _cell_op(emit: Emit, code: CodeType, opname: str, name: str) -> CodeItem:
    return emit.op(opname, cell_slot(emit.assembler, code.co_cellvars.index(name)))


def frame_slots(code: CodeType, names: Sequence[str], slots: Sequence[int]) -> Tuple[int, ...]:
    """One number for each value that `arrived` requests; the code itself decides where they are stored."""
    return tuple(range(len(names) + len(slots)))


def moved_away(emit: Emit, cfg: CFG, header: int, make: Callable[[int], Any]) -> List[CodeItem]:
    """Code that makes an OSR check. Unless the answer is None, it returns the answer's result for the operands."""
    move, stays, on = emit.assembler.local(MOVE), Label("no move"), Label("go on")
    cells = [emit.cell(number) for number in range(len(cfg.function.cellvars))]
    check = make(0)
    return [*emit.if_item(check, [
        *emit.call(check, cells), *emit.if_none(stays), emit.op("STORE_FAST", move),
        emit.op("BUILD_TUPLE", cfg.stack_depth[header]), *emit.put_back([move]), emit.op("SWAP", 2), *emit.call_pair(),
        emit.op("RETURN_VALUE"), stays, emit.op("POP_TOP"), emit.jump_over(on)]), on]


def moved_in(emit: Emit, slots: Sequence[int]) -> List[CodeItem]:
    """Code that requests and stores the values of a move: variables, cell objects, a tuple of the operands.

    The variables are all of `co_varnames`. A variable without a value, or in a cell, is `UNBOUND`.
    """
    function, first = emit.assembler.function, emit.handled_below(0)
    code, unset = function.code, maybe_unbound(function, cast(int, emit.index))
    items = [*first.call(natives.arrive()),
             first.op("UNPACK_SEQUENCE", len(function.varnames) + len(code.co_cellvars) + 1)]
    for name in function.varnames:
        items.append(
            first.op("POP_TOP") if name in code.co_cellvars else first.op("STORE_FAST", emit.assembler.local(name)))
    items += [first.op("STORE_SLOT", cell_slot(emit.assembler, number)) for number in range(len(code.co_cellvars))]
    items += [first.op("UNPACK_SEQUENCE", len(slots)), *[first.op("STORE_FAST", slot) for slot in slots]]
    for name in unset:
        bound, local = Label("%s is bound" % name), emit.assembler.local(name)
        items += [first.op("LOAD_FAST", local), first.const(natives.unbound()), first.op("IS_OP", 0),
                  *first.unless_true(bound), first.op("DELETE_FAST", local), bound]
    return items


def to_go_on(linked: CodeType) -> Any:
    """The answer for an OSR check: the code that continues the call."""
    return linked


def announcement(emit: Emit, cfg: CFG, callable: Any) -> List[CodeItem]:
    """Code before a call instruction that makes the call go through a site.

    The site takes the empty slot beside the callable. So it is called with the callable and its arguments::

        [NULL, f, args]         ->  [site, f, args]
        [m or NULL, x, args]    ->  [site, callable, args]

    A method lookup may find another callable, which has an empty slot beside it; see `_bound`. A call with a tuple of
    arguments ignores the slot. Its callable is replaced by the result of `bound` for site and callable.
    """
    instr, operands = cfg.function.instructions[cast(int, emit.index)], cfg.function.operands
    if operands is None or not has_site(instr):
        return []
    if instr.opname == "CALL_FUNCTION_EX":
        return _bound_callable(emit, bool((instr.arg or 0) & 1), callable)
    slots = [emit.assembler.fresh_local() for _ in range(_arguments(instr))]
    items: List[CodeItem] = [emit.op("STORE_FAST", slot) for slot in reversed(slots)]
    if instr.opname.startswith("CALL_METHOD") or emit.index in operands.paired_calls:
        items += _bound(emit)
    else:
        items += [emit.op("SWAP", 2)] * (not NULL_ABOVE_CALLABLE)
        items.append(emit.op("STORE_FAST", emit.assembler.local(NOTHING)))
    return items + [emit.const(callable), emit.op("SWAP", 2), *emit.put_back(slots)]


def _bound_in_tuple(emit: Emit) -> List[CodeItem]:
    """Code that makes one callable of a method and the item beside it; `bind` takes both, of which one may be empty."""
    return [emit.op("BUILD_TUPLE", 2), *emit.call_on_top(natives.bind())]


def _bound_by_call(emit: Emit) -> List[CodeItem]:
    """The same for 3.14, whose tuples cannot hold an empty slot.

    A call passes the item beside its callable as the first argument, unless the item is empty.
    """
    method, beside = emit.assembler.fresh_local(), emit.assembler.fresh_local()
    return [emit.op("STORE_FAST", beside), emit.op("STORE_FAST", method),
            *emit.call_of(emit.const(_callable_of), emit.put_back([beside, method]))]


def _callable_of(*found: Any) -> Any:
    """The result of a method lookup as one callable, from a callable alone or from an owner and its method."""
    return found[0] if len(found) == 1 else MethodType(found[1], found[0])


_bound = _bound_by_call if sys.version_info >= (3, 14) else _bound_in_tuple


def has_site(instr: Instr) -> bool:
    """Whether an instruction's call can go through a site. Operators and properties have no callable on the stack."""
    return instr.opname in _THROUGH_SITES


def _bound_callable(emit: Emit, has_keywords: bool, site: Any) -> List[CodeItem]:
    """Code that replaces the callable of a call with a tuple of arguments, and maybe a dict."""
    slots = [emit.assembler.fresh_local() for _ in range(1 + has_keywords)]
    without: List[CodeItem] = [emit.op("STORE_FAST", emit.assembler.local(NOTHING))]
    items = (without * (KEYWORDS_HAVE_A_SLOT and not has_keywords)
             + [emit.op("STORE_FAST", slot) for slot in reversed(slots)])
    items += without * NULL_ABOVE_CALLABLE
    # Call bound(callable, arguments), whose first argument is in the slot beside it.
    items += [emit.const(site.bound), emit.op("SWAP", 2), emit.op("LOAD_FAST", slots[0]), *emit.call_pair(1)]
    items += [emit.op("PUSH_NULL")] * NULL_ABOVE_CALLABLE + emit.put_back(slots)
    return items + [emit.op("PUSH_NULL")] * (KEYWORDS_HAVE_A_SLOT and not has_keywords)


def _arguments(instr: Instr) -> int:
    """Number of operands above the callable and the item beside it; keyword names count as one operand (3.13)."""
    return encoded_units(instr)[-1].raw + (instr.opname.endswith("_KW") and NULL_ABOVE_CALLABLE)


class SiteStack:
    """The operands that launchers at a site take, and the empty slots between them.

    Args:
        emit: for the site's code.
        cfg: the control flow graph of the function in normal form.
        depth, entry_depth: number of operands that stay on the stack, and number of all operands; empty slots are not
            counted.
        targets: the targets of the site's exits.

    Raises:
        ValueError: the target of an exit has other empty slots below the operands that stay.
    """

    __slots__ = ("emit", "cfg", "layout", "base", "slots", "depth", "inside")

    def __init__(self, emit: Emit, cfg: CFG, depth: int, entry_depth: int, targets: Sequence[int]) -> None:
        self.emit, self.cfg, self.depth = emit, cfg, depth
        #: The locals that hold the operands, by position.
        self.slots: Dict[int, int] = {position: emit.assembler.fresh_local() for position in range(depth, entry_depth)}
        index = cast(int, emit.index)
        self.layout = stack_layout(cfg, index)
        layouts = [stack_layout(cfg, target) for target in targets]
        self.base = self.layout.index(depth - 1) + 1 if depth else 0
        while self.base < len(self.layout) and all(
                layout[self.base:self.base + 1] == [None] for layout in [self.layout] + layouts):
            self.base += 1
        if any(layout[:self.base] != self.layout[:self.base] for layout in layouts):
            raise ValueError("an exit of the site at {!r} changes operands that stay".format(
                cfg.function.instructions[index]))
        #: For code between `take_off` and `put_back`: its handler expects no more operands than the stack has.
        self.inside: Emit = emit.handled_below(self.base)

    def take_off(self) -> List[CodeItem]:
        """Code that stores the operands in locals. An empty slot leaves its local without a value."""
        return [self.emit.op(
            "STORE_FAST", self.emit.assembler.local(NOTHING) if position is None else self.slots[position])
            for position in reversed(self.layout[self.base:])]

    def put_back(self) -> List[CodeItem]:
        """Code that pushes them again."""
        if None not in self.layout[self.base:]:
            return self.emit.put_back(list(self.slots.values()))
        return _pushed(self.emit, cast(int, self.emit.index), self.layout, self.base, self.slots, {})

    def let_go(self, taken: Sequence[int]) -> List[CodeItem]:
        """Code that clears the locals; launchers have taken those at the positions `taken` as arguments."""
        return self.emit.drop(self.slots.values(), [self.slots[position] for position in taken])

    def exit(self, target: int, stack: int, given: Dict[int, Any], in_call: bool, empty: Sequence[int]) -> "ExitStack":
        """The stack of an exit; `empty` are indices of items without a value, from the first that does not stay."""
        layout = stack_layout(self.cfg, target)
        for number in empty:
            layout[layout.index(self.depth + number)] = None
        return ExitStack(self.emit, target, layout, self.base, stack, given)


class ExitStack:
    """Arranges the operand stack that the target of an exit expects.

    Args:
        emit: for the exit's code.
        target: the target of the exit.
        layout: the layout of the operand stack at the target.
        base: number of items that stay on the stack, empty slots included.
        stack: number of operands that the exit leaves.
        given: the callables that create items, by position.
    """

    __slots__ = ("emit", "target", "layout", "base", "stack", "given")

    def __init__(self, emit: Emit, target: int, layout: List[Optional[int]], base: int, stack: int,
                 given: Dict[int, Any]) -> None:
        self.emit, self.target, self.layout = emit, target, layout
        self.base, self.stack, self.given = base, stack, given

    def arrange(self) -> List[CodeItem]:
        """Create the given items and the empty slots; no code if the exit's values are the operands already."""
        positions = self.layout[self.base:]
        if not self.given and None not in positions:
            return []
        slots = [self.emit.assembler.fresh_local() for _ in range(self.stack)]
        items: List[CodeItem] = [self.emit.op("STORE_FAST", slot) for slot in slots]
        held = dict(zip([position for position in positions if position is not None], reversed(slots)))
        return items + _pushed(self.emit, self.target, self.layout, self.base, held, self.given)

    def after_call(self, emit: Emit) -> List[CodeItem]:
        """Nothing, like `after_call` of this module."""
        return []

    def epilogue(self) -> List[CodeItem]:
        """Nothing: no code has to follow the exit's code."""
        return []


def handled_at(cfg: CFG, target: int) -> int:
    """The instruction whose handler covers exceptions that requests raise before `target`.

    After the block of a with statement, its context manager has not been exited yet. So the block's handler applies.
    """
    before = (cfg.block_stack[target - 1] if target else None) or ()
    here = cfg.block_stack[target] or ()
    return target - 1 if before and before[-1].kind == "with" and before[-1] not in here else target
