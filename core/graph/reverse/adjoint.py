"""Adjoints: for each operation, the rule that gives the adjoints of its operands.

The rules are those of the tape (`graph/derivatives`), called with the same values, so that both have the same bits.
"""

from __future__ import annotations

from typing import Any, Dict, List, NamedTuple, Tuple, cast

import numpy as np

from pijit.core.graph.derivatives import ELEMENTWISE, FUNCTIONS
from pijit.core.graph.derivatives.table import sizes_needed
from pijit.core.graph.ir import Op, Value
from pijit.core.graph.reverse.errors import Irreversible
from pijit.core.graph.reverse.forward import PRODUCTS, REDUCTIONS

OPERATORS: Dict[str, Any] = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "truediv": np.divide,
                             "neg": np.negative, "power": np.power}
"""The ufunc whose rule an operator of scalars has."""

IDENTITIES = frozenset(["same", "cast"])
VIEWS = frozenset(["view", "transpose"])


class Contribution(NamedTuple):
    """A part of an operand's adjoint.

    Attributes:
        operand: the operand.
        rule: the function of (g, r, *operands) that gives it, or None: the adjoint of the result itself.
        singular: whether it is 0 where the result's adjoint is 0, see `strong_zero`.
        keywords: the keywords of a rule of a function over arrays.
        item: the position in the tuple that such a rule returns, or None.
        sizes: the values as large as which the contribution is, apart from the adjoint of the result.
    """

    operand: Value
    rule: Any
    singular: bool = False
    keywords: Tuple[Tuple[str, Any], ...] = ()
    item: Any = None
    sizes: Tuple[Value, ...] = ()


def _sizes(op: Op, partial: Any) -> Tuple[Value, ...]:
    values = [cast(Value, op.result), *op.args]
    return tuple(value for value, needed in zip(values, sizes_needed(partial, len(op.args))) if needed)


def contributions(op: Op) -> List[Contribution]:
    """The contributions of an operation to each of its operands, in the tape's order.

    Raises:
        Irreversible: the operation has no rule.
    """
    if op.name in IDENTITIES:
        return [Contribution(op.args[0], None)]
    if op.name == "ufunc" or op.name in OPERATORS:
        ufunc = op.attrs["ufunc"] if op.name == "ufunc" else OPERATORS[op.name]
        rule = ELEMENTWISE.get(ufunc)
        if rule is None:
            raise Irreversible("no rule for %s" % ufunc.__name__)
        return [Contribution(operand, partial, rule.singular, sizes=_sizes(op, partial))
                for operand, partial in zip(op.args, rule.partials)]
    if op.name == "reduce":
        function = REDUCTIONS[op.attrs["ufunc"]]
        keywords = ("axis", op.attrs["axis"]), ("keepdims", op.attrs["keepdims"])
        return [Contribution(op.args[0], FUNCTIONS[function].vjp, False, keywords, 0)]
    if op.name in ("gufunc", "product", "dot"):
        rule_of_product = FUNCTIONS[PRODUCTS[op.attrs["function"]]]
        return [Contribution(operand, rule_of_product.vjp, False, (), number) for number, operand in enumerate(op.args)]
    raise Irreversible("no rule for the operation %s" % op.name)
