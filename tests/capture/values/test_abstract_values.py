"""The methods of abstract values: every concrete class answers each of them."""

import functools
import importlib
import operator
import pkgutil
import sys

import numpy as np
import pytest

from pijit.core import capture
from pijit.core.capture.build import block_arguments, exit_outputs, joined_results, uses
from pijit.core.capture.interpreter import attributes, calls
from pijit.core.capture.models.containers.characters import Char
from pijit.core.capture.models.functions.function_values import FunctionValue, Shape
from pijit.core.capture.models.functions.partials import Partial
from pijit.core.capture.models.objects import stored_values
from pijit.core.capture.models.stdlib.context_managers import Manager
from pijit.core.capture.state import frame_state
from pijit.core.capture.state.return_kinds import CallOutcomes
from pijit.core.capture.values import element_types, lattice
from pijit.core.capture.values.base import Composite, HeldMethod, Raised, Thrown
from pijit.core.capture.values.class_table import ClassTable
from pijit.core.capture.values.generator_frame import GeneratorFrame
from pijit.core.capture.values.kernel_local import PendingOperand
from pijit.core.capture.values.lattice import Abstract, Const, KnownContainer, Number, OpaqueObject
from pijit.core.capture.values.provenance import Root
from pijit.core.capture.values.virtual_object import StackTuple, VirtualObject
from pijit.core.graph.ir import Value
from pijit.core.graph.types import FLOAT, INT, WORD, Array, Holding, ListOf, Object, SampledClass
from pijit.guards.source import Item

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
    (lattice.MappedArray(np.ones(2).view(np.memmap), Array("f8", 1)), np.memmap, ()),
    (lattice.UnmadeArray(lattice.Tensor(Array("f8", 1)), True), None, ()),
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
    assert value.joined_with(value, lambda one, other: one) == value


ROOT = Root("local", "x")
LEFT_WHERE_THEY_ARE = {
    lattice.Unbound, lattice.Unknown, Thrown, Raised, lattice.Method, lattice.BoundFunction, Manager, lattice.Keywords,
    lattice.Super, lattice.CellRef, lattice.UnescapedFunction, lattice.Lazy, lattice.Borrowed, lattice.Null,
    GeneratorFrame, CallOutcomes, lattice.UnmadeArray,
}
"""Classes whose values no segment finds in a local variable."""


@each
def test_path(value, python, lasting):
    found = value.rooted(ROOT)
    if type(value) in LEFT_WHERE_THEY_ARE:
        assert found is value and found.root is None
    elif isinstance(value, lattice.Unrolled):
        assert found == value and found.root is None
    else:
        assert found is not value and found.root == ROOT and found.python in (python, range)
        assert [part.root for part in found.parts] == [None] * len(found.parts)


@each
def test_parts_are_kept_with_their_values(value, python, lasting):
    kept = value.rooted(ROOT, True)
    assert len(kept.parts) == len(value.parts)
    if isinstance(value, (Composite, lattice.Sequence)):
        assert all(map(operator.is_, kept.parts, value.parts))


def test_unknown_item_has_a_path():
    unknown = lattice.Unknown("PJ213")
    for root in (Root("stack", 0), Item(ROOT, 1)):
        found = unknown.rooted(root)
        assert found.root == root and found.reason == "PJ213" and unknown.root is None


def test_unescaped_function_of_the_program_has_a_path():
    named = lattice.UnescapedFunction(function.__code__, (NUMBER,), Context(), name="function")
    assert named.rooted(ROOT).root == ROOT and named.root is None


def test_number_keeps_its_sample():
    value = Value(0, FLOAT)
    copy = Number(FLOAT, None, "source", 3, 1.5).carried_by(value)
    assert (copy.value, copy.source, copy.defined_at, copy.sample) == (value, "source", 3, 1.5)


def test_container_is_carried_with_its_items():
    value = Value(0, Object(list))
    copy = LIST.carried_by(value)
    assert copy == LIST and copy.value is value


TABLES = {
    "attributes": attributes.ATTRIBUTES,
    "block parameters": block_arguments.PARAMETERS,
    "block arguments": block_arguments.ARGUMENTS,
    "calls": calls.CALLS,
    "exit outputs": exit_outputs.EXIT_OUTPUTS,
    "item kinds": frame_state.ITEM_KINDS,
    "joined results": joined_results.RESULTS,
    "loaded types": element_types.LOADED_TYPES,
    "objects": uses.OBJECTS,
    "stored values": stored_values.STORED_VALUES,
    "uses": uses.USES,
}


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("cls", CLASSES, ids=[cls.__name__ for cls in CLASSES])
def test_table_has_a_row(name, cls):
    assert callable(TABLES[name][cls])


def test_all_tables_are_listed():
    modules = [module for name, module in sys.modules.items() if name.startswith(capture.__name__ + ".")]
    found = {id(table) for module in modules for table in vars(module).values() if isinstance(table, ClassTable)}
    assert found == set(map(id, TABLES.values()))


def test_row_of_the_nearest_base():
    table = ClassTable({lattice.TypedValue: 1, lattice.Instance: 2})
    assert [table[cls] for cls in (Number, lattice.ListElement, Char, lattice.TypedValue)] == [1, 2, 2, 1]
    with pytest.raises(KeyError):
        table[Const]


@each
def test_types_in_containers(value, python, lasting):
    read = {Number, lattice.Tensor, lattice.Instance, OpaqueObject, KnownContainer, lattice.Sequence, StackTuple}
    held = {Number, lattice.Tensor, lattice.ListElement, KnownContainer, StackTuple, VirtualObject, lattice.Sequence}
    assert (element_types.type_of(value) is not None) == (type(value) in read)
    assert (frame_state.item_kind(value) is not None) == (type(value) in held)


@pytest.mark.parametrize("value, item, loaded", [
    (Const(1.5), FLOAT, FLOAT),
    (Const("a"), None, Object(str)),
    (Const((1.5, 2)), Holding(tuple, (FLOAT, INT)), None),
    (Const((1.5, "a")), None, None),
    (Const(()), None, None),
    (OpaqueObject((1.5, 2)), None, Holding(tuple, (FLOAT, INT))),
    (OpaqueObject((1.5,) * 9), None, Object(tuple)),
    (OpaqueObject({1: 2}), None, Object(dict)),
    (OpaqueObject({1}), None, None),
    (lattice.Instance(ListOf(INT)), ListOf(INT), ListOf(INT)),
    (lattice.Instance(Holding(dict, (INT, FLOAT))), None, Object(dict)),
    (lattice.Instance(Object(set)), None, None),
    (KnownContainer(Object(dict), ("a",), [NUMBER]), None, Object(dict)),
    (lattice.Sequence([NUMBER] * 9), None, Holding(tuple, (FLOAT,) * 9)),
])
def test_types_of_elements(value, item, loaded):
    assert element_types.is_like(frame_state.item_kind(value), item)
    assert element_types.is_like(element_types.type_of(value), loaded)


def test_deep_nesting_has_no_type():
    nested = NUMBER
    for depth in range(element_types.DEEPEST):
        nested = KnownContainer(Object(list), None, [nested])
        assert frame_state.item_kind(nested) is not None
    assert frame_state.item_kind(KnownContainer(Object(list), None, [nested])) is None
