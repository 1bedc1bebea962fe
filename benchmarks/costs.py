"""Figures of the cost model: the cost of a kernel's call, in bytecode operations on two floats.

Each form of function is timed as plain Python with 0 and with ``OPERATIONS`` operations, and with a kernel for these.
``core/capture/build/cost_model.py`` has the figures. The clock is processor time.
"""

from __future__ import annotations

import time
from typing import Any, Callable, Dict, Iterator, NamedTuple
from unittest import mock

import pijit
from benchmarks.breaks import MEASURED, STAY
from benchmarks.measure import seconds_per_call
from pijit.core.capture.build import cost_model

OPERATIONS = 10
ROUNDS = 100
UNMEASURED = {"perf_statistics": False, "cache": False}
"""Options that keep kernels even if they lose."""

HEADINGS = ("what a kernel replaces", "operation, ns", "plain, ns", "pijit, ns", "operations that the kernel costs")
FORMS: Dict[str, str] = {
    "a function": """
def f(x, y, stay, rounds):
    v = x
    {}
    return v
""",
    "a segment in a loop": """
def f(x, y, stay, rounds):
    v = x
    for _ in rounds:
        stay(-1)
        {}
        stay(-1)
    return v
""",
    "a segment between two breaks": """
def f(x, y, stay, rounds):
    v = x
    stay(-1)
    {}
    stay(-1)
    return v
"""}


class Row(NamedTuple):
    """One measurement, in nanoseconds per execution of the segment."""

    form: str
    operation: float
    plain: float
    pijit: float

    @property
    def cost(self) -> float:
        """The cost of the kernel beyond bytecode without the operations, counted in operations."""
        return (self.pijit - self.plain) / self.operation + OPERATIONS

    def __str__(self) -> str:
        return "| %s | %.1f | %.0f | %.0f | %.1f |" % (self.form, self.operation, self.plain, self.pijit, self.cost)


def function(form: str, operations: int) -> Callable[..., Any]:
    """Compile a function of this form with N operations."""
    names: Dict[str, Any] = {}
    source = FORMS[form].format("; ".join(["v = v * y"] * operations) or "pass")
    exec(compile(source, "<%s>" % form, "exec"), names)
    return names["f"]  # type: ignore[no-any-return]


def rows(seconds: float) -> Iterator[Row]:
    """Measure each form."""
    for form in FORMS:
        rounds = range(ROUNDS) if "loop" in form else range(1)
        bare, plain = function(form, 0), function(form, OPERATIONS)
        compiled = pijit.jit(plain, jit_config=UNMEASURED)
        with mock.patch.object(cost_model, "least_work", lambda captured, cfg: 0):
            compiled(1.5, 1.0000001, STAY, rounds)
            compiled(1.5, 1.0000001, STAY, rounds)
        times = seconds_per_call({"bare": bare, "plain": plain, "pijit": compiled}, (1.5, 1.0000001, STAY, rounds),
                                 seconds, MEASURED, time.process_time)
        each = {name: 1e9 * one / len(rounds) for name, one in times.items()}
        yield Row(form, (each["plain"] - each["bare"]) / OPERATIONS, each["plain"], each["pijit"])


def main() -> None:
    """Print the table."""
    print("| %s |" % " | ".join(HEADINGS))
    print("|" + "---|" * len(HEADINGS))
    for row in rows(1.0):
        print(row)


if __name__ == "__main__":
    main()
