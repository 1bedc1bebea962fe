"""Functions that `python -m pijit` has not compiled yet. The compiler is imported when the first one needs it."""

from __future__ import annotations

import types
import weakref
from typing import Any

from pijit.core._hook import JitFunction
from pijit.core.warm_up import Budget, WarmUp
from pijit.options import Options


class Cold(JitFunction):
    """A function that runs as it is and counts its time; it becomes a jitted function when it has earned that.

    Args:
        py_func: the function.
        options: the options that it is compiled with.
        budget: what the program may spend on compiling.
    """

    def __init__(self, py_func: types.FunctionType, options: Options, budget: Budget) -> None:
        super().__init__(py_func, None)

        def warm(function: Any) -> None:
            from pijit.function import jitted_class

            own = dict(function.__dict__)
            function.__class__ = kind = jitted_class(options)
            kind.__init__(function, py_func, options)
            function.__dict__.update({name: value for name, value in own.items() if name != "__wrapped__"})

        self.state = None
        warmths[self] = WarmUp(self, budget, warm)


warmths: "weakref.WeakKeyDictionary[Any, WarmUp]" = weakref.WeakKeyDictionary()
"""By function of the program, what decides when it is compiled."""


def awake(f: Any) -> Any:
    """A function that a decorator of the program asks to compile; if it is cold, it is jitted now, without a budget."""
    if isinstance(f, Cold):
        warmths[f].end(budgeted=False)
    return f
