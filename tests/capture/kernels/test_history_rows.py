"""Loops that keep their states in the rows of an array: bounds of rows tell that nothing is to be reported."""

import ctypes
import linecache

import numpy as np
import pytest

from pijit.core.kernel.emit import exponent_bounds, exponent_regions
from pijit.core.kernel.emit.array_values import ArrayWriter
from tests.harness import check, fail_unless_captured, jitted

COUNT, SIZE = 14, 160
S = np.cos(np.arange(COUNT * SIZE)).reshape(COUNT, SIZE)
WARN = {"all": "warn", "under": "ignore"}
"""NumPy's own settings: where underflows are reported, bounds prove nothing."""
SETTINGS = [{"all": "warn"}, {"all": "raise"}, {"all": "raise", "under": "ignore"}, {"all": "ignore"}]
pytestmark = pytest.mark.filterwarnings("always::RuntimeWarning")


def inner(s, c, n):
    for k in range(n - 1):
        s[k + 1, 1:-1] = s[k, 1:-1] + c * (s[k, 2:] - 2.0 * s[k, 1:-1] + s[k, :-2])
    return s


def whole(s, c, n):
    for k in range(n - 1):
        s[k + 1] = c * s[k] + 0.25 * (s[k] - c)
    return s


def slices(s, c, n):
    for k in range(n - 1):
        s[k + 1, 1:] = c * s[k, 1:] + s[k, :-1]
    return s


def every_second(s, c, n):
    """The elements between keep their first numbers, which the next row reads."""
    for k in range(n - 1):
        s[k + 1, ::2] = c * s[k, ::2] + s[k, 1::2]
    return s


def second_elements_of_later_rows(s, c, n):
    """The elements between are read after the region has got the row."""
    for k in range(n - 3):
        s[k + 1, ::2] = c * s[k, ::2]
        s[k + 1, 1::2] = c * s[k + 1, 1::2]
    return s


def two_rows(s, c, n):
    for k in range(1, n - 1):
        s[k + 1, 1:-1] = c * s[k, 2:] - s[k - 1, 1:-1] + 8.0 * s[k, :-2] * c
    return s


def two_whole_rows(s, c, n):
    for k in range(1, n - 1):
        s[k + 1] = c * s[k] - s[k - 1]
    return s


def down(s, c, n):
    for k in range(n - 1, 0, -1):
        s[k - 1, 1:-1] = c * s[k, :-2] - s[k, 2:]
    return s


def from_the_end(s, c, n):
    """The indices are negative at first; the last row is followed by the first one."""
    for k in range(-n, n - 1):
        s[k + 1, 2:] = c * s[k, :-2] + s[k, 2:]
    return s


def backwards(s, c, n):
    for k in range(n - 1):
        s[k + 1] = c * s[k, ::-1] + 0.5
    return s


def too_far(s, c, n):
    """Ends with an error."""
    for k in range(n + 2):
        s[k + 1] = c * s[k] - s[k - 1]
    return s


def in_place(s, c, n):
    for k in range(n):
        s[k, 1:] = c * s[k, :-1] + s[k, 1:]
        s[k] *= c
    return s


def growing(s, c, n):
    """The rows that are read are also written, so nothing is scanned until a bound is too large."""
    for k in range(n):
        s[3] = c * s[3] - s[4]
        s[4, 1:-1] = c * s[4, 1:-1]
    return s


def with_ends(s, c, n):
    for k in range(n - 1):
        s[k + 1, 1:-1] = c * (s[k, 2:] + s[k, :-2])
        s[k + 1, 0] = s[k, 0] * 8.0
        s[k + 1, -1] = -0.0
    return s


def with_temporaries(s, c, n):
    for k in range(n - 1):
        lap = s[k, 2:] - 2.0 * s[k, 1:-1] + s[k, :-2]
        s[k + 1, 1:-1] = s[k, 1:-1] + lap * c
    return s, lap


def two_statements(s, c, n):
    for k in range(n - 1):
        s[k + 1] = s[k] * c
        s[k + 1, 1:-1] += c * (s[k, 2:] + s[k, :-2])
    return s


def far_rows(s, c, n):
    for k in range(n // 2):
        s[k + n // 2] = c * s[k] + 0.5
        s[k] = c * s[n - 1 - k] - 0.5
    return s


def again(s, c, n):
    for _ in range(3):
        for k in range(n - 1):
            s[k + 1, 1:] = c * s[k, :-1] + 0.5 * s[k + 1, 1:]
    return s


def made_here(s, c, n):
    t = np.empty((n, s.shape[1]))
    t[0] = s[0]
    for k in range(n - 1):
        t[k + 1] = c * t[k] + s[k]
    return t


def made_again(s, c, n):
    """A new array in each iteration, perhaps with the memory of the one before."""
    for k in range(n - 6):
        t = s[k:k + 6] * 1.0
        for m in range(5):
            t[m + 1, 1:] = c * t[m, 1:] - t[m, :-1]
    return t


def leaves(s, c, n):
    for k in range(n - 1):
        s[k + 1] = c * s[k] - s[k - 1]
        if s[k + 1, 7] > 1.0:
            return s, k
    return s, n


ONE = [inner, whole, slices, every_second, second_elements_of_later_rows, two_rows, two_whole_rows, down, from_the_end,
       backwards, too_far, in_place, growing, with_ends, with_temporaries, two_statements, far_rows, again, made_here,
       made_again, leaves]


def put(s, places, number):
    s = s.copy()
    for place in places:
        s[place] = number
    return s


def odd_states():
    """States with large, tiny or no numbers somewhere."""
    ends, one, rows = [(5, 0), (5, -1), (5, 1)], [(6, 81), (0, 81), (1, 0), (1, 40), (13, 30)], [0, 5]
    for number in (1.7e308, np.inf, np.nan, 5e-324, -0.0):
        for places in ([place] for place in ends + one):
            yield put(S, places, number)
    yield put(S, rows, -0.0)
    yield put(S, rows, 3e-308)
    yield put(S, [(slice(None), slice(1, None, 2))], 1.7e308)
    yield put(S, [(slice(None), 0)], 1e308)
    yield S * 1e-300
    yield S * 1e300


@pytest.mark.parametrize("f", ONE)
def test_same_answers(f):
    others = [(s, 1.5, COUNT) for s in odd_states()]
    others += [(S, c, COUNT) for c in (1e20, 1e60, 1e-90, np.inf, np.nan)]
    others += [(S, 1.0, 0), (S, 1.0, 1), (S[:3].copy(), 1e200, 3), (S[:, ::-1], 1e30, COUNT), (S[::-1], 1e30, COUNT),
               (S.T.copy().T, 1e30, COUNT)]
    with np.errstate(**WARN), fail_unless_captured():
        check(f, S, 0.75, COUNT, others=others, calls=1, config={"cache_limit": 16})


@pytest.mark.parametrize("f", [inner, whole, two_rows, every_second, in_place])
@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_settings(f, settings):
    others = [(s, 1.5, COUNT) for s in odd_states()] + [(S, 1e20, COUNT), (S, 1e-90, COUNT)]
    with np.errstate(**settings), fail_unless_captured():
        check(f, S, 0.75, COUNT, others=others, calls=1)


@pytest.mark.parametrize("f", [inner, whole, two_rows, every_second, in_place])
@pytest.mark.filterwarnings("ignore:overflow encountered in cast")
def test_float32(f):
    others = [(s.astype("f"), np.float32(1.5), COUNT) for s in (S * 1e37, S * 1e-37, S * 1e-44)]
    others += [(put(S.astype("f"), [place], number), np.float32(1.5), COUNT)
               for place in ((5, 0), (5, -1), (6, 81)) for number in (3e38, np.inf, np.nan, 1e-45)]
    others += [(S.astype("f"), 1.5, COUNT), (S.astype("f"), np.float64(1e30), COUNT), (S, np.float32(1e30), COUNT)]
    with np.errstate(**WARN), fail_unless_captured():
        check(f, S.astype("f"), np.float32(0.75), COUNT, others=others, calls=1, config={"cache_limit": 16})


@pytest.mark.parametrize("f", [inner, two_rows, every_second])
def test_planes(f):
    """The same loops over planes; elements of other axes lie apart."""
    planes = np.cos(np.arange(9 * 16 * 20.0)).reshape(9, 16, 20)
    others = [(put(planes, [place], number), 1.5, 9) for number in (1.7e308, np.nan)
              for place in ((0, 5, 7), (4, 0), (4, 5, 0), (4, -1, -1), (5, slice(None), slice(1, None, 2)))]
    with np.errstate(**WARN), fail_unless_captured():
        check(f, planes, 0.75, 9, others=others, calls=1)


# ---- other code that writes ----


WRITERS = [
    "s[k, 40] = x[40]",
    "for i in range(1, 90):\n    s[k, i] = x[i] * 0.5",
    "s[k] = x",
    "s[k:k + 2] = x",
    "s[:, 40] = x[40]",
    "s[k] = x * 0.5",
    "s[k] *= x[0]",
    "s[k, 5:100] += x[5:100]",
    "s[k][np.array([3, 40])] = x[40]",
    "s[k][x > 1.0] = 1e308",
    "s[k][x > 1.0] *= x[0]",
    "s[k] = np.where(x > 1.0, x, s[k])",
    "s[k] = np.sqrt(x)",
    "np.copyto(s[k], x)",
    "np.multiply(x, 0.5, out=s[k])",
    "s[k].fill(x[40])",
    "view = s[k]\nview[40] = x[40]",
    "other[k, 40] = x[40]",
    "other[k] = x * 0.5",
    "other[:] = x",
    "s[k - 1:k + 2].sort(0)",
    "exec('s[k] = x', {'s': s, 'k': k, 'x': x})"]

LOOPS = ["""
def f(s, x, n, other):
    for k in range(n - 1):
        if k == 3:
            {0}
        s[k + 1, 1:] = 4.0 * s[k, 1:] - s[k, :-1]
        if k == 7:
            {0}
    return s, other
""", """
def f(s, x, n, other):
    for k in range(1, n - 1):
        s[k + 1] = 4.0 * s[k] - 0.5 * s[k - 1]
        if k > 2:
            {0}
    return s, other
"""]


def written(write, loop):
    """The function of a text, with the lines that write."""
    line = next(line for line in loop.split("\n") if "{0}" in line)
    text = loop.format(write.replace("\n", "\n" + line[:line.index("{")]))
    filename = "<history %s>" % text
    linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)
    namespace = {"np": np}
    exec(compile(text, filename, "exec"), namespace)
    return namespace["f"]


@pytest.mark.parametrize("write", WRITERS)
@pytest.mark.parametrize("loop", LOOPS, ids=["rarely", "often"])
def test_rows_that_other_code_writes(write, loop):
    shared = S.copy()
    calls = [(S, np.full(SIZE, large), COUNT, S.copy()) for large in (1.5, 1e308, np.inf, np.nan, 1e-308)]
    some = np.where(np.arange(SIZE) == 40, 1e308, 0.5)
    with np.errstate(**WARN), fail_unless_captured():
        check(written(write, loop), S, S[0] * 0.5, COUNT, S.copy(), others=calls + [(S, some, COUNT, S.copy())],
              calls=1, aliased=[(shared, some, COUNT, shared), (shared, np.full(SIZE, 1e308), COUNT, shared[:])],
              config={"cache_limit": 16})


def shifted(s, t, c, n):
    """The arrays may share rows, and may be shifted by some elements."""
    for k in range(n - 1):
        s[k + 1, 1:] = c * t[k, 1:] + s[k, :-1]
        t[k + 1] = c * s[k + 1] - t[k]
    return s, t


def test_shared_memory():
    memory = np.cos(np.arange(4000.0))
    large = memory.copy()
    large[::700] = 1.7e308

    def pair(memory, places):
        return memory[:2240].reshape(14, 160), memory[places:places + 2240].reshape(14, 160), 1.5, 14

    aliased = [pair(one.copy(), places) for one in (memory, large) for places in (0, 1, 37, 160, 161, 480)]
    with np.errstate(**WARN), fail_unless_captured():
        check(shifted, S, S[::-1].copy(), 0.75, COUNT, others=[(S * 1e300, S[::-1].copy(), 2.0, COUNT)], calls=1,
              aliased=aliased, config={"cache_limit": 32})


def forced(s, x, n):
    for k in range(n - 1):
        s[k + 1] = 0.5 * s[k] + 8.0 * x[k]
    return s


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_two_arrays(settings):
    others = [(s, S, COUNT) for s in odd_states()] + [(S, x, COUNT) for x in odd_states()]
    with np.errstate(**settings), fail_unless_captured():
        check(forced, S, S[::-1].copy(), COUNT, others=others, calls=1, config={"cache_limit": 16})


def test_bounds_that_grow():
    """The bound of a row is larger than its elements, and the rows are scanned again when it is too large."""
    s = np.zeros((700, 100))
    s[0] = np.linspace(-1.0, 1.0, 100)
    with np.errstate(**WARN), fail_unless_captured():
        check(inner, s, 0.125, 700, others=[(s, 1.9, 700), (s[:, :80].astype("f"), np.float32(1.5), 700)], calls=1)


# ---- what the kernels do ----


WORDS = (ctypes.c_int64 * 2)()
"""Words that kernels change: the number of copies from a buffer, and of elements that were scanned.

Kernels that are compiled once may run in several tests, so the words always exist.
"""


@pytest.fixture
def counters(monkeypatch):
    """Have kernels count in `WORDS`."""
    runtime, scan = ArrayWriter.runtime, exponent_regions.scan

    def add(emitter, place, number):
        emitter.line("set_words(%d, %d, iadd(ld_i8(%d, %d), %s))" % (
            ctypes.addressof(WORDS), place, ctypes.addressof(WORDS), 8 * place, number))

    def counted_runtime(emitter, name, *words):
        if name == "copy_apart":
            add(emitter, 0, 1)
        return runtime(emitter, name, *words)

    def counted_scan(emitter, dtype, count, address):
        add(emitter, 1, count)
        return scan(emitter, dtype, count, address)

    monkeypatch.setattr(ArrayWriter, "runtime", counted_runtime)
    for module in (exponent_regions, exponent_bounds):
        monkeypatch.setattr(module, "scan", counted_scan)
    return WORDS


def counted(counters, f, *args):
    """(copies, scanned elements) of a call of a kernel."""
    j = jitted(f, {"backend": "numba", "force_breaks": None, "cache": False})
    for _ in range(2):
        counters[0] = counters[1] = 0
        j(*[arg.copy() if isinstance(arg, np.ndarray) else arg for arg in args])
    assert "region_" in j.state.entries[0].record.kernels[0].source
    return tuple(counters)


@pytest.mark.parametrize("f, scanned", [
    (inner, SIZE + 2 * 12), (whole, SIZE), (slices, SIZE + 12), (two_rows, 2 * SIZE + 1 + 2 * 10),
    (down, SIZE + 2 * 12), (two_whole_rows, 2 * SIZE), (every_second, SIZE * 13), (with_temporaries, SIZE + 2 * 12)])
def test_rows_need_no_buffer(f, scanned, counters):
    """The first rows are scanned, then the ends of rows; rows between whose elements lie others are scanned."""
    with fail_unless_captured():
        copies, elements = counted(counters, f, S, 0.75, COUNT)
    assert copies == 0 and abs(elements - scanned) <= 2


def test_each_row_of_another_array_is_scanned_once(counters):
    with fail_unless_captured():
        assert counted(counters, forced, S, S[::-1].copy(), COUNT) == (0, SIZE * COUNT)


def test_large_numbers_need_a_buffer(counters):
    with np.errstate(all="ignore"), fail_unless_captured():
        copies, elements = counted(counters, whole, S * 1e307, 0.75, COUNT)
    assert copies == COUNT - 1 and elements == SIZE * (COUNT - 1)


def columns(s, c, n):
    for k in range(n - 1):
        s[:, k + 1] = c * s[:, k] + 0.5
    return s


def all_rows(s, c, n):
    for _ in range(n):
        s[1:-1] = c * (s[2:] + s[:-2])
    return s


@pytest.mark.parametrize("f", [columns, all_rows])
def test_other_loops_have_no_regions(f):
    with fail_unless_captured():
        j = jitted(f, {"backend": "numba", "force_breaks": None})
        j(S.copy(), 0.75, COUNT)
    assert "region" not in j.state.entries[0].record.kernels[0].source
