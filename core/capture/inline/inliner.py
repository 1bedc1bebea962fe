"""Inlining: the body of a called Python function is interpreted in place of the call.

All returning paths must be captured. Exceptions are side exits of the caller's statement: bytecode makes the whole
call, so tracebacks are Python's own.
"""

from __future__ import annotations

import copy
import functools
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Set, Tuple, cast

from pijit.core.bytecode.analysis.blocks import BasicBlock
from pijit.core.bytecode.codec.decode import Instr
from pijit.core.bytecode.rewrite.generator_steps import Resumed
from pijit.core.bytecode.rewrite.generator_to_loop import GENERATOR, Consumer
from pijit.core.capture.analysis.fixpoint import Analysis
from pijit.core.capture.analysis.regions import Region, whole_region
from pijit.core.capture.build.inlined_graph import InlineBuilder
from pijit.core.capture.context import CaptureContext, MadeFunctionContext
from pijit.core.capture.inline.callee_propagation import CalleePropagator
from pijit.core.capture.inline.inlined_code import InlinedCode
from pijit.core.capture.models import exception_handlers
from pijit.core.capture.models.containers.known_stores import ListTypes, expect_after_call, lists_left
from pijit.core.capture.models.functions.callees import (
    Callee,
    CalleeContext,
    called_function,
    calls_unknown,
    default_of,
    find_callee,
    may_compile_alone,
)
from pijit.core.capture.models.functions.function_values import ClosureContext, FunctionValue
from pijit.core.capture.models.functions.recursion import Recursion
from pijit.core.capture.models.functions.shared_cells import cells_of, shared_names
from pijit.core.capture.models.functions.star_arguments import with_dicts
from pijit.core.capture.models.iteration.generators import generator_of
from pijit.core.capture.models.objects.instances import BorrowedObjects
from pijit.core.capture.models.stdlib.known_managers import HELPER, managed, managing_function
from pijit.core.capture.state.argument_binding import bind
from pijit.core.capture.state.block_version import Version
from pijit.core.capture.state.cold_paths import CertainException, ColdPath, has_long_work_after, is_cold
from pijit.core.capture.state.edges import RETURN
from pijit.core.capture.state.entry_state import why_not_captured
from pijit.core.capture.state.frame_state import FrameState, is_confined
from pijit.core.capture.state.heap_locations import is_location
from pijit.core.capture.state.inlined_bodies import Body, body_of
from pijit.core.capture.state.return_kinds import (
    MAX_OUTCOMES,
    MIXED,
    CallOutcome,
    CallOutcomes,
    Cut,
    part,
    sort_outcomes,
)
from pijit.core.capture.values.base import Thrown, raised_in
from pijit.core.capture.values.generator_frame import GeneratorFrame
from pijit.core.capture.values.lattice import UNBOUND, Abstract, UnescapedFunction
from pijit.core.capture.values.libraries import SWITCHES, in_library, in_standard_library, module_of
from pijit.core.capture.values.predicates import HasCode
from pijit.core.capture.values.virtual_object import BORROWED_PREFIX, is_cell
from pijit.core.errors import Break, CauseStep
from pijit.core.reasons import REASONS, reason

if TYPE_CHECKING:
    from pijit.core.capture.interpreter.type_propagation import TypePropagator
    from pijit.core.capture.models.protocol import Interpreter


class CalleeAnalysis(Analysis):
    """The analysis of a callee for arguments of certain types.

    Attributes:
        doomed: the blocks from which no path returns.
        outcomes: the results of the call, with the values of the locations that it writes.
        written: the names of those locations.
        outcome_numbers: the numbers of outcomes, by the block version that returns, or by the origin of an exception
            for the caller.
        left: the versions that are left to bytecode, see `cold_paths`, with the reason.
        raising: the versions with an instruction that certainly raises.
        region: the blocks to build.
    """

    interpreter: CalleePropagator
    region: Region
    outcomes: List[CallOutcome]
    written: List[str]

    def __init__(self, body: Body, context: CaptureContext, entry: FrameState, name: str) -> None:
        self.yields = body.yields
        super().__init__(body.analysed, body.liveness, context, entry)
        self.name = name
        self.doomed = body.doomed
        self.returned: Dict[Version, CallOutcome] = {}
        self.lists: Dict[Version, ListTypes] = {}
        self.outcome_numbers: Dict[Any, int] = {}
        self.left: Dict[Version, Break] = {}
        self.raising: Set[Version] = set()

    def _new_propagator(self) -> CalleePropagator:
        return CalleePropagator(self.function, self.context, self.cfg, self.liveness, self.yields)

    def finish(self) -> "CalleeAnalysis":
        """Run the analysis. Raises Break if the callee cannot be inlined."""
        self.run()
        for version in sorted(self.versions, key=lambda version: version.block.start):
            if version.lossy and version.block.index not in self.doomed and not self._is_cut(version):
                raise self._refusal(version.block.start, Break("PJ213"))
        self._refuse_long_rests()
        self.region = whole_region(self, self._left_out())
        return self

    def _refuse_long_rests(self) -> None:
        """Refuse the callee if bytecode would run loops in the continuation of a call."""
        left = [(version.block.start, why) for version, why in self.left.items()]
        calls = [(index, self._refusal(index, why)) for index, why in self.context.findings.leaving.items()]
        for index, why in left + calls:
            if has_long_work_after(self.cfg, self.context.findings.looping, index):
                raise why

    @property
    def has_loop(self) -> bool:
        """Whether it, or a function that it calls, loops."""
        return self.region.has_loop or bool(self.context.findings.looping)

    @property
    def size(self) -> int:
        """The number of its instructions, including those of functions that are inlined into it."""
        return len(self.function.instructions) + sum(self.context.findings.sizes.values())

    def why_left(self) -> Optional[Break]:
        """The reason why kernels may leave in the middle of the call; None if none does."""
        return next(iter([*self.left.values(), *self.context.findings.leaving.values()]), None)

    def leaves_at(self, target: int) -> bool:
        """Whether kernels leave to this instruction."""
        return any(version.block.start == target for version in self.left)

    def resumes_after(self, index: int) -> bool:
        return False

    def _left_out(self) -> Set[Version]:
        """The versions that are not built: doomed blocks, cold paths, and rare results of another type.

        A loop without iterations may give a type of its own (``0.0`` in place of a sum of ``float64``).
        """
        doomed = {version for version in self.versions
                  if version.block.index in self.doomed and not self._is_caught(version) or self._is_cut(version)}
        never = Break("PJ230", callee=self.name, because="it never returns")
        returning = [version for version in self.versions if version in self.returned]
        if not returning:
            raise next(iter(self.left.values()), never)
        # not items of a list that is changed at unknown positions
        present = {location.name for location in self.context.locations.values()}
        self.written = sorted(name for name in set().union(*self.context.findings.stores.values())
                              if name.startswith(BORROWED_PREFIX) or name in present)
        self._sort(returning)
        loops = self.cfg.loops and self.yields is None
        results = [outcome for outcome in self.outcomes if not isinstance(outcome.result, Thrown)]
        if len(results) > 1 and loops and len({version.block for version in returning}) == 1:
            common = [version for version in returning if version.likely][-1:] or returning[-1:]
            doomed.update(version for version in returning if version not in common)
            self._sort(common)
        most = MAX_OUTCOMES if self.yields is None else max(MAX_OUTCOMES, self.context.unrolling + 1)
        raised = [outcome for outcome in self.outcomes if isinstance(outcome.result, Thrown)]
        if len(raised) == len(self.outcomes):
            raise never
        few = len(self.outcomes) - len(raised) <= most and len(raised) <= MAX_OUTCOMES
        if not few or not all(outcome.is_known() for outcome in self.outcomes):
            raise Break("PJ230", callee=self.name, because=MIXED)
        return doomed

    def _is_cut(self, version: Version) -> bool:
        return version in self.left or version in self.raising

    def _is_caught(self, version: Version) -> bool:
        """Whether an exception on a path is handled in the callee, or is an outcome of the call, so that the path
        returns."""
        todo, found = [version], {version}
        while todo and version not in self.returned:
            new = [after for after in todo.pop().edges.values() if after not in found]
            if any(after.block.index not in self.doomed or after in self.returned for after in new):
                return True
            found.update(new)
            todo += new
        return version in self.returned

    def _sort(self, versions: List[Version]) -> None:
        """Set the outcomes of the call if these versions return."""
        thrown = self.interpreter.thrown
        keys: List[Any] = [*versions, *thrown]
        found = [CallOutcome(result, {name: locations[name] for name in self.written})
                 for result, locations, _ in [*map(self.returned.__getitem__, versions), *thrown.values()]]
        groups = sort_outcomes(found)
        self.outcome_numbers = {keys[position]: slot for slot, members in groups.items() for position in members}
        self.outcomes = [functools.reduce(CallOutcome.covering, [found[position] for position in members])
                         for members in groups.values()]

    def build_into(self, parent: Any, context: CaptureContext, entry: FrameState, borrowed: List[int]) -> Abstract:
        """Build the body into a caller's graph; returns the result of the call."""
        return InlineBuilder(parent, self, context, entry, borrowed).inline()

    def poison(self, state: FrameState, cause: Optional[Break] = None, likely: bool = True) -> bool:
        """Break: the callee is not inlined, unless no path returns from here."""
        index = self.interpreter.instr.index
        if self.cfg.block_of[index] in self.doomed:
            return False
        if cause is not None and cause.raises:
            raise CertainException
        refusal = self._refusal(index, cause or Break("PJ202"))
        raise ColdPath(refusal) if cause is not None and self._may_leave(index, cause) else refusal

    def _may_leave(self, index: int, cause: Break) -> bool:
        """Whether an uncaptured instruction is on a cold path that is not taken, as far as is known."""
        inside = isinstance(self.context, CalleeContext) and self.yields is None
        if cause.leaves or not inside:
            return inside
        own = cast(int, self.cfg.block_of[index])
        for number, jumps in self.interpreter.predicted.items():
            successors = self.cfg.successors[number] or []
            if len(successors) == 2 and self.cfg.dominates(cast(int, self.cfg.block_of[successors[jumps]]), own):
                return False
        return is_cold(self.cfg, self.liveness, index)

    def _interpret(self, version: Version) -> List[Version]:
        self.left.pop(version, None)
        self.raising.discard(version)
        thrown = self.interpreter.thrown
        for key in [key for key in thrown if key[0] == version.number]:
            del thrown[key]
        try:
            return super()._interpret(version)
        except ColdPath as cold:
            self.left[version] = cold.args[0].without_frames()
        except CertainException:
            self.raising.add(version)
        version.edges.clear()
        return []

    def _refusal(self, index: int, error: Break) -> Break:
        because = reason(error.reason_id, **error.facts)
        if error.reason_id == "PJ230":
            because = error.facts["because"]
            because = because if error.trail else "call of %s: %s" % (error.facts["callee"], because)
        line = self.function.instructions[index].lineno or 0
        refusal = Break("PJ230", callee=self.name, because=because)
        refusal.trail = (CauseStep(self.function.code.co_filename, line, self.name, error.reason_id),) + error.trail
        refusal.passing = error.passing
        return refusal

    def _edges(self, version: Version, last: Instr, interpreter: TypePropagator) -> Dict[int, Tuple[int, FrameState]]:
        if interpreter.transfer is RETURN:
            handling = any(block.kind == "handler" for block in self.cfg.block_stack[last.index] or ())
            if handling and raised_in(interpreter.state.stack) is None:  # finally bodies of 3.7
                raise self._refusal(last.index, Break("PJ206", opcode=last.opname))
            self.lists[version] = lists_left(self.entry, interpreter.state, self.function.instructions)
            self.returned[version] = CallOutcome(interpreter.returned, {
                name: value for name, value in interpreter.state.locals.items() if is_location(name)})
            return {}
        return super()._edges(version, last, interpreter)

    def _reach_handler(self, block: BasicBlock, state: FrameState) -> List[Version]:
        """Exceptions leave the kernel: handlers in callees are executed by bytecode."""
        return []

    def forget(self) -> None:
        super().forget()
        self.returned, self.left, self.lists = {}, {}, {}
        self.interpreter.thrown.clear()


class Inliner:
    """Inlines calls during one capture; keeps the analyses of callees by code and arguments.

    Arguments:
        max_depth: how deep calls are inlined.
        modules: the names of modules whose functions are inlined, with their submodules; None: all but libraries.
        code: the analysed code of callees that earlier captures have met.
    """

    def __init__(self, max_depth: int, modules: Optional[Tuple[str, ...]], code: InlinedCode) -> None:
        self.max_depth, self.modules, self.recursion = max_depth, modules, Recursion(max_depth)
        self.code = code
        self.bodies: Dict[Any, Body] = {}
        self.analyses: Dict[Any, Any] = {}
        self.cut_bodies: Dict[int, Body] = {}
        self.steps: Dict[Any, Resumed] = {}

    def call(self, interpreter: Interpreter, callee: Callee, arguments: List[Abstract],
             keywords: Dict[str, Abstract]) -> Abstract:
        """The result of a call. Raises Break if the call is not inlined."""
        context, code = interpreter.context, callee.function.__code__
        if code is HELPER:
            interpreter.rely(callee.paths, HasCode(code))
            found = find_callee(managing_function(interpreter, callee), arguments, keywords, interpreter)
            return managed(interpreter, self.call(interpreter, *found) if found is not None else UNBOUND)
        if self.compiles_alone(cast(FunctionType, callee.function)):
            self.recursion.note(interpreter, callee)
        self.recursion.require_room(context, callee)
        why = self.why_not(cast(FunctionType, callee.function))
        if why is not None:
            raise Break("PJ230", callee=callee.name, because=why)
        callee = self.recursion.by_one_path(interpreter, callee)
        interpreter.rely(callee.paths, HasCode(code))
        bound = bind(code, arguments, keywords, lambda position, name: interpreter.use(
            default_of(callee, position, name, interpreter)), context.depth)
        if code.co_flags & GENERATOR:
            return generator_of(callee, bound)
        names = shared_names(context, code)
        body = self._body_of(code, (), names, cast(FunctionType, callee.function).__globals__)
        bound = with_dicts(interpreter, body.cfg.function, bound)
        locals: Dict[str, Abstract] = {name: bound.get(name, UNBOUND) for name in body.cfg.function.varnames}
        locals.update(cells_of(interpreter, names, bound))
        inner = CalleeContext(body.cfg.function, callee, context, names)
        return _at_home(interpreter, self._enter(interpreter, body, callee.name, inner, locals))

    def why_not(self, function: FunctionType) -> Optional[str]:
        """The reason why a function is not compiled with or for its callers, or None."""
        name = module_of(function)
        if name == SWITCHES:
            return "pijit.disable or pijit.stance wraps it"
        if self.modules is None and in_library(function):
            return "it belongs to a library: %s" % name
        if self.modules is not None and not any((name + ".").startswith(one + ".") for one in self.modules):
            return "%s is not one of allowed_inline_modules" % name
        skip = why_not_captured(function.__code__)
        return REASONS[skip].title if skip not in (None, "PJ101") else None

    def note(self, context: CaptureContext, instr: Instr, stack: List[Abstract]) -> None:
        """Note the function that a call left to bytecode runs. If it is not known, the first calls show it."""
        function = called_function(instr, stack) if not context.depth else None
        if function is not None and self.compiles_alone(function):
            context.findings.note_call(instr.index, function, may_compile_alone(instr, stack))
        elif not context.depth and calls_unknown(instr, stack):
            context.findings.callees.setdefault(instr.index, [])

    def compiles_alone(self, function: FunctionType) -> bool:
        """Whether a function that is not inlined is compiled on its own."""
        if why_not_captured(function.__code__) is not None:
            return False
        return self.why_not(function) is None and (self.modules is not None or not in_standard_library(function))

    def _body_of(self, code: CodeType, free: Tuple[str, ...], shared: Tuple[str, ...], globals: Dict[str, Any],
                 consumer: Optional[Consumer] = None) -> Body:
        """The decoded body. Its cell variables and the ``free`` ones are plain variables, except the ``shared`` ones.
        """
        key = (code, free, shared, consumer.name if consumer is not None else None)
        if key not in self.bodies:
            analysed = (self.code.callee(code, free, shared) if consumer is None
                        else self.code.loop(code, consumer, free, shared))
            self.bodies[key] = body_of(analysed.with_plain_calls(globals), shared)
        return self.bodies[key]

    def run(self, interpreter: Interpreter, made: UnescapedFunction, locals: Dict[str, Abstract],
            consumer: Optional[Consumer] = None) -> Abstract:
        """The result of a call of a function that the caller makes; of a generator's, what ``consumer`` makes of its
        items.

        Raises Break if the call is not inlined.
        """
        context, code = interpreter.context, made.code
        names = tuple(name for name, held in zip(code.co_freevars, made.free) if is_cell(held))
        body = self._body_of(code, code.co_freevars, names, made.context.globals, consumer)
        entry = {name: locals.get(name, UNBOUND) for name in body.cfg.function.varnames}
        entry.update(zip(code.co_freevars, made.free))
        inner = MadeFunctionContext(body.cfg.function, made.context, context.depth + 1, names)
        return self._enter(interpreter, body, code.co_name, inner, entry)

    def call_closure(self, interpreter: Interpreter, closure: FunctionValue, arguments: List[Abstract],
                     keywords: Dict[str, Abstract]) -> Abstract:
        """The result of a call of a function that captured code makes and that may be an object. Raises Break if not
        inlined."""
        context, shape, skip = interpreter.context, closure.shape, why_not_captured(closure.shape.code)
        if self.recursion.is_full(context) or skip is not None:
            because = self.recursion.because if skip is None else REASONS[skip].title
            raise Break("PJ230", callee=shape.name, because=because)
        bound = bind(shape.code, arguments, keywords, closure.default, context.depth)
        own = shared_names(context, shape.code)
        names = own + tuple(name for name, held in zip(shape.own, closure.contents) if is_cell(held))
        body = self._body_of(shape.code, shape.own, names, closure.context.globals)
        bound = with_dicts(interpreter, body.cfg.function, bound)
        locals: Dict[str, Abstract] = {name: bound.get(name, UNBOUND) for name in body.cfg.function.varnames}
        locals.update(zip(shape.own, closure.contents), **cells_of(interpreter, own, bound))
        inner = ClosureContext(body.cfg.function, closure, context, names)
        return _at_home(interpreter, self._enter(interpreter, body, shape.name, inner, locals))

    def resume(self, interpreter: Interpreter, value: GeneratorFrame) -> Abstract:
        """The result of one step of a generator: a Suspended with an item, `ENDED`, or Outcomes. Raises Break if not
        inlined."""
        context, maker = interpreter.context, value.maker
        code = maker.code if isinstance(maker, UnescapedFunction) else maker.function.__code__
        if self.recursion.is_full(context):
            raise Break("PJ230", callee=code.co_name, because=self.recursion.because)
        key = (code, value.point)
        if key not in self.steps:
            globals = maker.context.globals if isinstance(maker, UnescapedFunction) else maker.function.__globals__
            free = code.co_freevars if isinstance(maker, UnescapedFunction) else ()
            found = self.code.step(code, value.point, free)
            self.steps[key] = found.step
            body = body_of(found.analysed.with_plain_calls(globals))
            self.bodies[key] = body._replace(yields=found.step.yields, liveness=found.liveness())
        body = self.bodies[key]
        entry: Dict[str, Abstract] = dict.fromkeys(body.cfg.function.varnames, UNBOUND)
        entry.update(zip(value.names + self.steps[key].stack, value.parts))
        if isinstance(maker, UnescapedFunction):
            entry.update(zip(code.co_freevars, maker.free))
            inner: CaptureContext = MadeFunctionContext(body.cfg.function, maker.context, context.depth + 1)
        else:
            inner = CalleeContext(body.cfg.function, maker, context)
        return self._enter(interpreter, body, code.co_name, inner, entry)

    def _enter(self, interpreter: Interpreter, body: Body, name: str, context: CaptureContext,
               locals: Dict[str, Abstract]) -> Abstract:
        """The result of a call with these variables. An exception that the caller handles is an outcome."""
        if not isinstance(context, CalleeContext) or not exception_handlers.may_catch(interpreter):
            return self._enter_body(interpreter, body, name, context, locals)
        before, catching = interpreter.state.copy(), copy.copy(context)
        catching.catches = exception_handlers.named(interpreter)
        try:
            return self._enter_body(interpreter, body, name, catching, locals)
        except Break:
            interpreter.catch_no_more()
            interpreter.state = before
            return self._enter_body(interpreter, body, name, context, locals)

    def _enter_body(self, interpreter: Interpreter, body: Body, name: str, context: CaptureContext,
                    locals: Dict[str, Abstract]) -> Abstract:
        """The result of a call with these variables; locations are variables of both."""
        outer = interpreter.state.locals
        entry = FrameState(dict(locals, **{name: value for name, value in outer.items() if is_location(name)}), [])
        borrowed = BorrowedObjects(interpreter, entry)
        analysis = self.recursion.analyse(interpreter, context, lambda: self.analyse(body, name, context, entry))
        why = analysis.why_left()
        if why is not None:
            interpreter.context.findings.leaving[interpreter.instr.index] = why
            if analysis.context.findings.shown:
                interpreter.context.findings.shown.add(interpreter.instr.index)
        if analysis.has_loop:
            interpreter.context.findings.looping.add(interpreter.instr.index)
        if analysis.written:
            interpreter.context.findings.stores.setdefault(interpreter.instr.index, set()).update(
                name for name in analysis.written if not name.startswith(BORROWED_PREFIX))
        if len(analysis.outcomes) > 1:
            outcomes = CallOutcomes(dict(enumerate(analysis.outcomes)), name)
            if any(name.startswith(BORROWED_PREFIX) for name in analysis.written):
                raise outcomes.why_not()
            part(interpreter, outcomes)
        result = borrowed.given_back(interpreter.enter(analysis, context, entry.copy(), borrowed.outside))
        if analysis.context.findings.mutates:  # the caller may hold any list or dict that the callee holds
            interpreter.context.findings.mutates = True
            expect_after_call(interpreter.state, entry, list(analysis.lists.values()))
        return result

    def analyse(self, body: Body, name: str, context: CaptureContext, entry: FrameState) -> CalleeAnalysis:
        """The analysis of a callee; Break if it cannot be inlined."""
        values = tuple(entry.locals.values())
        key = (id(body), context.identity(), context.depth, context.catches,
               len(context.changed), len(context.base.findings.objects), self.recursion.lowered,
               tuple(entry.locals), values, tuple(map(sources_of, values)))
        while key not in self.analyses:
            own = self.cut_bodies.get(id(body), body)
            try:
                self.analyses[key] = CalleeAnalysis(own, context, entry, name).finish()
            except Break as error:
                self.analyses[key] = error.without_frames()
            except Cut as cut:
                if cut.cfg is not own.cfg:
                    raise
                if self.cut_bodies.get(id(body), body) is own:  # otherwise a recursive call further in has split it
                    self.cut_bodies[id(body)] = own.cut(cut.index)
        if isinstance(self.analyses[key], Break):
            raise self.analyses[key].copy()
        return self.analyses[key]  # type: ignore[no-any-return]

    def forget(self) -> None:
        """Drop references to the user's values."""
        for analysis in self.analyses.values():
            if isinstance(analysis, Analysis):
                analysis.forget()
        self.analyses, self.bodies, self.cut_bodies, self.steps = {}, {}, {}, {}


def _at_home(interpreter: Interpreter, result: Abstract) -> Abstract:
    """The result of a call, as a value that the caller's instruction has made."""
    def at_home(value: Abstract) -> Abstract:
        if is_confined(value):
            value = copy.copy(value)
            value.defined_at = interpreter.instr.index
        return value

    return result.map(at_home) if isinstance(result, CallOutcomes) else at_home(result)


def sources_of(value: Abstract) -> Any:
    """The sources of a value and its parts, in which analyses of equal values may differ."""
    return value.source, tuple(map(sources_of, value.lasting_parts))
