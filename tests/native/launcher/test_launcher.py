"""The launcher: inputs to frame words, exits to values, misses, errors, and who owns what."""

import ctypes
import gc
import sys

import numpy as np
import pytest

from pijit.core import _launcher
from pijit.guards.guard import Equals, IsArray, IsType
from pijit.guards.program import GuardProgram
from pijit.guards.source import Global, Local
from tests.native.launcher.native_kernels import launcher, native_kernel, pointer_address, runtime, word_at

INT = (("int",),)
KERNEL_TYPE = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.POINTER(ctypes.c_int64))
alloc = runtime("alloc")
retain = runtime("retain")
release = runtime("release")


@native_kernel
def echo(frame):
    """Copies the first ten input words to the outputs."""
    for i in range(10):
        frame[40 + i] = frame[2 + i]
    return 0


@native_kernel
def choose(frame):
    """Takes the exit that the first input names."""
    return frame[2]


@native_kernel
def make_array(frame):
    """Allocates float64 arrays of the given length; keeps the first, leaves the others to the frame."""
    base = pointer_address(frame)
    for i in range(20):
        frame[52] = frame[2]
        if alloc(frame, (base, base + 8 * 50, 12, 1, 0)) != 0:
            return -2
        if i == 0:
            frame[40] = frame[51]
    return 0


@native_kernel
def retain_release(frame):
    """Takes references to the input's object and gives some of them back."""
    base = pointer_address(frame)
    for _ in range(30):
        if retain(frame, (base, frame[3])) != 0:
            return -2
    for _ in range(12):
        release(frame, (base, frame[3]))
    release(frame, (base, frame[7]))
    frame[40] = frame[3]
    return 0


def scalars():
    """One or more NumPy scalars of every type that fits frame words."""
    values = [np.bool_(True), np.bool_(False), np.float32(0.1), np.float64(0.1), np.complex64(0.1 - 3j), np.complex128(1j)]
    for code in "bhilqBHILQ":
        info = np.iinfo(code)
        values += [np.dtype(code).type(info.min), np.dtype(code).type(info.max)]
    return values


def assert_same_scalar(result, expected):
    assert type(result) is type(expected)
    assert repr(result) == repr(expected)


@pytest.mark.parametrize("code, value", [
    (("int",), 0), (("int",), -(2 ** 63)), (("int",), 2 ** 63 - 1), (("float",), -0.0), (("float",), 1e308),
    (("bool",), True), (("bool",), False), (("complex",), 2.5 - 1j)])
def test_python_scalars_travel_both_ways(code, value):
    result = launcher(echo, (code,), (((code[0], 40),),), width=1).callable(value)
    assert_same_scalar(result[1], value)


@pytest.mark.parametrize("value", scalars(), ids=lambda value: "%s-%s" % (type(value).__name__, value))
def test_numpy_scalars_travel_both_ways(value):
    codes = ((("scalar", 40, value.dtype),),)
    result = launcher(echo, (("scalar", value.dtype.num),), codes, width=1).callable(value)
    assert_same_scalar(result[1], value)
    assert result[1].dtype == value.dtype


def test_scalar_words_are_sign_extended_or_doubles():
    one = launcher(echo, (("scalar", np.dtype("i1").num),), ((("int", 40),),)).callable
    assert one(np.int8(-5))[-1] == -5
    one = launcher(echo, (("scalar", np.dtype("u4").num),), ((("int", 40),),)).callable
    assert one(np.uint32(2 ** 32 - 1))[-1] == 2 ** 32 - 1
    one = launcher(echo, (("scalar", np.dtype("f4").num),), ((("float", 40),),)).callable
    assert one(np.float32(0.1))[-1] == float(np.float32(0.1))
    two = launcher(echo, (("scalar", np.dtype("c8").num),), ((("float", 40), ("float", 41)),)).callable
    assert two(np.complex64(1.5 - 2.5j))[-2:] == (1.5, -2.5)


@pytest.mark.parametrize("array", [
    np.zeros(()), np.arange(3), np.arange(24.0).reshape(2, 3, 4)[::-1, :, ::2], np.zeros((0, 5), "i1")])
def test_array_words_are_data_object_shape_strides(array):
    words = (array.ctypes.data, id(array)) + array.shape + array.strides
    codes = tuple(("int", 40 + i) for i in range(len(words)))
    assert launcher(echo, (("array", array.ndim),), (codes,), width=8).callable(array)[-len(words):] == words


@pytest.mark.parametrize("code, value", [
    (("int",), 2 ** 63), (("int",), -(2 ** 63) - 1), (("int",), True), (("int",), 1.0), (("float",), 1),
    (("float",), np.float64(1)), (("bool",), 1), (("bool",), np.bool_(True)), (("complex",), 1.0),
    (("scalar", 12), 1.0), (("scalar", 12), np.float32(1)), (("array", 1), np.zeros((1, 1))), (("array", 1), [1]),
    (("range_iterator",), range(3)), (("range_iterator",), iter(range(2 ** 70)))])
def test_an_input_that_does_not_fit_is_a_miss(code, value):
    tested = launcher(echo, (code,), ((),), width=2)
    assert tested.callable(value) == (-1, None, None)
    assert (tested.calls, tested.misses, tested.exit_counts) == (1, 1, (0,))


def test_exits_are_padded_in_front():
    tested = launcher(choose, INT, ((), (("const", "a"),), (("const", "b"), ("fetched", 0))), width=3)
    assert tested.callable(0) == (0, None, None, None)
    assert tested.callable(1) == (1, None, None, "a")
    assert tested.callable(2) == (2, None, "b", 2)
    assert tested.callable(2) == (2, None, "b", 2)
    assert tested.exit_counts == (1, 1, 2)
    assert (tested.calls, tested.misses) == (4, 0)


def test_kernel_may_decline():
    tested = launcher(choose, INT, ((),), width=1)
    assert tested.callable(-1) == (-1, None)
    assert tested.misses == 1


@pytest.mark.parametrize("exit_id", [1, 2 ** 40, -3, -2])
def test_unknown_exit_ids_are_system_errors(exit_id):
    with pytest.raises(SystemError, match="'test' returned .*%d" % exit_id):
        launcher(choose, INT, ((),)).callable(exit_id)


def test_wrong_number_of_arguments_without_a_program():
    with pytest.raises(TypeError, match="takes 1 arguments, got 2"):
        launcher(choose, INT, ((),)).callable(1, 2)


def test_outputs_are_zero_when_the_kernel_starts():
    @native_kernel
    def dirty(frame):
        total = 0
        for i in range(40, 200):
            total |= frame[i]
            frame[i] = -1
        frame[40] = total
        return 0

    tested = launcher(dirty, INT, ((("int", 40),),), width=1)
    assert [tested.callable(i) for i in range(3)] == [(0, 0)] * 3


def test_empty_object_output_is_a_system_error():
    with pytest.raises(SystemError, match="left an object output empty"):
        launcher(choose, INT, ((("array", 40),),)).callable(0)


def test_fetched_and_const_keep_identity():
    value, constant = object(), object()
    tested = launcher(echo, (("skip",),), ((("fetched", 0), ("tuple", (("const", constant), ("fetched", 0)))),))
    result = tested.callable(value)
    assert result[-2] is value and result[-1][0] is constant and result[-1][1] is value


def test_object_output_is_the_same_array():
    array = np.arange(3)
    result = launcher(echo, (("array", 1),), ((("array", 41), ("object", 41)),), width=2).callable(array)
    assert result[1] is array and result[2] is array


def test_range_outputs():
    codes = (("range", 41), ("range_iterator", 40))
    tested = launcher(echo, (("range_iterator",),), (codes,), width=2)
    iterator = iter(range(10, 40, 3))
    next(iterator), next(iterator)
    answer = tested.callable(iterator)
    assert answer[1] == range(10, 3, 10)
    assert answer[2] is not iterator and type(answer[2]) is type(iterator)
    assert list(answer[2]) == [16, 19, 22, 25, 28, 31, 34, 37] == list(iterator)


def test_advance_keeps_the_iterator():
    @native_kernel
    def skip_three(frame):
        frame[40] = frame[2] + 3
        return 0

    tested = launcher(skip_three, (("range_iterator",),), ((("advance", 0, 40),),), width=1)
    iterator = iter(range(0, 100, 10))
    next(iterator)
    assert tested.callable(iterator)[1] is iterator
    assert list(iterator) == [40, 50, 60, 70, 80, 90]


def test_arrays_made_by_the_kernel():
    tested = launcher(make_array, INT, ((("array", 40), ("tuple", (("array", 40),))),), width=2)
    first, (second,) = tested.callable(7)[1:]
    assert first is second
    assert first.dtype == np.float64 and first.shape == (7,) and first.flags.owndata and first.flags.writeable
    first[:] = 1
    del second
    assert sys.getrefcount(first) == 2


def test_python_exception_of_a_runtime_function():
    tested = launcher(make_array, INT, ((("array", 40),),))
    with pytest.raises(ValueError, match="negative dimensions"):
        tested.callable(-1)
    assert tested.exit_counts == (0,) and tested.misses == 0


def test_retain_and_release_balance():
    array, other = np.arange(3), np.arange(4)
    tested = launcher(retain_release, (("array", 1), ("array", 1)), ((("array", 40),),), width=1)
    before = sys.getrefcount(array), sys.getrefcount(other)
    result = tested.callable(array, other)
    assert result[1] is array
    del result
    assert (sys.getrefcount(array), sys.getrefcount(other)) == before


def test_large_frames_and_many_inputs():
    @native_kernel
    def total(frame):
        frame[990] = 0
        for i in range(2, 102):
            frame[990] += frame[i]
        return 0

    tested = launcher(total, INT * 100, ((("int", 990), ("fetched", 99)),), width=2, words=1000, output_word=102)
    assert tested.callable(*range(100)) == (0, 4950, 99)
    assert tested.callable(*([True] * 100)) == (-1, None, None)


def test_kernel_address_and_recursion():
    """A kernel made by ctypes that calls the launcher again: frames must not be shared."""
    depths = []

    def nested(frame):
        depth = frame[2]
        if depth > 0:
            depths.append(tested.callable(depth - 1)[1])
        frame[40] = depth
        return 0

    kernel = KERNEL_TYPE(nested)
    address = ctypes.cast(kernel, ctypes.c_void_p).value
    tested = launcher(address, INT, ((("int", 40),),), width=1)
    assert tested.address == address
    assert tested.callable(5) == (0, 5)
    assert depths == [0, 1, 2, 3, 4]


def test_enabled():
    tested = launcher(choose, INT, ((),), width=1)
    tested.enabled = False
    assert tested.callable(0) == (-1, None) and tested.enabled is False
    tested.enabled = True
    assert tested.callable(0) == (0, None)
    with pytest.raises(AttributeError):
        del tested.enabled


def test_callable_is_one_builtin():
    tested = launcher(choose, INT, ((),))
    assert tested.callable is tested.callable
    assert tested.callable.__self__ is tested
    assert repr(tested) == "<Launcher 'test': 0 calls, 0 misses>"


# ---- Python kernels ----

PYTHON_CODES = (("fetched", 0), ("int", 40), ("tuple", (("float", 41), ("const", "c"), ("tuple", (("array", 42),)))),
                ("scalar", 43, np.dtype("f4")))


def test_python_kernel_values_are_used_as_they_are():
    values = [object() for _ in range(4)]
    tested = launcher(lambda x: (0, *values), INT, (PYTHON_CODES,), width=5)
    answer = tested.callable(12345)
    assert answer == (0, None, 12345, values[0], (values[1], "c", (values[2],)), values[3])
    assert tested.address == 0 and tested.exit_counts == (1,)


@pytest.mark.parametrize("answer, message", [
    ((0, 1, 2, 3), "too few"), ((0, 1, 2, 3, 4, 5), "too many"), ((1, 2), "unknown exit id 1"), ((-1,), "exit id -1"),
    ([0], "did not return"), ((), "did not return"), (("0",), "did not return")])
def test_python_kernel_with_a_bad_answer(answer, message):
    with pytest.raises(SystemError, match=message):
        launcher(lambda x: answer, INT, (PYTHON_CODES,)).callable(1)


def test_python_kernel_declines_and_raises():
    def kernel(x):
        if x > 0:
            raise KeyError(x)

    tested = launcher(kernel, INT, ((),), width=1)
    assert tested.callable(0) == (-1, None)
    with pytest.raises(KeyError):
        tested.callable(1)
    with pytest.raises(OverflowError):
        launcher(lambda x: (2 ** 80,), INT, ((),)).callable(1)


def test_python_kernel_advances():
    codes = ((("advance", 0, 40),),)
    iterator = iter(range(5))
    answer = launcher(lambda it: (0, 3), (("range_iterator",),), codes, width=1).callable(iterator)
    assert answer[1] is iterator and list(iterator) == [3, 4]
    with pytest.raises(TypeError):
        launcher(lambda it: (0, "x"), (("range_iterator",),), codes, width=1).callable(iter(range(5)))


# ---- construction ----

@pytest.mark.parametrize("inputs, exits, options, error", [
    ((("none",),), (), {}, ValueError), (("int",), (), {}, ValueError), ((("int", 1),), (), {}, ValueError),
    ((("array",),), (), {}, ValueError), ((("array", -1),), (), {}, ValueError), ((("array", 99),), (), {}, ValueError),
    ((("array", "x"),), (), {}, TypeError), ((("scalar", 17),), (), {}, ValueError), ((("scalar", 20),), (), {}, ValueError),
    (INT, (("int", 40),), {}, ValueError), (INT, ((("int", 1),),), {}, ValueError), (INT, ([],), {}, TypeError),
    (INT, ((("int", 200),),), {}, ValueError), (INT, ((("complex", 199),),), {}, ValueError),
    (INT, ((("range", 198),),), {}, ValueError), (INT, ((("range_iterator", 197),),), {}, ValueError),
    (INT, ((("fetched", 1),),), {}, ValueError), (INT, ((("advance", 0, 40),),), {}, ValueError),
    (INT, ((("scalar", 199, np.dtype("c8")),),), {}, ValueError), (INT, ((("scalar", 40, "f8"),),), {}, ValueError),
    (INT, ((("scalar", 40, np.dtype("M8[s]")),),), {}, ValueError), (INT, ((("tuple", (("int", 0),)),),), {}, ValueError),
    (INT, ((("const", 1), ("const", 2)),), {"width": 1}, ValueError), (INT, (), {"width": -1}, ValueError),
    (INT, (), {"output_word": 2}, ValueError), (INT, (), {"output_word": 201}, ValueError)])
def test_invalid_codes_are_refused(inputs, exits, options, error):
    with pytest.raises(error):
        launcher(choose, inputs, exits, **options)


@pytest.mark.parametrize("kernel, error", [(0, ValueError), ("kernel", TypeError), (2 ** 70, OverflowError)])
def test_invalid_kernels_are_refused(kernel, error):
    with pytest.raises(error):
        launcher(kernel, INT, ())


def guarded(fetch, inputs, exits, kernel=echo):
    """A launcher with a guard program over two call arguments: the first is an int, the global `limit` is 10."""
    program = GuardProgram([IsType(Local(0, "x"), int), Equals(Global("limit"), 10)], fetch)
    namespace = {"limit": 10, "table": np.arange(3.0)}
    return program, namespace, _launcher.Launcher(program, namespace, {}, inputs, 200, 40, kernel.address, exits, 2, "guarded")


FETCH = (Global("table"), Local(1, "y"), Local(0, "x"))
FETCH_LOCALS = (Local(1, "y"), Local(2, "z"), Local(0, "x"))
FETCH_CODES = (("array", 1), ("skip",), ("int",))
FETCH_EXITS = ((("fetched", 1), ("int", 44)),)


def test_guard_program_fetches_the_inputs():
    program, namespace, tested = guarded(FETCH, FETCH_CODES, FETCH_EXITS)
    value = object()
    before = sys.getrefcount(value), sys.getrefcount(namespace["table"])
    answer = tested.callable(5, value)
    assert answer[0] == 0 and answer[1] is value and answer[2] == 5
    assert tested.program is program
    del answer
    for arguments in [("5", value), (2 ** 70, value)]:
        assert tested.callable(*arguments) == (-1, None, None)
    del arguments
    namespace["limit"] = 11
    assert tested.callable(5, value) == (-1, None, None)
    assert (tested.calls, tested.misses, tested.exit_counts) == (4, 3, (1,))
    assert (sys.getrefcount(value), sys.getrefcount(namespace["table"])) == before


def test_local_checks_fetch_the_inputs():
    """No reference is left, failures are counted by the program, and a retired program holds no more."""
    program = GuardProgram([IsType(Local(0, "x"), int), IsArray(Local(1, "y"), "f8", 1)], FETCH_LOCALS)
    tested = _launcher.Launcher(program, {}, {}, FETCH_CODES, 200, 40, echo.address, FETCH_EXITS, 2, "local")
    table, value = np.arange(3.0), object()
    before = sys.getrefcount(table), sys.getrefcount(value)
    for _ in range(3):
        answer = tested.callable(5, table, value)
        assert answer[0] == 0 and answer[1] is value and answer[2] == 5
    del answer
    assert (program.hits, program.misses, program.failures) == (3, 0, [0, 0])
    for arguments in [("5", table, value), (5, table.astype("f4"), value), (5, None, value), (2 ** 70, table, value)]:
        assert tested.callable(*arguments) == (-1, None, None)
    del arguments
    assert (program.hits, program.misses, program.failures) == (4, 3, [1, 2])
    program.retire()
    assert tested.callable(5, table, value) == (-1, None, None)
    assert (tested.calls, tested.misses, tested.exit_counts) == (8, 5, (3,))
    assert (sys.getrefcount(table), sys.getrefcount(value)) == before


def test_the_launcher_holds_its_inputs_in_both_ways():
    """Operators compute into temporaries with a certain reference count."""
    table = np.arange(3.0)
    counts = []
    for more in ([], [Equals(Local(1, "n"), 3)]):
        program = GuardProgram([IsArray(Local(0, "x"), "f8", 1), *more], [Local(0, "x")])
        tested = _launcher.Launcher(program, {}, {}, (("array", 1),), 8, 6, lambda x: (0, sys.getrefcount(x)),
                                    ((("int", 6),),), 1, "counted")
        counts.append(tested.callable(table, 3)[1])
    assert counts[0] == counts[1]


def test_guard_program_must_fetch_what_the_codes_say():
    with pytest.raises(ValueError, match="fetches 3 values, there are 1 input codes"):
        guarded(FETCH, INT, ())


def test_invalid_program_is_refused():
    with pytest.raises(TypeError, match="not a guard program"):
        _launcher.Launcher(object(), {}, {}, INT, 8, 3, choose.address, (), 0, "test")


def test_callable_may_outlive_the_launcher_name():
    call = launcher(choose, INT, ((("const", 5),),), width=1).callable
    gc.collect()
    assert call(0) == (0, 5)


def test_word_at_reads_the_table():
    """Frame word 0 is the table's address."""
    @native_kernel
    def first_entry(frame):
        frame[40] = frame[0]
        frame[41] = word_at(frame[0])
        return 0

    table, entry = launcher(first_entry, (), ((("int", 40), ("int", 41)),), width=2).callable()[1:]
    assert table == _launcher.RUNTIME_TABLE
    assert entry == ctypes.c_int64.from_address(table).value


def test_an_entry_is_retired_when_guards_keep_failing():
    entry = GuardProgram([])
    watching = GuardProgram([Equals(Local(0, "n"), 3)], [Local(0, "n")])
    made = _launcher.Launcher(watching, {}, {}, INT, 3, 3, lambda n: (0, n), ((("int", 2),),), 1, "watching")
    assert made.entry is None
    references = sys.getrefcount(entry)
    made.entry = entry
    assert made.callable(3) == (0, 3) and made.callable(4)[0] == _launcher.MISS
    assert not entry.retired and made.entry is entry
    assert made.callable(3) == (0, 3) and made.callable(4)[0] == _launcher.MISS
    assert entry.retired and made.entry is None and sys.getrefcount(entry) == references
    for _ in range(3):
        assert made.callable(4)[0] == _launcher.MISS
    made.entry = entry
    del made
    gc.collect()
    assert sys.getrefcount(entry) == references


@pytest.mark.filterwarnings("ignore")
def test_what_cannot_be_retired_is_reported():
    watching = GuardProgram([Equals(Local(0, "n"), 3)], [Local(0, "n")])
    made = _launcher.Launcher(watching, {}, {}, INT, 3, 3, lambda n: (0, n), ((("int", 2),),), 1, "watching")
    made.entry = "no program"
    assert [made.callable(4)[0] for _ in range(3)] == [_launcher.MISS] * 3
    assert made.entry is None
