"""`grad`, `value_and_grad`, `vjp` and their like: arguments, structures, errors."""

import array
import collections
import concurrent.futures
import copy
import ctypes
import decimal
import functools
import heapq
import itertools
import math
import operator
import statistics
import threading
import warnings

import numpy as np
import pytest

import pijit
from pijit import (
    GradientError,
    GradientWarning,
    custom_vjp,
    grad,
    no_grad,
    nondifferentiable,
    stop_gradient,
    value_and_grad,
    vjp,
)
from pijit.core.reasons import REASONS

X = np.array([1.0, 2.0, 3.0])


def scaled(x, factor=2.0):
    return (x * x).sum() * factor


def test_numbers():
    assert grad(lambda x: x * x)(3.0) == 6.0 and type(grad(lambda x: x * x)(3.0)) is float
    assert type(grad(lambda x: x * x)(np.float32(3.0))) is np.float32
    assert grad(lambda z: abs(z) ** 2)(1.0 + 2.0j) == 2.0 + 4.0j
    assert value_and_grad(lambda x: x * x)(3.0) == (9.0, 6.0)


@pytest.mark.parametrize("key", (1, "factor", -1))
def test_arguments_by_position_and_name(key):
    assert grad(scaled, key)(X, 3.0) == 14.0


def test_arguments_by_keyword():
    assert grad(scaled, "factor")(X, factor=3.0) == 14.0
    gradient, other = grad(scaled, (0, "factor"))(X, factor=3.0)
    assert gradient.tolist() == [6.0, 12.0, 18.0] and other == 14.0


@pytest.mark.parametrize("key, error, words", [
    (5, ValueError, "argnums=5"), ("missing", ValueError, "x, factor"), (1.5, TypeError, "position, a name"),
    (True, TypeError, "position, a name"), ((), ValueError, "at least one")])
def test_wrong_argnums(key, error, words):
    with pytest.raises(error, match=words):
        grad(scaled, key)(X)


def test_integers_have_no_gradient():
    with pytest.raises(TypeError, match="'x' must hold floats"):
        grad(scaled)(np.arange(3))
    with pytest.raises(TypeError, match="must be callable"):
        grad(3)


def test_structures():
    Pair = collections.namedtuple("Pair", "w rest")
    given = Pair({"a": X.copy(), "n": 3}, [0.5, (2.0, None)])
    got = grad(lambda p: (p.w["a"] ** 2).sum() * p.w["n"] + p.rest[0] * p.rest[1][0])(given)
    assert type(got) is Pair and got.w["a"].tolist() == [6.0, 12.0, 18.0] and got.w["n"] is None
    assert got.rest == [2.0, (0.5, None)]


def test_containers_are_left_as_they_were():
    numbers = [1.5, 2.5]
    first = numbers[0]
    grad(lambda p: p[0] * p[1])(numbers)
    assert numbers[0] is first

    def replace(p):
        p.append(p[0])
        p[1] = 7.0
        return p[0] * 2.0
    grad(replace)(numbers)
    assert numbers == [1.5, 7.0, 1.5]


def test_objects():
    class Model:
        def __init__(self):
            self.w, self.b, self.name = X.copy(), 1.0, "model"

        def loss(self, x):
            return (self.w * x).sum() + self.b
    model = Model()
    got = grad(lambda m: m.loss(X))(model)
    assert got["w"].tolist() == X.tolist() and got["b"] == 1.0 and got["name"] is None
    assert grad(model.loss)(X).tolist() == model.w.tolist()


def test_auxiliary_results():
    def f(x):
        return (x * x).sum(), {"count": len(x)}
    assert grad(f, has_aux=True)(X)[1] == {"count": 3}
    (value, aux), gradient = value_and_grad(f, has_aux=True)(X)
    assert value == 14.0 and aux == {"count": 3} and gradient.tolist() == [2.0, 4.0, 6.0]
    with pytest.raises(TypeError, match="has_aux"):
        grad(scaled, has_aux=True)(X)


def test_results_that_are_not_one_number():
    with pytest.raises(GradientError, match="PJ504") as caught:
        grad(lambda x: x * 2.0)(X)
    assert caught.value.reason_id == "PJ504"
    with pytest.raises(GradientError, match="PJ504"):
        grad(lambda z: z * z)(1.0 + 2.0j)


def test_nothing_flows():
    with pytest.warns(GradientWarning, match="PJ503") as caught:
        assert grad(lambda x: float(np.floor(x).sum()))(X).tolist() == [0.0, 0.0, 0.0]
        vjp(lambda x: float(np.floor(x).sum()), X)[1](1.0)
    assert [one.filename for one in caught] == [__file__] * 2
    with pytest.raises(GradientError, match="PJ503"):
        grad(lambda x: 1.0, strict=True)(X)


def test_vjp():
    value, pull = vjp(lambda x, y: [x * y, x.sum()], X, X * 2.0)
    assert value[1] == 6.0
    gx, gy = pull([np.ones(3), 10.0])
    assert gx.tolist() == [12.0, 14.0, 16.0] and gy.tolist() == X.tolist()
    with pytest.raises(RuntimeError, match="keep=True"):
        pull([np.ones(3), 10.0])
    value, pull = vjp(np.sin, X, keep=True)
    assert pull(np.ones(3))[0].tolist() == pull(np.ones(3))[0].tolist() == np.cos(X).tolist()
    with pytest.raises(ValueError, match="shape"):
        pull(np.ones(2))


def test_stop_gradient_and_no_grad():
    assert grad(lambda x: x * stop_gradient(x))(3.0) == 3.0
    assert grad(lambda x: (x * stop_gradient({"a": [x]})["a"][0]).sum())(X).tolist() == X.tolist()

    def f(x):
        with no_grad():
            scale = x.sum()
        return (x * scale).sum()
    assert grad(f)(X).tolist() == [6.0, 6.0, 6.0]


def test_nondifferentiable():
    @nondifferentiable
    def size(x):
        return np.fft.fft(x).real.sum() + ctypes.c_double(x[0]).value
    assert grad(lambda x: (x * size(x)).sum())(X).tolist() == [size(X)] * 3


def test_custom_vjp():
    @custom_vjp
    def clipped(x):
        return np.clip(x, 0.0, 1.0)
    with pytest.raises(TypeError, match="defvjp"):
        grad(lambda x: clipped(x).sum())(X)
    clipped.defvjp(lambda x: (np.clip(x, 0.0, 1.0), x), lambda kept, g: (g * 10.0 * kept,))
    assert grad(lambda x: clipped(x).sum())(X).tolist() == [10.0, 20.0, 30.0]
    assert clipped(X).tolist() == [1.0, 1.0, 1.0]


def test_arguments_that_share_memory():
    assert grad(lambda a, b: (a * b).sum())(X, X).tolist() == X.tolist()

    def writes(a, b):
        a[0] = 5.0
        return (a * b).sum()
    x = X.copy()
    with pytest.raises(GradientError, match="PJ505"):
        grad(writes)(x, x)


class TestNeverSilent:
    """What cannot be followed is an error where something would flow through it."""

    def refused(self, f, x=X):
        with pytest.raises(GradientError, match="PJ502") as caught:
            grad(f)(x.copy())
        assert "test_gradient_api.py" in str(caught.value) or "numpy" in str(caught.value)

    def test_unknown_functions(self):
        self.refused(lambda x: np.random.RandomState(0).normal(x[0], 1.0))

    def test_decimals(self):
        self.refused(lambda x: float(decimal.Decimal(float(x[0])) * 2))

    def test_arrays_of_objects(self):
        self.refused(lambda x: np.array([x[0], x[1]], dtype=object).sum())

    def test_vectorize(self):
        self.refused(lambda x: np.vectorize(lambda t: t * t)(x).sum())

    def test_foreign_memory(self):
        self.refused(lambda x: np.frombuffer(memoryview(x)).sum())

    def test_unknown_writers(self):
        def f(x):
            y = x * 2.0
            np.random.RandomState(0).shuffle(y)
            return (y * X).sum()
        self.refused(f)

    def test_unknown_functions_whose_result_does_not_matter(self):
        def f(x):
            str(decimal.Decimal(3))
            np.geterr()
            return (x * x).sum()
        assert grad(f)(X).tolist() == [2.0, 4.0, 6.0]

    def test_stores_by_unknown_code_are_undone(self):
        def f(x):
            y = np.array([1.0, 2.0, 3.0])
            r = (x * y).sum()
            np.random.RandomState(0).shuffle(y)
            return r
        assert grad(f)(X).tolist() == [1.0, 2.0, 3.0]


def test_explain_needs_the_arguments_of_a_call():
    with pytest.raises(TypeError, match="explain: a gradient is explained for one call; pass its arguments as well"):
        pijit.explain(grad(np.sum))


def test_explain_shows_lines_and_cuts():
    def f(x):
        y = x * 2.0
        k = int(y[0])
        return y[k % 3] * y[0]
    text = str(pijit.explain(grad(f), X))
    lines = text.splitlines()
    assert "operations recorded" in lines[0]
    assert any(line.startswith("tape") and "y = x * 2.0" in line for line in lines)
    assert any("derivative is zero here: int" in line for line in lines)


def test_reasons_are_in_the_table():
    assert {"PJ501", "PJ502", "PJ503", "PJ504", "PJ505", "PJ506", "PJ507"} <= set(REASONS)


def test_a_gradient_warns_of_nothing_else():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        grad(lambda x: np.sqrt(x).sum() + (1.0 / (x + 1.0)).sum())(np.array([0.0, 1.0]))


def test_values_that_go_to_other_threads_are_refused():
    def f(x):
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            return sum(pool.map(lambda k: x[k] * 2.0, range(3)))
    with pytest.raises(GradientError, match="PJ502"):
        grad(f)(X)

    def g(x):
        found = []
        thread = threading.Thread(target=lambda: found.append(x.sum()))
        thread.start()
        thread.join()
        return found[0]
    with pytest.raises(GradientError, match="another thread"):
        grad(g)(X)


@pytest.mark.parametrize("f, wanted", [
    (lambda x: list(itertools.accumulate(x))[-1], [1.0, 1.0, 1.0]),
    (lambda x: statistics.fsum(x) if hasattr(statistics, "fsum") else math.fsum(x), [1.0, 1.0, 1.0]),
    (lambda x: sum(map(np.sin, x * 0.0 + x)), np.cos(X).tolist()),
    (lambda x: x.__add__(x).__mul__(x).sum(), (4.0 * X).tolist()),
    (lambda x: functools.reduce(np.multiply, x), [6.0, 3.0, 2.0]),
    (lambda x: heapq.nsmallest(2, x)[1], [0.0, 1.0, 0.0]),
    (lambda x: sorted(x, reverse=True)[0] * dict(enumerate(x))[0], [3.0, 0.0, 1.0]),
    (lambda x: copy.copy(x).sum() + copy.deepcopy([x])[0][0], [2.0, 1.0, 1.0]),
    (lambda x: operator.itemgetter(1)(list(x)), [0.0, 1.0, 0.0]),
    (lambda x: collections.deque(x)[2] * max(x), [0.0, 0.0, 6.0]),
], ids=lambda value: None)
def test_values_in_containers_and_iterators(f, wanted):
    assert np.allclose(grad(f)(X), wanted)


@pytest.mark.parametrize("f", [
    lambda x: float.__mul__(float(x[0]), 2.0), lambda x: next(np.nditer(x)) * 1.0,
    lambda x: array.array("d", list(x))[0], lambda x: math.dist([x[0]], [x[1]]) if hasattr(math, "dist") else array.array("d", x),
    lambda x: np.frompyfunc(lambda a: a * a, 1, 1)(x)[0], lambda x: memoryview(x)[0], lambda x: np.fromfunction(
        lambda i: np.array(list(map(float, x)))[i.astype(int)], (3,)).sum() + float(decimal.Decimal(float(x[0]))),
])
def test_what_is_not_followed_is_refused(f):
    with pytest.raises(GradientError, match="PJ502"):
        grad(f)(X.copy())


def test_numbers_that_leave_as_text_are_constant():
    assert grad(lambda x: float("%r" % float(x[0])) * x[1])(X.copy()).tolist() == [0.0, X[0], 0.0]


def many_steps(x, count):
    for _ in range(count):
        x = np.sin(x)
    return x.sum()


def test_a_tape_keeps_to_its_limit():
    x = np.linspace(0.0, 1.0, 1000)
    bounded = pijit.grad(many_steps, tape_limit=100000)
    assert bounded(x, 5).tobytes() == pijit.grad(many_steps)(x, 5).tobytes()
    with pytest.raises(GradientError, match="PJ506.*limit: 0.1 MiB.*test_gradient_api.py") as caught:
        bounded(x, 100)
    assert caught.value.reason_id == "PJ506"
    with pytest.raises(TypeError, match="tape_limit must be a number of bytes or None; not 1.5"):
        pijit.grad(many_steps, tape_limit=1.5)
    with pytest.raises(ValueError, match="tape_limit must be positive; not 0"):
        pijit.value_and_grad(many_steps, tape_limit=0)


def test_without_a_limit_a_part_of_the_free_memory_counts(monkeypatch):
    from pijit.core.tape import budget

    monkeypatch.setattr(budget, "SMALL", 20000)
    monkeypatch.setattr(budget, "free_memory", lambda: 400000)
    assert pijit.grad(many_steps)(np.ones(1000), 10).shape == (1000,)
    with pytest.raises(GradientError, match="PJ506"):
        pijit.grad(many_steps)(np.ones(1000), 100)


def test_free_memory_is_known(monkeypatch):
    from pijit.core.tape import budget

    known = budget.free_memory()
    monkeypatch.setattr(budget, "MEMINFO", "/nowhere")
    assert 0 < known <= budget.free_memory()


class Scaled:
    """Computes when it is entered and when it is left."""

    def __init__(self, x):
        self.x = x

    def __enter__(self):
        self.y = self.x * 3.0
        return self.y

    def __exit__(self, kind, error, trace):
        self.x *= 2.0
        return kind is ZeroDivisionError


def with_block(x, failing):
    manager = Scaled(x * 1.0)
    with manager as y:
        z = y * y
        if failing:
            1 // 0
    return (z + manager.x).sum()


@pytest.mark.parametrize("failing", [False, True])
def test_context_managers_are_recorded(failing):
    x = np.array([1.0, 2.0])
    value, g = value_and_grad(with_block)(x, failing)
    assert value == with_block(x, failing)
    assert g.tolist() == (18.0 * x + 2.0).tolist()


def test_what_is_no_context_manager_raises_as_it_does():
    class Half:
        def __enter__(self):
            return self

    def f(x):
        with Half():
            return x.sum()
    with pytest.raises((AttributeError, TypeError)) as wanted:
        f(np.ones(2))
    with pytest.raises(type(wanted.value)) as found:
        grad(f)(np.ones(2))
    assert str(found.value) == str(wanted.value)


class Proxy:
    """Stands for an object that is not there yet, as proxies of web frameworks do."""

    def __init__(self, scale):
        self.scale = scale

    @property
    def __class__(self):
        raise RuntimeError("no object behind this proxy")


def test_objects_are_not_asked_for_their_class():
    proxy = Proxy(3.0)

    def f(x):
        table = {"proxy": proxy, "x": x}
        f = pijit.jit(lambda v: v * table["proxy"].scale)
        return f(table["x"]).sum() + len([proxy])
    assert grad(f)(np.ones(2)).tolist() == [3.0, 3.0]
