"""Exits of a segment's graph: the values that bytecode finds in variables and on the operand stack.

A side exit returns to the last resume point, so that bytecode repeats no effect.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Collection, Container, List, Set, Tuple, cast

from pijit.core.bytecode.instructions.opcodes import CELL_LOADS, CONSTANT_LOADS, GLOBAL_LOADS, INPLACE, LOCAL_LOADS
from pijit.core.bytecode.instructions.predicates import is_return
from pijit.core.bytecode.linker.continuation import Continuation
from pijit.core.bytecode.linker.deferred_warning import FlagReport
from pijit.core.capture.analysis.regions import RegionBlock
from pijit.core.capture.build.exit_outputs import EXIT_OUTPUTS
from pijit.core.capture.build.pending_calls import is_stuck, stack_outputs
from pijit.core.capture.build.segment import Refusal
from pijit.core.capture.models.stdlib.context_managers import Manager, again_at, given
from pijit.core.capture.state.frame_state import FrameState
from pijit.core.capture.state.heap_locations import is_location
from pijit.core.capture.values.lattice import (
    KERNEL_LOCAL,
    UNBOUND,
    Abstract,
    Const,
    ListElement,
    Number,
    Sequence,
    Unbound,
    UnescapedFunction,
    class_of,
)
from pijit.core.errors import Break
from pijit.core.graph.ir import Exit, Op, Output, SideExit
from pijit.core.graph.types import FLAG, INT
from pijit.guards.facts import type_name

if TYPE_CHECKING:
    from pijit.core.capture.build.graph_builder import GraphBuilder

LOADS = CELL_LOADS | CONSTANT_LOADS | GLOBAL_LOADS | LOCAL_LOADS
ITERATIONS = "$iterations"
"""The name of a re-entry's iteration count. It leaves the kernel like a local variable, but is none."""


def resumption(builder: GraphBuilder, index: int) -> Tuple[int, FrameState]:
    """The resume point of side exits from now on."""
    return again_at(builder.cfg, index), builder.state.copy()


def exit_to(builder: GraphBuilder, target: int, state: FrameState, side: bool, poll: bool = False,
            reentry: Any = None) -> SideExit:
    """An exit to ``target``. Dead variables drop the objects that they held."""
    return _exit(builder, target, builder.liveness.live_in(target), state, side=side, poll=poll, reentry=reentry)


def abandoned(builder: GraphBuilder) -> SideExit:
    """The exit of a kernel that gives the call up; it leaves no values."""
    return SideExit(builder.graph.exit_number(Exit(0, (), 0, True)), ())


def before_loads(builder: GraphBuilder, region_block: RegionBlock) -> Tuple[int, FrameState]:
    """Where bytecode resumes that continues at the end of a block, and the state there.

    Bytecode rematerializes what the last instructions only load: that costs less than to pass it. It never resumes at
    the start of a block, where a launcher may be. It resumes at a return with the result: such a kernel needs no frame.
    """
    end, stack = region_block.end, list(builder.state.stack)
    returns = is_return(builder.function.instructions[end])
    while not returns and end - 1 > region_block.start and builder.function.instructions[end - 1].opname in LOADS:
        end -= 1
        stack.pop()
    return end, FrameState(builder.state.locals, stack)


def exit_inside(builder: GraphBuilder, rest: Continuation, packed: Output) -> SideExit:
    """An exit in the middle of the call that is being built: bytecode runs its continuation and resumes after the
    call."""
    target = after_call(builder)
    return _exit(builder, target, live_around(builder, target), builder.state, (packed,), side=True, poll=True,
                 rest=rest)


def _exit(builder: GraphBuilder, target: int, live: Collection[str], state: FrameState, top: Tuple[Output, ...] = (),
          **how: Any) -> SideExit:
    """An exit with these values of variables, and the operand stack below ``top``."""
    cold = how["side"] or how.get("poll", False)
    if cold and builder.context.options.abandons:
        return abandoned(builder)
    in_traceback = _live_in_traceback(builder, live, state, target) if cold else live
    deleted = tuple(name for name in sorted(builder.stored.union(in_traceback))
                    if _is_deleted(builder, name, in_traceback, state, cold))
    names, outputs, stack = _left(builder, in_traceback, state, deleted)
    empty = tuple(k for k, value in enumerate(state.stack[builder.depth:]) if isinstance(value, Unbound))
    makers = given(state.stack)
    target = again_at(builder.cfg, target) if makers else target
    number = builder.graph.exit_number(
        Exit(target, names, len(top) + len(stack), given=makers, deleted=deleted, empty=empty, **how))
    return SideExit(number, outputs + [*top] + stack)


def may_report(builder: GraphBuilder) -> bool:
    """Whether an in-place operator may exit after its write: all values that bytecode needs there can leave the
    kernel."""
    if builder.instr.opname not in INPLACE:
        return False
    try:
        _left(builder, live_around(builder, builder.instr.index + 1), builder.state)
    except Break:
        return False
    return True


def report(builder: GraphBuilder, report: FlagReport, written: Abstract) -> None:
    """Exit after an operation that has written an array if it has raised flags; the exit passes the array and the
    flags."""
    target = builder.instr.index + 1
    flags = builder.emit("raised", [], INT)
    none = builder.emit("compare", [flags, builder.number_value(Const(0))], FLAG, {"operator": "=="})
    packed = Output("tuple", None, [builder.exit_output(written), builder.exit_output(Number(INT, flags))])
    exit = _exit(builder, target, live_around(builder, target), builder.state, (packed,), side=True, rest=report)
    builder.block.ops.append(Op("require", [none], {}, None, exit, builder.instr.lineno or 0))


def after_call(builder: GraphBuilder) -> int:
    """The instruction after the call that is being built, if the call pushes its result.

    Raises:
        Break: the instruction processes the result first.
    """
    if not builder.gives_result():
        raise Break("PJ231")
    following: int = builder.instr.index + 1
    return following


def live_around(builder: GraphBuilder, target: int) -> Set[str]:
    """The variables that are live at ``target``, and those that the statement reads, because both must be visible
    in the frame during a call."""
    return set(builder.liveness.live_in(target)).union(
        builder.liveness.live_in(builder.resume[0]) if builder.resume else ())


def _live_in_traceback(builder: GraphBuilder, live: Collection[str], state: FrameState, target: int) -> Set[str]:
    """The live variables, and dead variables that hold numbers, because a traceback shows them.

    Dead numbers are left out in loops, where they would occupy a register in each iteration.
    """
    if builder.cfg.loop_of(cast(int, builder.cfg.block_of[target])) is not None:
        return set(live)
    return {name for name, value in state.locals.items() if isinstance(value, Number)}.union(live)


def _left(builder: GraphBuilder, live: Container[str], state: FrameState,
          deleted: Container[str] = ()) -> Tuple[Tuple[str, ...], List[Output], List[Output]]:
    """The changed locals, their values, and the operand stack above the part that the region does not touch."""
    builder.leaving = set()
    names, outputs = [], []
    for name, value in state.locals.items():
        if value is builder.entry_state.locals.get(name) or is_location(name) or name in deleted:
            continue
        if name in live and isinstance(value, Unbound):
            continue
        if name in live or name == ITERATIONS or isinstance(value, ListElement):  # its deletion may have effects
            names.append(name)
            outputs.append(builder.exit_output(value))
        elif not isinstance(builder.entry_state.locals.get(name, UNBOUND), (Unbound, Number)):
            names.append(name)
            # a constant that was fetched would live as long as the kernel
            keeps = isinstance(value, Const) and value.root is None
            outputs.append(Output("const", value.object if keeps else None))  # type: ignore[attr-defined]
    held = [value for value in state.stack[builder.depth:] if not isinstance(value, Unbound)]
    return tuple(names), outputs, stack_outputs(builder, held)[::-1]


def _is_deleted(builder: GraphBuilder, name: str, live: Container[str], state: FrameState, cold: bool) -> bool:
    """Whether a variable is left unbound: captured code has deleted it, or its value is not available.

    The second applies where a traceback may show the frame, in which an older value would be wrong.
    """
    value, before = state.locals.get(name), builder.entry_state.locals.get(name)
    if is_location(name) or isinstance(before, Unbound):
        return False
    if name in live:
        return isinstance(value, Unbound)
    if not cold or value is not None and value is before or isinstance(value, (Const, ListElement)):
        return False
    return name != ITERATIONS and name in builder.function.varnames


def exit_output(builder: GraphBuilder, value: Abstract) -> Output:
    return EXIT_OUTPUTS[type(value)](builder, value)


def leave_once(builder: GraphBuilder, value: Abstract) -> None:
    """Note an object that the exit creates. In two places it would become two objects, so bytecode must make it."""
    if value.defined_at in builder.leaving and not (isinstance(value, Sequence) and not value.items):
        maker = value.defined_at if value.defined_at not in builder.analysis.refused else builder.instr.index
        kind = ("function" if isinstance(value, UnescapedFunction)
                else type_name(class_of(value)))  # type: ignore[arg-type]
        because = "the %s is in two places" % kind
        raise Refusal(maker, Break("PJ216", because=because))
    builder.leaving.add(value.defined_at)


def may_resume(builder: GraphBuilder, begins: bool) -> bool:
    """Whether the resume point of side exits moves to here. ``begins``: a statement may begin here."""
    if builder.wrote or builder.resume is None:
        return not is_stuck(builder.state.stack)
    return begins and not has_kernel_local(builder)


def has_kernel_local(builder: GraphBuilder) -> bool:
    return any(isinstance(value, KERNEL_LOCAL) and not isinstance(value, Manager) for value in builder.state.stack)


def side_exit(builder: GraphBuilder, poll: bool = False) -> SideExit:
    """A side exit to the start of the statement, or after its last effect, so that bytecode repeats no effect.

    With few resume points there are few exits, and temporaries of a statement need not be kept for them.
    """
    if builder.context.options.abandons:
        return abandoned(builder)
    if builder.wrote or builder.resume is None:
        raise Break("PJ202", opcode=builder.instr.opname)
    exit: SideExit = builder.exit_to(builder.resume[0], builder.resume[1], True, poll)
    return exit
