"""Adjoints: for each operation, the rule that gives the adjoints of its operands.

The rules are those of the tape (`graph/derivatives`), called with the same values, so that both have the same bits.
`backward` and `needs` ask it. It must not write code.
"""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Optional, Tuple

import numpy as np

from pijit.core.graph.derivatives import ELEMENTWISE, FUNCTIONS
from pijit.core.graph.derivatives.adjoints import number_adjoint
from pijit.core.graph.derivatives.movement import where_false, where_true
from pijit.core.graph.derivatives.table import PRODUCTS, sizes_needed
from pijit.core.graph.ir import Op, Value
from pijit.core.graph.reverse.activity import operands
from pijit.core.graph.reverse.errors import Irreversible
from pijit.core.graph.reverse.forward import REDUCTIONS
from pijit.core.graph.reverse.library_calls import LibraryCall, is_constant, is_number_array, is_selection, library_call
from pijit.core.named_tuples import NamedTuple


class Contribution(NamedTuple):
    """A part of an operand's adjoint.

    Attributes:
        operand: the operand.
        rule: the function of (g, r, *operands) that gives it, or None: the adjoint of the result itself.
        singular: whether it is 0 where the result's adjoint is 0, see `strong_zero`.
        keywords: the keywords of a rule of a function over arrays that are known.
        item: the position in the tuple that such a rule returns, or None.
        call: the call of a library function, whose arguments the rule has; None: it has the operands.
        is_whole: whether it is as large as the operand, whatever the rule reads.
        reads: the operands that the rule reads. The contribution is as large as them and the adjoint of the result.
        reads_result: whether the rule reads the result.
        spreads: whether it is the adjoint of a sum, which broadcasting repeats.
    """

    operand: Value
    rule: Any
    singular: bool = False
    keywords: Tuple[Tuple[str, Any], ...] = ()
    item: Any = None
    is_whole: bool = False
    reads: Tuple[Value, ...] = ()
    reads_result: bool = False
    spreads: bool = False
    call: Optional[LibraryCall] = None


def _identity(op: Op) -> List[Contribution]:
    return [Contribution(operands(op)[0], None)]


def _by_rule(op: Op, ufunc: Any) -> List[Contribution]:
    rule, args = ELEMENTWISE.get(ufunc), operands(op)
    if rule is None:
        raise Irreversible("no rule for %s" % ufunc.__name__)
    found = []
    for operand, partial in zip(args, rule.partials):
        needed = sizes_needed(partial, len(args))
        reads = tuple(value for value, wanted in zip(args, needed[1:]) if wanted)
        found.append(Contribution(operand, partial, rule.singular, reads=reads, reads_result=needed[0]))
    return found


def _elementwise(op: Op) -> List[Contribution]:
    call = library_call(op)
    return _by_rule(op, op.attrs["ufunc"]) if call is None else _of_call(op, call)


def _of_call(op: Op, call: LibraryCall) -> List[Contribution]:
    """Contributions to the operands of a library function."""
    rule, reads = FUNCTIONS[call.function], tuple(op.args)
    if rule.partials:
        return [Contribution(operand, rule.partials[place], keywords=call.options, is_whole=True, reads=reads,
                             reads_result=True, call=call) for place, operand in call.operands()]
    return [Contribution(operand, rule.vjp, keywords=call.options, item=place, reads=reads, reads_result=True,
                         call=call) for place, operand in call.operands()]


def _library(op: Op) -> List[Contribution]:
    call = library_call(op)
    if call is None:
        raise Irreversible("no rule for the operation %s%s" % (
            op.name, " (%s)" % op.attrs["function"] if "function" in op.attrs else ""))
    return _of_call(op, call)


def _selection(op: Op) -> List[Contribution]:
    """Elements that an index array or a mask selects; their adjoints are added at their places."""
    return [Contribution(op.args[0], None, reads=op.args[1:])]


def _pieces(op: Op) -> List[Contribution]:
    return [Contribution(operand, None) for operand in op.args]


def _operator(ufunc: Any) -> Callable[[Op], List[Contribution]]:
    return lambda op: _by_rule(op, ufunc)


def _where(op: Op) -> List[Contribution]:
    condition, x, y = op.args
    return [Contribution(x, where_true, reads=(condition,)), Contribution(y, where_false, reads=(condition,))]


def _reduction(op: Op) -> List[Contribution]:
    if op.attrs["ufunc"] is np.add:
        return [Contribution(op.args[0], None, spreads=True)]
    keywords = ("axis", op.attrs["axis"]), ("keepdims", op.attrs["keepdims"])
    vjp = FUNCTIONS[REDUCTIONS[op.attrs["ufunc"]]].vjp
    return [Contribution(op.args[0], vjp, keywords=keywords, item=0, reads=op.args, reads_result=True)]


def _invoke(op: Op) -> List[Contribution]:
    if is_constant(op):
        return []
    if is_number_array(op):
        return [Contribution(op.args[0], number_adjoint)]
    return _selection(op) if is_selection(op) else _product(op)


def _product(op: Op) -> List[Contribution]:
    if library_call(op) is not None or op.attrs["function"] not in PRODUCTS:
        return _library(op)
    partials = FUNCTIONS[PRODUCTS[op.attrs["function"]]].partials
    return [Contribution(operand, partial, is_whole=True, reads=op.args) for operand, partial in zip(op.args, partials)]


def _nothing(op: Op) -> List[Contribution]:
    """New arrays do not depend on anything; the adjoint of a loaded element is added at its place."""
    return []


ADJOINTS: Dict[str, Callable[[Op], List[Contribution]]] = {
    "same": _identity, "cast": _identity, "assign": _identity, "store": _identity, "load": _nothing,
    "alloc": _nothing, "ufunc": _elementwise, "ufunc_into": _elementwise, "where": _where, "reduce": _reduction,
    "gufunc": _product, "product": _product, "dot": _product, "add": _operator(np.add), "sub": _operator(np.subtract),
    "mul": _operator(np.multiply), "truediv": _operator(np.divide), "neg": _operator(np.negative),
    "abs": _operator(np.absolute), "power": _operator(np.power), "invoke": _invoke, "scan": _library, "roll": _library,
    "gather": _selection, "pick": _selection, "rows": _selection, "concatenate": _pieces}
"""The contributions of each operation that has a rule. Operators of numbers have those of the ufunc."""


def contributions(op: Op) -> List[Contribution]:
    """The contributions of an operation to each of its operands, in the tape's order.

    For a store, the result is what it stores.

    Raises:
        Irreversible: the operation has no rule.
    """
    if op.name not in ADJOINTS:
        raise Irreversible("no rule for the operation %s" % op.name)
    return ADJOINTS[op.name](op)
