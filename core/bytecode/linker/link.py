"""Rewrites a code object so that its segments run as kernels: launcher calls in place, original bytecode kept.

See docs/design.md, "Linked code". A *site* is an instruction where one or more segments begin; its launchers are
tried in order, and when all of them answer MISS the original instructions run.
"""

from __future__ import annotations

from types import CodeType
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple, Union

from pijit.core.bytecode.analysis.blocks import CFG
from pijit.core.bytecode.assembler import natives
from pijit.core.bytecode.assembler.emit import (
    LANDINGS,
    REQUESTS_APART,
    Emit,
    SiteStack,
    announcement,
    finished,
    handled_at,
)
from pijit.core.bytecode.codec.encode import Assembler, Item, Label
from pijit.core.bytecode.linker.continuation import Announce, Rest, call_and_drop, call_rest
from pijit.core.bytecode.linker.deferred_warning import Report, call_report
from pijit.core.bytecode.linker.osr import Given, add_mover, add_start

MISS = -1


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

    Exit 0 is the usual one, and whether it is that is all that the linked code asks first. Its number is the only false
    one; from 3.11 on the launcher answers None in its place.
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
        assembler.insert(index, [announced[index]] + announcement(Emit(assembler, index, columns=True), cfg, callable))
    for key, site in (reentries or {}).items():
        writer = _Writer(cfg, assembler, site, ways, announced, announce, beginning)
        if site.gate is not None:
            assembler.insert(site.index, writer.emit.gate(site.gate, ways[key]))
        written = writer.write()  # which appends to ``beginning``
        beginning += [ways[key]] + written + [writer.emit.jump(assembler.original(site.index))]
    if beginning:  # before all other code, since setups only lead forwards
        over, first = Label("over the beginning"), assembler.first_place()
        assembler.insert(first, [Emit(assembler, first).jump_over(over)] + beginning + [over], redirect=False)
    code = finished(assembler)
    if landings is not None and LANDINGS:
        for writer in writers:
            landings.update(writer.landings())
    return code


def _add_probe(assembler: Assembler, probe: Probe) -> None:
    emit, count = Emit(assembler, probe.index), probe.unpacked
    observe = emit.observe(probe.observer)
    if count is not None:  # each packing turns the values round
        pack, unpack = emit.op("BUILD_TUPLE", count), emit.op("UNPACK_SEQUENCE", count)
        observe = [pack, unpack, pack] + observe + [unpack]
    assembler.insert(probe.index + 1, observe, redirect=False)


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
        self.emit = Emit(assembler, site.index)
        self.items: List[Item] = []
        self.beginning = beginning
        targets = [plan.target for call in site.calls for plan in call.exits]
        self.stack = SiteStack(self.emit, cfg, site.depth, site.head_depth, targets)
        self.emit = self.stack.inside
        self.taken = [name for call in site.calls for kind, name in call.arguments if kind == "stack"]

    def op(self, name: str, arg: Any = None) -> None:
        self.items.append(self.emit.op(name, arg))

    def write(self) -> List[Item]:
        self.items += self.stack.take_off()
        for call in self.site.calls:
            self._call(call)
        self.items += self.stack.put_back()
        return self.items

    def _call(self, call: Call) -> None:
        missed, others = Label("missed"), Label("others")
        self.items += self.emit.call(call.callable, [self._argument(kind, name) for kind, name in call.arguments])
        self.op("UNPACK_SEQUENCE", call.width + 1)
        self.items += self.emit.unless_usual(others)
        self._exit(call, call.exits[0])
        self.items.append(others)
        self._other_exits(call, missed)
        self.items.append(missed)

    def _argument(self, kind: str, name: Any) -> Item:
        if kind in ("cell", "closure"):
            return self.emit.cell(name)
        if kind == "stack":
            return self.emit.operand(self.stack.slots[name])
        return self.emit.op("LOAD_FAST", self.assembler.local(name))

    def _other_exits(self, call: Call, missed: Label) -> None:
        """What follows any answer but the usual one; the exit id is on top."""
        self._search(call, [MISS] + list(range(1, len(call.exits))), missed)

    def _search(self, call: Call, numbers: List[int], missed: Label) -> None:
        """Find the exit among sorted numbers by halving."""
        if len(numbers) > 1:
            middle, below = len(numbers) // 2, Label("below")
            self.items += self.emit.if_below(numbers[middle], below)
            self._search(call, numbers[middle:], missed)
            self.items.append(below)
            self._search(call, numbers[:middle], missed)
        elif numbers[0] == MISS:
            for _ in range(call.width + 1):
                self.op("POP_TOP")
            self.items.append(self.emit.jump(missed))
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
            self.items += self.emit.unset(self.assembler.local(name))
        stack = self.stack.exit(plan.target, plan.stack, dict(plan.given), isinstance(plan.rest, Rest), plan.empty)
        self.items += stack.arrange()
        self.items += self.stack.let_go(self.taken)
        if isinstance(plan.rest, Report):
            emit = Emit(self.assembler, plan.target - 1, columns=True)
            shown = call_and_drop(emit, natives.resume()) if plan.poll else []
            self._call_from_the_beginning(shown + call_report(emit, plan.rest), plan.target, emit)
        elif plan.rest is not None:
            emit = Emit(self.assembler, plan.target - 1, columns=True)
            items = call_rest(emit, plan.rest, self.announce)
            self._call_from_the_beginning(items + stack.after_call(emit), plan.target, emit)
        elif plan.poll:
            self._handle_requests(plan)
        else:
            self.items.append(self.emit.jump(self._behind(plan)))
        self.items += stack.behind()

    def _call_from_the_beginning(self, items: List[Item], target: int, emit: Emit) -> None:
        """Call Python code and go on at an instruction. What is called may switch on tracing, which tells of a line
        again where a jump leads backwards: so the code stands before all other."""
        begin = Label("call in front of %d" % target)
        self.items.append(self.emit.jump(begin))
        self.beginning += [begin] + items + [emit.jump(self.assembler.inserted(target))]

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
        more = plan.poll or plan.rest is not None or plan.given or plan.deleted
        if more or self.stack.slots or self.cfg.block_stack[plan.target]:
            return None
        slots = tuple(-1 if name is None else self.assembler.local(name) for name in plan.locals)
        offset = self.assembler.offset(self._behind(plan))
        return Landing(offset - 2, slots, plan.stack) if offset else None

    def _handle_requests(self, plan: ExitPlan) -> None:
        """The interpreter looks for requests after a call; the line is where bytecode goes on."""
        emit = Emit(self.assembler, handled_at(self.cfg, plan.target))
        items = call_and_drop(emit, natives.resume()) + [emit.jump(self._behind(plan))]
        if REQUESTS_APART:
            begin = Label("requests in front of %d" % plan.target)
            self.items.append(self.emit.jump(begin))
            self.beginning += [begin] + items
        else:
            self.items += items
