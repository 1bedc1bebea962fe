"""Calls during which attributes of objects have other values: captured without stores if the callee has no effect."""

import numpy as np
import pytest

import pijit
from pijit.core.graph.substitution import call_with_attribute
from tests.harness import assert_nothing_breaks, check, fail_unless_captured, jitted

X, W = np.linspace(-2.0, 3.0, 20), np.linspace(0.5, 1.5, 20)


class Box:
    def __init__(self, value, other=None):
        self.value, self.other, self.calls = value, other, 0


def product(box, x):
    return box.value * x + box.value


def root(box, x):
    return np.sqrt(x) * box.value


def counted(box, x):
    box.calls += 1
    return np.sqrt(x) * box.value


def stored(box, x):
    x[0] = box.value[0]
    return np.log(x + box.value[1])


def filled(box, x):
    made = np.zeros(len(x))
    made[2:] = x[2:] * box.value[2:]
    return np.sqrt(made) + made


def failing(box, x):
    if x[0] > 4.0:
        raise ValueError("too large: %r" % (box.value[0],))
    return x * box.value


def nested(box, x):
    return call_with_attribute(
        box.other, x, objects=[box.other], name="value", values=[box.value + 1.0], function=product) + box.value


def replaced(box, x):
    box.value = box.value + x
    return box.value * 2.0


def replaced_last(box, x):
    y = x * box.value
    box.value = y
    return y


def deleted(box, x):
    del box.value
    return x


def written_inside(box, x):
    return call_with_attribute(box, x, objects=[box], name="value", values=[x], function=replaced_last) + box.value


def run(box, x, callee):
    y = call_with_attribute(box, x, objects=[box], name="value", values=[box.value * 2.0], function=callee)
    return y + box.value


def with_two(box, other, x):
    def both(x):
        return box.value * x - other.value
    y = call_with_attribute(
        x, objects=(box, other), name="value", values=[other.value, box.value], function=both)
    return y, box.value + other.value


def boxes():
    return Box(W.copy(), Box(X.copy()))


@pytest.mark.parametrize("callee", [product, root, filled, failing, nested], ids=lambda callee: callee.__name__)
def test_callees_without_effects(callee):
    positive = np.abs(X)
    with fail_unless_captured():
        check(run, boxes(), positive, callee, others=[(boxes(), positive * 2.0, callee)])
    assert_nothing_breaks(lambda box, x: run(box, x, callee), boxes(), positive)


@pytest.mark.parametrize("callee", [product, root, counted, stored, filled, failing, nested, replaced, replaced_last,
                                    deleted, written_inside],
                         ids=lambda callee: callee.__name__)
def test_bytecode_goes_on_with_the_objects_values(callee):
    """Negative roots and raised exceptions leave the kernel in the middle of the call."""
    check(run, boxes(), np.abs(X), callee, others=[(boxes(), X, callee), (boxes(), X + 10.0, callee)])
    check(run, boxes(), X, callee, others=[(boxes(), np.abs(X), callee)])


def test_two_objects_and_one_twice():
    with fail_unless_captured():
        check(with_two, Box(X.copy()), Box(W.copy()), X)
    one = Box(W.copy())
    check(with_two, one, one, X)


def test_a_kernel_stores_nothing():
    f = jitted(lambda box, x: run(box, x, product))
    box = boxes()
    for _ in range(3):
        f(box, X)
    assert "store of an attribute" not in str(pijit.explain(f, box, X))
