"""Registry of derivatives: one row per NumPy function, ufunc or `math` function.

A rule is plain NumPy code. Its parameters are the adjoint ``g`` of the result, the result ``r`` and the operands. It
returns the adjoints of the operands. The tape, the documentation page and the tests read the same rows.
"""

from __future__ import annotations

import functools
import inspect
from types import BuiltinFunctionType
from typing import Any, Callable, Dict, List, Optional, Tuple, TypeVar

import numpy as np

from pijit.core.named_tuples import NamedTuple

Rule = TypeVar("Rule", bound=Callable[..., Any])

NEW, MOVED, PRODUCT = "new", "moved", "product"
"""Results of functions over arrays: a new array, or a number; a view of the operand, or a copy, with the same elements
in the same order; a new array, or a number, of a product whose rules differ for numbers, vectors and matrices."""


class ElementwiseRule(NamedTuple):
    """The derivative of an elementwise function.

    Attributes:
        name: the name in the documentation.
        partials: per operand a function of (g, r, *operands) that gives the operand's adjoint before broadcasting is
            undone.
        singular: the partials may be infinite; where ``g`` is 0 the contribution is then 0 (a strong zero).
        holomorphic: the rule holds for complex operands, given their conjugates.
        formula: the adjoints in the documentation.
    """

    name: str
    partials: Tuple[Callable[..., Any], ...]
    singular: bool
    holomorphic: bool
    formula: str


Part = Tuple[int, Optional[int]]
NOTHING, FIRST, SECOND, ALL = (0, 0), (0, 1), (1, 2), (0, None)
"""Parts of the arguments of a call: where they begin and end."""


class FunctionRule(NamedTuple):
    """The derivative of a function over whole arrays.

    Attributes:
        name: the name in the documentation.
        vjp: a function of (g, r, *operands of the function) that returns a tuple of adjoints for the leading operands.
        operands: the names of these leading operands.
        signature: the signature of ``vjp``, which calls are bound to.
        partials: per operand the function that gives its adjoint alone, for rules whose parts share no work; else ().
        result: NEW, MOVED or PRODUCT; "" for functions that joint functions do not reverse.
        sized_as: the arguments whose common sizes the result has, if that is certain for equal numbers of axes.
    """

    name: str
    vjp: Callable[..., Tuple[Any, ...]]
    operands: Tuple[str, ...]
    signature: inspect.Signature
    partials: Tuple[Callable[..., Any], ...] = ()
    result: str = ""
    sized_as: Part = NOTHING


ELEMENTWISE: Dict[Any, ElementwiseRule] = {}
"""Rules by ufunc or `math` function."""

FUNCTIONS: Dict[Any, FunctionRule] = {}
"""Rules by function; the functions are compared by identity."""

CUTS: Dict[Any, str] = {}
"""Functions whose derivative is zero wherever it exists, with the reason."""

METHODS: Dict[str, Any] = {}
"""Methods of arrays and NumPy scalars: name to the function that has the rule."""

METHOD_CALLS: Dict[str, Any] = {}
"""Methods of arrays that have the parameters of the function with the rule: path in graph/library.py to function."""

PRODUCTS: Dict[str, Any] = {}
"""Functions and methods with the result PRODUCT: path in graph/library.py to the function that has the rule."""


def elementwise(function: Any, formula: str, *partials: Callable[..., Any], singular: bool = False,
                holomorphic: bool = True) -> None:
    """Add the rule of an elementwise function.

    Args:
        function: a ufunc or a function of `math`.
        formula: the adjoints as text, for the documentation.
        partials: one function per operand.
        singular: whether partials may be infinite.
        holomorphic: whether the rule holds for complex operands.
    """
    ELEMENTWISE[function] = ElementwiseRule(function.__name__, partials, singular, holomorphic, formula)


def derivative(*functions: Any, operands: int = 1, method: Optional[str] = None, same_parameters: bool = False,
               partials: Tuple[Callable[..., Any], ...] = (), result: str = "",
               sized_as: Part = NOTHING) -> Callable[[Rule], Rule]:
    """Decorator that adds the rule of functions over whole arrays.

    Args:
        functions: the functions; None for functions that this NumPy lacks.
        operands: the number of leading parameters whose adjoints the rule returns.
        method: the array method that does the same.
        same_parameters: whether the method has the function's parameters.
        partials: functions of the rule's arguments that give one adjoint each, for callers that need one of them.
        result, sized_as: see `FunctionRule`.
    """
    def add(vjp: Rule) -> Rule:
        signature = inspect.signature(vjp)
        names = tuple(list(signature.parameters)[2:2 + operands])
        for function in functions:
            for one in _spellings(function):
                FUNCTIONS[one] = FunctionRule(function.__name__, vjp, names, signature, partials, result, sized_as)
            if result == PRODUCT:
                PRODUCTS[function.__name__] = function
        if method is not None:
            METHODS[method] = functions[0]
            if same_parameters:
                METHOD_CALLS["ndarray." + method] = functions[0]
            if result == PRODUCT:
                PRODUCTS["ndarray." + method] = functions[0]
        return vjp
    return add


def cut(reason: str, *functions: Any) -> None:
    """Register functions whose derivative is zero or that have integer or boolean results."""
    for function in functions:
        for one in _spellings(function):
            CUTS[one] = reason


def _spellings(function: Any) -> List[Any]:
    """A function, and the C function inside NumPy's dispatcher, which NumPy's own Python code calls directly."""
    inner = getattr(function, "__wrapped__", None)
    return [one for one in (function, inner)
            if one is not None and (one is function or isinstance(inner, BuiltinFunctionType))]


def attribute(path: str) -> Any:
    """The function of NumPy at a dotted path, or None if this version lacks it."""
    found: Any = np
    for name in path.split("."):
        found = getattr(found, name, None)
    return found


@functools.lru_cache(maxsize=None)
def sizes_needed(partial: Callable[..., Any], operands: int) -> Tuple[bool, ...]:
    """For the result and each operand, whether a partial's result is as large as that value.

    A trial call shows it, in which each of these values has an axis of its own. It has integers for rules that need
    some, as that of `np.ldexp`.
    """
    try:
        shape = _trial_shape(partial, 1 + operands, 0.5)
    except TypeError:
        shape = _trial_shape(partial, 1 + operands, 1)
    return tuple(size == 2 for size in shape) if len(shape) == 1 + operands else (False,) * (1 + operands)


def _trial_shape(partial: Callable[..., Any], count: int, element: float) -> Tuple[int, ...]:
    """The shape of what a partial returns for the result and the operands, each of which has an axis of its own."""
    values = [np.full(tuple(2 if axis == number else 1 for axis in range(count)), element) for number in range(count)]
    with np.errstate(all="ignore"):
        return np.shape(partial(np.full((1,) * count, 0.5), *values))
