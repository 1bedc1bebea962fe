"""Long straight code over arrays: what its passes look at, and what its kernel is made of, grow no faster than it does."""

import linecache

import numpy as np
import pytest

from pijit.core.graph.passes import fusion, hoist_exits, recorded, rematerialize
from pijit.core.kernel.llvm import threads as parallel
from tests.harness import check, fail_unless_captured, jitted

X, Y, Z = np.linspace(0.5, 2.0, 40), np.linspace(-1.0, 1.0, 40), np.array([0.25])
ONE_KERNEL = {"force_breaks": None, "cache": False}


def made(lines, result):
    """A function of three arrays with these statements; the first one may read `a`."""
    text = "\n".join(["def f(b, c, d):", "    a = b"] + ["    " + line for line in lines] + ["    return " + result, ""])
    filename = "<straight %d %d>" % (len(text), hash(text))
    linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)
    namespace = {"np": np}
    exec(compile(text, filename, "exec"), namespace)
    return namespace["f"]


def chain(count):
    return made(["a = a * c + d"] * count, "a")


def kept(count):
    """All results are there until the end."""
    return made(["a%d = %s * c + d" % (k, "a%d" % (k - 1) if k else "a") for k in range(count)],
                "a%d - %s" % (count - 1, " - ".join("a%d" % k for k in range(count - 1))))


def returned(count):
    return made(["a%d = %s * c + d" % (k, "a%d" % (k - 1) if k else "a") for k in range(count)],
                ", ".join("a%d" % k for k in range(count)))


def counted(monkeypatch, module, name):
    """A list that grows by an element with each call of a function, by what a module or another function names it."""
    namespace = getattr(module, "__globals__", None) or vars(module)
    calls, function = [], namespace[name]

    def call(*args):
        calls.append(name)
        return function(*args)

    monkeypatch.setitem(namespace, name, call)
    return calls


@pytest.mark.parametrize("f", [chain, kept, returned])
def test_groups_are_found_as_often_for_long_code(f, monkeypatch):
    found = [counted(monkeypatch, module, "find_groups") for module in (rematerialize, hoist_exits)]
    jitted(f(40), dict(ONE_KERNEL, backend="python"))(X, Y, Z)
    assert all(len(calls) <= 1 for calls in found)


@pytest.mark.parametrize("f", [chain, kept])
def test_what_finding_groups_looks_at(f, monkeypatch):
    def looks(count):
        with monkeypatch.context() as patched:
            calls = counted(patched, fusion, "operands")
            jitted(f(count), dict(ONE_KERNEL, backend="python"))(X, Y, Z)
            return len(calls)

    assert looks(15) > 0
    assert looks(60) < 6 * looks(15)


def twice_made(x, y, z):
    """Two arrays are made anew, one between them is needed by too many."""
    d = x - 0.25
    first = d / (d * d).sum(axis=1).sum()
    e = x - y
    second, third = (e * e).sum(axis=1), (e * 3.0).sum(axis=1)
    g = x * 0.75
    fourth = g + (g * g).sum(axis=1).sum()
    return first, e + second.sum() + third.sum(), fourth


@pytest.mark.parametrize("backend", ["python", "numba"])
def test_several_arrays_are_made_anew(backend, monkeypatch):
    found = counted(monkeypatch, rematerialize, "find_groups")
    x, y, z = np.linspace(-2.0, 3.0, 24).reshape(8, 3), np.array([0.5, -1.0, 2.0]), Z
    with recorded() as stages:
        jitted(twice_made, dict(ONE_KERNEL, backend=backend))(x, y, z)
    text = max((texts[-1].text for texts in stages.values()), key=len)
    assert text.count("ufunc=subtract") == 2 + 1 and len(found) == 1 + 2
    check(twice_made, x, y, z, others=[(x * 1e200, y, z), (x[:0], y, z)], config={"backend": backend})


def nests_written(monkeypatch, f, *args, **options):
    with monkeypatch.context() as patched:
        calls = counted(patched, parallel, "_nest")
        j = jitted(f, dict(ONE_KERNEL, backend="numba", **options))
        j(*args)
        assert not j.state.failures
        return len(calls)


def test_nests_that_are_the_same_are_written_once(monkeypatch):
    assert nests_written(monkeypatch, returned(24), X, Y, Z) == nests_written(monkeypatch, returned(8), X, Y, Z) == 2
    assert nests_written(monkeypatch, returned(6), X, Y, Z, parallel=True) < 4


def test_nests_with_other_operations_or_constants_are_others(monkeypatch):
    other = made(["e = a * a - 0.5", "g = c * c + 0.5", "h = d * d - 0.5", "i = a - a * 0.5"], "e, g, h, i")
    assert nests_written(monkeypatch, other, X, X, X) == 3
    parts = made(["b[1:-1] = c[1:-1] * 0.5 + c[2:]", "b[1:-1] = c[1:-1] * 0.5 + c[:-2]"], "b")
    want = parts(X.copy(), Y, Z)
    np.testing.assert_array_equal(jitted(parts, dict(ONE_KERNEL, backend="numba"))(X.copy(), Y, Z), want)


@pytest.mark.parametrize("f", [chain(9), kept(9), returned(9)])
@pytest.mark.parametrize("parallel", ["auto", True])
@pytest.mark.filterwarnings("always::RuntimeWarning")
def test_same_answers(f, parallel):
    large = np.linspace(0.1, 0.9, 30000)
    others = [(X, Y, X), (X[:1], Y, X[:1]), (Z, Z, Z), (X[:0], Z, Z), (X[::2], Y[1::2], X[:20]), (X, Y[:3], Z),
              (X * 1e300, Y, X * 1e300), (large, large[::-1], Z), (X.reshape(5, 8), Y[:8], Z),
              (np.full(40, np.nan), Y, X)]
    with fail_unless_captured():
        check(f, X, Y, Z, others=others, config={"parallel": parallel})
