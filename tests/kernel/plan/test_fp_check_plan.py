"""Plans of floating-point checks: which scalar operations share one, where it is written, and which exit is taken."""

import numpy as np
import pytest
from kernel_graphs import Builder

from pijit.core.graph.types import FLOAT, WORD, Array, numpy_scalar
from pijit.core.kernel.options import PLAIN
from pijit.core.kernel.plan.fp_check_plan import MOST_OPERATIONS, FpCheckPlan
from pijit.core.kernel.plan.kernel_plan import make_plan

DOUBLE, SINGLE, COMPLEX = (numpy_scalar(np.dtype(char)) for char in "dfD")
VECTOR, MATRIX = (Array(np.dtype("d"), ndim, "C") for ndim in (1, 2))


class Numbers(Builder):
    """A graph of two inputs of one type, arrays and an index."""

    TARGET = 1

    def __init__(self, kind=DOUBLE):
        super().__init__("numbers", kind, kind, VECTOR, Array(np.dtype("f"), 1, "C"), MATRIX, WORD)
        self.x, self.y, self.array, self.singles, self.matrix, self.index = self.inputs
        self.side = self.exit(self.TARGET)

    def number(self, name, *args, exit=None):
        """An operation on scalars, whose result has the type of the operands."""
        return self.op(name, args[0].type, *args, exit=exit or self.side)

    def plan(self, options=PLAIN):
        """The plan of the checks. ``self.ops`` are the operations by their results."""
        self.leave(2, self.x)
        self.ops = {op.result: op for block in self.graph.blocks for op in block.ops}
        return make_plan(self.graph, options).fp_checks

    def after(self, plan):
        """For each operation that checks follow: the results of their operations."""
        return {op.result: [[one.result for one in check.ops] for check in checks]
                for op, checks in plan.after.items()}

    def before(self, plan):
        """For each operation that a check precedes: its name, and the results of the check's operations."""
        return [(op.name, [one.result for one in check.ops]) for op, check in plan.before.items()]


def exits(plan):
    return [check.exit for check in sum(plan.after.values(), list(plan.before.values()))]


def test_operations_without_an_effect_between_them_share_a_check():
    b = Numbers()
    product = b.number("mul", b.x, b.y)
    loaded = b.op("load", DOUBLE, b.array, b.index, exit=b.side)
    quotient = b.number("truediv", product, loaded)
    total = b.number("sub", quotient, b.x)
    plan = b.plan()
    assert b.after(plan) == {total: [[product, quotient, total]]}
    assert plan.kinds == {b.ops[product]: "product", b.ops[quotient]: "quotient", b.ops[total]: "sum"}
    assert exits(plan) == [b.side] and plan.exits == {}


def test_a_check_is_written_before_an_effect():
    b = Numbers()
    product = b.number("mul", b.x, b.y)
    b.op("store", None, b.array, b.index, product, exit=b.exit(3))
    total = b.number("add", b.x, b.y, exit=b.exit(4))
    plan = b.plan()
    assert b.before(plan) == [("store", [product])] and b.after(plan) == {total: [[total]]}
    assert [exit.exit for exit in exits(plan)] == [b.side.exit, b.exit(4).exit] and plan.exits == {}


def test_a_check_is_written_at_the_end_of_its_block():
    b = Numbers()
    product = b.number("mul", b.x, b.y)
    block = b.block()
    b.jump(block)
    b.at = block
    total = b.number("add", product, b.y)
    assert b.after(b.plan()) == {product: [[product]], total: [[total]]}


def test_a_check_is_written_before_an_array_is_released():
    b = Numbers()
    made = b.op("ufunc", VECTOR, b.array, exit=b.side, ufunc=np.negative, types="d->d", loop=0)
    product = b.number("mul", b.x, b.y)
    loaded = b.op("load", DOUBLE, made, b.index, exit=b.side)
    total = b.number("add", product, loaded)
    assert b.after(b.plan()) == {loaded: [[product]], total: [[total]]}


def test_the_checks_before_a_loop_over_blocks_take_the_exit_of_the_run():
    b = Numbers()
    product = b.number("mul", b.x, b.y)
    larger = b.op("ufunc", MATRIX, b.matrix, exit=b.exit(3), ufunc=np.exp, types="d->d", loop=3)
    total = b.number("add", b.x, b.y, exit=b.exit(4))
    sums = b.op("reduce", MATRIX, larger, exit=b.exit(5), ufunc=np.add, axis=1, keepdims=True, types="dd->d")
    last = b.op("ufunc", MATRIX, larger, sums, exit=b.exit(6), ufunc=np.divide, types="dd->d", loop=1)
    difference = b.number("sub", total, b.y, exit=b.exit(7))
    plan = b.plan()
    assert b.after(plan) == {product: [[product]], last: [[total]], difference: [[difference]]}
    assert [exit.exit for exit in exits(plan)] == [b.side.exit, b.exit(3).exit, b.exit(7).exit] and plan.exits == {}


def test_a_check_has_a_limited_number_of_operations():
    b = Numbers()
    totals = [b.x]
    for _ in range(2 * MOST_OPERATIONS + 1):
        totals.append(b.number("add", totals[-1], b.y))
    first, second, last = totals[1:][:MOST_OPERATIONS], totals[1:][MOST_OPERATIONS:-1], totals[-1]
    assert b.after(b.plan()) == {second[0]: [first], last: [second, [last]]}


def test_another_precision_starts_another_check_with_the_same_exit():
    b = Numbers()
    product = b.number("mul", b.x, b.y)
    single = b.op("load", SINGLE, b.singles, b.index, exit=b.side)
    square = b.number("mul", single, single, exit=b.exit(3))
    total = b.number("add", square, square, exit=b.exit(3))
    plan = b.plan()
    assert b.after(plan) == {square: [[product]], total: [[square, total]]}
    assert exits(plan) == [b.side, b.side]


def test_parts_of_complex_numbers_share_a_check_with_them():
    b = Numbers(COMPLEX)
    product = b.number("mul", b.x, b.y)
    real = b.op("real", DOUBLE, product)
    square = b.number("mul", real, real)
    assert b.after(b.plan()) == {square: [[product, square]]}


def test_operations_take_the_exit_of_a_pending_check():
    b = Numbers()
    counted = b.op("add", WORD, b.index, b.index, exit=b.exit(3))
    product = b.number("mul", b.x, b.y)
    same = b.op("load", DOUBLE, b.array, b.index, exit=b.exit(b.TARGET))
    following = b.op("load", DOUBLE, b.array, counted, exit=b.exit(4))
    total = b.number("add", same, following, exit=b.exit(4))
    plan = b.plan()
    assert b.after(plan) == {total: [[product, total]]}
    assert plan.exits == {b.ops[following]: b.side} and exits(plan) == [b.side]


@pytest.mark.parametrize("kind, prefix", [(DOUBLE, ""), (SINGLE, ""), (COMPLEX, "complex ")])
def test_the_kinds_of_checks(kind, prefix):
    b = Numbers(kind)
    found = [b.number(name, b.x, b.y) for name in ("add", "sub", "mul", "truediv")]
    names = ["sum", "sum", "product", "quotient"]
    assert b.plan().kinds == {b.ops[value]: prefix + name for value, name in zip(found, names)}


def test_other_operations_are_not_checked():
    b = Numbers(FLOAT)
    b.number("mul", b.x, b.y)
    b.op("mul", DOUBLE, b.op("same", DOUBLE, b.x), b.op("same", DOUBLE, b.y))
    assert b.plan() == FpCheckPlan({}, {}, {}, {})


def test_nothing_is_checked_in_fast_kernels():
    b = Numbers()
    b.number("mul", b.x, b.y)
    assert b.plan(PLAIN._replace(fast=True)) == FpCheckPlan({}, {}, {}, {})
