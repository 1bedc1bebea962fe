"""Frameless calls: a kernel at the function's start runs before there is a frame.

`pijit.core._hook` binds the arguments and looks the call up under the guards of its entry. These guards fetch the
kernel's inputs, and the kernel runs (core/native/hook/dispatch.c). An exit that leads to a return hands over the
function's result. At any other exit linked code continues in a frame.
"""

from __future__ import annotations

from typing import Any, Dict, Iterable, Optional, Tuple

from pijit.core._hook import MOST_INPUTS
from pijit.core.bytecode.codec.decode import Function
from pijit.core.capture.build import cost_model
from pijit.core.capture.build.guards import launch_arguments, rebase
from pijit.core.capture.build.segment import Captured
from pijit.core.capture.driver import Capture
from pijit.core.capture.values.provenance import Root
from pijit.core.graph.ops import NEEDS_FRAME
from pijit.core.kernel.compile import Kernel
from pijit.core.named_tuples import NamedTuple


class FramelessStart(NamedTuple):
    """The kernel at a function's start: its launcher, and the positions of the inputs in a call without a frame."""

    launcher: Any
    inputs: Tuple[Any, ...]


def returning_exits(captured: Captured, kernel: Kernel, function: Function) -> Tuple[int, ...]:
    """The kernel's exits after which bytecode only returns the last value that they leave.

    All other values of these exits are constants: dead locals that become None.
    """
    returning = captured.returning(function)
    return tuple(id for id, (number, codes) in enumerate(kernel.exits)
                 if number in returning and all(code[0] == "const" for code in codes[:-1]))


def enlist_frameless_start(result: Capture) -> None:
    """Make the segment at the function's start a kernel although it is small, if it gains as a frameless start.

    It gains if other segments are kernels anyway, or together with small segments that gain something, too.
    """
    cfg = result.cfg
    small = [(number, candidate.captured) for number, candidate in enumerate(result.candidates)
             if candidate.captured is not None and candidate.error is not None
             and candidate.error.reason_id == "PJ401"]
    enlisted = [(number, captured) for number, captured in small if captured.start == 0]
    if len(enlisted) != 1:
        return
    first = enlisted[0][1]
    gain = cost_model.gain_as_frameless_start(first)
    if gain < 0 or entry_inputs(first, cfg.function) is None:
        return
    if all(candidate.error is not None for candidate in result.candidates):
        gains = [(one, cost_model.gain_after_frameless_start(one[1], cfg)) for one in small if one[1] is not first]
        if gain + sum(max(more, 0) for _, more in gains) < cost_model.FRAME_WORK:
            return
        enlisted += [one for one, more in gains if more > 0]
    for number, _ in enlisted:
        result.candidates[number] = result.candidates[number]._replace(error=None)


def frameless_start_of(function: Function, made: Iterable[Tuple[Any, Captured, Kernel]]) -> Optional[FramelessStart]:
    """The frameless start of a function, or None if the function needs a frame.

    ``made`` lists the launchers in the reverse order of their calls. A kernel that may reach a return is preferred.
    """
    starts = []
    for launcher, captured, kernel in made:
        inputs = entry_inputs(captured, function) if captured.start == 0 else None
        if inputs is not None:
            starts.append((bool(returning_exits(captured, kernel, function)), FramelessStart(launcher, inputs)))
    return sorted(starts, key=lambda one: one[0])[-1][1] if starts else None


def entry_inputs(captured: Captured, function: Function, most: float = MOST_INPUTS) -> Optional[Tuple[Any, ...]]:
    """The paths of a segment's inputs from function entry; None if an entry cannot have all guards of the segment.

    There are at most ``most`` inputs.
    """
    position: Dict[Root, int] = {}
    for root in launch_arguments(captured):
        slot = _slot(root, function)
        if slot is None:
            return None
        position[root] = slot
    known = [(fact.root, fact.source) for fact in captured.facts.values()]
    for pair in captured.pairs:
        known += [(pair.root, pair.source), (pair.other, pair.other_source)]
    inputs = tuple(rebase(path, position, function.freevars) for path in captured.inputs)
    if (len(inputs) > most
            or any(rebase(root, position, function.freevars) != source for root, source in known)
            or any(pair.source == pair.other_source for pair in captured.pairs)
            or any(op.name in NEEDS_FRAME for block in captured.graph.blocks for op in block.ops)):
        return None
    return inputs


def _slot(root: Root, function: Function) -> Optional[int]:
    """The position of a live-in in a frame that starts: an argument or the cell of a free variable; else None."""
    if root.kind == "local":
        number = function.varnames.index(root.name)
        return number if number < function.argument_count else None
    is_free = root.kind in ("cell", "closure") and not function.cellvars
    return len(function.varnames) + int(root.name) if is_free else None
