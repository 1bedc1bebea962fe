"""Programs whose classes compute in special methods, which CPython and NumPy call by themselves; the argument has five floats."""

import collections
import copy
import functools
import itertools
import operator
import types

import numpy as np


class Doubling:
    """A descriptor that computes."""

    def __get__(self, owner, kind=None):
        return self if owner is None else owner.x * 2.0

    def __set__(self, owner, value):
        owner.x = value * 3.0

    def __delete__(self, owner):
        owner.x = owner.x * 5.0


class Lazy:
    """A descriptor that keeps what it has computed."""

    def __init__(self, function):
        self.function = function

    def __set_name__(self, owner, name):
        self.name = name

    def __get__(self, owner, kind=None):
        owner.__dict__[self.name] = found = self.function(owner)
        return found


class Meta(type):
    def __call__(cls, x):
        return super().__call__(x * 2.0)

    def __getattr__(cls, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return float(len(name))


class Values(metaclass=Meta):
    """Reads, stores and conversions that compute; some change `x` in place."""

    d = Doubling()
    factor = 3.0

    def __init__(self, x):
        self.x = x

    @property
    def squares(self):
        return self.x * self.x

    @squares.setter
    def squares(self, value):
        self.x = value * value

    @squares.deleter
    def squares(self):
        self.x = self.x * 4.0

    @Lazy
    def cubes(self):
        return self.x ** 3.0

    def __getattr__(self, name):
        if name != "missing":
            raise AttributeError(name)
        return self.__dict__["x"] * 4.0

    def __delattr__(self, name):
        if name == "d":
            return object.__delattr__(self, name)
        self.__dict__["x"] = self.x * 7.0

    def __getitem__(self, index):
        if index > 4:
            raise IndexError(index)
        return self.x[index] * 2.0

    def __delitem__(self, index):
        self.x = self.x * 2.0

    def __len__(self):
        self.x *= 1.5
        return 5

    def __bool__(self):
        self.x *= 1.25
        return True

    def __contains__(self, item):
        self.x *= 1.75
        return True

    def __index__(self):
        self.x *= 0.5
        return 3

    __int__ = __index__

    def __float__(self):
        return float(self.x.sum())

    def __str__(self):
        self.x *= 0.75
        return "values"

    __repr__ = __str__

    def __format__(self, spec):
        self.x *= 0.25
        return "values"

    def __call__(self, k):
        return self.x * k

    def __array__(self, dtype=None, copy=None):
        return self.x * 3.0

    def __invert__(self):
        return self.x * 9.0

    def __round__(self, digits=0):
        return self.x * 6.0

    def __divmod__(self, other):
        return self.x * other, self.x + other

    def __reversed__(self):
        return iter([self.x[1] * 2.0, self.x[0] * 3.0])

    def __copy__(self):
        return Values(self.x * 2.0)

    def __eq__(self, other):
        self.x *= 2.0
        return True

    __hash__ = None


class Below(Values):
    @property
    def squares(self):
        return super().squares * 2.0

    def both(self):
        return super().d + super().cubes


class Everything:
    def __init__(self, x):
        self.x = x

    def __getattribute__(self, name):
        return object.__getattribute__(self, name) * 2.0


class Squares:
    """Iterates by a generator."""

    def __init__(self, x):
        self.x = x

    def __iter__(self):
        for one in self.x:
            yield one * one


class Steps:
    """An iterator in Python."""

    def __init__(self, x):
        self.x, self.at = x, -1

    def __iter__(self):
        return self

    def __next__(self):
        self.at += 1
        if self.at >= len(self.x):
            raise StopIteration
        return self.x[self.at] * self.x[self.at]


class Table:
    """A mapping in Python."""

    def __init__(self, x):
        self.x = x

    def keys(self):
        return iter(["a", "b"])

    def __getitem__(self, name):
        return self.x[ord(name) - ord("a")] * 3.0


class Twice(list):
    def __iter__(self):
        for one in list.__iter__(self):
            yield one * 2.0

    def __getitem__(self, index):
        return list.__getitem__(self, index) * 2.0


class Growing(dict):
    def __missing__(self, key):
        return self["x"] * key


class Quantity:
    """Takes part in NumPy's operations."""

    def __init__(self, x):
        self.x = x

    def __array_ufunc__(self, ufunc, method, *operands, **kwargs):
        return getattr(ufunc, method)(*(one.x * 2.0 if isinstance(one, Quantity) else one for one in operands), **kwargs)

    def __array_function__(self, function, kinds, args, kwargs):
        return self.x * 5.0


def values(x):
    return Values(x * 1.0)


def starred(*items, **named):
    return sum(items) + sum(named.values())


def delegating(x):
    yield from Squares(x)
    yield from x


SNIPPETS = """
values(x).d
stored("d", values(x), x)
stored("squares", values(x), x)
values(x).cubes
values(x).squares
values(x).missing
values(x).factor * x
Values.abc * x
Below(x).squares
Below(x).both()
Everything(x).x
deleted("d", values(x))
deleted("squares", values(x))
deleted("other", values(x))
[one for one in values(x)][1]
list(values(x))[1]
sum(values(x))
max(values(x))
sorted(values(x))[1]
[*values(x)][2]
(*values(x), 1.0)[0]
np.array(list(values(x)))
np.array(values(x))
np.asarray(values(x)) * x
np.array([values(x), values(x)])
np.sum(values(x))
np.exp(values(x))
x + np.asarray(values(x))
np.einsum("i,i->", values(x), x)
~values(x)
round(values(x), 1)
divmod(values(x), 2.0)[0]
list(reversed(values(x)))[1]
copy.copy(values(x)).x
float(values(x)) * 2.0
math.sqrt(values(x))
list(map(values(x), [2.0, 3.0]))[1]
sorted([2.0, 1.0], key=lambda k: k)[0] * x
read("len(c)", values(x))
read("bool(c)", values(x))
read("not c", values(x))
read("1 if c else 2", values(x))
read("c and 1", values(x))
read("c or 1", values(x))
read("3 in c", values(x))
read("c in [1]", values(x))
read("3 not in c", values(x))
read("[1, 2, 3, 4][c]", values(x))
read("range(c)", values(x))
read("int(c)", values(x))
read("str(c)", values(x))
read("'%s' % c", values(x))
read("'%s, %s' % (c, 1)", values(x))
read("f'{c}'", values(x))
read("f'{c:>9}'", values(x))
read("'{}'.format(c)", values(x))
list(Squares(x))[1]
max(Squares(x))
min(Squares(x), key=lambda v: -v)
[*Squares(x)][1]
starred(*Squares(x))
starred(*Squares(x), *Steps(x), a=1.0)
starred(**Table(x))
dict(Table(x))["b"]
{**Table(x), "c": 1.0}["a"]
dict(enumerate(Squares(x)))[1]
list(zip(Squares(x), Squares(x)))[1][0]
next(iter(Squares(x)))
list(Steps(x))[1]
max(*Steps(x))
np.array([*Steps(x)])
np.fromiter(Squares(x), float)
functools.reduce(lambda a, b: a * b, Squares(x))
list(itertools.chain(Squares(x), Steps(x)))[7]
list(itertools.repeat(x, 2))[1]
dict(a=x * 2.0)["a"]
next(iter(collections.deque(Squares(x))))
sum(delegating(x))
extended([0.0], Squares(x))[1]
grown([0.0], Squares(x))[2]
sliced([5.0, 6.0], Squares(x))[2]
unpacked(Squares(x))
unpacked(Steps(x))
list(Twice([x[0], x[1]]))[1]
Twice([x[0], x[1]])[1]
np.array(Twice([x[0], x[1]]))
Growing(x=x)[3.0]
collections.ChainMap({}, Growing(x=x))[2.0]
collections.defaultdict(lambda: x * 2.0)["a"]
operator.attrgetter("d")(values(x))
operator.itemgetter(1)(values(x))
operator.methodcaller("__call__", 3.0)(values(x))
operator.methodcaller("__call__", k=3.0)(values(x))
types.SimpleNamespace(a=x * 2.0).a
types.MappingProxyType({"a": x * 2.0})["a"]
collections.namedtuple("Pair", "a b")(x * 2.0, 1)._replace(b=2).a
x * Quantity(x)
np.exp(Quantity(x))
np.concatenate([Quantity(x), x])
class_of(x).kept
looking_ahead(Steps(x))
sum(iter(lambda state=[0.0]: state.__setitem__(0, state[0] + 1.0) or state[0] * x[0], 3.0 * x[0]))
Watching(x).both()
Deleting(x).both()
""".strip().splitlines()


def class_of(x):
    class Made:
        kept = x * 2.0
        cubes = [one ** 3 for one in (1.0, 2.0)]
    return Made


class Held:
    def __init__(self, x):
        self.x = x

    def both(self):
        return self.x * 2.0


class Deleting(Held):
    def both(self):
        found, look = super().both, super
        wide = look().both() * 3.0
        del self
        return found() * wide * call_nothing(lambda: 2.0)


def looking_ahead(steps):
    items = iter(steps)
    first = next(items)
    return first * items.x[2] + sum(items) * (items is steps)


class Watching:
    """Sees each read of an attribute."""

    def __init__(self, x):
        self.x, self.seen = x, []

    def __getattribute__(self, name):
        if name != "seen":
            self.seen.append(name)
        return object.__getattribute__(self, name)

    def both(self):
        return self.x * 2.0 + self.half

    @property
    def half(self):
        return self.x * (0.5 * self.seen.count("x") + 0.01 * len(self.seen))


def call_nothing(function):
    return function()


def stored(name, owner, value):
    if name == "d":
        owner.d = value
    else:
        owner.squares = value
    return owner.x


def deleted(name, owner):
    if name == "d":
        del owner.d
    elif name == "squares":
        del owner.squares
    else:
        del owner.other
    del owner[0]
    return owner.x


def read(source, c):
    """What reads an object changes it; the result counts as well."""
    r = READERS[source](c)
    return c.x * (float(r) if isinstance(r, (int, float)) else 1.0)


READERS = {line[6:line.index('", ')]: eval("lambda c: " + line[6:line.index('", ')]) for line in SNIPPETS
           if line.startswith("read(")}


def extended(items, more):
    items.extend(more)
    return items


def grown(items, more):
    items += more
    return items


def sliced(items, more):
    items[:] = more
    return items


def unpacked(items):
    first, *middle, last = items
    return first * last + middle[1]
