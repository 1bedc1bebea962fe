"""Bodies of inlined functions: control flow and liveness, which do not depend on the arguments."""

from __future__ import annotations

from typing import Dict, FrozenSet, Iterable, Optional, Sequence

from pijit.core.bytecode.analysed_code import AnalysedCode
from pijit.core.bytecode.analysis.blocks import CFG
from pijit.core.bytecode.analysis.liveness import Liveness
from pijit.core.bytecode.instructions.predicates import is_return
from pijit.core.named_tuples import NamedTuple


class Body(NamedTuple):
    """An analysed body. ``doomed`` are the blocks from which no path returns. For a step of a generator, ``yields``
    maps the returns that stand for yields."""

    analysed: AnalysedCode
    liveness: Liveness
    doomed: FrozenSet[int]
    yields: Optional[Dict[int, int]] = None

    @property
    def cfg(self) -> CFG:
        return self.analysed.cfg

    def cut(self, index: int) -> "Body":
        """The same body, with an additional block start at an instruction."""
        analysed = self.analysed.cut(index)
        return self._replace(analysed=analysed, doomed=doomed_blocks(analysed.cfg))


class KeptLiveness(Liveness):
    """Liveness in which some variables are live everywhere, because assignments do not change where they are stored."""

    __slots__ = ("_kept",)

    def __init__(self, cfg: CFG, kept: Iterable[str]) -> None:
        super().__init__(cfg)
        self._kept = frozenset(kept)

    def live_in(self, index: int) -> FrozenSet[str]:
        return super().live_in(index) | self._kept


def body_of(analysed: AnalysedCode, kept: Sequence[str] = ()) -> Body:
    """The body with this code. The variables ``kept`` stay in their cells and are always live."""
    liveness = KeptLiveness(analysed.cfg, kept) if kept else analysed.liveness()
    return Body(analysed, liveness, doomed_blocks(analysed.cfg))


def doomed_blocks(cfg: CFG) -> FrozenSet[int]:
    """The blocks from which no path returns."""
    instructions = cfg.function.instructions
    todo = [block.index for block in cfg.blocks if is_return(instructions[block.end - 1])]
    returning = set(todo)
    while todo:
        for index in cfg.blocks[todo.pop()].predecessors:
            if index not in returning:
                returning.add(index)
                todo.append(index)
    return frozenset(block.index for block in cfg.blocks) - returning
