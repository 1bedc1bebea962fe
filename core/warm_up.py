"""Functions of whole programs earn their kernels: they run as they are until what they took is worth compiling them.

This module imports little: most programs that run for a second import nothing of the compiler.
A `Budget` says how much a program may spend on compiling: a share of the time that it has run.
A `Warmth` belongs to one function. It is asked before the first call, when calls have taken long enough, and at headers
of loops.
"""

from __future__ import annotations

import dis
import importlib
import sys
import time
import types
import weakref
from typing import Any, Callable, Optional, Tuple

from pijit.core import _hook
from pijit.core.bytecode.assembler import natives
from pijit.core.kernel.compile_permission import TooEarly
from pijit.guards._evaluate import EntryCache, Program

SHARE = 0.4
"""The part of the time that a program has run that it may spend on compiling."""
THRESHOLD = 0.05
"""Seconds that a function must have taken at least."""
FACTOR = 1.0
"""The part of the expected time of compiling that it must have taken."""
FIRST = 1.0
"""Seconds that the first kernel takes beside, for importing the compiler."""
PER_CHARACTER = 4e-5
"""Seconds that compiling takes for each character of a kernel's source, until kernels have shown it."""
CAPTURE = 0.05
"""Seconds that capturing and linking a function takes."""
IMPORTS = 0.8
"""Seconds that importing what captures takes, once."""
STARTUP = 0.2
"""Seconds that a program takes longer to start than without pijit."""
AGAIN = 0.02
"""Seconds until a function asks again for which there is no budget."""
NS = 10 ** 9
NEVER = float("inf")
BACK = ("JUMP_ABSOLUTE", "POP_JUMP_IF_TRUE", "POP_JUMP_IF_FALSE", "CONTINUE_LOOP", "JUMP_BACKWARD",
        "POP_JUMP_BACKWARD_IF_TRUE", "POP_JUMP_BACKWARD_IF_FALSE", "POP_JUMP_BACKWARD_IF_NONE", "POP_JUMP_BACKWARD_IF_NOT_NONE")


class Budget:
    """What a program may spend on compiling, and what it has spent.

    Args:
        clock: gives seconds of the processor, so that other processes do not count.
        threshold: see `THRESHOLD`.
        share: see `SHARE`.
    """

    def __init__(self, clock: Callable[[], float] = time.process_time, threshold: float = THRESHOLD,
                 share: float = SHARE) -> None:
        self.threshold = threshold
        self._share = share
        self._clock = clock
        self._began = clock()
        self._spent = STARTUP
        self._compiled, self._characters = 0.0, 0
        self._since: Optional[float] = None
        self._permitted: Optional[Tuple[int, float]] = None

    def expected(self) -> float:
        """Seconds that compiling a function takes of which nothing is known."""
        return CAPTURE + (0.0 if "pijit.core.pipeline" in sys.modules else IMPORTS)

    def of_source(self, source: str) -> float:
        """Seconds that compiling a kernel is expected to take."""
        rate = self._compiled / self._characters if self._compiled else PER_CHARACTER
        return rate * len(source) + (0.0 if "numba" in sys.modules else FIRST)

    def affords(self, seconds: float) -> bool:
        """Whether so much more may be spent now."""
        now = self._clock()
        spent = self._spent + (now - self._since if self._since is not None else 0.0)
        return spent + seconds <= self._share * (now - self._began - spent)

    def permit(self, source: str) -> None:
        """Let a kernel be compiled, or raise `TooEarly`. What is compiled outside of `spend` is not asked about."""
        self._learn()
        seconds = self.of_source(source)
        if self._since is None:
            return
        if not self.affords(seconds):
            raise TooEarly(seconds)
        importlib.import_module("numba.core.codegen")
        self._permitted = len(source), self._clock()

    def charge(self, seconds: float) -> None:
        """Count what was compiled outside of `spend`."""
        self._spent += seconds

    def spend(self, serve: Callable[..., Any], *args: Any) -> Any:
        """Call something that captures and compiles; its time counts."""
        if self._since is not None:
            return serve(*args)
        self._since = self._clock()
        try:
            return serve(*args)
        finally:
            self._learn()
            self._spent += self._clock() - self._since
            self._since = None

    def _learn(self) -> None:
        """Learn from the last kernel that was compiled how long that takes."""
        if self._permitted is not None:
            characters, began = self._permitted
            self._compiled += self._clock() - began
            self._characters += characters
            self._permitted = None


class Warmth:
    """What decides when a function of a program is compiled.

    Args:
        function: a JitFunction, which is made cold.
        budget: that of the program.
        warm: makes it a jitted function with a ``state``; called once.

    Attributes:
        is_cold: whether it still runs as it is.
        called: whether it was called.
    """

    def __init__(self, function: Any, budget: Budget, warm: Callable[[Any], None]) -> None:
        self.is_cold, self.called = True, False
        self._budget, self._warm = budget, warm
        self._cost = 0.0
        self._function = weakref.ref(function)
        self._program = Program((), (), (), (), 0, 0)
        self._cache = EntryCache(1)
        self._code: Optional[types.CodeType] = None
        function.chill(self.ask)

    def ask(self, ns: int) -> Optional[int]:
        """Whether the function is to be compiled: None, or at how many nanoseconds to ask again."""
        function = self._function()
        if function is None:
            return None
        if not self.called:
            self.called = True
            self._watch_loops(function)
        return self._decide(function, ns)

    def end(self, budgeted: bool = True) -> None:
        """Make the function a jitted one now. If budgeted, the program's budget pays for its kernels, or refuses them."""
        function = self._function()
        if function is None or not self.is_cold:
            return
        self.is_cold = False
        function.chill(None)
        if function.state is None:
            _hook.unmark(function.py_func.__code__)
            self._warm(function)
            if budgeted:
                function.state.budget, function.state.on_too_early = self._budget, self._cool
        function.state.warm_up()

    def _decide(self, function: Any, ns: int) -> Optional[int]:
        cost = max(self._cost, self._budget.expected())
        needed = max(self._budget.threshold, FACTOR * self._cost) * NS
        if ns < needed:
            return int(needed)
        if not self._budget.affords(cost):
            return ns + int(AGAIN * NS)
        self._budget.spend(self.end)
        return None

    def _cool(self, seconds: float) -> None:
        """Make the function cold again, since compiling it takes so long."""
        function = self._function()
        if function is None:
            return
        self._cost, self.is_cold = seconds, True
        function.state.not_before = NEVER
        function.state.cache.clear()
        if self._code is not None:
            function.state.cache.add(self._program, self._code)
        function.chill(self.ask, self._code is not None)

    def _watch_loops(self, function: Any) -> None:
        """Have calls run code that asks at the headers of loops, if there are any."""
        code = function.py_func.__code__
        if _hook.marked(code):
            return  # another function has this code too
        self._code = _cold_code(code, self._mover)
        if self._code is not None:
            self._cache.add(self._program, self._code)
            _hook.mark(code, self._cache, _nothing)
            function.chill(self.ask, True)

    def _mover(self, header: int) -> Callable[[int], Any]:
        """What makes the mover of a loop. The code that has it leads here, so it must not own this object."""
        weak = weakref.ref(self)

        def ask(code: Any, slots: Any, globals: Any, builtins: Any, visits: int) -> Any:
            alive = weak()
            return alive._arrive(header, code, (slots, globals, builtins)) if alive is not None else None

        return lambda stack: natives.mover(ask, stack)

    def _arrive(self, header: int, code: types.CodeType, roots: Tuple[Any, ...]) -> Any:
        """At a loop of a call: None, or the code to go on in and its local for the operand stack."""
        function = self._function()
        if function is None or self.is_cold and self._decide(function, function.heat) is not None:
            return None
        from pijit.core.bytecode.assembler.emit import to_go_on

        linked = function.state.on_arrival(header, code, roots)
        return to_go_on(linked) if linked is not None else None


def _nothing(*_: Any) -> None:
    """What the hook asks where the cache of a cold function serves nothing."""


def _cold_code(code: types.CodeType, mover: Callable[[int], Callable[[int], Any]]) -> Optional[types.CodeType]:
    """The code, asking at the headers of its loops; None if there are none where a call can move."""
    from pijit.core.bytecode.analysis.blocks import build_cfg
    from pijit.core.bytecode.linker.osr import move_points
    from pijit.core.bytecode.normal_form.normalise import decode_normal, normal_code

    if not _has_loops(code):
        return None
    cfg = build_cfg(decode_normal(normal_code(code, False)))
    headers = [header for header, because in move_points(cfg).items() if because is None]
    if not headers:
        return None
    from pijit.core.bytecode.linker.link import link

    return link(cfg, (), (), movers={header: mover(header) for header in headers})


def _has_loops(code: types.CodeType) -> bool:
    """Whether control can go back."""
    return any(instr.opname in BACK and isinstance(instr.argval, int) and instr.argval <= instr.offset
               for instr in dis.get_instructions(code))
