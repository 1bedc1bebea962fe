"""Library functions in joint functions: how operations call them, and the sizes of their results.

The rules of `graph/derivatives` give the adjoints of their operands, as on the tape. `REVERSIBLE` lists functions whose
result shares no memory with an operand, because the adjoint of a result is an array of its own.
"""

from __future__ import annotations

from typing import Any, Dict, FrozenSet, Iterable, List, Mapping, Optional, Tuple

import numpy as np

from pijit.core.graph.derivatives import FUNCTIONS
from pijit.core.graph.ir import Op, Value
from pijit.core.graph.library import resolve
from pijit.core.named_tuples import NamedTuple

_SCANS: Dict[Any, Any] = {np.add: np.cumsum, np.multiply: np.cumprod}
_NAMES = """bincount clip compress convolve correlate cumprod cumsum inner interp median outer pad percentile quantile
    repeat roll sort take take_along_axis trace tril triu vdot linalg.cholesky linalg.det linalg.eigvalsh linalg.inv
    linalg.pinv linalg.solve linalg.svd""".split()

REVERSIBLE: FrozenSet[Any] = frozenset(map(resolve, _NAMES))
"""The library functions with a rule whose result is a new array, or a number."""

METHODS: Dict[str, Any] = {"ndarray." + name: getattr(np, name) for name in "cumprod cumsum repeat take trace".split()}
"""Functions that have the parameters of a method of arrays."""


class LibraryCall(NamedTuple):
    """A call of a library function.

    Attributes:
        function: the function; it has a rule in `FUNCTIONS`.
        args: its positional arguments.
        keywords: its keyword arguments.
        options: keyword arguments that are known.
    """

    function: Any
    args: Tuple[Value, ...]
    keywords: Tuple[Tuple[str, Value], ...] = ()
    options: Tuple[Tuple[str, Any], ...] = ()

    def operands(self) -> List[Tuple[int, Value]]:
        """The operands that the rule has adjoints for: their positions in what the rule returns, and their values."""
        rule = FUNCTIONS[self.function]
        bound = rule.signature.bind(None, None, *self.args, **dict(self.keywords), **dict(self.options)).arguments
        return [(place, bound[name]) for place, name in enumerate(rule.operands) if isinstance(bound.get(name), Value)]


def library_call(op: Op) -> Optional[LibraryCall]:
    """The call of a library function that an operation is, if the function has a rule; else None."""
    args = tuple(op.args)
    if op.name == "scan":
        function = _SCANS.get(op.attrs["ufunc"])
        return None if function is None else LibraryCall(function, args, options=(("axis", -1),))
    if op.name == "roll":
        return LibraryCall(np.roll, args, options=(("axis", op.attrs["axis"]),))
    if op.name == "ufunc":
        return LibraryCall(np.clip, args) if op.attrs["ufunc"].__name__ == "clip" and len(args) == 3 else None
    if op.name not in ("invoke", "gufunc", "product"):
        return None
    path, names = op.attrs["function"], tuple(op.attrs["keywords"])
    function = METHODS[path] if path in METHODS else resolve(path)
    if not _is_reversible(function):
        return None
    split = len(args) - len(names)
    return LibraryCall(function, args[:split], tuple(zip(names, args[split:])))


def _is_reversible(function: Any) -> bool:
    try:
        return function in REVERSIBLE
    except TypeError:  # it cannot be hashed
        return False


_OF_FIRST = frozenset([np.cumsum, np.cumprod, np.roll, np.tril, np.triu, np.sort, np.linalg.inv, np.linalg.cholesky,
                       np.interp])


def equal_sizes(call: LibraryCall) -> Iterable[Value]:
    """The operands whose common sizes the result has, where that is certain for equal numbers of axes; else nothing."""
    if call.function in _OF_FIRST:
        return call.args[:1]
    if call.function is np.linalg.solve:
        return call.args[1:2]
    return call.args if call.function is np.clip else ()


def is_root_of_sum(op: Op, makers: Mapping[Optional[Value], Op]) -> bool:
    """Whether an operation is the square root of a sum or a mean, as in norms and standard deviations.

    Where it is 0 the tape decides: the rules of `np.linalg.norm` and `np.std` give 0 there, that of `np.sqrt` does not.
    """
    if op.name != "ufunc" or op.attrs["ufunc"] is not np.sqrt:
        return False
    maker = makers.get(op.args[0])
    while maker is not None and (maker.name in ("cast", "same")
                                 or maker.name == "ufunc" and maker.attrs["ufunc"] is np.divide):
        maker = makers.get(maker.args[0])
    return maker is not None and (maker.name == "dot" or maker.name == "reduce" and maker.attrs["ufunc"] is np.add)
