"""Functions that call themselves, each other or themselves by way of methods: inlined to a depth, then called."""

import traceback

import numpy as np
import pytest

import pijit
from tests.capture.scalars.test_scalars import define
from tests.harness import fail_unless_captured, jitted, same

X = np.linspace(-1.0, 2.0, 33)
SOURCES = {
    "fib": "@jit\ndef f(n):\n    return n if n < 2 else f(n - 1) + f(n - 2)",
    "sums": "@jit\ndef f(x):\n    return x[0] if len(x) == 1 else f(x[:len(x) // 2]) + f(x[len(x) // 2:])",
    "power": """
@jit
def f(b, n):
    if n == 0:
        return b
    half = f(b, n // 2)
    return half * half if n % 2 else half * b""",
    "mutual": """
@jit
def odd(n, s):
    return s if n == 0 else f(n - 1, s + 1.5)

@jit
def f(n, s):
    return -s if n == 0 else odd(n - 1, s * 2.0)""",
    "method": """
class Chain:
    def __init__(self, step):
        self.step = step

    @jit
    def total(self, n):
        if n <= 0:
            return 0.5
        return self.total(n - self.step) * 2.0 + n

@jit
def f(n, step):
    return Chain(step).total(n)""",
    "keywords": """
@jit
def f(n, *more, by=1, **rest):
    if n <= 0:
        return float(by) + len(more) + rest["a"]
    return f(n - by, n, by=by, **rest) * 0.5 - n""",
    "stores": """
@jit
def f(x, low, high):
    if high - low < 2:
        x[low] = x[low] * 2.0 + high
        return low
    middle = (low + high) // 2
    x[low] += x[middle]
    first = f(x, low, middle)
    x[high - 1] -= first
    return f(x, middle, high) + first""",
    "logs": """
@jit
def f(log, n, a):
    log.append(n)
    if n < 2:
        return a
    a = f(log, n - 1, a * 0.5)
    log.append(-n)
    return f(log, n - 2, a) + 1.0""",
    "raises": """
@jit
def f(x, n, k):
    if n == 0:
        return x[k]
    return (f(x, n - 1, k) +
            f(x, n // 2, k + 1) / (n - 3.5))""",
    "tree": """
class Node:
    def __init__(self, value, left, right):
        self.value, self.left, self.right = value, left, right

def grown(n):
    return Node(n * 0.5, grown(n - 1), grown(n // 2)) if n else None

@jit
def walk(node):
    return 0.0 if node is None else node.value + walk(node.left) * 0.5 + walk(node.right)

def f(n):
    return walk(grown(n))""",
    "none": """
@jit
def f(x, n):
    if n < 0:
        return None
    r = f(x, n - 1)
    return x[n] if r is None else r + x[n]""",
    "quicksort": """
@jit
def sort(a, low, high):
    if low >= high:
        return
    pivot, i = a[high], low
    for j in range(low, high):
        if a[j] < pivot:
            t = a[i]; a[i] = a[j]; a[j] = t
            i += 1
    t = a[i]; a[i] = a[high]; a[high] = t
    sort(a, low, i - 1)
    sort(a, i + 1, high)

def f(a):
    sort(a, 0, len(a) - 1)
    return a""",
}
CASES = [
    ("fib", [(1,), (3,), (9,), (0,), (True,), (7,)]),
    ("sums", [(X,), (X[:3],), (X[:1],), (X.astype("f4"),), (X[::-1],), (np.arange(9),)]),
    ("power", [(1.5, 40), (1.5, 0), (2.0, 5), (np.float32(0.5), 9)]),
    ("mutual", [(7, 1.0), (2, 1.0), (0, 2.0), (12, 0.25)]),
    ("method", [(5, 1), (9, 2), (0, 1), (3, 0.5)]),
    ("logs", [([], 5, 2.0), ([], 1, 2.0), ([], 3, 4.0), (["a"], 6, 1.0)]),
    ("stores", [(X, 0, 9), (X, 3, 4), (X, 0, 33), (X.astype("f4"), 0, 5)]),
    ("keywords", [(5,), (0,), (3,), (2.5,)]),
    ("raises", [(X, 3, 1), (X, 5, 29), (X, 4, 33), (X, 0, 2), (X, 6, 28)]),
    ("none", [(X, 3), (X, 0), (X, -1), (X, 9), (X, 40)]),
    ("tree", [(3,), (0,), (5,), (2,)]),
    ("quicksort", [(X[::-1],), (np.sin(X * 9.0),), (X[:2],), (X[:0],)]),
]
LEAVING = [case for case in CASES if case[0] in ("sums", "mutual", "method", "logs", "stores", "keywords")]
COMPILED = [case for case in CASES if case[0] in ("fib", "sums", "power", "logs", "stores")]


def fresh(argument):
    return argument.copy() if isinstance(argument, (np.ndarray, list)) else argument


def outcome(f, args, kwargs):
    """What a call gives, raises and where, and what is in its arguments then."""
    args = [fresh(one) for one in args]
    try:
        result = f(*args, **kwargs)
    except Exception as error:
        frames = [(one.name, one.lineno) for one in traceback.extract_tb(error.__traceback__)[1:]]
        return [type(error), str(error), frames], args
    return result, args


def compare(name, calls, config):
    """Run calls as plain Python and jitted, each twice."""
    kwargs = {"by": 1, "a": 2.0} if name == "keywords" else {}
    made = []
    plain = define(SOURCES[name], jit=lambda f: f)
    f = define(SOURCES[name], jit=lambda f: made.append(jitted(f, config)) or made[-1])
    for args in [one for one in calls for _ in range(2)] + calls[:1]:
        same(outcome(plain, args, kwargs), outcome(f, args, kwargs))
    return made


def compare_helpers(name, calls, config):
    """The same with functions that are not decorated, called from one that is, which is given back."""
    inner = define(SOURCES[name], jit=lambda f: f)
    parameters = ", ".join("a%d" % number for number in range(len(calls[0])))
    source = "@jit\ndef f(%s):\n    return g(%s)" % (parameters, parameters + ", by=1, a=2.0" * (name == "keywords"))
    plain = define(source, jit=lambda f: f, g=inner)
    f = define(source, jit=lambda f: jitted(f, config), g=inner)
    for args in [one for one in calls for _ in range(2)] + calls[:1]:
        same(outcome(plain, args, {}), outcome(f, args, {}))
    return f


@pytest.mark.parametrize("depth", [0, 1, 2, 3])
@pytest.mark.parametrize("name, calls", CASES, ids=[case[0] for case in CASES])
def test_answers_at_each_depth(name, calls, depth, little_work):
    compare(name, calls, {"backend": "python", "max_inline_depth": depth})


@pytest.mark.parametrize("name, calls", LEAVING, ids=[case[0] for case in LEAVING])
@pytest.mark.parametrize("compared", [compare, compare_helpers])
def test_answers_where_exits_are_taken(name, calls, compared, leaves_often, little_work):
    compared(name, calls, {"backend": "python", "max_inline_depth": 2})
    assert leaves_often


@pytest.mark.parametrize("depth", [0, 2, 3])
@pytest.mark.parametrize("name, calls", CASES, ids=[case[0] for case in CASES])
def test_answers_of_helpers(name, calls, depth, little_work):
    compare_helpers(name, calls, {"backend": "python", "max_inline_depth": depth})


@pytest.mark.parametrize("name, calls", COMPILED, ids=[case[0] for case in COMPILED])
def test_helpers_are_compiled_all_the_way_down(name, calls, little_work):
    f = compare_helpers(name, calls, {"max_inline_depth": 2, "force_breaks": None})
    deep = {"fib": (12,), "sums": (X,), "power": (1.5, 999), "logs": ([], 9, 2.0), "stores": (X, 0, 33)}[name]
    for _ in range(2):
        f(*map(fresh, deep))
    (helper,) = f.state.callees.values()
    before, _ = helper.counts
    f(*map(fresh, deep))
    assert helper.counts[0] > before and any(entry.launchers for entry in helper.entries)
    assert {one.reason_id for one in pijit.explain(f).breaks} == {"PJ232"}


@pytest.mark.parametrize("name, calls", COMPILED, ids=[case[0] for case in COMPILED])
def test_answers_of_kernels(name, calls, little_work):
    with fail_unless_captured():
        compare(name, calls, {"max_inline_depth": 2})


@pytest.mark.parametrize("name", ["fib", "sums", "mutual", "stores"])
def test_what_is_inlined_says_where_it_calls(name, little_work):
    calls = dict(CASES)[name]
    functions = compare(name, calls, {"backend": "python", "force_breaks": None, "max_inline_depth": 2})
    report = pijit.explain(functions[-1])
    assert {one.reason_id for one in report.breaks} == {"PJ232"} and report.kernels
    assert "max_inline_depth is 2" in report.breaks[0].message


def test_much_code_is_not_inlined(monkeypatch):
    options = {"backend": "python", "force_breaks": None}
    sizes = []
    for most in (150, 300, 900):
        monkeypatch.setattr("pijit.core.capture.models.functions.recursion.MAX_RECURSIVE", most)
        (f,) = compare("fib", [(9,)], options)
        report = pijit.explain(f)
        assert "too much code is inlined" in report.breaks[0].message
        sizes.append(sum(segment.inlined for segment in report.segments))
        assert sizes[-1] <= most
    assert sizes == sorted(set(sizes))


def test_many_calls_of_itself_share_the_room():
    source = "@jit\ndef f(n):\n    return n + 0.5 if n < 2 else " + " + ".join("f(n - %d)" % k for k in range(1, 8))
    f = define(source, jit=lambda f: jitted(f, {"backend": "python", "force_breaks": None}))
    plain = define(source, jit=lambda f: f)
    for n in (4, 6, 1, 5):
        same(plain(n), f(n))
    report = pijit.explain(f)
    assert {one.reason_id for one in report.breaks} == {"PJ232"} and report.kernels


def test_loops_behind_a_call_of_itself_stay_out_of_bytecode():
    (f,) = compare("quicksort", [(X[::-1],)], {"backend": "python", "force_breaks": None})
    assert {one.reason_id for one in pijit.explain(f).breaks} == {"PJ230"}


def test_a_function_that_is_bound_anew_in_between(little_work):
    source = "@jit\ndef f(n):\n    return 1.0 if n < 1 else swap(n) + f(n - 1) * 2.0 + f(n - 2)\n"

    def run(jit):
        f = define(source, jit=jit, swap=lambda n: swaps(n))
        namespace, first = f.__globals__, f

        def swaps(n):
            namespace["f"] = (lambda n: 0.25) if n == 3 else first
            return n * 0.5
        return [f(n) for n in (2, 5, 5, 1, 4)]
    same(run(lambda f: f), run(lambda f: jitted(f, {"backend": "python", "max_inline_depth": 2})))
