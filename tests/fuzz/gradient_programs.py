"""Generated programs over floats and arrays of floats, whose gradients are compared with differences.

`python -m tests.fuzz.gradient_programs --count 2000 --seed 1` runs as many programs as wanted.
"""

from __future__ import annotations

import argparse
import random
import sys
import warnings
from typing import Any, List, Optional

import numpy as np

from pijit import GradientError, value_and_grad
from tests import conftest  # noqa: F401 - it puts the installed pijit before the source tree

UNARY = ("np.sin({})", "np.tanh({})", "np.exp(0.3 * {})", "np.sqrt(1.5 + {} * {})", "-{}", "abs({} + 0.3)", "{} ** 2",
         "np.log(2.0 + {} * {})", "np.arctan({})", "np.square({})")
BINARY = ("{} + {}", "{} - {}", "{} * {}", "{} / (2.0 + {} ** 2)", "np.maximum({}, {})", "np.minimum({}, {})",
          "np.hypot({}, 1.0 + {} ** 2)", "np.where({} > 0.1, {}, 0.5)", "np.arctan2({}, 2.0 + abs({}))")
SCALARS = ("{a}[{i}]", "{a}.sum() * 0.2", "{a}.mean()", "{a}.max()", "np.dot({a}, {b}) * 0.1", "float({a}[{i}])",
           "math.sin({a}[{i}])", "min({a})", "max({a}[{i}], {b}[{j}])", "sum(v * v for v in {a}) * 0.1", "np.prod({a}[:2])",
           "np.linalg.norm({a} + 2.0)", "sorted({a})[2]", "({a} + np.arange(6.0)).std()", "np.add.reduce({a}[::2])", "abs({a}[{i}] * 1j + 0.3)")
VECTORS = ("{a}[::-1]", "np.roll({a}, {i})", "np.concatenate([{a}[:3], {b}[3:]])", "np.cumsum({a}) * 0.3", "np.outer({a}, {b})[{i}]",
           "np.sort({a})", "{a}.reshape(2, 3).T.ravel()", "np.array([v * 0.5 for v in {a}])", "({a}[:, None] * {b}[None]).sum(axis=0) * 0.2",
           "{a}[[0, 2, 2, 1, 5, {i}]]", "np.stack([{a}, {b}]).mean(axis=0)", "np.convolve({a}, {b}[:3], 'same') * 0.3",
           "np.fft.irfft(np.fft.rfft({a}), 6)", "helper({a}, {b})", "{a}.copy()", "np.interp({a}, [-9.0, 0.0, 9.0], {b}[:3])")
STORES = ("{t}[{i}] = {s}", "{t}[1:] = {a}[:-1]", "{t}[:3] *= {b}[3:]", "{t} += {a}", "{t} -= 0.3 * {t}[::-1].copy()",
          "{t}[{t} > 0.4] = {s} * 0.5", "{t}[[1, {j}, 1]] = {a}[:3]", "np.add.at({t}, [0, 0, {i}], {a}[:3])", "{t}[{i}] += {b}[{j}]",
          "np.multiply({t}, {a}, out={t})", "np.copyto({t}, {a}, where={b} > 0.0)", "{t}[{i}], {t}[{j}] = {t}[{j}], {t}[{i}]",
          "{t}[1:-1] = 0.5 * ({t}[2:] + {t}[:-2])", "{t}.sort()", "{t} /= 2.0 + {a} ** 2")

HEADER = """import math
import numpy as np

def helper(p, q, scale=0.5):
    r = p * scale
    r[0] = q[1]
    return r + q

"""


class Writer:
    """Writes one program."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._lines: List[str] = []
        self._vectors, self._scalars = ["x", "y"], ["x[0]"]

    def source(self) -> str:
        """The program: a function `f(x)` of six floats that returns one number."""
        self._lines = ["def f(x):", "    y = x * 1.5 + 0.1"]
        self._block(1, self._random.randint(3, 8), 0)
        total = " + ".join("({} * w).sum()".format(name) for name in self._vectors[1:])
        self._lines += ["    w = np.array([0.3, -0.7, 1.1, 0.4, -0.2, 0.9])",
                        "    return {} + {}".format(total, " + ".join(self._scalars))]
        return HEADER + "\n".join(self._lines) + "\n"

    def _block(self, depth: int, count: int, loops: int) -> None:
        for _ in range(count):
            kind = self._random.random()
            if kind < 0.12 and depth < 3 and loops < 2:
                self._put(depth, "for k{} in range({}):".format(depth, self._random.randint(1, 3)))
                self._nested(depth, loops + 1)
            elif kind < 0.24 and depth < 3:
                self._put(depth, "if {} > {}:".format(self._scalar(), self._random.choice((0.0, 0.5, 1.0))))
                self._nested(depth, loops)
            else:
                self._statement(depth)

    def _nested(self, depth: int, loops: int) -> None:
        before = list(self._vectors), list(self._scalars)
        self._block(depth + 1, self._random.randint(1, 3), loops)
        if loops and self._random.random() < 0.15:
            self._put(depth + 1, "if {} > 2.0:".format(self._scalar()))
            self._put(depth + 2, "break")
        self._vectors, self._scalars = before

    def _statement(self, depth: int) -> None:
        kind = self._random.random()
        if kind < 0.4 and len(self._vectors) > 1:
            target = self._random.choice(self._vectors[1:])
            self._put(depth, self._filled(self._random.choice(STORES), t=target))
        elif kind < 0.75:
            name = self._name("a", self._vectors)
            self._put(depth, "{} = {}".format(name, self._vector(2)))
            self._vectors.append(name)
        else:
            name = self._name("s", self._scalars)
            self._put(depth, "{} = {}".format(name, self._scalar()))
            self._scalars.append(name)

    def _name(self, letter: str, known: List[str]) -> str:
        return "{}{}".format(letter, sum(line.count(" = ") for line in self._lines))

    def _vector(self, depth: int) -> str:
        kind = self._random.random()
        if depth == 0 or kind < 0.2:
            return self._random.choice(self._vectors)
        if kind < 0.5:
            form = self._random.choice(BINARY)
            return form.format(*["({})".format(self._vector(depth - 1)) for _ in range(form.count("{}"))])
        if kind < 0.7:
            form = self._random.choice(UNARY)
            return form.format(*["({})".format(self._vector(depth - 1))] * form.count("{}"))
        return self._filled(self._random.choice(VECTORS))

    def _scalar(self) -> str:
        if self._random.random() < 0.3:
            return "({} * {})".format(self._random.choice(self._scalars), self._random.choice(self._scalars))
        return self._filled(self._random.choice(SCALARS))

    def _filled(self, form: str, t: str = "") -> str:
        return form.format(a=self._random.choice(self._vectors), b=self._random.choice(self._vectors), t=t,
                           s=self._random.choice(self._scalars), i=self._random.randrange(6), j=self._random.randrange(6))

    def _put(self, depth: int, text: str) -> None:
        self._lines.append("    " * depth + text)


def check(seed: int) -> Optional[bool]:
    """Compare one program; None if it is refused, or if differences say nothing at this point (a kink, a large value).

    Raises:
        AssertionError: the gradient, the value or the argument's end state is wrong; the text has the program.
    """
    source = Writer(seed).source()
    scope: Any = {}
    exec(compile(source, "<gradient program {}>".format(seed), "exec"), scope)
    f, x = scope["f"], np.random.RandomState(seed).standard_normal(6)
    direction = np.random.RandomState(seed + 1).standard_normal(6)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        given, plain = x.copy(), x.copy()
        try:
            expected = f(plain)
        except ValueError:
            return None
        try:
            value, gradient = value_and_grad(f)(given)
        except GradientError as error:
            assert error.reason_id == "PJ502", source
            return None
        assert np.array(value).tobytes() == np.array(expected).tobytes() and given.tobytes() == plain.tobytes(), source
        slopes = [(f(x + h * direction) - f(x - h * direction)) / (2.0 * h) for h in (1e-5, 2e-6)]
    scale = max(1.0, abs(slopes[0]), abs(float(expected)))
    if not (np.isfinite(slopes).all() and abs(slopes[0] - slopes[1]) < 1e-6 * scale and scale < 1e8):
        return None
    got = float((gradient * direction).sum())
    assert abs(got - slopes[1]) < 2e-5 * scale, "{}\ngot {}, differences {}".format(source, got, slopes)
    return True


def main(arguments: Optional[List[str]] = None) -> int:
    """Run programs; the exit code is 1 if one is wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.gradient_programs", description=__doc__)
    parser.add_argument("--count", type=int, default=2000, help="how many programs (2000)")
    parser.add_argument("--seed", type=int, default=1, help="of the first one (1)")
    options = parser.parse_args(arguments)
    compared = wrong = 0
    for seed in range(options.seed, options.seed + options.count):
        try:
            compared += check(seed) is True
        except Exception as error:
            wrong += 1
            sys.stderr.write("seed {}: {}: {}\n".format(seed, type(error).__name__, error))
    sys.stderr.write("{} programs, {} compared, {} wrong\n".format(options.count, compared, wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
