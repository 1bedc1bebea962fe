"""Functions that captured code makes as objects: by factories, with defaults, in containers, for other functions."""

import numpy as np
import pytest

import pijit
from tests.capture.containers.effects_common import CUT, launches
from tests.harness import check, fail_unless_captured, nothing_breaks, same_answers

X = np.linspace(0.5, 3.0, 6)
PYTHON = {"backend": "python"}


def told(f):
    """All that a function shows but its identity."""
    cells = [cell.cell_contents for cell in f.__closure__ or ()]
    return (f.__name__, f.__qualname__, f.__module__, f.__doc__, f.__defaults__, f.__kwdefaults__, f.__annotations__,
            f.__code__.co_freevars, cells)


def adder(x):
    def add(y):
        """Adds."""
        return x + y
    return add


def affine(a, b=1.0, *, c=0.5):
    return lambda t: t * a + b * c


def composed(*fs):
    def run(x):
        for f in fs:
            x = f(x)
        return x
    return run


def after(f, g):
    return lambda x: f(g(x))


def apply_twice(f, x):
    return f(f(x))


def tracing(fn):
    def wrapper(*args, **kwargs):
        return fn(*args, **kwargs) * 2.0
    return wrapper


def rk4(f, y, t, dt):
    k1 = f(t, y)
    k2 = f(t + dt / 2, y + dt / 2 * k1)
    k3 = f(t + dt / 2, y + dt / 2 * k2)
    k4 = f(t + dt, y + dt * k3)
    return y + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


def from_a_factory(x, a):
    add = adder(a)
    return add(x) * 2.0 + add(1.0)


def in_a_loop(x, a):
    total = 0.0
    for i in range(len(x)):
        add = adder(a + i)
        total += add(x[i])
    return total


def before_a_loop(x, a):
    g = affine(a, c=2.0)
    total = 0.0
    for v in x:
        total += g(v)
    return total


def at_once(x, a):
    return adder(a)(x) * 2.0 + affine(a)(x)


def with_defaults(x, a):
    total = 0.0
    for i in range(len(x)):
        def f(v, i=i, *, p=a):
            return v * i + p
        total += f(x[i]) + f(1.0, p=2.0) - f(3.0, 2)
    return total


def in_containers(x, a):
    fs = [lambda v: v * a, lambda v: v + a, adder(a)]
    ops = {"sin": np.sin, "square": lambda v: v * v}
    r = x
    for f in fs:
        r = f(r)
    for f, w in zip((np.cos, lambda v: v - a), (1.0, 2.0)):
        r = r + w * f(x)
    return ops["square"](r) + ops["sin"](x)


def in_a_comprehension_over_functions(x, a):
    return np.array([f(x).sum() for f in (np.sin, lambda v: v * a)])


def unpacked(x, a):
    u, v, w = map(np.sqrt, x[:3])
    first, second = (t * a for t in x if t > 2.0)
    return u * v - w + first * second


def handed_on(x, a):
    f = lambda v: v * a + 1.0  # noqa: E731
    y = apply_twice(f, x) + f(x)
    return apply_twice(lambda v: v + a, y) + apply_twice(tracing(f), x)


def compositions(x, a):
    g = composed(np.sin, lambda v: v * a, np.sqrt)
    h = after(lambda v: v * a, adder(1.0))
    return g(abs(x)) + h(x)


def over_each_other(x, a):
    def f(v):
        return v * a

    def g(v):
        return f(v) + f(1.0)
    return g(x) + f(x)


def three_deep(x, a):
    def f(u):
        def g(v):
            def h(w):
                return u * v + w * a
            return h
        return g
    return f(x)(2.0)(3.0) + 1.0


def decorated(x, a):
    @tracing
    def f(v, w=1.0):
        return v * a + w
    return f(x) + f(x, w=a)


def an_ode(x, a):
    def f(t, y):
        return -a * y + t
    y = x
    for i in range(4):
        y = rk4(f, y, i * 0.1, 0.1)
    return y


def counted(x, a):
    total = 0.0

    def add(v):
        nonlocal total
        total += v * a
    for v in x:
        add(v)
    return total


def one_writes_another_reads(x, a):
    n = a

    def count():
        nonlocal n
        n = n + 1.0
        return n

    def both(t):
        return count() + n * t
    g = lambda t: count() + n * t  # noqa: E731
    return g(x) + both(x) * n


def bound_late(x, a):
    k = 1.0
    fs = [lambda v: v * k + a, lambda v: v - k]
    one = fs[0](x)
    k = a
    return one + fs[0](x) + fs[1](x)


def leaving(x, a):
    def f(v: float, k=a, *, p=1.5) -> float:
        """Doubled."""
        return v * k + p + a
    g = f
    y = f(x) + f(x, 2.0) * f(x, p=3.0)
    made = [adder(a), affine(a, c=2.0), lambda v: v + a]
    print(told(f), f is g, [told(one) for one in made])
    return y, made[0](x) + made[1](x) + g(y), made[0] is made[1], told(made[2])


def leaving_in_a_loop(x, a):
    kept, total = [], 0.0
    for i in range(len(x)):
        add = adder(a + i)
        total += add(x[i])
        if x[i] > 2.0:
            kept.append(add)
            print(i, told(add))
        total -= add(1.0)
    return total, [f(1.0) for f in kept]


def changed_outside(x, a):
    add = adder(a)
    y = add(x) * 2.0 + x
    print(len(y))
    y = y + add(x)
    add.__closure__[0].__class__
    other(add, x)
    return y * 2.0 + add(x)


def other(add, x):
    if x.size > 4:
        add.__code__ = (lambda k: lambda y: k * y)(1).__code__


def recursive(x, n):
    def factorial(k):
        return 1 if k < 2 else k * factorial(k - 1)
    return x * factorial(int(n)) + 1.0


def in_a_comprehension(x, a):
    k = a * 2.0
    fs = [lambda v, i=i: v * k + i for i in range(3)]
    k = k + 1.0
    return [f(x) for f in fs], [told(f) for f in fs]


def wrong_arguments(x, a):
    add = adder(a)
    y = add(x) + 1.0
    return add(y, 2.0) if a > 2.5 else add()


def not_bound_yet(x, a):
    def f(v):
        return v * late + a
    y = x * a + 1.0
    if a > 2.5:
        late = 2.0
    return f(y)


def not_bound_in_a_factory(x, a):
    def make(flag):
        def f(v):
            return v * late
        if flag:
            late = 3.0
        return f
    y = x * a + 1.0
    return make(a > 2.5)(y)


def bound_again_in_a_factory(x, a):
    def make(k):
        def f(v):
            return v * k
        one = f(x)
        k = k + 1.0
        return one, f
    one, f = make(a)
    return one + f(x)


def raising_inside(x, a):
    divide = (lambda d: lambda v: v // d)(0 if a > 2.5 else 1)
    total = 0
    for i in range(3):
        total += divide(i + 7)
    return total, x * a


OTHERS = [(X * 3, 4.0), (X, 3), (X.astype(int), 2.0), (X[:2], 2), (list(X), 2.0), (X, "a")]
WHOLE = [(f, (X, 2.0), OTHERS) for f in (
    from_a_factory, in_a_loop, before_a_loop, at_once, with_defaults, in_containers, handed_on, compositions,
    in_a_comprehension_over_functions, unpacked,
    over_each_other, three_deep, decorated, an_ode, counted, bound_late)]
CASES = WHOLE + [(f, (X, 2.0), OTHERS) for f in (
    one_writes_another_reads, leaving, leaving_in_a_loop, changed_outside, recursive, in_a_comprehension,
    wrong_arguments, not_bound_yet, not_bound_in_a_factory, bound_again_in_a_factory, raising_inside)]

test_same_answers = same_answers(CASES, PYTHON)
test_nothing_breaks = nothing_breaks(WHOLE)


@pytest.mark.parametrize("f", [in_a_loop, in_containers, leaving, counted], ids=lambda f: f.__name__)
def test_in_machine_code(f):
    with fail_unless_captured():
        check(f, X, 2.0, others=OTHERS[:3])


def test_functions_that_leave_are_functions_of_the_program():
    @pijit.jit(jit_config={**PYTHON, "perf_statistics": False})
    def f(x, a):
        y = x * a + 1.0
        return adder(y), affine(a), lambda t, k=a: t * k + y.sum()

    for _ in range(3):
        made = f(X, 2.0)
        assert len({id(one) for one in made}) == 3
        assert made[0].__globals__ is globals() and made[0](1.0).shape == X.shape
        assert made[2].__closure__[0].cell_contents is made[0].__closure__[0].cell_contents
        assert made[1](3.0) == 6.5 and made[2](0.0) == (X * 2.0 + 1.0).sum() and made[2].__defaults__ == (2.0,)


def test_functions_are_made_where_kernels_leave(leaves_often):
    for f in (in_a_loop, with_defaults, in_containers, leaving, handed_on, counted):
        check(f, X, 2.0, config=PYTHON)
    assert leaves_often


@pytest.mark.skipif(CUT, reason="every instruction is a segment")
def test_a_loop_over_calls_of_new_functions_is_one_kernel():
    with fail_unless_captured():
        j = check(in_a_loop, X, 2.0, config=PYTHON)
    assert launches(j, X, 2.0) == 1


def defaults_changed(x, a):
    def f(v, *, k=a):
        return v * k
    y = f(x) + f(1.0)
    print(len(y))
    f.__kwdefaults__["k"] = a + 1.0
    return y + f(x)


def test_keyword_defaults_that_change():
    check(defaults_changed, X, 2.0, others=OTHERS, config=PYTHON)
