"""Calls with arguments that a function may not have, or has in some versions only: what it says is Python's."""

import functools
import itertools
import math
import operator

import numpy as np
import pytest

from tests.capture.scalars.test_scalars import define
from tests.harness import check, jitted

FORMS = """
sum(x, start=1.0)
sum(x, 1.0, 2)
pow(base=x[0], exp=2)
pow(x[0], exp=2)
pow(2, -1, 5)
pow(x[0], 2, mod=None)
round(number=x[0], ndigits=1)
round(x[0], None)
min(x, default=3)
min(x[0], x[1], default=3)
max(x, key=None)
max([], default=2.0)
max([])
int(x=x[0])
int(x[0], base=10)
float(x=x[0])
bool(x=x[0])
complex(real=x[0], imag=1)
len(obj=x)
abs(x=x[0])
divmod(x[0], y=2)
sorted(x, reverse=1)
sorted(iterable=x)
sorted(x, lambda v: -v)
list(iterable=x)
tuple(iterable=x)
dict(x=x[0])["x"]
enumerate(iterable=x, start=3).__next__()
list(enumerate(x, 1.5))
list(enumerate(x, start=2))[0]
list(zip(x, x, strict=False))[0]
list(map(None, x))
list(map(abs))
any(iterable=x)
list(range(1.0))
slice(start=1)
math.sqrt(x=4.0)
math.hypot(x[0], x[1], x[2])
math.hypot(x[0])
math.log(x[1], base=2)
math.log(x[1], 2)
math.gcd(4, 6, 8)
math.gcd(4)
math.perm(5)
math.comb(5, 2)
math.isclose(x[0], 1.0, 1e-9)
math.isclose(x[0], 1.0, rel_tol=1e-9)
math.prod(x, start=2.0)
math.dist([x[0]], [x[1]])
math.fsum(seq=x)
math.floor(x[1], 2)
math.ldexp(x[1], 2.0)
math.isqrt(9)
math.lcm(4, 6)
operator.add(x[0])
operator.add(a=x[0], b=1)
operator.itemgetter(1)(x)
operator.pow(x[1], 2)
functools.reduce(operator.add, x, initial=0)
functools.reduce(operator.add, x, 0.5)
list(itertools.chain(x, [1]))[0]
list(itertools.combinations(iterable=x, r=2))[0]
list(itertools.combinations(x))
list(itertools.permutations(x, r=None))[0]
list(itertools.product(x, repeat=2))[3]
list(itertools.product(x, repeat=1.0))
list(itertools.islice(x, stop=3))
list(itertools.islice(x, -1))
list(itertools.islice(x, 1, None))
list(itertools.repeat(object=1, times=2))
list(itertools.repeat(1, -1))
list(itertools.product({1: 2.0}))
list(itertools.product({1: 2.0, 3: x}, x))[3]
list(itertools.zip_longest(x, [1], fillvalue=0))
list(itertools.starmap(func=pow, iterable=[(2, 3)]))
list(itertools.takewhile(lambda v: v < 2, x))
list(itertools.dropwhile(lambda v: v < 2, iterable=x))
list(itertools.accumulate(x, func=operator.mul))
list(itertools.accumulate(x, operator.mul, initial=2))
list(itertools.accumulate(x, initial=None))
itertools.accumulate()
collections.deque(x, maxlen=2)[0]
x.sum(0, None, None, False, 1.0)
x.sum(axis=0, initial=2.0)
x.mean(0, None)
x.clip(1, 2)
x.clip(min=1, max=2)
np.clip(x, min=1, max=2)
np.clip(x, 1)
x.clip(1)
np.clip(a=x, a_min=1, a_max=2)
np.sum(a=x)
np.sum(x, axes=0)
np.sum(array=x)
np.add(x, x, where=True)
np.add(x1=x, x2=x)
np.max(x, where=x > 1, initial=0)
np.std(x, ddof=1, mean=1.0)
np.var(x, correction=1)
np.round(x, decimals=1)
np.around(a=x, decimals=1)
np.linspace(0, 1, num=3)
np.linspace(0, 1, 3.0)
np.arange(start=1, stop=4)
np.zeros(shape=3)
np.zeros(3.0)
x.sort(None)
y.sort(axis=None)
x.partition(1, None)
np.zeros(3, 'a')
np.zeros(3, 'double')
np.zeros(3, dtype='u2')
np.full(3, fill_value=2)
np.full(shape=(2,), fill_value=x[1])
np.reshape(x, newshape=(5, 1))
np.reshape(x, shape=(5, 1))
np.reshape(x, (5, 1), copy=True)
x.reshape((5, 1), copy=False)
np.concatenate((x, x), dtype=float)
np.concatenate(seq=(x, x))
np.stack(arrays=[x, x])
np.stack([x, x], dtype=np.float32)
np.array(x, copy=None)
np.asarray(x, copy=True)
np.where(condition=x > 1)
np.where(x > 1, x)
np.dot(a=x, b=x)
np.cumsum(x, axis=0, dtype=None)
np.take(x, indices=[1])
np.argmax(x, keepdims=True)
np.argmax(x, axis=0, out=None)
np.any(x, where=x > 1)
np.prod(x, initial=3)
np.diff(x, n=2, prepend=0)
np.linalg.norm(x, ord=2)
np.linalg.norm(x=x)
np.float64(x=3)
np.int32(value=3)
np.full_like(x, 2, shape=(2,))
np.ones_like(x, shape=3)
np.empty_like(prototype=x).shape
np.repeat(x, repeats=2)
np.repeat(a=x, repeats=2, axis=0)
np.einsum("i,i", x, x, optimize=True)
np.einsum("i,i->", x, x)
np.outer(a=x, b=x)
np.average(x, weights=x, keepdims=True)
np.average(x, weights=x)
""".split("\n")[1:-1]


@pytest.mark.filterwarnings("ignore")
def test_forms():
    for form in FORMS:
        f = define("def f(x):\n    y = x * 2.0 + 1.0\n    return %s, y" % form, functools=functools, itertools=itertools,
                   math=math, operator=operator)
        check(f, np.arange(5.0), calls=2, config={"backend": "python"})


def broadcast(x, n):
    a, b = np.broadcast_arrays(x, n)
    c = x * 2.0 + 1.0
    total = 0.0
    for i in range(4):
        total += a[0] * b[1] + c[i]
    return total, a + b, c


def stored(a):
    for i in range(len(a)):
        a[i] = a[i] * 2.0 + 1.0
    return a


@pytest.mark.filterwarnings("always")
def test_arrays_that_warn_when_they_are_written_to():
    check(broadcast, np.arange(5.0), 2.0)
    check(stored, np.arange(3.0), calls=2, config={"backend": "python"})
    f = jitted(stored, {"backend": "python"})
    f(np.arange(3.0))
    with pytest.warns((DeprecationWarning, FutureWarning), match="broadcast"):
        f(np.broadcast_arrays(np.arange(3.0), 2.0)[1])
