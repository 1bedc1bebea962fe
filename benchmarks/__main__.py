"""``python -m benchmarks``: how many times as fast as NumPy, per kernel, in one run on this machine."""

from __future__ import annotations

import argparse
import math
import sys
from typing import List, Optional

import numba
import numpy as np
import pijit
from benchmarks.kernels import CASES
from benchmarks.measure import same_bits, seconds_per_call, versions

HEAD = "| kernel | pijit | numba.njit, same source | numba, loops by hand |\n|---|---|---|---|"


def ratio(base: float, seconds: Optional[float]) -> str:
    """How many times as fast as ``base``."""
    return "refused" if seconds is None else "%.2fx" % (base / seconds)


def main(argv: Optional[List[str]] = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--seconds", type=float, default=2.0, help="time for each kernel (default: 2)")
    parser.add_argument("--only", default="", help="kernels whose name contains this")
    options = parser.parse_args(argv)
    write = sys.stdout.write
    write("NumPy %s, numba %s, pijit %s, Python %d.%d; how many times as fast as NumPy\n\n"
          % ((np.__version__, numba.__version__, pijit.__version__) + sys.version_info[:2]))
    write(HEAD + "\n")
    logs = []
    for name, case in CASES.items():
        if options.only not in name:
            continue
        if not same_bits(case):
            write("| %s | different bits | | |\n" % name)
            return 1
        every = versions(case)
        times = seconds_per_call({key: f for key, f in every.items() if f is not None}, case.arguments(), options.seconds)
        base = times["numpy"]
        write("| %s | %s | %s | %s |\n" % (name, ratio(base, times["pijit"]), ratio(base, times.get("njit")),
                                           "-" if case.tuned is None else ratio(base, times.get("tuned"))))
        sys.stdout.flush()
        logs.append(math.log(base / times["pijit"]))
    write("\ngeometric mean of pijit: %.2fx\n" % math.exp(sum(logs) / max(len(logs), 1)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
