"""Each kind of guard: when it holds, when not, in C and in the Python twin, and the sentence that says why
not."""

import collections
import functools
import math
import re
import struct
import types

import numpy as np
import pytest

from pijit.guards.axes import ENDLESS, AxisLength, SameAxis, UnitAxes
from pijit.guards.guard import (
    Equals,
    FunctionCode,
    IntRange,
    IsAbsent,
    IsArray,
    IsConfined,
    IsIdentical,
    IsType,
    IsUnbound,
    LengthIs,
    OwnCountIs,
)
from pijit.guards.pairs import DistinctObject, NoOverlap, SameObject, SameShape
from pijit.guards.program import GuardProgram, set_mirror
from pijit.guards.source import UNBOUND, Attr, ClosureCell, Global, Item, Local

A, B = Local(0, "a"), Local(1, "b")


class MyInt(int):
    def __eq__(self, other):
        raise RuntimeError("user code ran")

    __hash__ = int.__hash__


class MyArray(np.ndarray):
    pass


Pair = collections.namedtuple("Pair", "first second")


class LongPair(Pair):
    def __len__(self):
        raise RuntimeError("user code ran")


def holds_in_c(guard, *values):
    return GuardProgram([guard]).check(list(values), {}, {}) is not None


def holds_in_python(guard, *values):
    return guard.check(*values)


@pytest.fixture(params=[holds_in_c, holds_in_python], ids=["C", "Python"])
def holds(request):
    return request.param


def f(x):
    return x


def g(x):
    return x + 1


def unaligned():
    return np.zeros(17, np.uint8)[1:].view(np.float64)


def read_only(array):
    array.flags.writeable = False
    return array


floats = np.arange(12.0)
matrix = floats.reshape(3, 4)
nan_payload = struct.unpack("d", struct.pack("Q", 0x7FF8000000000001))[0]

HOLDING = [
    (IsType(A, int), 3),
    (IsType(A, bool), True),
    (IsType(A, type), int),
    (IsType(A, type(None)), None),
    (IsArray(A, "f8", 1), np.zeros(3)),
    (IsArray(A, "f8", 1, "C", True), np.zeros(0)),
    (IsArray(A, "f8", 0, "C"), np.array(1.0)),
    (IsArray(A, "f8", 2, "C"), matrix),
    (IsArray(A, "f8", 2, "F"), matrix.T),
    (IsArray(A, "f8", 2, "A"), matrix[:, ::2]),
    (IsArray(A, "f8", 1, "A"), floats[::-1]),
    (IsArray(A, "f8", 1, "C", None), read_only(np.zeros(2))),
    (IsArray(A, "f8", 1, "C", True, None), unaligned()),
    (IsArray(A, np.longlong, 1), np.zeros(2, np.longlong)),
    (IsArray(A, "f2", 1), np.zeros(2, np.float16)),
    (IsArray(A, "O", 1), np.array([None])),
    (IsArray(A, "M8[s]", 1), np.zeros(2, "M8[s]")),
    (IsArray(A, "S3", 1), np.zeros(2, "S3")),
    (IsArray(A, [("x", "f8")], 1), np.zeros(2, [("x", "f8")])),
    (IsIdentical(A, np.sqrt), np.sqrt),
    (IsIdentical(A, None), None),
    (Equals(A, 3), 3),
    (Equals(A, 10**30), 10**30),
    (Equals(A, -1), int("-1")),
    (Equals(A, True), True),
    (Equals(A, None), None),
    (Equals(A, ...), ...),
    (Equals(A, "abc"), "".join("abc")),
    (Equals(A, b"abc"), bytes(bytearray(b"abc"))),
    (Equals(A, "\u20ac"), chr(0x20AC)),
    (Equals(A, 2.5), float("2.5")),
    (Equals(A, math.nan), float("nan")),
    (Equals(A, -0.0), -0.0),
    (Equals(A, complex(0.0, -0.0)), complex(0.0, -0.0)),
    (Equals(A, (1, (2.0, "x"), None)), (1, (2.0, "x"), None)),
    (Equals(A, ()), ()),
    (IntRange(A), 0),
    (IntRange(A), 2**63 - 1),
    (IntRange(A), -2**63),
    (LengthIs(A, 0), ()),
    (LengthIs(A, 2), [1, 2]),
    (LengthIs(A, 1), {"k": 1}),
    (OwnCountIs(A, 0), MyInt(1)),
    (FunctionCode(A, f.__code__), f),
    (FunctionCode(A, f.__code__), types.FunctionType(f.__code__, {})),
    (LengthIs(A, 2), Pair(1, 2)),
    (AxisLength(A, 1, 4, 4), matrix),
    (AxisLength(A, 0, 0, ENDLESS, 5, 2), floats),
    (AxisLength(A, 0, 2, 12, 4, 0), floats),
    (UnitAxes(A, frozenset()), floats),
    (UnitAxes(A, frozenset()), np.zeros((0, 2))),
    (UnitAxes(A, frozenset([0, 2])), np.zeros((1, 3, 1))),
    (UnitAxes(A, frozenset([31])), np.zeros((0,) * 31 + (1,))),
    (IsAbsent(Item(A, "k")), {"j": 1}),
    (IsAbsent(Item(A, 2)), (1, 2)),
    (IsAbsent(Item(A, -3)), [1, 2]),
    (IsAbsent(Item(A, 2)), Pair(1, 2)),
    (IsAbsent(Attr(A, "x")), MyInt(1)),
    (IsAbsent(Attr(A, "x")), 1),
    (IsAbsent(Attr(A, "x")), MyInt),
    (IsUnbound(A), UNBOUND),
]

FAILING = [
    (IsType(A, int), True, "L['a'] was of type int and is now of type bool"),
    (AxisLength(A, 1, 3, 3), matrix, "L['a'].shape[1] == 3 held and L['a'] now has shape (3, 4)"),
    (AxisLength(A, 1, 3, 3), floats, "L['a'].shape[1] == 3 held and L['a'] now has shape (12,)"),
    (AxisLength(A, 0, 1, 9), floats, "1 <= L['a'].shape[0] <= 9 held and L['a'] now has shape (12,)"),
    (AxisLength(A, 0, 1, ENDLESS, 5, 1), floats,
     "1 <= L['a'].shape[0], L['a'].shape[0] % 5 == 1 held and L['a'] now has shape (12,)"),
    (AxisLength(A, 0, 1, ENDLESS), [1.0], "1 <= L['a'].shape[0] held and L['a'] now is of type list"),
    (UnitAxes(A, frozenset([0])), floats, "axes of length 1 of L['a']: 0 held and L['a'] now has shape (12,)"),
    (UnitAxes(A, frozenset()), np.ones((1, 2)), "axes of length 1 of L['a']: none held and L['a'] now has shape (1, 2)"),
    (UnitAxes(A, frozenset([1])), np.ones(1), "axes of length 1 of L['a']: 1 held and L['a'] now has shape (1,)"),
    (UnitAxes(A, frozenset([0])), [1.0], "L['a'] was of type ndarray and is now of type list"),
    (IsType(A, int), MyInt(3), "L['a'] was of type int and is now of type MyInt"),
    (IsType(A, MyInt), type("MyInt", (), {})(), "L['a'] was of type MyInt and is now of another type MyInt"),
    (IsArray(A, "f8", 1), [1.0], "L['a'] was of type ndarray and is now of type list"),
    (IsArray(A, "f8", 1), np.zeros(2).view(MyArray), "L['a'] was of type ndarray and is now of type MyArray"),
    (IsArray(A, "f8", 0), np.float64(1.0), "L['a'] was of type ndarray and is now of type float64"),
    (IsArray(A, "f8", 1), np.zeros(2, "f4"), "L['a'] had dtype float64 and now has dtype float32"),
    (IsArray(A, "f8", 1), np.zeros(2, ">f8"), "L['a'] had dtype float64 and now has dtype >f8"),
    (IsArray(A, "i8", 1), np.zeros(2, "u8"), "L['a'] had dtype int64 and now has dtype uint64"),
    (IsArray(A, np.longlong, 1), np.zeros(2, np.int_), "L['a'] had dtype int64 ('q') and now has its twin 'l'"),
    (IsArray(A, "M8[s]", 1), np.zeros(2, "M8[ms]"),
     "L['a'] had dtype datetime64[s] and now has dtype datetime64[ms]"),
    (IsArray(A, "S3", 1), np.zeros(2, "S4"), "L['a'] had dtype |S3 and now has dtype |S4"),
    (IsArray(A, [("x", "f8")], 1), np.zeros(2, [("y", "f8")]),
     "L['a'] had dtype [('x', '<f8')] and now has dtype [('y', '<f8')]"),
    (IsArray(A, "f8", 1), matrix, "L['a'] had 1 dimension and now has 2"),
    (IsArray(A, "f8", 2), floats, "L['a'] had 2 dimensions and now has 1"),
    (IsArray(A, "f8", 2, "C"), matrix.T, "L['a'] was C-contiguous and is now Fortran-contiguous"),
    (IsArray(A, "f8", 2, "F"), matrix, "L['a'] was Fortran-contiguous and is now C-contiguous"),
    (IsArray(A, "f8", 1, "F"), np.zeros(3), "L['a'] was Fortran-contiguous and is now C-contiguous"),
    (IsArray(A, "f8", 1, "C"), floats[::2], "L['a'] was C-contiguous and is now not contiguous"),
    (IsArray(A, "f8", 1, "C", True), read_only(np.zeros(2)), "L['a'] was writeable and is now read-only"),
    (IsArray(A, "f8", 1, "C"), unaligned(), "L['a'] was aligned and is now unaligned"),
    (IsIdentical(A, np.sqrt), np.exp, "L['a'] was the ufunc sqrt and is now the ufunc exp"),
    (IsIdentical(A, math), np.linalg, "L['a'] was the module math and is now the module numpy.linalg"),
    (IsIdentical(A, len), "len", "L['a'] was the builtin function len and is now 'len'"),
    (IsIdentical(A, object.__str__), 3, "L['a'] was the method object.__str__ and is now 3"),
    (IsIdentical(A, floats), np.arange(12.0),
     "L['a'] was a float64 array of 1 dimension and is now another object, "
     "also a float64 array of 1 dimension"),
    (Equals(A, 3), 4, "L['a'] was 3 and is now 4"),
    (Equals(A, 1), True, "L['a'] was 1 and is now True"),
    (Equals(A, 1), 1.0, "L['a'] was 1 and is now 1.0"),
    (Equals(A, 3), MyInt(3), "L['a'] was 3 and is now an object of type MyInt"),
    (Equals(A, 10**30), 10**30 + 1, f"L['a'] was {10**30} and is now {10**30 + 1}"),
    (Equals(A, 0.0), -0.0, "L['a'] was 0.0 and is now -0.0"),
    (Equals(A, math.nan), nan_payload, "L['a'] was nan and is now nan"),
    (Equals(A, math.nan), 1.0, "L['a'] was nan and is now 1.0"),
    (Equals(A, 0j), complex(0.0, -0.0), "L['a'] was 0j and is now -0j"),
    (Equals(A, "abc"), "abd", "L['a'] was 'abc' and is now 'abd'"),
    (Equals(A, "abc"), b"abc", "L['a'] was 'abc' and is now b'abc'"),
    (Equals(A, None), False, "L['a'] was None and is now False"),
    (Equals(A, (1, 2)), (1, 2, 3), "L['a'] was (1, 2) and is now (1, 2, 3)"),
    (Equals(A, (1, 2)), (1, 2.0), "L['a'] was (1, 2) and is now (1, 2.0)"),
    (Equals(A, (1, (2,))), (1, (MyInt(2),)), "L['a'] was (1, (2,)) and is now an object of type tuple"),
    (IntRange(A), 2**63, f"L['a'] was an int that fits 64 bits and is now {2**63}"),
    (IntRange(A), -2**63 - 1, f"L['a'] was an int that fits 64 bits and is now {-2**63 - 1}"),
    (IntRange(A), 1 << 500, "L['a'] was an int that fits 64 bits and is now an int of 501 bits"),
    (IntRange(A), True, "L['a'] was an int that fits 64 bits and is now True"),
    (IntRange(A), MyInt(1), "L['a'] was an int that fits 64 bits and is now an object of type MyInt"),
    (LengthIs(A, 2), [1], "L['a'] had 2 items and now has 1"),
    (LengthIs(A, 1), {}, "L['a'] had 1 item and now has 0"),
    (LengthIs(A, 2), "ab", "L['a'] was a tuple, list or dict and is now 'ab'"),
    (LengthIs(A, 3), np.zeros(3),
     "L['a'] was a tuple, list or dict and is now a float64 array of 1 dimension"),
    (OwnCountIs(A, 1), MyInt(1), "L['a'] had 1 attribute of its own and now has 0"),
    (OwnCountIs(A, 1), 1, "L['a'] had a plain dict of its own and is now 1"),
    (FunctionCode(A, f.__code__), len,
     "L['a'] was of type function and is now of type builtin_function_or_method"),
    (FunctionCode(A, f.__code__), g,
     f"the code of L['a'] was f ({__file__}:{f.__code__.co_firstlineno}) "
     f"and is now g ({__file__}:{g.__code__.co_firstlineno})"),
    (LengthIs(A, 2), LongPair(1, 2), "L['a'] was a tuple, list or dict and is now an object of type LongPair"),
    (IsAbsent(Item(A, "k")), {"k": 1}, "L['a']['k'] was absent and may now be there"),
    (IsAbsent(Item(A, 0)), LongPair(1, 2), "L['a'][0] was absent and may now be there"),
    (IsAbsent(Item(A, "k")), np.zeros(2), "L['a']['k'] was absent and may now be there"),
    (IsAbsent(Attr(A, "real")), MyInt(1), "L['a'].real was absent and may now be there"),
    (IsAbsent(Attr(A, "mro")), MyInt, "L['a'].mro was absent and may now be there"),
    (IsAbsent(Attr(A, "x")), math, "L['a'].x was absent and may now be there"),
    (IsUnbound(A), None, "L['a'] was unbound and is now None"),
]

base = np.zeros(20)
PAIRS = [
    (NoOverlap, np.zeros(3), np.zeros(3), None),
    (NoOverlap, base[:10], base[10:], None),
    (NoOverlap, base[9::-1], base[10:], None),
    (NoOverlap, base[5:5], base, None),
    (NoOverlap, base, np.zeros((0, 4)), None),
    (NoOverlap, base[:10], base[9:], "L['a'] and L['b'] did not overlap in memory and now they may"),
    (NoOverlap, base[10::-1], base[10:], "L['a'] and L['b'] did not overlap in memory and now they may"),
    (NoOverlap, base[::2], base[1::2], "L['a'] and L['b'] did not overlap in memory and now they may"),
    (NoOverlap, base, base, "L['a'] and L['b'] did not overlap in memory and now they may"),
    (NoOverlap, base, base[3], "L['b'] was of type ndarray and is now of type float64"),
    (NoOverlap, None, base, "L['a'] was of type ndarray and is now of type NoneType"),
    (SameShape, np.zeros((2, 3)), np.ones((2, 3), "f4"), None),
    (SameShape, np.array(1), np.array(2), None),
    (SameShape, np.zeros((2, 3)), np.ones((3, 2)),
     "L['a'] and L['b'] had equal shapes and now have (2, 3) and (3, 2)"),
    (SameShape, np.zeros(3), np.ones((3, 1)),
     "L['a'] and L['b'] had equal shapes and now have (3,) and (3, 1)"),
    (SameShape, np.zeros(3), (3,), "L['b'] was of type ndarray and is now of type tuple"),
    (functools.partial(SameAxis, axis=1, other=0), np.zeros((2, 3)), np.ones(3, "f4"), None),
    (functools.partial(SameAxis, axis=0, other=0), np.zeros((2, 3)), np.ones(3),
     "L['a'].shape[0] == L['b'].shape[0] held and the shapes are now (2, 3) and (3,)"),
    (functools.partial(SameAxis, axis=1, other=1), np.zeros((2, 3)), np.ones(3),
     "L['a'].shape[1] == L['b'].shape[1] held and the shapes are now (2, 3) and (3,)"),
    (functools.partial(SameAxis, axis=0, other=0), base, [1],
     "L['b'] was of type ndarray and is now of type list"),
    (SameObject, base, base, None),
    (SameObject, base, base[:], "L['a'] and L['b'] were the same object and are now two"),
    (DistinctObject, base, base[:], None),
    (DistinctObject, None, None, "L['a'] and L['b'] were two objects and are now the same"),
]


def label(item):
    """The beginning of an item's text, without addresses: processes that share the tests must agree on their names."""
    return re.sub(r" at 0x[0-9a-f]+", "", str(item))[:60]


@pytest.mark.parametrize("guard, value", HOLDING, ids=label)
def test_holds(holds, guard, value):
    assert holds(guard, value)
    assert guard.why_not(value) is None


@pytest.mark.parametrize("guard, value, sentence", FAILING, ids=label)
def test_fails_and_says_why(holds, guard, value, sentence):
    assert not holds(guard, value)
    assert guard.why_not(value) == sentence


@pytest.mark.parametrize("kind, a, b, sentence", PAIRS)
def test_pairs(holds, kind, a, b, sentence):
    assert holds(kind(A, B), a, b) == (sentence is None)
    assert kind(A, B).why_not(a, b) == sentence


@pytest.mark.parametrize("a", [base, base[::2], base[::-1], base[5:9], base[3:3], base.reshape(4, 5)[:, 1:3]])
@pytest.mark.parametrize("b", [base, base[1::2], base[12:2:-3], base[:5], base[9:], base.reshape(4, 5).T[4:]])
def test_no_overlap_is_the_bounds_check_of_numpy(holds, a, b):
    assert holds(NoOverlap(A, B), a, b) == (not np.may_share_memory(a, b))


def test_unbound_cells_and_globals():
    x = 1
    bound = (lambda: x).__closure__[0]
    if False:
        y = 1  # noqa: F841
    empty = (lambda: y).__closure__[0]
    cell = GuardProgram([IsUnbound(ClosureCell(0, "y"))])
    assert cell.check([empty], {}, {}) == []
    assert cell.check([bound], {}, {}) is None
    assert cell.check([3], {}, {}) is None
    assert cell.check([], {}, {}) is None
    name = GuardProgram([IsUnbound(Global("q"))])
    assert name.check([], {}, {}) == []
    assert name.check([], {"q": 1}, {}) is None
    assert name.check([], {}, {"q": 1}) is None
    assert name.check([], {}, None) is None
    assert GuardProgram([IsUnbound(A)]).check([], {}, {}) is None
    sentence = name.explain_failure([], {}, {"q": 1})
    assert sentence == "guard `G['q'] is unbound` failed: G['q'] was unbound and is now 1"


def test_references_are_counted_without_those_of_the_evaluation():
    class Owner:
        part = None
    owner, part = Owner(), Owner()
    values, owner.part = [owner, owner], part
    for source, references in ((A, 3), (Attr(A, "part"), 2)):  # the list has two, besides the variable
        for count in range(5):
            program = GuardProgram([IsConfined(source, count)], [Attr(A, "part"), B])
            assert (program.check(values, {}, {}) == [part, owner]) == (count == references)
    kept = [part]
    assert GuardProgram([IsConfined(Attr(A, "part"), 2)]).check(values, {}, {}) is None
    assert GuardProgram([IsConfined(Attr(A, "part"), 3)]).check(values, {}, {}) == []
    assert kept == [part]


def test_the_twin_leaves_references_to_c():
    before = set_mirror(True)
    try:
        assert GuardProgram([IsType(A, list), IsConfined(A, 90)]).check([[]], {}, {}) is None
        assert GuardProgram([IsConfined(A, 90)]).explain_failure([[]], {}, {}) is None
    finally:
        set_mirror(before)


STRINGS = [
    (IsType(A, float), "type(L['a']) is float"),
    (IsArray(A, "f8", 2), "L['a'] is a float64 array, ndim 2, aligned"),
    (IsArray(A, "f4", 1, "C", True), "L['a'] is a float32 array, ndim 1, C-contiguous, writeable, aligned"),
    (IsArray(A, "f4", 1, "F", aligned=None), "L['a'] is a float32 array, ndim 1, Fortran-contiguous"),
    (IsIdentical(Attr(Global("np"), "sqrt"), np.sqrt), "G['np'].sqrt is the ufunc sqrt"),
    (IsIdentical(A, int), "L['a'] is the class int"),
    (Equals(A, 3), "L['a'] == 3"),
    (Equals(A, None), "L['a'] is None"),
    (Equals(Item(A, "k"), "v"), "L['a']['k'] == 'v'"),
    (IntRange(A), "L['a'] is an int, -2**63 <= L['a'] < 2**63"),
    (LengthIs(A, 3), "len(L['a']) == 3"),
    (OwnCountIs(A, 3), "len(L['a'].__dict__) == 3"),
    (IsConfined(A, 1), "L['a'] has 1 reference, all in the frame"),
    (IsConfined(A, 2), "L['a'] has 2 references, all in the frame"),
    (IsUnbound(ClosureCell(2, "w")), "closure cell 'w' is unbound"),
    (NoOverlap(A, B), "L['a'] and L['b'] do not overlap in memory"),
    (SameShape(A, B), "L['a'].shape == L['b'].shape"),
    (SameAxis(A, B, 0, 1), "L['a'].shape[0] == L['b'].shape[1]"),
    (UnitAxes(A, frozenset([2, 0])), "axes of length 1 of L['a']: 0, 2"),
    (SameObject(A, B), "L['a'] is L['b']"),
    (DistinctObject(A, B), "L['a'] is not L['b']"),
    (FunctionCode(A, f.__code__), f"L['a'].__code__ is f ({__file__}:{f.__code__.co_firstlineno})"),
]


@pytest.mark.parametrize("guard, text", STRINGS)
def test_text(guard, text):
    assert str(guard) == text


@pytest.mark.parametrize("constant", [MyInt(1), [1], (1, [2]), np.float64(1.0), object(), {1}, (MyInt(1),)])
def test_equals_takes_builtin_constants_only(constant):
    with pytest.raises(TypeError, match="compares builtin constants"):
        Equals(A, constant)


def test_constructors_refuse_what_cannot_be_checked():
    with pytest.raises(ValueError, match="native byte order, not >f8"):
        IsArray(A, ">f8", 1)
    with pytest.raises(ValueError, match="one of 'C', 'F', 'A', not 'K'"):
        IsArray(A, "f8", 1, "K")
    with pytest.raises(TypeError, match="not L\\['a'\\].x"):
        IsUnbound(Attr(A, "x"))


def test_equality_is_by_exact_facts():
    assert Equals(A, 1) != Equals(A, True) != Equals(A, 1.0)
    assert Equals(A, 0.0) != Equals(A, -0.0)
    assert Equals(A, math.nan) == Equals(A, float("nan"))
    assert Equals(A, (1, 0.0)) != Equals(A, (1, -0.0))
    assert len({Equals(A, 1), Equals(A, 1), Equals(B, 1)}) == 2
    assert SameObject(A, B) != DistinctObject(A, B)
    assert IsIdentical(A, []) != IsIdentical(A, [])
    assert IsArray(A, "f8", 1) == IsArray(A, np.float64, 1, "A", False)
