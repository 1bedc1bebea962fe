"""Graph building: the interpreter runs over the blocks of one region and records operations.

`driver.py` builds regions with it; `inlined_graph.py` and `reentry.py` derive from it. Types come from the analysis.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, List, Optional, Set, Tuple, cast, overload

from pijit.core.bytecode.codec.decode import Instr
from pijit.core.bytecode.flow.control_flow import unwound_level
from pijit.core.bytecode.instructions.opcodes import FUNCTION_MAKER
from pijit.core.bytecode.instructions.predicates import breaks_loop, exits_loop, stores_local, writes_local
from pijit.core.capture.analysis.fixpoint import Analysis
from pijit.core.capture.analysis.regions import Region, RegionBlock
from pijit.core.capture.build import alias_guards, block_arguments, exception_edges, exits, ownership
from pijit.core.capture.build.exception_edges import arm_alone
from pijit.core.capture.build.segment import Access, Captured, Refusal, SegmentFact
from pijit.core.capture.build.uses import OBJECTS, USES
from pijit.core.capture.context import CaptureContext
from pijit.core.capture.interpreter import exceptions
from pijit.core.capture.interpreter.exceptions import caught_edges
from pijit.core.capture.interpreter.interpreter import AbstractInterpreter
from pijit.core.capture.models.protocol import AnalysedCallee, SomeAbstract
from pijit.core.capture.models.stdlib import context_managers
from pijit.core.capture.state.edges import RAISE, RETURN, TransferKind, edges_of, outcome_edges
from pijit.core.capture.state.frame_state import FrameState, has_generator, rooted_stack
from pijit.core.capture.state.heap_locations import find_locations, is_location, without_dead
from pijit.core.capture.state.return_kinds import CallOutcomes
from pijit.core.capture.state.uncaptured_effects import reach
from pijit.core.capture.values.lattice import (
    Abstract,
    Const,
    Number,
    UnescapedFunction,
    Unknown,
    number_type,
    ssa_value,
)
from pijit.core.capture.values.provenance import Root
from pijit.core.capture.values.virtual_object import VirtualObject, may_be_stored_into, renumbered, virtual_objects_in
from pijit.core.errors import Break
from pijit.core.graph.ir import HERE, Block, Branch, Graph, Jump, Leave, Op, SideExit, Value
from pijit.core.graph.ops import CANNOT_FAIL, EFFECTS
from pijit.core.graph.types import CELL, Type
from pijit.guards.source import Global

if TYPE_CHECKING:
    from pijit.core.bytecode.flow.block_stack import Blocks


class GraphBuilder(AbstractInterpreter):
    """Builder of one region, used once: ``GraphBuilder(analysis, region).build()``.

    ``parent`` is the builder of the caller, if the region is inlined.
    """

    parent: Optional[GraphBuilder] = None

    # Hooks of the interpreter, and what the builders of callees and re-entries replace.
    note_access = alias_guards.note_access
    note_dict = alias_guards.note_dict
    rely_on_ownership = ownership.rely_on_ownership
    same_object = alias_guards.same_object

    leave_once = exits.leave_once
    exit_inside = exits.exit_inside
    exit_output = exits.exit_output
    exit_to = exits.exit_to
    may_report = exits.may_report
    report = exits.report
    side_exit = exits.side_exit

    catch_no_more = exception_edges.catch_no_more
    either = exception_edges.either
    split = exception_edges.split

    block_parameters = block_arguments.block_parameters
    value_parts = block_arguments.value_parts

    def __init__(self, analysis: Analysis, region: Region, name: str, depth: Optional[int] = None) -> None:
        super().__init__(analysis.function, analysis.context, analysis.cfg, analysis.liveness)
        self.analysis = analysis
        self.region = region
        self.graph = Graph(name)
        self.home, self.origin = analysis.function.code.co_filename, HERE
        self.stored = {analysis.function.instructions[i].value for i in region.instructions()
                       if writes_local(analysis.function.instructions[i])}
        found = self.context.findings
        self.stored.update(found.stepped[i] for i in region.instructions() if i in found.stepped)
        self.stored.update(*(found.stores.get(i, ()) for i in region.instructions()))
        self.inputs: Dict[Any, Value] = {}
        self.accesses: Dict[Any, Dict[Any, Access]] = {}
        self.with_dict: Dict[Any, Optional[int]] = {}
        self.roots: Dict[str, Any] = {}
        self.entry_state = self._state_at_entry()
        self.depth = depth = self.untouched_depth() if depth is None else depth
        self.captured = Captured(region, self.graph, depth, len(self.entry_state.stack))
        self.captured.starts = ownership.objects_by_path(self.entry_state)
        self.block: Block = self.graph.new_block()
        self.resume: Optional[Tuple[int, FrameState]] = None
        self.ended: Dict[RegionBlock, Tuple[Optional[Tuple[int, FrameState]], bool]] = {}
        self.unhandled, self.wrote = analysis.unhandled, False
        self.resumptions: Dict[Any, Optional[Tuple[int, FrameState]]] = {}
        self.leaving: Set[int] = set()
        self.blocks: Dict[RegionBlock, Block] = {}
        self.states_at_entry: Dict[RegionBlock, FrameState] = {}
        self.pending: List[Tuple[Jump, RegionBlock, FrameState, Block]] = []

    # states

    def _state_at_entry(self) -> FrameState:
        region_block = self.region.entry
        state = without_dead(state_at(self.analysis, region_block), self.liveness.live_in(region_block.start))
        self.roots = find_locations(self.context.locations, state, len(self.function.varnames))
        return FrameState({name: value.rooted(self.roots[name] if is_location(name) else Root("local", name))
                           for name, value in state.locals.items()},
                          rooted_stack(state.stack, self.analysis.usedef.empty_operands(region_block.start)))

    def untouched_depth(self) -> int:
        """The lowest operand stack depth that any instruction or exit of the region touches."""
        depths = [len(self.entry_state.stack)]
        for index in self.region.instructions():
            instr = self.function.instructions[index]
            depth, count = self.cfg.stack_depth[index] or 0, reach(instr)
            depths.append(max(depth - count, 0) if count is not None else 0)
            if exits_loop(instr):
                depths.append(unwound_level(cast("Blocks", self.cfg.block_stack[index]), instr.opname) or 0)
        return min(depths)

    def _state_for(self, region_block: RegionBlock) -> FrameState:
        """The state of a block where edges of the region meet. Values that may differ become block parameters."""
        joined = self._state_at_join(region_block)
        block = self.blocks[region_block]
        sample = self.states_at_entry.get(region_block)
        locals: Dict[str, Abstract] = {}
        for name, value in joined.locals.items():
            if isinstance(value, Const) and is_location(name) and self.roots.get(name) is None:
                locals[name] = Unknown("PJ208")
            elif not self._carries(name, value):
                locals[name] = _no_more_than(self.entry_state.locals.get(name, value), value)
            else:
                locals[name] = self.block_parameters(value, block, name, sample.locals.get(name) if sample else None)
        stack = list(self.entry_state.stack[:self.depth])
        for position in range(self.depth, len(joined.stack)):
            like = self.use(sample.stack[position]) if sample is not None else None
            stack.append(like if isinstance(like, Unknown)  # the segment cannot fetch it
                         else self.block_parameters(joined.stack[position], block, "", like))
        return FrameState(locals, stack)

    def _carries(self, name: str, value: Abstract) -> bool:
        """Whether a variable, or a virtual object in it, may change in the region.

        An object that is written from the entry on may be read-only where paths meet.
        """
        before = self.entry_state.locals.get(name, value)
        return name in self.stored or any(
            may_be_stored_into(virtual) for one in (before, value) for virtual in virtual_objects_in(one))

    def _state_at_join(self, region_block: RegionBlock) -> FrameState:
        """The joined state where all edges to a block meet."""
        return region_block.version.state

    # building

    def build(self) -> Captured:
        """The region as a graph, not yet verified. Raises Break if an instruction cannot be built."""
        first = self.block
        params = self._run_region_blocks()
        self._start(first, params)
        self._connect(params)
        alias_guards.note_pairs(self)
        ownership.note_confined(self)
        first.params = self.graph.inputs
        self.captured.find_relied_lengths()
        return self.captured

    def _run_region_blocks(self) -> Dict[RegionBlock, FrameState]:
        """Build all blocks; returns the states of those whose blocks have parameters."""
        for region_block in self.region.blocks:
            self.blocks[region_block] = self.graph.new_block(self.function.instructions[region_block.start].lineno or 0)
        self.states_at_entry[self.region.entry] = self.entry_state
        params: Dict[RegionBlock, FrameState] = {}
        for region_block in self.region.blocks:
            incoming = [p for p in region_block.predecessors if p in self.blocks]
            if region_block is self.region.entry and not incoming:
                state = self.entry_state
            elif region_block is self.region.entry or len(incoming) > 1 or self._forwards(region_block, incoming):
                state = params[region_block] = self._state_for(region_block)
            elif region_block in self.states_at_entry:
                state = self.states_at_entry[region_block]
            else:  # the builder knows more than type propagation: the branch to it is never taken
                never = self.blocks.pop(region_block)
                never.terminator = Jump(never, [])
                continue
            self._run(region_block, state)
        return params

    def _forwards(self, region_block: RegionBlock, incoming: List[RegionBlock]) -> bool:
        """Whether one predecessor reaches the block over two edges."""
        return bool(incoming) and sum(s is region_block for s in incoming[0].successors.values()) > 1

    def _start(self, block: Block, params: Dict[RegionBlock, FrameState]) -> None:
        """Jump from ``block`` to the block of the region's entry."""
        self.block = block
        jump = Jump(self.blocks[self.region.entry], [])
        block.terminator = jump
        if self.region.entry in params:
            jump.args = tuple(self._arguments(params[self.region.entry], self.entry_state))

    def _connect(self, params: Dict[RegionBlock, FrameState]) -> None:
        """Pass arguments along all edges between blocks."""
        for jump, region_block, state, block in self.pending:
            if region_block in params:
                self.block = block
                jump.args = tuple(self._arguments(params[region_block], state))

    def _arguments(self, target: FrameState, state: FrameState) -> List[Value]:
        """The values of the edge's state for the parameters that were made for ``target``."""
        arguments: List[Value] = []
        self.state = state.copy()
        for name, value in target.locals.items():
            if self._carries(name, value):
                arguments += self.value_parts(value, state.locals.get(name))
        for position in range(self.depth, len(target.stack)):
            arguments += self.value_parts(target.stack[position], state.stack[position])
        return arguments

    def _run(self, region_block: RegionBlock, state: FrameState) -> None:
        self.block = self.blocks[region_block]
        self.state = state.copy()
        self.version = region_block.version.number
        self.resume, self.wrote = exception_edges.resumption_of(self, region_block)
        base = len(state.stack)
        for index in range(region_block.start, region_block.end):
            depth = len(self.state.stack)
            if exits.may_resume(self, depth <= base):
                self.resume, self.wrote, base = exits.resumption(self, index), False, min(base, depth)
            instr = self.function.instructions[index]
            try:
                self.step(instr)
            except Refusal:
                raise
            except Break as error:
                raise self._refused(instr, error)
        exception_edges.note_end(self, region_block)
        last = self.function.instructions[region_block.end - 1]
        if not region_block.at_end:
            self.block.terminator = Leave(self.exit_to(*exits.before_loads(self, region_block), False))
            return
        if self.transfer is RETURN:
            self._return(region_block)
            return
        if self.transfer.kind is TransferKind.ITERATE:
            self._enter_body(region_block, last)
            return
        if self.transfer is RAISE:
            return
        top = self.state.stack[-1] if self.state.stack else None
        if isinstance(top, CallOutcomes):
            exception_edges.note_outcomes(self, top)
            for slot, (target, after) in caught_edges(self, outcome_edges(top, last, self.state)).items():
                self.block = cast(Block, top.outcomes[slot].block)
                self.block.terminator = arm_alone(self.arm(region_block, slot, target, after))
            return
        if breaks_loop(last):
            edges = {1: (self.cfg.successors[last.index][0], self.state)}  # type: ignore[index]
        else:
            edges = edges_of(self.transfer, last, self.state)
        arms = {slot: self.arm(region_block, slot, target, after) for slot, (target, after) in edges.items()}
        self.block.terminator = self._terminator(arms)

    def _enter_body(self, region_block: RegionBlock, last: Instr) -> None:
        """End a loop's header. The item is made in a separate block, which is reached only if there is an item."""
        transfer, header, state = self.transfer, self.block, self.state
        ended = self.arm(region_block, 1, cast(int, last.target), state)
        self.block = self.graph.new_block(last.lineno or 0)
        header.terminator = Branch(transfer.branches_on(), Jump(self.block, []), ended)
        self.block.terminator = arm_alone(
            self.arm(region_block, 0, last.index + 1, FrameState(state.locals, state.stack + transfer.entering())))

    def _refused(self, instr: Instr, error: Break) -> Break:
        """The exception to raise for an instruction that cannot be built."""
        return Refusal(instr.index, error)

    def not_inlined(self, callee: UnescapedFunction, error: Break) -> Break:
        """The exception if ``callee`` is not inlined. A function that a variable holds is then made by bytecode."""
        named = not self.context.depth and stores_local(self.function.instructions[callee.defined_at + 1])
        known = isinstance(error, Refusal) or not named or callee.defined_at in self.analysis.refused
        return error if known else Refusal(callee.defined_at, Break("PJ202", opcode=FUNCTION_MAKER))

    def _return(self, region_block: RegionBlock) -> None:
        raise AssertionError("only callees return")

    def token_of(self, virtual: VirtualObject) -> Any:
        """What identifies a virtual object among those that the same exit makes."""
        return virtual.token

    def enter(self, analysis: AnalysedCallee, context: CaptureContext, entry: FrameState,
              borrowed: List[int]) -> Abstract:
        """Build the body of an inlined callee; returns the result of the call."""
        return analysis.build_into(self, context, entry, borrowed)

    def _terminator(self, arms: Dict[int, Any]) -> Any:
        if len(arms) == 1:
            return arm_alone(next(iter(arms.values())))
        return Branch(self.transfer.branches_on(), arms[1], arms[0])

    def arm(self, region_block: RegionBlock, slot: int, target: int, state: FrameState) -> Any:
        """One edge at the end of a block: a jump to its successor, or an exit where it leads out of the region."""
        successor = region_block.successors.get(slot)
        if successor is None or successor not in self.blocks:
            reentry = successor.key if successor in self.region.beyond else None
            return self.exit_to(target, state, False, reentry=reentry)
        self.states_at_entry.setdefault(successor, state)
        if self.region.closes(region_block, successor):
            return self._poll(successor, state)
        jump = Jump(self.blocks[successor], [])
        self.pending.append((jump, successor, state, self.block))
        return jump

    def _poll(self, header: RegionBlock, state: FrameState) -> Jump:
        """The back edge to a loop's header, through a block that exits when the interpreter's eval breaker is set."""
        alone = {"serves": True} if self.context.options.abandons else {"signals": True} if has_generator(state) else {}
        return self._polled(header, state, self.exit_to(header.start, state, False, True, header.key), alone)

    def _polled(self, header: RegionBlock, state: FrameState, exit: SideExit, attrs: Dict[str, Any]) -> Jump:
        block = self.graph.new_block(self.function.instructions[header.start].lineno or 0)
        block.ops.append(Op("poll", [], attrs, None, exit, block.lineno))
        block.terminator = Jump(self.blocks[header], [])
        self.pending.append((block.terminator, header, state, block))
        return Jump(block, [])

    # the interpreter's hooks

    @overload
    def emit(self, name: str, args: List[Value], type: Type, attrs: Optional[Dict[str, Any]] = None,
             exits: bool = False) -> Value: ...

    @overload
    def emit(self, name: str, args: List[Value], type: None, attrs: Optional[Dict[str, Any]] = None,
             exits: bool = False) -> None: ...

    def emit(self, name: str, args: List[Value], type: Optional[Type], attrs: Optional[Dict[str, Any]] = None,
             exits: bool = False) -> Optional[Value]:
        exceptions.note_effect(self, name, exits)
        result = self.graph.new_value(type) if type is not None else None
        exit = self.side_exit() if exits and not (self.wrote and name in CANNOT_FAIL) else None
        self.wrote = self.wrote or name in EFFECTS
        op = Op(name, args, context_managers.with_errors(self, name, attrs), result, exit, self.instr.lineno or 0,
                self.origin)
        self.block.ops.append(op)
        self.captured.grow(op, self.context.depth > 0, self.context.base.work)
        return result

    def number_value(self, value: Abstract) -> Value:
        if isinstance(value, Const):
            kind = number_type(value)
            if kind is None:
                raise Break("PJ203", operand=repr(value))
            return self.emit("const", [], kind, {"value": value.object})
        if not isinstance(value, Number):
            raise Break("PJ203", operand=repr(value))
        return ssa_value(self.use(value))

    def object_value(self, value: Abstract) -> Value:
        value = self.use(value)
        return OBJECTS[type(value)](self, value)

    def cell_value(self, root: Any) -> Value:
        return self.segment_input(root, CELL)

    def use(self, value: SomeAbstract) -> SomeAbstract:
        if value.root is not None and not isinstance(value, Unknown):  # nothing to rely on
            self._note(value, value)
        used: SomeAbstract = USES[type(value)](self, value)
        return used

    def by_one_path(self, cls: Const) -> Const:
        return self.captured.classes.setdefault(id(cls.object), cls)

    def rely(self, value: Any, condition: Any) -> None:
        if value.root is None:
            raise Break("PJ213")
        self._note(value, condition)

    def rely_on_length(self, word: Value, length: int) -> None:
        self.captured.expected[word] = length

    def rely_on_unit_axes(self, lengths: List[Value]) -> None:
        self.captured.unit_lengths += lengths

    def _note(self, value: Any, known: Any) -> None:
        if self.context.options.constant_globals and _begins_at_global(value.root):
            return
        key = (value.root, value.source, type(known), None if known is value else known)
        if key not in self.captured.facts:
            line = "%s:%s" % (self.function.code.co_filename, self.instr.lineno)
            self.captured.facts[key] = SegmentFact(value.root, value.source, known, line)

    def segment_input(self, root: Any, type: Type) -> Value:
        known = self.inputs.get((root, type))
        if known is None:
            known = self.inputs[(root, type)] = self.graph.new_value(type, str(root))
            self.graph.inputs.append(known)
            self.captured.inputs.append(root)
        return known


def _begins_at_global(path: Any) -> bool:
    """Whether a path reads a global variable first."""
    while not isinstance(path, Root) and path.children:
        path = path.children[0]
    return isinstance(path, Global)


def _no_more_than(value: Abstract, joined: Abstract) -> Abstract:
    """A variable that the region does not store, at a join where the items of its value may have changed."""
    return renumbered(value.forgotten() if joined.forgotten() is joined else value, joined)


def state_at(analysis: Analysis, region_block: RegionBlock) -> FrameState:
    """The state at the start of a block. Analysis steps through the block again from the nearest state in the cache."""
    interpreter, version = analysis.interpreter, region_block.version
    nearest = max([start for start in version.states if start <= region_block.start], default=version.block.start)
    interpreter.state = version.states.get(nearest, version.state).copy()
    for index in range(nearest, region_block.start):
        analysis.advance(version, index)
    version.states[region_block.start] = interpreter.state.copy()
    return interpreter.state
