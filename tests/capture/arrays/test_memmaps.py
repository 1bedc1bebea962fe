"""Arrays of the class `numpy.memmap`. Kernels work in place on their memory. Results are the objects that NumPy makes."""

import gc
import sys

import numpy as np
import pytest

import pijit
from tests.harness import mode_config

SHAPES = [(7,), (0,), (1,), (40,)]


@pytest.fixture
def mapped(tmp_path):
    """Makes memmaps with equal contents, each with a file of its own."""
    made = []

    def make(shape=(7,), dtype="d", mode="w+", order="C", seed=3):
        path = str(tmp_path / "data{}".format(len(made)))
        values = np.random.default_rng(seed).normal(size=shape) * 4.0
        array = np.memmap(path, dtype, "w+", shape=shape or (), order=order) if 0 not in shape else np.memmap(
            path, dtype, "w+", shape=(3,))[3:].reshape(shape).view(np.memmap)
        array[...] = values.astype(dtype)
        made.append(array)
        return array if mode == "w+" else np.memmap(path, dtype, mode, shape=shape, order=order)
    return make


def facts(value, arguments, depth=0):
    """What a program can see of a result: types, bits, flags, layout, bases, and which arguments it is."""
    itself = [k for k, argument in enumerate(arguments) if argument is value]
    if isinstance(value, (tuple, list)):
        return type(value), [facts(one, arguments) for one in value]
    if not isinstance(value, (np.ndarray, np.generic)):
        return type(value), value, itself
    found = [type(value), value.dtype, value.shape, value.tobytes(), itself]
    if isinstance(value, np.ndarray):
        shared = [k for k, one in enumerate(arguments) if isinstance(one, np.ndarray) and np.may_share_memory(one, value)]
        found += [value.strides, value.flags.num, shared]
        if depth < 4:
            found.append(facts(value.base, arguments, depth + 1) if isinstance(value.base, np.ndarray)
                         else type(value.base))
    if isinstance(value, np.memmap):
        sources = [k for k, one in enumerate(arguments) if getattr(one, "_mmap", None) is value._mmap]
        found += [sources, value.offset, value.mode, value.filename is None]
    return found


def run(function, arguments):
    try:
        result = facts(function(*arguments), arguments)
    except Exception as error:
        result = type(error), str(error)
    return result, [one.tobytes() if isinstance(one, np.ndarray) else repr(one) for one in arguments]


def same_as_plain(function, *makers, calls=4, config=None):
    """The jitted function; each call gets new arguments and must do what the plain function does."""
    jitted = pijit.jit(function, jit_config=mode_config(dict({"perf_statistics": False}, **(config or {}))))
    for _ in range(calls):
        wanted = run(function, [make() for make in makers])
        assert run(jitted, [make() for make in makers]) == wanted
    return jitted


def runs_kernels(function):
    return sum(launcher.calls - launcher.misses for entry in function.state.entries for launcher in entry.launchers)


def total(m):
    s = 0.0
    for i in range(len(m)):
        s = s * 0.5 + m[i]
    return s


def items(m):
    s = 0.0
    for v in m:
        s = s * 0.5 + v
    return s


def scaled_in_place(m, c):
    for i in range(m.shape[0]):
        m[i] = m[i] * c + 1.0
    return m


def recurrence(m):
    for i in range(1, m.size):
        m[i] += 0.5 * m[i - 1]
    return None


def with_out(m, y):
    np.multiply(m, 2.0, out=m)
    np.add(m, y, y)
    np.sqrt(np.abs(m), out=y)
    return y


def returns_out(m, y):
    return np.subtract(m, y, out=m)


def stencil(m):
    m[1:-1] = (m[:-2] + m[1:-1] + m[2:]) / 3.0
    return m.sum()


def combined(m, y):
    return (m * 2.0 + 1.0) * y - y / 3.0


def sums(m):
    return m.sum(), np.sum(m), m.mean(), m.max(), np.min(m), m.std()


def updated(m, y):
    m += y
    m *= 2.0
    m[1:4] -= 1.0
    m[:] = m - y
    y += m
    return m


def masked(m):
    m[m > 1.0] = 0.25
    return m[m < 0.0].sum()


def compared(m):
    count = 0
    for i in range(len(m)):
        if m[i] > 0.5 and m[i] != 2.0:
            count += 1
    return count


def dots(m, y):
    return np.dot(m, y), m @ m


def filled(m, y):
    m.fill(3.0)
    m[0] = 1.0
    np.copyto(y, m)
    return y


def attributes(m):
    return m.shape, m.size, m.ndim, m.dtype, m.nbytes, len(m), (m * 2.0 + 1.0).sum()


ONE = [total, items, recurrence, stencil, sums, masked, compared, attributes]
TWO = [with_out, returns_out, combined, updated, dots, filled]


@pytest.mark.parametrize("function", ONE, ids=lambda function: function.__name__)
@pytest.mark.parametrize("shape", SHAPES)
def test_one_memmap(mapped, function, shape):
    jitted = same_as_plain(function, lambda: mapped(shape))
    assert shape == (0,) or runs_kernels(jitted)


@pytest.mark.parametrize("function", TWO, ids=lambda function: function.__name__)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kinds", ["mm", "ma", "am"])
def test_memmaps_and_arrays(mapped, function, shape, kinds):
    def maker(kind, seed):
        return lambda: mapped(shape, seed=seed) if kind == "m" else np.array(mapped(shape, seed=seed))
    jitted = same_as_plain(function, maker(kinds[0], 1), maker(kinds[1], 2))
    assert shape == (0,) or runs_kernels(jitted)


@pytest.mark.parametrize("dtype", ["d", "f", "l", "i", "b", "B", "?", "F", "D", "e"])
@pytest.mark.parametrize("function", [total, sums, stencil, masked, recurrence], ids=lambda function: function.__name__)
@pytest.mark.filterwarnings("ignore")
def test_dtypes(mapped, function, dtype):
    same_as_plain(function, lambda: mapped((9,), dtype))


def test_in_place_loops_are_one_kernel(mapped):
    jitted = same_as_plain(scaled_in_place, mapped, lambda: 2.5)
    report = pijit.explain(jitted, mapped(), 2.5)
    assert not report.breaks, str(report)


RESULTS = {
    "view": lambda m: m[1:4],
    "rest": lambda m: m[9:],
    "whole": lambda m: m[...],
    "transposed": lambda m: m.T,
    "product": lambda m: m * 2.0,
    "negative": lambda m: -m,
    "absolute": lambda m: abs(m),
    "comparison": lambda m: m > 0.0,
    "sum with numbers": lambda m: m + m,
    "ufunc": lambda m: np.sqrt(np.abs(m)),
    "copy": lambda m: m.copy(),
    "picked": lambda m: m[[0, 2]],
    "mask": lambda m: m[m > 0.0],
    "same": lambda m: m,
    "asarray": lambda m: np.asarray(m),
    "pair": lambda m: (m[1:], m * 2.0),
    "list": lambda m: [m[1:], m * 2.0 + 1.0],
    "kept sums": lambda m: m.sum(keepdims=True),
    "identity": lambda m: (m is m, m[1:] is m),
    "type": lambda m: (type(m) is np.memmap, isinstance(m, np.ndarray), type(m[0]), type(m[1:]), type(m * 2.0)),
    "power": lambda m: m ** 2,
    "attributes": lambda m: (m.mode, m.offset, m.flags.writeable),
    "element": lambda m: m[-1],
    "two steps": lambda m: m[1:][::2],
    "plain": lambda m: m * 2.0 + 1.0,
    "text": lambda m: str(m[1:3]),
    "contains": lambda m: 3.0 in m,
    "out of range": lambda m: m[70],
    "clip": lambda m: np.clip(m, 0.0, 1.0),
    "where": lambda m: np.where(m > 0.0, m, 0.0),
    "concatenate": lambda m: np.concatenate([m, m[1:]]),
    "sorted": lambda m: np.sort(m),
    "unpacked": lambda m: list(m[:3]),
    "conditional": lambda m: (m[1:] if m[0] > 0.0 else m[2:]) + 1.0,
    "call": lambda m: (lambda x: x[1:] * 2.0)(m) + 1.0,
}


@pytest.mark.parametrize("name", RESULTS)
def test_results_are_those_of_numpy(mapped, name):
    function = RESULTS[name]

    def with_a_kernel(m):
        s = 0.0
        for i in range(len(m)):
            s += m[i]
        return s, function(m)

    same_as_plain(function, mapped)
    same_as_plain(with_a_kernel, mapped, calls=6)


def test_views_in_variables(mapped):
    def halves(m):
        y = m[1:]
        z = m * 2.0
        s = 0.0
        for i in range(len(y)):
            s += y[i] * y[i]
        y[0] = s
        return y, z
    assert runs_kernels(same_as_plain(halves, lambda: mapped((2000,)), calls=6))


@pytest.mark.parametrize("order", "CF")
def test_two_dimensions(mapped, order):
    def rows(m):
        s = 0.0
        for i in range(m.shape[0]):
            for j in range(m.shape[1]):
                m[i, j] = m[i, j] * 0.5 + i
                s += m[i][j]
        m[:, 0] = m[:, 1] + m[:, 2]
        m[0] += 1.0
        return s, m.sum(axis=0) + 1.0, (m.T + 1.0).sum(), m.sum()
    assert runs_kernels(same_as_plain(rows, lambda: mapped((4, 5), order=order)))


def test_read_only(mapped):
    def write(m):
        s = m[0] + m[1]
        m[0] = s
        return s
    same_as_plain(write, lambda: mapped(mode="r"))
    assert runs_kernels(same_as_plain(total, lambda: mapped(mode="r")))
    assert runs_kernels(same_as_plain(scaled_in_place, lambda: mapped(mode="c"), lambda: 3.0))


def test_memory_without_a_file(mapped):
    for function in (total, stencil, sums):
        same_as_plain(function, lambda: np.arange(9.0).view(np.memmap))
        same_as_plain(function, lambda: mapped().copy())


def test_other_subclasses_are_not_memmaps(mapped):
    class Mine(np.memmap):
        def __getitem__(self, index):
            return 5.0
    same_as_plain(total, lambda: np.arange(9.0).view(Mine))
    same_as_plain(total, lambda: np.matrix([[1.0, 2.0]]))


def test_memmaps_and_arrays_take_turns(mapped):
    jitted = pijit.jit(total, jit_config=mode_config({"perf_statistics": False}))
    for _ in range(4):
        for argument in (mapped(), np.array(mapped()), np.arange(9.0).view(np.recarray), mapped(dtype="f")):
            assert repr(jitted(argument)) == repr(total(argument))


def test_aliased_memory(mapped):
    def shift(m, y):
        for i in range(len(m) - 1):
            m[i + 1] = y[i] + 1.0
        return m[-1]
    jitted = pijit.jit(shift, jit_config=mode_config({"perf_statistics": False}))
    for others in (lambda m: m, lambda m: np.asarray(m), lambda m: m[:-1], lambda m: mapped(seed=5)) * 3:
        one, other = mapped(), mapped()
        assert shift(one, others(one)) == jitted(other, others(other))
        assert one.tobytes() == other.tobytes()


def test_memmaps_in_objects_and_globals(mapped):
    class Holder:
        pass
    holder = Holder()
    names = {"np": np}
    exec("def read():\n    s = 0.0\n    for i in range(len(data)):\n        s += data[i]\n    return s", names)
    jitted = pijit.jit(names["read"], jit_config=mode_config())

    def of_holder(one):
        s = 0.0
        for i in range(len(one.data)):
            s += one.data[i]
        return s
    of_holder_jitted = pijit.jit(of_holder, jit_config=mode_config())
    for _ in range(4):
        names["data"] = holder.data = mapped()
        assert jitted() == names["read"]() == of_holder(holder) == of_holder_jitted(holder)


def test_a_replaced_method_is_called(mapped, monkeypatch):
    jitted = pijit.jit(total, jit_config=mode_config({"perf_statistics": False}))
    m = mapped()
    assert jitted(m) == jitted(m) == total(m)
    original = np.memmap.__getitem__
    monkeypatch.setattr(np.memmap, "__getitem__", lambda self, index: original(self, index) + 1.0)
    assert jitted(m) == total(m) == jitted(m)
    monkeypatch.undo()
    assert jitted(m) == total(m)


def whole_arrays(m):
    s = 0.0
    for v in m:
        s = s * 0.5 + v
    m[0] = s
    m *= 2.0
    return s, len(m), m.size, m.T.sum(), (m[1:] * 2.0).sum(), m.sum(), (-m).max(), np.sqrt(np.abs(m)).sum()


def changed(name):
    """Another attribute for the class."""
    if name in ("size", "T"):
        return property(lambda self: np.ones(3))
    if name == "__array_priority__":
        return -300.0
    if name == "__setitem__":
        return lambda self, index, value: np.ndarray.__setitem__(self, index, 5.0)
    if name == "__iter__":
        return lambda self: iter([1.0, 2.0])
    original = getattr(np.memmap, name)

    def counting(self, *arguments, **keywords):
        CALLS.append(name)
        return original(self, *arguments, **keywords)
    return counting


CALLS = []


@pytest.mark.parametrize("name", [
    "__array_finalize__", "__array_priority__", "__array_wrap__", "__getitem__", "__imul__", "__iter__", "__len__",
    "__mul__", "__neg__", "__setitem__", "sum", "size", "T"])
@pytest.mark.parametrize("when", ["before", "after"])
def test_changes_of_the_class(mapped, monkeypatch, name, when):
    jitted = pijit.jit(whole_arrays, jit_config=mode_config({"perf_statistics": False}))
    for _ in range(3 * (when == "after")):
        jitted(mapped())
    monkeypatch.setattr(np.memmap, name, changed(name), raising=False)
    for _ in range(3):
        found = []
        for function in (whole_arrays, jitted):
            array = mapped()
            del CALLS[:]
            found.append((repr(function(array)), list(CALLS), array.tobytes()))
        assert found[0] == found[1]


def test_no_output(mapped):
    def f(m):
        doubled, halved = np.multiply(m, 2.0, out=None), np.multiply(m, 0.5, None)
        return doubled is None, halved is None, m.sum()

    same_as_plain(f, mapped)
    jitted = same_as_plain(lambda m: (np.multiply(m, 2.0, out=None) + 1.0).sum(), mapped)
    assert runs_kernels(jitted)


@pytest.mark.filterwarnings("ignore")
def test_operators_that_raise_flags_keep_the_object(mapped):
    def f(m, y):
        m /= 0.0
        y[1:] /= 0.0
        y -= m
        return m, y

    for seed in (1, 2):
        assert runs_kernels(same_as_plain(f, mapped, lambda: mapped(seed=seed)))


def test_arrays_that_are_keywords(mapped):
    jitted = same_as_plain(lambda m: (np.sum(a=m, axis=0), np.dot(a=m, b=m.T)), lambda: mapped((3, 4)))
    assert not jitted.state.failures


def test_the_file_is_written(mapped):
    jitted = pijit.jit(scaled_in_place, jit_config=mode_config())
    m = mapped()
    for _ in range(3):
        jitted(m, 2.0)
    m.flush()
    assert np.array_equal(np.fromfile(m.filename), m)


def test_nothing_is_kept_alive(mapped):
    jitted = pijit.jit(stencil, jit_config=mode_config())
    m = mapped((30,))
    for _ in range(4):
        jitted(m)
    before = sys.getrefcount(m), sys.getrefcount(m._mmap)
    for _ in range(50):
        jitted(m)
    gc.collect()
    assert (sys.getrefcount(m), sys.getrefcount(m._mmap)) == before
