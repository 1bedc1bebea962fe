"""``match`` statements on numbers, strings, tuples, lists, dicts and classes."""

import sys

import numpy as np
import pytest

import pijit
from tests.harness import check, fail_unless_captured

pytestmark = pytest.mark.skipif(sys.version_info < (3, 10), reason="match is new")
X = np.linspace(-2.0, 3.0, 12)
PYTHON = {"backend": "python"}
SOURCE = '''
def by_number(x, n):
    t = 0.0
    for i in range(len(x)):
        match i % 4:
            case 0: t += x[i]
            case 1 | 2: t -= x[i]
            case k if k > n: t += k
            case _: t *= 2.0
    return t

def by_shape(x, op):
    match op:
        case ("add", v): return x + v * 2.0
        case ("mul", v, *rest): return x * v * 2.0, rest
        case [a, b, c]: return x * a + b - c
        case []: return x * 2.0
        case str(): return x * 3.0, op
        case _: return x

def by_key(x, op):
    match op:
        case {"op": "add", "v": v}: return x + v * 2.0
        case {"op": name}: return x * 2.0, name
        case {}: return x
        case _: return -x

def by_class(x, v):
    match v:
        case bool(): return x
        case float(): return x + v * 2.0
        case int(n): return x * n
        case np.ndarray(): return x * v
        case None: return -x
        case _: return v
'''
NAMES = {"np": np}
exec(SOURCE if sys.version_info >= (3, 10) else "by_number = by_shape = by_key = by_class = None", NAMES)
CASES = [
    ("by_number", (X, 2), [(X, 3), (X.astype(int), 0)]),
    ("by_shape", (X, ("add", 2.0)),
     [(X, o) for o in (("mul", 3), ["mul", 2, 1, 0], (1.0, 2, X), [], "text", 7, X, {1: 2})]),
    ("by_key", (X, {"op": "add", "v": 2.0}),
     [(X, o) for o in ({"op": "mul"}, {"op": 1, "w": 2}, {}, (1, 2), {1: 1})]),
    ("by_class", (X, 1.5), [(X, o) for o in (2, True, np.float64(2.5), X, None, "text", np.int64(2))]),
]


@pytest.mark.parametrize("name, args, others", CASES, ids=[case[0] for case in CASES])
def test_same_answers(name, args, others):
    check(NAMES[name], *args, others=others, config=PYTHON)


@pytest.mark.parametrize("name, args", [case[:2] for case in CASES], ids=[case[0] for case in CASES])
def test_nothing_breaks(name, args):
    report = pijit.explain(pijit.jit(NAMES[name], jit_config=PYTHON), *args)
    assert report.kernels and not report.breaks, str(report)


@fail_unless_captured()
def test_in_machine_code():
    check(NAMES["by_number"], X, 2, others=[(X, 3)])
