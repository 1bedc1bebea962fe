"""Programs as people write them: value, type and end state as without a gradient, gradients as differences say."""

import collections
import contextlib
import copy
import functools
import itertools
import math
import operator
import os
from dataclasses import dataclass

import numpy as np
import pytest
from gradient_comparison import compare

import pijit

PROGRAMS = []
POINT = np.array([0.7, 1.3, 0.41, 0.93, 1.13])


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


@program
def tolist(x):
    return sum(v * v for v in x.tolist())


@program
def item(x):
    return x[0].item() * x.item(1) * float(x[2])


@program
def iters(x):
    t = 0.0
    for i, (a, b) in enumerate(zip(x, reversed(x))):
        t += a * b * i
    return t


@program
def ndit(x):
    t = 0.0
    for idx in np.ndindex(2, 2):
        t += x[1:].reshape(2, 2)[idx] ** 2
    return t


@program
def ndenum(x):
    return sum(v * v for i, v in np.ndenumerate(x))


@program
def flat(x):
    t = 0.0
    for v in x.flat:
        t += v * v
    return t


@program
def comp(x):
    return sum([a * b for a in x for b in x if a < b]) + np.array([v * 2 for v in x]).sum()


@program
def nested(x):
    return np.array([[x[0], x[1]], [x[2], x[3]]]).T[0].sum() * np.stack([x, x * x])[1].mean()


@program
def swap(x):
    y = x.copy()
    y[0], y[1] = y[1], y[0]
    y[[2, 3]] = y[[3, 2]]
    return (y * np.arange(1.0, 6.0)).sum()


@program
def recursion(x):
    def fib(n):
        return x[0] if n == 0 else x[1] if n == 1 else fib(n - 1) + fib(n - 2) * x[2]

    return fib(6)


@program
def jitted(x):
    f = pijit.jit(lambda v: v * v + 1.0)
    return f(x).sum()


@program
def part(x):
    return functools.partial(np.dot, x)(x * 2)


@program
def lam(x):
    return (lambda a, b=x: (a * b).sum())(x * x)


@program
def cumul(x):
    c = np.cumsum(x)
    return (c * np.cumprod(x)).sum()


@program
def whilel(x):
    y = x.sum()
    while y < 100:
        y = y * 1.5 + x[0]
    return y


@program
def lazyprop(x):
    class A:
        def __init__(s):
            s.v = x

        @functools.lru_cache(None)
        def get(s):
            return s.v * 2

    a = A()
    return (a.get() * a.get()).sum()


@program
def chained(x):
    return sum(itertools.chain(x, x * 2)) + sum(itertools.islice(x, 2))


@program
def starmap(x):
    return sum(itertools.starmap(pow, [(x[0], 2.0), (x[1], 3.0)]))


@program
def dq(x):
    d = collections.deque(maxlen=2)
    for v in x:
        d.append(v * 2)
    return d[0] * d[1]


@program
def heat(x):
    T = np.zeros((4, 5))
    T[1] = x
    T[:, 0] = x[0]
    for _ in range(5):
        T[1:-1, 1:-1] = 0.25 * (T[:-2, 1:-1] + T[2:, 1:-1] + T[1:-1, :-2] + T[1:-1, 2:])
    return (T**2).sum()


@program
def sortm(x):
    y = x * 1.0
    y.sort()
    return (y * np.arange(1.0, 6.0)).sum()


@program
def rk4(x):
    def f(t, y):
        return np.array([y[1], -x[0] * y[0] - 0.1 * y[1]])

    y = np.array([x[1], x[2]])
    h = 0.1
    for k in range(10):
        k1 = f(0, y)
        k2 = f(0, y + h / 2 * k1)
        k3 = f(0, y + h / 2 * k2)
        k4 = f(0, y + h * k3)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return y[0] * y[1]


@program
def complex_numbers(x):
    z = x[0] + 1j * x[1]
    w = np.exp(z) * np.conj(z)
    return abs(w) ** 2 + w.real + complex(x[2], 0.0).real


@program
def fftp(x):
    return (np.abs(np.fft.fft(x)) ** 2 * np.arange(5)).sum()


@program
def copyto(x):
    y = np.zeros(5)
    np.copyto(y, x * 2, where=x > 0.5)
    return (y * x).sum()


@program
def pick(x):
    i = int(np.argmax(x))
    return x[i] * x[(i + 1) % 5]


@program
def fillp(x):
    y = np.zeros(3)
    y.fill(x[0])
    y[1] = 7
    return (y * np.arange(3)).sum()


@program
def setdefault(x):
    d = {}
    for i, v in enumerate(x):
        d.setdefault(i % 2, []).append(v)
    return sum(d[0]) * sum(d[1])


@program
def strfmt(x):
    s = "%g %s" % (x[0], f"{x[1]:.3f}")
    return x[0] * x[1]


@program
def matrix_in_place(x):
    a = np.eye(5) * 2.0
    a = a @ np.diag(x)
    a[:] = a @ a
    return a.trace()


@program
def ternary(x):
    return (x[0] if x[0] > x[1] else x[1]) * 2 + min(x[2], 0.5) + max(x[3], x[4], 0.1)


@program
def divmodp(x):
    return divmod(x[0] * 3, 0.9)[1] + x[1] % 0.3 + (x[2] // 0.3)


@program
def polyp(x):
    return np.polyval(x, 1.3) + np.poly1d(x)(0.4)


@program
def setattrp(x):
    class O:
        pass

    o = O()
    setattr(o, "q", x * 3)
    return (getattr(o, "q") * o.__dict__["q"]).sum()


@program
def iterp(x):
    class It:
        def __init__(s):
            s.i = 0

        def __iter__(s):
            return s

        def __next__(s):
            if s.i >= 3:
                raise StopIteration
            s.i += 1
            return x[s.i] * 2

    return sum(It()) * next(It())


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_programs(f):
    compare(f, POINT)


# Where other libraries are silently wrong.


@pytest.mark.parametrize("f", [one for one in PROGRAMS if one.__name__ in ("heat", "gen", "cls", "rk4", "augfancy")],
                         ids=lambda f: f.__name__)
def test_programs_of_jitted_functions(f):
    compare(pijit.jit(f), POINT)


def test_an_alias_sees_the_store():
    def f(x):
        y = x * 2.0
        z = y
        z *= x
        return (y * y).sum()
    compare(f, POINT)


def test_a_masked_store_cuts_only_what_it_hits():
    def f(x):
        y = x * x
        y[y > 1.0] = 0.0
        return (y * x).sum()
    compare(f, POINT)


def test_numbers_by_math():
    compare(lambda x: math.exp(float(x[0])) * math.hypot(x[1], x[2]), POINT)


def test_a_constant_that_is_the_argument_object():
    value = 2.0
    assert pijit.grad(eval("lambda x: x * 2.0"))(value) == 2.0
    assert pijit.grad(lambda pair: pair[0] * pair[1] * 3.0)([1.0, 1.0]) == [3.0, 3.0]


def test_stores_into_an_outside_buffer():
    buffer = np.zeros(5)

    def f(x):
        buffer[:] = x * x
        buffer[1:] += buffer[:-1]
        return (buffer * x).sum()
    compare(f, POINT)
    f(POINT.copy())
    after = buffer.copy()
    pijit.grad(f)(POINT.copy())
    assert buffer.tobytes() == after.tobytes()


def test_sliding_windows():
    windows = getattr(np.lib.stride_tricks, "sliding_window_view", None)
    if windows is None:
        pytest.skip("this NumPy has no sliding_window_view")
    compare(lambda x: (windows(x, 3) ** 2).sum(), POINT)


def test_effects_happen_once():
    seen = []

    def f(x):
        seen.append(float(x[0]))
        return (x * x).sum()
    pijit.grad(f)(POINT.copy())
    assert seen == [0.7]


def test_exceptions_are_those_of_the_program():
    def f(x):
        y = x * 2.0
        return y[7]
    try:
        f(POINT)
    except IndexError as error:
        plain = error
    with pytest.raises(IndexError) as caught:
        pijit.grad(f)(POINT)
    assert str(caught.value) == str(plain)
    names = [entry.name for entry in caught.traceback]
    files = [os.path.basename(str(entry.path)) for entry in caught.traceback]
    assert names[-1] == "f" and not {"calls.py", "operations.py"} & set(files)


def test_gradients_of_gradients():
    x = np.array([0.3, 0.8, 1.2])
    assert pijit.grad(pijit.grad(lambda t: t ** 3))(2.0) == 12.0

    def inner(v):
        return (np.sin(v) * v ** 2).sum() + np.prod(v)

    def product(v):
        return (pijit.grad(inner)(v) * np.array([1.0, -2.0, 0.5])).sum()
    compare(product, x)

    def stored(v):
        y = v.copy()
        y[1:] *= v[:-1]
        return (y ** 2).sum()
    compare(lambda v: (pijit.grad(stored)(v) ** 2).sum(), x)
