"""Expressions in kernel source: texts and operands, and lists of both.

The emitters put operands into text with ``%s``. No decision depends on what a text says. The emitter only compares
whole texts, so that it writes equal expressions and equal guards of a block once.
"""

from __future__ import annotations

from typing import Iterable, Tuple, Union

from pijit.core.kernel.plan.operands import Operand

Expression = Union[str, Operand]
"""The source of an expression: text, or an operand."""

Place = Tuple[Expression, Expression]
"""The place of an element: an address, and an offset in bytes."""


def listed(items: Iterable[object]) -> str:
    """The arguments of a call, as source."""
    return ", ".join(map(str, items))
