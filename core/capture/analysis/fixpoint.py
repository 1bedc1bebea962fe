"""Type propagation: abstract states are propagated through a function until a fixed point is reached.

Blocks are versioned by types (lazy basic block versioning, Chevalier-Boisvert and Feeley 2015). Take ``s``, an int
before a loop and a float64 inside. Its types have no common form, so the loop's blocks get a second version. Thereby
the first iteration of a loop is peeled exactly where that keeps types certain.
"""

from __future__ import annotations

from typing import Any, Dict, FrozenSet, List, Optional, Set, Tuple, cast

from pijit.core.bytecode.analysed_code import AnalysedCode
from pijit.core.bytecode.analysis.blocks import BasicBlock
from pijit.core.bytecode.analysis.liveness import Liveness
from pijit.core.bytecode.codec.decode import Instr
from pijit.core.bytecode.flow.control_flow import unwound_level
from pijit.core.bytecode.instructions import opcodes, predicates
from pijit.core.capture.analysis.frame_readers import FrameReaders
from pijit.core.capture.context import CaptureContext
from pijit.core.capture.interpreter.exceptions import caught_edges, handler_edges, without_raised
from pijit.core.capture.interpreter.type_propagation import TypePropagator
from pijit.core.capture.models.functions.closures import MADE_KNOWN
from pijit.core.capture.models.iteration import comprehensions
from pijit.core.capture.models.objects.materialize import after_bytecode_saw
from pijit.core.capture.models.objects.stored_values import may_be_object
from pijit.core.capture.models.stdlib.context_managers import Manager, forget_managers, stranded
from pijit.core.capture.state.block_version import Version
from pijit.core.capture.state.cold_paths import has_long_work_after
from pijit.core.capture.state.edges import edges_of, outcome_edges
from pijit.core.capture.state.frame_state import (
    FrameState,
    forget_items,
    forget_iterators,
    is_confined,
    is_lossy,
    iterations_of,
    join_states,
    same_values,
)
from pijit.core.capture.state.heap_locations import after_bytecode, identity_of, is_location, stored_by
from pijit.core.capture.state.return_kinds import CallOutcomes, Cut
from pijit.core.capture.state.uncaptured_effects import apply_fallback, causes_of, is_shuffle
from pijit.core.capture.values.base import Raised, raised_in
from pijit.core.capture.values.generator_frame import is_at_start, is_generating, kept_apart, points_of
from pijit.core.capture.values.lattice import KERNEL_LOCAL, Abstract, Unbound, UnescapedFunction, Unknown
from pijit.core.capture.values.virtual_object import numbered
from pijit.core.errors import Break

MAX_VERSIONS = 4
CUT_VERSIONS = 8
"""The version limit after calls with several outcomes and in loops over generators, which double the versions."""
INLINING = frozenset(["PJ230", "PJ231"])
"""Reasons why calls are not inlined. They are also reported at the lookup of a method."""
MAX_UNROLLED_VERSIONS = 64
"""The number of versions of a block that nested loops over containers may make; then the innermost is not unrolled."""


class Analysis:
    """The result: versions of all reachable blocks.

    ``forced`` are instructions that must stay bytecode; ``refused`` are those that could not be built, with the reason.
    ``peeled`` are headers of loops over generators whose first iteration has its own version.
    """

    def __init__(self, analysed: AnalysedCode, liveness: Liveness, context: CaptureContext, entry: FrameState,
                 forced: FrozenSet[int] = frozenset()) -> None:
        self.analysed, self.cfg, self.function = analysed, analysed.cfg, analysed.function
        self.name = analysed.function.code.co_name
        self.liveness = liveness
        self.usedef = analysed.use_def
        self.context, self.forced = context, forced
        self.poisoned: Dict[int, Optional[Break]] = {}
        self.rarely_poisoned: Dict[int, Optional[Break]] = {}
        self.known_rarely: FrozenSet[int] = frozenset()
        self.refused: Dict[int, Break] = {}
        self.unhandled: Set[int] = set()
        self.split_calls: Dict[int, CallOutcomes] = {}
        self.peeled: Set[int] = set()
        self.onlookers = FrameReaders(self.cfg)
        self.made: Dict[Any, Optional[Abstract]] = {}
        self.wanted, self.entry = 0, entry
        self.versions: List[Version] = []
        self.by_block: Dict[int, List[Version]] = {}
        self.loop_exits: Dict[Version, Dict[int, Tuple[int, FrameState]]] = {}
        self.likely = True
        self.interpreter = self._new_propagator()
        self.interpreter.unhandled = self.unhandled

    def _new_propagator(self) -> TypePropagator:
        return TypePropagator(self.function, self.context, self.cfg, self.liveness)

    def run(self) -> "Analysis":
        """Propagate until stable. Repeat if a run finds effects, or values that cannot leave a kernel."""
        known = None
        while known != self._observed():
            self.forget()
            known, self.wanted = self._observed(), len(self.context.base.findings.objects)
            self.onlookers.begin(self.liveness)
            self._propagate_all()
            if known == self._observed() and self.onlookers.settle():  # calls that break may not do so in a later run
                known = None
            if self.split_calls and any(version.lossy for version in self.versions):  # too many versions: do not split
                self.unhandled.update(index for index, outcomes in self.split_calls.items() if outcomes.raises())
                self.refused.update((index, outcomes.why_not()) for index, outcomes in self.split_calls.items()
                                    if not outcomes.raises())
                known = None
        self._drop_abandoned()
        for version in self.versions:
            for successor in version.edges.values():
                successor.predecessors.append(version)
        return self

    def _drop_abandoned(self) -> None:
        """Drop the versions that are no longer reachable because edges now lead to others."""
        todo = [version for version in self.versions if version.is_entry]
        found = set(todo)
        while todo:
            new = [successor for successor in todo.pop().edges.values() if successor not in found]
            found.update(new)
            todo += new
        self.versions = [version for version in self.versions if version in found]
        self.by_block = {index: [version for version in versions if version in found]
                         for index, versions in self.by_block.items()}

    def _observed(self) -> Tuple[int, ...]:
        """The size of the sets of facts that make another run necessary when they grow."""
        context, found, of_base = self.context, self.context.findings, self.context.base.findings
        return (len(self.poisoned), len(self.rarely_poisoned), len(self.unhandled), len(self.peeled),
                len(context.changed), len(context.locations),
                len(of_base.texts), len(of_base.objects), len(of_base.by_bytecode), len(found.looping),
                len(found.leaving), len(self.onlookers.shown), len(context.base.types.samples.stored))

    def forget(self) -> None:
        """Drop all versions and their states, so that no object of the user's is kept until the garbage collector runs.
        """
        for version in self.versions:
            version.state = FrameState({}, [])
            version.edges, version.breaks, version.causes = {}, {}, []
            version.predecessors, version.states = [], {}
        self.versions, self.by_block, self.made, self.split_calls = [], {}, {}, {}
        self.interpreter.state = FrameState({}, [])

    def _propagate_all(self) -> None:
        entry = self.entry.copy()
        if self.context is self.context.base:
            entry.locals = {name: self.context.arriving(value) for name, value in entry.locals.items()}
        for location in self.context.locations.values():
            if location.name not in entry.locals:
                entry.locals[location.name] = location.initial(self.context.base)
        self.likely, self.known_rarely = True, frozenset(self.rarely_poisoned)
        start = self._new_version(self.cfg.blocks[0], self._prune(entry, 0))
        start.is_entry = True
        todo = [start]
        while todo or self.loop_exits:
            if not todo:
                todo += self._leave_a_loop()
                continue
            version = todo.pop()
            for changed in self._interpret(version):
                if changed not in todo:
                    todo.append(changed)

    def _leave_a_loop(self) -> List[Version]:
        """Follow an edge out of a loop when nothing else is left. Loops that have had iterations come first, so that
        the version limit is reached on the rare paths where a loop has none."""
        version = next((version for version in self.loop_exits if self._has_had_iterations(version)), None)
        if version is None:
            self.likely = False
            version = next(reversed(list(self.loop_exits)))
        return [changed for slot, (target, state) in self.loop_exits.pop(version).items()
                for changed in self._reach(version, slot, target, state)]

    def _has_had_iterations(self, version: Version) -> bool:
        loop = self.cfg.loop_of(version.block.index)
        return loop is None or loop.header != version.block.index or any(
            version in other.edges.values() for other in self.versions if other.block.index in loop.body)

    def _new_version(self, block: BasicBlock, state: FrameState) -> Version:
        version = Version(block, len(self.versions), state)
        version.likely = self.likely
        self.versions.append(version)
        self.by_block.setdefault(block.index, []).append(version)
        return version

    def _prune(self, state: FrameState, index: int) -> FrameState:
        """The state without dead variables."""
        live = self.liveness.live_in(index)
        found = {name: value for name, value in state.locals.items() if name in live or is_location(name)}
        return cast(FrameState, numbered(FrameState(found, list(state.stack)), not self.context.depth))

    def _interpret(self, version: Version) -> List[Version]:
        """Run a block; returns the versions whose entry state changed."""
        interpreter = self.interpreter
        interpreter.state, interpreter.version = version.state.copy(), version.number
        version.breaks, version.causes = {}, []
        self.loop_exits.pop(version, None)
        changed: List[Version] = []
        block, handled = version.block, None
        for index in range(block.start, block.end):
            instr = self.function.instructions[index]
            if block.exception_successors and self.context.options.handlers and not self._is_handled(
                    block, instr, interpreter.state, handled):
                handled = interpreter.state.copy()
                changed += self._reach_handler(block, handled)
            version.unrolled = predicates.steps_iterator(instr) and is_confined(interpreter.state.stack[-1])
            broken = self._why_forced(index, interpreter.state, version.likely)
            if index in self.context.findings.leaving and raised_in(interpreter.state.stack) is not None:
                broken = Break("PJ206", opcode=instr.opname)
            before = interpreter.state.copy() if index in self.context.findings.leaving else None
            if broken is None:
                try:
                    self.onlookers.meet(instr, interpreter.state.stack)
                    interpreter.step(instr)
                    if index in self.context.findings.shown:
                        self._show(index)
                    if before is not None and self.resumes_after(index):
                        changed += self._land(version, instr, before)
                    continue
                except Break as error:
                    broken = error.without_frames()
            version.breaks[index] = broken
            if self.onlookers.may_look(instr, interpreter.state.stack):
                self._show(index)
            if self._is_unhandled(raised_in(interpreter.state.stack)):
                version.breaks.update((later, broken) for later in range(index + 1, block.end))
                version.edges.clear()
                return changed
            if not self.context.depth:
                self.context.types.samples.reject(instr, interpreter.state.stack)
            if broken.passing and not self.context.depth:
                self.context.findings.guessed.add(index)
            version.causes += causes_of(broken, instr, interpreter.state)
            if self.context.inliner is not None:
                self.context.inliner.note(self.context, instr, interpreter.state.stack)
            # CPython 3.7 returns while the iterators of enclosing loops are still on the stack.
            read = interpreter.state.stack[-1:] if predicates.is_return(instr) else interpreter.state.stack
            if self.context.depth or len(self.context.findings.objects) == self.wanted:
                self.poison(FrameState({}, stranded(instr, read)), broken, version.likely)
            else:  # all is analysed again, with functions as objects
                self.context.findings.objects.update(
                    cast(UnescapedFunction, made).code for made in read if may_be_object(made))
            if broken.raises or _raises(instr, interpreter.state):
                version.breaks.update((later, Break("PJ218")) for later in range(index + 1, block.end))
                version.edges.clear()
                return changed
            if index < block.end - 1:
                depth = self.cfg.stack_depth[index + 1] or 0
                interpreter.state = self._after_break(instr, interpreter.state, depth)
        return changed + self._leave(version)

    def _show(self, index: int) -> None:
        """Note that an instruction runs code that may look at the frame: it finds all variables that have values."""
        self.context.findings.shown.add(index)
        self.onlookers.look(index, self.usedef.ever_bound(index) - self.liveness.live_in(index))

    def _is_unhandled(self, raised: Optional[Raised]) -> bool:
        """Make bytecode raise an exception whose object was not made. Returns whether there is one."""
        if raised is not None:
            self.unhandled.add(raised.defined_at)
        return raised is not None

    def _why_forced(self, index: int, state: FrameState, likely: bool) -> Optional[Break]:
        instr = self.function.instructions[index]
        interpreter: Any = self.interpreter
        makes_part = instr.opname in opcodes.FUNCTION_PARTS
        if makes_part and comprehensions.makes_object(interpreter, instr):  # the poisoned value was no object
            return self.refused.get(index) or (Break("PJ217") if index in self.forced else None)
        poisoned = self.poisoned if likely or index in self.poisoned else self.rarely_poisoned
        cause = poisoned.get(index)
        if cause is not None and cause.reason_id in INLINING:
            return cause.copy()
        if index in poisoned:
            entered = cause is not None and cause.facts.get("opcode") == opcodes.WITH_ENTRY
            if predicates.enters_with(instr) or entered and predicates.calls(instr):
                return Break("PJ206", opcode=opcodes.WITH_ENTRY)
            if predicates.builds_dict(instr):
                return Break("PJ216", opcode=instr.opname)
            if makes_part:
                return Break("PJ202", opcode=instr.opname)
            if instr.opname in opcodes.ATTRIBUTE_LOADS | opcodes.METHOD_LOADS:
                return Break("PJ201", method=instr.value)
            return Break("PJ209", type="loop with a break in its body")
        if index in self.refused:
            return self.refused[index]
        if index in self.forced and not any(isinstance(value, KERNEL_LOCAL) for value in stranded(instr, state.stack)):
            return Break("PJ217")
        return None

    def poison(self, state: FrameState, cause: Optional[Break] = None, likely: bool = True) -> bool:
        """Make bytecode create the values of ``state`` that cannot leave a kernel. Returns whether there were any."""
        if self._is_unhandled(raised_in(state.stack)):
            return True
        base = self.context.base
        made = {cast(UnescapedFunction, value).code for value in state.stack if may_be_object(value)}
        functions = made - base.findings.by_bytecode
        if functions:  # other such values are found when all is analysed again, with these functions as objects
            base.findings.objects.update(functions)
            return True
        confined = [value.defined_at for value in state.stack if is_confined(value)] + [
            value.defined_at for value in state.locals.values() if is_generating(value)]
        for defined_at in confined:
            # A value that is made on a likely path and poisoned on an unlikely one comes here again in the next run.
            rarely = not likely and defined_at not in self.known_rarely
            (self.rarely_poisoned if rarely else self.poisoned).setdefault(defined_at, cause)
        return bool(confined)

    def _after_break(self, instr: Instr, state: FrameState, depth: int) -> FrameState:
        result = self.context.types.feedback.get(instr.index) or self.context.types.hinted.found.get(instr.index)
        if instr.opname in MADE_KNOWN and self.context.inliner is not None:
            result = self._made_by(instr, state.stack[-1]) or result
        after = apply_fallback(instr, state, depth, result)
        forget_managers(after)
        if self.context.locations and not is_shuffle(instr):
            self._write_locations(instr, state, after)
        if not is_shuffle(instr):
            forget_items(after)
            forget_iterators(after)
            after_bytecode_saw(instr, state, after)
        return after

    def _made_by(self, instr: Instr, top: Abstract) -> Optional[Abstract]:
        """The value that bytecode is known to make, the same in all versions and runs."""
        key = instr.index, identity_of(top)
        if key not in self.made:
            self.made[key] = MADE_KNOWN[instr.opname](self.function, self.context, instr, top)
        return self.made[key]

    def _write_locations(self, instr: Instr, state: FrameState, after: FrameState) -> None:
        """Invalidate all locations, because bytecode may have written them; ``instr`` is known to write its own."""
        stored = stored_by(instr, state, self.context)
        if stored is not None:
            after.locals[stored[0].name] = stored[1]
        for name in after.locals:
            if is_location(name):
                after.locals[name] = after_bytecode(after.locals[name])

    def advance(self, version: Version, index: int) -> None:
        """Apply instruction ``index`` of a version that has been analysed to the interpreter's state."""
        interpreter, instr = self.interpreter, self.function.instructions[index]
        interpreter.version = version.number
        if index not in version.breaks:
            interpreter.step(instr)
        elif index < version.block.end - 1:
            interpreter.state = self._after_break(instr, interpreter.state, self.cfg.stack_depth[index + 1] or 0)

    def _leave(self, version: Version) -> List[Version]:
        """Propagate along the edges at the end of a block."""
        interpreter, last = self.interpreter, self.function.instructions[version.block.end - 1]
        changed = []
        for slot, (target, state) in self._edges(version, last, interpreter).items():
            if target == last.index + 1 and self._leads_elsewhere(version, last, state):
                state.stack[-2] = kept_apart(state.stack[-2], True)
            loop = self.cfg.loop_of(version.block.index)
            if loop is not None and self.cfg.block_of[target] not in loop.body and slot not in version.edges:
                self.loop_exits.setdefault(version, {})[slot] = target, state
            else:
                changed += self._reach(version, slot, target, state)
        return changed

    def _leads_elsewhere(self, version: Version, last: Instr, state: FrameState) -> bool:
        """Whether this version of a loop's header must be kept apart from later steps of a generator. That holds for a
        first step that other versions take with other types, or one to another yield, because loops have one entry."""
        if not predicates.steps_iterator(last) or last.index in version.breaks or last.index != version.block.start:
            return False
        if not is_at_start(version.state.stack[-1]):
            return points_of(version.state.stack[-1]) != points_of(state.stack[-2])
        if sum(is_at_start(other.state.stack[-1]) for other in self.by_block[version.block.index]) > 1:
            self.peeled.add(last.index)
        return last.index in self.peeled

    def resumes_after(self, index: int) -> bool:
        """Whether segments begin after a call that kernels leave in the middle, because long-running code follows."""
        return has_long_work_after(self.cfg, self.context.findings.looping, index)

    def _land(self, version: Version, instr: Instr, before: FrameState) -> List[Version]:
        """Bytecode also continues after a call that a kernel has left in the middle, with results of the same types."""
        if version.block.end != instr.index + 1:
            raise Cut(self.cfg, instr.index + 1)
        changed = []
        for target, state in self._edges(version, instr, self.interpreter).values():
            after = FrameState(dict(state.locals), state.stack[:-1] + [after_bytecode(state.stack[-1])])
            forget_managers(after)
            self._write_locations(instr, before, after)
            forget_items(after)
            forget_iterators(after)
            after_bytecode_saw(instr, before, after)
            changed += self._enter_at(self.cfg.blocks[cast(int, self.cfg.block_of[target])], self._prune(after, target))
        return changed

    def _edges(self, version: Version, last: Instr, interpreter: TypePropagator) -> Dict[int, Tuple[int, FrameState]]:
        state = interpreter.state
        if last.index in version.breaks:
            if predicates.exits_loop(last):
                level = unwound_level(self.cfg.block_stack[last.index] or (), last.opname, True)
                state = FrameState(state.locals, state.stack[:level or 0])
            return {slot: (target, self._after_break(last, state, self.cfg.stack_depth[target] or 0))
                    for slot, target in enumerate(self.cfg.successors[last.index] or [])}
        handled = handler_edges(interpreter)
        top = state.stack[-1] if state.stack else None
        if isinstance(top, CallOutcomes):
            self.split_calls[last.index] = top
            return {**caught_edges(interpreter, outcome_edges(top, last, state)), **handled}
        if predicates.breaks_loop(last):
            return {1: (cast("List[int]", self.cfg.successors[last.index])[0], state)}
        return {**edges_of(interpreter.transfer, last, state), **handled}

    def _is_handled(self, block: BasicBlock, instr: Instr, state: FrameState, handled: Optional[FrameState]) -> bool:
        """Whether an exception of an instruction needs no new edge to the handler.

        ``handled`` is the state with which an earlier instruction of the block has reached the handler.
        """
        handler = self.cfg.blocks[block.exception_successors[0]]
        if instr.opname in opcodes.NEVER_RAISE and self.by_block.get(handler.index):
            return True
        entry, live = self.cfg.flow.handlers.get(handler.start), self.liveness.live_in(handler.start)
        names = [name for name in state.locals if name in live or is_location(name)]
        return handled is not None and same_values(handled, state, names, entry.level if entry is not None else None)

    def _reach_handler(self, block: BasicBlock, state: FrameState) -> List[Version]:
        """Propagate to the handler: it sees these locals, and the stack below its block.

        It has a version for each combination of their types. Guards check them, so the states at which an exception of
        the program itself may be raised are enough; signals come between any two instructions.
        """
        handler = self.cfg.blocks[block.exception_successors[0]]
        pruned = self._as_handler(self._prune(without_raised(state), handler.start), handler.start)
        forget_iterators(pruned)
        return self._enter_at(handler, pruned)

    def _enter_at(self, block: BasicBlock, state: FrameState) -> List[Version]:
        """Note that bytecode leads to a block."""
        version = self._choose(block, state)
        if version is None:
            version = self._new_version(block, state)
            version.is_entry = True
            return [version]
        version.is_entry = True
        return self._join_into(version, state)

    def _as_handler(self, state: FrameState, target: int) -> FrameState:
        """The state at the start of a handler or finally body. Nothing is known above its stack level."""
        entry = self.cfg.flow.handlers.get(target)
        if entry is None or raised_in(state.stack[entry.level:]) is not None:
            return state
        depth = self.cfg.stack_depth[target] or 0
        unknown: List[Abstract] = [Unknown("PJ206", target) for _ in range(depth - entry.level)]
        entered = FrameState(state.locals, state.stack[:entry.level] + unknown)
        forget_managers(entered)
        return entered

    def _reach(self, version: Version, slot: int, target: int, state: FrameState) -> List[Version]:
        state = self._as_handler(self._prune(state, target), target)
        if predicates.steps_iterator(self.function.instructions[target]):
            state.stack[-1] = kept_apart(state.stack[-1], False)
        block = self.cfg.blocks[cast(int, self.cfg.block_of[target])]
        raised = raised_in(state.stack)
        if target <= version.block.start and raised is not None and raised.defined_at >= target:
            self.unhandled.add(raised.defined_at)  # a loop in a handler
            return []
        successor = version.edges.get(slot)
        if successor is None or successor.block is not block or _iterations(successor.state) != _iterations(state):
            successor = self._choose(block, state)
            if successor is None:
                version.edges[slot] = self._new_version(block, state)
                return [version.edges[slot]]
            version.edges[slot] = successor
        if is_lossy(successor.state, state) and self._is_unhandled(raised):
            return []
        return self._join_into(successor, state)

    def _choose(self, block: BasicBlock, state: FrameState) -> Optional[Version]:
        known = self.by_block.get(block.index, [])
        for version in known:
            if not is_lossy(version.state, state):
                return version
        if len(known) >= MAX_UNROLLED_VERSIONS:
            self.poison(FrameState({}, state.stack[-1:]))
            return known[-1]
        iterations = _iterations(state)
        alike = [version for version in known if _iterations(version.state) == iterations]
        is_cut = self.cfg.cuts or any(is_generating(one) or isinstance(one, Manager) for one in state.stack)
        return alike[-1] if len(alike) >= (CUT_VERSIONS if is_cut else MAX_VERSIONS) else None

    def _join_into(self, version: Version, state: FrameState) -> List[Version]:
        joined = join_states(version.state, state)
        version.lossy = version.lossy or is_lossy(version.state, state)
        if joined == version.state:
            return []
        version.state = joined
        return [version]


def _raises(instr: Instr, state: FrameState) -> bool:
    """Whether an instruction reads a local variable that is certainly unbound, so that no later instruction is reached.
    """
    return predicates.loads_local(instr) and isinstance(state.locals.get(instr.value), Unbound)


def _iterations(state: FrameState) -> List[Any]:
    return [iterations_of(value) for value in state.stack]
