"""Calls with incompatible return types, such as a number or None: the caller is split by type.

The block of the call is made to end after it, so that the following blocks are versioned by the types.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Dict, List, Optional, cast

from pijit.core.bytecode.analysis.blocks import CFG
from pijit.core.bytecode.instructions.predicates import steps_iterator
from pijit.core.capture.state.frame_state import FrameState, join
from pijit.core.capture.values.base import Thrown
from pijit.core.capture.values.lattice import KERNEL_LOCAL, Abstract, Const, Unbound
from pijit.core.errors import Break
from pijit.core.graph.ir import Block
from pijit.core.named_tuples import NamedTuple

if TYPE_CHECKING:
    from pijit.core.capture.models.protocol import Interpreter

MAX_OUTCOMES = 3
MIXED = "the type of what it returns depends on the path"


class CallOutcome(NamedTuple):
    """One outcome of a callee: the result, the values of the locations that it writes, by name, and the block that
    continues from there."""

    result: Abstract
    written: Dict[str, Abstract]
    block: Optional[Block] = None

    def covering(self, other: "CallOutcome") -> "CallOutcome":
        """The outcome that covers both."""
        return CallOutcome(join(self.result, other.result),
                           {name: join(value, other.written[name]) for name, value in self.written.items()})

    def is_known(self) -> bool:
        left = [value for value in self.written.values() if not isinstance(value, Unbound)]
        return not any(value.knows_nothing() for value in [self.result, *left])


class CallOutcomes(Abstract):
    """The result of a call at the end of its block; ``outcomes`` are those of its paths, by the slot of the edge."""

    __slots__ = ("outcomes", "name")

    def __init__(self, outcomes: Dict[int, CallOutcome], name: str, defined_at: int = -1) -> None:
        super().__init__(None, defined_at)
        self.outcomes = outcomes
        self.name = name

    def key(self) -> Any:
        return tuple((slot, outcome.result) for slot, outcome in self.outcomes.items())

    def map(self, change: Callable[[Abstract], Abstract]) -> "CallOutcomes":
        """The same outcomes with ``change`` applied to each result."""
        return CallOutcomes({slot: outcome._replace(result=change(outcome.result))
                             for slot, outcome in self.outcomes.items()}, self.name)

    def states(self, state: FrameState) -> Dict[int, FrameState]:
        """The abstract states after the call, by slot."""
        def after(outcome: CallOutcome) -> FrameState:
            written = {name: value.forgotten() for name, value in outcome.written.items()}
            return FrameState(dict(state.locals, **written), state.stack[:-1] + [outcome.result])
        return {slot: after(outcome) for slot, outcome in self.outcomes.items()}

    def raises(self) -> bool:
        """Whether the call may raise an exception that its caller handles."""
        return any(isinstance(outcome.result, Thrown) for outcome in self.outcomes.values())

    def why_not(self) -> Break:
        return Break("PJ230", callee=self.name, because=MIXED)


class Cut(Exception):
    """Raised when a block of a function under analysis has to end before an instruction."""

    def __init__(self, cfg: CFG, index: int) -> None:
        super().__init__(index)
        self.cfg = cfg
        self.index = index


class LeavesInside(Exception):
    """Raised when a kernel would leave in the middle of a call during which attributes have other values, or write such
    an attribute."""


def sort_outcomes(found: List[CallOutcome]) -> Dict[int, List[int]]:
    """Group outcomes that can be joined: positions in ``found``, by the slot that the group gets."""
    groups: List[CallOutcome] = []
    members: Dict[int, List[int]] = {}
    for position, outcome in enumerate(found):
        both = [group.covering(outcome) for group in groups]
        slot = next((slot for slot, group in enumerate(both) if group.is_known()), len(groups))
        groups[slot:slot + 1] = both[slot:slot + 1] or [outcome]
        members.setdefault(slot, []).append(position)
    return members


def part(interpreter: Interpreter, outcomes: CallOutcomes) -> None:
    """Check that the paths can be split by type after the instruction.

    Raises:
        Break: the instruction uses the result itself, or the stack holds values that live inside one segment only.
        Cut: its block does not end with it.
    """
    index, cfg = interpreter.instr.index, interpreter.cfg
    holds_local = any(isinstance(value, KERNEL_LOCAL) for value in interpreter.state.stack)
    refused = any(isinstance(outcome.result, Const) and outcome.result.object is NotImplemented
                  for outcome in outcomes.outcomes.values())
    if holds_local or refused or not interpreter.gives_result() and not steps_iterator(interpreter.instr):
        raise outcomes.why_not()
    if cfg.blocks[cast(int, cfg.block_of[index])].end != index + 1:
        raise Cut(cfg, index + 1)
