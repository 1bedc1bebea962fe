"""Recursion: how often a function is inlined into itself.

A function that calls itself is inlined up to `max_inline_depth`, or less often where that makes too much code. At
the next call of itself the kernel exits into the middle of the innermost callee, see `cold_paths`, and bytecode
makes that call. The called function is compiled: it is jitted, or the callee's continuation, which bytecode runs as
well, announces it. Called by the inliner.
"""

from __future__ import annotations

from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Tuple, cast

from pijit.core.bytecode.instructions.predicates import handles_exceptions
from pijit.core.capture.context import AccessPaths, CaptureContext
from pijit.core.capture.models.functions.callees import Callee
from pijit.core.capture.values.lattice import OpaqueObject
from pijit.core.capture.values.libraries import computes_for_users
from pijit.core.errors import Break

if TYPE_CHECKING:
    from pijit.core.capture.models.protocol import Interpreter

DEEPEST = 3
"""How deep calls are inlined if functions of `pijit.ms` are among them, as a multiple of `max_inline_depth`."""
MAX_RECURSIVE, MOST_OF_CELLS = 3000, 4500
"""Most instructions that are inlined at a function's calls of itself. Each level may double them. Those of functions of
`pijit.ms` do not: they are cells in cells."""


class Recursion:
    """Facts about recursion during one capture.

    ``levels`` is how often a function is inlined into itself, where that is less than the depth allows. ``lowered``
    counts the changes of ``levels``. ``calls`` has, by code and instruction, the (code, name) of undecorated
    callees that are among the functions around.
    """

    def __init__(self, max_depth: int) -> None:
        self.max_depth, self.because = max_depth, "max_inline_depth is %d" % max_depth
        self.levels: Dict[CodeType, int] = {}
        self.lowered = 0
        self.calls: Dict[CodeType, Dict[int, List[Tuple[CodeType, str]]]] = {}

    def is_full(self, context: CaptureContext) -> bool:
        """Whether a call in the function of ``context`` exceeds the depth. Functions of `pijit.ms` do not count, up to
        `DEEPEST` times the depth: networks are cells in cells, with a few calls for each."""
        if context.depth < self.max_depth:
            return False
        counted = context.depth - sum(computes_for_users(callee.function) for callee in context.around)
        return counted >= self.max_depth or context.depth >= DEEPEST * self.max_depth

    def require_room(self, context: CaptureContext, callee: Callee) -> None:
        """Break if a call in the function of ``context`` exceeds the depth or the size limit."""
        code = callee.function.__code__
        times = context.within.count(code)
        because = self.because if self.is_full(context) else None
        if because is None and times > self.levels.get(code, self.max_depth):
            because = "too much code is inlined"
        if because is not None:
            refusal = Break("PJ230", callee=callee.name, because=because)
            # Handlers are analysed twice at each level: for calls that raise and for calls that do not.
            handles = any(map(handles_exceptions, context.function.instructions))
            refusal.leaves = times > 0 and not handles
            raise refusal

    def note(self, interpreter: Interpreter, callee: Callee) -> None:
        """Note a recursive call in a callee: in the callee's continuation,
        it calls a function that is compiled on its own."""
        code, context = callee.function.__code__, interpreter.context
        if context.depth and not callee.jitted and code in context.within:
            known = self.calls.setdefault(context.function.code, {}).setdefault(interpreter.instr.index, [])
            if all(other is not code for other, _ in known):
                known.append((code, callee.name))

    def calls_in(self, context: CaptureContext) -> Tuple[Tuple[int, Tuple[Tuple[CodeType, str], ...]], ...]:
        """The noted calls in the function of ``context``."""
        noted = self.calls.get(context.function.code, {})
        return tuple((index, tuple(noted[index])) for index in sorted(noted))

    def by_one_path(self, interpreter: Interpreter, callee: Callee) -> Callee:
        """A callee, with the access paths of the same function around the call:
        one path is enough to guard all that it leads to."""
        for known in interpreter.context.around:
            if known.function is callee.function and None not in (known.paths.root, callee.paths.root):
                interpreter.same_object(*[_found_at(one.paths, callee.function) for one in (known, callee)])
                return callee._replace(paths=known.paths)
        return callee

    def analyse(self, interpreter: Interpreter, context: CaptureContext, analyse: Callable[[], Any]) -> Any:
        """The analysis of a callee, which sees ``context``;
        repeated with fewer levels if the callees are too large together."""
        code, sizes = context.within[-1], interpreter.context.findings.sizes
        is_cell = context.callee is not None and computes_for_users(
            cast(FunctionType, context.callee.function))
        most = MOST_OF_CELLS if is_cell else MAX_RECURSIVE
        analysis = analyse()
        sizes[interpreter.instr.index] = analysis.size
        while context.within.count(code) == 2 and sum(sizes.values()) > most:
            levels = self.levels.get(code, self.max_depth)
            if levels < 2:
                break
            self.levels[code], self.lowered = levels - 1, self.lowered + 1
            analysis = analyse()
            sizes.update({index: min(size, analysis.size) for index, size in sizes.items()})
        return analysis


def _found_at(paths: AccessPaths, function: Any) -> OpaqueObject:
    found = OpaqueObject(function, paths.source)
    found.root = paths.root
    return found
