"""Calls on numbers that have no operation of their own: functions of ``operator``, which are operators, and those of
``math`` and builtins that the kernel calls as they are."""

from __future__ import annotations

import builtins
import operator
from typing import Any, Dict, List, Tuple

from pijit.core.capture.call_arguments import Arguments, Handler, only
from pijit.core.capture.operators import describe
from pijit.core.capture.values import Abstract, Const, Slice, number_type
from pijit.core.errors import Break
from pijit.core.graph.library import FUNCTIONS, ON_NUMBERS

BINARY: Dict[str, str] = {"add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%",
                          "pow": "**", "and_": "&", "or_": "|", "xor": "^", "lshift": "<<", "rshift": ">>", "matmul": "@"}
COMPARISONS: Dict[str, str] = {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!=", "is_": "is",
                               "is_not": "is not"}
UNARY: Dict[str, str] = {"neg": "neg", "pos": "pos", "invert": "invert", "abs": "abs"}


def _binary(name: str, symbol: str) -> Handler:
    def call(self: Any, arguments: List[Abstract], keywords: Arguments) -> Abstract:
        only(arguments, keywords, name, 2)
        return self.binary(symbol, *arguments)  # type: ignore[no-any-return]
    return call


def _comparison(name: str, symbol: str) -> Handler:
    def call(self: Any, arguments: List[Abstract], keywords: Arguments) -> Abstract:
        only(arguments, keywords, name, 2)
        return self.compare(symbol, *arguments)  # type: ignore[no-any-return]
    return call


def _unary(name: str, symbol: str) -> Handler:
    def call(self: Any, arguments: List[Abstract], keywords: Arguments) -> Abstract:
        only(arguments, keywords, name, 1)
        return self.unary(symbol, *arguments)  # type: ignore[no-any-return]
    return call


def _as_it_is(path: str) -> Handler:
    """A function that is called by the kernel; only of numbers: what it makes of arrays may come with warnings."""
    def call(self: Any, arguments: List[Abstract], keywords: Arguments) -> Abstract:
        for value in arguments:
            if number_type(value) is None:
                raise Break("PJ203", operand=describe(value))
        return self.invoke(FUNCTIONS[path], arguments, keywords)  # type: ignore[no-any-return]
    return call


def call_getitem(self: Any, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``operator.getitem(x, index)``."""
    only(arguments, keywords, "getitem", 2)
    return self.subscript(*arguments)  # type: ignore[no-any-return]


def call_slice(self: Any, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``slice(stop)`` and ``slice(start, stop, step)``."""
    only(arguments, keywords, "slice", 1, 2, 3)
    none = Const(None)
    parts = [none] + arguments if len(arguments) == 1 else arguments
    return Slice(tuple((parts + [none])[:3]))


def call_dict(self: Any, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``dict(name=value, ...)``."""
    only(arguments, {}, "dict", 0)
    return self.new_dict(list(keywords), list(keywords.values()))  # type: ignore[no-any-return]


def _rows() -> List[Tuple[Any, Handler]]:
    rows = [(FUNCTIONS[path].object, _as_it_is(path)) for path in ON_NUMBERS if path in FUNCTIONS]
    for names, make in ((BINARY, _binary), (COMPARISONS, _comparison), (UNARY, _unary)):
        rows += [(getattr(operator, name), make(name, symbol)) for name, symbol in names.items()]
    return rows + [(operator.getitem, call_getitem), (builtins.slice, call_slice), (builtins.dict, call_dict)]


NUMBER_CALLS: List[Tuple[Any, Handler]] = _rows()
