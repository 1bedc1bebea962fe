"""Loops over generators, maps and filters: each step is the generator's body up to its next yield, inlined.

The loop steps a `GeneratorFrame` natively. Where the kernel exits, the generator, map or filter object is made in its
current state. Until then its body has no frame. So bytecode makes each step that would raise, or that could exit
after an effect of its own.
"""

from __future__ import annotations

import functools
from typing import Any, Callable, Dict, List, Optional, Tuple, cast

from pijit.core.bytecode.rewrite.generator_steps import START, begins_by_call
from pijit.core.capture.models.iteration.comprehensions import is_made_here, with_variables
from pijit.core.capture.models.iteration.consumers import FILTER, FILTER_TRUE, MAP, MAP_TOGETHER
from pijit.core.capture.models.iteration.resumed_iterators import RESUMED
from pijit.core.capture.models.protocol import Interpreter, Recorder
from pijit.core.capture.state.edges import JUMP
from pijit.core.capture.state.return_kinds import CallOutcomes
from pijit.core.capture.values.describe import describe
from pijit.core.capture.values.generator_frame import ENDED, GeneratorFrame, changed_makers, has_ended, worn
from pijit.core.capture.values.lattice import (
    Abstract,
    Const,
    LoopIterator,
    Number,
    Sequence,
    Unbound,
    UnescapedFunction,
)
from pijit.core.errors import Break
from pijit.core.graph.ir import Output
from pijit.core.graph.types import INT, SKIP

KINDS = {id(MAP): "map", id(MAP_TOGETHER): "map", id(FILTER): "filter", id(FILTER_TRUE): "filter"}
"""By code, the Python iterator that a generator stands for."""


def step_generator(interpreter: Interpreter, value: Abstract) -> None:
    """FOR_ITER on a generator, or on an enumerate above one:
    the outcomes of the step decide how the loop continues."""
    result = _step(interpreter, value)
    if isinstance(result, CallOutcomes):
        interpreter.state.stack.append(result)
    elif has_ended(result):
        interpreter.transfer = JUMP
    else:
        interpreter.state.stack += cast(Sequence, result).items


def handed_out(interpreter: Interpreter, yields: Optional[Dict[int, int]]) -> Abstract:
    """The value that a function returns; for a generator's step,
    its suspended state with the item that it has yielded."""
    value = interpreter.pop()
    if yields is None:
        return value
    point = yields.get(interpreter.instr.index)
    if point is None:
        return Const(ENDED)
    if any(block.kind in ("with", "handler") for block in interpreter.cfg.block_stack[interpreter.instr.index] or ()):
        raise Break("PJ209", type="generator that waits inside a with statement or a handler")
    free, live = interpreter.function.freevars, interpreter.liveness.live_in(interpreter.instr.index + 1)
    names = tuple(name for name, held in sorted(interpreter.state.locals.items())
                  if name in live and name not in free and not isinstance(held, Unbound))
    parts = [interpreter.state.locals[name] for name in names] + interpreter.state.stack + [value]
    return GeneratorFrame(None, point, names, tuple(parts), True)


def _step(interpreter: Interpreter, value: Abstract) -> Abstract:
    """The iterator after a step and the item, as a pair, or `ENDED`; or the Outcomes."""
    if value.knows_nothing():
        raise Break("PJ209", type=describe(value))
    if isinstance(value, GeneratorFrame):
        parts = tuple(map(interpreter.use, value.parts))
        frame = cast(GeneratorFrame, changed_makers(value.like(parts), functools.partial(with_variables, interpreter)))
        return _each(interpreter.context.required_inliner.resume(interpreter, frame),
                     lambda one: _pair(interpreter, frame, cast(GeneratorFrame, one)))
    if not isinstance(value, LoopIterator) or value.kind != "enumerate":
        raise Break("PJ209", type=describe(value))
    count = value.words[0]
    number = Number(INT, interpreter.emit("same", [count], INT))
    after = interpreter.emit("add", [count, interpreter.word(Const(1))], count.type)

    def counted(one: Abstract) -> Abstract:
        following, item = cast(Sequence, one).items
        return Sequence([value.stepped((after,), (following,)), Sequence([number, item])])

    return _each(_step(interpreter, value.parts[0]), counted)


def _each(result: Abstract, change: Callable[[Abstract], Abstract]) -> Abstract:
    def changed(one: Abstract) -> Abstract:
        return one if has_ended(one) else change(one)
    return result.map(changed) if isinstance(result, CallOutcomes) else changed(result)


def _pair(interpreter: Interpreter, before: GeneratorFrame, after: GeneratorFrame) -> Sequence:
    """The state of generator ``before`` after its step, and the item."""
    maker = before.maker
    code = maker.code if isinstance(maker, UnescapedFunction) else maker.function.__code__
    if after.point in interpreter.context.required_inliner.steps[code, before.point].in_try:
        raise Break("PJ209", type="generator that waits inside a try statement")  # its end may run code
    parts, item = after.parts[:-1], after.parts[-1]
    item.defined_at = interpreter.instr.index
    following = GeneratorFrame(before.maker, after.point, after.names, parts, False, before.defined_at)
    return Sequence([
        changed_makers(following, lambda made: worn(made) if is_made_here(interpreter, made) else made), item])


# exits


def suspended_output(interpreter: Recorder, value: GeneratorFrame) -> Output:
    """The output that makes an iterator in its state at the exit; Break if that cannot be made."""
    maker, parts = value.maker, list(value.parts)
    if value.has_item or maker is None:
        raise Break("PJ202", value=repr(value))
    kind = KINDS.get(id(maker.code)) if isinstance(maker, UnescapedFunction) else None
    made_of = RESUMED.get(id(maker.code)) if isinstance(maker, UnescapedFunction) else None
    if made_of is not None:
        named: Dict[str, Callable[[], Output]] = {
            name: functools.partial(interpreter.exit_output, part) for name, part in zip(value.names, parts)}
        return made_of(value.point == START, named, list(map(interpreter.exit_output, parts[len(value.names):])))
    if kind is None:
        code = maker.code if isinstance(maker, UnescapedFunction) else maker.function.__code__
        outputs = [function_output(interpreter, maker)] + [interpreter.exit_output(part) for part in parts]
        if value.point == START and begins_by_call(code, value.names):
            return Output("called", None, outputs)
        plan = interpreter.context.required_inliner.code.plan(code, value.point, value.names)
        return Output("generator", plan, outputs)
    inner = interpreter.use(parts[-1])
    inners = list(cast(LoopIterator, inner).parts) if maker.code is MAP_TOGETHER else [inner]
    first = function_output(interpreter, maker.free[0]) if maker.free else Output("const", None)
    return Output(kind, None, [first] + [interpreter.exit_output(part) for part in inners])


def function_output(interpreter: Recorder, value: Any) -> Output:
    """The output for a function that the loop's iterator calls.
    One that captured code makes has no object before the exit."""
    if not isinstance(value, Abstract):
        if value.paths.root is None:
            raise Break("PJ209", type="generator")
        return Output("value", interpreter.segment_input(value.paths.root, SKIP))
    if not isinstance(value, UnescapedFunction):
        return interpreter.exit_output(value)
    if value.name is None or value.context.depth and value.code.co_freevars:
        raise Break("PJ209", type="generator of an inlined function")
    context, names = interpreter.context, interpreter.function.cellvars + interpreter.function.freevars
    cells = [context.cell_owners(names.index(name))[-1].root for name in value.code.co_freevars]
    return Output("function", None, [Output("const", value.code), Output("const", value.name)]
                  + [Output("value", interpreter.segment_input(root, SKIP)) for root in cells])


def generator_of(callee: Any, bound: Dict[str, Abstract]) -> GeneratorFrame:
    """The generator that a call of a generator function gives; Break if no step of it can be inlined."""
    code = callee.function.__code__
    if code.co_cellvars:
        raise Break("PJ230", callee=callee.name, because="functions in a generator share its variables")
    names: List[str] = [name for name in code.co_varnames if name in bound]
    parts: Tuple[Abstract, ...] = tuple(bound[name] for name in names)
    return GeneratorFrame(callee, START, tuple(names), parts)
