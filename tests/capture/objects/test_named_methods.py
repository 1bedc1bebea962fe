"""Methods that a variable holds, and local functions with defaults: bytecode makes them once, and loops that call
them are kernels."""

import gc
import weakref

import numpy as np
import pytest

from tests.harness import check, fail_unless_captured, jitted

X = np.linspace(0.5, 3.0, 12)


class Scale:
    def __init__(self, w=1.5):
        self.w = w
        self.sizes = {"b": 2.0}

    def times(self, v, k=2.0, *, more=1.0):
        return v * self.w * k + more + self.sizes["b"]

    def halved(self, v):
        return v * 0.5 - self.w


class Other(Scale):
    def times(self, v, k=3.0, *, more=0.5):
        return super().times(v, k, more=more) - 1.0


class Own(Scale):
    """An attribute of the instance is found before the class's function."""

    def __init__(self):
        super().__init__()
        self.times = lambda v: v + 1.0


def held(x, p):
    m = p.times
    s = 0.0
    for v in x:
        s += m(v)
    return s


def with_names(x, p):
    m = p.times
    s = 0.0
    for v in x:
        s += m(v, more=0.25) + m(v, 4.0)
    return s, m(2.0), m.__self__ is p


def written_between(x, p):
    m = p.times
    s = 0.0
    for v in x:
        p.w = v
        s += m(v) * p.w
    return s, p.w


def chosen(x, p):
    m = p.times if len(x) > 6 else p.halved
    s = 0.0
    for v in x:
        s += m(v)
    return s


def rebound(x, p, q):
    m = p.times
    s = 0.0
    for v in x:
        s += m(v)
        if v > 2.0:
            m = q.halved
    return s


def of_two(x, p, q):
    one, other = p.times, q.times
    p = q
    s = 0.0
    for v in x:
        s += one(v) - other(v) * p.w
    return s


def raises(x, p):
    m = p.times
    s = 0.0
    for v in x:
        s += m(v) / (v - 1.0)
        if s > 1e9:
            m(v, 1.0, 2.0)
    return m("a")


def default(x):
    h = lambda v, k=2.0: v * k  # noqa: E731
    s = 0.0
    for v in x:
        s += h(v) + h(v, 3.0)
    return s


def defaults(x):
    y = x[0]

    def h(v, k=2.0, *, z=1.5, name="ab"):
        return v * k + z + y + len(name)
    s = 0.0
    for v in x:
        s += h(v) + h(v, 3.0, z=2.0)
    return s


def annotated(x):
    def h(v: float, k: float = 2.0, *, z: "np.ndarray" = 0.5) -> float:
        return v * k - z
    s = 0.0
    for v in x:
        s += h(v)
    return s


def other_defaults(x, k):
    def h(v, k=2.0, *, z=1.0):
        return v * k - z
    if k > 1.0:
        h.__defaults__ = k,
    if k > 2.0:
        h.__kwdefaults__["z"] = 5
    s = 0.0
    for v in x:
        s += h(v)
    return s


METHODS = [
    (held, (X, Scale()), [(X, Other()), (X[:3], Own()), (X, Scale(2)), (X, Scale(X[:1]))]),
    (with_names, (X, Scale()), [(X, Other())]),
    (written_between, (X, Scale()), [(X, Other())]),
    (chosen, (X, Scale()), [(X[:3], Scale()), (X, Other())]),
    (rebound, (X, Scale(), Other()), [(X, Other(), Scale())]),
    (of_two, (X, Scale(), Scale(3.0)), [(X, Scale(), Other())]),
    (raises, (X, Scale()), [(np.append(X, 1.0), Scale())]),
]
FUNCTIONS = [(default, (X,), [(X[:2],)]), (defaults, (X,), [(X[:2],)]), (annotated, (X,), [(X[:2],)]),
             (other_defaults, (X, 0.0), [(X, 1.5), (X, 2.5)])]
CASES = METHODS + FUNCTIONS


@pytest.mark.parametrize("f, args, others", CASES, ids=[case[0].__name__ for case in CASES])
def test_same_answers(f, args, others):
    check(f, *args, others=others)


@pytest.mark.parametrize("f, args, others", CASES, ids=[case[0].__name__ for case in CASES])
def test_in_a_kernel(f, args, others):
    with fail_unless_captured():
        check(f, *args, others=others, config={"backend": "python", "force_breaks": None})


def test_a_method_that_is_replaced():
    class Changing:
        def times(self, v):
            return v * 2.0

    p, g = Changing(), jitted(held)
    for factor in (3.0, 4.0):
        assert g(X, p) == held(X, p)
        Changing.times = lambda self, v, factor=factor: v * factor
        assert g(X, p) == held(X, p)
    p.times = lambda v: v - 1.0
    assert g(X, p) == held(X, p)


def test_the_object_is_not_kept():
    g, p = jitted(held), Scale()
    for _ in range(3):
        g(X, p)
    gone = weakref.ref(p)
    del p
    gc.collect()
    assert gone() is None
