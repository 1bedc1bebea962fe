"""Gradients by kernels: joint functions have the tape's bits, and calls that they do not serve use the tape."""

import re
import signal
import sys
import warnings

import numpy as np
import pytest

import pijit
from pijit.core import _hook
from pijit.core.pythons import why_not_python
from pijit.gradient_kernels import GradientKernels
from tests.gradients.joint.joint_gradient import Gradient, bits, is_kernel

pytestmark = pytest.mark.skipif(why_not_python() is not None, reason="nothing is compiled here")

R = np.random.RandomState(3)
X, Y = R.uniform(0.2, 1.5, 37), R.uniform(-1.0, 2.0, 37)
A, B, C = R.normal(size=(6, 5)), R.normal(size=(5, 4)), R.normal(size=5)


def chain(x, y):
    a = x * y
    b = np.sqrt(a * a + 1.0)
    c = np.tanh(b) * x
    d = np.exp(-c) / (1.0 + y * y)
    return (d * d).sum()


def rosenbrock(x):
    return (100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()


def squares(w, x, y):
    r = x @ w - y
    return np.mean(r * r)


def logistic(w, b, x, y):
    z = x.dot(w) + b
    return np.mean(np.log1p(np.exp(-y * z))) + 0.5 * np.dot(w, w)


def layers(w, b, v, x):
    h = np.maximum(x @ w + b, 0.0)
    return ((h @ v) ** 2).mean()


def softmax(w, x):
    z = x @ w
    e = np.exp(z - z.max(axis=1, keepdims=True))
    p = e / e.sum(axis=1, keepdims=True)
    return (p * p).sum()


def columns(x):
    s = (x * x).sum(axis=0)
    t = np.sin(x).sum(axis=1)
    return (s * 2.0).sum() + (t * t).sum()


def numbers(a, b):
    return a * b + np.sin(a) - b / a


def mixed(a, x):
    return (a * x + a).sum() * a


def unused_part(x, y):
    return (x[2:-2] * y[2:-2]).sum()


def same_twice(x):
    return (x * x + x).sum() - x[::2].sum()


def transposed(x, y):
    return ((x.T + y) * 2.0).sum()


def logarithms(x):
    return np.log(x).sum() + np.abs(x).sum() + (x ** 3).sum()


def powers(x):
    return (x ** 2).sum() + (x ** 0.5).sum() + (x ** -1).sum() + (x ** 1).sum() + (x ** 3 + x ** -2 + x ** 1.5).sum()


def products(x):
    return np.prod(x[:5]) + x.max() - x.min()


CASES = [
    (chain, (0, 1), (X, Y)), (rosenbrock, 0, (X,)), (squares, 0, (C, A, R.normal(size=6))),
    (logistic, (0, 1), (C, 0.5, A, np.sign(R.normal(size=6)))), (layers, (0, 1, 2), (B, np.ones(4), np.ones(4), A)),
    (softmax, 0, (B, A)), (columns, 0, (A,)), (numbers, (0, 1), (1.25, -2.5)), (mixed, (0, 1), (0.75, X)),
    (unused_part, (0, 1), (X, Y)), (same_twice, 0, (X,)), (transposed, (0, 1), (A, R.normal(size=6))),
    (logarithms, 0, (X,)), (powers, 0, (X * 20.0,)), (products, 0, (X,))]


def as_single(args):
    return tuple(arg.astype("f") if isinstance(arg, np.ndarray) else np.float32(arg) for arg in args)


@pytest.mark.parametrize("f, argnums, args", CASES, ids=lambda one: getattr(one, "__name__", ""))
def test_bits_are_the_tapes(f, argnums, args):
    gradient = Gradient(f, argnums).warm(*args)
    for _ in range(4):
        assert gradient.compare(*args), gradient.why
    gradient.compare(*as_single(args))
    gradient.compare(*as_single(args))


@pytest.mark.parametrize("f, argnums, args", CASES, ids=lambda one: getattr(one, "__name__", ""))
def test_the_joint_function_is_one_kernel(f, argnums, args):
    gradient = Gradient(f, argnums).warm(*args)
    for _ in range(4):
        gradient.f(*args)
    entry, = gradient.f._kernels.entries
    assert is_kernel(entry.function)
    if f not in (products,):  # the rule of np.prod makes arrays of other shapes
        assert type(entry.function.usual) is _hook.KernelFunction


SPECIAL = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e308, 5e-324, 0.5, -2.5]


@pytest.mark.parametrize("f", [chain, logarithms, rosenbrock, same_twice, products, unused_part],
                         ids=lambda f: f.__name__)
def test_special_values(f):
    args = (X, Y)[:f.__code__.co_argcount]
    gradient = Gradient(f, tuple(range(len(args)))).warm(*args)
    gradient.compare(*args)
    random = np.random.RandomState(5)
    for _ in range(12):
        gradient.compare(*[random.choice(SPECIAL, 11) for _ in args])
    for value in SPECIAL:
        gradient.compare(*[np.full(7, value) for _ in args])


def broadcasting(x, y):
    return (x * y + y).sum()


def test_shapes_that_broadcast():
    gradient = Gradient(broadcasting, (0, 1)).warm(A, C)
    shapes = [(6, 5), (1, 5), (6, 1), (1, 1)]
    for _ in range(2):
        for one in shapes:
            for other in shapes:
                gradient.compare(np.full(one, 0.3) + X[:one[1]], np.full(other, -0.7) * X[:other[1]])
    for one in ((5,), (1,), (0,)):
        gradient.compare(np.full(one, 0.3), np.full((6,) + one, 2.0))
    gradient.compare(X, Y)
    assert gradient.compare(X[:9].copy(), Y[:9].copy()), gradient.why


def test_other_layouts_use_the_tape():
    gradient = Gradient(broadcasting, (0, 1)).warm(A, A)
    assert gradient.compare(A, A + 1.0)
    assert not gradient.compare(A.T, A.T)
    assert not gradient.compare(A[::2], A[::2])


def test_warnings_are_those_of_the_program():
    gradient = Gradient(logarithms, 0).warm(X)
    assert gradient.compare(X)
    found = []
    for call in (gradient.tape, gradient.f):
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            call(np.array([0.0, 1.0]))
        found.append([(one.category, str(one.message), one.filename, one.lineno) for one in seen])
    assert found[0] == found[1] and [one[1] for one in found[0]] == ["divide by zero encountered in log"]
    with np.errstate(divide="raise"), pytest.raises(FloatingPointError):
        gradient.f(np.array([0.0, 1.0]))


def test_exceptions_are_those_of_the_program():
    gradient = Gradient(broadcasting, (0, 1)).warm(A, C)
    gradient.compare(A, C)
    texts = []
    for call in (gradient.tape, gradient.f):
        with pytest.raises(ValueError) as caught:
            call(A, X)
        texts.append((str(caught.value), caught.traceback[-1].lineno))
    assert texts[0] == texts[1]


LOG = []


def with_effect(x):
    LOG.append(x.shape)
    return (x * x).sum()


def stores(x):
    x[0] = 2.0
    return (x * x).sum()


@pytest.mark.parametrize("f, text", [(with_effect, "PJ510"), (stores, "a store")],
                         ids=lambda one: getattr(one, "__name__", ""))
def test_other_functions_use_the_tape(f, text):
    gradient = Gradient(f, 0)
    for _ in range(5):
        x = X.copy()
        with np.errstate(all="ignore"):
            wanted, before = gradient.tape(x.copy()), len(LOG)
            assert bits(gradient.f(x)) == bits(wanted)
        assert len(LOG) - before == (f is with_effect)
    assert "PJ510" in gradient.why and text in gradient.why


def test_calls_that_the_tape_must_see():
    gradient = Gradient(chain, 0).warm(X, Y)
    assert gradient.compare(X, Y)
    with pytest.raises(ValueError, match="names no positional argument"):
        gradient.f(x=X, y=Y)
    before = sys.gettrace()
    sys.settrace(lambda frame, event, arg: None)
    try:
        gradient.f(X, Y)
    finally:
        sys.settrace(before)
    assert "traced" in gradient.why
    assert gradient.compare(X, Y)


def weighted(x, y, *, scale=1.0, power=2):
    return ((x * scale - y) ** power).sum()


def test_keywords():
    gradient = Gradient(weighted, 0).warm(X, Y)
    assert gradient.compare(X, Y), gradient.why
    for kwargs in ({"scale": 0.5}, {"scale": 0.5}, {"power": 3}, {"scale": -2.0, "power": 3}):
        found = gradient.f(X, Y, **kwargs)
        assert gradient.why == ""
        wanted = gradient.f._run((X, Y), kwargs)
        assert bits(found) == bits((wanted.value, wanted.gradients[0]))
    with pytest.raises(TypeError, match="wrong"):
        gradient.f(X, Y, wrong=1)
    named = pijit.value_and_grad(weighted, "y")
    for _ in range(4):
        found = named(X, y=Y)
    assert named._kernels.why == "" and bits(found[1]) == bits(named._run((X,), {"y": Y}).gradients[0])


def test_second_derivatives_use_the_tape():
    def slope(x):
        return pijit.grad(rosenbrock)(x).sum()
    again = pijit.grad(slope)
    first = again(X)
    for _ in range(4):
        assert bits(again(X)) == bits(first)


def test_an_argument_without_influence_warns():
    gradient = pijit.grad(lambda x, y: (y * y).sum())
    for _ in range(5):
        with pytest.warns(pijit.GradientWarning, match="PJ503"):
            assert gradient(X, Y).tolist() == [0.0] * len(X)


def test_methods_and_globals():
    class Model:
        def __init__(self):
            self.scale = np.array([2.0, 3.0])

        def loss(self, x):
            return (x * self.scale * FACTOR).sum()
    model = Model()
    gradient = pijit.value_and_grad(lambda x: model.loss(x))
    for _ in range(5):
        value, g = gradient(np.array([1.0, -1.0]))
        assert value == -4.0 and g.tolist() == [8.0, 12.0]
    model.scale = np.array([1.0, 1.0])
    for _ in range(3):
        value, g = gradient(np.array([1.0, -1.0]))
        assert value == 0.0 and g.tolist() == [4.0, 4.0]


@pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="there is no SIGALRM")
def test_exceptions_of_signal_handlers_are_the_programs():
    def handler(number, frame):
        raise TimeoutError("late")

    gradient = Gradient(chain, 0).warm(X, Y)
    assert gradient.compare(X, Y)
    kernels = gradient.f._kernels
    kernels.entries[0] = kernels.entries[0]._replace(function=lambda *inputs: signal.raise_signal(signal.SIGALRM)
                                                     if hasattr(signal, "raise_signal") else handler(0, None))
    before = signal.signal(signal.SIGALRM, handler)
    try:
        with pytest.raises(TimeoutError):
            gradient.f(X, Y)
    finally:
        signal.signal(signal.SIGALRM, before)


def test_a_process_without_jit(monkeypatch):
    monkeypatch.setenv("PIJIT_DISABLE", "1")
    gradient = Gradient(chain, 0).warm(X, Y)
    for _ in range(3):
        assert not gradient.compare(X, Y)
    assert "jit leaves" in gradient.why


FACTOR = 4.0


def test_the_number_of_joint_functions_is_limited():
    kernels = GradientKernels(broadcasting, (0, 1))
    for dtype in ("d", "f") * 2:
        for ndim in range(1, 7):
            args = np.ones((2,) * ndim, dtype), np.ones((2,) * ndim, dtype)
            for _ in range(2):
                kernels.call(args, {})
    assert 0 < len(kernels.entries) <= 8 and "limit" in kernels.why


@pytest.mark.parametrize("seed", range(3))
def test_generated_programs(seed):
    from tests.fuzz.joint_programs import compare

    for kind in ("", "loops", "stencils"):
        found = compare(seed + 200000, kind)
        assert not found.startswith("seed"), found


def test_internal_errors_leave_the_tape_and_are_reported(lenient, monkeypatch):
    def f(x):
        return (x * x).sum()

    calls = []

    def broken(self, *args):
        calls.append(1)
        raise IndexError("a bug")

    monkeypatch.setattr(GradientKernels, "_make_entry", broken)
    gradient = Gradient(f, 0).warm(X)
    for _ in range(8):
        assert not gradient.compare(X) and "internal error" in gradient.why
    assert len(calls) < 8, "it is not tried again and again"


def test_nests_leave_out_tests_of_quotients(tmp_path):
    """A quotient of an adjoint is 0 or NaN where the adjoint is 0: its kernel does not ask whether it is finite."""
    def f(x, y):
        return (np.sqrt(x * x + 1.0) / y).sum()

    x = np.array([0.0, -0.0, 1.0, np.inf, np.nan, 1e200, 5e-324])
    x, y = np.repeat(x, len(x)), np.tile(x, len(x))
    joint = Gradient(f, (0, 1)).warm(np.ones(9), np.ones(9))
    with np.errstate(all="ignore"):
        assert joint.compare(x, y) and joint.compare(x[:5], np.ones(5))
    pijit.dump(joint.f, str(tmp_path), np.ones(9), np.ones(9))
    plans = [one.read_text() for one in tmp_path.rglob("plan_*.txt")]
    left_out = [line for text in plans for line in text.split("\n") if line.startswith("left out of nests")]
    graphs = "".join(one.read_text() for one in tmp_path.rglob("graph_*.txt"))
    conditions = set(re.findall(r"(%\d+): bool\[1d,C\] = ufunc [^\n]*ufunc=bitwise_and", graphs))
    assert conditions and any(conditions & set(line.replace(",", "").split()) for line in left_out)
