"""Additions to shifted parts of an array become one statement: the same bits, and what is left as it is."""

import textwrap

import numpy as np
import pytest

from pijit.core.graph.reverse.gather import gather
from pijit.core.graph.reverse.liveness import live_in, without_dead
from pijit.core.graph.reverse.repeated_expressions import NUMBER, Facts

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
PLATE = """
q = g[1:-1, 1:-1].copy()
a = 0.0 + q
g[1:-1, 1:-1] = 0.0
b = f(a, 0.25)
g[1:-1, 2:] += b
g[1:-1, :-2] += f(b, 0.5) * w
g[:-2, 1:-1] += b * v[1:-1, 2:]
g[2:, 1:-1] += b - c
"""
UPWIND_2 = """
q = g[:, 1:].copy()
g[:, 1:] += q * v[:, :-1]
g[:, :-1] += q * 0.5
g[:, 1:] += q
"""
CUBE = """
q = g[1:, :-1, 1:-1].copy()
g[1:, :-1, 1:-1] = 0.0 + q
g[:-1, 1:, 2:] += q * 2.0
g[1:, 1:, :-2] += q * v[:-1, 1:, 1:-1]
"""
SHIFTS = """
g3 = 2.0 * v[1:]
g4 = g3 * w
g = zeros(v)
g[:-1] += -g4
a = g4 + c
g[1:] += a * w
g[:-1] += f(a, 1.5)
"""
LENGTHS = {"v": (0,), "c": NUMBER, "w": (1,)}


def lacking_of(lengths):
    return lambda name: lengths.get if name == "g" else None


def run(lines, n, lengths, ndim=1):
    random = np.random.RandomState(n)
    shape = tuple(n + axis for axis in range(ndim))
    names = {"f": lambda x, y: x * 0.75 + y, "g": random.normal(size=shape), "v": random.normal(size=shape), "c": 0.3,
             "h": 1.0, "w": random.normal(size=tuple(size - cut for size, cut in zip(shape, lengths["w"]))),
             "zeros": np.zeros_like, "empty": lambda array: np.full_like(array, np.nan)}
    exec("\n".join(lines), names)
    return names["g"].tobytes()


def gathered(lines, lengths=LENGTHS, functions=("f",), temporary=("a", "b"), cheap=()):
    adjoints = {"g", "g1", "g2", "g3", "g4"}
    return gather(lines, Facts(lacking_of(lengths), set(functions), set(cheap), adjoints, set(temporary).__contains__,
                               {"zeros": "empty"}))


@pytest.mark.parametrize("source, lengths", [
    (HEAT, LENGTHS), (UPWIND, LENGTHS), (SECOND, dict(LENGTHS, w=(3,))), (SHIFTS, LENGTHS),
    (PLATE, {"v": (0, 0), "c": NUMBER, "w": (2, 2)}), (UPWIND_2, {"v": (0, 0), "w": (0, 1)}),
    (CUBE, {"v": (0, 0, 0), "w": (1, 1, 2)})])
def test_bits_are_those_of_the_statements(source, lengths):
    lines, ndim = source.strip("\n").split("\n"), len(lengths["v"])
    found = gathered(lines, lengths)
    assert found.name == "g" and found.lines != lines and len(found.least) == ndim
    whole = [line for line in found.lines if line.startswith("g[") and " = (((" in line]
    assert len(whole) == 1 and not any(line.startswith("a =") for line in found.lines)
    least = max(size - axis for axis, size in enumerate(found.least))
    for n in list(range(least, least + 9)) + [40, 41]:
        assert run(found.lines, n, lengths, ndim) == run(lines, n, lengths, ndim)



@pytest.mark.parametrize("source, lengths, copies", [
    (HEAT, LENGTHS, ["q_0_first = g[1:-1][:2].copy()", "q_0_last = g[1:-1][-2:].copy()"]),
    (UPWIND, LENGTHS, ["q_0_last = g[1:][-1:].copy()", "q_0_first = g[1:][:1].copy()"]),
    (UPWIND_2, {"v": (0, 0), "w": (0, 1)}, ["q_1_last = g[:, 1:][:, -1:].copy()", "q_1_first = g[:, 1:][:, :1].copy()"])])
def test_only_ends_are_copied(source, lengths, copies):
    found = gathered(source.strip("\n").split("\n"), lengths).lines
    assert sorted(line for line in found if "copy" in line) == sorted(copies)


def test_a_copy_that_is_read_later_stays():
    lines = HEAT.strip("\n").split("\n") + ["h = h + (q * 2.0)[0]"]
    found = gathered(lines)
    assert [line for line in found.lines if "copy" in line] == ["q = g[1:-1].copy()"] and found.lines != lines
    for n in range(6, 14):
        assert run(found.lines, n, LENGTHS) == run(lines, n, LENGTHS)


REPEATED = """
d = f(v[1:], 0.5)
e = d * d
w = 2.0 * e
g = zeros(v)
g[1:] += w * d
g[:-1] += e
g[:-1] += w
"""
TWICE = """
d = v[1:] - v[:-1]
r = d[1:-1]
q = g[1:].copy()
g[1:] = 0.0 + q
g[1:] += q * d
g[:-1] += q * (2.0 * d)
"""
PART = """
d = v * 3.0
q = g[1:].copy()
g[1:] = 0.0 + q
g[1:] += q * d[1:]
g[:-1] += q * d[:-1]
"""
WITH_SIZES = {"v": (0,), "c": NUMBER, "w": (1,), "d": (1,), "e": (1,)}


@pytest.mark.parametrize("updates, begins", [
    (("[1:] += w", "[:-1] += c", "[:-1] += w"), "empty"), (("[1:] += w", "[1:] += v[1:]", "[:-1] += w"), "empty"),
    (("[1:-1] += w[1:]", "[2:] += w[1:]", "[2:] += v[2:]"), "zeros"),
    (("[:-2] += w[1:]", "[1:-1] += w[1:]", "[2:] += w[1:]"), "zeros")])
def test_an_array_of_which_all_elements_are_stored_begins_without_contents(updates, begins):
    lines = ["g = zeros(v)"] + ["g" + update for update in updates]
    found = gathered(lines, WITH_SIZES)
    assert found.lines[0] == "g = %s(v)" % begins and sum("empty" in line for line in found.lines) == (begins == "empty")
    for n in list(range(6, 15)) + [40]:
        assert run(found.lines, n, WITH_SIZES) == run(lines, n, WITH_SIZES)


@pytest.mark.parametrize("source, lengths, dead", [
    (REPEATED, WITH_SIZES, "dew"), (TWICE, WITH_SIZES, "d"), (PART, dict(WITH_SIZES, d=(0,)), "d")])
def test_cheap_arithmetic_is_repeated_in_the_terms(source, lengths, dead):
    lines = source.strip("\n").split("\n")
    found = gathered(lines, lengths, cheap=("f",))
    read = {name for line in found.lines if line.startswith("g[") for name in live_in([line])}
    assert not read & set(dead)
    assert not any(line[0] in dead for line in without_dead(found.lines, lambda name: name != "g"))
    for n in list(range(6, 15)) + [40, 41]:
        assert run(found.lines, n, lengths) == run(lines, n, lengths)


@pytest.mark.parametrize("old, new, read", [
    ("e = d * d", "e = d * d\nv[0] = 1.0", "d"), ("e = d * d", "e = d * d\nv += 1.0", "d"),
    ("d = f(v[1:], 0.5)", "d = other(v[1:], 0.5)", "d"), ("e = d * d", "e = d * d\nd[:] = v[1:]", "de"),
    ("e = d * d", "e = d * d * d * d * d * d\nd = e + 1.0", "e")])
def test_variables_are_read_where_their_operands_change_or_they_are_not_cheap(old, new, read):
    lines = REPEATED.strip("\n").replace(old, new).split("\n")
    found = gathered(lines, WITH_SIZES, cheap=("f",))
    if "other" in new:
        lines, found = ([line.replace("other", "f") for line in some] for some in (lines, found.lines))
    else:
        found = found.lines
    assert set(read) <= {name for line in found if line.startswith("g[") for name in live_in([line])}
    for n in range(6, 15):
        assert run(found, n, WITH_SIZES) == run(lines, n, WITH_SIZES)


@pytest.mark.parametrize("old, new", [
    ("g[2:] += f(b, 0.0)\ng[:-2] += -f(b, c)\n", ""), ("f(b, c)", "other(b, c)"), ("f(b, c)", "f(b, unknown)"), ("f(b, c)", "f(b, v)"),
    ("g[2:] += f(b, 0.0)", "g[3:] += f(b, 0.0)"), ("g[2:] += f(b, 0.0)", "g[2:] = f(b, 0.0)"),
    ("g[2:] += f(b, 0.0)", "g[2:] += f(g[2:], 0.0)"), ("g[2:] +=", "g[2::1] +="), ("b = 0.0", "h = b = 0.0"),
    ("b", "h"), ("g[1:-1] += f(b, 2.0)", "g[1:-1] += f(b, 2.0)\nz = b"), ("g[1:-1] = ", "g[2:] = "),
    ("q = g[1:-1].copy()", "q = k[1:-1].copy()")])
def test_other_statements_stay(old, new):
    lines = HEAT.strip("\n").replace(old, new).split("\n")
    assert gathered(lines) is None


def test_long_expressions_stay():
    body = ["q = g[1:-1].copy()", "a = q"] + ["a = a + a"] * 14 + ["g[1:-1] = 0.0 + a", "g[2:] += a", "g[:-2] += a"]
    assert gathered(body) is None


def test_lines_keep_their_indentation():
    lines = textwrap.indent(HEAT.strip("\n"), "        ").split("\n")
    found = gathered(lines)
    assert all(line.startswith("        ") and line[8] != " " for line in found.lines) and found.least == (4,)


@pytest.mark.parametrize("source, read", [
    ("a = b + c\nd = a * e", ["b", "c", "e"]), ("a += b", ["b", "a"]), ("a[i] = b[j]", ["b", "j", "a", "i"]),
    ("for i in range(n):\n    a = b[i]\n    c[i] = a", ["range", "n", "b", "c"]),
    ("if a > b:\n    raise E\nb = 1", ["a", "b", "E"]), ("a, b = b, a\nc = a", ["b", "a"]),
    ("    a = 1.0\n    b = a.shape[0] + k", ["k"])])
def test_live_in_variables_are_read_before_they_are_assigned(source, read):
    assert live_in(source.split("\n")) == read


def test_assignments_that_nothing_reads_are_dead():
    lines = ["a = 1", "b = a", "c = b", "d[0] = c", "c = 2", "a = 3"]
    assert without_dead(lines, lambda name: name != "a") == ["a = 1", "b = a", "c = b", "d[0] = c", "a = 3"]
