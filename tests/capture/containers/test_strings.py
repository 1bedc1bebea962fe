"""Strings made of numbers and other strings: f-strings, ``%``, ``format``, ``str``, ``repr``, joined and compared."""

import sys

import numpy as np
import pytest

import pijit
from tests.capture.containers.effects_common import launches
from tests.harness import check, fail_unless_captured, jitted, mode_config, nothing_breaks, same_answers

X = np.array([2.5, -1.0, 7.0, 0.5, 3.0, -0.0])
PYTHON = {"backend": "python"}


def f_strings(x, k):
    s = x.sum()
    text = f"sum {s * 2.0 + 1:.3f} and {s!r} of {len(x)} {k!s:>8}{x[0]!a}"
    return text, x * 2.0 + 1.0, f"a{1}b{'c'}", f"{k:{len(x)}}", f"{text}", f"{text!s}{k}"


def percent(x, k):
    s = x.sum()
    return "sum %g and %r" % (s * 2.0 + 1, k), "%s" % s, "%05d" % len(x), x * 2.0 + 1.0, "%%" % ()


def formatted(x, k):
    s = x.max()
    names = "{:g} {} {!r}".format(s * 2.0, k, "a"), format(s, ".2f"), format(k), str(s), repr(k), ascii(x[0])
    return names, ",".join([str(v) for v in x]), "-".join(("a", str(k))), x * 2.0 + 1.0


def keys(x, d):
    s = 0.0
    for i in range(3):
        name = "w" + str(i)
        if name != "w1":
            s += d[f"w{i}"] * x[i]
        if name == "w2" or name < "w1":
            d[name] = s
    return s, d


def collected(x):
    return [f"{v:.1f}" for v in x], {f"{i}": v for i, v in enumerate(x)}


CASES = [
    (f_strings, (X, 3), [(X, -2.5), (X, "text"), (X, X), (X, None), (X, True), (X, np.bool_(True)),
                         (X.astype(int), 2 ** 70), (X, np.float32(0.1)), (X, 1j)]),
    (percent, (X, 3), [(X, "a"), (X, X), (X, (1, 2)), (X, None), (X.astype("f"), np.int8(3))]),
    (formatted, (X, 3), [(X, "a"), (X, X), (X, 2.5), (X, [1])]),
    (keys, (X, {"w0": 1.0, "w1": 2.0, "w2": 3.0}), [(X, {"w0": 1.0}), (X, {"w0": X, "w2": X}), (X, {})]),
    (collected, (X,), [(X.astype(int),), (X[:0],), (np.array([np.nan, np.inf]),)]),
]

test_same_answers = same_answers(CASES, PYTHON)
test_nothing_breaks = nothing_breaks(CASES)


@pytest.mark.parametrize("f, args", [CASES[k][:2] for k in (0, 3, 4)], ids=["f_strings", "keys", "collected"])
def test_in_machine_code(f, args):
    with fail_unless_captured():
        check(f, *args, others=[(-args[0],) + args[1:]])


def test_an_f_string_of_an_array_is_one_break():
    def f(x, name):
        y = x * 2.0 + x[0]
        text = f"{name}: {len(y)} of {y!r} in {x[0] * 2.0:.2f}"
        return text, (y - x[1] * 2.0) * 0.5

    report = pijit.explain(pijit.jit(f, jit_config=PYTHON), X, "a")
    assert [one.opname for one in report.breaks] == ["CONVERT_VALUE" if sys.version_info >= (3, 13) else "FORMAT_VALUE"] and len(report.kernels) >= 2, str(report)
    check(f, X, "a", others=[(X, "b")], config=PYTHON)


def test_only_the_call_of_print_breaks():
    def f(x):
        y = x * 2.0 + x[0]
        print("at", f"{y[0] * 2.0 - y[1] * x[2] + x[3]:.2f}", y.sum() + x[1] * x[2])
        return (y - x[1] * 2.0) * 0.5

    report = pijit.explain(pijit.jit(f, jit_config=PYTHON), X)
    assert [one.opname for one in report.breaks] == ["CALL_FUNCTION"], str(report)
    if "force_breaks" not in mode_config():
        assert launches(jitted(f, PYTHON), X) == 2
    check(f, X, config=PYTHON)


def test_objects_of_the_program_say_how_they_look_once():
    class Loud:
        def __init__(self):
            self.asked = 0

        def __format__(self, spec):
            self.asked += 1
            return "loud" + spec

    def f(x, loud):
        return f"{loud:>4} {x[0]:.1f}", x * 2.0 + 1.0, loud.asked

    check(f, X, Loud(), config=PYTHON)
