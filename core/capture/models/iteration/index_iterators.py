"""``np.ndindex`` and ``np.ndenumerate``: nested loops over the axes of a shape.

`catalogue` imports it. It must not run NumPy's iterators.
"""

from __future__ import annotations

import builtins
from typing import List

import numpy as np

from pijit.core.capture.models.containers import contents
from pijit.core.capture.models.iteration import itertools_python as code_of
from pijit.core.capture.models.iteration.iterator_calls import call_range
from pijit.core.capture.models.iteration.itertools_calls import MOST_POOLS, call_product, stand_in
from pijit.core.capture.models.numpy import shapes
from pijit.core.capture.models.protocol import Interpreter
from pijit.core.capture.models.registry import models
from pijit.core.capture.values.describe import Arguments, describe, only
from pijit.core.capture.values.lattice import Abstract, Const, Number, Tensor, class_of, number_type
from pijit.core.errors import Break
from pijit.core.graph.types import FLAG, INT, WORD


@models(np.ndindex)
def call_ndindex(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``np.ndindex(shape)`` and ``np.ndindex(n, m, ...)``.
    Exits where a length is negative, so that bytecode raises."""
    lengths = arguments
    if len(arguments) == 1 and class_of(arguments[0]) is tuple:
        lengths = [interpreter.use(item) for item in contents.items_of(interpreter, arguments[0]) or []]
    if keywords or not 0 < len(lengths) <= MOST_POOLS:
        raise Break("PJ211", callee="ndindex")
    zero = interpreter.emit("const", [], WORD, {"value": 0})
    for length in lengths:
        if number_type(length) != INT:
            raise Break("PJ203", operand=describe(length))
        counts = interpreter.emit("compare", [interpreter.word(length), zero], FLAG, {"operator": ">="})
        interpreter.emit("require", [counts], None, exits=True)
    return call_product(interpreter, [call_range(interpreter, [length], {}) for length in lengths], {})


@models(np.ndenumerate)
def call_ndenumerate(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``np.ndenumerate(x)``: an element is read when the loop reaches it."""
    only(arguments, keywords, "ndenumerate", 1)
    array = arguments[0]
    if not isinstance(array, Tensor) or not 0 < array.type.ndim <= MOST_POOLS:
        raise Break("PJ203", operand=describe(array))
    lengths = [Number(INT, shapes.dimension(interpreter, array, axis)) for axis in range(array.type.ndim)]
    given = [Const(builtins.range), array] + lengths
    return stand_in(interpreter, "ndenumerate", code_of.elements_of(len(lengths)), given, "numpy")
