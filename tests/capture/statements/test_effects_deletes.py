"""Deletes of attributes, globals and closure variables, and of parts of lists: native, at once, in order, exactly once."""

import gc
import weakref

import numpy as np
import pytest

from tests.capture.containers.effects_common import CUT, launches
from tests.harness import assert_nothing_breaks, check, fail_unless_captured, jitted

X = np.linspace(0.5, 4.0, 11)
MANY = {"backend": "python"}  # machine code is compared in the tests below
GONE = 0.0
KEPT = []


class Model:
    def __init__(self, **values):
        self.__dict__.update(values)


class Slots:
    __slots__ = ("tmp", "total")

    def __init__(self, **values):
        for name, value in values.items():
            setattr(self, name, value)


class Behind(Model):
    tmp = 7.5


def attributes(self, x):
    for i in range(len(x)):
        self.tmp = x[i] * 2.0
        self.total += self.tmp
        del self.tmp
    return self.total


def by_functions(self, x):
    for i in range(len(x)):
        setattr(self, "tmp", x[i] * 2.0)
        self.total += self.tmp
        delattr(self, "tmp")
    return self.total


def rare_break(self, x):
    for i in range(len(x)):
        self.tmp = x[i]
        if i == 4:
            print(sorted(vars(self)))
        del self.tmp
        if i == 5:
            print(sorted(vars(self)))
        self.total += x[i]
    return self.total


def found(self, out, x):
    """What was there before goes; where it is missing, all that came first has been done."""
    out.append(x[0] * 2.0)
    del self.tmp
    out.append(x[1] * 2.0)
    return x * 2.0 + 1.0


def reads_behind(self, x):
    self.total += x[0] * 2.0
    del self.tmp
    self.total += x[1]
    return getattr(self, "tmp", None), hasattr(self, "tmp"), self.total * 2.0


def _reset(self, v):
    self.total += v
    del self.tmp
    self.tmp = v * 2.0
    return self.total


def in_callee(self, x):
    for i in range(len(x)):
        self.total += _reset(self, x[i])
    return self.total


def _drop(self, v):
    self.total += v
    del self.tmp
    return self.total / (v - 4.0)


def raises_in_callee(self, x):
    for i in range(len(x)):
        self.tmp = x[i]
        self.total += _drop(self, x[i])
    return self.total


def global_variable(x):
    global GONE
    s = 0.0
    for i in range(len(x)):
        GONE = x[i] * 2.0
        KEPT.append(GONE)
        s += GONE
        del GONE
    GONE = s
    return s


def missing_global(x, n):
    global GONE
    s = 0.0
    try:
        for i in range(n):
            s += x[i]
            KEPT.append(s)
            del GONE
            KEPT.append(i)
    except NameError as error:
        KEPT.append(str(error))
    GONE = s
    return s * 2.0


def closure(x):
    held = 0.0

    def show():
        try:
            return held
        except NameError as error:
            return str(error)

    s = 0.0
    for i in range(len(x)):
        held = x[i] * 2.0
        s += held
        if i == 3:
            print(show())
        del held
    return s, show()


def twice(x, flag):
    held = x[0] * 2.0

    def show():
        return held

    s = held + x[1]
    del held
    if flag:
        del held
    return s * 2.0, show


CASES = [
    (attributes, (Model(total=0.0), X)), (attributes, (Slots(total=0.0), X)), (attributes, (Behind(total=0.0), X)),
    (by_functions, (Model(total=0.0), X)), (rare_break, (Model(total=0.0), X)), (found, (Model(tmp=1.0), [], X)),
    (reads_behind, (Model(tmp=1, total=0.0), X)), (reads_behind, (Behind(tmp=1, total=0.0), X)),
    (in_callee, (Model(tmp=1.0, total=0.0), X)), (raises_in_callee, (Model(total=0.0), X)),
    (global_variable, (X,)), (missing_global, (X, 3)), (closure, (X,)), (twice, (X, True)),
]


@pytest.mark.usefixtures("little_work")
@pytest.mark.parametrize("f, args", CASES, ids=lambda item: getattr(item, "__name__", ""))
def test_same_as_python(f, args):
    with fail_unless_captured():
        check(f, *args, calls=4, config=MANY)


@pytest.mark.parametrize("f, args", [CASES[k] for k in (0, 1, 3, 5, 8, 10)], ids=lambda item: getattr(item, "__name__", ""))
@pytest.mark.usefixtures("little_work")
def test_nothing_stays_bytecode(f, args):
    assert_nothing_breaks(f, *args, one_segment=False)


@pytest.mark.skipif(CUT, reason="cut everywhere")
@pytest.mark.parametrize("f, make, most", [
    (attributes, lambda: (Model(total=0.0), X), 1), (attributes, lambda: (Slots(total=0.0), X), 1),
    (in_callee, lambda: (Model(tmp=1.0, total=0.0), X), 1), (global_variable, lambda: (X,), 1),
], ids=lambda item: getattr(item, "__name__", ""))
def test_the_loop_is_one_kernel(f, make, most):
    assert launches(jitted(f), *make()) <= most
    check(f, *make())


@pytest.mark.usefixtures("little_work")
def test_what_is_missing_is_raised_behind_the_effects_before():
    check(found, Model(tmp=1.0), [], X, others=[(Model(), [], X), (Behind(), [], X), (Slots(), [], X), (Slots(tmp=1), [], X)])
    check(raises_in_callee, Model(total=0.0), X, others=[(Model(total=0.0), X[:3])])


@pytest.mark.usefixtures("little_work", "leaves_often")
def test_each_effect_once_whatever_exits_are_taken():
    for f, args in CASES:
        check(f, *args, calls=4, config=MANY)


class Own(Model):
    def __delattr__(self, name):
        print("del", name)
        object.__delattr__(self, name)


class WithProperty(Model):
    tmp = property(lambda self: 1.0, lambda self, value: print("set"), lambda self: print("deleted"))


class Deleter:
    def __get__(self, instance, owner):
        return 2.0

    def __delete__(self, instance):
        print("deleted by a descriptor")


class WithDeleter(Model):
    tmp = Deleter()


@pytest.mark.parametrize("kind", [Own, WithProperty, WithDeleter])
def test_classes_that_interfere(kind):
    check(found, kind(tmp=1.0) if kind is Own else kind(), [], X, config=MANY)
    check(found, Model(tmp=1.0), [], X, others=[(kind(), [], X), (Own(tmp=1), [], X)], config=MANY)


def test_two_names_of_one_object():
    def f(a, b, x):
        for i in range(len(x)):
            a.tmp = x[i]
            b.total += a.tmp * 2.0
            del b.tmp
        return a.total

    one = Model(total=0.0)
    check(f, one, one, X, config=MANY)
    check(f, Model(tmp=1.0, total=0.0), Model(tmp=2.0, total=0.0), X[:1], aliased=[(one, one, X)], config=MANY)


class Dying:
    seen = []

    def __init__(self, owner):
        self.owner = owner

    def __del__(self):
        Dying.seen.append((self.owner.total, hasattr(self.owner, "tmp")))


def drops(self, x):
    self.total += x[0] * 2.0
    del self.tmp
    self.total += x[1] * 2.0
    return x * self.total


@pytest.mark.usefixtures("little_work")
def test_finalizers_run_where_python_runs_them():
    j, seen = jitted(drops), []
    for f in (drops, j, j, j, j):
        f(Model(tmp=1.0, total=0.0), X)
        target, log = Model(total=0.0), []
        target.tmp = Dying(target)
        del Dying.seen[:]
        f(target, X)
        watched = Model(total=0.0, tmp=np.arange(3))
        watch = weakref.ref(watched.tmp, lambda ref: log.append((watched.total, "tmp" in vars(watched))))
        f(watched, X)
        gc.collect()
        seen.append((list(Dying.seen), log, target.total))
        del watch
    assert all(item == seen[0] for item in seen) and len(seen[0][0]) == len(seen[0][1]) == 1
