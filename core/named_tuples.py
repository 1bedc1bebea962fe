"""Named tuples whose classes are cheap to make: `NamedTuple` in the place of `typing.NamedTuple`.

The package has some 160 such classes, and its first `jit` makes nearly all of them. `typing.NamedTuple` compiles the
annotation of each field and a constructor for each class, which takes 0.16 to 0.25 ms. Here a class takes about a tenth
of that. Constructors with equally many fields share their code. Type checkers see `typing.NamedTuple`.
"""

from __future__ import annotations

import sys
from operator import itemgetter
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any, Dict, Iterable, Tuple

_CONSTRUCTORS: Dict[int, CodeType] = {}
"""The code of a constructor by its number of fields, with other names for them."""

_UNEXPECTED = TypeError if sys.version_info >= (3, 13) else ValueError
"""What `_replace` raises for names that are no fields."""


def _constructor_code(fields: Tuple[str, ...]) -> CodeType:
    """The code of ``lambda _cls, *fields: new(_cls, fields)``, compiled once for each number of fields.

    CPython 3.7 cannot rename the variables of a code object, so it compiles each.
    """
    renames = sys.version_info >= (3, 8)
    known = _CONSTRUCTORS.get(len(fields)) if renames else None
    if known is None:
        source = "lambda _cls, %s: _new(_cls, (%s))" % (", ".join(fields), "".join(field + ", " for field in fields))
        known = eval(source, {}).__code__
        _CONSTRUCTORS[len(fields)] = known
    return known.replace(co_varnames=("_cls",) + fields, co_name="__new__") if renames else known


def _annotations(namespace: Dict[str, Any]) -> Dict[str, Any]:
    """The annotations in the namespace of a class body; from CPython 3.14 on they are evaluated on demand (PEP 649)."""
    if sys.version_info >= (3, 14) and "__annotations__" not in namespace:
        import annotationlib
        annotate = annotationlib.get_annotate_from_class_namespace(namespace)
        return annotationlib.call_annotate_function(annotate, annotationlib.Format.FORWARDREF) if annotate else {}
    found: Dict[str, Any] = namespace.get("__annotations__", {})
    return found


class _Methods(tuple):  # type: ignore[type-arg]
    """The methods that all named tuples share, as those of `collections.namedtuple`."""

    __slots__ = ()
    _fields: Tuple[str, ...] = ()

    @classmethod
    def _make(cls, values: Iterable[Any]) -> Any:
        made = tuple.__new__(cls, values)
        if len(made) != len(cls._fields):
            raise TypeError("Expected %d arguments, got %d" % (len(cls._fields), len(made)))
        return made

    def _replace(self, **changes: Any) -> Any:
        made = self._make(map(changes.pop, self._fields, self))
        if changes:
            raise _UNEXPECTED("Got unexpected field names: %r" % list(changes))
        return made

    def _asdict(self) -> Dict[str, Any]:
        return dict(zip(self._fields, self))

    def __repr__(self) -> str:
        return "%s(%s)" % (type(self).__name__, ", ".join(map("%s=%r".__mod__, zip(self._fields, self))))

    def __getnewargs__(self) -> Tuple[Any, ...]:
        return tuple(self)


class _Maker(type):
    """The metaclass of `NamedTuple`: a class statement that names it as base makes a subclass of `tuple`."""

    def __new__(mcs, name: str, bases: Tuple[type, ...], namespace: Dict[str, Any]) -> Any:
        if not bases:
            return type.__new__(mcs, name, bases, namespace)
        annotations = _annotations(namespace)
        fields = tuple(map(sys.intern, annotations))
        defaults = {field: namespace[field] for field in fields if field in namespace}
        new = FunctionType(_constructor_code(fields), {"_new": tuple.__new__, "__name__": "named_tuples"}, "__new__",
                           tuple(defaults.values()))
        new.__qualname__ = name + ".__new__"
        new.__annotations__ = annotations
        namespace.update({field: _getter(place) for place, field in enumerate(fields)}, __slots__=(), _fields=fields,
                         _field_defaults=defaults, __match_args__=fields, __new__=new)
        return type.__new__(type, name, (_Methods,), namespace)


try:
    from _collections import _tuplegetter  # type: ignore[import-not-found]
except ImportError:
    def _getter(place: int) -> Any:
        """The attribute of a field, on CPython 3.7."""
        return property(itemgetter(place))
else:
    def _getter(place: int) -> Any:
        """The attribute of a field."""
        return _tuplegetter(place, None)


if TYPE_CHECKING:
    from typing import NamedTuple as NamedTuple
else:
    class NamedTuple(metaclass=_Maker):
        """The base that a class statement names to make a named tuple: annotations are its fields.

        Example::

            class Point(NamedTuple):
                x: float
                y: float = 0.0
        """
