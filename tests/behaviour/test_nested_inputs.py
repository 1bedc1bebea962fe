"""Containers as arguments: nested, empty, self-containing, and changed by the caller between calls."""

import numpy as np

from tests.behaviour.cases import CUT, Case, X, Y, each, expect, group
from tests.harness import fail_unless_captured, jitted, same


def cycle_of_list(xs, x):
    y = x * xs[1] + 1.0
    return y * xs[0][0][1] - len(xs[0])


def cycle_of_dict(d, x):
    y = x * d["w"] + 1.0
    return y * d["d"]["d"]["w"] - x


def cycle_returned(xs, x):
    xs.append(x * 2.0 + 1.0)
    xs.append(xs)
    return xs[-1][0] * x - 1.0


@group(58)
def test_containers_that_contain_themselves():
    xs, d = [None, Y], {"w": Y}
    xs[0], d["d"] = xs, d
    for f, args in [(cycle_of_list, (xs, X)), (cycle_of_dict, (d, X))]:
        with fail_unless_captured():
            j = jitted(f)
            for _ in range(3):
                same(f(*args), j(*args))
    xs[1], d["w"] = 3.0, X
    j = jitted(cycle_returned)
    for _ in range(3):
        plain, mine = [X], [X]
        same(cycle_returned(plain, X), j(mine, X))
        assert mine[2] is mine and len(mine) == 3
        same(plain[1], mine[1])


def empties(t, xs, d, x):
    y = x * 2.0 + len(t) + len(xs) + len(d)
    if not t and not xs and not d:
        y = y - x
    return y, t, xs, d


def numbers_in(t, xs, d, x):
    return x * t[0] + xs[0] - d["k"], t[0] + xs[0]


@each(
    Case(59, empties, (), [], {}, X, kernels=1,
         others=[((1,), [], {}, X), ((), [None], {}, X), ((), [], {1: 1}, X), ([], (), "", X)]),
    Case(59, numbers_in, (1,), [2], {"k": 3}, X, kernels=1,
         others=[((4,), [5], {"k": 6}, X), ((1.5,), [2.5], {"k": True}, X), ((1,), [Y], {"k": 1 << 70}, X),
                 ((), [], {}, X)]),
)
def test_empty_containers_and_numbers_in_them(case):
    case.run()


def from_list(xs, x):
    return x * xs[0] + xs[1][0] - x


def from_tuple(t, x):
    return x * t[0] + t[1]["k"] - x


def from_dict(d, x):
    return x * d["a"][0] + d["b"] - x


def from_args(*args):
    return args[0] * args[1][0] + args[1][1] - args[0]


def from_kwargs(x, **kw):
    return x * kw["p"][0] + kw["p"][1] - x


@group(61)
def test_changed_contents_are_seen():
    inner = [Y.copy(), X]
    cases = [(from_list, (([2.0, inner]), X), {}, inner), (from_tuple, ((X, {"k": inner[0]}), X), {}, None),
             (from_dict, ({"a": inner, "b": Y}, X), {}, inner), (from_args, (X, inner), {}, inner),
             (from_kwargs, (X,), {"p": inner}, inner)]
    for f, args, kwargs, changed in cases:
        with fail_unless_captured():
            j = jitted(f)
            for value in (Y, X, X * 2.0, 3.0, 4.0, 5, X.astype("f"), Y):
                if changed is not None:
                    changed[0] = value
                inner[1] += 0.0
                for _ in range(2):
                    same(f(*args, **kwargs), j(*args, **kwargs))


@group(61)
def test_changed_contents_of_a_closure_and_a_global_are_seen():
    params = {"w": Y, "layers": [X, (2.0, Y)]}

    def f(x):
        y = x * params["w"] + params["layers"][0]
        return y - params["layers"][1][1] * WEIGHTS[0]
    with fail_unless_captured():
        j = jitted(f)
        for value in (Y, X, 2.0, 3.0, 4, X.astype("f")):
            params["w"] = WEIGHTS[0] = value
            params["layers"][1] = (1, value)
            for _ in range(2):
                same(f(X), j(X))
        params["layers"][0] += 1.0
        same(f(X), j(X))


WEIGHTS = [1.0]


def used_once(a, b, c, unused, x):
    dead = a * b + c
    y = x * a + a
    return y - a * x, b is c


def flips(o, x):
    y = x * o["n"] + 1.0
    return y - o["n"]


def nested_rows(m, xs):
    return [[row * 2.0 + x for row in m] for x in xs], np.array(xs) * m[0][0]


@each(
    Case(61, nested_rows, np.ones((2, 3)), [1.0, 2.0], others=[([X, Y], [X, Y]), ((), ()), (X, [1])]),
    Case(63, used_once, X, Y, Y, None, X, kernels=1,
         others=[(2.0, 1, 2, [], X), (X, Y, X, "s", Y), (X, X[:0], 1, {}, X)], aliased=[(X, X, X, X, X)]),
    Case(63, flips, {"n": 1}, X, kernels=1, others=[({"n": k if k % 3 else X}, X) for k in range(10)]),
)
def test_inputs(case):
    case.run()


@group(63)
def test_an_item_that_flips_between_number_and_array():
    o = {"n": 0}
    j = jitted(flips)
    for k in range(10):
        o["n"] = k if k < 5 else X * k
        same(flips(o, X), j(o, X))
    expect(j, 1, 4)
    assert CUT or len(j.state.entries) >= 2
