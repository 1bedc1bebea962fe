"""Programs with containers, objects, closures and iterators, as people write them."""

import collections
import contextlib
import copy
import functools
import itertools
import math
import operator
from dataclasses import dataclass

import numpy as np

PROGRAMS = []


def program(f):
    """Add a program; its argument has five floats."""
    PROGRAMS.append(f)
    return f


@program
def gen(x):
    def squares(v):
        for one in v:
            yield one * one

    return sum(squares(x))


@program
def gen2(x):
    return sum(a * b for a, b in zip(x, x[1:]))


@program
def reduce_(x):
    return functools.reduce(lambda a, b: a * b + 1, x)


@program
def opred(x):
    return functools.reduce(operator.mul, list(x))


@program
def accum(x):
    return list(itertools.accumulate(x, operator.mul))[-1]


@program
def mapf(x):
    return sum(map(lambda t: t * t, x))


@program
def sortkey(x):
    return sorted(x, key=lambda t: -t)[0] * 2 + max(x, key=abs)


@program
def dictp(x):
    d = {"w": x * 2, "b": x.sum()}
    for k, v in d.items():
        d[k] = v * 2
    return (d["w"] * d["b"]).sum()


@dataclass
class Pt:
    x: float
    y: float

    def norm(self):
        return math.sqrt(self.x**2 + self.y**2)

    def __add__(self, o):
        return Pt(self.x + o.x, self.y + o.y)

    def __mul__(self, s):
        return Pt(self.x * s, self.y * s)

    __rmul__ = __mul__

    def __neg__(self):
        return Pt(-self.x, -self.y)

    def __getitem__(self, i):
        return (self.x, self.y)[i]

    def __iter__(self):
        yield self.x
        yield self.y

    @property
    def angle(self):
        return math.atan2(self.y, self.x)

    def __abs__(self):
        return self.norm()

    def __eq__(self, o):
        return self.x == o.x


@program
def cls(x):
    p = Pt(x[0], x[1]) + 2.0 * Pt(x[2], x[3])
    p = -p
    a, b = p
    return p.norm() + p.angle + p[0] * p[1] + abs(p) + a * b


class Base:
    def __init__(self, w):
        self.w = w

    def f(self, x):
        return x * self.w


class Der(Base):
    def __init__(self, w):
        super().__init__(w)
        self.n = 0

    def f(self, x):
        self.n += 1
        return super().f(x) + 1

    @classmethod
    def make(cls, w):
        return cls(w * 2)

    @staticmethod
    def sq(v):
        return v * v

    def __call__(self, x):
        return self.sq(self.f(x))


@program
def inherit(x):
    d = Der.make(x[0])
    r = d(x).sum()
    return r + d(x[1:])[0] * d.n


NT = collections.namedtuple("NT", "a b")


@program
def nt(x):
    t = NT(x[0], x[1])
    t = t._replace(a=t.a * 3)
    return t.a * t.b


@program
def nonlocal_(x):
    t = 0.0

    def add(v):
        nonlocal t
        t = t + v * v

    for v in x:
        add(v)
    return t


G = None


@program
def global_(x):
    global G
    G = x[0] * 2

    def use():
        return G * G

    return use()


@program
def tryexc(x):
    t = 0.0
    for v in x:
        try:
            if v > 1:
                raise ValueError(v * 3)
            t += v
        except ValueError as e:
            t += e.args[0]
        finally:
            t *= 1.1
    return t


@program
def withst(x):
    @contextlib.contextmanager
    def cm(v):
        yield v * 2

    with cm(x) as y, np.errstate(all="ignore"):
        return (y * y).sum()


@program
def unpack(x):
    a, b, *c = x
    return a * b + sum(c)


@program
def star(x):
    def f(a, b, *rest, k=1.0):
        return a * b * k + sum(rest)

    return f(*x, k=x[0])


@program
def kw(x):
    def f(a, *, b=2.0, **o):
        return a * b + o["c"]

    return f(x[0], **{"b": x[1], "c": x[2]})


@program
def augfancy(x):
    y = x.copy()
    y[[0, 1]] *= x[2:4]
    y[y > 0.9] += 1
    y[1:] -= y[:-1]
    return (y * y).sum()


@program
def dupstore(x):
    y = np.zeros(3)
    y[[0, 0, 1]] = x[:3]
    return (y * np.array([1.0, 2, 3])).sum()


@program
def addat(x):
    y = np.zeros(3)
    np.add.at(y, [0, 0, 1], x[:3])
    np.subtract.at(y, [2], x[3])
    return (y**2).sum()


@program
def outarg(x):
    y = np.empty_like(x)
    np.multiply(x, 2.0, out=y)
    np.sin(y, out=y)
    np.add(y, x, y)
    return (y * y).sum()


@program
def outsame(x):
    x = x.copy()
    np.exp(x, out=x)
    np.multiply(x, x, out=x)
    return x.sum()


@program
def masked(x):
    y = np.ones_like(x)
    np.multiply(x, 3.0, out=y, where=x > 0.5)
    return (y * x).sum()


@program
def roll(x):
    u = x.copy()
    for _ in range(3):
        u = u + 0.1 * (np.roll(u, 1) - 2 * u + np.roll(u, -1))
    return (u**2).sum()


@program
def mat(x):
    A = np.outer(x, x) + np.eye(len(x)) * 3
    return np.linalg.solve(A, x).sum() + np.log(np.linalg.det(A))


@program
def logsumexp(x):
    m = x.max()
    return m + np.log(np.exp(x - m).sum())


@program
def softmax(x):
    e = np.exp(x - x.max())
    p = e / e.sum()
    return -np.log(p[2])


@program
def safe(x):
    return np.where(x > 0, np.sqrt(x), 0.0).sum()


@program
def deep(x):
    y = copy.deepcopy({"a": [x * 2]})
    return (y["a"][0] * x).sum()


class Plain:
    def __init__(self, x):
        self.x, self.kept = x, [x * 2.0, {"a": x * 3.0}]


@program
def copied_objects(x):
    one = Plain(x)
    other, deep = copy.copy(one), copy.deepcopy(one)
    deep.x[0] = 5.0
    return (other.x * deep.kept[1]["a"]).sum() + deep.x.sum()
