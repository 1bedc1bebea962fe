"""Functions that `python -m pijit` has not compiled yet. The compiler is imported when the first of them gets hot."""

from __future__ import annotations

import types
import weakref
from typing import Any

from pijit.core._hook import JitFunction
from pijit.core.warm_up import Budget, WarmUp
from pijit.options import Options


class Cold(JitFunction):
    """A function that runs as plain Python and counts its time; once it is hot it becomes a jitted function.

    Args:
        py_func: the function.
        options: the options it is compiled with.
        budget: the compile time that the program may spend.
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
"""By function of the program: the object that decides when to compile it."""


def awake(f: Any) -> Any:
    """A function that a decorator of the program asks to compile; a cold one is jitted now, without a budget."""
    if isinstance(f, Cold):
        warmths[f].end(budgeted=False)
    return f
