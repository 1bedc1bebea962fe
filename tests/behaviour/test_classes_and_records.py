"""Named tuples, classes of the user, class statements, decorators, eval, and builtin objects as values."""

import collections
import dataclasses
import functools

import numpy as np

from tests.behaviour.cases import Case, X, Y, each

Point = collections.namedtuple("Point", "w b name")
Pair = collections.namedtuple("Pair", ["first", "second"])
Pair.__new__.__defaults__ = (None, 2.0)
Renamed = collections.namedtuple("Renamed", ["def", "x", "x"], rename=True)


class Child(Point):
    def apply(self, x):
        return x * self.w + self.b


def self_reference(x):
    y = x * 2.0 + 1.0
    d = {"y": y * x - 1.0}
    d["self"] = d
    return d["self"]["y"] - y, len(d)


def updated(x, d):
    y = x * 2.0 + 1.0
    d.update({"a": y})
    d.update([("b", x)])
    d.update(c=y - x)
    d.update({}, **{"e": 1})
    d.update(zip("fg", (1, 2)))
    return d["a"] * d["b"] - d["c"], list(d)


def builtin_objects(x, n):
    y = x * 2.0 + 1.0
    y = y - x
    return y, complex(n, 2), range(n), slice(n, None), list(map(abs, (-1, n))), y[slice(1, None, 2)], \
        [*range(n)], type(y)


class Mapping:
    def __init__(self, **items):
        self.items = items

    def keys(self):
        print("keys")
        return self.items.keys()

    def __getitem__(self, key):
        return self.items[key]


def with_keywords(x, *, w, b=1.0):
    y = x * w + b
    return y - x


def user_mapping(x, m):
    return with_keywords(x, **m) * 2.0 - x


class Base:
    k = 2.0

    def m(self, x):
        return x * self.k + 1.0


class Derived(Base):
    def m(self, x):
        y = super().m(x) * x
        return y - super(Derived, self).k


def calls_super(o, x):
    y = o.m(x) * 2.0
    return y - o.m(y)


@each(
    Case(75, self_reference, X, kernels=1, others=[(2.0,)]),
    Case(75, updated, X, {}, kernels=1, others=[(X, {"z": 0, "a": 1}), (X, [])]),
    Case(75, builtin_objects, X, 3, kernels=1, others=[(X, 0), (X, 2.5)]),
    Case(75, user_mapping, X, Mapping(w=Y), kernels=1,
         others=[(X, Mapping(w=2, b=X)), (X, Mapping(z=1)), (X, {"w": 1}), (X, 3)]),
    Case(75, calls_super, Derived(), X, kernels=1, others=[(Base(), X), (Derived(), 2.0)]),
)
def test_builtin_and_user_objects(case):
    case.run()


def reads_fields(p, x):
    y = x * p.w + p.b
    return y * p[0] - p[1], p.name


def builds(x, k):
    p = Point(x * 2.0 + 1.0, b=k, name="n")
    q = p._replace(b=p.w - x)
    return p.w * q.b, p, q._asdict(), q


def by_defaults(x):
    p = Pair(x * 2.0 + 1.0)
    q = Pair(second=x, first=3)
    return p.first * p.second - q.second, p, q, Pair()


def renamed(x):
    p = Renamed(x * 2.0, x, 3)
    y = p._0 * p.x + p._2
    return y, p, Renamed._fields


def sliced(p, x):
    w, b, *rest = p
    y = x * w + b
    return y - p[:2][0], p[1:], rest, len(p), p == tuple(p)


def wrong_keyword(x, flag):
    y = x * 2.0 + 1.0
    y = y - x
    return Point(y, 1, nom="n") if flag else Point(y, 1)


def subclassed(p, x):
    return p.apply(x) * p.w - x, isinstance(p, tuple)


def in_loop(points, x):
    for p in points:
        x = x * p.w + p.b
        x = x - p.w
    return x


P = Point(Y, 2.0, "p")


@each(
    Case(76, reads_fields, P, X, kernels=1,
         others=[(Point(2, X, None), X), (Child(X, 1, 2), X), ((1, 2, 3), X), (Pair(1), X)]),
    Case(76, builds, X, 1, kernels=1, others=[(2.0, "k"), (X, Y)]),
    Case(76, by_defaults, X, kernels=1, others=[(Y,)]),
    Case(76, renamed, X, kernels=1, others=[(2,)]),
    Case(76, sliced, P, X, others=[(Child(X, 1, 2), X), (Pair(X, 1), X)]),
    Case(76, wrong_keyword, X, True, kernels=1, others=[(X, False)]),
    Case(76, subclassed, Child(Y, 2.0, 1), X, kernels=1, others=[(Child(2.0, X, 1), X), (P, X)]),
    Case(76, in_loop, [P, Point(2.0, 1.0, "")], X, others=[((), X), ([P] * 3, X), ([1], X)]),
)
def test_named_tuples(case):
    case.run()


class Column:
    def __init__(self, *parts):
        self.parts = parts

    def __getitem__(self, key):
        if isinstance(key, str):
            return Column(*[part * 2.0 for part in self.parts])
        return self.parts[key]

    def __len__(self):
        return len(self.parts)

    def __add__(self, other):
        return self.parts[0] + other

    def __bool__(self):
        return self.parts[0][0] > 1.0


@dataclasses.dataclass
class Layer:
    w: object
    b: float = 1.0

    def __post_init__(self):
        self.n = 2


def custom_items(c, x):
    y = x * c[0] + 1.0
    y = y - c["double"][-1] * len(c)
    return c + y if c else y * x


def dataclasses_in_list(layers, x):
    y = x * layers[0].w + layers[0].b
    layers[0].b = 3.0
    new = Layer(y * layers[0].n)
    return new.w - layers[-1].b, new


def raises_from_item(xs, x, k):
    y = x * 2.0 + 1.0
    y = y * xs[k] - x
    return y * y[k]


@each(
    Case(78, custom_items, Column(Y, X), X, kernels=1, others=[(Column(X), X), (Column(), X), ([Y, X], X)]),
    Case(78, dataclasses_in_list, [Layer(Y)], X, kernels=1, others=[([Layer(2.0, 5), Layer(X)], X), ([], X)]),
    Case(78, raises_from_item, [2.0, 3.0], X, 0, kernels=1,
         others=[([2.0], X, 1), ([2.0], X, -2), ([], X, 0), ([Y] * 20, X, 12), ({0: 1}, X, 1), ([1], X, "a")]),
)
def test_items_of_user_objects(case):
    case.run()


def tuple_slices(t, x):
    y = x * 2.0 + t[1:][0]
    return y - t[:2][1], t[::-1], t[-1:], (1, 2, x)[:2]


def counted(f):
    @functools.wraps(f)
    def wrapper(*args, **kwargs):
        wrapper.calls += 1
        return f(*args, **kwargs) * 2.0
    wrapper.calls = 0
    return wrapper


def decorated_inside(x):
    @counted
    def inner(y, k=2.0):
        return y * k + 1.0
    z = inner(x) - inner(x, k=3)
    return z * x, inner.calls, inner.__name__


def func2(x):
    return x * 2.0 + 1.0


def evaluated(x):
    y = eval("func2(x)") * x - 1.0
    namespace = {"y": y}
    exec("z = y * 2.0 + 1.0", namespace)
    return namespace["z"] - x


def class_inside(x):
    k = 2.0

    class Inner:
        factor = k + 1.0

        def __init__(self, w):
            self.w = w * self.factor

        def apply(self, v):
            return v * self.w + k
    o = Inner(x)
    y = o.apply(x) * 2.0 - x
    return y, Inner.__name__, isinstance(o, Inner)


def partial_and_lambda(x, k):
    f = functools.partial(with_keywords, w=k)
    return f(x) * 2.0 - (lambda v: v * 3.0 + k)(x)


def locals_and_globals(x):
    y = x * 2.0 + 1.0
    names = sorted(locals())
    y = y - x
    return y * x, names, "func2" in globals(), dir()


@each(
    Case(86, tuple_slices, (1.0, 2.0, 3), X, kernels=1,
         others=[((Y, X), X), ([1, 2, 3], X), ((1,), X), (np.arange(3.0), X)]),
    Case(86, decorated_inside, X, kernels=1, others=[(2.0,)]),
    Case(86, evaluated, X, kernels=1, others=[(2.0,)]),
    Case(86, class_inside, X, kernels=1, others=[(2.0,)]),
    Case(86, partial_and_lambda, X, 2.0, kernels=1, others=[(X, Y), (X, 3)]),
    Case(86, locals_and_globals, X, kernels=1, others=[(2.0,)]),
)
def test_other_forms(case):
    case.run()
