"""Arguments of a gradient call: the leaves to differentiate, and the gradient in the argument's structure.

`differentiate` calls it. It must put the caller's objects back.
"""

from __future__ import annotations

from typing import Any, Callable, Iterator, List, Tuple

import numpy as np

from pijit.core.tape.errors import refusal
from pijit.core.tape.operations import BINARY
from pijit.core.tape.tape import NUMBERS, Run, Tape, own_attributes, same_values

Gather = Callable[[Run], Any]
"""Builds the gradient of a leaf or container after the sweep."""

Restore = Callable[[], None]


class Argument:
    """One differentiated argument.

    Attributes:
        value: the value passed to the function; each number is a separate object.
        gather: builds the gradient.
        restore: puts the caller's number objects back into containers.
        active: number of differentiated leaves.
    """

    def __init__(self, tape: Tape, x: Any) -> None:
        self._tape = tape
        self.active = 0
        self._restores: List[Restore] = []
        self.value, self.gather = self._enter(x)

    def restore(self) -> None:
        """Undo the replacements of numbers in the caller's containers."""
        for one in reversed(self._restores):
            one()

    def _enter(self, x: Any) -> Tuple[Any, Gather]:
        if issubclass(type(x), np.ndarray):
            return self._array(x)
        if issubclass(type(x), NUMBERS):
            return self._number(x)
        if issubclass(type(x), tuple):
            parts = [self._enter(one) for one in x]
            values = [value for value, _ in parts]
            rebuilt = x if all(a is b for a, b in zip(values, x)) else _like(x, values)
            return rebuilt, lambda run: _like(x, [gather(run) for _, gather in parts])
        if issubclass(type(x), list):
            return x, self._items(x, range(len(x)), lambda found: [found[k] for k in sorted(found)])
        if issubclass(type(x), dict):
            return x, self._items(x, list(x), lambda found: found)
        attributes = {} if issubclass(type(x), type) or callable(x) else own_attributes(x)
        if attributes:
            return x, self._items(attributes, list(attributes), lambda found: found)
        return x, lambda run: None

    def _items(self, container: Any, keys: Any, shape: Callable[[Any], Any]) -> Gather:
        gathers = {}
        for key in keys:
            old = container[key]
            value, gathers[key] = self._enter(old)
            if value is not old:
                container[key] = value
                self._restores.append(_put_back(container, key, value, old))
        return lambda run: shape({key: gather(run) for key, gather in gathers.items()})

    def _array(self, x: np.ndarray[Any, Any]) -> Tuple[Any, Gather]:
        if x.dtype.kind not in "fc":
            return x, lambda run: None
        self.active += 1
        self._tape.start(x)
        return x, lambda run: self._array_gradient(x, run)

    def _array_gradient(self, x: np.ndarray[Any, Any], run: Run) -> Any:
        g = self._tape.adjoint(x)
        return np.zeros(x.shape, dtype=x.dtype) if g is None else run(same_values, g)

    def _number(self, x: Any) -> Tuple[Any, Gather]:
        self.active += 1
        value = BINARY["mul"](x, 1.0) if issubclass(type(x), (float, complex)) and not issubclass(
            type(x), np.generic) else x.copy()
        self._tape.start(value)
        return value, lambda run: self._number_gradient(value, type(x), run)

    def _number_gradient(self, value: Any, kind: type, run: Run) -> Any:
        g = self._tape.adjoint(value)
        return kind(0.0) if g is None else run(kind, g)


def _put_back(container: Any, key: Any, value: Any, old: Any) -> Restore:
    def restore() -> None:
        same = key in container if issubclass(type(container), dict) else key < len(container)
        if same and container[key] is value:
            container[key] = old
    return restore


def _like(x: Any, items: List[Any]) -> Any:
    return type(x)(*items) if hasattr(type(x), "_fields") else type(x)(items)


def arrays_in(x: Any, depth: int = 4) -> Iterator[np.ndarray[Any, Any]]:
    """The arrays in an argument, down to `depth` levels of containers."""
    if issubclass(type(x), np.ndarray):
        yield x
    elif depth and issubclass(type(x), dict):
        for one in x.values():
            yield from arrays_in(one, depth - 1)
    elif depth and issubclass(type(x), (list, tuple)):
        for one in x:
            yield from arrays_in(one, depth - 1)


def check_separate(names: List[Tuple[str, Any]], wanted: List[str]) -> None:
    """Refuse a differentiated argument that shares memory with another argument.

    Raises:
        GradientError: PJ505, because the program does not define partial derivatives of shared memory.
    """
    for name, x in names:
        for other, y in names:
            if name in wanted and other != name and any(np.may_share_memory(a, b) and np.shares_memory(a, b)
                                                        for a in arrays_in(x) for b in arrays_in(y)
                                                        if a.dtype.kind in "fc"):
                raise refusal("PJ505", what="arguments {} and {} share memory".format(*sorted((name, other))))
