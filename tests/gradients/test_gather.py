"""Additions to shifted parts of a vector become one statement: the same bits, and what is left as it is."""

import textwrap

import numpy as np
import pytest

from pijit.core.graph.reverse.gather import NUMBER, gather

HEAT = """
q = g[1:-1].copy()
a = 0.0 + q
g[1:-1] = 0.0 + f(a, 0.0)
b = 0.0 + f(a, 0.1)
g[2:] += f(b, 0.0)
g[:-2] += -f(b, c)
g[1:-1] += f(b, 2.0)
"""
UPWIND = """
w = v[1:] * 2.0
q = g[1:].copy()
a = q * v[1:]
b = a * w
g[1:] += a
g[:-1] += b
a = a + b
g[1:] += a - v[1:]
h = h + 1.0
"""
SECOND = """
q = g[2:-1].copy()
g[2:-1] = 0.0 + q
g[3:] += q * 0.5
g[1:-2] += q / 3.0
g[:-3] += q * w
"""
LENGTHS = {"v": 0, "c": NUMBER, "w": 1}


def lacking_of(lengths):
    return lambda vector: lengths.get if vector == "g" else None


def run(lines, n, lengths):
    random = np.random.RandomState(n)
    names = {"f": lambda x, y: x * 0.75 + y, "g": random.normal(size=n), "v": random.normal(size=n), "c": 0.3, "h": 1.0,
             "w": random.normal(size=n - lengths["w"])}
    exec("\n".join(lines), names)
    return names["g"].tobytes()


@pytest.mark.parametrize("source, lengths", [(HEAT, LENGTHS), (UPWIND, LENGTHS), (SECOND, dict(LENGTHS, w=3))])
def test_bits_are_those_of_the_statements(source, lengths):
    lines = textwrap.indent(source.strip("\n"), "").split("\n")
    found = gather(lines, lacking_of(lengths), {"f"}, {"a", "b"})
    assert found.name == "g" and len(found.lines) != len(lines)
    assert sum(line.startswith("g[") and "q[" in line and line.count("q") > 2 for line in found.lines) == 1
    for n in range(found.least, found.least + 9):
        assert run(found.lines, n, lengths) == run(lines, n, lengths)
    for n in (1000, 1001):
        assert run(found.lines, n, lengths) == run(lines, n, lengths)


@pytest.mark.parametrize("old, new", [
    ("g[2:] += f(b, 0.0)\ng[:-2] += -f(b, c)\n", ""), ("f(b, c)", "other(b, c)"), ("f(b, c)", "f(b, unknown)"), ("f(b, c)", "f(b, v)"),
    ("g[2:] += f(b, 0.0)", "g[3:] += f(b, 0.0)"), ("g[2:] += f(b, 0.0)", "g[2:] = f(b, 0.0)"),
    ("g[2:] += f(b, 0.0)", "g[2:] += f(g[2:], 0.0)"), ("g[2:] +=", "g[2::1] +="), ("b = 0.0", "h = b = 0.0"),
    ("b", "h"), ("g[1:-1] += f(b, 2.0)", "g[1:-1] += f(b, 2.0)\nz = b"), ("g[1:-1] = ", "g[2:] = "),
    ("q = g[1:-1].copy()", "q = k[1:-1].copy()")])
def test_other_statements_stay(old, new):
    lines = HEAT.strip("\n").replace(old, new).split("\n")
    assert gather(lines, lacking_of(LENGTHS), {"f"}, {"a", "b"}) is None


def test_long_expressions_stay():
    body = ["q = g[1:-1].copy()", "a = q"] + ["a = a + a"] * 14 + ["g[1:-1] = 0.0 + a", "g[2:] += a", "g[:-2] += a"]
    assert gather(body, lacking_of(LENGTHS), set(), {"a"}) is None


def test_lines_keep_their_indentation():
    lines = textwrap.indent(HEAT.strip("\n"), "        ").split("\n")
    found = gather(lines, lacking_of(LENGTHS), {"f"}, {"a", "b"})
    assert all(line.startswith("        ") and line[8] != " " for line in found.lines) and found.least == 4
