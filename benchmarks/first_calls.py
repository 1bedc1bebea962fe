"""``python -m benchmarks.first_calls N``: the processor seconds of the first calls of N functions, without imports.

If an earlier run has left their kernels on disk, nothing is compiled.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from typing import Any, Callable, Dict, List

import numpy as np

import pijit

SOURCES = ("def f(x, y):\n    return x * %d.0 + y\n",
           "def f(x, y):\n    s = 0.0\n    for i in range(len(x)):\n        s += x[i] * y[i] - %d\n    return s\n",
           "def f(x, y):\n    z = x - y * %d\n    return z.sum() + z[0], z\n")


def function(number: int) -> Callable[..., Any]:
    """Make the jitted function of this number; each number gives a kernel of its own."""
    namespace: Dict[str, Any] = {}
    exec(SOURCES[number % len(SOURCES)] % (number + 2), namespace)
    return pijit.jit(namespace["f"])


def seconds_of_first_calls(count: int) -> float:
    """The processor seconds of the first calls of ``count`` functions."""
    functions = [function(number) for number in range(count)]
    x, y = np.arange(8.0), np.ones(8)
    start = time.process_time()
    for one in functions:
        one(x, y)
    return time.process_time() - start


def in_new_processes(count: int, runs: int = 4) -> List[float]:
    """The same in new processes that share a folder of kernels; it is empty for the first of them."""
    with tempfile.TemporaryDirectory() as folder:
        root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
        environment = dict(os.environ, PIJIT_CACHE_DIR=os.path.join(folder, "kernels"))
        command = [sys.executable, "-m", "benchmarks.first_calls", str(count)]
        return [float(subprocess.run(command, stdout=subprocess.PIPE, check=True, env=environment, cwd=root).stdout)
                for _ in range(runs)]


if __name__ == "__main__":
    print(seconds_of_first_calls(int(sys.argv[1])))
