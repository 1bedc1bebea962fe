"""Suspended generators, ``map`` and ``filter`` objects as abstract values, as a loop over them needs.

Models of iteration make them; the exits hand them out. It must not step a generator.
"""

from __future__ import annotations

from typing import Any, Callable, Optional, Tuple

from pijit.core.bytecode.rewrite.generator_steps import START
from pijit.core.capture.values.base import Join, forgotten_parts, joined_parts
from pijit.core.capture.values.lattice import Abstract, Const, Lazy, LoopIterator, UnescapedFunction


class Ended:
    """Marks the end of an iterator."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "<ended>"


ENDED = Ended()


class GeneratorFrame(Abstract):
    """A generator that is suspended at ``point``, the instruction that has yielded, or that has not begun.

    ``maker`` is what was called: the UnescapedFunction of captured code, or a Callee. It is None while only the
    generator's own body uses the value. ``names`` are its variables that have a value and are read again. ``parts`` are
    their values, then the operand stack, and last the item just yielded if ``has_item``. ``apart``: this state follows
    the first step, and must not be merged with the states of later steps before the loop's header.
    """

    __slots__ = ("maker", "point", "names", "parts", "has_item", "apart")
    parts: Tuple[Abstract, ...]
    has_parts = True

    def __init__(self, maker: Any, point: int, names: Tuple[str, ...], parts: Tuple[Abstract, ...],
                 has_item: bool = False, defined_at: int = -1, apart: bool = False) -> None:
        super().__init__(None, defined_at)
        self.maker = maker
        self.point = point
        self.names = names
        self.parts = parts
        self.has_item = has_item
        self.apart = apart

    def key(self) -> Any:
        maker = self.maker
        if maker is not None and not isinstance(maker, UnescapedFunction):
            maker = (id(maker.function), maker.paths.source)
        return (maker, self.point, self.names, self.parts, self.has_item, self.apart)

    def like(self, parts: Tuple[Abstract, ...], maker: Any = None) -> "GeneratorFrame":
        """The same generator with other values for its parts."""
        return GeneratorFrame(maker or self.maker, self.point, self.names, parts, self.has_item, self.defined_at,
                              self.apart)

    @property
    def lasting_parts(self) -> Tuple[Abstract, ...]:
        return self.parts + ((self.maker,) if isinstance(self.maker, UnescapedFunction) else ())

    def with_parts(self, parts: Tuple[Abstract, ...]) -> "GeneratorFrame":
        return self.like(parts)

    def joined_with(self, other: Abstract, join: Join) -> Optional[Abstract]:
        if self == other or not isinstance(other, GeneratorFrame) or not self.is_like(other):
            return super().joined_with(other, join)
        joined = self.like(joined_parts(self, other, join))
        return None if joined.knows_nothing() else joined

    def knows_nothing(self) -> bool:
        return any(part.knows_nothing() for part in self.parts)

    def forgotten(self) -> "GeneratorFrame":
        maker = self.maker.forgotten() if isinstance(self.maker, UnescapedFunction) else self.maker
        parts = forgotten_parts(self.parts)
        return self if parts is None and maker is self.maker else self.like(parts or self.parts, maker)

    def is_like(self, other: "GeneratorFrame") -> bool:
        """Whether two generators differ in their parts alone."""
        return self.like(()) == other.like(()) and len(self.parts) == len(other.parts)

    @property
    def stack(self) -> Tuple[Abstract, ...]:
        return self.parts[len(self.names):]


def changed_makers(value: Abstract, change: Callable[[UnescapedFunction], UnescapedFunction]) -> Abstract:
    """An iterator or function in which ``change`` has replaced each function that the program defines."""
    if isinstance(value, UnescapedFunction) and value.name is not None:
        return change(value)
    if isinstance(value, UnescapedFunction):
        return value.with_parts(tuple(changed_makers(part, change) for part in value.free))
    if isinstance(value, LoopIterator) and is_generating(value):
        return value.with_parts(tuple(changed_makers(part, change) for part in value.parts))
    if isinstance(value, GeneratorFrame):
        maker = changed_makers(value.maker, change) if isinstance(value.maker, UnescapedFunction) else value.maker
        return value.like(tuple(changed_makers(part, change) for part in value.parts), maker)
    return value


def worn(made: UnescapedFunction) -> UnescapedFunction:
    """The function without the values of its maker's variables, which are looked up at each step."""
    return made.with_parts(())


def begun(made: UnescapedFunction, iterator: Abstract, defined_at: int) -> GeneratorFrame:
    """The state of a generator expression, ``map`` or ``filter`` before its first step.

    If its code has a single loop, the state is the one after a yield. Then the first step needs no code of its own.
    """
    inliner = made.context.inliner
    point = START if inliner is None else inliner.code.generator(made.code).only_yield
    made = changed_makers(made, worn)  # type: ignore[assignment]
    return GeneratorFrame(made, point, (".0",) if point == START else (), (iterator,), defined_at=defined_at)


def rest_of(value: Abstract, change: Callable[[UnescapedFunction], UnescapedFunction]) -> Abstract:
    """A value that stands for the remaining items of a generator expression, ``map`` or ``filter`` in a variable.

    If it is suspended in its initial state, it becomes a `Lazy` over the remaining items, for consumers of all items.
    Otherwise the value itself is returned.
    """
    if not isinstance(value, GeneratorFrame) or not isinstance(value.maker, UnescapedFunction) or len(value.parts) != 1:
        return value
    alike = begun(value.maker, value.parts[0], value.defined_at)
    if (alike.point, alike.names) != (value.point, value.names):
        return value
    return Lazy(changed_makers(value.maker, change), value.parts[0], value.defined_at)  # type: ignore[arg-type]


def is_generating(value: Abstract) -> bool:
    """Whether a step of an iterator runs the body of a generator."""
    if isinstance(value, LoopIterator):
        return any(map(is_generating, value.parts))
    return isinstance(value, GeneratorFrame)


def has_ended(value: Abstract) -> bool:
    return isinstance(value, Const) and value.object is ENDED


def is_at_start(value: Abstract) -> bool:
    """Whether the next step of an iterator is the first one of a generator."""
    if isinstance(value, LoopIterator):
        return any(map(is_at_start, value.parts))
    return isinstance(value, GeneratorFrame) and value.point == START


def points_of(value: Abstract) -> Tuple[Any, ...]:
    """The instructions at which the generators of an iterator are suspended."""
    if isinstance(value, LoopIterator):
        return tuple(map(points_of, value.parts))
    return (value.point,) if isinstance(value, GeneratorFrame) else ()


def kept_apart(value: Abstract, apart: bool) -> Abstract:
    """A copy of an iterator with `GeneratorFrame.apart` of its generators set or cleared."""
    if isinstance(value, LoopIterator) and is_generating(value):
        return value.with_parts(tuple(kept_apart(part, apart) for part in value.parts))
    if not isinstance(value, GeneratorFrame) or value.apart == apart:
        return value
    return GeneratorFrame(value.maker, value.point, value.names, value.parts, value.has_item, value.defined_at, apart)
