"""Generated loop nests: arithmetic on stepped, reversed and transposed views, with reductions and stores.

Arrays have as many elements as vectors and tiles of kernels need, which those of `programs` do not have.
`python -m tests.fuzz.nest_programs --count 500 --seed 1` runs as many programs as wanted. With `--mixed` the arrays have
several dtypes. With `--kind loops`, programs loop over elements instead.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
import warnings
from typing import List, Optional, Sequence

from pijit.core import errors
from tests import conftest  # noqa: F401 - it puts the installed pijit before the source tree
from tests.fuzz.running import Counts, run, script

CONFIG = {"backend": "numba"}
VIEWS = ("{a}[{i}:{i}+{n}]", "{a}[::2][:{n}]", "{a}[1::2][:{n}]", "{a}[::-1][:{n}]", "{a}[::3][:{n}]", "{a}[{n}+2::-1][:{n}]",
         "m[:, {i}][:{n}]", "m[{i}, :{n}]", "m.T[{i}][:{n}]", "m[{i}][::2][:{n}]", "{a}[::-2][:{n}]", "{a}[:{n}]",
         "{a}[{i}:{i}+1]", "m.reshape(-1)[::4][:{n}]", "m[::2, {i}][:{n}]")
"""Vectors of ``n`` elements, of `x` or `y` (``a``) and of the matrix `m`."""
MATRICES = ("m[{i}:{i}+{p}, {j}:{j}+{q}]", "m[::2][:{p}, :{q}]", "m[:, ::2][:{p}, :{q}]", "m.T[:{p}, :{q}]",
            "m[::-1, ::-1][:{p}, :{q}]", "m[:{p}, {j}:{j}+1]", "m[{i}:{i}+1, :{q}]", "x[:{q}]", "x[::2][:{q}]", "x[:{p}, None]",
            "x[::-1][:{p}, None]", "m[:, ::-1][:{p}, :{q}]", "m[1:][:{p}, :{q}]", "m.T[::-1][:{p}, :{q}]",
            "m[:{p}, ::3][:, :{q}]")
"""What broadcasts to matrices of ``p`` rows and ``q`` columns."""
STORED_VECTORS = ("x[:{n}]", "x[1:{n}+1]", "y[::2][:{n}]", "x[::-1][:{n}]", "m[:{n}, 1]", "m[2, :{n}]", "y[2:{n}+2]")
STORED_MATRICES = ("m[:{p}, :{q}]", "m[::2][:{p}, :{q}]", "m.T[:{p}, :{q}]", "m[1:][:{p}, :{q}]", "m[:, ::-1][:{p}, :{q}]")
UNARY = ("abs({})", "np.sqrt({})", "-({})", "np.negative({})", "np.square({})", "({}).astype('f8')", "({}).astype('i4')",
         "np.sign({})", "({}) ** 2", "1.0 / ({})", "np.clip({}, -1.0, 1.5)", "np.exp({})", "np.isfinite({})")
BINARY = ("({} + {})", "({} - {})", "({} * {})") * 3 + ("({} / {})", "({} // {})", "({} % {})", "({} * ({} > 0.25))")
REDUCTIONS = ("sum", "sum", "sum", "mean", "max", "min")
AXES = ("", "axis=-1", "axis=0", "axis=1", "axis=0, keepdims=True")

MIXED = ("dddf", "ddl", "iil", "llB", "fffe", "Dd", "?lB", "di", "hd")
"""dtypes of the arrays of one program."""
SPECIAL = ("0.0", "-0.0", "float('inf')", "-float('inf')", "float('nan')", "5e-324", "1e38")
PARTS = {"x": ("[:240]", "[:480:2]", "[240:0:-1]", "[:720:3]", "[5:245]"),
         "y": ("[1000:1240]", "[1000:1480:2]", "[1000:1720:3]"),
         "m": ("[2000:5600].reshape(60, 60)", "[2000:5600].reshape(60, 60).T.copy().T",
               "[2000:16400].reshape(120, 120)[::2, ::2]", "[2000:9200].reshape(60, 120)[:, 60:]",
               "[2000:5600].reshape(60, 60)[::-1]")}
"""Of a wave of numbers, which arguments share."""

HEAD = '''import numpy as np

def wave(step, special, every):
    numbers = np.sin(np.arange(1.0, 20001.0) * step)
    numbers[::every] = special if special is not None else numbers[::every]
    return numbers

def cast(numbers, code):
    if code in "fdeD":
        return numbers.astype(code)
    return (np.clip(np.where(np.isfinite(numbers), numbers, 3.0), -3.0, 3.0) * 40).astype(int).astype(code)

def laid(numbers, layout):
    if layout == 0:
        return numbers
    wide = np.zeros(tuple(2 * size for size in numbers.shape), numbers.dtype)
    part = wide[tuple(slice(None, None, 2) for _ in numbers.shape)] if layout == 1 else wide[tuple(map(slice, numbers.shape))][::-1]
    part[...] = numbers
    return part
'''


class NestProgram:
    """A function of two vectors, a matrix and a number, with calls of it.

    Args:
        seed: what the program follows from.
        mixed: whether the arrays have several dtypes.
    """

    def __init__(self, seed: int, mixed: bool) -> None:
        self._random = random.Random(seed)
        self._mixed = mixed
        self._flat = self._random.random() < 0.5
        pick = self._random.choice
        p, q = pick(((12, 20), (20, 12), (8, 16), (17, 9)))
        self._sizes = {"n": pick((30, 40, 33)), "p": p, "q": q}
        self._views = [self._view(VIEWS if self._flat else MATRICES) for _ in range(self._random.randint(1, 3))]
        self._views.append(self._view(("x[1:{n}+1]",) if self._flat else ("m[1:{p}+1, 2:{q}+2]",)))
        self._target = self._view(STORED_VECTORS if self._flat else STORED_MATRICES)
        self.source = "\n".join([HEAD, self._function()] + self._calls())

    def _view(self, forms: Sequence[str]) -> str:
        pick = self._random.choice
        return pick(forms).format(a=pick("xy"), i=self._random.randint(0, 3), j=self._random.randint(0, 3), **self._sizes)

    def _function(self) -> str:
        lines = [self._statement("r%d" % number) for number in range(self._random.randint(1, 3))]
        results = ["r%d" % number for number, line in enumerate(lines) if line.startswith("r")]
        if self._random.random() < 0.25:
            lines = ["for i in range(3):"] + ["    " + line for line in lines]
        return "def f(x, y, m, c):\n%s\n    return %s\n" % (
            "\n".join("    " + line for line in lines), ", ".join(results + ["x", "y"]))

    def _statement(self, result: str) -> str:
        text, kind, pick = self._expression(self._random.randint(1, 3)), self._random.random(), self._random.choice
        if not any(view in text for view in self._views):
            text = "(%s + %s)" % (text, self._views[0])
        if kind < 0.15:
            return "%s = %s" % (result, text)
        if kind < 0.5:
            return "%s = (%s).%s(%s)" % (result, text, pick(REDUCTIONS), pick(AXES[:2] if self._flat else AXES))
        if kind < 0.6:
            return "%s = (%s > 0.1).%s()" % (result, text, pick(("sum", "any", "all")))
        if kind < 0.85:
            return "%s %s %s" % (self._target, pick(("=", "=", "+=", "*=", "-=")), text)
        if kind < 0.93 and self._flat:
            return "%s = np.dot(%s, y[::2][:%d])" % (result, self._view(VIEWS[:2] + VIEWS[3:5]), self._sizes["n"])
        return "%s = np.cumsum(%s%s)" % (result, text, "" if self._flat else ", axis=-1")

    def _expression(self, depth: int) -> str:
        pick, kind = self._random.choice, self._random.random()
        if depth == 0 or kind < 0.15:
            return pick(self._views) if self._random.random() < 0.85 else pick(("c", "0.5", "2.0", "1.5"))
        if kind < 0.55:
            return pick(BINARY).format(self._expression(depth - 1), self._expression(depth - 1))
        if kind < 0.7:
            return pick(UNARY).format(self._expression(depth - 1))
        if kind < 0.85:
            return "np.%s(%s, %s)" % (pick(("minimum", "maximum")), self._expression(depth - 1), self._expression(depth - 1))
        return "np.where(%s > %s, %s, %s)" % (self._expression(depth - 1), self._expression(0), self._expression(depth - 1),
                                              self._expression(depth - 1))

    def _calls(self) -> List[str]:
        codes = self._random.choice(MIXED) if self._mixed else self._random.choice(("d", "d", "d", "f"))
        calls = ["def call_%d():\n    numbers = %s\n    return (%s), {}\n" % (number, self._wave(), self._arguments(codes))
                 for number in range(4)]
        return calls + ["CALLS = [call_0, call_0, call_0, call_1, call_1, call_2, call_2, call_3, call_3, call_0]\n"]

    def _wave(self) -> str:
        pick = self._random.choice
        return "wave(%s, %s, %d)" % (pick(("1.7", "3.1")), pick(SPECIAL + (None,) * 14), pick((3, 7, 11)))

    def _arguments(self, codes: str) -> str:
        pick = self._random.choice
        arrays = ["laid(cast(numbers, %r)%s, %d)" % (pick(codes), pick(PARTS[name]), pick((0, 0, 1, 2))) for name in "xym"]
        shared = "cast(numbers, %r)" % pick(codes)
        if self._random.random() < 0.5:  # they share memory
            arrays = ["%s%s" % ("whole", pick(PARTS[name])) for name in "xym"]
            return "*(lambda whole: (%s))(%s), %s" % (", ".join(arrays), shared, self._number())
        return ", ".join(arrays + [self._number()])

    def _number(self) -> str:
        return self._random.choice(("0.5", "-2.0", "np.float64(0.25)", "3", "np.int64(-2)", "np.float32(0.5)"))


ELEMENTS = ("x[i]", "x[i]", "x[i - 1]", "x[i + 1]", "x[n - i]", "x[2 * i]", "y[i]", "y[-i]", "y[3 * i]", "m[i, 2]", "m[2, i]",
            "m[i, i]", "m[i // 2, i % 3]", "out[i]", "out[i - 1]", "i", "float(i)", "c", "0.5")
INNER_ELEMENTS = ("m[i, j]", "m[j, i]", "m[i, j + 1]", "m[i - 1, j]", "x[j]", "y[i + j]", "x[i - j]", "m[j, 3]")
LOOPS = ("for i in range(1, n):", "for i in range(2, n + 1):", "for i in range(n, 0, -1):", "for i in range(1, n, 2):",
         "for i in range(3, n, 3):", "for i in range(1, len(out) - 1):")
INNER_LOOPS = ("for j in range(9):", "for j in range(i):", "for j in range(8, 0, -1):", "for j in range(1, 17, 2):")
ASSIGNMENTS = ("s += {}", "s += {}", "s = max(s, {})", "s = s * 0.5 + {}", "out[i] = {}", "out[i] += {}", "x[i] = {}", "y[2 * i] = {}",
               "m[i, 1] = {}", "x[n - i] = {}", "out[i - 1] *= {}", "t = {}; out[i] = t * 0.5", "k += {} > 0.25")
INNER_ASSIGNMENTS = ("s += {}", "out[i] += {}", "m[i, j] = {}", "x[j] -= {}", "out[j] = {}", "m[j, i] += {}")
CONDITIONS = ("if {} > 0.25:", "if {} <= {}:", "if i % 2:", "if {} > 0.1 and {} < 0.5:")
SCALAR_UNARY = ("abs({})", "np.sqrt({})", "-({})", "({}) ** 2", "np.exp({})", "min({}, 0.5)", "max({}, c)", "float({})", "np.sin({})")


class LoopProgram(NestProgram):
    """The same with loops over elements, as people write them by hand."""

    def _function(self) -> str:
        self._inner = False
        lines = ["n = %d" % self._sizes["n"], "s, k = 0.0, 0", "out = np.zeros(n + 2, x.dtype)"]
        for _ in range(self._random.randint(1, 2)):
            lines.append(self._random.choice(LOOPS))
            lines += ["    " + line for line in self._block(1)]
        return "def f(x, y, m, c):\n%s\n    return s, k, out, x, y\n" % "\n".join("    " + line for line in lines)

    def _block(self, depth: int) -> List[str]:
        lines: List[str] = []
        pick = self._random.choice
        for _ in range(self._random.randint(1, 3 if depth else 2)):
            kind = self._random.random()
            if depth and kind < 0.2 and not self._inner:
                head, self._inner = pick(INNER_LOOPS), True
                lines += [head] + ["    " + line for line in self._block(0)]
                self._inner = False
            elif depth and kind < 0.35:
                condition = pick(CONDITIONS)
                lines.append(condition.format(*[self._expression(1) for _ in range(condition.count("{}"))]))
                lines += ["    " + line for line in self._block(0)]
                lines += ["else:"] + ["    " + line for line in self._block(0)] if self._random.random() < 0.4 else []
            else:
                lines.append(pick(INNER_ASSIGNMENTS if self._inner else ASSIGNMENTS).format(self._expression(2)))
        return lines

    def _expression(self, depth: int) -> str:
        pick, kind = self._random.choice, self._random.random()
        if depth == 0 or kind < 0.2:
            return pick(INNER_ELEMENTS if self._inner and kind < 0.7 else ELEMENTS)
        if kind < 0.75:
            return pick(BINARY).format(self._expression(depth - 1), self._expression(depth - 1))
        return pick(SCALAR_UNARY).format(self._expression(depth - 1))


PROGRAMS = {"views": NestProgram, "loops": LoopProgram}
"""The kinds of programs."""


def compare(seed: int, kind: str, mixed: bool, counts: Counts) -> Optional[str]:
    """Run a program with and without pijit.

    Returns:
        What differs and the program, or None.
    """
    source = PROGRAMS[kind](seed, mixed).source
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            run(source, CONFIG, counts)
    except Exception as error:
        return "seed {}: {}: {}\n{}".format(seed, type(error).__name__, error, script(source, CONFIG))
    return None


def main(arguments: Optional[List[str]] = None) -> int:
    """Run programs; the exit code is 1 if one differs. A program that ends the process stays in a file."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.nest_programs", description=__doc__)
    parser.add_argument("--count", type=int, default=500, help="how many programs (500)")
    parser.add_argument("--seed", type=int, default=1, help="of the first one (1)")
    parser.add_argument("--kind", choices=list(PROGRAMS), default="views", help="what the programs have (%(default)s)")
    parser.add_argument("--mixed", action="store_true", help="arrays of several dtypes")
    parser.add_argument("--running", default=os.path.join(tempfile.gettempdir(), "pijit-nest.py"),
                        help="the file with the program that runs (%(default)s)")
    options = parser.parse_args(arguments)
    errors.set_strict(True)
    counts, found = Counts(), 0
    for seed in range(options.seed, options.seed + options.count):
        with open(options.running, "w") as file:
            file.write(script(PROGRAMS[options.kind](seed, options.mixed).source, CONFIG))
        difference = compare(seed, options.kind, options.mixed, counts)
        if difference is not None:
            found += 1
            sys.stderr.write(difference + "\n")
    sys.stderr.write("{}, {} differences\n".format(counts, found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
