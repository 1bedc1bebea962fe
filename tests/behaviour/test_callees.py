"""Callees: methods, modules, breaks in them, recursion; what is evaluated before what."""

import numpy as np

from tests.behaviour import elsewhere
from tests.behaviour.cases import Case, X, Y, each


def one(x):
    y = x * 2.0 + 1.0
    return y


def loud(x, name="loud"):
    y = x * 2.0 + 1.0
    print(name, np.shape(y))
    return y * x - 1.0


def operands_and_breaks(x):
    return one(x) - loud(loud(x, "inner") + one(x), "outer") * (x + 1.0)


def order_of_arguments(x, xs):
    return (xs.append(1) or x * len(xs)) - (xs.append(2) or loud(x * len(xs), len(xs))) * xs.pop()


def tuple_of_breaks(x):
    y = x * 3.0 + 1.0
    return [y * 2.0, loud(y, "a"), (y - x, loud(x, "b"))], {"k": loud(y, "c"), "z": y}


@each(
    Case(13, operands_and_breaks, X, kernels=1, others=[(2.0,), (X.astype("f"),), ("x",)]),
    Case(13, order_of_arguments, X, [], kernels=1, others=[(2.0, [5]), ("x", [])]),
    Case(13, tuple_of_breaks, X, kernels=1, others=[(Y,)]),
)
def test_operands_on_the_stack_at_breaks(case):
    case.run()


scale = -7.0


class Model:
    def __init__(self, w, b=1.0):
        self.w, self.b = w, b

    def forward(self, x):
        return x * self.w + self.b

    def __call__(self, *inputs, **kwargs):
        return self.forward(*inputs, **kwargs) * 2.0

    @staticmethod
    def shift(x, k=0.5):
        return x - k * x

    @classmethod
    def named(cls, x):
        return x * 2.0 + len(cls.__name__)

    @property
    def norm(self):
        return self.w * self.w + self.b


class Child(Model):
    def forward(self, x, extra=0.0):
        return super().forward(x) - extra


def all_methods(m, x):
    y = m.forward(x) - m.shift(x) * m.norm
    return m(y) + m.named(x) - type(m).named(y)


def forwarded(m, x, inputs, kwargs):
    y = m(*inputs, **kwargs) - x
    return y * 2.0 + 1.0


def other_module(x):
    y = elsewhere.scaled(x) + x * scale
    return y - elsewhere.scaled(y, 1, 2, shift=x)


@each(
    Case(65, all_methods, Model(Y), X, kernels=1,
         others=[(Child(2.0), X), (Model(3), 2.0), (Child(Y, X), X), (None, X)]),
    Case(65, forwarded, Model(2.0), X, (Y,), {}, kernels=1,
         others=[(Child(Y), X, [Y], {"extra": 2.0}), (Model(1), X, (), {"x": X}),
                 (Model(1), X, (X, Y), {}), (Model(1), X, (X,), {"extra": 1})]),
    Case(65, other_module, X, kernels=1, others=[(2.0,), (X.astype("f"),)]),
)
def test_methods_and_modules(case):
    case.run()


def two_deep(x):
    y = x * 2.0 + 1.0
    y = loud(y, "two") - x
    return y * 3.0 - 1.0


def three_deep(x):
    y = x * 0.5 + 1.0
    y = two_deep(y) - x
    return y * 3.0 + 2.0


def four_deep(x):
    y = x * 0.25 + 1.0
    y = three_deep(y) - two_deep(x)
    return y * 3.0 + 4.0


def two_breaks(x):
    y = x * 2.0 + 1.0
    a = loud(y, "first") * x
    b = two_deep(a) * 0.5
    return a * b - y


@each(*[Case(66, f, X, kernels=2, others=[(Y,), (2.0,), (X.astype("f"),), ("x",)])
        for f in (two_deep, three_deep, four_deep, two_breaks)])
def test_breaks_in_callees(case):
    case.run()


def body_break(x, n):
    for i in range(n):
        x = x * 0.5 + i
        print("body", i)
        x = x - 0.25
    return x


def condition_break(x, n):
    i = 0
    while i < n and print("condition", i) is None:
        x = x * 0.5 + i
        i += 1
    else:
        x = x - 1.0
        print("else")
    return x * 2.0


def arms_break(x, n):
    for i in range(9):
        x = x * 0.5 + i
        if i == n:
            print("break at", i)
            break
        if i % 2:
            print("continue")
            continue
        if x[0] > 9.0:
            print("return")
            return x * 2.0
        x = x - 0.25
    return x - 1.0


def call_body(x, n):
    y = x * 2.0 + 1.0
    return body_break(y, n) * y - x


def call_condition(x, n):
    y = x * 2.0 + 1.0
    return condition_break(y, n) * y - x


def call_arms(x, n):
    y = x * 2.0 + 1.0
    return arms_break(y, n) * y - x


LOOPS = [(X, 0), (X, 1), (X * 99.0, 5), (Y, 8)]


@each(*[Case(67, f, X, 3, kernels=2, others=LOOPS) for f in (call_body, call_condition, call_arms)])
def test_loops_with_breaks_in_callees(case):
    case.run()


def loop_calls_breaking(x, n):
    for i in range(n):
        x = x * 0.5 + i
        x = loud(x, i) * 0.125
        x = x - x * 0.25
    return x


def loop_calls_loop(x, n):
    i = 0
    while i < n:
        x = x * 0.5 + 1.0
        x = arms_break(x, i)
        i += 1
    return x * 2.0 - 1.0


@each(
    Case(68, loop_calls_breaking, X, 3, kernels=1, others=[(X, 0), (2.0, 2), (X.astype("f"), 2)]),
    Case(68, loop_calls_loop, X, 3, kernels=1, others=[(X, 0), (X[:1], 2)]),
)
def test_loops_that_call_what_breaks(case):
    case.run()


def recursive(x, n):
    y = x * 0.5 + n
    if n == 0:
        return y
    print("down", n)
    z = recursive(y, n - 1)
    return z * 2.0 - y


def quietly_recursive(x, n):
    y = x * 0.5 + n
    return y if n == 0 else quietly_recursive(y, n - 1) * 2.0 - y


@each(
    Case(69, recursive, X, 2, kernels=1, others=[(X, 0), (X, 5), (2.0, 1)]),
    Case(69, quietly_recursive, X, 2, kernels=1, others=[(X, 0), (X, 12), (2.0, 3)]),
)
def test_recursion(case):
    case.run()
