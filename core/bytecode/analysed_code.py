"""Analysed code: one visit to the bytecode packages, which decodes, normalises and analyses a code object.

The pipeline keeps the result for each function, and `InlinedCode` keeps it for callees, so that several captures share
it. What it answers never changes, and it holds nothing of a call. Rewriting for a capture gives another `AnalysedCode`.
"""

from __future__ import annotations

from types import CodeType
from typing import Any, Dict, FrozenSet, Optional, Sequence, Tuple

from pijit.core.bytecode.analysis.blocks import CFG, build_cfg
from pijit.core.bytecode.analysis.liveness import Liveness
from pijit.core.bytecode.analysis.use_def import UseDef
from pijit.core.bytecode.codec.decode import Function
from pijit.core.bytecode.instructions.predicates import writes_local
from pijit.core.bytecode.normal_form.normalise import normal_function, plain_function
from pijit.core.bytecode.rewrite.cells import cells_as_locals, with_locals
from pijit.core.bytecode.rewrite.generator_steps import GeneratorCode, Resumed, StepLiveness, resumed
from pijit.core.bytecode.rewrite.generator_to_loop import Consumer, consumed
from pijit.core.bytecode.rewrite.method_calls import ModuleCalls, module_calls, with_plain_calls
from pijit.core.named_tuples import NamedTuple


class AnalysedCode:
    """A code object in normal form with its control flow, and its data flow as soon as that is asked for.

    Args:
        code: the code object that was given.
        running: the code as bytecode runs it, in normal form. It may have been rewritten.
        names: the cell variables that read as locals.
        cfg: the control flow graph, if it is known.

    Attributes:
        code: the code object that was given. `function.code` is what it was rewritten to.
        cfg: the control flow graph.
        function: the instructions.
    """

    __slots__ = ("code", "cfg", "function", "_names", "_in_cells", "_use_def", "_rebound", "_running", "_plain")

    def __init__(self, code: CodeType, running: Function, names: Tuple[str, ...] = (),
                 cfg: Optional[CFG] = None) -> None:
        self.code, self._in_cells, self._names = code, running, names
        self.cfg = build_cfg(with_locals(running, names)) if cfg is None else cfg
        self.function = self.cfg.function
        self._use_def: Optional[UseDef] = None
        self._rebound: Optional[FrozenSet[str]] = None
        self._running: Optional[CFG] = None
        self._plain: Optional[Tuple[ModuleCalls, AnalysedCode]] = None

    @property
    def use_def(self) -> UseDef:
        """Reaching definitions of locals."""
        if self._use_def is None:
            self._use_def = UseDef(self.cfg)
        return self._use_def

    @property
    def rebound_arguments(self) -> FrozenSet[str]:
        """The arguments that the function assigns to or deletes."""
        if self._rebound is None:
            arguments = set(self.function.varnames[:self.function.argument_count])
            self._rebound = frozenset(instr.value for instr in self.function.instructions
                                      if writes_local(instr) and instr.value in arguments)
        return self._rebound

    @property
    def running(self) -> CFG:
        """The control flow of the code as bytecode runs it. Cell variables of a callee are plain only in its analysis.
        """
        if self._running is None:
            self._running = build_cfg(self._in_cells) if self._names else self.cfg
        return self._running

    def liveness(self) -> Liveness:
        """Live locals, in a new object: a capture may add reads to its own."""
        return Liveness(self.cfg)

    def cut(self, index: int) -> "AnalysedCode":
        """The same code, with an additional block start at an instruction."""
        return AnalysedCode(self.code, self._in_cells, self._names, self.cfg.cut(index))

    def with_plain_calls(self, globals: Dict[str, Any]) -> "AnalysedCode":
        """The code with plain calls of functions of the modules in these globals; itself if it has none.

        The last result is kept: other globals seldom have modules of other names.
        """
        calls = module_calls(self.cfg, globals)
        if not calls:
            return self
        last = self._plain  # another thread may replace it meanwhile
        if last is None or last[0] != calls:
            plain = normal_function(with_plain_calls(self._in_cells, calls))
            self._plain = last = calls, AnalysedCode(self.code, plain, self._names)
        return last[1]


class AnalysedStep(NamedTuple):
    """A step of a generator. ``whole`` is the control flow of the generator, with the same variables."""

    analysed: AnalysedCode
    step: Resumed
    whole: CFG

    def liveness(self) -> StepLiveness:
        """Live locals within the step."""
        return StepLiveness(self.whole, self.analysed.function, self.step)


def analysed_code(code: CodeType) -> AnalysedCode:
    """The code of a function that is captured or linked."""
    return AnalysedCode(code, normal_function(plain_function(code, False)))


def analysed_callee(code: CodeType, free: Sequence[str] = (), kept: Sequence[str] = ()) -> AnalysedCode:
    """The code of a function that is inlined.

    Its cell variables and the ``free`` ones are plain locals, except the variables ``kept``.
    """
    return AnalysedCode(code, normal_function(plain_function(code, True)), cells_as_locals(code, free, kept))


def analysed_loop(code: CodeType, generator: GeneratorCode, consumer: Consumer, free: Sequence[str] = (),
                  kept: Sequence[str] = ()) -> AnalysedCode:
    """As `analysed_callee`, for the loop that a generator expression and the builtin that consumes it become."""
    made = consumed(generator.source, consumer)
    return AnalysedCode(code, normal_function(made), cells_as_locals(code, free, kept))


def analysed_step(code: CodeType, generator: GeneratorCode, point: int, free: Sequence[str] = ()) -> AnalysedStep:
    """As `analysed_callee`, for the step of a generator that waits at a yield."""
    step, names = resumed(generator, point), cells_as_locals(code, free)
    whole = build_cfg(with_locals(generator.cfg.function, names)) if names else generator.cfg
    return AnalysedStep(AnalysedCode(code, normal_function(step.function), names), step, whole)
