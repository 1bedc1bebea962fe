"""Sums of an iteration come after its arrays and repeat arithmetic: the same bits, and what keeps its place."""

import numpy as np
import pytest

from pijit.core.graph.reverse.sum_sinking import MOST_REPEATED, Functions, sink_sums

NUMBERS = {"s", "t", "h", "n"}
FUNCTIONS = Functions({"total"}, {"mul", "add"})

STEP = """
a = mul(g, h)
s = s + total(a * v)
b = 0.0 + a
t = total(mul(b, w)) * 2.0
g = b - v
"""
NEEDED = """
a = mul(g, h)
n = total(a * v)
b = a * n
s = s + total(b * w)
g = add(b, v)
"""
CHANGED = """
a = g * h
g = g + v
s = s + total(a * g)
t = total(g * w)
g = g * 0.5
"""
REPLACED = """
a = v * w
h = h * 0.5
s = s + total(a * h)
a = a + g
t = t + total(a * h) - s
g = a * h
"""
EXPENSIVE = """
a = sine(g) * h
b = a * v
s = s + total(b * a)
g = -b
"""
PAIRS = """
a = g * v
s = total(a)
g, v = a, g
t = total(a * v)
"""


def run(lines):
    random = np.random.RandomState(3)
    names = {name: random.normal(size=300) for name in "gvw"}
    names.update(s=0.25, t=1.5, h=0.75, n=2.0, mul=np.multiply, add=np.add, total=np.sum, sine=np.sin)
    exec("\n".join(lines), names)
    return [np.asarray(names[name]).tobytes() for name in ("g", "v", "w", "s", "t", "h", "n")]


def sunk(source, is_number=NUMBERS.__contains__):
    lines = source.strip("\n").split("\n")
    found = sink_sums(lines, FUNCTIONS, is_number)
    assert run(found) == run(lines) and len(found) == len(lines)
    return found


@pytest.mark.parametrize("source", [STEP, NEEDED, CHANGED, REPLACED, EXPENSIVE, PAIRS])
def test_bits_are_those_of_the_statements(source):
    sunk(source)


def test_sums_repeat_arithmetic_before_its_operands_change():
    sums = ["s = (s + total((mul(g, h) * v)))", "t = (total(mul((0.0 + mul(g, h)), w)) * 2.0)"]
    assert sunk(STEP) == ["a = mul(g, h)", "b = 0.0 + a", *sums, "g = b - v"]
    assert sunk(STEP.replace("g = b", "w = b")) == ["a = mul(g, h)", "b = 0.0 + a", sums[1], "w = b - v", sums[0]]


def test_sums_are_last():
    assert sunk("s = total(g * v)\nt = s + 1.0\na = g * w\nb = a * a") == [
        "a = g * w", "b = a * a", "s = total((g * v))", "t = s + 1.0"]


def test_a_sum_that_arrays_need_comes_before_them():
    assert sunk(NEEDED)[:3] == ["a = mul(g, h)", "n = total((mul(g, h) * v))", "b = a * n"]


def test_changed_operands_are_not_read():
    assert "s = (s + total((a * g)))" in sunk(CHANGED)


def test_expensive_functions_are_not_repeated():
    assert "s = (s + total(((a * v) * a)))" in sunk(EXPENSIVE)


def test_long_expressions_are_not_repeated():
    lines = ["a = " + " + ".join(["g"] * (MOST_REPEATED + 2)), "b = a * v", "s = total(b * w)"]
    assert sink_sums(lines, FUNCTIONS, NUMBERS.__contains__)[-1] == "s = total(((a * v) * w))"


@pytest.mark.parametrize("line", ["g[1:] = v[1:]", "g[1:] += v[1:]", "g += v", "mul(g, v, w)", "for k in range(3): g = g * v"])
def test_other_statements_keep_all_places(line):
    assert sunk(STEP + line) == (STEP.strip("\n") + "\n" + line).split("\n")


def test_sums_along_axes_stay():
    source = STEP + "n = total(g * v, axis=0)"
    assert sunk(source)[-1] == "n = total(g * v, axis=0)"


def test_without_sums_nothing_changes():
    source = "h = h * 2.0\ng = g * h\ns = s + h"
    assert sunk(source) == source.split("\n")


def test_indentation_stays():
    lines = ["    a = g * h", "    s = total(a)", "    g = a * v"]
    assert sink_sums(lines, FUNCTIONS, NUMBERS.__contains__) == [
        "    a = g * h", "    s = total((g * h))", "    g = a * v"]
