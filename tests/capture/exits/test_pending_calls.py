"""Methods, keywords and ``super()`` that wait on the operand stack while the arguments of their call are chosen."""

import numpy as np
import pytest

from tests.capture.containers.effects_common import CUT
from tests.harness import assert_nothing_breaks, check, fail_unless_captured

X = np.linspace(-3.0, 9.0, 40) % 5.0
Y = X[::-1] - 1.0
PYTHON = {"backend": "python"}


def appended(x, low):
    out = []
    for i in range(len(x)):
        out.append(x[i] if x[i] > low else x[i - 1] * 2.0)
    return out


def filled(x, flag):
    y = x + 1.0
    y.fill(x[1] if flag else (4.0 if x[0] > 1.0 and x[1] > 1.0 else x[2]) * 2.0)
    return y


def of_either(x, y):
    p, q = x + 1.0, y - 1.0
    return (p if x[0] > y[0] else q).sum() + (p if x[1] > 0 else q).dot(x if y[2] > 0 else y)


def looked_up(x, flag, xs):
    d = {"a": x, "b": x + x}
    xs[:2] = [x, d.get("b", x if flag else x * 2.0)]
    return d.get("c", x / 2.0 if flag else d.get("a" if x[0] > 1 else "b"))


def taken_and_put(x, y):
    values = [x, y, x + y]
    for i in range(4):
        taken = values.pop(0 if x[i] > y[i] else 1)
        values.append(taken + (1.0 if y[i] > 0 else x[i]))
    return values


def looked_up_in_rounds(x, n):
    d = {"a": x, "b": x + x}
    total = x
    for i in range(n):
        total = total + d.get("b" if total[0] > 2.0 else "a", x if total[1] > 0 else total)
    return total


class Scale:
    def __init__(self, factor):
        self.factor = factor

    def of(self, value, shift=0.0):
        return value * self.factor + shift

    def less(self, value, shift=0.0):
        return value / self.factor - shift

    def changed(self, factor):
        self.factor = factor
        return factor


class Shifted(Scale):
    def of(self, value, shift=1.0):
        return super().of(value if value[0] > 0 else value + 1.0, shift if value[1] > 0 else -shift)


def of_objects(x, one, other):
    here = Scale(x[0] + 1.0)
    shifted = Shifted(2.0)
    a = (one.of if x[0] > 1.0 else other.of)(x, 1.0 if x[1] > 2.0 else 2.0)
    b = (one.of if x[1] > 1.0 else one.less)(a)
    return a, b, (here if x[2] > 1 else shifted).of(x if x[3] > 2 else x + 1.0), shifted.of(b)


def combined(a, b=1.0, c=2.0):
    return a + b * c


def with_keywords(x, flag):
    d = {"b": x + x, "c": x}
    return combined(x if x[0] > 1 else x + 1.0, **d) + combined(*(x, x + 1.0), c=x[1] if flag else x[2])


def leaves_inside(x, i):
    out = [0.0]
    for k in range(4):
        out.append(x[i] if k == 3 else x[k] / (x[k] if x[k] > 1.0 else 1.0))
    return out


def drawn(x, seed, n):
    rng = np.random.RandomState(seed)
    out = [0.0]
    for i in range(n):
        out.append(rng.random_sample() * x[i] if x[i] > 1.0 else rng.normal() / x[i - 1])
        out.insert(i, rng.random_sample() + x[i + 1])
    return out, rng.random_sample()


def from_one_end_to_the_other(x, n):
    queue = [x[0], x[1]]
    for i in range(n):
        queue.append(queue.pop(0) + x[i])
    return queue


def collected(counts, x, n):
    values = np.zeros(3)
    for i in range(n):
        values.put(counts.pop() % 3, x[i] / x[i + 1])
    return values, counts


def popped_in_callee(scale, values, x, n):
    for i in range(n):
        scale.of(values.pop(), shift=x[i])
        values.append(scale.of(values.pop(), x[i]))
    return values, scale.factor


CASES = [
    (drawn, (X, 3, 20), [(X, 4, 39), (X, 4, 40), (X * 0.0, 5, 10), (X[:3], 3, 3)]),
    (from_one_end_to_the_other, (X, 40), [(X, 41), (X.astype(int), 3), (X[:1], 1)]),
    (collected, (list(range(40)), X, 20), [([1, 2, 3], X, 20), ([1.5], X, 20), ([5, 7, 2 ** 70], X, 3), ([1], X[:1], 1)]),
    (popped_in_callee, (Scale(2.0), [1.0] * 40, X, 30), [(Scale(2), [3.0] * 5, X, 30), (Scale(2.5), [1.0, 3.0, "a"], X, 2)]),
    (appended, (X, 1.0), [(X, 9.0), (X[:3], 2), (X.astype(int), 1.0), (X[:0], 1.0)]),
    (filled, (X, True), [(X, False), (-X, False), (X * np.nan, True), (X[:2], False)]),
    (of_either, (X, Y), [(Y, X), (X, -Y), (-X, Y)]),
    (looked_up, (X, True, [X, Y, Y]), [(X, False, [X, Y, Y]), (X + 5, False, []), (X, 2, [Y] * 4)]),
    (taken_and_put, (X, Y), [(Y, X), (X, X)]),
    (looked_up_in_rounds, (X, 4), [(X - 9, 3), (X, 0)]),
    (of_objects, (X, Scale(2.0), Scale(3.0)), [(Y, Scale(2.0), Scale(3.0)), (X, Shifted(2.0), Scale(1))]),
    (with_keywords, (X, True), [(Y, False), (X + 3, False)]),
    (leaves_inside, (X, 5), [(X, 40), (X, -1), (X, -41), (Y, 3)]),
]


@pytest.mark.usefixtures("little_work")
@pytest.mark.parametrize("f, args, others", CASES, ids=[case[0].__name__ for case in CASES])
def test_same_as_python(f, args, others):
    with fail_unless_captured():
        check(f, *args, others=others, calls=4, config=PYTHON)


@pytest.mark.usefixtures("little_work", "leaves_often")
def test_each_effect_once_whatever_exits_are_taken():
    for f, args, _ in CASES:
        check(f, *args, calls=4, config=PYTHON)


@pytest.mark.parametrize("f, args", [(appended, (X, 1.0)), (drawn, (X, 3, 20)), (filled, (X, False)), (looked_up, (X, True, [X, Y, Y]))],
                         ids=["appended", "drawn", "filled", "looked_up"])
def test_in_machine_code(f, args):
    with fail_unless_captured():
        check(f, *args, calls=4)


@pytest.mark.skipif(CUT, reason="cut everywhere")
@pytest.mark.usefixtures("little_work")
@pytest.mark.parametrize("f, args", [case[:2] for case in CASES[1:]], ids=[case[0].__name__ for case in CASES[1:]])
def test_one_kernel_does_it(f, args):
    assert_nothing_breaks(f, *args)


def counted(x):
    numbers = [1, 2]
    return numbers.count(numbers.append(2) or 2), x + 1.0


def found_after_update(x):
    d = {"a": x + 1.0}
    return d.get("b", d.update(b=x + 2.0))


def found_after_store(x):
    d = {"a": x + 1.0}

    def change():
        d["a"] = x * 5.0
        return x

    return d.get("a", change())


def missed_after_clear(x):
    d = {"a": x + 1.0}
    return d.get("a", [d.clear(), x][1])


def listed_after_update(x):
    d = {"a": x + 1.0}
    return list(d.items(*(d.update(b=x) or ())))


def copied_after_clear(x):
    values = [x + 1.0]
    return values.copy(*(values.clear() or ()))


def after_new_attribute(x):
    scale = Scale(2.0)
    return scale.of(scale.changed(x[0]) * x), scale.of(x, scale.changed(3.0) if x[1] > 1.0 else scale.changed(x[2]))


def chosen(x):
    p, q = x + 1.0, x - 1.0
    return (p.sum if x[0] > 1.0 else q.sum)() * x


CHANGED = [chosen, counted, found_after_update, found_after_store, missed_after_clear, listed_after_update,
           copied_after_clear, after_new_attribute]


@pytest.mark.usefixtures("little_work")
@pytest.mark.parametrize("f", CHANGED, ids=[f.__name__ for f in CHANGED])
def test_what_waits_sees_what_its_arguments_change(f):
    with fail_unless_captured():
        check(f, X, others=[(Y,), (X + 3.0,)], config=PYTHON)
