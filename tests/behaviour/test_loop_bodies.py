"""What loops do in their bodies: branches, closures, arrays of many shapes, lists that grow and shrink."""

import numpy as np

from tests.behaviour.cases import Case, X, Y, each


def branch_in_body(x, n):
    for i in range(n):
        y = x * 0.5 + i
        if y[0] > 1.0:
            x = y - 1.0
        elif y[-1] > 2.0:
            x = y * 0.5
        else:
            x = y + 1.0
    return x


def closure_in_body(x, n):
    k = 0.5

    def step(v, i):
        return v * k + i
    for i in range(n):
        x = step(x, i)
        if x[0] > 2.0:
            x = x - step(x, 1.0)
            k = k * 0.5
    return x, k


def shapes_in_body(xs):
    total = 0.0
    for one in xs:
        y = one * 2.0 + 1.0
        if y.sum() > 3.0:
            total = total + y.sum()
        else:
            total = total - 1.0
    return total


def calls_in_body(x, log):
    for i in range(5):
        x = x * 0.5 + 1.0
        log.update({i: float(x[0])})
        if x[0] > 1.5:
            x = x - 0.25
    return x, log


def bound_in_body(x, limit):
    for i in range(3):
        for k in range(limit):
            if x[k] * i > 1.0:
                found = k * 2.0
                del k
                break
        print(i)
        x = x * found
    return x, found


MANY = [np.arange(3.0), np.ones((2, 2)), np.array([5.0]), np.zeros(0), np.array(4.0), np.arange(3), 2.5]


@each(
    Case(73, branch_in_body, X, 5, kernels=1, others=[(Y, 5), (X, 0), (2.0, 3), (X * 9, 4)]),
    Case(73, closure_in_body, X, 5, kernels=1, others=[(Y, 2), (X, 0)]),
    Case(73, shapes_in_body, MANY[:3], others=[(MANY,), ([],), ((X, "x"),)]),
    Case(73, calls_in_body, X, {}, kernels=1, others=[(X, {9: 9})]),
    Case(73, bound_in_body, X * 0.0 + np.inf, 5, kernels=1, others=[(X, 9), (Y, 0), (X, 2), (Y, 20)]),
)
def test_bodies_with_branches(case):
    case.run()


class Net:
    def __init__(self, layers):
        self.layers = layers
        self.seen = []


def through_layers(net, x):
    for layer in net.layers:
        x = x * layer + 1.0
        net.seen.append(len(net.seen))
    return x, net.seen


def pop_until_empty(xs, x):
    while xs:
        x = x * xs.pop() + 1.0
    return x, xs


def push_around(xs, x):
    xs.append(x * 2.0)
    for one in xs:
        x = x * 0.5 + one
    last = xs.pop()
    return x - last, xs


@each(
    Case(74, through_layers, Net([2.0, X]), X, others=[(Net([]), X), (Net((3, Y)), X), (Net([1.0] * 30), X)]),
    Case(74, pop_until_empty, [2.0, 3.0], X, others=[([], X), ([X, 2, Y], X)]),
    Case(74, push_around, [1.0], X, kernels=1, others=[([], X), ([Y, 2], X)]),
)
def test_lists_around_loops(case):
    case.run()
