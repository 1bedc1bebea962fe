"""Operands in kernel source are equal by name or by value, whatever their text is."""

import numpy as np
import pytest

from pijit.core.kernel.plan.operands import ONE, ConstantOperand, Literal, Name, integer


@pytest.mark.parametrize("one, other", [
    (Name("x0"), Name("x0")), (integer(1), ONE), (Literal(1, "1"), ONE), (ConstantOperand(0.5, "narrow((0.5))"), Literal(0.5)),
    (Literal(float("nan")), Literal(float("nan")))])
def test_equal_operands(one, other):
    assert one == other and hash(one) == hash(other) and not one != other


@pytest.mark.parametrize("one, other", [
    (Name("x0"), Name("x1")), (Name("(1)"), ONE), (Literal(1.0), Literal(1)), (Literal(0.0), Literal(-0.0)),
    (Literal(True), Literal(1)), (Literal(np.float32(1.5)), Literal(1.5)), (ONE, "(1)")])
def test_operands_that_differ(one, other):
    assert one != other and not one == other
