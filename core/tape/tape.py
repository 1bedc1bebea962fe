"""The tape: active values, the records of their operations, and the backward sweep."""

from __future__ import annotations

import functools
import operator
from types import FunctionType, MemberDescriptorType, MethodType
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple

import numpy as np

from pijit.core.graph.derivatives.adjoints import cast_to, sum_to
from pijit.core.tape.budget import Budget
from pijit.core.tape.errors import refusal, user_place
from pijit.core.tape.memory import Memory, overlaps_itself, owner_of

Run = Callable[..., Any]
"""Calls a function of the backward sweep: plainly, or recorded by the enclosing tapes (gradients of gradients)."""

NUMBERS = (float, complex, np.floating, np.complexfloating)
CONTAINERS = (list, tuple, dict, set, frozenset)
DEPTH = 6
"""Maximum depth of the search for active values in containers and objects."""


class Number:
    """An active number and its adjoint. The object is held so that its id is not reused."""

    __slots__ = ("value", "adjoint")

    def __init__(self, value: Any) -> None:
        self.value = value
        self.adjoint: Any = None


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


class Tape:
    """The records of one gradient call.

    Args:
        beneath: calls a function so that only the enclosing tapes record it.
        integers: whether integers are differentiated too, as if they were real; their adjoints are integers.
        limit: maximum bytes that the tape may hold; None: a fraction of the free memory.

    Attributes:
        cuts: (place, name) of operations on active values whose derivative is zero.
        lines: source lines of the recorded operations, with their counts, for `explain`.
    """

    def __init__(self, beneath: Run, integers: bool = False, limit: Optional[int] = None) -> None:
        self.beneath = beneath
        self._budget = Budget(limit)
        self._kinds = "fciu" if integers else "fc"
        self._number_types = NUMBERS + ((np.integer,) if integers else ())
        self._numbers: Dict[int, Number] = {}
        self._memory: Dict[int, Memory] = {}
        self._back: List[Callable[[Run], None]] = []
        self.cuts: List[Tuple[Optional[Tuple[str, int]], str]] = []
        self.lines: Dict[Optional[Tuple[str, int]], int] = {}

    # Activity.

    def carries(self, x: Any) -> bool:
        """Whether a value can carry an adjoint: a number or an array of a differentiable kind."""
        return issubclass(type(x), self._number_types) or (
            issubclass(type(x), np.ndarray) and x.dtype.kind in self._kinds)

    def active(self, x: Any) -> bool:
        """Whether a number or an array depends on an active argument."""
        if issubclass(type(x), np.ndarray):
            memory = self._memory.get(id(owner_of(x)))
            return memory is not None and memory.active and x.dtype.kind in self._kinds
        return id(x) in self._numbers and issubclass(type(x), self._number_types)

    def reaches(self, x: Any, depth: int = DEPTH) -> bool:
        """Whether a value is active or refers to an active value."""
        if issubclass(type(x), (np.ndarray,) + self._number_types):
            return self.active(x) or issubclass(type(x), np.ndarray) and x.dtype.kind == "O" and any(
                map(self.active, x.flat))
        return any(self.reaches(one, depth - 1) for one in _parts(x)) if depth else False

    def start(self, x: Any) -> None:
        """Make the numbers and float arrays of a value active."""
        if issubclass(type(x), np.ndarray):
            if self.carries(x):
                self.memory(x).active = True
        elif issubclass(type(x), self._number_types):
            self._numbers.setdefault(id(x), Number(x))
        elif issubclass(type(x), (list, tuple)):
            for one in x:
                self.start(one)

    def memory(self, x: np.ndarray[Any, Any]) -> Memory:
        """The record of the memory that an array views."""
        owner = owner_of(x)
        found = self._memory.get(id(owner))
        if found is None:
            found = self._memory[id(owner)] = Memory(owner)
            self._budget.hold(owner.nbytes)
            if owner.base is not None or not owner.flags.owndata:
                self._refuse_second_owner(found)
        return found

    def _refuse_second_owner(self, made: Memory) -> None:
        low, high = made.bounds
        for other in self._memory.values():
            if other is not made and other.bounds[0] < high and low < other.bounds[1]:
                raise refusal("PJ502", what="two arrays over one foreign buffer")

    # Recording.

    def record(self, back: Callable[[Run], None]) -> None:
        """Add a step of the backward sweep."""
        place = user_place()
        self.lines[place] = self.lines.get(place, 0) + 1
        self._back.append(back)

    def cut(self, name: str) -> None:
        """Note an operation on an active value whose derivative is zero."""
        self.cuts.append((user_place(), name))

    def note_store(self, target: np.ndarray[Any, Any], index: Any) -> Callable[[Run], None]:
        """Save the elements that a store is about to overwrite; the returned function restores them in the sweep."""
        memory = self.memory(target)
        if memory.shared is not None:
            raise refusal("PJ505", what=memory.shared)
        old, target = self.beneath(values_at, target, index), target.view()
        self._budget.hold(old.nbytes)

        def undo(run: Run) -> None:
            run(operator.setitem, memory.earlier(run, target), index, old)
        return undo

    # The backward sweep.

    def value(self, x: Any) -> Any:
        """A value at the point that the sweep has reached; containers are rebuilt."""
        if issubclass(type(x), np.ndarray):
            memory = self._memory.get(id(owner_of(x)))
            return x if memory is None else memory.value(x)
        if type(x) in (list, tuple):
            return type(x)(map(self.value, x))
        return x

    def adjoint(self, x: Any) -> Any:
        """The accumulated adjoint of a value, or None; a writable view for arrays."""
        if issubclass(type(x), np.ndarray):
            memory = self._memory.get(id(owner_of(x)))
            return memory.shadow(x) if memory is not None and memory.active and memory.has_shadow() else None
        number = self._numbers.get(id(x))
        return None if number is None else number.adjoint

    def shadow(self, x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """The adjoint of an array, created as zeros if there is none."""
        return self.memory(x).shadow(x)

    def give(self, run: Run, x: Any, g: Any) -> None:
        """Add to the adjoint of a value; for a container, to that of each item."""
        if g is None:
            return
        if type(x) in (list, tuple):
            for one, part in zip(x, g):
                self.give(run, one, part)
        elif self.active(x):
            g = run(cast_to, run(sum_to, g, np.shape(x)), np.asarray(x).dtype)
            if issubclass(type(x), np.ndarray):
                self._give_array(run, x, g)
            else:
                number = self._numbers[id(x)]
                number.adjoint = g if number.adjoint is None else run(operator.add, number.adjoint, g)

    def _give_array(self, run: Run, x: np.ndarray[Any, Any], g: Any) -> None:
        if overlaps_itself(x):
            row, places = self.memory(x).places(x)
            run(accumulate_at, row, places, g)
        else:
            run(accumulate, self.shadow(x), g)

    def give_at(self, run: Run, x: np.ndarray[Any, Any], index: Any, g: Any) -> None:
        """Add to the adjoints of the elements ``x[index]``."""
        if overlaps_itself(x):
            row, places = self.memory(x).places(x)
            run(accumulate_at, row, places[index], run(cast_to, g, x.dtype))
        else:
            run(accumulate_at, self.shadow(x), index, run(cast_to, g, x.dtype))

    def sweep(self, run: Run) -> None:
        """Run all records in reverse order; each is dropped after it has run."""
        with np.errstate(all="ignore"):
            while self._back:
                self._back.pop()(run)

    def forget_adjoints(self) -> None:
        """Drop the accumulated adjoints, so that a kept tape can be swept again."""
        for memory in self._memory.values():
            memory.forget()
        for number in self._numbers.values():
            number.adjoint = None

    def kept_sweep(self, run: Run) -> None:
        """A backward sweep that keeps the records for another sweep."""
        kept = list(self._back)
        try:
            self.sweep(run)
        finally:
            self._back = kept


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
