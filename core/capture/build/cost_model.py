"""Cost model: whether a kernel saves more than its call costs, compared with bytecode.

The unit is the cost of an operation on two Python floats in bytecode. The constants are ratios of times measured in one
run (docs/design.md, "What is worth a kernel"). They need to be right only within a factor, because a kernel near the
limit gains and loses little.
"""

from __future__ import annotations

from typing import Any, Optional, cast

import numpy as np

from pijit.core.bytecode.analysis.blocks import CFG
from pijit.core.bytecode.codec.decode import Function
from pijit.core.bytecode.instructions import opcodes
from pijit.core.capture.analysis.regions import Region
from pijit.core.capture.build.segment import Captured
from pijit.core.errors import Break
from pijit.core.graph.ir import Graph, Leave, Op, Value
from pijit.core.graph.ops import CALLS_LIBRARY, COSTS_ELEMENT, COSTS_NOTHING, EFFECTS
from pijit.core.graph.passes.fusion import converts
from pijit.core.graph.types import Array, Scalar

SEGMENT_WORK = 8
"""Cost of calling a kernel from linked code, without its arguments and results."""
FRAME_WORK = 5
"""Cost per function call of having linked code at all: guards and a second frame."""
VALUE_WORK = 1
"""Cost of a value that enters or leaves a kernel."""
BOXED_WORK = 2
"""Cost of an array or a NumPy scalar that enters or leaves a kernel."""
WHOLE_WORK = 5
"""Cost of calling a kernel in place of a function, without a frame."""
HEAD_WORK = 1
"""Cost of the kernel at the start of a function, called before there is a frame, where linked code is needed anyway.

The guards fetch its arguments, and the frame begins after it.
"""
ARRAY_WORK = 20
"""Lower bound of the cost of a NumPy call on arrays."""
ELEMENT_WORK = 3
"""Cost of an operation on a NumPy scalar or on one element of an array."""
MOVES = (opcodes.STACK_MOVES | opcodes.PAIR_COPIES | opcodes.CONSTANT_LOADS | opcodes.LOCAL_LOADS | opcodes.LOCAL_STORES
         | opcodes.GLOBAL_LOADS | opcodes.PLAIN_JUMPS | opcodes.NO_OPERATIONS | opcodes.BLOCK_ENDS
         | opcodes.HANDLER_SETUPS | opcodes.LOOP_SETUPS)
"""Instructions that add no operation to the graph."""


def only_moves(region: Region, function: Function) -> bool:
    """Whether a region does no work, which is known without building its graph."""
    return all(function.instructions[index].opname in MOVES for index in region.instructions())


def why_not_worth(captured: Captured, cfg: CFG) -> Optional[Break]:
    """The break if calling the segment's kernel costs more than it saves, else None. A loop is always worth it."""
    work = work_of(captured.graph)
    if work and captured.has_loop or work >= least_work(captured, cfg):
        return None
    return Break("PJ401", work=work)


def work_of(graph: Graph) -> int:
    """A rough measure of what a kernel saves."""
    return sum(_work_of(op) for block in graph.blocks for op in block.ops if op.name not in COSTS_NOTHING)


def _work_of(op: Op) -> int:
    if op.name in CALLS_LIBRARY and not _converts_halves(op):  # the library call is no faster than in bytecode
        return 1
    if op.name in COSTS_ELEMENT:
        return ELEMENT_WORK
    types = [value.type for value in op.args] + ([op.result.type] if op.result is not None else [])
    if any(isinstance(kind, Array) for kind in types) and not stores_into_object(op):
        return ARRAY_WORK
    return ELEMENT_WORK if any(map(_is_numpy_scalar, types)) else 1


def _converts_halves(op: Op) -> bool:
    """Whether an operation makes integers of float16, which a nest does faster than NumPy."""
    return converts(op) and cast(Array, op.args[0].type).dtype == np.float16


def least_work(captured: Captured, cfg: CFG) -> int:
    """The minimum work with which this segment of a function is worth a kernel."""
    if captured.returning(cfg.function):
        return WHOLE_WORK
    return _segment_work(captured.graph) + (0 if _in_loop(captured, cfg) else FRAME_WORK)


def gain_as_frameless_start(captured: Captured) -> int:
    """The saving of a segment as the kernel that runs before a call has a frame, if linked code costs nothing."""
    return work_of(captured.graph) - HEAD_WORK - _leaving(captured.graph)


def gain_after_frameless_start(captured: Captured, cfg: CFG) -> int:
    """The saving of a segment that follows the frameless start; 0 in a loop, where each iteration would pay for it."""
    return 0 if _in_loop(captured, cfg) else work_of(captured.graph) - _segment_work(captured.graph)


def _in_loop(captured: Captured, cfg: CFG) -> bool:
    return any(cfg.block_of[captured.start] in loop.body for loop in cfg.loops)


def _segment_work(graph: Graph) -> int:
    return SEGMENT_WORK + sum(map(_crossing, graph.inputs)) + _leaving(graph)


def _leaving(graph: Graph) -> int:
    """The cost of the values that leave the kernel, at the most expensive exit."""
    return max((sum(map(_crossing, block.terminator.exit.values())) for block in graph.blocks
                if isinstance(block.terminator, Leave)), default=0)


def _crossing(value: Value) -> int:
    return BOXED_WORK if isinstance(value.type, Array) or _is_numpy_scalar(value.type) else VALUE_WORK


def _is_numpy_scalar(kind: Any) -> bool:
    return isinstance(kind, Scalar) and kind.family == "np"


def stores_into_object(op: Op) -> bool:
    """Whether the operation is an effect on a Python object, which bytecode executes about as fast."""
    return op.name in EFFECTS and not isinstance(op.args[0].type, Array)
