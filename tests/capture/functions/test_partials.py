"""``functools.partial`` and ``functools.wraps`` in captured code: made, called, handed on, leaving."""

import functools
from functools import partial

import numpy as np

import pijit
from tests.capture.containers.effects_common import CUT, launches
from tests.harness import check, fail_unless_captured, nothing_breaks, same_answers

X = np.linspace(0.5, 3.0, 6)
PYTHON = {"backend": "python"}


def scale(x, a, b=0.0, *, c=1.0):
    return x * a + b * c


def told(p):
    """All that a partial shows but its identity."""
    return p.func, p.args, p.keywords, type(p)


def apply_twice(f, x):
    return f(f(x))


def scaled(k):
    def decorate(fn):
        @functools.wraps(fn)
        def wrapper(*args, **kwargs):
            """Of the wrapper."""
            return fn(*args, **kwargs) * k
        return wrapper
    return decorate


def by_keyword(x, a):
    f = partial(scale, a=a)
    return f(x) + 1.0 + f(x * 2.0, b=3.0)


def by_position(x, a):
    f = functools.partial(scale, x)
    return f(a) - f(3.0, b=1.0, c=a) * 2.0


def in_a_loop(x, a):
    total = 0.0
    for i in range(len(x)):
        f = partial(scale, a=a * i, c=2.0)
        total += f(x[i])
    return total


def of_others(x, a):
    power = partial(np.power, x)
    add = partial(lambda u, v: u * v + 1.0, a)
    more = partial(partial(scale, x, b=1.0), a, b=2.0)
    return power(2.0) + add(x) - more(c=a) + apply_twice(partial(scale, a=0.5), x)


def wrapped(x, a):
    @scaled(a)
    def f(v, w=1.0):
        """Of the function."""
        return v + w
    return f(x) + f(x, w=2.0)


def leaving(x, a):
    f = partial(scale, x, b=a)
    g = f
    y = f(a) + f(2.0)
    print(told(f)[3].__name__, f.args[0] is x, f.keywords, f is g)
    f.keywords["b"] = 7.0
    y = y + f(a)
    f.keywords["c"] = x
    return y + g(a), told(f)[1:], told(partial(np.add, x))[1:]


def leaving_wrapped(x, a):
    @scaled(a)
    def f(v, w=1.0):
        """Of the function."""
        return v + w
    y = f(x) * 2.0 + 1.0
    print(f.__name__, f.__doc__, f.__qualname__, f.__wrapped__(1.0), f.__dict__.keys())
    return y + f(x), f(1.0)


def wrong_arguments(x, a):
    f = partial(scale, x)
    y = f(a) + 1.0
    return f(y, x=a) if a > 2.5 else f(x, y, b=1.0)


def of_no_function(x, a):
    y = x * a + 1.0
    f = partial(y, 1.0) if a > 2.5 else partial()
    return f(y)


OTHERS = [(X * 3, 4.0), (X, 3), (X.astype(int), 2.0), (X[:2], 2), (X, "a")]
WHOLE = [(f, (X, 2.0), OTHERS) for f in (by_keyword, by_position, in_a_loop, of_others, wrapped)]
CASES = WHOLE + [(f, (X, 2.0), OTHERS) for f in (leaving, leaving_wrapped, wrong_arguments, of_no_function)]

test_same_answers = same_answers(CASES, PYTHON)
test_nothing_breaks = nothing_breaks(WHOLE)


def test_in_machine_code():
    with fail_unless_captured():
        j = check(in_a_loop, X, 2.0, others=OTHERS[:3])
        check(leaving_wrapped, X, 2.0)
    assert CUT or launches(j, X, 2.0) == 1, str(pijit.explain(j, X, 2.0))


def test_functions_are_made_where_kernels_leave(leaves_often):
    for f in (by_keyword, in_a_loop, of_others, wrapped):
        check(f, X, 2.0, config=PYTHON)
    assert leaves_often
