"""The rules of the table of derivatives, as operations that are recorded in C use them."""

from __future__ import annotations

import inspect
from typing import Any, Optional

from pijit.core.graph.derivatives import CUTS, ELEMENTWISE, FUNCTIONS
from pijit.core.graph.derivatives.table import FunctionRule
from pijit.core.tape.native import MOST_OPERANDS, Rule


def rule_of(known: Any, callee: Any) -> Optional[Rule]:
    """The rule of a function of the tables, or None.

    Args:
        known: the function that has the rule.
        callee: what the program calls; another object if it is the method of arrays that does the same.
    """
    if known in ELEMENTWISE:
        rule = ELEMENTWISE[known]
        if len(rule.partials) > MOST_OPERANDS:
            return None
        return Rule(callee, rule.partials, None, len(rule.partials), rule.singular, rule.holomorphic)
    if known in CUTS:
        return Rule(callee, (), None, 0, False, False)
    found = FUNCTIONS.get(known)
    if found is None or not _takes_leading_operands(found):
        return None
    return Rule(callee, found.partials, found.vjp, len(found.operands), False, False)


def _takes_leading_operands(rule: FunctionRule) -> bool:
    """Whether the operands of a rule are its first positional parameters, and few enough."""
    parameters = list(rule.signature.parameters.values())[2:]
    return 0 < len(rule.operands) <= MOST_OPERANDS and all(
        one.name == name and one.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD
        for one, name in zip(parameters, rule.operands))
