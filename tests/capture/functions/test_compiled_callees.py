"""Functions that jitted code calls and that are not inlined: each is compiled on its own, for these calls alone."""

import gc
import threading
import weakref

import numpy as np
import pytest

import pijit
from pijit.core import _hook
from pijit.differential import plain_twin
from tests.capture.scalars.test_scalars import define
from tests.harness import check, jitted, kernel_count, same

X = np.linspace(-1.0, 2.0, 20)
INNER = """
def inner(x):
    y = x * 2.0 + 1.0
    print("inner")
    return y * y

"""


installed = getattr(_hook, "installed", lambda: False)


def callees_of(j):
    """The states of the functions that a jitted function has compiled on their own, by name."""
    return {state.py_func.__name__: state for state in j.state.callees.values()}


def kernels_run(state):
    """How often kernels of a state's entries were called."""
    return sum(launcher.calls - launcher.misses for entry in state.entries for launcher in entry.launchers)


def smoothed(x, y, i):
    z = x * 2.0 + y
    if i % 100 == 0:
        print("at", i)
    s = 0.0
    for k in range(len(z)):
        s += z[k] * z[k]
    return z / (1.0 + s)


def stepping(x, n):
    y = x * 0.0
    for i in range(n):
        w = y * 0.5 + x - 1.0
        y = smoothed(w, y, i)
    return y


def test_a_helper_that_prints_now_and_then_and_its_caller_both_run_kernels():
    j = check(stepping, X, 150, others=[(X.astype("f"), 3), (np.arange(5), 2)])
    helper = callees_of(j)["smoothed"]
    assert kernels_run(j.state) > 150 and kernels_run(helper) > 300
    assert helper.cache.misses <= 5 and helper.cache.hits > 500
    assert not installed()


def guarded(x, i):
    try:
        y = x * 2.0 - 1.0
        v = (y * y)[i]
    except IndexError:
        v = -1.0
    with threading.Lock():
        z = x * v + 1.0
        w = z * z - x
    return w


def calls_guarded(x, n):
    s = 0.0
    for i in range(n):
        y = x[i % 20] * 3.0 + i
        s += guarded(x, i)[0] * y
    return s * 2.0


@pytest.mark.usefixtures("little_work")
def test_a_callee_with_try_and_with_and_its_caller_both_run_kernels():
    j = check(calls_guarded, X, 25, others=[(X.astype("f"), 25), (X, 3)])
    assert kernels_run(j.state) > 50 and kernels_run(callees_of(j)["guarded"]) > 50
    found = jitted(calls_guarded, {"force_breaks": None}).explain(X, 25).breaks
    assert any("instead: compiled on its own" in one.message and "guarded" in one.message for one in found)


def test_explain_names_the_callee():
    j = jitted(stepping, {"force_breaks": None})
    first = j.explain(X, 3)
    (found,) = [one for one in first.breaks if one.reason_id == "PJ230"]
    assert "instead: compiled on its own" in found.message and "smoothed" in found.message
    assert [one.name for one in first.callees] == ["smoothed"] and not first.callees[0].kernels
    j(X, 3), j(X, 3)
    (callee,) = j.explain().callees
    assert callee.kernels and [one.reason_id for one in callee.breaks] == ["PJ201"] and callee.source
    assert "callees compiled on their own:\n  smoothed (" in str(j.explain())


def test_calls_from_elsewhere_run_the_original():
    code = smoothed.__code__
    j = jitted(stepping)
    j(X, 3), j(X, 3)
    helper, frames = callees_of(j)["smoothed"], _hook.stats().get("frames")
    asked = helper.cache.hits + helper.cache.misses
    for _ in range(3):
        same(smoothed(X, X, 1), plain_twin(smoothed)(X, X, 1))
        list(map(lambda i: smoothed(X, X, i), range(1, 3)))
    assert helper.cache.hits + helper.cache.misses == asked and _hook.stats().get("frames") == frames
    assert smoothed.__code__ is code and not _hook.marked(code)


def test_a_function_that_c_code_calls_is_not_taken():
    f = define(INNER + """def f(x):
    y = x * 3.0 - 1.0
    return inner(next(map(inner, [y]))) + y
""")
    j = jitted(f)
    for _ in range(3):
        same(j(X), f(X))
    inner = callees_of(j)["inner"]
    assert inner.cache.hits + inner.cache.misses == 3


def test_clearing_the_cache_drops_what_callees_have():
    j = jitted(plain_twin(stepping))
    j(X, 3), j(X, 3)
    helper = weakref.ref(callees_of(j)["smoothed"])
    assert helper().entries
    j.cache_clear()
    gc.collect()
    assert helper() is None and not j.state.callees
    same(j(X, 3), stepping(X, 3))
    assert kernels_run(callees_of(j)["smoothed"]) > 0


def test_nothing_keeps_caller_and_callee():
    f = define("""
def inner(x, n):
    y = x * 2.0 + 1.0
    print(n)
    return y if n == 0 else f(y, n - 1)

def f(x, n):
    z = inner(x * 0.5, n)
    return z * z
""")
    j = jitted(f)
    for _ in range(3):
        j(X, 3)
    dead = [weakref.ref(j.state), weakref.ref(f.__globals__["inner"]), weakref.ref(f.__globals__["inner"].__code__)]
    assert callees_of(j)["inner"].entries
    f.__globals__.clear()
    del f, j
    gc.collect()
    assert [one() for one in dead] == [None] * 3


def test_disabled_functions_and_modules_that_are_not_allowed_stay_plain():
    f = define(INNER + """def f(x):
    y = x * 3.0 - 1.0
    return inner(y)
""", __name__="here.there")
    j = jitted(f, {"allowed_inline_modules": ["elsewhere"]})
    j(X), j(X)
    assert not j.state.callees and "instead" not in str(j.explain())
    j = jitted(f, {"allowed_inline_modules": ["here"]})
    j(X), j(X)
    inner = callees_of(j)["inner"]
    asked = inner.cache.hits + inner.cache.misses
    assert asked == 2
    j.enabled = False
    same(j(X), f(X))
    j.enabled = True
    with _hook.disabled():
        same(j(X), f(X))
    assert inner.cache.hits + inner.cache.misses == asked


def test_callees_of_the_standard_library_stay_plain():
    import textwrap

    def f(x):
        y = x * 2.0 + 1.0
        return y * y, textwrap.dedent("  a")
    j = check(f, X)
    assert not j.state.callees


def test_generators_and_builtins_stay_plain():
    f = define("""
def generate(x):
    yield x * 2.0

def f(x):
    y = x * 3.0 - 1.0
    for z in generate(y):
        y = y + z
    return sorted([y[0], y[1]])
""")
    j = check(f, X)
    assert not j.state.callees and not installed()


def raising(x, i):
    y = x * 2.0 + 1.0
    print("raising", i)
    return y[i] + y


def calling(x, i):
    y = x * 3.0 - 1.0
    try:
        z = raising(y, i)
    except IndexError as error:
        return y, str(error), error.__traceback__.tb_next.tb_lineno
    return z * y


def calling_wrongly(x, i):
    y = x * 3.0 - 1.0
    return raising(y) + y if i else raising(y, 2) * y


def test_exceptions_leave_the_callee_with_pythons_own_traceback():
    j = check(calling, X, 2, others=[(X, 99), (X, -1)])
    assert kernels_run(callees_of(j)["raising"]) > 0
    check(calling_wrongly, X, 0, others=[(X, 1)])
    assert not installed()


def test_the_kernels_of_both_are_machine_code():
    j = jitted(plain_twin(calling), {"backend": "numba", "force_breaks": None})
    for _ in range(3):
        same(j(X, 2), calling(X, 2))
    assert kernels_run(j.state) and kernels_run(callees_of(j)["raising"])


def test_a_call_that_starts_no_frame_leaves_nothing_behind():
    f = plain_twin(calling_wrongly)
    j = jitted(f)
    j(X, 0), j(X, 0)
    for _ in range(3):
        with pytest.raises(TypeError, match="missing 1 required positional argument: 'i'"):
            j(X, 1)
        assert not installed()


def fft(x):
    n = len(x)
    if n == 1:
        return x * (1.0 + 0.0j)
    even, odd = fft(x[::2]), fft(x[1::2])
    turned = odd * np.exp(-2.0j * np.pi * np.arange(n // 2) / n)
    return np.concatenate((even + turned, even - turned))


def relaxed(u, f, h):
    for _ in range(3):
        v = u.copy()
        v[1:-1] = 0.5 * (u[:-2] + u[2:] - h * h * f[1:-1])
        u = v
    return u


def multigrid(u, f, h):
    u = relaxed(u, f, h)
    if len(u) <= 3:
        return u
    r = np.zeros_like(u)
    r[1:-1] = f[1:-1] - (u[:-2] - 2.0 * u[1:-1] + u[2:]) / (h * h)
    e = multigrid(np.zeros(len(u) // 2 + 1), r[::2].copy(), 2.0 * h)
    fine = np.zeros_like(u)
    fine[::2] = e
    fine[1::2] = 0.5 * (e[:-1] + e[1:])
    return relaxed(u + fine, f, h)


def solved(n):
    x = np.linspace(0.0, 1.0, n + 1)
    f, u = x * x - x, np.zeros(n + 1)
    for _ in range(3):
        u = multigrid(u, f, 1.0 / n)
    return u


@pytest.mark.usefixtures("little_work")
def test_recursion_runs_kernels_at_each_depth():
    j = check(solved, 64, others=[(256,), (4,)])
    assert kernels_run(callees_of(j)["multigrid"]) > 60
    j = check(lambda x: fft(x * 2.0 - 1.0) + 1.0, np.linspace(-1.0, 1.0, 64), others=[(np.ones(16),)])
    assert kernels_run(callees_of(j)["fft"]) > 30  # each does a few levels


def test_threads():
    j, wanted, got = jitted(plain_twin(stepping)), stepping(X, 30), []

    def run():
        for _ in range(20):
            got.append(j(X, 30))
    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(got) == 80 and not installed()
    for one in got:
        same(one, wanted)


def test_callees_that_gain_nothing_are_left_alone():
    f = define("""
def tell(log, i):
    log.append(("at", i))
    print("at", i)

def pass_on(log, i):
    tell(log, i)
    print("passed")

def f(x, log):
    y = x * 2.0 + 1.0
    for i in range(100):
        pass_on(log, i)
        y = y * 0.5 + x
    return y
""")
    j, log, expected = jitted(f, {"force_breaks": None}), [], []
    for _ in range(4):
        same(j(X, log), f(X, expected))
    assert log == expected and kernel_count(j)
    passed = callees_of(j)["pass_on"]
    (told,) = passed.callees.values()
    assert told.callee.idle and passed.callee.idle and passed.cache.hits < 200


def test_one_call_of_several_functions():
    f = define("""
class Layer:
    def __init__(self, w):
        self.w = w
    def __call__(self, x):
        y = x * self.w + 1.0
        print("layer", self.w)
        return y * y - x

class Other(Layer):
    def __call__(self, x):
        y = x - self.w
        print("other")
        return y * 0.5 + y * y

layers = (Layer(2.0), Other(0.5), Layer(1.5))

def f(x):
    y = x * 3.0 - 1.0
    for layer in layers:
        y = layer(y) + x
    return y
""")
    j = check(f, X)
    names = sorted(state.py_func.__qualname__ for state in j.state.callees.values())
    assert names == ["Layer.__call__", "Other.__call__"]
    assert [bool(kernels_run(state)) for state in j.state.callees.values()] == [True] * 2


def test_check_of_callees_with_other_options_and_of_jitted_ones():
    inner = pijit.jit(plain_twin(raising), jit_config={"backend": "python"})
    f = define("def f(x):\n    y = x * 3.0 - 1.0\n    return inner(y, 2) * y", inner=inner)
    j = jitted(f)
    for _ in range(3):
        same(j(X), f(X))
    assert not j.state.callees and inner.cache_info().hits


class Body:
    """An object that bytecode makes, so that capture knows nothing of its methods."""

    def __init__(self, x):
        self.x = x * 1.5 + np.sin(x)
        self.steps = []

    def __del__(self):
        self.steps = None

    def advance(self, n):
        for i in range(n):
            self.x = self.x * 0.5 + 1.0
            print(i, end="")
            self.steps.append(float(self.x[0]))
        return self.x


def objects(x, n):
    body = Body(x)
    total = 0.0
    for k in range(n):
        total += body.advance(k).sum()
    return total, body.steps, body.x


def test_methods_of_objects_that_bytecode_makes():
    j = check(objects, X, 8, others=[(X.astype("f"), 3)])
    found = callees_of(j)
    assert kernels_run(found["__init__"]) and kernels_run(found["advance"]) > 50
    assert [callee.name for callee in j.explain().callees] == ["Body.__init__", "advance"]


def test_objects_of_many_classes_at_one_call():
    kinds = []
    for k in range(6):
        def method(self, x, k=k):
            y = x * 2.0 + k
            print(k, end="")
            return y - x * 0.5
        kinds.append(type("Kind", (), {"method": method}))
    kinds.append(type("Silent", (), {"method": staticmethod(len)}))

    def mixed(kinds, x):
        return [kind().method(x) for kind in kinds]

    def in_turn(x, which):
        results = []
        for kind in which:
            results.append(kind().method(x))
        return results
    check(in_turn, X, kinds, others=[(X, kinds[::-1])])
    check(mixed, kinds, X)
