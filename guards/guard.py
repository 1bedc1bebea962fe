"""Guards: conditions on sources that must hold for compiled code to be valid.

Each kind prints as a readable condition. `why_not(value)` returns a sentence with the old and the new fact, or None
if the guard holds. The Python twin of the C check, recompile logs and warnings all use it. Sentences must not call a
user's `__repr__`, and checks must not run user code. `native/checks/check_inl.h` is the C side.
"""

from __future__ import annotations

import types
from typing import Any, Dict, Optional, Sequence, Tuple, Union

import numpy

from pijit.core.named_tuples import NamedTuple
from pijit.guards._evaluate import count_own
from pijit.guards.facts import (
    ALIGNED,
    C_CONTIGUOUS,
    F_CONTIGUOUS,
    LAYOUTS,
    SINGLETONS,
    WARN_ON_WRITE,
    WRITEABLE,
    constant_key,
    count,
    describe,
    is_constant,
    is_exactly,
    layout_of,
    layout_words,
    type_name,
    was_type,
)
from pijit.guards.held import Held
from pijit.guards.source import (
    UNBOUND,
    Attr,
    ClosureCell,
    Global,
    Item,
    Local,
    NoPlaceError,
    Record,
    Source,
    SourceError,
    is_absent,
    is_plain_tuple,
)

__all__ = ["Equals", "FunctionCode", "Guard", "IntRange", "IsAbsent", "IsArray", "IsConfined", "IsIdentical", "IsType",
           "IsUnbound", "LengthIs", "OnObject", "OnSource", "OwnCountIs"]


class GuardStep(NamedTuple):
    """The C step of a guard: the check's name in `_evaluate.OPERATIONS` and its operands."""

    operation: str
    number: int = 0
    object: Any = None
    mask: int = 0
    flags: int = 0


class Guard(Record):
    """Base of all guards.

    Attributes:
        sources: the sources that it is about, in the order of `check`'s arguments.
        reads: the sources that are fetched for it; if one is absent, the guard fails.
        cost: guards on the same sources are evaluated in ascending order of cost.
        has_twin: whether Python can evaluate it; if not, the twin takes it to hold.
    """

    __slots__ = ()
    cost = 2
    has_twin = True

    @property
    def sources(self) -> Tuple[Source, ...]:
        raise NotImplementedError

    @property
    def reads(self) -> Tuple[Source, ...]:
        return self.sources

    def step(self) -> GuardStep:
        """The C check."""
        raise NotImplementedError

    def why_not(self, *values: Any) -> Optional[str]:
        """The reason why it does not hold for these values of `sources`, with the old and the new fact; else None."""
        raise NotImplementedError

    def check(self, *values: Any) -> bool:
        """Whether it holds for these values of `sources`; the Python twin of the C check.

        Example:
            >>> Equals(Local(0, "n"), 3).check(4)
            False
        """
        return self.why_not(*values) is None

    def why_not_at(self, values: Sequence[Any], globals: Dict[str, Any],
                   builtins: Dict[str, Any]) -> Optional[str]:
        """As why_not, for values fetched from these roots; an absent source is a reason."""
        try:
            return self.why_not(*[source.fetch(values, globals, builtins) for source in self.reads])
        except SourceError as absence:
            return str(absence)


class OnSource(Guard):
    """Base of the guards on one source."""

    __slots__ = ()
    source: Source

    @property
    def sources(self) -> Tuple[Source, ...]:
        return (self.source,)


class OnObject(OnSource):
    """Base of the guards that compare with one object by identity, without keeping it alive."""

    __slots__ = fields = ("source", "held")
    held: Held

    def __init__(self, source: Source, value: Any) -> None:
        super().__init__(source, value if type(value) is Held else Held(value, self.words(value)))

    def words(self, value: Any) -> str:
        """The description of the object in the guard's text."""
        return describe(value)


class IsType(OnObject):
    """The value is exactly of this type, not of a subclass."""

    __slots__ = ()
    cost = 1

    def words(self, value: Any) -> str:
        return type_name(value)

    def __str__(self) -> str:
        return f"type({self.source}) is {self.held.text}"

    def step(self) -> GuardStep:
        return GuardStep("CHECK_WEAK_TYPE" if self.held.is_weak else "CHECK_TYPE", object=self.held.holder)

    def why_not(self, *values: Any) -> Optional[str]:
        value, = values
        return None if type(value) is self.held.get() else was_type(self.source, self.held.text, value)


class IsArray(OnSource):
    """The value is exactly a numpy.ndarray with this dtype, number of dimensions and memory layout.

    Args:
        dtype: anything that numpy.dtype takes, in native byte order; ValueError otherwise.
        layout: 'C' (C-contiguous), 'F' (Fortran- and not C-contiguous) or 'A' (any).
        writeable: True: must be writeable; None: either.
        aligned: True: must be aligned; None: either.
    """

    __slots__ = fields = ("source", "dtype", "ndim", "layout", "writeable", "aligned")
    cost = 3
    dtype: numpy.dtype[Any]
    ndim: int
    layout: str
    writeable: Optional[bool]
    aligned: Optional[bool]

    def __init__(self, source: Source, dtype: Any, ndim: int, layout: str = "A",
                 writeable: Optional[bool] = None, aligned: Optional[bool] = True) -> None:
        dtype = numpy.dtype(dtype)
        if not dtype.isnative:
            raise ValueError(f"an IsArray guard needs a dtype in native byte order, not {dtype}")
        if layout not in LAYOUTS:
            raise ValueError(f"the layout of an IsArray guard is one of 'C', 'F', 'A', not {layout!r}")
        super().__init__(source, dtype, ndim, layout, writeable or None, aligned or None)

    def __str__(self) -> str:
        extras = [LAYOUTS[self.layout]] * (self.layout != "A")
        extras += ["writeable"] * bool(self.writeable) + ["aligned"] * bool(self.aligned)
        return ", ".join([f"{self.source} is a {self.dtype} array, ndim {self.ndim}"] + extras)

    def step(self) -> GuardStep:
        masks = {"C": C_CONTIGUOUS, "F": C_CONTIGUOUS | F_CONTIGUOUS, "A": 0}
        wanted = {"C": C_CONTIGUOUS, "F": F_CONTIGUOUS, "A": 0}
        extra = (WRITEABLE if self.writeable else 0) | (ALIGNED if self.aligned else 0)
        mask, flags = masks[self.layout] | extra | WARN_ON_WRITE, wanted[self.layout] | extra
        return GuardStep("CHECK_ARRAY", self.ndim, self.dtype, mask, flags)

    def why_not(self, *values: Any) -> Optional[str]:
        value, = values
        if type(value) is not numpy.ndarray:
            return was_type(self.source, "ndarray", value)
        if value.dtype != self.dtype:
            return f"{self.source} had dtype {self.dtype} and now has dtype {value.dtype}"
        if value.dtype.num != self.dtype.num:
            own, twin = self.dtype.char, value.dtype.char
            return f"{self.source} had dtype {self.dtype} ({own!r}) and now has its twin {twin!r}"
        if value.ndim != self.ndim:
            return f"{self.source} had {count(self.ndim, 'dimension')} and now has {value.ndim}"
        if self.layout != "A" and layout_of(value) != self.layout:
            return f"{self.source} was {LAYOUTS[self.layout]} and is now {layout_words(value)}"
        if value.flags.num & WARN_ON_WRITE:
            return f"{self.source} now warns when it is written to"
        if self.writeable and not value.flags.num & WRITEABLE:
            return f"{self.source} was writeable and is now read-only"
        if self.aligned and not value.flags.aligned:
            return f"{self.source} was aligned and is now unaligned"
        return None


class IsIdentical(OnObject):
    """The value is identical to this object."""

    __slots__ = ()
    cost = 0

    def __str__(self) -> str:
        return f"{self.source} is {self.held.text}"

    def step(self) -> GuardStep:
        return GuardStep("CHECK_WEAK_IDENTICAL" if self.held.is_weak else "CHECK_IDENTICAL", object=self.held.holder)

    def why_not(self, *values: Any) -> Optional[str]:
        value, = values
        if value is self.held.get():
            return None
        old, new = self.held.text, describe(value)
        return f"{self.source} was {old} and is now {'another object, also ' if old == new else ''}{new}"


class Equals(OnSource):
    """The value has the exact type of `constant` and equals it, floats by their bits: nan equals nan, -0.0 not 0.0.

    Constants are None, Ellipsis, bool, int, float, complex, str, bytes, and tuples of those, all of exact type. So no
    user `__eq__` is called. TypeError for other objects.
    """

    __slots__ = fields = ("source", "constant")
    cost = 4
    constant: Any

    def __init__(self, source: Source, constant: Any) -> None:
        if not is_constant(constant):
            raise TypeError(f"an Equals guard compares builtin constants, not {describe(constant)}")
        super().__init__(source, constant)

    def identity(self) -> Tuple[Any, ...]:
        return self.source, constant_key(self.constant)

    def __str__(self) -> str:
        word = "is" if type(self.constant) in SINGLETONS else "=="
        return f"{self.source} {word} {self.constant!r}"

    def step(self) -> GuardStep:
        return GuardStep("CHECK_EQUAL", object=self.constant)

    def why_not(self, *values: Any) -> Optional[str]:
        value, = values
        if is_constant(value) and constant_key(value) == constant_key(self.constant):
            return None
        return f"{self.source} was {describe(self.constant)} and is now {describe(value)}"


class IntRange(OnSource):
    """The value is exactly an int and fits a signed 64-bit integer."""

    __slots__ = fields = ("source",)

    def __str__(self) -> str:
        return f"{self.source} is an int, -2**63 <= {self.source} < 2**63"

    def step(self) -> GuardStep:
        return GuardStep("CHECK_INT64")

    def why_not(self, *values: Any) -> Optional[str]:
        value, = values
        if type(value) is int and -2**63 <= value < 2**63:
            return None
        return f"{self.source} was an int that fits 64 bits and is now {describe(value)}"


class LengthIs(OnSource):
    """The value is a plain tuple or exactly a list or dict, of `length` items."""

    __slots__ = fields = ("source", "length")
    length: int

    def __str__(self) -> str:
        return f"len({self.source}) == {self.length}"

    def step(self) -> GuardStep:
        return GuardStep("CHECK_LENGTH", self.length)

    def why_not(self, *values: Any) -> Optional[str]:
        value, = values
        if not is_exactly(value, (list, dict)) and not is_plain_tuple(value):
            return f"{self.source} was a tuple, list or dict and is now {describe(value)}"
        if len(value) == self.length:
            return None
        return f"{self.source} had {count(self.length, 'item')} and now has {len(value)}"


class OwnCountIs(OnSource):
    """The value is an instance or a class with `count` attributes of its own, not counting slots.

    No dict is made for an instance that has none yet.
    """

    __slots__ = fields = ("source", "count")
    count: int

    def __str__(self) -> str:
        return f"len({self.source}.__dict__) == {self.count}"

    def step(self) -> GuardStep:
        return GuardStep("CHECK_OWN_COUNT", self.count)

    def why_not(self, *values: Any) -> Optional[str]:
        value, = values
        try:
            found = count_own(value)
        except TypeError:
            return f"{self.source} had a plain dict of its own and is now {describe(value)}"
        if found == self.count:
            return None
        return f"{self.source} had {count(self.count, 'attribute')} of its own and now has {found}"


class IsConfined(OnSource):
    """Nothing but the frame refers to the object: there are `references` references without those of the evaluation.

    It proves that captured code still owns an object whose reference it kept in variables while bytecode ran.
    """

    __slots__ = fields = ("source", "references")
    cost = 5
    has_twin = False
    references: int

    def __str__(self) -> str:
        return f"{self.source} has {count(self.references, 'reference')}, all in the frame"

    def step(self) -> GuardStep:
        return GuardStep("CHECK_REFERENCES", self.references)

    def why_not(self, *values: Any) -> Optional[str]:
        return None


class IsUnbound(OnSource):
    """A local or cell has no value, or a global name is in neither dict; TypeError for other sources."""

    __slots__ = fields = ("source",)
    cost = 0
    source: Union[Local, ClosureCell, Global]
    OPERATIONS = {Local: "CHECK_LOCAL_UNBOUND", ClosureCell: "CHECK_CELL_EMPTY", Global: "CHECK_GLOBAL_ABSENT"}

    def __init__(self, source: Union[Local, ClosureCell, Global]) -> None:
        if type(source) not in self.OPERATIONS:
            raise TypeError(f"only a local, cell or global can be guarded as unbound, not {source}")
        super().__init__(source)

    @property
    def reads(self) -> Tuple[Source, ...]:
        return ()

    def __str__(self) -> str:
        return f"{self.source} is unbound"

    def step(self) -> GuardStep:
        operation = self.OPERATIONS[type(self.source)]
        if isinstance(self.source, Global):
            return GuardStep(operation, object=self.source.name)
        return GuardStep(operation, self.source.index)

    def why_not(self, *values: Any) -> Optional[str]:
        value, = values
        return None if value is UNBOUND else f"{self.source} was unbound and is now {describe(value)}"

    def why_not_at(self, values: Sequence[Any], globals: Dict[str, Any],
                   builtins: Dict[str, Any]) -> Optional[str]:
        try:
            return self.why_not(self.source.fetch(values, globals, builtins))
        except NoPlaceError as unknown:
            return str(unknown)
        except SourceError:
            return None


class IsAbsent(Guard):
    """The base of an Attr or Item source certainly has no such attribute or item; TypeError for other sources."""

    __slots__ = fields = ("source",)
    source: Union[Attr, Item]

    def __init__(self, source: Union[Attr, Item]) -> None:
        if type(source) not in (Attr, Item):
            raise TypeError(f"only an attribute or item can be guarded as absent, not {source}")
        super().__init__(source)

    @property
    def sources(self) -> Tuple[Source, ...]:
        return (self.source.base,)

    def __str__(self) -> str:
        return f"{self.source} is absent"

    def step(self) -> GuardStep:
        if isinstance(self.source, Attr):
            return GuardStep("CHECK_ATTR_ABSENT", object=self.source.name)
        return GuardStep("CHECK_ITEM_ABSENT", self.source.position, self.source.key)

    def why_not(self, *values: Any) -> Optional[str]:
        base, = values
        try:
            return None if is_absent(base, self.source) else f"{self.source} was absent and may now be there"
        except NoPlaceError as unknown:
            return str(unknown)


class FunctionCode(OnObject):
    """The value is a Python function whose `__code__` is identical to this code object."""

    __slots__ = ()

    def __str__(self) -> str:
        return f"{self.source}.__code__ is {self.held.text}"

    def step(self) -> GuardStep:
        return GuardStep("CHECK_CODE", object=self.held.holder)

    def why_not(self, *values: Any) -> Optional[str]:
        value, = values
        if type(value) is not types.FunctionType:
            return was_type(self.source, "function", value)
        if value.__code__ is self.held.get():
            return None
        return f"the code of {self.source} was {self.held.text} and is now {describe(value.__code__)}"
