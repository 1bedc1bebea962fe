"""Arguments: how they reach a jitted function, and how it passes them on to others."""

import numpy as np

from tests.behaviour.cases import Case, X, Y, each

PAIR = (X, Y)


def defaults(x, k=2.0, t=(1, 2.5), nothing=None, pair=PAIR):
    y = x * k + t[1]
    if nothing is None:
        y = y - pair[0] * pair[1]
    return y, t, nothing


def star(x, *args):
    y = x * 2.0 + len(args)
    if len(args) > 1:
        y = y + args[0] * args[-1]
    return y, args


def star_items(*args):
    y = args[0] * args[1] + args[2]
    return y - args[0]


def keywords(x, **kwargs):
    y = x * 2.0 + len(kwargs)
    if kwargs:
        y = y * kwargs["w"] - x
    return y, kwargs


def keywords_get(x, **kwargs):
    k = kwargs.get("k", 3.0)
    w = kwargs.get("missing")
    return x * k + 1.0, w, sorted(kwargs)


def keyword_only(x, *, k=2.0, w):
    return x * k + w - x


def all_kinds(a, *b, c=1.5, **d):
    y = a * c + 1.0
    for one in b:
        y = y + one * a
    for name in sorted(d):
        y = y * d[name] - a
    return y, b, d


def keyword_only_after_star(a, *rest, flag=False):
    y = a * 2.0 + 1.0
    return (y - a, rest) if flag else (y + a, rest)


@each(
    Case(1, defaults, X, kernels=1,
         others=[(X, 3), (X, 3.0, (1, 7)), (X, 2.0, [0, 1.0], 5), (Y, 1, (0, 1), None, (Y, Y))]),
    Case(1, star, X, kernels=1, others=[(X, Y), (X, Y, 2.0), (X, 1, 2, 3.5), (X, None), (X, X, X)]),
    Case(1, star_items, X, Y, X, kernels=1, others=[(X, 2.0, 1), (X, Y, X, Y), (2.0, 3, 4), (X, Y)],
         aliased=[(X, X, X)]),
    Case(1, keywords, X, kernels=1),
    Case(1, keywords, X, w=Y, z=1, kernels=1, others=[(Y,), (X[:3],)]),
    Case(1, keywords, X, z=1),
    Case(1, keywords_get, X, kernels=1),
    Case(1, keywords_get, X, k=2, other="text", kernels=1),
    Case(1, keyword_only, X, w=Y, kernels=1, others=[(2.0,), (X.astype("f"),)]),
    Case(1, keyword_only, X, k=3, w=1.0, kernels=1),
    Case(1, keyword_only, X),
    Case(2, all_kinds, X, kernels=1, others=[(X, Y), (X, Y, 2.0), (X, 1, 2, 3)]),
    Case(2, all_kinds, X, Y, c=2, kernels=1),
    Case(2, all_kinds, X, Y, c=X, w=2.0, v=Y, kernels=1, others=[(X,), (X, Y, X)]),
    Case(2, keyword_only_after_star, X, 1, 2, kernels=1, others=[(X,), (X, False)]),
    Case(2, keyword_only_after_star, X, flag=True, kernels=1, others=[(X, Y)]),
)
def test_through_the_boundary(case):
    case.run()


def scaled(x, k=2.0, *rest, shift=0.5, **more):
    y = x * k + shift
    for one in rest:
        y = y - one
    return y, len(rest), sorted(more)


def weigh(a, b, c):
    return a * b + c


def pass_tuple(t):
    return weigh(*t) * 2.0 - t[0]


def pass_list(x, xs):
    return weigh(x, *xs) * 2.0 - x


def pass_dict(d):
    return weigh(**d) * 2.0 - d["a"]


def pass_mixed(x, t, d):
    y = weigh(x, *t, **d) * 2.0 - x
    return y + weigh(c=x, b=2.0, a=y)


def pass_range(x):
    return weigh(*range(3)) + weigh(x, *(2.0,), **{"c": x}) * x


def pass_twice(x, d):
    return weigh(x, b=2.0, **d) * x


@each(
    Case(3, pass_tuple, (X, Y, 2.0), kernels=1, others=[((X, Y, X),), ((X, 2, 3.0),), ((X, Y),), ((X, Y, X, 1),)]),
    Case(3, pass_list, X, [Y, 2.0], kernels=1, others=[(X, (Y, X)), (X, [2, 3]), (X, [Y]), (X, None), (X, Y[:2])]),
    Case(3, pass_dict, {"a": X, "b": Y, "c": 1.0}, kernels=1,
         others=[({"c": X, "b": 2, "a": X},), ({"a": X, "b": Y},), ({"a": X, "b": Y, "c": 1.0, "d": 1},)]),
    Case(3, pass_mixed, X, (Y,), {"c": 2.0}, kernels=1,
         others=[(X, [2], {"c": X}), (X, (), {"b": 2.0, "c": 3}), (X, (Y, X), {}), (X, (Y,), {"b": 1})]),
    Case(3, pass_range, X, kernels=1, others=[(Y,), (X.astype("f"),)]),
    Case(3, pass_twice, X, {"c": Y}, others=[(X, {"b": 1}), (X, {"c": 2.0, 1: 2})]),
)
def test_calls_with_stars(case):
    case.run()


def tell(*v, p=-1, **kw):
    return v, p, kw


def eight_ways(x, t, d):
    y = x * 2.0 + 1.0
    return (tell(), tell(y), tell(y, 2), tell(p=y), tell(y, p=3), tell(a=y, b=2), tell(*t, p=1, **d),
            tell(1, *t, *t, q=x, **d))


def defaults_inside(x, y):
    return scaled(x)[0] - scaled(x, 3.0)[0] * scaled(y, 1.0, x, 2.0, shift=x)[0], scaled(x, k=y, other=1)


def changed_defaults(x, k):
    def inner(x, k=k, w=[1.0]):
        w.append(k)
        return x * k + len(w)
    return inner(x) + inner(x, 2.0) * inner(x)


@each(
    Case(5, eight_ways, X, (1, Y), {"z": 2.0},
         others=[(X, [], {}), (X, (X, X), {"p": 1}), (Y, "ab", {"k": Y})]),
    Case(5, defaults_inside, X, Y, kernels=1, others=[(X, Y[0]), (X.astype("f"), Y)]),
    Case(5, changed_defaults, X, 3.0, others=[(X, 4), (X, Y)]),
)
def test_callees(case):
    case.run()


def test_defaults_that_change_between_calls():
    from tests.harness import jitted

    def f(x, k=2.0, *, w=1.0):
        return x * k + w - x
    j = jitted(f)
    for k, w in [(2.0, 1.0), (2.0, 1.0), (3.0, 1.0), (3.0, Y), (X, Y), (4, 1.0)]:
        j.__wrapped__.__defaults__, j.__wrapped__.__kwdefaults__ = (k,), {"w": w}
        for _ in range(2):
            np.testing.assert_array_equal(j(X), X * k + w - X)
