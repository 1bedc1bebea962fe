"""How often a function is inlined into itself.

A function that calls itself is inlined up to `max_inline_depth`, or as often as that makes little code. Where control comes
to the next call of itself, the kernel leaves into the middle of the innermost callee, see `asides`, and bytecode makes
that call, of a function that is compiled: jitted, or announced by the rest of the callee, which is bytecode's as well.
"""

from __future__ import annotations

from types import CodeType
from typing import Any, Callable, Dict, List, Tuple

from pijit.core.capture.context import Facts, Place
from pijit.core.capture.models.functions.callees import Callee
from pijit.core.capture.values.lattice import Opaque
from pijit.core.errors import Break

MAX_RECURSIVE = 3000
"""Instructions that are inlined at a function's calls of itself: there may be twice as many with each level."""
HANDLING = frozenset(["SETUP_FINALLY", "SETUP_EXCEPT", "SETUP_WITH", "PUSH_EXC_INFO"])
"""What handles exceptions is analysed twice at each level, for calls that raise and those that do not."""


class Recursion:
    """What is known of that during one capture: ``levels`` are how often functions are inlined into themselves, where
    that is less than the depth says; ``lowered`` counts the changes of it. ``calls`` are by code and instruction the
    (code, name) of what callees call that is among the functions around, undecorated ones."""

    def __init__(self, max_depth: int) -> None:
        self.max_depth, self.because = max_depth, "max_inline_depth is %d" % max_depth
        self.levels: Dict[CodeType, int] = {}
        self.lowered = 0
        self.calls: Dict[CodeType, Dict[int, List[Tuple[CodeType, str]]]] = {}

    def require_room(self, facts: Facts, callee: Callee) -> None:
        """Break for a call that is one too many in the function that ``facts`` are of."""
        code = callee.function.__code__
        times = facts.within.count(code)
        because = self.because if facts.depth >= self.max_depth else None
        if because is None and times > self.levels.get(code, self.max_depth):
            because = "too much code is inlined"
        if because is not None:
            refusal = Break("PJ230", callee=callee.name, because=because)
            handles = any(instr.opname in HANDLING for instr in facts.function.instructions)
            refusal.leaves = times > 0 and not handles
            raise refusal

    def note(self, interpreter: Any, callee: Callee) -> None:
        """Note what a callee calls: in its rest the call is one of a function that is compiled on its own."""
        code, facts = callee.function.__code__, interpreter.facts
        if facts.depth and not callee.jitted and code in facts.within:
            known = self.calls.setdefault(facts.function.code, {}).setdefault(interpreter.instr.index, [])
            if all(other is not code for other, _ in known):
                known.append((code, callee.name))

    def calls_in(self, facts: Facts) -> Tuple[Tuple[int, Tuple[Tuple[CodeType, str], ...]], ...]:
        """What was noted of calls in the function that ``facts`` are of."""
        noted = self.calls.get(facts.function.code, {})
        return tuple((index, tuple(noted[index])) for index in sorted(noted))

    def by_one_path(self, interpreter: Any, callee: Callee) -> Callee:
        """A function as it was found around the call: one path to it is enough to guard what leads on from there."""
        for known in interpreter.facts.around:
            if known.function is callee.function and None not in (known.place.root, callee.place.root):
                interpreter.same_object(*[_found_at(one.place, callee.function) for one in (known, callee)])
                return callee._replace(place=known.place)
        return callee

    def analyse(self, interpreter: Any, facts: Facts, analyse: Callable[[], Any]) -> Any:
        """The analysis of a callee, which sees ``facts``; with fewer levels if it and others there are too large."""
        code, sizes = facts.within[-1], interpreter.facts.sizes
        analysis = analyse()
        sizes[interpreter.instr.index] = analysis.size
        while facts.within.count(code) == 2 and sum(sizes.values()) > MAX_RECURSIVE:
            levels = self.levels.get(code, self.max_depth)
            if levels < 2:
                break
            self.levels[code], self.lowered = levels - 1, self.lowered + 1
            analysis = analyse()
            sizes.update({index: min(size, analysis.size) for index, size in sizes.items()})
        return analysis


def _found_at(place: Place, function: Any) -> Opaque:
    found = Opaque(function, place.source)
    found.root = place.root
    return found
