"""A function with `deque.rotate`, plain and in a kernel: run by the test of a walkthrough in docs/extending.md.

It prints how many breaks there are, and whether the kernel has the operation. The argument is a folder for a dump.
"""

import sys
from collections import deque

import numpy as np

import pijit


def rotated(items, x):
    total = 0.0
    for value in x:
        items.rotate(2)
        total += items[0] * value
    return total


def main(folder):
    jitted, x = pijit.jit(rotated, jit_config={"backend": "python"}), np.arange(7.0)
    for numbers in ([1.0, 2.0, 3.0, 4.0, 5.0],) * 3 + ([2.0],):
        plain, own = deque(numbers), deque(numbers)
        assert rotated(plain, x) == jitted(own, x) and plain == own
    texts = [open(path, encoding="utf-8").read() for path in pijit.dump(jitted, folder, own, x)]
    print(len(pijit.explain(jitted, own, x).breaks), any("deque_rotate(" in text for text in texts))


if __name__ == "__main__":
    main(sys.argv[1])
