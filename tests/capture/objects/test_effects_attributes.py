"""Attribute stores: native, at once, in order, exactly once; reads after them see them, by whatever name."""

import gc
import sys
import weakref

import numpy as np
import pytest

from pijit.guards._evaluate import present_dict
from tests.capture.containers.effects_common import CUT, launches
from tests.harness import check, fail_unless_captured, jitted

X = np.linspace(0.5, 4.0, 11)


class Model:
    def __init__(self, **values):
        self.__dict__.update(values)


class Slots:
    __slots__ = ("total", "count")

    def __init__(self, total, count):
        self.total = total
        self.count = count


class SlotsAndDict(Slots):
    pass


def accumulate(self, x):
    for i in range(len(x)):
        self.total += x[i]
    return self.total


def reset_and_accumulate(self, x):
    self.total = 0.0
    self.count = 0
    for i in range(len(x)):
        self.total += x[i]
        if x[i] > 2.0:
            self.count += 1
    return self.total / self.count


def new_attributes(self, x):
    for i in range(len(x)):
        self.last = x[i] * 2.0
        self.flag = x[i] > 1.0
        self.none = None
        self.text = "text"
    self.index = i
    return self.last


def arrays(self, x):
    self.state = x * 0.5
    for i in range(5):
        self.state = self.state * 0.9 + x
        self.row = self.state[1:3]
    return self.state


def in_place(self, x):
    for i in range(4):
        self.array += x
        self.array[i] += i
        self.view = self.array[i:]
    return self.array


def branches(self, x):
    for i in range(len(x)):
        if x[i] > 1.0:
            self.total += x[i]
        elif x[i] > 0.6:
            self.total = self.total * 2.0
        else:
            self.count = self.count + 1
    return self.total, self.count


def cold_break(self, x):
    for i in range(len(x)):
        self.total += x[i]
        if i == 4:
            print("total", self.total)
            self.total = 100
    return self.total


def called(self, x, change):
    for i in range(len(x)):
        self.total += x[i]
        if i % 4 == 3:
            change(self, i)
        self.count += 1
    return self.total


def raises(self, x, n):
    for i in range(n):
        self.count += 1
        self.total += x[i]
    return self.total


def handled(self, x, n):
    try:
        for i in range(n):
            self.count += 1
            self.total += x[i]
    except IndexError:
        self.count = -self.count
    return self.total


def two(a, b, x):
    for i in range(len(x)):
        a.total += x[i]
        b.total += a.total
    return a.total


def writes_one_reads_other(a, b, x):
    for i in range(len(x)):
        a.total += x[i] * b.total
    return a.total


def nested(self, x):
    for i in range(len(x)):
        self.y.total += x[i]
        self.total += self.y.total
        self.y.count = i
    return self.total


def rebinds(self, other, x):
    self.y.total += x[0]
    self.y = other
    for i in range(len(x)):
        self.y.total += x[i]
    return self.y.total


def overflows(self, x):
    for i in range(len(x)):
        self.count += 2 ** 61
        self.total += 1.0
    return self.count


class Box:
    def __init__(self, w, gain):
        self.w, self.gain, self.items, self.label = w, gain, [gain], None


def another(box, x):
    for i in range(len(x)):
        box = Box(x, 0.5)
    box.w = x


def model(**values):
    return Model(**dict({"total": 0.0, "count": 0}, **values))


def change(self, i):
    self.total = float(i)
    self.count = 10 * i


CASES = [
    (accumulate, (model(), X)), (accumulate, (model(total=3), X)), (accumulate, (Slots(0.0, 0), X)),
    (accumulate, (SlotsAndDict(0.0, 0), X)), (reset_and_accumulate, (model(), X)), (reset_and_accumulate, (Slots(1, 2), X)),
    (new_attributes, (model(), X)), (arrays, (model(), X)), (in_place, (model(array=X + 1.0), X)), (branches, (model(), X)),
    (cold_break, (model(), X)), (called, (model(), X, change)), (raises, (model(), X, 11)), (handled, (model(), X, 11)),
    (handled, (model(), X, 14)), (two, (model(), model(total=1.0), X)), (writes_one_reads_other, (model(), model(total=2.0), X)),
    (nested, (model(y=model()), X)), (rebinds, (model(y=model()), model(total=5.0), X)), (overflows, (model(), X)),
    (another, (Box(X, 0.5), X)),
]


@pytest.mark.usefixtures("little_work")
@pytest.mark.parametrize("f, args", CASES, ids=lambda item: getattr(item, "__name__", ""))
def test_same_as_python(f, args):
    with fail_unless_captured():
        check(f, *args)


@pytest.mark.skipif(CUT, reason="cut everywhere")
@pytest.mark.parametrize("f, args, most", [
    (accumulate, (model(), X), 1), (accumulate, (Slots(0.0, 0), X), 1), (reset_and_accumulate, (model(), X), 3),
    (branches, (model(), X), 1), (two, (model(), model(), X), 1), (nested, (model(y=model()), X), 1),
    (writes_one_reads_other, (model(), model(total=0.0), X), 1), (arrays, (model(), X), 2), (raises, (model(), X, 11), 1),
], ids=lambda item: getattr(item, "__name__", ""))
def test_the_loop_is_one_kernel(f, args, most):
    assert launches(jitted(f), *args) <= most


def test_exceptions_leave_the_effects_before_them_once():
    check(raises, model(), X, 14, others=[(model(count=5), X, 12), (model(), X, 3)])
    check(raises, Slots(0.0, 1), X, 14)


def test_aliased_owners():
    for f in (two, writes_one_reads_other):
        one = model(total=1.0)
        check(f, model(total=1.0), model(total=2.0), X, aliased=[(one, one, X)])
        check(f, one, one, X, others=[(model(total=1.0), model(total=2.0), X)])


def test_an_object_that_is_its_own_attribute():
    itself = model(total=1.0)
    itself.y = itself
    check(nested, model(y=model()), X, aliased=[(itself, X)])
    check(nested, itself, X)
    pair = model(y=model(total=2.0))
    check(rebinds, pair, model(total=3.0), X, aliased=[(pair, pair, X), (pair, pair.y, X)])


def test_instances_with_one_dict():
    def make():
        a, b = model(total=1.0), model()
        b.__dict__ = a.__dict__
        return a, b

    j = jitted(two)
    for maker in (lambda: (model(total=1.0), model()), make, make, lambda: (model(total=1.0), model()), make):
        got, wanted = maker(), maker()
        assert j(*got, X) == two(*wanted, X)
        assert vars(got[0]) == vars(wanted[0]) and vars(got[1]) == vars(wanted[1])


class Setattr(Model):
    def __setattr__(self, name, value):
        print("set", name)
        object.__setattr__(self, name, value)


class Property(Model):
    @property
    def total(self):
        print("get")
        return self.hidden

    @total.setter
    def total(self, value):
        print("set", value)
        self.hidden = value


class Descriptor:
    def __get__(self, instance, owner):
        return 1.0

    def __set__(self, instance, value):
        print("stored", value)


class WithDescriptor(Model):
    total = Descriptor()


class ClassAttribute(Model):
    total = 1.5


class NonData:
    def __get__(self, instance, owner):
        return 2.0


class WithNonData(Model):
    total = NonData()


@pytest.mark.parametrize("kind", [Setattr, Property, WithDescriptor, ClassAttribute, WithNonData])
def test_classes_that_interfere(kind):
    values = {"hidden": 0.0} if kind in (Property, WithDescriptor) else {"other": 1}
    check(accumulate, kind(**values), X)
    check(accumulate, Model(total=0.0), X, others=[(kind(**values), X)])


def test_a_class_that_changes_later():
    class Changing(Model):
        pass

    log = []

    def setter(self, name, value):
        log.append(value)
        object.__setattr__(self, name, value)

    j, target = jitted(accumulate), Changing(total=0.0)
    for _ in range(4):
        j(target, X)
    Changing.__setattr__ = setter
    for _ in range(3):
        del log[:]
        j(target, X)
        assert len(log) == len(X)
    del Changing.__setattr__
    for _ in range(3):
        j(target, X)
    Changing.total = property(lambda self: 1.0, lambda self, value: log.append(value))
    del log[:]
    j(target, X)
    assert log == [1.0 + value for value in X]


def test_class_attributes_are_shadowed_not_written():
    class Shared(Model):
        total = 2.0

    j = jitted(accumulate)
    for _ in range(4):
        one, other = Shared(), Shared()
        j(one, X)
        assert Shared.total == 2.0 and other.total == 2.0 and vars(one)["total"] == 2.0 + X.sum()


class Watched:
    deaths = []

    def __init__(self, owner):
        self.owner = owner

    def __del__(self):
        Watched.deaths.append((self.owner.total, self.owner.count))


def replaces(self, x):
    for i in range(len(x)):
        self.count += 1
        self.kept = x[i]
        self.total += x[i]
    return self.total


def test_finalizers_of_what_is_replaced_run_where_they_should():
    j, seen = jitted(replaces), []
    for function in (replaces, j, j, j, j):
        target = model(kept=1.0)
        function(target, X)
        target = model()
        target.kept = Watched(target)
        del Watched.deaths[:]
        function(target, X)
        seen.append((list(Watched.deaths), target.total, target.kept))
    assert all(item == seen[0] for item in seen) and seen[0][0] == [(0.0, 1)]


def test_callbacks_of_weak_references_run_where_they_should():
    j, seen = jitted(replaces), []
    for function in (replaces, j, j, j):
        target, log = model(kept=1.0), []
        function(target, X)
        target = model(kept=np.arange(3))
        watch = weakref.ref(target.kept, lambda ref: log.append(target.count))
        function(target, X)
        seen.append((log, target.total))
        del watch
    assert all(item == seen[0] for item in seen) and seen[0][0] == [1]


def test_nothing_is_kept():
    j = jitted(arrays)
    for _ in range(5):
        target = model()
        j(target, X)
        alive = weakref.ref(target), weakref.ref(target.state)
        del target
        gc.collect()
        assert alive[0]() is None and alive[1]() is None


def test_types_that_change_between_calls():
    j, wanted, got = jitted(accumulate), model(), model()
    for value in (0.0, 0, np.float32(1), True, np.float64(2), 5, None, X[0], np.arange(2.0)):
        for _ in range(3):
            wanted.total = got.total = value if not isinstance(value, np.ndarray) else value.copy()
            try:
                expected = accumulate(wanted, X)
            except TypeError:
                with pytest.raises(TypeError):
                    j(got, X)
                continue
            result = j(got, X)
            np.testing.assert_array_equal(result, expected)
            assert type(result) is type(expected) and type(got.total) is type(wanted.total)


class Counting:
    def __init__(self):
        self.factor, self.count = 1.5, 0


def counts_beside_a_dict(counting, seen, a):
    total = 0.0
    for i in range(len(a)):
        seen["last"] = i
        counting.count += 1
        total += counting.factor * a[i]
    return total


def test_instances_get_no_dict_by_being_told_from_one():
    a, f = np.arange(9.0), jitted(counts_beside_a_dict, {"backend": "numba", "force_breaks": None})
    for _ in range(4):
        counting, seen = Counting(), {}
        assert f(counting, seen, a) == 54.0 and counting.count == 9 and seen == {"last": 8}
        assert (present_dict(counting) is None) == (sys.version_info >= (3, 11))  # earlier ones have it from the first attribute on
    seen = vars(counting)
    assert f(counting, seen, a) == 54.0 and seen == {"factor": 1.5, "count": 18, "last": 8}
