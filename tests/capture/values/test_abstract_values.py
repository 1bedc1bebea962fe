"""The methods of abstract values: every concrete class answers each of them."""

import functools
import importlib
import operator
import pkgutil

import numpy as np
import pytest

from pijit.core import capture
from pijit.core.capture.models.containers.characters import Char
from pijit.core.capture.models.functions.function_values import FunctionValue, Shape
from pijit.core.capture.models.functions.partials import Partial
from pijit.core.capture.models.stdlib.context_managers import Manager
from pijit.core.capture.state.return_kinds import CallOutcomes
from pijit.core.capture.values import lattice
from pijit.core.capture.values.base import Composite, HeldMethod, Raised, Thrown
from pijit.core.capture.values.generator_frame import GeneratorFrame
from pijit.core.capture.values.kernel_local import PendingOperand
from pijit.core.capture.values.lattice import Abstract, Const, KnownContainer, Number, OpaqueObject
from pijit.core.capture.values.virtual_object import StackTuple, VirtualObject
from pijit.core.graph.ir import Value
from pijit.core.graph.types import FLOAT, INT, WORD, Array, Object, SampledClass

ABSTRACT_BASES = {Abstract, Composite, PendingOperand, lattice.TypedValue}


class Point:
    pass


class Context:
    def identity(self):
        return 0


def function():
    return None


for module in pkgutil.walk_packages(capture.__path__, capture.__name__ + "."):
    importlib.import_module(module.name)


NUMBER, ITEM = Number(FLOAT), OpaqueObject([1.0])
LIST = KnownContainer(Object(list), None, [NUMBER])
MADE = lattice.UnescapedFunction(function.__code__, (NUMBER,), Context())
WORDS = (Value(0, WORD), Value(1, WORD), Value(2, WORD))


def virtual():
    return VirtualObject(Const(Point), 1).holding("x", NUMBER)


# (value, its class as a Python value, its lasting parts)
SAMPLES = [
    (lattice.Unbound(), None, ()),
    (lattice.Unknown(), None, ()),
    (Thrown(ValueError), None, ()),
    (Raised(ValueError, 3, 0), None, ()),
    (lattice.Slice((NUMBER, Const(1), Const(None))), slice, (NUMBER, Const(1), Const(None))),
    (lattice.StackSlice((NUMBER, Const(1), Const(None))), slice, (NUMBER, Const(1), Const(None))),
    (HeldMethod((ITEM,), "append"), type([].append), (ITEM,)),
    (FunctionValue(Shape(function.__code__, "function", 1, (), ()), Context(), (NUMBER,)), type(function), (NUMBER,)),
    (Partial((), (Const(abs), NUMBER)), functools.partial, (Const(abs), NUMBER)),
    (lattice.Method(ITEM, "append"), None, ()),
    (lattice.BoundFunction(Const(function), ITEM), None, ()),
    (Manager(Const(function), ITEM), None, ()),
    (lattice.Keywords({"x": NUMBER}), None, ()),
    (lattice.Super(Point, ITEM), None, ()),
    (lattice.CellRef(NUMBER), None, ()),
    (MADE, None, (NUMBER,)),
    (lattice.Lazy(MADE, NUMBER), None, (MADE, NUMBER)),
    (lattice.Borrowed("iterator"), None, ()),
    (lattice.Null(), None, ()),
    (NUMBER, float, ()),
    (Number(INT), int, ()),
    (lattice.Tensor(Array("f8", 1)), np.ndarray, ()),
    (lattice.Instance(Object(dict)), dict, ()),
    (lattice.ListElement(SampledClass(Point, 0)), Point, ()),
    (LIST, list, ()),
    (Char(Object(str)), str, ()),
    (Const(abs), type(abs), ()),
    (ITEM, list, ()),
    (lattice.Sequence([NUMBER, LIST]), tuple, (NUMBER, LIST)),
    (StackTuple([NUMBER]), tuple, (NUMBER,)),
    (lattice.Range(WORDS, parts=(NUMBER,)), range, ()),
    (lattice.LoopIterator("list", WORDS[:1], (ITEM,)), None, (ITEM,)),
    (lattice.Unrolled(LIST, 1, "forwards"), None, (LIST,)),
    (GeneratorFrame(MADE, 4, ("x",), (NUMBER,)), None, (NUMBER, MADE)),
    (virtual(), Point, (NUMBER,)),
    (CallOutcomes({}, "function"), None, ()),
]
CLASSES = [type(value) for value, _, _ in SAMPLES]
each = pytest.mark.parametrize("value, python, lasting", SAMPLES, ids=[cls.__name__ for cls in CLASSES])


def subclasses(cls):
    """All classes below a class."""
    return {cls}.union(*map(subclasses, cls.__subclasses__()))


def test_each_concrete_class_has_a_sample():
    assert subclasses(Abstract) - ABSTRACT_BASES == set(CLASSES)


@each
def test_class(value, python, lasting):
    assert value.python is python


@each
def test_lasting_parts(value, python, lasting):
    assert value.lasting_parts == lasting


@each
def test_parts_can_be_replaced(value, python, lasting):
    parts = value.parts
    if value.has_parts:
        assert value.with_parts(parts) == value
    assert value.with_mapped_parts(lambda part: part) is value


@each
def test_join_with_itself(value, python, lasting):
    assert value.joined_with(value, operator.add if not value.has_parts else lambda one, other: one) == value
