"""Rewrites a code object so that its segments run as kernels: launcher calls in place, original bytecode kept.

See docs/design.md, "Linked code". A *site* is an instruction where one or more segments begin; its launchers are
tried in order, and when all of them answer MISS the original instructions run.
"""

from __future__ import annotations

import dis
from types import CodeType
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple, Union

from pijit.core._launcher import resume
from pijit.core.bytecode.blocks import CFG
from pijit.core.bytecode.encode import Assembler, Item, Label, Op
from pijit.core.bytecode.linetable import LINE_TABLE_FIELD
from pijit.core.bytecode.moves import Given, add_mover, add_start, entered_behind, item_of, setup_below, setup_of
from pijit.core.bytecode.report import Report, call_report
from pijit.core.bytecode.rest import Announce, Rest, announcement, call_rest

MISS = -1
LESS = dis.cmp_op.index("<")


class ExitPlan(NamedTuple):
    """What linked code does at one exit: the target, the locals to store, how many stack items stay, side or not.

    A value that is for the launcher alone has None as its local.

    At a ``poll`` exit the interpreter does, with everything in place, what the kernel has left for. Control goes on
    at the re-entry with the key ``way``, if there is one, else at the target. Before that ``rest``, if there is one,
    runs on the top item of the stack, and its result takes that item's place. ``given`` are the items that are made,
    ``deleted`` the locals that lose their values, ``empty`` the positions of stack items without a value: see `Exit`.
    """

    target: int
    locals: Tuple[Optional[str], ...]
    stack: int
    side: bool
    poll: bool = False
    way: Any = None
    rest: Union[Rest, Report, None] = None
    given: Tuple[Given, ...] = ()
    deleted: Tuple[str, ...] = ()
    empty: Tuple[int, ...] = ()


def held_back(plans: List[ExitPlan]) -> Dict[int, int]:
    """Append the plans of exits at which a request has come that must wait for the locals; by exit, their numbers.

    The interpreter would look for requests before the locals are stored.
    """
    numbers = {}
    for number, plan in enumerate(list(plans)):
        if (any(plan.locals) or plan.given or plan.deleted) and not plan.poll:
            numbers[number] = len(plans)
            plans.append(plan._replace(poll=True))
    return numbers


class Call(NamedTuple):
    """One launcher at a site: the callable, its arguments (kinds "local", "stack", "cell"), its exits by number.

    Exit 0 is the usual one: its number is the only false one, and that is all that the linked code asks first.
    ``numbers`` are those of the kernel's exits.
    """

    callable: Any
    arguments: Tuple[Tuple[str, Any], ...]
    width: int
    exits: Tuple[ExitPlan, ...]
    numbers: Tuple[int, ...] = ()


class Landing(NamedTuple):
    """Where linked code goes on behind an exit, for who brings the exit's values.

    ``last`` is the offset of the instruction before that, ``slots`` those of the locals (-1: of none), ``stack`` how
    many values are left.
    """

    last: int
    slots: Tuple[int, ...]
    stack: int


Landings = Dict[Any, Tuple[Optional[Landing], ...]]
"""By the callable of a call with which the function begins, those of its kernel's exits; None for one at which linked
code does more."""


class Site(NamedTuple):
    """An instruction where segments begin; stack items from ``depth`` to ``head_depth`` are taken off.

    That of a re-entry may have a ``gate``: an iterator that bytecode asks there whether to go the way.
    """

    index: int
    depth: int
    head_depth: int
    calls: Tuple[Call, ...]
    gate: Any = None


class Probe(NamedTuple):
    """Observe what instruction ``index`` pushes: ``observer(value)`` is called after it, with a tuple of the
    ``unpacked`` values if it takes something apart."""

    index: int
    observer: Any
    unpacked: Optional[int] = None


def link(cfg: CFG, sites: Sequence[Site], probes: Sequence[Probe],
         reentries: Optional[Dict[Any, Site]] = None, movers: Optional[Dict[int, Callable[[int], Any]]] = None,
         start: Optional[int] = None, calls: Optional[Dict[int, Any]] = None,
         landings: Optional[Landings] = None, announce: Announce = lambda callees: None) -> CodeType:
    """The linked code object.

    Arguments:
        reentries: sites that exits and their gates lead to, by their key.
        movers: what makes the movers of loop headers, see `moves`.
        start: the loop header where the code begins, for a call that moves to it.
        calls: what is called right before an instruction that calls a function which is compiled on its own.
        landings: filled.
        announce: what is called before calls in the rests of callees.

    Raises:
        ValueError: the edited code does not verify.
    """
    assembler = Assembler(cfg.function)
    ways = {key: Label("reentry at %d" % site.index) for key, site in (reentries or {}).items()}
    if start is not None:
        back = [key for key, site in (reentries or {}).items() if site.index == start]
        add_start(assembler, cfg, start, ways[max(back)] if back else assembler.inserted(start))
    for probe in probes:
        _add_probe(assembler, probe)
    for header, make in (movers or {}).items():
        add_mover(assembler, cfg, header, make)
    announced = {index: Label("call at %d" % index) for index in calls or {}}
    beginning: List[Item] = []
    writers = [_Writer(cfg, assembler, site, ways, announced, announce, beginning) for site in sites]
    for writer in writers:
        assembler.insert(writer.site.index, writer.write())
    for index, callable in (calls or {}).items():
        assembler.insert(index, [announced[index]] + announcement(assembler, index, callable))
    for key, site in (reentries or {}).items():
        writer = _Writer(cfg, assembler, site, ways, announced, announce, beginning)
        if site.gate is not None:
            assembler.insert(site.index, _gate(assembler, site.gate, ways[key], writer.line))
        written = writer.write()  # which appends to ``beginning``
        beginning += [ways[key]] + written + [Op("JUMP_ABSOLUTE", assembler.original(site.index), writer.line)]
    if beginning:  # before all other code, since setups only lead forwards
        over = Label("over the beginning")
        assembler.insert(0, [Op("JUMP_FORWARD", over, cfg.function.instructions[0].lineno)] + beginning + [over],
                         redirect=False)
    code = assembler.assemble()
    if landings is not None:
        for writer in writers:
            landings.update(writer.landings())
    return code


def _add_probe(assembler: Assembler, probe: Probe) -> None:
    line, count = assembler.function.instructions[probe.index].lineno, probe.unpacked
    pack, unpack = Op("BUILD_TUPLE", count, line), Op("UNPACK_SEQUENCE", count, line)
    observe = [Op("DUP_TOP", None, line), Op("LOAD_CONST", assembler.const(probe.observer), line),
               Op("ROT_TWO", None, line), Op("CALL_FUNCTION", 1, line), Op("POP_TOP", None, line)]
    if count is not None:  # each packing turns the values round
        observe = [pack, unpack, pack] + observe + [unpack]
    assembler.insert(probe.index + 1, observe, redirect=False)


def _gate(assembler: Assembler, gate: Any, way: Label, line: Optional[int]) -> List[Item]:
    on = Label("gate is shut")
    return [Op("LOAD_CONST", assembler.const(gate), line), Op("FOR_ITER", on, line), Op("POP_TOP", None, line),
            Op("POP_TOP", None, line), Op("JUMP_ABSOLUTE", way, line), on]


class _Writer:
    """The code of one site; ``announced`` is where instructions begin with the announcement of their call, and
    ``beginning`` gets the code that calls the rests of callees."""

    def __init__(self, cfg: CFG, assembler: Assembler, site: Site, ways: Dict[Any, Label],
                 announced: Dict[int, Label], announce: Announce, beginning: List[Item]) -> None:
        self.cfg = cfg
        self.ways = ways
        self.announced, self.announce = announced, announce
        self.assembler = assembler
        self.site = site
        self.line = cfg.function.instructions[site.index].lineno
        self.items: List[Item] = []
        self.beginning = beginning
        self.spilled: Dict[int, int] = {position: assembler.fresh_local()
                                        for position in range(site.depth, site.head_depth)}

    def op(self, name: str, arg: Any = None) -> None:
        self.items.append(Op(name, arg, self.line))

    def write(self) -> List[Item]:
        for position in reversed(range(self.site.depth, self.site.head_depth)):
            self.op("STORE_FAST", self.spilled[position])
        for call in self.site.calls:
            self._call(call)
        for position in range(self.site.depth, self.site.head_depth):
            self.op("LOAD_FAST", self.spilled[position])
        self._drop_spilled()
        return self.items

    def _call(self, call: Call) -> None:
        missed = Label("missed")
        self.op("LOAD_CONST", self.assembler.const(call.callable))
        for kind, name in call.arguments:
            if kind in ("cell", "closure"):
                self.op("LOAD_CLOSURE", name)
            else:
                self.op("LOAD_FAST", self.spilled[name] if kind == "stack" else self.assembler.local(name))
        self.op("CALL_FUNCTION", len(call.arguments))
        self.op("UNPACK_SEQUENCE", call.width + 1)
        others = Label("others")
        self.op("JUMP_IF_TRUE_OR_POP", others)
        self._exit(call, call.exits[0])
        self.items.append(others)
        self._other_exits(call, missed)
        self.items.append(missed)

    def _other_exits(self, call: Call, missed: Label) -> None:
        """What follows any answer but the usual one; the exit id is on top."""
        self._search(call, [MISS] + list(range(1, len(call.exits))), missed)

    def _search(self, call: Call, numbers: List[int], missed: Label) -> None:
        """Find the exit among sorted numbers by halving."""
        if len(numbers) > 1:
            middle, below = len(numbers) // 2, Label("below")
            self.op("DUP_TOP")
            self.op("LOAD_CONST", self.assembler.const(numbers[middle]))
            self.op("COMPARE_OP", LESS)
            self.op("POP_JUMP_IF_TRUE", below)
            self._search(call, numbers[middle:], missed)
            self.items.append(below)
            self._search(call, numbers[:middle], missed)
        elif numbers[0] == MISS:
            for _ in range(call.width + 1):
                self.op("POP_TOP")
            self.op("JUMP_ABSOLUTE", missed)
        else:
            self.op("POP_TOP")
            self._exit(call, call.exits[numbers[0]])

    def _exit(self, call: Call, plan: ExitPlan) -> None:
        for _ in range(call.width - len(plan.locals) - plan.stack):
            self.op("POP_TOP")
        for name in plan.locals:
            if name is None:
                self.op("POP_TOP")
            else:
                self.op("STORE_FAST", self.assembler.local(name))
        for name in plan.deleted:
            self._delete(name)
        stubs = self._mend_blocks(plan)
        self._drop_spilled()
        if isinstance(plan.rest, Report):
            line = self.cfg.function.instructions[plan.target - 1].lineno
            shown = self._shown_requests(line) if plan.poll else []
            self._call_from_the_beginning(shown + call_report(self.assembler, plan.rest, line), plan.target, line)
        elif plan.rest is not None:
            line = self.cfg.function.instructions[plan.target - 1].lineno
            items = call_rest(self.assembler, plan.rest, line, self.announce)
            entered = entered_behind(self.cfg, plan.target)
            if entered is not None:
                handler = self._forwards(entered.handler, stubs)
                items += setup_below(self.assembler, self.cfg, entered, handler, line)
            self._call_from_the_beginning(items, plan.target, line)
        elif plan.poll:
            self._handle_requests(plan)
        else:
            self.op("JUMP_ABSOLUTE", self._behind(plan))
        for stub, handler in stubs:
            self.items.append(stub)
            self.op("JUMP_ABSOLUTE", handler)

    def _delete(self, name: str) -> None:
        """Leave a local without a value, whether it has one or not."""
        self.op("LOAD_CONST", self.assembler.const(None))
        self.op("STORE_FAST", self.assembler.local(name))
        self.op("DELETE_FAST", self.assembler.local(name))

    def _call_from_the_beginning(self, items: List[Item], target: int, line: Optional[int]) -> None:
        """Call Python code and go on at an instruction. What is called may switch on tracing, which tells of a line
        again where a jump leads backwards: so the code stands before all other."""
        begin = Label("call in front of %d" % target)
        self.op("JUMP_ABSOLUTE", begin)
        self.beginning += [begin] + items + [Op("JUMP_ABSOLUTE", self.assembler.inserted(target), line)]

    def _behind(self, plan: ExitPlan) -> Label:
        """Where control goes on behind an exit."""
        if plan.way in self.ways:
            return self.ways[plan.way]
        if not plan.side:
            return self.assembler.inserted(plan.target)
        return self.announced.get(plan.target) or self.assembler.original(plan.target)

    def landings(self) -> Landings:
        """Those of the site, in code that has been assembled."""
        return {call.callable: tuple(self._landing(call.exits[number]) for number in call.numbers)
                for call in self.site.calls if self.site.index == 0}

    def _landing(self, plan: ExitPlan) -> Optional[Landing]:
        if plan.poll or plan.rest is not None or plan.given or plan.deleted or self.spilled or self.cfg.block_stack[plan.target]:
            return None
        slots = tuple(-1 if name is None else self.assembler.local(name) for name in plan.locals)
        offset = self.assembler.offset(self._behind(plan))
        return Landing(offset - 2, slots, plan.stack) if offset else None

    def _handle_requests(self, plan: ExitPlan) -> None:
        """The interpreter looks for requests after a call; the line is where bytecode goes on.

        Before 3.10 tracing tells of a line again behind code of another one, so this code is not among the site's.
        """
        line = self.cfg.function.instructions[plan.target].lineno
        items = self._shown_requests(line) + [Op("JUMP_ABSOLUTE", self._behind(plan), line)]
        if LINE_TABLE_FIELD == "co_lnotab":
            begin = Label("requests in front of %d" % plan.target)
            self.op("JUMP_ABSOLUTE", begin)
            self.beginning += [begin] + items
        else:
            self.items += items

    def _shown_requests(self, line: Optional[int]) -> List[Item]:
        return [Op("LOAD_CONST", self.assembler.const(resume), line), Op("CALL_FUNCTION", 0, line),
                Op("POP_TOP", None, line)]

    def _drop_spilled(self) -> None:
        """Let go of the operands, as the interpreter would have."""
        for slot in self.spilled.values():
            self.op("DELETE_FAST", slot)

    def _mend_blocks(self, plan: ExitPlan) -> List[Tuple[Label, Label]]:
        """Pop and push blocks of try statements, and CPython 3.7's of loops, so that the target finds the block stack
        that it expects, and make what is to be made on the operand stack.

        Returns:
            Labels to be placed behind, and where a jump there has to lead: no setup can name what is before it.
        """
        have, want = [[block for block in self.cfg.block_stack[index] or () if block.kind != "handler"]
                      for index in (self.site.index, plan.target)]
        if isinstance(plan.rest, Rest) and entered_behind(self.cfg, plan.target) is not None:
            want.pop()
        common = 0
        while common < min(len(have), len(want)) and have[common] == want[common]:
            common += 1
        if common == len(have) == len(want) and not plan.given:
            return []
        slots = [self.assembler.fresh_local() for _ in range(plan.stack)]
        for slot in slots:
            self.op("STORE_FAST", slot)
        for _ in have[common:]:
            self.op("POP_BLOCK")
        stubs: List[Tuple[Label, Label]] = []
        position, missing, makers = self.site.depth, want[common:], dict(plan.given)
        while missing or slots:
            if missing and missing[0].level <= position:
                block = missing.pop(0)
                self.op(setup_of(self.cfg, block), self._forwards(block.handler, stubs))
                continue
            self.items += item_of(self.assembler, slots.pop(), makers.get(position), self.line)
            position += 1
        return stubs

    def _forwards(self, handler: int, stubs: List[Tuple[Label, Label]]) -> Label:
        """A label for an instruction, or for a jump there that is to be placed behind this site."""
        label = self.assembler.inserted(handler)
        if handler > self.site.index:
            return label
        stubs.append((Label("stub"), label))
        return stubs[-1][0]
