"""The tape: active values, the records of their operations, and the backward sweep.

`differentiate` and `pijit.gradients` use it. It must not change the program's values.
"""

from __future__ import annotations

import functools
import operator
from types import FunctionType, MemberDescriptorType, MethodType
from typing import Any, Callable, Dict, Iterator, Optional, Tuple

import numpy as np

from pijit.core.graph.derivatives.adjoints import cast_to, strong_zero, sum_to
from pijit.core.tape import native
from pijit.core.tape.budget import allowance, first_allowance
from pijit.core.tape.errors import refusal, refusal_at
from pijit.core.tape.memory import places_of
from pijit.core.tape.native import Memory, overlaps_itself

Run = Callable[..., Any]
"""Calls a function of the backward sweep: plainly, or recorded by the enclosing tapes (gradients of gradients)."""

NUMBERS = (float, complex, np.floating, np.complexfloating)
CONTAINERS = (list, tuple, dict, set, frozenset)
DEPTH = 6
"""Maximum depth of the search for active values in containers and objects."""


def accumulate(shadow: Any, g: Any) -> None:
    """Add to an adjoint in place."""
    shadow += g


def accumulate_at(shadow: Any, index: Any, g: Any) -> None:
    """Add to elements of an adjoint; an index that occurs twice is added twice."""
    np.add.at(shadow, index, g)


def cleared(shadow: Any, index: Any) -> Any:
    """Copy a part of an adjoint and set it to 0; a value stored there does not depend on the old value."""
    g = np.array(shadow[index])
    shadow[index] = 0
    return g


def values_at(x: Any, index: Any) -> Any:
    """A copy of elements."""
    return np.array(x[index])


def same_values(x: Any) -> Any:
    """A copy; enclosing tapes record it as the identity."""
    return np.array(x)


class Tape(native.Tape):
    """The records of one gradient call, with what is not done in C.

    Args:
        beneath: calls a function so that only the enclosing tapes record it.
        integers: whether integers are differentiated too, as if they were real; their adjoints are integers.
        limit: maximum bytes that the tape may hold; None: a fraction of the free memory.
    """

    def __init__(self, beneath: Run, integers: bool = False, limit: Optional[int] = None) -> None:
        self.beneath = beneath
        self.integers = integers
        self.allowed, self._limit = first_allowance(limit), limit
        self._number_types = NUMBERS + ((np.integer,) if integers else ())

    # Activity.

    def reaches(self, x: Any, depth: int = DEPTH) -> bool:
        """Whether a value is active or refers to an active value."""
        if issubclass(type(x), (np.ndarray,) + self._number_types):
            return self.active(x) or issubclass(type(x), np.ndarray) and x.dtype.kind == "O" and any(
                map(self.active, x.flat))
        return any(self.reaches(one, depth - 1) for one in _parts(x)) if depth else False

    def start(self, x: Any) -> None:
        """Make the numbers and float arrays of a value active."""
        if issubclass(type(x), (list, tuple)):
            for one in x:
                self.start(one)
        else:
            self.start_one(x)

    def check_only_owner(self, made: Memory) -> None:
        """Refuse a second owner of memory that belongs to neither of the two arrays.

        Raises:
            GradientError: PJ502, because the two would have adjoints of their own.
        """
        low, high = made.bounds
        for other in self.memories():
            if other is not made and other.bounds[0] < high and low < other.bounds[1]:
                raise refusal("PJ502", what="two arrays over one foreign buffer")

    def over_budget(self, held: int) -> int:
        """The bytes that the tape may hold; called when it holds more than it was allowed.

        Raises:
            GradientError: PJ506 with the user's line, if the tape holds more than its limit.
        """
        self._limit = allowance(held, self._limit)
        return self._limit

    # Recording.

    def note_store(self, target: np.ndarray[Any, Any], index: Any) -> Callable[[Run], None]:
        """Save the elements that a store is about to overwrite; the returned function restores them in the sweep."""
        memory = self.memory(target)
        if memory.shared is not None:
            raise refusal("PJ505", what=memory.shared)
        old, target = self.beneath(values_at, target, index), target.view()
        self.hold(old.nbytes)

        def undo(run: Run) -> None:
            run(operator.setitem, memory.earlier(run, target), index, old)
        return undo

    def record_by_rule(self, rule: Any, r: Any, operands: Tuple[Any, ...], names: Optional[Tuple[str, ...]]) -> None:
        """Record a result that is not plain."""
        from pijit.core.tape.records import record_result  # records needs this module

        marks = sum(self.active(one) << k for k, one in enumerate(operands))
        place = native.user_place()
        record_result(self, r, lambda run, g, r: self.give_by_record(run, rule, operands, names, marks, g, r, place))

    # The backward sweep.

    def give_converted(self, run: Run, x: Any, g: Any) -> None:
        """Add to the adjoint of a value after sums over broadcast axes and casts."""
        if type(x) in (list, tuple):
            for one, part in zip(x, g):
                self.give(run, one, part)
            return
        g = run(cast_to, run(sum_to, g, np.shape(x)), np.asarray(x).dtype)
        if not issubclass(type(x), np.ndarray):
            before = self.adjoint(x)
            self.set_adjoint(x, g if before is None else run(operator.add, before, g))
        elif overlaps_itself(x):
            row, places = places_of(self.memory(x), x)
            run(accumulate_at, row, places, g)
        else:
            run(accumulate, self.shadow(x), g)

    def give_at(self, run: Run, x: np.ndarray[Any, Any], index: Any, g: Any) -> None:
        """Add to the adjoints of the elements ``x[index]``."""
        if overlaps_itself(x):
            row, places = places_of(self.memory(x), x)
            run(accumulate_at, row, places[index], run(cast_to, g, x.dtype))
        else:
            run(accumulate_at, self.shadow(x), index, run(cast_to, g, x.dtype))

    def give_by_rule(self, run: Run, rule: Any, args: Tuple[Any, ...], marks: int, g: Any, r: Any) -> None:
        """Give the contributions of an elementwise operation; bit i of `marks`: operand i is active."""
        values = [self.value(one) for one in args]
        if rule.holomorphic and any(map(np.iscomplexobj, values + [r])):
            r, values = run(np.conjugate, r), [run(np.conjugate, one) for one in values]
        for k, (one, partial) in enumerate(zip(args, rule.partials)):
            if marks >> k & 1:
                part = run(partial, g, r, *values)
                self.give(run, one, run(strong_zero, g, part) if rule.singular else part)

    def give_by_record(self, run: Run, rule: Any, operands: Tuple[Any, ...], names: Optional[Tuple[str, ...]],
                       marks: int, g: Any, r: Any, place: Any) -> None:
        """Give the contributions of an operation that was recorded in C.

        Args:
            run: calls a function.
            rule: the `native.Rule` of the operation.
            operands, names: its arguments, and the names of the last ones.
            marks: bit i: operand i is active.
            g, r: the adjoint of the result, and the result.
            place: file and line of the operation.
        """
        if rule.vjp is None:
            self.give_by_rule(run, rule, operands, marks, g, r)
            return
        values = [self.value(one) for one in operands]
        count = len(values) - len(names or ())
        named = dict(zip(names or (), values[count:]))
        try:
            if rule.partials:
                parts = [run(partial, g, r, *values[:count], **named) if marks >> k & 1 else None
                         for k, partial in enumerate(rule.partials)]
            else:
                parts = run(rule.vjp, g, r, *values[:count], **named)
        except Exception as error:
            self.refuse_rule(rule, place, error)
            raise
        for one, part in zip(operands[:rule.operands], parts):
            self.give(run, one, part)

    @staticmethod
    def refuse_rule(rule: Any, place: Any, error: BaseException) -> None:
        """Raise the refusal of a function, if its rule has raised because it has no derivative here.

        Raises:
            GradientError: PJ502 with the user's line.
        """
        if issubclass(type(error), (NotImplementedError, ArithmeticError, np.linalg.LinAlgError)):
            made = refusal_at(place, "PJ502", what=getattr(rule.function, "__name__", repr(rule.function)))
            made.args = ("{}: {}".format(made, error),)
            raise made from error

    @staticmethod
    def strong_zero(g: Any, contribution: Any) -> Any:
        """The contribution of a singular rule."""
        return strong_zero(g, contribution)

    def undo_store(self, run: Run, target: np.ndarray[Any, Any], old: np.ndarray[Any, Any], rule: Any,
                   operands: Tuple[Any, ...], marks: int) -> None:
        """Undo a store that was recorded in C, and give its contributions, if enclosing tapes record this.

        Args:
            run: calls a function.
            target: the elements that were stored.
            old: their values before.
            rule: what computed the stored values; None: they are the operand.
            operands, marks: as for `give_by_rule`.
        """
        reached = self.adjoint(target)
        g = None if reached is None else run(cleared, reached, ...)
        r = None if g is None or rule is None else run(same_values, self.value(target))
        run(operator.setitem, self.memory(target).earlier(run, target), ..., old)
        if g is None or not marks:
            return
        if rule is None:
            self.give(run, operands[0], g)
        else:
            self.give_by_rule(run, rule, operands, marks, g, r)

    def sweep(self, run: Run, keep: bool = False) -> None:
        """Run all records in reverse order. Unless they are kept for another sweep, each is dropped."""
        with np.errstate(all="ignore"):
            self.run_back(run, keep)


def _parts(x: Any) -> Iterator[Any]:
    """The items of a container, the attributes of an object, and the parts of a function, bound method or partial."""
    if issubclass(type(x), dict):
        yield from x.values()
    elif issubclass(type(x), CONTAINERS):
        yield from x
    elif issubclass(type(x), FunctionType):
        yield from x.__defaults__ or ()
        yield from (cell.cell_contents for cell in x.__closure__ or () if _filled(cell))
    elif issubclass(type(x), MethodType):
        yield x.__self__
        yield x.__func__
    elif issubclass(type(x), functools.partial):
        yield x.args
        yield x.keywords
        yield x.func
    else:
        if not issubclass(type(x), type):
            yield from list(own_attributes(x).values())
        yield from _slots(x)


def _filled(cell: Any) -> bool:
    try:
        cell.cell_contents
    except ValueError:
        return False
    return True


def own_attributes(x: Any) -> Dict[str, Any]:
    """The `__dict__` of an object; no code of its class runs."""
    try:
        found = object.__getattribute__(x, "__dict__")
    except AttributeError:
        return {}
    return found if type(found) is dict else {}


def _slots(x: Any) -> Iterator[Any]:
    """The values in the slots that an object's classes define."""
    for one in type(x).__mro__:
        if one.__module__ != "builtins" and "__slots__" in one.__dict__:
            for member in one.__dict__.values():
                if type(member) is MemberDescriptorType:
                    try:
                        yield member.__get__(x, type(x))
                    except AttributeError:
                        pass
