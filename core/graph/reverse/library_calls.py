"""Library functions in joint functions: how operations call them, and the sizes of their results.

The rules of `graph/derivatives` give the adjoints of their operands, as on the tape. A rule tells whether the result
shares no memory with an operand, because the adjoint of a result is an array of its own.
"""

from __future__ import annotations

from typing import Any, Callable, Dict, Iterable, List, Mapping, Optional, Tuple, cast

import numpy as np

from pijit.core.graph.derivatives import FUNCTIONS, FunctionRule
from pijit.core.graph.derivatives.reductions import SCANS
from pijit.core.graph.derivatives.table import METHOD_CALLS, MOVED, NEW, PRODUCT
from pijit.core.graph.ir import Op, Value
from pijit.core.graph.library import resolve
from pijit.core.graph.ops import CONVERTS
from pijit.core.graph.types import Array, Scalar
from pijit.core.named_tuples import NamedTuple


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
    call = any_call(op)
    is_known = call is not None and _result_of(call.function) in (NEW, MOVED) and isinstance(
        call.args[0].type, (Array, Scalar))
    return call if is_known else None


def any_call(op: Op) -> Optional[LibraryCall]:
    """The call of a library function that an operation is; None for other operations."""
    return CALLS[op.name](op) if op.name in CALLS else None


def _scan(op: Op) -> Optional[LibraryCall]:
    function = SCANS.get(op.attrs["ufunc"])
    return None if function is None else LibraryCall(function, tuple(op.args), options=(("axis", -1),))


def _roll(op: Op) -> Optional[LibraryCall]:
    return LibraryCall(np.roll, tuple(op.args), options=(("axis", op.attrs["axis"]),))


def _clip(op: Op) -> Optional[LibraryCall]:
    is_clip = op.attrs["ufunc"].__name__ == "clip" and len(op.args) == 3
    return LibraryCall(np.clip, tuple(op.args)) if is_clip else None


def _by_name(op: Op) -> Optional[LibraryCall]:
    path, names = op.attrs["function"], tuple(op.attrs["keywords"])
    function, split = METHOD_CALLS[path] if path in METHOD_CALLS else resolve(path), len(op.args) - len(names)
    return LibraryCall(function, tuple(op.args[:split]), tuple(zip(names, op.args[split:])))


CALLS: Dict[str, Callable[[Op], Optional[LibraryCall]]] = {
    "scan": _scan, "roll": _roll, "ufunc": _clip, "invoke": _by_name, "gufunc": _by_name, "product": _by_name}
"""How operations call library functions."""


def _selects(op: Op) -> bool:
    return True


def _is_getitem(op: Op) -> bool:
    """Whether a call is ``array[index]`` with an array of integers."""
    kinds = [arg.type for arg in op.args]
    return op.attrs["function"] == "operator.getitem" and all(
        isinstance(kind, Array) for kind in kinds) and cast(Array, kinds[1]).dtype.kind in "iu"


SELECTIONS: Dict[str, Callable[[Op], bool]] = {
    "gather": _selects, "pick": _selects, "rows": _selects, "invoke": _is_getitem}
"""Whether an operation of this name selects elements or rows by an array of integers or a mask."""


def is_selection(op: Op) -> bool:
    """Whether an operation selects elements or rows of an array by an array of integers, or by a mask."""
    return op.name in SELECTIONS and SELECTIONS[op.name](op)


def is_constant(op: Op) -> bool:
    """Whether the result of a library function is a constant for gradients."""
    return op.name == "invoke" and op.attrs["function"] == "helpers.constant_copy"


def shares_memory(op: Op) -> bool:
    """Whether the result of a library function may share memory with an operand."""
    call = any_call(op) if op.name == "invoke" and not is_selection(op) and not is_number_array(op) else None
    return call is not None and isinstance(cast(Value, op.result).type, Array) and _result_of(
        call.function) not in (NEW, PRODUCT)


def is_number_array(op: Op) -> bool:
    """Whether an operation makes an array of shape () from a number."""
    return op.name == "invoke" and op.attrs["function"] == "asarray" and len(op.args) == 1 and isinstance(
        op.args[0].type, Scalar) and op.args[0].type.dtype == cast(Any, cast(Value, op.result).type).dtype


def _rule_of(function: Any) -> Optional[FunctionRule]:
    try:
        return FUNCTIONS.get(function)
    except TypeError:  # it cannot be hashed
        return None


def _result_of(function: Any) -> str:
    rule = _rule_of(function)
    return rule.result if rule is not None else ""


def equal_sizes(call: LibraryCall) -> Iterable[Value]:
    """The operands whose common sizes the result has, where that is certain for equal numbers of axes; else nothing."""
    rule = _rule_of(call.function)
    return call.args[slice(*rule.sized_as)] if rule is not None else ()


def is_root_of_sum(op: Op, makers: Mapping[Optional[Value], Op]) -> bool:
    """Whether an operation is the square root of a sum or a mean, as in norms and standard deviations.

    Where it is 0 the tape decides: the rules of `np.linalg.norm` and `np.std` give 0 there, that of `np.sqrt` does not.
    """
    if op.name != "ufunc" or op.attrs["ufunc"] is not np.sqrt:
        return False
    maker = makers.get(op.args[0])
    while maker is not None and (maker.name in CONVERTS
                                 or maker.name == "ufunc" and maker.attrs["ufunc"] is np.divide):
        maker = makers.get(maker.args[0])
    return maker is not None and (maker.name == "dot" or maker.name == "reduce" and maker.attrs["ufunc"] is np.add)
