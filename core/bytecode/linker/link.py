"""The linker: rewrites a code object so that its segments run as kernels, and keeps the original bytecode.

`entries.linked_code` calls `link` for each entry, and `warm_up` for code with OSR checks only.
See docs/design.md, "Linked code". A *site* is an instruction where one or more segments begin. Its launchers are tried
in order; if all of them return MISS, the original instructions run.
"""

from __future__ import annotations

from types import CodeType
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple, Union

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
from pijit.core.bytecode.codec.encode import Assembler, CodeItem, Label
from pijit.core.bytecode.linker.continuation import Announce, Continuation, call_and_drop, call_continuation
from pijit.core.bytecode.linker.deferred_warning import FlagReport, call_report
from pijit.core.bytecode.linker.osr import Given, add_osr_check, add_start
from pijit.core.named_tuples import NamedTuple

MISS = -1


class ExitPlan(NamedTuple):
    """The actions of linked code at one exit: target, locals to store, number of stack items, side exit or not.

    A value that only the launcher needs has None as its local.

    At a ``poll`` exit the interpreter handles the requests for which the kernel left, after all values are stored.
    Control continues at the re-entry with the key ``reentry``, if there is one, else at the target. Before that,
    ``rest``, if there is one, runs on the top item of the stack, and its result replaces that item. ``given`` are
    stack items that linked code creates. ``deleted`` are the locals that lose their values. ``empty`` are the
    positions of stack items without a value; see `Exit`.
    """

    target: int
    locals: Tuple[Optional[str], ...]
    stack: int
    side: bool
    poll: bool = False
    reentry: Any = None
    rest: Union[Continuation, FlagReport, None] = None
    given: Tuple[Given, ...] = ()
    deleted: Tuple[str, ...] = ()
    empty: Tuple[int, ...] = ()


def held_back(plans: List[ExitPlan]) -> Dict[int, int]:
    """Append a poll exit for each exit that stores values. Returns the new exits' numbers by exit number.

    The launcher uses the poll exit if a request is pending: otherwise the interpreter would handle the request before
    the locals are stored.
    """
    numbers = {}
    for number, plan in enumerate(list(plans)):
        if (any(plan.locals) or plan.given or plan.deleted) and not plan.poll:
            numbers[number] = len(plans)
            plans.append(plan._replace(poll=True))
    return numbers


class Call(NamedTuple):
    """One launcher at a site: the callable, its arguments (kinds "local", "stack", "cell"), its exits by number.

    Exit 0 is the usual one, and linked code tests for it first. Its number is the only false one; from 3.11 on the
    launcher returns None instead. ``numbers`` has the index in ``exits`` of each exit of the kernel. If the call is
    ``bare``, the result is the only value of exit 0, or a tuple that says it is a mapping.
    """

    callable: Any
    arguments: Tuple[Tuple[str, Any], ...]
    width: int
    exits: Tuple[ExitPlan, ...]
    numbers: Tuple[int, ...] = ()
    bare: bool = False


class Landing(NamedTuple):
    """The instruction after an exit, for a caller that supplies the exit's values itself.

    ``last`` is the offset of the previous instruction. ``slots`` are the slots of the locals, or -1 for none.
    ``stack`` is the number of values left for the operand stack.
    """

    last: int
    slots: Tuple[int, ...]
    stack: int


Landings = Dict[Any, Tuple[Optional[Landing], ...]]
"""Landings of the kernel's exits for each launcher at the function's first instruction, by the launcher's callable.
An exit at which linked code does more than store values has None."""


class Site(NamedTuple):
    """An instruction where segments begin; stack items from ``depth`` to ``entry_depth`` are taken off the stack.

    The site of a re-entry may have a ``gate``: an iterator that tells bytecode whether to enter the kernel.
    """

    index: int  # type: ignore[assignment]  # hides tuple.index
    depth: int
    entry_depth: int
    calls: Tuple[Call, ...]
    gate: Any = None


class ValueProbe(NamedTuple):
    """Observe the value that instruction ``index`` pushes: ``observer(value)`` is called after it.

    If the instruction unpacks a sequence, ``observer`` gets a tuple of the ``unpacked`` values.
    """

    index: int  # type: ignore[assignment]  # hides tuple.index
    observer: Any
    unpacked: Optional[int] = None


def link(cfg: CFG, sites: Sequence[Site], probes: Sequence[ValueProbe],
         reentries: Optional[Dict[Any, Site]] = None, osr_checks: Optional[Dict[int, Callable[[int], Any]]] = None,
         start: Optional[int] = None, calls: Optional[Dict[int, Any]] = None,
         landings: Optional[Landings] = None, announce: Announce = lambda callees: None) -> CodeType:
    """Write the linked code object.

    Arguments:
        reentries: sites that exits and gates lead to, by key.
        osr_checks: for each loop header, the function that makes its OSR check; see `add_osr_check`.
        start: the loop header where the code begins, for a call that moves to it.
        calls: for each instruction that calls a function compiled on its own, the callable to call right before it.
        landings: a dict that is filled.
        announce: returns the callable to call before calls in continuations.

    Raises:
        ValueError: the edited code does not verify.
    """
    assembler = Assembler(cfg.function)
    reentry_labels = {key: Label("reentry at %d" % site.index) for key, site in (reentries or {}).items()}
    if start is not None:
        back = [key for key, site in (reentries or {}).items() if site.index == start]
        add_start(assembler, cfg, start, reentry_labels[max(back)] if back else assembler.inserted(start))
    for probe in probes:
        _add_probe(assembler, probe)
    for header, make in (osr_checks or {}).items():
        add_osr_check(assembler, cfg, header, make)
    announced = {index: Label("call at %d" % index) for index in calls or {}}
    beginning: List[CodeItem] = []
    writers = [_SiteWriter(cfg, assembler, site, reentry_labels, announced, announce, beginning) for site in sites]
    for writer in writers:
        assembler.insert(writer.site.index, writer.write())
    for index, callable in (calls or {}).items():
        assembler.insert(index, [announced[index]] + announcement(Emit(assembler, index, columns=True), cfg, callable))
    for key, site in (reentries or {}).items():
        writer = _SiteWriter(cfg, assembler, site, reentry_labels, announced, announce, beginning)
        if site.gate is not None:
            assembler.insert(site.index, writer.emit.if_item(site.gate, [writer.emit.jump(reentry_labels[key])]))
        written = writer.write()  # this appends to ``beginning``
        beginning += [reentry_labels[key]] + written + [writer.emit.jump(assembler.original(site.index))]
    if beginning:  # before all other code, because handler setups can only lead forwards
        over, first = Label("over the beginning"), assembler.first_place()
        assembler.insert(first, [Emit(assembler, first).jump_over(over)] + beginning + [over], redirect=False)
    code = finished(assembler)
    if landings is not None and LANDINGS:
        for writer in writers:
            landings.update(writer.landings())
    return code


def _add_probe(assembler: Assembler, probe: ValueProbe) -> None:
    emit, count = Emit(assembler, probe.index), probe.unpacked
    observe = emit.observe(probe.observer)
    if count is not None:  # each packing reverses the values
        pack, unpack = emit.op("BUILD_TUPLE", count), emit.op("UNPACK_SEQUENCE", count)
        observe = [pack, unpack, pack] + observe + [unpack]
    assembler.insert(probe.index + 1, observe, redirect=False)


class _SiteWriter:
    """The code of one site.

    ``announced`` has the labels of instructions that begin with the announcement of their call. ``beginning`` collects
    the code that calls continuations.
    """

    def __init__(self, cfg: CFG, assembler: Assembler, site: Site, reentry_labels: Dict[Any, Label],
                 announced: Dict[int, Label], announce: Announce, beginning: List[CodeItem]) -> None:
        self.cfg = cfg
        self.reentry_labels = reentry_labels
        self.announced, self.announce = announced, announce
        self.assembler = assembler
        self.site = site
        self.emit = Emit(assembler, site.index)
        self.items: List[CodeItem] = []
        self.beginning = beginning
        targets = [plan.target for call in site.calls for plan in call.exits]
        self.stack = SiteStack(self.emit, cfg, site.depth, site.entry_depth, targets)
        self.emit = self.stack.inside
        self.taken = [name for call in site.calls for kind, name in call.arguments if kind == "stack"]

    def op(self, name: str, arg: Any = None) -> None:
        self.items.append(self.emit.op(name, arg))

    def write(self) -> List[CodeItem]:
        self.items += self.stack.take_off()
        for call in self.site.calls:
            self._call(call)
        self.items += self.stack.put_back()
        return self.items

    def _call(self, call: Call) -> None:
        missed, others = Label("missed"), Label("others")
        self.items += self.emit.call(call.callable, [self._argument(kind, name) for kind, name in call.arguments])
        if call.bare:
            several = Label("several values")
            self.items += self.emit.if_mapping(several)
            self._exit(call._replace(width=1), call.exits[0])
            self.items.append(several)
        self.op("UNPACK_SEQUENCE", call.width + 1)
        self.items += self.emit.unless_usual(others)
        self._exit(call, call.exits[0])
        self.items.append(others)
        self._other_exits(call, missed)
        self.items.append(missed)

    def _argument(self, kind: str, name: Any) -> CodeItem:
        if kind in ("cell", "closure"):
            return self.emit.cell(name)
        if kind == "stack":
            return self.emit.operand(self.stack.slots[name])
        return self.emit.op("LOAD_FAST", self.assembler.local(name))

    def _other_exits(self, call: Call, missed: Label) -> None:
        """The code for all results except the usual one; the exit number is on top of the stack."""
        self._search(call, [MISS] + list(range(1, len(call.exits))), missed)

    def _search(self, call: Call, numbers: List[int], missed: Label) -> None:
        """Find the exit among sorted numbers by binary search."""
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
        in_call = isinstance(plan.rest, Continuation)
        stack = self.stack.exit(plan.target, plan.stack, dict(plan.given), in_call, plan.empty)
        self.items += stack.arrange()
        self.items += self.stack.let_go(self.taken)
        if isinstance(plan.rest, FlagReport):
            emit = Emit(self.assembler, plan.target - 1, columns=True)
            shown = call_and_drop(emit, natives.resume()) if plan.poll else []
            self._call_from_the_beginning(shown + call_report(emit, plan.rest), plan.target, emit)
        elif plan.rest is not None:
            emit = Emit(self.assembler, plan.target - 1, columns=True)
            items = call_continuation(emit, plan.rest, self.announce)
            self._call_from_the_beginning(items + stack.after_call(emit), plan.target, emit)
        elif plan.poll:
            self._handle_requests(plan)
        else:
            self.items.append(self.emit.jump(self._label_after(plan)))
        self.items += stack.epilogue()

    def _call_from_the_beginning(self, items: List[CodeItem], target: int, emit: Emit) -> None:
        """Call Python code and continue at an instruction. The code is placed before all other code.

        The callee may switch on tracing, and tracers see a line event again after a backward jump.
        """
        begin = Label("call before %d" % target)
        self.items.append(self.emit.jump(begin))
        self.beginning += [begin] + items + [emit.jump(self.assembler.inserted(target))]

    def _label_after(self, plan: ExitPlan) -> Label:
        """The label at which control continues after an exit."""
        if plan.reentry in self.reentry_labels:
            return self.reentry_labels[plan.reentry]
        if not plan.side:
            return self.assembler.inserted(plan.target)
        return self.announced.get(plan.target) or self.assembler.original(plan.target)

    def landings(self) -> Landings:
        """The landings of the site, in code that has been assembled."""
        return {call.callable: tuple(self._landing(call.exits[number]) for number in call.numbers)
                for call in self.site.calls if self.site.index == 0}

    def _landing(self, plan: ExitPlan) -> Optional[Landing]:
        more = plan.poll or plan.rest is not None or plan.given or plan.deleted
        if more or self.stack.slots or self.cfg.block_stack[plan.target]:
            return None
        slots = tuple(-1 if name is None else self.assembler.local(name) for name in plan.locals)
        offset = self.assembler.offset(self._label_after(plan))
        return Landing(offset - 2, slots, plan.stack) if offset else None

    def _handle_requests(self, plan: ExitPlan) -> None:
        """Let the interpreter handle requests, which it does after a call; the line is that of the resume point."""
        emit = Emit(self.assembler, handled_at(self.cfg, plan.target))
        items = call_and_drop(emit, natives.resume()) + [emit.jump(self._label_after(plan))]
        if REQUESTS_APART:
            begin = Label("requests before %d" % plan.target)
            self.items.append(self.emit.jump(begin))
            self.beginning += [begin] + items
        else:
            self.items += items
