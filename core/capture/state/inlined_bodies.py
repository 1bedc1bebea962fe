"""Bodies of inlined functions: control flow and liveness, which do not depend on the arguments."""

from __future__ import annotations

from types import CodeType
from typing import Any, Dict, FrozenSet, Iterable, NamedTuple, Optional, Sequence

from pijit.core.bytecode.analysis.blocks import CFG, build_cfg
from pijit.core.bytecode.analysis.liveness import Liveness
from pijit.core.bytecode.instructions.predicates import is_return
from pijit.core.bytecode.rewrite.cells import decode_with_locals
from pijit.core.bytecode.rewrite.method_calls import plain_module_calls


class Body(NamedTuple):
    """A decoded body. ``doomed`` are the blocks from which no path returns. For a step of a generator, ``yields`` maps
    the returns that stand for yields."""

    cfg: CFG
    liveness: Liveness
    doomed: FrozenSet[int]
    yields: Optional[Dict[int, int]] = None


class KeptLiveness(Liveness):
    """Liveness in which some variables are live everywhere, because assignments do not change where they are stored."""

    __slots__ = ("_kept",)

    def __init__(self, cfg: CFG, kept: Iterable[str]) -> None:
        super().__init__(cfg)
        self._kept = frozenset(kept)

    def live_in(self, index: int) -> FrozenSet[str]:
        return super().live_in(index) | self._kept


def body_of(code: CodeType, globals: Dict[str, Any], free: Sequence[str] = (), kept: Sequence[str] = ()) -> Body:
    """The decoded body of a function's code.

    Its cell variables and the ``free`` ones are plain locals. The variables ``kept`` stay in their cells and are always
    live.
    """
    cfg = build_cfg(decode_with_locals(code, free, kept))
    plain = plain_module_calls(cfg, globals)
    if plain is not None:
        cfg = build_cfg(decode_with_locals(plain, free, kept))
    body = body_with(cfg)
    return body._replace(liveness=KeptLiveness(cfg, kept)) if kept else body


def body_with(cfg: CFG) -> Body:
    """The body with these blocks."""
    return Body(cfg, Liveness(cfg), doomed_blocks(cfg))


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
