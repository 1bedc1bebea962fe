"""Programs over arrays and numbers, as people write them."""

import collections
import functools
import itertools

import numpy as np

import pijit

PROGRAMS = []


def program(f):
    """Add a program; its argument has five floats."""
    PROGRAMS.append(f)
    return f


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


class DoublingItems(np.ndarray):
    def __getitem__(self, index):
        return super().__getitem__(index) * 2.0

    def __setitem__(self, index, value):
        np.ndarray.__setitem__(self, index, value * 3.0)


@program
def items_of_a_subclass(x):
    y = (x * 1.0).view(DoublingItems)
    y[1] = x[0] * x[2]
    return y[1] * y[0]


@program
def fields(x):
    rows = np.zeros(5, dtype=[("a", float), ("b", float)])
    rows["a"] = x
    rows["b"] = x * 2.0
    rows["b"][1:] *= rows["a"][:-1]
    return (rows["a"] * rows["b"]).sum()


@program
def spaced(x):
    return (np.linspace(x[0], x[1], 5) * np.logspace(x[2], x[3], 5)).sum() + np.geomspace(x[0], x[1], 3).sum()


@program
def selected_by_methods(x):
    return (x.compress([True, False, True]) * x.take([1, 3])).sum() + np.nextafter(x, 9.0)[2]
