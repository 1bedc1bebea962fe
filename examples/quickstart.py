"""Heat on a plate: a NumPy loop that prints and writes a file, with pijit and without.

Run it with `python examples/quickstart.py`. NumPy alone makes several passes over memory in each step. numba
refuses the function, because it prints and writes a file. pijit compiles the numeric lines and leaves the other two as
bytecode.
"""

import os
import tempfile
import time

import numpy as np

import pijit


def simulate(plate, steps, every, log):
    """Simulate `steps` steps; every `every` steps, report to the screen and to the file `log`."""
    for step in range(steps):
        inner = plate[1:-1, 1:-1]
        around = plate[:-2, 1:-1] + plate[2:, 1:-1] + plate[1:-1, :-2] + plate[1:-1, 2:]
        plate[1:-1, 1:-1] = inner + 0.2 * (around - 4.0 * inner)
        if step % every == 0:
            middle = plate[plate.shape[0] // 2, plate.shape[1] // 2]
            log.write("%d,%.9f\n" % (step, middle))
            print("  step", step, "middle", middle)
    return plate


def make_plate(size=400):
    """A cold plate with a small hot disc in its middle."""
    y, x = np.mgrid[-1.0:1.0:size * 1j, -1.0:1.0:size * 1j]
    return np.where(x * x + y * y < 0.002, 100.0, 20.0)


def timed(function, steps):
    """Run a simulation; return the plate, the text of its log, and its seconds."""
    plate = make_plate()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "middle.csv")
        with open(path, "w") as log:
            start = time.perf_counter()
            plate = function(plate, steps, 100, log)
            seconds = time.perf_counter() - start
        with open(path) as log:
            return plate, log.read(), seconds


def main(steps=300):
    """Run both versions, compare them, and show which lines were compiled."""
    fast = pijit.jit(simulate)
    print("warming up: the first call compiles, and sees what print and write return; the second uses that")
    first = timed(fast, 1)[2]
    timed(fast, 1)
    print("without pijit:")
    expected, expected_log, without = timed(simulate, steps)
    print("with pijit:")
    plate, log, seconds = timed(fast, steps)
    print()
    report = pijit.explain(fast)
    print(report)
    print()
    print("same bits: %s   same file: %s" % (plate.tobytes() == expected.tobytes(), log == expected_log))
    print("heat left: %.6f" % plate.mean())
    if report.skipped is not None:
        print("pijit compiled nothing, so both runs were plain Python: %s. %s"
              % (report.skipped.title, report.skipped.hint))
        return
    print("without pijit %.3f s, with pijit %.3f s: %.1f times as fast (first call %.3f s)"
          % (without, seconds, without / seconds, first))


if __name__ == "__main__":
    main()
