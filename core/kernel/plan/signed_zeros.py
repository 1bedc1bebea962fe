"""Signed zeros: steps that change no bit of what a fusion group stores, so that its nest leaves them out.

``0.0 + x`` differs from ``x`` only where ``x`` is -0.0. Backward passes have many such additions, because the adjoint
of an array begins with 0. An addition is left out in two cases:

- ``x`` is never -0.0. A sum of two numbers is -0.0 only if both are, and so on. The data-flow analysis is optimistic:
  no loop-carried value is -0.0 until one of the values that are passed to it may be. An array into which code stores
  stays without -0.0 if none of the stored values is -0.0.
- Nobody demands the sign of a zero. ``y + x`` with a ``y`` that is never -0.0 has the same bits for both signs.
  Products and choices pass the sign on: it is demanded if that of their result is.

A *strong zero* is ``where((g == 0) & ~isfinite(q), 0.0, q)``: backward passes choose it for a quotient ``q`` of the
adjoint ``g``. If ``g`` is 0, then ``q`` is 0 or NaN. So the test of ``q`` is left out, too, where nobody demands the
sign of the result.

LLVM calls the second analysis demanded floating-point classes. An instruction with its flag ``nsz`` demands no sign.
`make_plan` calls this. It changes neither the graph nor the groups: operations that are done one by one are complete.
"""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, Optional, Sequence, Set, cast

import numpy as np

from pijit.core.graph.element_ops import IGNORES_ZERO_SIGN, PASSES_ZERO_SIGN, UNSIGNED_ZERO, ZERO_OF
from pijit.core.graph.ir import Block, Graph, Op, Value
from pijit.core.graph.ops import (
    APPLIES_UFUNC,
    COMPUTES_NO_ELEMENTS,
    EFFECTS,
    ELEMENTWISE,
    HIDES_OPERANDS,
    HIDES_OTHERS,
    KEEPS_VALUE,
    STORES,
    VIEWS,
)
from pijit.core.graph.passes.fusion import COMPARISONS, PREDICATES, operands, scalar_operation, sums_rows, watched
from pijit.core.graph.types import Array, Scalar
from pijit.core.kernel.plan.graph_facts import GraphFacts
from pijit.core.kernel.plan.multi_output_fusion import computed, reported_ops
from pijit.core.kernel.plan.tiling import find_users

_SIGNLESS = IGNORES_ZERO_SIGN.union(COMPARISONS.values(), PREDICATES.values())


def find_left_out_steps(graph: Graph, facts: GraphFacts) -> Dict[Op, Value]:
    """The steps of groups that change no bit of a group's results, and the operands that replace them."""
    zeros = {value for value, number in facts.constants.items() if _is_zero(number) and not np.signbit(number)}
    groups = [group for group in facts.groups.values()
              if any(_added(op, zeros) for op in group) and not _is_watched(group, facts)]
    if not groups:
        return {}
    search = _StepSearch(facts, zeros, _unsigned_values(graph, facts), *find_users(graph))
    found: Dict[Op, Value] = {}
    for group in groups:
        found.update(search.group(group))
    return found


def _is_watched(group: List[Op], facts: GraphFacts) -> bool:
    """Whether the nest of a group watches results; that of several results looks at flags, which some parts ignore."""
    merged = facts.merged.get(group[-1])
    return bool(watched(group if merged is None else reported_ops(merged.parts, merged.ops)))


def _is_zero(number: Any) -> bool:
    return isinstance(number, (float, np.floating)) and number == 0.0


def _added(op: Op, zeros: Set[Value]) -> List[Value]:
    """What an operation adds 0.0 to: an array of floats of its own type, or nothing."""
    if op.name != "ufunc" or scalar_operation(op) != "add" or op.attrs["types"] not in ("dd->d", "ff->f"):
        return []
    first, second = op.args
    others = [one for one, other in ((second, first), (first, second)) if other in zeros]
    return [one for one in others if isinstance(one.type, Array) and one.type.dtype.char == op.attrs["types"][0]][:1]


# ---- one group ----


class _StepSearch:
    """Finds the steps of groups that can be left out.

    The constants 0.0 are ``zeros``, and the values that are never -0.0 are ``unsigned``. The function `find_users`
    describes ``users`` and ``escaping``.
    """

    def __init__(self, facts: GraphFacts, zeros: Set[Value], unsigned: Set[Value], users: Mapping[Value, Set[Op]],
                 escaping: Set[Value]) -> None:
        self._facts, self._zeros, self._unsigned = facts, zeros, unsigned
        self._users, self._escaping = users, escaping

    def group(self, group: List[Op]) -> Dict[Op, Value]:
        """The steps of a group that can be left out, with the operands that replace them."""
        merged = self._facts.merged.get(group[-1])
        outputs = {group[-1], *(merged.outputs if merged is not None else ())}
        steps = [op.result for op in group if op.name not in COMPUTES_NO_ELEMENTS]
        named = {*map(computed, outputs), *steps[-1:]}  # the nest stores these steps, or adds them up
        demanded: Set[Value] = {cast(Value, op.result) for op in outputs if not self._is_added_up(op)}
        makers = {cast(Value, op.result): op for op in group}
        found: Dict[Op, Value] = {}
        for op in reversed(group):
            found.update(self._finite_test(op, makers) if op.name == "where" and op.result not in demanded else {})
            added = _added(op, self._zeros)
            if added and op.result not in named and (op.result not in demanded or added[0] in self._unsigned):
                found[op] = added[0]
                demanded.update(added if op.result in demanded else ())
            else:
                demanded.update(self._demanded(op, op.result in demanded))
        return found

    def _finite_test(self, op: Op, makers: Mapping[Value, Op]) -> Dict[Op, Value]:
        """The condition of a strong zero, and the part of it that is enough; empty if it is none."""
        condition, zero, quotient = op.args
        both = makers.get(condition)
        if both is None or both.name != "ufunc" or scalar_operation(both) != "and" or zero not in self._zeros \
                or self._users.get(condition) != {op}:
            return {}
        for test, other in (both.args, both.args[::-1]):
            adjoint = self._compared_with_zero(makers.get(test))
            if adjoint is not None and _asks_for_infinity(other, quotient, makers) \
                    and _vanishes(quotient, adjoint, makers):
                return {both: test}
        return {}

    def _compared_with_zero(self, op: Optional[Op]) -> Optional[Value]:
        """What an operation compares with 0.0 for equality; None if it does not."""
        if op is None or op.name != "ufunc" or scalar_operation(op) != COMPARISONS[np.equal]:
            return None
        for number, zero in (op.args, op.args[::-1]):
            if self._facts.constants.get(zero) == 0:
                return number
        return None

    def _is_added_up(self, op: Op) -> bool:
        """Whether an operation is a sum of which each user is an addition to a number that is never -0.0."""
        total = cast(Value, op.result)
        return sums_rows(op) and isinstance(total.type, Scalar) and total not in self._escaping and all(
            user.name == "add" and any(other is not total and other in self._unsigned for other in user.args)
            for user in self._users.get(total, ()))

    def _demanded(self, op: Op, is_demanded: bool) -> Sequence[Value]:
        """The operands of which an operation demands the sign of a zero; ``is_demanded``: that of its result is."""
        name, args = scalar_operation(op) if op.name in ELEMENTWISE else "", operands(op)
        if name in _SIGNLESS:
            return ()
        if name == "truediv":
            return args if is_demanded else args[1:]
        if name not in PASSES_ZERO_SIGN and name != "where" and not sums_rows(op):
            return args
        if not is_demanded:
            return ()
        rule = UNSIGNED_ZERO.get(name, "")
        if rule and args[0] in self._unsigned:
            return args[:1]
        return args[1:] if rule == "any" and args[1] in self._unsigned else args


def _vanishes(value: Value, adjoint: Value, makers: Mapping[Value, Op]) -> bool:
    """Whether a value is 0 or NaN where ``adjoint`` is 0: a product or a quotient of it."""
    factors = [value]
    for one in factors:  # it grows
        op = makers.get(one)
        rule = ZERO_OF.get(scalar_operation(op), "") if op is not None and op.name == "ufunc" else ""
        if op is not None and rule:
            factors += [arg for arg in op.args[:1 if rule == "first" else None] if arg not in factors]
    return adjoint in factors


def _asks_for_infinity(value: Value, number: Value, makers: Mapping[Value, Op]) -> bool:
    """Whether a value is ``~isfinite(number)``."""
    for wanted in (np.invert, np.isfinite):
        op = makers.get(value)
        if op is None or op.name != "ufunc" or op.attrs["ufunc"] is not wanted:
            return False
        value = op.args[0]
    return value is number


# ---- values that are never -0.0 ----


def _unsigned_values(graph: Graph, facts: GraphFacts) -> Set[Value]:
    """The numbers, and the arrays of numbers, that are never -0.0."""
    makers = {op.result: op for block in graph.blocks for op in block.ops if op.result is not None}
    passed = _passed(graph.blocks)
    changes = _changes(graph, facts, passed)
    found: Set[Value] = {*makers, *passed}
    left: Set[Value] = set()
    while len(left) != len(found):
        left = found
        found = {value for value in left if (
            _is_unsigned(makers[value], left) if value in makers else left.issuperset(passed[value])
        ) and all(_stores_unsigned(op, left) for op in changes.get(facts.root_of(value), ()))}
    return found


def _is_unsigned(op: Op, unsigned: Set[Value]) -> bool:
    """Whether the result of an operation is never -0.0 if these values are not."""
    kind = cast(Value, op.result).type
    if not isinstance(kind, (Array, Scalar)) or kind.dtype.kind not in "fiub" or op.name in EFFECTS:
        return False
    if kind.dtype.kind != "f":
        return True
    if op.name == "const":
        return not (_is_zero(op.attrs["value"]) and np.signbit(op.attrs["value"]))
    if op.name == "alloc":
        return op.attrs["fill"] is not None
    if op.name in KEEPS_VALUE:
        return op.args[0] in unsigned
    if op.name == "where":
        return unsigned.issuperset(op.args[1:])
    return _makes_unsigned(scalar_operation(op) if isinstance(kind, Array) else op.name, op.args, unsigned)


def _makes_unsigned(name: str, operands: Sequence[Value], unsigned: Set[Value]) -> bool:
    """Whether the result of a scalar operation is never -0.0 if these values are not."""
    if name == "mul":
        return operands[0] is operands[1]
    rule = UNSIGNED_ZERO.get(name, "")
    return rule == "none" or bool(rule) and any(
        value in unsigned for value in operands[:1 if rule == "first" else None])


def _stores_unsigned(op: Op, unsigned: Set[Value]) -> bool:
    """Whether an operation stores no -0.0 if these values are not."""
    target, kind = op.args[0].type, op.args[-1].type
    if op.name not in STORES or not isinstance(target, Array) or not isinstance(kind, (Array, Scalar)):
        return False
    if op.name in APPLIES_UFUNC:
        name = scalar_operation(op) if op.attrs["types"][-1] == target.dtype.char else ""
        return _makes_unsigned(name, op.args[1:], unsigned)
    return kind.dtype.kind in "iub" or kind.dtype == target.dtype and op.args[-1] in unsigned


def _passed(blocks: Sequence[Block]) -> Dict[Value, List[Value]]:
    """What jumps pass to each block parameter."""
    found: Dict[Value, List[Value]] = {param: [] for block in blocks[1:] for param in block.params}
    for block in blocks:
        for jump in block.terminator.targets():
            for param, arg in zip(jump.block.params, jump.args):
                found[param].append(arg)
    return found


def _changes(graph: Graph, facts: GraphFacts, passed: Mapping[Value, Sequence[Value]]) -> Dict[Value, List[Op]]:
    """The operations that may change elements of arrays after these are made, by the arrays that own the memory.

    A parameter is any of the arrays that jumps pass to it. Other arrays of unknown origin may be any array.
    """
    found: Dict[Value, List[Op]] = {}
    for block in graph.blocks:
        for op in block.ops:
            if op.name in VIEWS or op.name in HIDES_OPERANDS and op.name not in EFFECTS:
                continue
            values = op.args[:1] if op.name in HIDES_OPERANDS | HIDES_OTHERS else op.args
            for root in {facts.root_of(value) for value in values if isinstance(value.type, Array)}:
                found.setdefault(root, []).append(op)
    known = facts.made | facts.inputs | facts.params
    anywhere = [op for root, ops in found.items() if root not in known for op in ops]
    for root in (facts.made | facts.params) if anywhere else ():
        found.setdefault(root, []).extend(anywhere)
    open_params = [root for root in found if root in passed]
    while open_params:
        param = open_params.pop()
        for root in map(facts.root_of, passed[param]):
            missing = [op for op in found[param] if op not in found.setdefault(root, [])]
            found[root].extend(missing)
            if missing and root in passed:
                open_params.append(root)
    return found
