"""`pijit.core.named_tuples.NamedTuple` makes classes that behave as those of `typing.NamedTuple`."""

import inspect
import pickle
import typing

import pytest

from pijit.core.named_tuples import NamedTuple

SOURCE = '''
class Point({base}):
    """A point."""

    x: float
    y: "typing.List[float]" = 2.0
    name: str = ""

    @property
    def double(self):
        return 2 * self.x

    @classmethod
    def origin(cls):
        return cls(0.0)

    def __str__(self):
        return "at " + str(self.x)
'''


def made(base):
    """The class that the source makes on this base, in a module of its own for pickle."""
    namespace = {"typing": typing, "base": base, "__name__": __name__}
    exec(SOURCE.format(base="base"), namespace)
    return namespace["Point"]


Point = made(NamedTuple)
Expected = made(typing.NamedTuple)


@pytest.mark.parametrize("ask", [
    lambda C: repr(C(1)), lambda C: repr(C(1, y=3, name="n")), lambda C: str(C(1)), lambda C: C(1) == (1, 2.0, ""),
    lambda C: hash(C(1)), lambda C: C(1)._replace(y=4), lambda C: dict(C(1)._asdict()), lambda C: C._make([1, 2, 3]),
    lambda C: C._fields, lambda C: dict(C._field_defaults), lambda C: C(1).double, lambda C: C.origin(),
    lambda C: C(1)[1:], lambda C: len(C(1)), lambda C: C.__doc__, lambda C: C.__name__, lambda C: C.__qualname__,
    lambda C: C.__module__, lambda C: C.__mro__[-2:], lambda C: type(C), lambda C: C(1).__getnewargs__(),
    lambda C: getattr(C, "__match_args__", C._fields), lambda C: list(inspect.signature(C).parameters),
    lambda C: [one.default for one in inspect.signature(C).parameters.values()],
    lambda C: list(C.__annotations__), lambda C: C(*range(3)), lambda C: hasattr(C(1), "__dict__"),
])
def test_answers_are_those_of_typing(ask):
    assert ask(Point) == ask(Expected)


@pytest.mark.parametrize("fail", [
    lambda C: C(1)._replace(z=4), lambda C: C._make([1]), lambda C: setattr(C(1), "x", 4), lambda C: C(1).missing,
])
def test_errors_are_of_the_same_types(fail):
    with pytest.raises(Exception) as expected:
        fail(Expected)
    with pytest.raises(type(expected.value)):
        fail(Point)


@pytest.mark.parametrize("fail", [lambda C: C(), lambda C: C(1, 2, 3, 4), lambda C: C(1, x=2), lambda C: C(1, z=2)])
def test_a_constructor_refuses_wrong_arguments(fail):
    with pytest.raises(TypeError):
        fail(Point)


def test_pickles_and_copies_are_equal():
    assert pickle.loads(pickle.dumps(Point(1))) == Point(1) and type(pickle.loads(pickle.dumps(Point(1)))) is Point


def test_classes_with_equally_many_fields_have_their_own_names():
    class First(NamedTuple):
        a: int
        b: int

    class Second(NamedTuple):
        c: int
        d: int = 5

    assert First(b=1, a=2) == (2, 1) and Second(c=1) == (1, 5) and First.a.__get__(First(7, 8)) == 7
    assert repr(First(1, 2)) == "First(a=1, b=2)" and repr(Second(3)) == "Second(c=3, d=5)"


def test_a_class_without_fields_and_a_subclass():
    class Nothing(NamedTuple):
        pass

    class Further(Point):
        def third(self):
            return self[2]

    assert Nothing() == () and repr(Nothing()) == "Nothing()"
    assert Further(1, name="n").third() == "n" and type(Further(1)._replace(x=2)) is Further
