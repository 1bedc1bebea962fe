"""Warm-up of functions of whole programs: they run uncompiled until their time justifies compiling them.

This module imports little: most programs that run for a second import nothing of the compiler.
A `Budget` limits the time for compiling to a share of the time that the program has run.
A `WarmUp` belongs to one function. It is asked before the first call, when calls have taken long enough, and at headers
of loops.
"""

from __future__ import annotations

import importlib
import sys
import time
import types
import weakref
from typing import Any, Callable, Optional, Tuple

from pijit.core import _hook
from pijit.core.bytecode.assembler import natives
from pijit.core.bytecode.instructions.scan import has_backward_jump
from pijit.core.kernel.compile_permission import TooEarly
from pijit.guards._evaluate import EntryCache, Program

SHARE = 0.2
"""Part of the program's running time that may be spent on compiling."""
THRESHOLD = 0.05
"""Minimum of seconds that a function must have taken."""
FACTOR = 1.0
"""Minimum of the time that a function must have taken, as a multiple of the expected compile time."""
STARTUP = 0.1
"""Seconds of a program's start because of pijit, if they were not measured."""
SLOWEST_STARTUP = 1.0
"""Maximum of seconds that count as a program's start; a process that has run for long has not just started."""
IMPORTS = 4.0
"""Estimated time for importing the capturer, once, as a multiple of the start's. Both read and run many modules."""
NUMPY = 1.5
"""Estimated additional time for importing NumPy, once, as a multiple of the start's."""
FIRST = 3.0
"""Estimated additional time of the first kernel, for importing the compiler, as a multiple of the start's."""
CAPTURE = 0.75
"""Estimated time for capturing and linking a function, as a multiple of the start's."""
PER_CHARACTER = 6e-4
"""Estimated time of compiling per character of a kernel's source, as a multiple of the start's, until measured."""
USUAL_SOURCE = 2500
"""Characters of a kernel's source, before there is one."""
AGAIN = 0.02
"""Seconds until a function without budget asks again."""
NS = 10 ** 9
NEVER = float("inf")


class Budget:
    """The time that a program may spend on compiling, and the time that it has spent.

    Args:
        clock: returns processor seconds, so that other processes do not count.
        threshold: see `THRESHOLD`.
        share: see `SHARE`.
        startup: processor seconds that the start of the program took. They measure the machine: other times are
            estimated as multiples.
    """

    def __init__(self, clock: Callable[[], float] = time.process_time, threshold: float = THRESHOLD,
                 share: float = SHARE, startup: float = STARTUP) -> None:
        self.threshold = threshold
        self._share = share
        self._clock = clock
        self._began = clock()
        self._startup = min(startup, SLOWEST_STARTUP)
        self._spent = self._startup
        self._compiled, self._characters = 0.0, 0
        self._since: Optional[float] = None
        self._permitted: Optional[Tuple[int, float]] = None

    def expected(self) -> float:
        """Estimated seconds of compiling a function about which nothing is known."""
        imports = sum(multiple for module, multiple in (("pijit.core.function_state", IMPORTS), ("numpy", NUMPY))
                      if module not in sys.modules)
        return self._startup * (CAPTURE + imports) + self._of_characters(USUAL_SOURCE)

    def of_source(self, source: str) -> float:
        """Estimated seconds of compiling a kernel."""
        return self._of_characters(len(source))

    def _of_characters(self, count: int) -> float:
        rate = self._compiled / self._characters if self._compiled else PER_CHARACTER * self._startup
        return rate * count + (0.0 if "numba" in sys.modules else FIRST * self._startup)

    def affords(self, seconds: float) -> bool:
        """Whether this many more seconds may be spent now."""
        now = self._clock()
        spent = self._spent + (now - self._since if self._since is not None else 0.0)
        return spent + seconds <= self._share * (now - self._began - spent)

    def permit(self, source: str) -> None:
        """Permit the compilation of a kernel, or raise `TooEarly`. Outside of `spend` everything is permitted."""
        self._learn()
        seconds = self.of_source(source)
        if self._since is None:
            return
        if not self.affords(seconds):
            raise TooEarly(seconds)
        importlib.import_module("numba.core.codegen")
        self._permitted = len(source), self._clock()

    def charge(self, seconds: float) -> None:
        """Count the seconds of a compilation outside of `spend`."""
        self._spent += seconds

    def spend(self, serve: Callable[..., Any], *args: Any) -> Any:
        """Call a function that captures and compiles, and count its time."""
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
        """Update the compile time per character from the last compiled kernel."""
        if self._permitted is not None:
            characters, began = self._permitted
            self._compiled += self._clock() - began
            self._characters += characters
            self._permitted = None


class WarmUp:
    """Decides when a function of a program is compiled.

    Args:
        function: a JitFunction, which is made cold.
        budget: the budget of the program.
        warm: makes it a jitted function with a ``state``; called once.

    Attributes:
        is_cold: whether it still runs uncompiled.
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
        """None if the function is no longer cold, or the nanoseconds at which to ask again."""
        function = self._function()
        if function is None:
            return None
        if not self.called:
            self.called = True
            self._watch_loops(function)
        return self._decide(function, ns)

    def end(self, budgeted: bool = True) -> None:
        """Make the function a jitted one now. If budgeted, its kernels need the permission of the program's budget."""
        function = self._function()
        if function is None or not self.is_cold:
            return
        self.is_cold = False
        function.chill(None)
        if function.state is None:
            _hook.unmark(function.py_func.__code__)
            self._warm(function)
            if budgeted:
                state: Any = function.state
                state.budget, state.on_too_early = self._budget, self._cool
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
        """Make the function cold again, because compiling it takes too long."""
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
        """Let calls run code that asks at the headers of loops, if there are loops."""
        code = function.py_func.__code__
        if _hook.marked(code):
            return  # another function has the same code object
        self._code = _cold_code(code, self._osr_check)
        if self._code is not None:
            self._cache.add(self._program, self._code)
            _hook.mark(code, self._cache, _nothing)
            function.chill(self.ask, True)

    def _osr_check(self, header: int) -> Callable[[int], Any]:
        """The maker of a loop's OSR check. The code that holds the check leads here, so it must not own this object."""
        weak = weakref.ref(self)

        def ask(code: Any, slots: Any, globals: Any, builtins: Any, visits: int) -> Any:
            alive = weak()
            return alive._arrive(header, code, (slots, globals, builtins)) if alive is not None else None

        return lambda stack: natives.osr_check(ask, stack)

    def _arrive(self, header: int, code: types.CodeType, roots: Tuple[Any, ...]) -> Any:
        """The OSR check's callback at a loop's header: None, or the code to continue in.

        Up to CPython 3.10 the code's local for the operand stack is returned, too.
        """
        function = self._function()
        if function is None or self.is_cold and self._decide(function, function.heat) is not None:
            return None
        from pijit.core.bytecode.assembler.emit import to_go_on

        linked = function.state.on_arrival(header, code, roots)
        return to_go_on(linked) if linked is not None else None


def _nothing(*_: Any) -> None:
    """The miss handler of a cold function: run the original."""


def _cold_code(code: types.CodeType, osr_check: Callable[[int], Callable[[int], Any]]) -> Optional[types.CodeType]:
    """The code with OSR checks at the headers of its loops; None if a call can move at none of them."""
    from pijit.core.bytecode.analysed_code import analysed_code
    from pijit.core.bytecode.linker.osr import move_points

    if not has_backward_jump(code):
        return None
    cfg = analysed_code(code).cfg
    headers = [header for header, because in move_points(cfg).items() if because is None]
    if not headers:
        return None
    from pijit.core.bytecode.linker.link import link

    return link(cfg, (), (), osr_checks={header: osr_check(header) for header in headers})
