"""How often a function is inlined into itself.

A function that calls itself is inlined up to `max_inline_depth`, or as often as that makes little code. Where control comes
to the next call of itself, the kernel leaves into the middle of the innermost callee, see `asides`, and bytecode makes
that call, of a function that is compiled; the rest of the callees is bytecode's as well.
"""

from __future__ import annotations

from types import CodeType
from typing import Any, Callable, Dict

from pijit.core.capture.callees import Callee
from pijit.core.capture.facts import Facts
from pijit.core.errors import Break

MAX_RECURSIVE = 1000
"""Instructions of a call of itself, with all that are inlined there: there may be twice as many with each level."""


class Recursion:
    """What is known of that during one capture: ``levels`` are how often functions are inlined into themselves, where
    that is less than the depth says; ``lowered`` counts the changes of it."""

    def __init__(self, max_depth: int) -> None:
        self.max_depth = max_depth
        self.levels: Dict[CodeType, int] = {}
        self.lowered = 0

    def require_room(self, facts: Facts, callee: Callee) -> None:
        """Break for a call that is one too many in the function that ``facts`` are of."""
        code = callee.function.__code__
        times = facts.within.count(code)
        because = "max_inline_depth is %d" % self.max_depth if facts.depth >= self.max_depth else None
        if because is None and times > self.levels.get(code, self.max_depth):
            because = "too much code is inlined"
        if because is not None:
            refusal = Break("PJ230", callee=callee.name, because=because)
            refusal.leaves = callee.jitted and times > 0
            raise refusal

    def analyse(self, facts: Facts, analyse: Callable[[], Any]) -> Any:
        """The analysis of a callee, which sees ``facts``; with fewer levels if it is too large."""
        code = facts.within[-1]
        while True:
            analysis = analyse()
            levels = self.levels.get(code, self.max_depth)
            if facts.within.count(code) != 2 or analysis.size <= MAX_RECURSIVE or levels < 2:
                return analysis
            self.levels[code], self.lowered = levels - 1, self.lowered + 1
