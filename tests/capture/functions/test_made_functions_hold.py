"""What functions and partials that captured code makes hold: objects, lists, arrays and functions that change afterwards."""

from functools import partial

import numpy as np
import pytest

from tests.capture.containers.effects_common import CUT
from tests.harness import check, fail_unless_captured, same_answers

X = np.linspace(0.5, 3.0, 6)
PYTHON = {"backend": "python"}
kept = []


class Spring:
    def __init__(self, k):
        self.k = k

    def force(self, x):
        return -self.k * x


def of(p):
    def f(v):
        return p.k * v
    return f


def total_of(xs):
    return lambda v: v * sum(xs)


def first_of(xs):
    def f(v):
        return xs[0] * v
    return f


def an_object(x, a):
    p = Spring(a)
    f = of(p)
    y = f(x)
    p.k = p.k + 3.0
    g = partial(Spring.force, p)
    y = y + f(x) + g(x)
    p.k = 0.5
    return y + f(x) - g(x), p.k


def an_object_that_leaves(x, a):
    p = Spring(a)
    f = of(p)
    y = f(x)
    if x[0] < 1.0:
        print(p.k)
        p.k = 7.0
    y = y + f(x)
    return y, p.__dict__, f(1.0)


def a_list(x, a):
    xs = [a, 1.0]
    f, g = total_of(xs), first_of(xs)
    y = f(x) + g(x)
    xs.append(2.0)
    xs[0] = 5.0
    return y + f(x) * g(x), xs


def a_default_that_collects(x, a):
    def f(v, seen=[]):
        seen.append(v)
        return len(seen) * v
    return f(x) + f(x) + f(a), f.__defaults__[0]


def an_array_in_place(x, a):
    y = x * a
    f = first_of(y)
    one = f(x)
    y += 1.0
    return one + f(x), y


def of_two_kinds(x, a):
    f = of(Spring(a)) if a > 2.5 else of(Spring(int(a)))
    g = (lambda v: v * a) if a > 2.5 else first_of([a, x])
    return f(x) + g(x)


def by_others(x, a):
    k = a

    def set_k(v):
        nonlocal k
        k = v

    def get_k():
        return k
    kept.append(get_k)
    y = x * get_k()
    set_k(a + 1.0)
    y = y + x * get_k() * kept[-1]()
    k = 0.25
    return y * kept.pop()(), get_k()


def functions_in_functions(x, a):
    def twice(f):
        return lambda v: f(f(v))

    def plus(k):
        return lambda v: v + k
    g = twice(twice(plus(a)))
    h = partial(twice(partial(np.multiply, a)))
    return g(x) + h(x)


def raising(x, a):
    f = first_of([])
    y = x * a + 1.0
    try:
        return f(y)
    except IndexError as error:
        return str(error), y


def raising_later(x, a):
    fs = [first_of([a]), first_of([x, "b"]), first_of("c" if a > 2.5 else [2.0])]
    total = 0.0
    for f in fs:
        total = total + f(x)
    return total


def no_argument(x, a):
    f = first_of(x)
    y = x * a + 1.0
    return f() if a > 2.5 else f(y, k=1)


def generators(x, a):
    def up_to(n):
        for i in range(n):
            yield i * a
    g = up_to(3)
    return x * sum(up_to(4)) + next(g), [v for v in g]


def scaled_both_ways(k):
    def up(v):
        return v * k

    def down(v):
        return v / k
    return up, down


def scaled_n_times(k, n):
    fs = []
    for _ in range(n):
        fs.append(lambda v: v * k)
    return fs + [lambda v, _=_: v + k for _ in range(n)]


def one_variable_for_several(x, a):
    up, down = scaled_both_ways(a)
    fs = scaled_n_times(a, 2)
    before = up(x) + down(x) + sum(f(x) for f in fs)
    up.__closure__[0].cell_contents = a + 1.0
    fs[0].__closure__[0].cell_contents = a - 1.0
    shared = [up.__closure__[0] is down.__closure__[0], [f.__closure__[0] is fs[0].__closure__[0] for f in fs]]
    return before, up(x), down(x), [f(x) for f in fs], shared


OTHERS = [(X * 3, 4.0), (X, 3), (X.astype(int), 2.0), (X[:2], 2), (list(X), 2.0), (X, "a")]
CASES = [(f, (X, 2.0), OTHERS) for f in (
    an_object, an_object_that_leaves, a_list, a_default_that_collects, an_array_in_place, of_two_kinds, by_others,
    functions_in_functions, raising, raising_later, no_argument, generators,
    one_variable_for_several)]

test_same_answers = same_answers(CASES, PYTHON)


def test_what_is_held_where_kernels_leave(leaves_often):
    for f, args, _ in CASES:
        check(f, *args, config=PYTHON)
    assert leaves_often


@pytest.mark.skipif(CUT, reason="every instruction is a segment")
@pytest.mark.parametrize("f", [an_object, a_list], ids=lambda f: f.__name__)
def test_in_machine_code(f):
    with fail_unless_captured():
        check(f, X, 2.0, others=OTHERS[:2])
