"""Type propagation in inlined callees: a return ends a path with an outcome, and an exception may leave the callee.

The inliner runs it. It records no operations.
"""

from __future__ import annotations

from typing import Any, Dict, Optional, Tuple

from pijit.core.bytecode.analysis.blocks import CFG
from pijit.core.bytecode.analysis.liveness import Liveness
from pijit.core.bytecode.codec.decode import Function, Instr
from pijit.core.capture.context import CaptureContext
from pijit.core.capture.interpreter.type_propagation import TypePropagator
from pijit.core.capture.models.iteration import generators
from pijit.core.capture.state.edges import RETURN
from pijit.core.capture.state.heap_locations import is_location
from pijit.core.capture.state.return_kinds import CallOutcome
from pijit.core.capture.values.base import Thrown
from pijit.core.capture.values.value_specialisation import SPECIALISED
from pijit.core.errors import Break
from pijit.guards.facts import is_exactly


class CalleePropagator(TypePropagator):
    """Propagates types through a callee; a return ends a path.

    Attributes:
        yields: for a generator's step, the points at which it is suspended, by instruction.
        predicted: by branch on a number from outside, whether the present value jumps.
        thrown: exceptions for the caller, by version, instruction and class.
    """

    def __init__(self, function: Function, context: CaptureContext, cfg: CFG, liveness: Liveness,
                 yields: Optional[Dict[int, int]]) -> None:
        super().__init__(function, context, cfg, liveness)
        self.yields = yields
        self.predicted: Dict[int, bool] = {}
        self.thrown: Dict[Tuple[int, int, type], CallOutcome] = {}

    def throw(self, cls: type, block: Any) -> None:
        self.thrown[self.version, self.instr.index, cls] = CallOutcome(
            Thrown(cls, self.instr.index),
            {name: held for name, held in self.before.locals.items() if is_location(name)})

    def jump_if(self, when: bool, keep: Optional[bool]) -> None:
        """Note the direction that a branch takes for the present value of a number from outside."""
        sample = getattr(self.state.stack[-1], "sample", None)
        super().jump_if(when, keep)
        if is_exactly(sample, SPECIALISED):
            self.predicted[self.instr.index] = bool(sample) == when

    def op_RETURN_VALUE(self, instr: Instr) -> None:
        if self.cfg.successors[instr.index]:
            raise Break("PJ206", opcode=instr.opname)
        self.returned = generators.handed_out(self, self.yields)
        self.transfer = RETURN
