"""Functions that `python -m pijit` has not compiled yet. The compiler is imported when the first of them gets hot.

From CPython 3.11 on the program keeps its plain functions. They are hooked: calls go to a `Cold` with a twin of the
function. A hook is removed while a function is cold and called often, and when compiling it turns out not to pay.
Before CPython 3.11 a `Cold` takes the place of the function.
"""

from __future__ import annotations

import atexit
import os
import sys
import types
import weakref
from typing import Any, Tuple

from pijit.core import _hook
from pijit.core._hook import JitFunction
from pijit.core.bytecode.function_twins import twin_with
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


def cold(function: types.FunctionType, options: Options, budget: Budget) -> Tuple[Any, Cold]:
    """What takes the place of a function in the program, and the `Cold` that its calls go to."""
    if sys.version_info < (3, 11):
        made = Cold(function, options, budget)
        return made, made
    if not warmths:
        os.register_at_fork(before=_hook.pause_sampler)
        atexit.register(_hook.end_sampler)
    target = Cold(twin_with(function, function.__code__), options, budget)
    try:
        _hook.hook_function(function, target)
    except RuntimeError:  # it cannot be hooked
        return target, target
    return function, target


def awake(f: Any) -> Any:
    """What jit gets for a function of the program: a cold one is jitted now, without a budget."""
    if sys.version_info >= (3, 11):
        f = _hook.hooked(f) or f
    if isinstance(f, Cold):
        warmths[f].end(budgeted=False)
    return f
