"""Analysed code: one visit to the bytecode packages, which decodes, normalises and analyses a code object.

The pipeline keeps the result for each function, so that several captures share it. It never changes, and it holds
nothing of a call. Rewriting for one capture gives another `AnalysedCode`.
"""

from __future__ import annotations

from types import CodeType
from typing import Any, Dict, FrozenSet, Optional, Sequence

from pijit.core.bytecode.analysis.blocks import CFG, build_cfg
from pijit.core.bytecode.analysis.liveness import Liveness
from pijit.core.bytecode.analysis.use_def import UseDef
from pijit.core.bytecode.instructions.predicates import writes_local
from pijit.core.bytecode.normal_form.normalise import decode_normal, normal_code
from pijit.core.bytecode.rewrite.cells import decode_with_locals, running_function
from pijit.core.bytecode.rewrite.method_calls import plain_module_calls


class AnalysedCode:
    """A code object in normal form with its control flow, and its data flow as soon as that is asked for.

    Attributes:
        code: the code object that was given. `function.code` is what it was rewritten to.
        cfg: the control flow graph.
        function: the instructions.
    """

    __slots__ = ("code", "cfg", "function", "_use_def", "_rebound", "_running")

    def __init__(self, code: CodeType, cfg: CFG) -> None:
        self.code, self.cfg, self.function = code, cfg, cfg.function
        self._use_def: Optional[UseDef] = None
        self._rebound: Optional[FrozenSet[str]] = None
        self._running: Optional[CFG] = None

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
            has_cells = bool(self.code.co_cellvars or self.code.co_freevars)
            self._running = build_cfg(running_function(self.function, self.code)) if has_cells else self.cfg
        return self._running

    def liveness(self) -> Liveness:
        """Live locals, in a new object: a capture may add reads to its own."""
        return Liveness(self.cfg)

    def cut(self, index: int) -> "AnalysedCode":
        """The same code, with an additional block start at an instruction."""
        return AnalysedCode(self.code, self.cfg.cut(index))

    def with_plain_calls(self, globals: Dict[str, Any]) -> "AnalysedCode":
        """The code with plain calls of functions of the modules in these globals; itself if it has none."""
        plain = plain_module_calls(self.cfg, globals)
        return self if plain is None else AnalysedCode(self.code, build_cfg(decode_normal(plain)))


def analysed_code(code: CodeType) -> AnalysedCode:
    """The code of a function that is captured or linked."""
    return AnalysedCode(code, build_cfg(decode_normal(normal_code(code, False))))


def analysed_callee(code: CodeType, globals: Dict[str, Any], free: Sequence[str] = (),
                    kept: Sequence[str] = ()) -> AnalysedCode:
    """The code of a function that is inlined, with plain calls of modules' functions.

    Its cell variables and the ``free`` ones are plain locals, except the variables ``kept``.
    """
    return _with_locals(code, normal_code(code, True), globals, free, kept)


def analysed_body(code: CodeType, globals: Dict[str, Any], free: Sequence[str] = (),
                  kept: Sequence[str] = ()) -> AnalysedCode:
    """As `analysed_callee`, for code that a rewriter of generators has made, which is in normal form already."""
    return _with_locals(code, code, globals, free, kept)


def _with_locals(code: CodeType, plain: CodeType, globals: Dict[str, Any], free: Sequence[str],
                 kept: Sequence[str]) -> AnalysedCode:
    cfg = build_cfg(decode_with_locals(plain, free, kept))
    calls = plain_module_calls(cfg, globals)
    return AnalysedCode(code, cfg if calls is None else build_cfg(decode_with_locals(calls, free, kept)))
