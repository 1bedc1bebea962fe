"""The analysed code of functions that are inlined into one function, kept while an entry is captured again and again.

`State` owns an `InlinedCode`, and each capture's inliner reads it. It holds code objects, so it is cleared as soon as
an entry serves calls: functions of the program must die at the same time as in plain Python.
"""

from __future__ import annotations

from types import CodeType
from typing import Any, Callable, Dict, Hashable, Sequence, Tuple, TypeVar

from pijit.core.bytecode.analysed_code import AnalysedCode, AnalysedStep, analysed_callee, analysed_loop, analysed_step
from pijit.core.bytecode.rewrite.generator_steps import GeneratorCode
from pijit.core.bytecode.rewrite.generator_to_loop import Consumer

_T = TypeVar("_T")


class InlinedCode:
    """Code objects that are decoded and analysed at their first use."""

    def __init__(self) -> None:
        #: By the id of a code object and the question: the code object, which keeps the id its own, and the answer.
        self._answers: Dict[Any, Tuple[CodeType, Any]] = {}

    def clear(self) -> None:
        """Drop all code."""
        self._answers = {}

    def callee(self, code: CodeType, free: Sequence[str], kept: Sequence[str]) -> AnalysedCode:
        """See `analysed_callee`."""
        return self._answer(code, ("callee", free, kept), lambda: analysed_callee(code, free, kept))

    def loop(self, code: CodeType, consumer: Consumer, free: Sequence[str], kept: Sequence[str]) -> AnalysedCode:
        """See `analysed_loop`."""
        return self._answer(code, ("loop", consumer.name, free, kept),
                            lambda: analysed_loop(code, self.generator(code), consumer, free, kept))

    def step(self, code: CodeType, point: int, free: Sequence[str]) -> AnalysedStep:
        """See `analysed_step`."""
        return self._answer(code, ("step", point, free),
                            lambda: analysed_step(code, self.generator(code), point, free))

    def generator(self, code: CodeType) -> GeneratorCode:
        """The code of a generator, from which its loops and steps are made."""
        return self._answer(code, "generator", lambda: GeneratorCode(code))

    def plan(self, code: CodeType, point: int, names: Tuple[str, ...]) -> Any:
        """The plan for a generator that is suspended like this, see `GeneratorCode.plan`."""
        return self._answer(code, ("plan", point, names), lambda: self.generator(code).plan(point, names))

    def _answer(self, code: CodeType, question: Hashable, make: Callable[[], _T]) -> _T:
        key, answers = (id(code), question), self._answers  # another thread may clear them meanwhile
        found = answers.get(key) or (code, make())
        answers[key] = found
        answer: _T = found[1]
        return answer
