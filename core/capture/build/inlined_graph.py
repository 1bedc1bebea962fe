"""Inlining into a graph: builds the body of a callee into the graph of its caller.

The callee's side exits are those of the call, or lead into the middle of the callee after an effect. The inliner calls
it. It must not decide whether a call is inlined.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Container, Dict, Iterator, List, Optional, Set, Tuple, cast
from typing import Sequence as Items

from pijit.core.bytecode.codec.decode import Instr
from pijit.core.bytecode.linker.continuation import Continuation
from pijit.core.capture.analysis.regions import RegionBlock
from pijit.core.capture.build import exits
from pijit.core.capture.build.exits import abandoned
from pijit.core.capture.build.graph_builder import GraphBuilder
from pijit.core.capture.build.joined_results import joined_result
from pijit.core.capture.build.pending_calls import stack_outputs
from pijit.core.capture.build.segment import InlinedCall, Unhandled
from pijit.core.capture.context import CaptureContext
from pijit.core.capture.models.iteration import generators
from pijit.core.capture.models.stdlib import context_managers
from pijit.core.capture.models.stdlib.context_managers import Errors, given
from pijit.core.capture.state.edges import RETURN
from pijit.core.capture.state.frame_state import FrameState
from pijit.core.capture.state.heap_locations import is_location
from pijit.core.capture.state.return_kinds import CallOutcome, CallOutcomes, LeavesInside
from pijit.core.capture.values.base import Thrown
from pijit.core.capture.values.generator_frame import GeneratorFrame
from pijit.core.capture.values.lattice import Abstract, Keywords, LoopIterator, Sequence, Unbound
from pijit.core.capture.values.provenance import Root
from pijit.core.capture.values.virtual_object import BORROWED_PREFIX, VirtualObject
from pijit.core.errors import Break
from pijit.core.graph.ir import Block, Branch, Jump, Leave, Origin, Output, SideExit, Value
from pijit.core.graph.ops import EFFECTS, MAKERS, MAKES_CONTAINER, VIEWS
from pijit.core.graph.types import SKIP

if TYPE_CHECKING:
    from pijit.core.capture.inline.inliner import CalleeAnalysis

MAKES = MAKERS | MAKES_CONTAINER
HOST_CALL = "host_call"
MAX_INLINED = 6000
"""Limit of the instructions of callees in one segment, because compile time grows with code size."""


class InlineBuilder(GraphBuilder):
    """Builder of one inlined call, used once. It shares graph, inputs and facts with ``parent``, the caller's builder.

    Its side exits are those of the call, unless the callee has had an effect. Then they lead into the middle of the
    callee, and bytecode makes its frame. Returning paths jump to a block whose parameters are the parts of the result.

    Attributes:
        points: for side exits of the call, where they could lead in this callee. Exits after an effect are missing.
        inside: the exits that lead into this callee, or through it into callees of its own.
        borrowed: the caller's tokens of the virtual objects that the callee gets, see `lend`.
    """

    analysis: CalleeAnalysis
    parent: GraphBuilder

    def __init__(self, parent: GraphBuilder, analysis: CalleeAnalysis, context: CaptureContext,
                 entry: FrameState, borrowed: Items[int]) -> None:
        self.parent = parent
        self.entry_state = entry
        self.borrowed = borrowed
        super().__init__(analysis, analysis.region, "", 0)
        self.context = context
        self.graph = parent.graph
        self.captured = parent.captured
        self.inputs, self.accesses, self.with_dict = parent.inputs, parent.accesses, parent.with_dict
        self.roots = parent.roots
        here = self.function.code.co_filename
        self.home = parent.home
        self.origin = Origin(analysis.name, here if here != self.home else "")
        self.returns: Dict[int, List[Tuple[Block, List[Abstract]]]] = {}
        self.points: Dict[SideExit, Tuple[int, FrameState]] = {}
        self.inside: Set[SideExit] = set()

    def _state_at_entry(self) -> FrameState:
        return self.entry_state

    def token_of(self, virtual: VirtualObject) -> Any:
        """What identifies a virtual object among those that the same exit makes, in this frame and in callers'.

        Raises:
            Break: the object is the caller's, and the callee changes such objects. The caller has the older attributes.
        """
        if virtual.token >= 0:
            return self.context.depth, virtual.token
        if any(name.startswith(BORROWED_PREFIX) for name in self.analysis.written):
            raise Break("PJ231")
        return self.parent.token_of(virtual.like(token=self.borrowed[-1 - virtual.token]))

    def inline(self) -> Abstract:
        """Build the callee; returns the result of the call. The parent continues after it.

        Raises:
            Break: the callee cannot be built.
        """
        start = self.parent.block
        self._note_call()
        self.captured.inlined += len(self.function.instructions)
        if self.captured.inlined > MAX_INLINED * self.context.base.work.factor:
            raise Break("PJ230", callee=self.function.code.co_name, because="too much code is inlined")
        try:
            params = self._run_region_blocks()
            self._start(start, params)
            self._connect(params)
        except Unhandled as error:  # the exception is the callee's
            raise Break("PJ231", **error.facts)
        first = self.blocks[self.region.entry]
        self.captured.has_loop = self.captured.has_loop or self.region.has_loop
        result = self._continue()
        self.parent.wrote = self._keep_effects(first) or self.parent.wrote
        return result

    def _note_call(self) -> None:
        """Note the inlined call. Functions that the caller makes, such as comprehensions, count as part of it."""
        callee = self.context.callee
        if callee is not None:
            code, caller = callee.function.__code__, self.parent.function.code
            self.captured.calls[InlinedCall(callee.name, code.co_filename, code.co_firstlineno,
                                            self.parent.analysis.name, caller.co_filename,
                                            self.parent.instr.lineno or 0)] = None

    def op_RETURN_VALUE(self, instr: Instr) -> None:
        self.returned = generators.handed_out(self, self.analysis.yields)
        self.transfer = RETURN

    def _continue(self) -> Abstract:
        """Join the returning paths, one join for each outcome."""
        outcomes: Dict[int, CallOutcome] = {}
        for slot, returns in sorted(self.returns.items()):
            values = self._values(returns, self.analysis.outcomes[slot])
            outcomes[slot] = CallOutcome(values[0], dict(zip(self.analysis.written, values[1:])), self.parent.block)
        if len(self.analysis.outcomes) > 1:
            return CallOutcomes(outcomes, self.analysis.name)
        self.parent.state.locals.update(outcomes[0].written)
        return outcomes[0].result

    def _values(self, returns: List[Tuple[Block, List[Abstract]]], outcome: CallOutcome) -> List[Abstract]:
        """The result and the values of the written locations, joined where returning paths meet."""
        if len(returns) == 1:
            self.parent.block, values = returns[0]
            return values
        after = self.graph.new_block(self.instr.lineno or 0)
        likes = [outcome.result, *outcome.written.values()]
        joined = [joined_result(self, [values[k] for _, values in returns], like, after)
                  for k, like in enumerate(likes)]
        for self.block, values in returns:
            arguments = [part for value, wanted in zip(values, joined) for part in self.value_parts(wanted, value)]
            self.block.terminator = Jump(after, arguments)
        self.parent.block = after
        return joined

    def _return(self, region_block: RegionBlock) -> None:
        written = [self.state.locals[name] for name in self.analysis.written]
        number = self.analysis.outcome_numbers[region_block.version]
        self.returns.setdefault(number, []).append((self.block, [self.returned] + written))

    def throw(self, cls: type, block: Any) -> None:
        written = [self.before.locals[name] for name in self.analysis.written]
        number = self.analysis.outcome_numbers[self.version, self.instr.index, cls]
        self.returns.setdefault(number, []).append((block, [Thrown(cls, self.instr.index)] + written))

    # exits

    def exit_to(self, target: int, state: FrameState, side: bool, poll: bool = False, reentry: Any = None) -> SideExit:
        """An exit from the callee is the side exit of the call, unless the target is left to bytecode inside the
        callee."""
        if self.analysis.leaves_at(target):
            return self._leave_inside(target, self.liveness.live_in(target), state)
        return self.side_exit()

    def _poll(self, header: RegionBlock, state: FrameState) -> Jump:
        """Poll for signals alone, because leaving repeats the call in bytecode. There is no poll where it cannot be
        repeated."""
        try:
            how = "serves" if self.context.options.abandons else "signals"
            return self._polled(header, state, self.side_exit(True), {how: True})
        except Break:
            jump = Jump(self.blocks[header], [])
            self.pending.append((jump, header, state, self.block))
            return jump

    def side_exit(self, poll: bool = False) -> SideExit:
        exit = self.parent.side_exit(poll)
        if self.resume is not None and not self.wrote:
            self.points[exit] = self.resume
        return exit

    def may_report(self) -> bool:
        return False

    def errors_around(self) -> Errors:
        return context_managers.errors(self.parent)

    def exit_inside(self, rest: Continuation, packed: Output) -> SideExit:
        target = exits.after_call(self)
        return self._leave_inside(target, exits.live_around(self, target), self.state, rest, [packed])

    def _leave_inside(self, target: int, live: Container[str], state: FrameState, inner: Optional[Continuation] = None,
                      packed: Items[Output] = ()) -> SideExit:
        """An exit to ``target`` in this callee, with its live variables."""
        if self.context.options.abandons:
            return abandoned(self)
        if self.context.base.substitutions:
            raise LeavesInside
        callee = self.context.callee
        own = callee is not None and self.context.shared.intersection(callee.function.__code__.co_cellvars)
        if callee is None or own or self.analysis.yields is not None:
            raise Break("PJ231")
        function, free = self._callee_output(callee), callee.function.__code__.co_freevars
        held = {name: value for name, value in state.locals.items()
                if name in live and not is_location(name) and not isinstance(value, Unbound) and name not in free}
        self.leaving = set()
        if any(isinstance(value, (LoopIterator, GeneratorFrame)) for value in held.values()):
            raise Break("PJ231")
        dicts = {name: cast(Keywords, held.pop(name)).items for name, value in list(held.items())
                 if isinstance(value, Keywords)}
        if not set(callee.function.__code__.co_cellvars).isdisjoint(dicts):
            raise Break("PJ231")
        outputs = [function]
        outputs += [self.exit_output(value) for value in held.values()]
        outputs += [self.exit_output(value) for items in dicts.values() for value in items.values()]
        outputs += stack_outputs(self, state.stack)
        rest = Continuation(self.analysis.analysed.running, target, tuple(held),
                            len(state.stack) + len(packed), inner, given(state.stack),
                            tuple((name, tuple(items)) for name, items in dicts.items()),
                            self.context.required_inliner.recursion.calls_in(self.context))
        exit = self.parent.exit_inside(rest, Output("tuple", None, outputs + list(packed)))
        self.inside.add(exit)
        return exit

    def _callee_output(self, callee: Any) -> Output:
        """The function object that is called here."""
        if callee.paths.root is not None:
            return Output("value", self.segment_input(callee.paths.root, SKIP))
        closure = self.context.closure
        if closure is None:
            raise Break("PJ231")
        if closure.value is not None:
            return Output("value", closure.value)
        cells = [self.segment_input(Root("closure", number), SKIP) for number in closure.shape.late]
        return Output("function", None, [Output("const", closure.shape.code), Output("const", closure.shape.name)]
                      + [Output("value", cell) for cell in cells])

    def leave_once(self, value: Abstract) -> None:
        """Break if an exit would duplicate a tuple that the callers hold as well, or a function."""
        builder: Optional[GraphBuilder] = self.parent
        known = set(self.leaving)
        while builder is not None:
            held = [*builder.state.locals.values(), *builder.state.stack]
            known.update(part.defined_at for one in held for part in tuples_in(one))
            builder = builder.parent
        if not isinstance(value, Sequence) or value.items and value.defined_at in known:
            raise Break("PJ231")
        self.leaving.add(value.defined_at)

    def _refused(self, instr: Instr, error: Break) -> Break:
        return error

    # effects

    def _keep_effects(self, first: Block) -> bool:
        """Redirect exits that an effect may precede into the callee, so that bytecode does not repeat the effect.

        Returns whether there are effects.

        Raises:
            Break: an exit cannot be redirected.
        """
        wrote: Dict[Block, bool] = {first: False}
        todo, any_effect, new = [first], False, _new_objects(first)
        while todo:
            block = todo.pop()
            after = self._scan(block, wrote[block], new)
            any_effect = any_effect or after
            for jump in block.terminator.targets() if block.terminator is not None else ():
                if jump.block not in wrote or after and not wrote[jump.block]:
                    wrote[jump.block] = after
                    todo.append(jump.block)
        return any_effect

    def _scan(self, block: Block, wrote: bool, new: Container[Value]) -> bool:
        """Whether an effect has happened when a block ends. Exits after an effect are redirected.

        Changes of ``new`` objects are no effects: a call that is repeated makes its objects again.
        """
        for op in list(block.ops):
            if op.exit is not None and wrote:
                try:
                    op.exit = self._after_effect(op.exit)
                except Break:
                    if op.name != "poll":
                        raise
                    block.ops.remove(op)
            wrote = wrote or op.name in EFFECTS and not (op.name != HOST_CALL and op.args and op.args[0] in new)
        end = block.terminator
        if wrote and isinstance(end, Leave):
            end.exit = self._after_effect(end.exit)
        if wrote and isinstance(end, Branch):
            end.then, end.other = [self._after_effect(arm) if isinstance(arm, SideExit) else arm
                                   for arm in (end.then, end.other)]
        return wrote

    def _after_effect(self, exit: SideExit) -> SideExit:
        """The replacement of an exit that would repeat an effect. Exits that give the call up stay as they are."""
        if exit in self.inside or self.context.options.abandons:
            return exit
        if self.context.base.substitutions:
            raise LeavesInside
        if exit not in self.points:
            raise Break("PJ231")
        try:
            target, state = self.points[exit]
            return self._leave_inside(target, self.liveness.live_in(target), state)
        except Break:
            raise Break("PJ231")


def _new_objects(first: Block) -> Set[Value]:
    """The arrays and containers that operations from a block on make, and values that are certainly one of these: views
    of the arrays, and block parameters."""
    seen, todo = {first}, [first]
    found: Set[Value] = set()
    one_of: Dict[Value, List[Value]] = {}
    while todo:
        block = todo.pop()
        found.update(op.result for op in block.ops if op.name in MAKES and op.result is not None)
        one_of.update((op.result, [op.args[0]]) for op in block.ops if op.name in VIEWS and op.result is not None)
        for jump in block.terminator.targets() if block.terminator is not None else ():
            for param, value in zip(jump.block.params, jump.args):
                one_of.setdefault(param, []).append(value)
            if jump.block not in seen:
                seen.add(jump.block)
                todo.append(jump.block)
    found.update(set(one_of).difference(first.params))
    wrong = found
    while wrong:
        wrong = {value for value in found if not found.issuperset(one_of.get(value, ()))}
        found -= wrong
    return found


def tuples_in(value: Abstract) -> Iterator[Sequence]:
    """The tuples in a value; the value itself is first if it is one."""
    if isinstance(value, Sequence):
        yield value
    for part in value.lasting_parts:
        yield from tuples_in(part)
