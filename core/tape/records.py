"""Records of the tape: how the adjoint of a result contributes to the adjoints of the operands.

`operations`, `handlers` and `calls` append them. They must not change the program's values.
"""

from __future__ import annotations

from typing import Any, Callable, Dict, Optional, Tuple

import numpy as np

from pijit.core.graph.derivatives.table import ElementwiseRule, FunctionRule
from pijit.core.reasons import reason
from pijit.core.tape.errors import refusal
from pijit.core.tape.tape import Run, Tape, cleared, same_values

Give = Callable[[Run, Any, Any], None]
"""Takes (run, g, r): adds the contributions of the result's adjoint `g` to the operands."""


def elementwise_give(tape: Tape, rule: ElementwiseRule, args: Tuple[Any, ...], where: Any = True) -> Give:
    """Contributions of an elementwise operation."""
    marks = sum(tape.active(one) << k for k, one in enumerate(args))
    args = tuple(map(frozen, args))

    def give(run: Run, g: Any, r: Any) -> None:
        if where is not True:
            g = run(np.where, where, g, 0)
        tape.give_by_rule(run, rule, args, marks, g, r)
    return give


def function_give(tape: Tape, rule: FunctionRule, args: Tuple[Any, ...], kwargs: Dict[str, Any],
                  refuse: Callable[[Exception], Exception]) -> Give:
    """Contributions of a function over whole arrays."""
    args = tuple(map(frozen, args))
    kwargs = {name: frozen(one) for name, one in kwargs.items() if name != "out"}
    if rule.operands:
        bound = rule.signature.bind(None, None, *args, **kwargs).arguments
        operands = [bound.get(name) for name in rule.operands]
    else:
        operands = list(args)
    marks = [one is not None and tape.reaches(one) for one in operands] if rule.partials else []

    def give(run: Run, g: Any, r: Any) -> None:
        values = [tape.value(one) for one in args]
        named = {name: tape.value(one) for name, one in kwargs.items()}
        try:
            if rule.partials:
                parts = [run(partial, g, r, *values, **named) if mark else None
                         for partial, mark in zip(rule.partials, marks)]
            else:
                parts = run(rule.vjp, g, r, *values, **named)
        except (NotImplementedError, ArithmeticError, np.linalg.LinAlgError) as error:
            raise refuse(error) from error
        for one, part in zip(operands, parts):
            tape.give(run, one, part)
    return give


def frozen(x: Any) -> Any:
    """Snapshot of an operand; the program may change a list, or assign an array's shape, before the sweep."""
    if type(x) is np.ndarray:
        return x.view()
    return [frozen(one) for one in x] if type(x) is list else x


def record_result(tape: Tape, r: Any, give: Give) -> None:
    """Record an operation that returns new values. Views of active memory need no record."""
    if issubclass(type(r), (list, tuple)):
        _record_several(tape, r, give)
        return
    if issubclass(type(r), np.ndarray) and r.dtype.kind == "O":
        raise refusal("PJ502", what="an array of objects")
    if not tape.carries(r) or tape.active(r):
        return
    tape.record_value(r, give)


def _record_several(tape: Tape, results: Any, give: Give) -> None:
    carriers = [one for one in results if tape.carries(one) and not tape.active(one)]
    if not carriers:
        return
    tape.start(carriers)
    marks = [tape.carries(one) and any(one is other for other in carriers) for one in results]
    results = list(map(frozen, results))

    def back(run: Run) -> None:
        adjoints = [tape.adjoint(one) if mark else None for one, mark in zip(results, marks)]
        if any(g is not None for g in adjoints):
            filled = [np.zeros(np.shape(one)) if g is None else g for one, g in zip(results, adjoints)]
            give(run, filled, [tape.value(one) for one in results])
    tape.record(back)


def record_store(tape: Tape, target: np.ndarray[Any, Any], index: Any, undo: Callable[[Run], None], give: Give,
                 flows: bool) -> None:
    """Record a store into an array, after it was executed, together with its inverse.

    Args:
        tape: the tape.
        target, index: the elements that were stored.
        undo: from `Tape.note_store`; restores the old contents.
        give: adds the contributions to the operands.
        flows: whether an operand is active.
    """
    target = frozen(target)
    if not tape.carries(target):
        if flows and target.dtype.kind == "V":
            raise refusal("PJ502", what="a store into whole rows of a structured array")
        if flows:
            tape.cut(reason("PJ507", dtype=target.dtype))
        tape.record(undo)
        return
    if flows:
        tape.start(target)
    if not tape.active(target):
        tape.record(undo)
        return

    def back(run: Run) -> None:
        reached = tape.adjoint(target)
        g = None if reached is None else run(cleared, reached, index)
        r = None if g is None else run(same_values, tape.value(target)[index])
        undo(run)
        if g is not None:
            give(run, g, r)
    tape.record(back)


def stored_value_give(tape: Tape, value: Any, winners: Optional[np.ndarray[Any, Any]]) -> Give:
    """Contribution of `a[index] = value`; if an index occurs twice, only the last element contributes."""
    value = frozen(value)

    def give(run: Run, g: Any, r: Any) -> None:
        if winners is not None:
            g = run(np.where, winners, g, 0)
        tape.give(run, value, g)
    return give


def winners_of(target: np.ndarray[Any, Any], index: Any) -> Optional[np.ndarray[Any, Any]]:
    """Mask of the elements of an indexed store that remain in the array; None if no index occurs twice."""
    parts = index if issubclass(type(index), tuple) else (index,)
    if not any(issubclass(type(one), (list, np.ndarray)) and np.asarray(one).dtype.kind in "iu" for one in parts):
        return None
    marks = np.empty(target.shape, dtype=np.intp)
    order = np.arange(np.size(target[index])).reshape(np.shape(target[index]))
    marks[index] = order
    stays = np.asarray(marks[index] == order)
    return None if stays.all() else stays
