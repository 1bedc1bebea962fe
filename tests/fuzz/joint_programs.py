"""Generated programs over arrays, whose gradients by kernels are compared with the tape's, bit for bit.

`python -m tests.fuzz.joint_programs --count 500 --seed 1` runs as many programs as wanted. With `--kind loops` they
have loops, with `--kind stencils` loops over slices of vectors, with `--kind branches` branches in loops and beside
them.
"""

from __future__ import annotations

import argparse
import random
import sys
from typing import Any, Dict, List, Tuple

import numpy as np

from pijit import value_and_grad
from pijit.core.graph.reverse.rows import limits
from pijit.gradient_kernels import GradientKernels
from tests import conftest  # noqa: F401 - it puts the installed pijit before the source tree

UNARY = ("np.sin({})", "np.tanh({})", "np.exp({})", "np.sqrt({})", "-{}", "abs({})", "{} ** 2", "{} ** 3", "np.log({})",
         "{} ** 0.5", "{} ** -1",
         "np.arctan({})", "np.square({})", "np.log1p({})", "np.cosh({})", "2.0 * {}", "{} / 3.0", "1.0 - {}", "0.5 / {}")
BINARY = ("{} + {}", "{} - {}", "{} * {}", "{} / {}", "np.maximum({}, {})", "np.minimum({}, {})", "np.hypot({}, {})",
          "np.arctan2({}, {})", "np.power({}, {})")
SHORTER = ("{}.sum(axis=0)", "{}.sum(axis=1)", "{}.max(axis=1)", "{}.mean(axis=0)", "{}[0]", "{}[:, 1]")
SAME = ("{}[::-1]", "{}[:, ::-1]", "{0} - {0}.max(axis=1, keepdims=True)", "{0} / {0}.sum(axis=0, keepdims=True)",
        "{}[1:] + {}[:-1]", "{} @ w")
NUMBERS = ("{}.sum()", "{}.mean()", "{}.max()", "np.dot({0}[1], {0}[0])", "({0} * {0}).sum()")
SPECIAL = (0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e300, 5e-324)


class Program:
    """A function of two matrices and a number, of one type of float, that returns one number."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._matrices, self._rows, self._numbers = ["x", "y"], ["x[2]"], ["a"]
        lines = ["def f(x, y, a):", "    w = np.array([[0.5, -1.0, 0.0], [1.5, 0.25, 1.0], [-0.5, 2.0, 1.0]], x.dtype)"]
        for number in range(self._random.randint(2, 7)):
            lines.append("    " + self._statement("v%d" % number))
        sums = ["%s.sum()" % name for name in self._matrices[2:] + self._rows[1:]]
        lines.append("    return %s" % " + ".join(["(x * y).sum() * a"] + sums + self._numbers))
        self.source = "\n".join(lines) + "\n"

    def _statement(self, name: str) -> str:
        kind, pick = self._random.random(), self._random.choice
        if kind < 0.6:
            text, group = self._matrix(3), self._matrices
        elif kind < 0.8:
            text, group = pick(SHORTER).format(pick(self._matrices)), self._rows
            text = text if "axis=1" not in text and ", 1]" not in text else "%s[:3]" % text
        else:
            text, group = pick(NUMBERS).format(pick(self._matrices)), self._numbers
        group.append(name)
        return "%s = %s" % (name, text)

    def _matrix(self, depth: int) -> str:
        kind, pick = self._random.random(), self._random.choice
        if depth == 0 or kind < 0.15:
            return pick(self._matrices + self._matrices + self._rows + self._numbers)
        if kind < 0.45:
            return "(%s)" % pick(UNARY).format(self._matrix(depth - 1))
        if kind < 0.85:
            one, other = self._matrix(depth - 1), pick(self._matrices)
            return "(%s)" % pick(BINARY).format(*((one, other) if self._random.random() < 0.5 else (other, one)))
        form = pick(SAME)
        return "(%s)" % form.format(*[pick(self._matrices)] * 2) if "[1:]" not in form else pick(self._matrices)

    def function(self) -> Any:
        namespace: Dict[str, Any] = {"np": np}
        exec(self.source, namespace)
        return namespace["f"]


ASSIGNED = ("u = {0}", "v = {0}", "u, v = v, {0}", "v, u = u, {0}", "u = v * 1.0", "w = {0}", "u += {0}", "v *= {0}",
            "u[...] = {0}", "v -= 0.5 * {0}")
PARTS = ("u[1:] += {0}[:-1]", "u[1:-1] = {0}[1:-1] * 0.5", "v[:, 1:] = {0}[:, :-1]", "u[0] = {0}[1]",
         "v[1:] = v[1:] * v[:-1]", "u[::2] -= {0}[::2]", "u[2, 1] = s", "v[:, 0] = 0.25")
SUMS = ("s = s * 0.5 + {0}.sum() * 0.1", "s += {0}[1, 2]", "s = s * s * 0.1", "t = t + 0.5", "s = s + t")


class LoopProgram:
    """A function of two matrices, a number and a trip count, with one loop or two loops in each other."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        lines = ["def f(x, y, a, n):", "    u, v, s, t = x.copy(), y * 0.5, a, 0.0",
                 "    w = %s" % self._matrix(1), "    for k in range(n):"]
        for _ in range(self._random.randint(1, 4)):
            lines.append("        " + self._statement())
        if self._random.random() < 0.25:
            lines.append("        for j in range(2):")
            for _ in range(self._random.randint(1, 2)):
                lines.append("            " + self._statement())
        if self._random.random() < 0.4:
            lines.append("    " + self._statement())
        lines.append("    return (u * v).sum() + s + w[1, 1]")
        self.source = "\n".join(lines) + "\n"

    def _statement(self) -> str:
        kind = self._random.random()
        forms = ASSIGNED if kind < 0.5 else PARTS if kind < 0.8 else SUMS
        return self._random.choice(forms).format(self._matrix(2))

    def _matrix(self, depth: int) -> str:
        pick = self._random.choice
        if depth == 0 or self._random.random() < 0.2:
            return pick("xyuv")
        if self._random.random() < 0.4:
            return "(%s)" % pick(("np.sin({})", "np.tanh({})", "-{}", "{} * 0.5", "{} + t", "{} * s", "1.0 - {}",
                                  "{0} * {0}", "{} * 0.3")).format(self._matrix(depth - 1))
        return "(%s)" % pick(("{} + {}", "{} - {}", "{} * {}", "0.5 * ({} - {})", "np.maximum({}, {})")).format(
            self._matrix(depth - 1), self._matrix(depth - 1))

    def function(self) -> Any:
        """The function."""
        namespace: Dict[str, Any] = {"np": np}
        exec(self.source, namespace)
        return namespace["f"]


class StencilProgram(LoopProgram):
    """The same of vectors: statements store into slices of a vector what they compute from its slices."""

    SLICES = ((0, 2), (1, 1), (2, 0))

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        lines = ["def f(x, y, a, n):", "    u, v, s, t = x.copy(), y * 0.5, a, 0.5", "    for k in range(n):"]
        for _ in range(self._random.randint(1, 3)):
            lines.append("        " + self._statement())
        lines.append("    return (u * v).sum() + s")
        self.source = "\n".join(lines) + "\n"

    def _statement(self) -> str:
        target, form = self._random.choice("uv"), self._random.choice(("{} = {}", "{} = {}", "{} += {}", "{} -= {}"))
        if self._random.random() < 0.15:
            return "s = s * 0.5 + (%s * %s).sum() * 0.1" % (self._slice(), self._slice())
        return form.format(target + self._piece(), self._matrix(3))

    def _piece(self) -> str:
        low, high = self._random.choice(self.SLICES)
        return "[%s:%s]" % (low or "", -high or "")

    def _slice(self) -> str:
        return self._random.choice("xyuv") + self._piece()

    def _matrix(self, depth: int) -> str:
        pick = self._random.choice
        if depth == 0 or self._random.random() < 0.1:
            return self._slice()
        if self._random.random() < 0.3:
            return "(%s)" % pick(("np.sin({})", "-{}", "{} * 0.25", "{} * s", "{} + t", "np.sqrt({0} * {0} + 1.0)")).format(
                self._matrix(depth - 1))
        return "(%s)" % pick(("{} + {}", "{} - {}", "0.5 * ({} + {})", "{} * {}", "{} / (2.0 + {})")).format(
            self._matrix(depth - 1), self._matrix(depth - 1))


CONDITIONS = ("k % 2 == 0", "k == 1", "s > 0.5", "t < 0.8", "x[1, 2] > v[0, 0]", "s * s > s and k > 0", "v[0, 1] < 0.4",
              "s > 0.3 or v[0, 0] > 0.5", "x[k % 4, 0] > y[0, k % 3]", "a > 1.0", "not s < 1.0")
REBOUND = ("v = {0}", "w = {0}", "v = v * 0.5", "w = w + {0}", "v, w = w, {0}", "v = v - 0.5 * {0}")
STORED = ("u[1:] += {0}[:-1]", "u[1:-1] = {0}[1:-1] * 0.5", "u[0] = {0}[1]", "u[...] = {0}", "u *= {0}", "u[::2] -= {0}[::2]",
          "u += {0}", "u[:, 0] = 0.25", "u[:, 1:] = u[:, 1:] * {0}[:, :-1]")
NUMBER = ("s = s * 0.5 + {0}.sum() * 0.1", "s += {0}[1, 2]", "s = s * s * 0.1", "t = t + a", "s = s + t", "t = s * a",
          "s -= {0}[k % 4, 1] * t", "s = s + {0}[0, 0] / a")
CHOICES = ("s = s if {0} else t * 0.3", "s = s * 0.5 if {0} else s + t", "t = s if {0} else t", "v = v * 0.5 if {0} else v",
           "s = t if {0} else a", "t = x[k % 4, 1] if {0} else a * 0.5")


class BranchProgram(LoopProgram):
    """A function like that of `LoopProgram`, with branches in its loops and beside them."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        lines = ["def f(x, y, a, n):", "    u, v, s, t, k = x.copy(), y * 0.5, a * 1.0, a * 0.25, 0",
                 "    w = x - %s" % self._matrix(0)]
        if self._random.random() < 0.3:
            lines += self._branch("    ", 0)
        lines.append("    for k in range(n):")
        for number in range(self._random.randint(1, 3)):
            lines += self._statements("        ", 1, 1.0 if number == 0 else 0.3)
        if self._random.random() < 0.15:
            lines.append("        for j in range(2):")
            lines += self._statements("            ", 0, 0.7)
        if self._random.random() < 0.3:
            lines += self._branch("    ", 0)
        lines.append("    return (u * v).sum() + s + w[1, 1] * t")
        self.source = "\n".join(lines) + "\n"

    def _statement(self) -> str:
        kind = self._random.random()
        forms = REBOUND if kind < 0.35 else STORED if kind < 0.6 else NUMBER
        return self._random.choice(forms).format(self._matrix(2))

    def _statements(self, indent: str, depth: int, branches: float) -> List[str]:
        if self._random.random() < branches:
            return self._branch(indent, depth)
        return [indent + self._statement()]

    def _branch(self, indent: str, depth: int) -> List[str]:
        """A branch, or a statement that chooses a value; ``depth`` is how many branches may contain it."""
        pick, kind = self._random.choice, self._random.random()
        if kind < 0.15:
            return [indent + pick(CHOICES).format(pick(CONDITIONS))]
        lines = ["%sif %s:" % (indent, pick(CONDITIONS))] + self._block(indent + "    ", depth)
        if kind < 0.3:
            lines += ["%selif %s:" % (indent, pick(CONDITIONS))] + self._block(indent + "    ", depth)
        if kind < 0.7:
            lines += [indent + "else:"] + self._block(indent + "    ", depth)
        elif kind < 0.8 and len(indent) == 8:
            lines += [indent + "    " + pick(("continue", "continue", "break"))]
        return lines

    def _block(self, indent: str, depth: int) -> List[str]:
        lines: List[str] = []
        for _ in range(self._random.randint(1, 2)):
            lines += self._statements(indent, depth - 1, 0.3 if depth else 0.0)
        return lines


PROGRAMS = {"": Program, "loops": LoopProgram, "stencils": StencilProgram, "branches": BranchProgram}
"""The kinds of programs."""


def arguments(seed: int, special: bool, shape: Tuple[int, ...]) -> Tuple[Any, ...]:
    """Two arrays of 12 elements, and a number."""
    random_state = np.random.RandomState(seed)
    dtype = random_state.choice(["d", "f"])
    x, y = (random_state.uniform(-1.0, 2.0, shape).astype(dtype) for _ in range(2))
    if special:
        for one in (x, y):
            one.flat[random_state.choice(12, 3)] = random_state.choice(SPECIAL, 3)
    return x, y, np.dtype(dtype).type(random_state.uniform(0.1, 2.0))


LIMIT = 1 << 32
"""Bytes for the backward part, more than any program needs. With a limit, kernels run the first calls, too."""


def bits(value: Any, gradients: List[Any]) -> List[Any]:
    """What must be the same; a NaN has any bits."""
    return [(type(one), np.asarray(one).dtype, np.shape(one), np.where(np.isnan(one), np.nan, one).tobytes())
            for one in [value, *gradients]]


def compare(seed: int, kind: str = "") -> str:
    """Compare both ways for one program: "" if all calls were the same by a kernel, else what happened."""
    program: Any = PROGRAMS[kind](seed)
    f = program.function()
    gradient = value_and_grad(f, (0, 1, 2))
    kernels = GradientKernels(f, (0, 1, 2), LIMIT)
    served = 0
    with np.errstate(all="ignore"):
        for call in range(6):
            args = arguments(seed * 10 + call // 2, call % 2 == 1, (12,) if kind == "stencils" else (4, 3))
            args += ([4, 1, 2, 3, 0, 5][call],) if kind else ()
            found = kernels.call(args, {})
            if found is None:
                continue
            served += 1
            wanted = gradient._run(args, {})
            if bits(found[0], found[1]) != bits(wanted.value, wanted.gradients):
                return "seed %d, call %d: other bits\n%s" % (seed, call, program.source)
    return "" if served else kernels.why


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--checkpoints", action="store_true", help="loops save some iterations alone")
    parser.add_argument("--kind", choices=list(PROGRAMS), default="")
    known = parser.parse_args()
    if known.checkpoints:
        limits.KEPT = limits.KEPT_OF_CHEAP = 1
    wrong, refused = 0, 0
    for seed in range(known.seed * 100000, known.seed * 100000 + known.count):
        found = compare(seed, known.kind)
        wrong += found.startswith("seed")
        refused += bool(found) and not found.startswith("seed")
        if found:
            sys.stdout.write(found.rstrip("\n") + "\n")
    sys.stdout.write("%d programs, %d wrong, %d on the tape\n" % (known.count, wrong, refused))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
