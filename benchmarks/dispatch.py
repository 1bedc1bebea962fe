"""``python -m benchmarks.dispatch``: the cost of a call, against numba's dispatcher, NumPy and plain Python."""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import subprocess
import sys
import time
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Tuple

import numba
import numpy as np

import pijit
from benchmarks import breaks as cost_of_breaks
from benchmarks.first_calls import in_new_processes
from benchmarks.measure import seconds_per_call


class Call(NamedTuple):
    """One kind of call; ``unit`` is the number of measured events in it."""

    function: Callable[..., Any]
    arguments: Tuple[Any, ...]
    unit: int = 1


def two_arrays(x, y):
    return x * 2.0 + y


def two_floats(a, b):
    return (a - b) * (a + b) * 0.5 + a * b


def eight_arrays(a, b, c, d, e, f, g, h):
    return (a + b) * (c + d) - (e + f) * (g + h)


class Model:
    """An object with three arrays."""

    def __init__(self) -> None:
        self.w, self.b, self.s = np.ones(3), np.zeros(3), np.full(3, 0.5)

    def step(self, x):
        return (x * self.w + self.b) * self.s

    def size(self):
        return {"size": self.w.size}


def model_step(model, x):
    return model.step(x)


def model_size(model):
    return model.size()


def breaks(x, stay):
    y = x * 2.0 + 1.0
    stay(-1)
    z = y * 0.5 - x
    stay(-1)
    u = z * z + y
    stay(-1)
    return u - z * 0.25


def segment_in_a_loop(n, table, stay):
    total = 0.0
    for i in range(n):
        total = total + table[i % 7] * 2.0 - 1.0
        stay(-1)
    return total


def numbers_in_a_loop(n, a, stay):
    total = 0.0
    for _ in range(n):
        total = total * 0.5 + a - 1.0
        stay(-1)
    return total


def little_work(items, key):
    return [items[key], key]


def unrelated(n):
    total = 0
    for i in range(n):
        total += _plus_one(i)
    return total


def _plus_one(i):
    return i + 1


STAY = cost_of_breaks.STAY
SMALL = tuple(np.arange(3.0) + k for k in range(8))
CALLS: Dict[str, Call] = {
    "x * 2.0 + y, 3 doubles": Call(two_arrays, SMALL[:2]),
    "four operations on two floats": Call(two_floats, (2.5, 1.5)),
    "seven ufuncs on eight arrays of 3 doubles": Call(eight_arrays, SMALL),
    "method that reads three arrays of self": Call(model_step, (Model(), SMALL[0])),
    "three breaks between four segments": Call(breaks, (SMALL[0], STAY)),
    "loop of 1e5 steps, each a break and a segment":
        Call(segment_in_a_loop, (100000, SMALL[0].repeat(3), STAY), 100000),
    "loop of 1e5 steps, each a break and little work": Call(numbers_in_a_loop, (100000, 2.5, STAY), 100000),
    "function with nothing to compile": Call(little_work, ({"a": 1}, "a")),
    "method with nothing to compile": Call(model_size, (Model(),)),
}


WATCHED: Dict[str, Dict[str, Any]] = {
    "nothing": {},
    "an input_signature": {"input_signature": [pijit.Tensor([None], np.float64)] * 2},
    "one with Symbols": {"input_signature": [pijit.Tensor([pijit.Symbol(max=64, unique=True)], np.float64)] * 2},
    "hash_args that cannot change": {"hash_args": [3, "name"]},
    "hash_args with a list": {"hash_args": [[1, 2, 3]]},
    "nothing, but shown with print_after_all and logged":
        {"jit_config": {"print_after_all": True, "log_graph_break": True, "log_recompile": True}},
}
"""Arguments of `jit` that add a check to each call, by name.

The last row adds none: reports are made at capture, not in calls.
"""


def watched_rows(seconds: float) -> Dict[str, float]:
    """Nanoseconds of a call, by its additional check."""
    functions = {name: pijit.jit(two_arrays, **arguments) for name, arguments in WATCHED.items()}
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        for function in functions.values():
            function(*SMALL[:2])
    return {name: 1e9 * value for name, value in seconds_per_call(functions, SMALL[:2], seconds).items()}


def njit(call: Call) -> Optional[Callable[..., Any]]:
    """The function compiled by numba, or None if numba refuses it."""
    compiled = numba.njit(call.function)
    try:
        compiled(*call.arguments)
    except Exception:  # numba has many kinds of refusal
        return None
    return compiled  # type: ignore[no-any-return]


def import_seconds(statement: str) -> float:
    """The processor time of a statement in a new process, imports included: the best of five."""
    program = "import time; t = time.process_time(); %s; print(time.process_time() - t)" % statement
    runs = [subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE, check=True, env=os.environ)
            for _ in range(5)]
    return min(float(run.stdout) for run in runs)


def tax(seconds: float) -> float:
    """Undecorated code after pijit was used, as a multiple of the same code before."""
    before = seconds_per_call({"before": unrelated}, (20000,), seconds)["before"]
    jitted = pijit.jit(two_arrays)
    for _ in range(3):
        jitted(*SMALL[:2])
    return seconds_per_call({"after": unrelated}, (20000,), seconds)["after"] / before


def main(argv: Optional[List[str]] = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.dispatch", description=__doc__)
    parser.add_argument("--seconds", type=float, default=1.0, help="time for each row (default: 1)")
    options = parser.parse_args(argv)
    write = sys.stdout.write
    write("undecorated code after pijit was used: %.3f times its time before\n" % tax(options.seconds))
    write("import numpy, numba: %.3f s; and pijit: %.3f s\n"
          % (import_seconds("import numpy, numba"), import_seconds("import numpy, numba, pijit")))
    for count in (1, 50):
        compiled, *found = in_new_processes(count)
        write("first calls of %d functions: %.0f ms; in a process that finds their kernels on disk: %.0f ms\n"
              % (count, 1e3 * compiled, 1e3 * min(found)))
    write("\n")
    write("| call | plain, us | pijit, us | numba.njit, us | pijit / plain | pijit / numba |\n%s|\n" % ("|---" * 6))
    for name, call in CALLS.items():
        competitors = {"plain": call.function, "pijit": pijit.jit(call.function), "njit": njit(call)}
        times = seconds_per_call({key: f for key, f in competitors.items() if f is not None}, call.arguments,
                                 options.seconds, clock=time.process_time)
        micro = {key: 1e6 * value / call.unit for key, value in times.items()}
        other = "%.2f" % micro["njit"] if "njit" in micro else "refused"
        against = "%.2f" % (micro["pijit"] / micro["njit"]) if "njit" in micro else "-"
        write("| %s | %.2f | %.2f | %s | %.2f | %s |\n" % (name, micro["plain"], micro["pijit"], other,
                                                         micro["pijit"] / micro["plain"], against))
        sys.stdout.flush()
    write("\n| x * 2.0 + y, looking first at | ns |\n|---|---|\n")
    for name, nanoseconds in watched_rows(options.seconds).items():
        write("| %s | %.0f |\n" % (name, nanoseconds))
    for headings, rows in ((cost_of_breaks.HEADINGS, cost_of_breaks.rows(options.seconds)),
                           (cost_of_breaks.EXIT_HEADINGS, cost_of_breaks.exit_rows(options.seconds))):
        write("\n| %s |\n%s|\n" % (" | ".join(headings), "|---" * len(headings)))
        for row in rows:
            write("%s\n" % (row,))
            sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
