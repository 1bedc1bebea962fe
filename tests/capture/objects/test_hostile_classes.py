"""Capturing runs no code of the user's: classes whose metaclass, and objects whose class, notice every look at them."""

import collections

import numpy as np
import pytest

from tests.harness import jitted

FIRED = collections.Counter()


def noticed(name):
    FIRED[name] += 1


class Meta(type):
    """Notices, or refuses, what may happen to a class behind the program's back."""

    def __eq__(cls, other):
        raise RuntimeError("a class was compared")

    __ne__ = __eq__

    def __hash__(cls):
        noticed("hash")
        return type.__hash__(cls)

    def __getattribute__(cls, name):
        noticed("attribute " + name)
        return type.__getattribute__(cls, name)

    def __instancecheck__(cls, value):
        noticed("isinstance")
        return type.__instancecheck__(cls, value)

    def __subclasscheck__(cls, value):
        noticed("issubclass")
        return type.__subclasscheck__(cls, value)

    def __repr__(cls):
        noticed("repr")
        return "class"

    def __bool__(cls):
        noticed("bool")
        return True


class Thing(metaclass=Meta):
    const = 3.0

    def __init__(self):
        self.a = 2.0
        self.inner = None

    def step(self, x):
        return x * 2.0 + self.a

    def __eq__(self, other):
        noticed("==")
        return self is other

    def __hash__(self):
        noticed("hash of an instance")
        return 1

    @property
    def __class__(self):
        noticed("__class__")
        return Meta

    @property
    def prop(self):
        return self.a

    @staticmethod
    def st(x):
        return x + 1.0

    @classmethod
    def cm(cls, x):
        return x + 2.0


class Callable(metaclass=Meta):
    def __call__(self, x):
        return x * 3.0


class Descriptor(metaclass=Meta):
    def __get__(self, owner, kind):
        return 2.0

    def __set__(self, owner, value):
        owner.a = value


Thing.part, Thing.read = Callable(), Descriptor()


def derived(base):
    return Meta("Derived", (base,), {})


ARRAY, TUPLE, LIST, DICT, INT, FLOAT, DOUBLE, STR = map(derived, (np.ndarray, tuple, list, dict, int, float, np.float64, str))
G = Thing()
CALL = Callable()


def make():
    return Thing()


def f_ident(t, x):
    y = x * 2.0
    return t, y


def f_attr(t, x):
    return x * t.a + t.const


def f_set(t, x):
    t.a = 5.0; t.b = x * 1.0
    return t.a


def f_method(t, x):
    return t.step(x) + t.prop + t.st(x) + t.cm(x)


def f_held_method(t, x):
    step = t.step
    y = x * 2.0
    return step(y)


def f_part(t, x):
    y = x * 2.0
    return type(t.part) is Callable, y


def f_descriptor(t, x):
    y = x * 2.0
    t.read = 3.0
    return t.read * y


def f_global(t, x):
    return G.step(x) + G.a


def f_call(t, x):
    return CALL(x) + 1.0


def f_make(t, x):
    u = make()
    y = x * 2.0
    return u.a + y


def f_new(t, x):
    u = Thing()
    return x * 2.0 + u.a


def f_is(t, x):
    return (t is None, t is not G, t is x), x * 2.0


def f_type(t, x):
    return type(t) is Thing, x * 2.0


def f_list(t, x):
    l = [t, x]; l.append(t)
    d = {"k": t}
    y = x * 2.0
    return l, d, y, (t, y)


def f_item(t, x):
    return t[0] * x


def f_len(t, x):
    return len(t) + x


def f_add(t, x):
    return t + x


def f_loop(t, x):
    s = 0.0
    for i in range(len(x)):
        s += x[i] * t.a
        if i == 2:
            u = make()
    return s


def f_if(t, x):
    if t:
        return x + 1.0
    return x


def f_not(t, x):
    return (not t), x*2.0


def f_for(t, x):
    y = x * 1.0
    for a in t:
        y = y + a
    return y


def f_iter2(t, x):
    for i in range(3):
        t.a = t.a + x[i]
    return t.a


def f_index(t, x):
    return x[t]


def f_slice(t, x):
    return x[:t] * 2.0


def f_store(t, x):
    x[0] = t
    return x


def f_kw(t, x):
    return np.sum(x, axis=t)


def f_str(t, x):
    return "%s" % (t is None), x * 2.0


def f_getattr(t, x):
    return getattr(t, "a", 1.0) + x, hasattr(t, "zz")


def f_isinst(t, x):
    return isinstance(t, np.ndarray), isinstance(x, np.ndarray), x * 2.0


def f_in(t, x):
    return t in (None, 3), x * 2.0


def f_cmp(t, x):
    return x * 2.0, t == None


def f_power(t, x):
    return x ** t


def f_ufunc(t, x):
    return np.add(x, t)


def f_range(t, x):
    s = 0.0
    for i in range(t):
        s += x[i]
    return s


def f_del(t, x):
    t.zz = x * 2.0
    del t.zz
    return x * 2.0


def f_closure(t, x):
    def g(y): return y * 2.0 + t.a
    return g(x)


def f_unpack(t, x):
    a, b = t
    return x * a + b


def f_raise(t, x):
    try:
        y = x * 2.0
        raise t
    except Exception:
        y = x * 3.0
    return y


def f_classattr(t, x):
    return Thing.const * x


def f_zip(t, x):
    y = x*1.0
    for a, b in zip(t, (1.0, 2.0)):
        y = y + a * b
    return y


ARGUMENTS = {
    "thing": Thing, "class": lambda: Thing, "array": lambda: np.ones(4).view(ARRAY), "tuple": lambda: TUPLE((1.0, 2.0)),
    "list": lambda: LIST([1.0, 2.0]), "dict": lambda: DICT({0: 1.0}), "int": lambda: INT(2), "float": lambda: FLOAT(2.0),
    "double": lambda: DOUBLE(2.0), "str": lambda: STR("a"), "list of": lambda: [1.0, Thing()], "callable": Callable,
}
FUNCTIONS = {name: f for name, f in list(globals().items()) if name.startswith("f_")}


def outcome(f, make):
    """What the program does in a call, and what it notices."""
    argument, x = make(), np.arange(4.0)
    FIRED.clear()
    try:
        f(argument, x)
    except Exception as error:
        return type(error), str(error), dict(FIRED)
    return dict(FIRED)


@pytest.mark.parametrize("argument", sorted(ARGUMENTS))
def test_nothing_is_noticed(argument):
    for name, f in sorted(FUNCTIONS.items()):
        wanted = outcome(f, ARGUMENTS[argument])
        captured = jitted(f, {"backend": "python"})
        for _ in range(3):
            assert outcome(captured, ARGUMENTS[argument]) == wanted, name
        assert not captured.state.failures
