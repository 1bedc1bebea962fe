"""Functions whose split is known beforehand: what they are called with, and what a report has to say of them.

`breaks` are all of them: the lines, counted from the `def`, on which something stays bytecode, with the id of the reason;
`kernel_lines` those that must be in a kernel. Lines that are in neither may go either way.
"""

from __future__ import annotations

import contextlib
import sys
from typing import Any, Callable, List, NamedTuple, Optional, Sequence, Tuple

import numpy as np

X = np.linspace(0.5, 1.5, 300)


class Known(NamedTuple):
    """A function, its calls one after the other, and the truth about its newest entry.

    `kernels`: how many there are; None where that depends on the version of Python.
    """

    function: Callable[..., Any]
    calls: Sequence[Tuple[Any, ...]]
    kernels: Optional[int]
    kernel_lines: Sequence[int]
    breaks: Sequence[Tuple[int, str]] = ()
    entries: int = 1
    skipped: str = ""
    callees: Sequence[str] = ()
    recompiles: Sequence[str] = ()


def whole(x):
    y = x * 2.0 + 1.0
    return y * y - x


def break_in_loop(x, n):
    total = 0.0
    for i in range(n):
        total += x[i] * 2.0
        if i % 100 == 0:
            print("at", i)
    return total


def break_in_with(x):
    y = x * 2.0 + 1.0
    with contextlib.ExitStack():
        z = y * y - x
        z = np.sqrt(z) + y
    return z * y + x


def break_in_try(x):
    y = x * 2.0 + 1.0
    try:
        z = y * y - x
        print("in try")
        z = z * y + x
    except ValueError:
        z = y
    return z * z + x


def helper_that_prints(x):
    y = x * 2.0 + 1.0
    print("in helper")
    return y * y - x


def break_in_call(x):
    y = helper_that_prints(x) * 2.0 + x
    return y * y - x


def helper(x):
    return x * 2.0 + 1.0


def inlined_call(x):
    y = helper(x)
    return y * y - helper(y)


def comprehension(x, n):
    squares = [x[i] * x[i] + 1.0 for i in range(n)]
    print(len(squares))
    return sum(squares)


def several_entries(x):
    y = x * 2.0 + 1.0
    return y * y - x


def break_with_operands(x):
    y = x * 2.0 + 1.0
    return y * y - x * max(1.0, eval("2.0"))


def generator(x):
    y = x * 2.0 + 1.0
    yield y * y


def too_little(a, b):
    return a + b


def while_loop(x):
    i = 0
    total = 0.0
    while total < 100.0:
        total += x[i] * x[i]
        i += 1
    return total, i


def retired(x, text):
    k = eval(text)
    y = x * k + 1.0
    return y * y - x


def handler_with_a_name(x, rows):
    y = x * 2.0 + 1.0
    if y[0] < 0.0:
        raise ValueError("negative: %g" % y[0])
    z = y * y - x
    try:
        rows["last"] = float(z[0])
        with open(rows["path"], "a") as stream:
            stream.write("x")
    except OSError as error:
        rows["error"] = error
    return z * y + x


#: From 3.11 on the variable of a handler gets a value of unknown type; before it is what the block stack has.
HANDLED = "PJ218" if sys.version_info >= (3, 11) else "PJ206"
KNOWN: List[Known] = [
    Known(whole, [(X,)], 1, [1, 2]),
    Known(break_in_loop, [(X, 300)] * 3, 2, [2, 3, 4], [(5, "PJ201")]),
    # After the block, z may be unbound: an ExitStack may have swallowed an exception.
    Known(break_in_with, [(X,)] * 3, None, [1, 3, 4], [(2, "PJ201"), (2, "PJ206")], recompiles=["PJ302"]),
    Known(break_in_try, [(X,)] * 3, 3, [1, 5, 8], [(4, "PJ201"), (6, "PJ206")]),
    Known(break_in_call, [(X,)] * 4, 1, [1, 2], [(1, "PJ230")], callees=["helper_that_prints"], recompiles=["PJ302"]),
    Known(inlined_call, [(X,)], 1, [1, 2]),
    Known(comprehension, [(X, 300)] * 3, 2, [1, 3], [(2, "PJ201")]),
    Known(several_entries, [(X,), (X.astype(np.float32),), (X.reshape(30, 10),)], 1, [1, 2], entries=3,
          recompiles=["PJ301", "PJ301"]),
    Known(break_with_operands, [(X,)] * 3, 2, [1, 2], [(2, "PJ201")], recompiles=["PJ302"]),
    Known(generator, [], 0, [], entries=0, skipped="PJ101"),
    Known(too_little, [(2.0, 3.0)], 0, []),
    Known(while_loop, [(X * 2.0,)], 1, [3, 4, 5]),
    Known(retired, [(X, "2")] * 3 + [(X, "2.5")] * 6, 2, [2, 3], [(1, "PJ201")],
          recompiles=["PJ302", "PJ305", "PJ302"]),
    # What Python adds to blocks, and the operands that a break has made, are no breaks of their own.
    Known(handler_with_a_name, [(X, {"path": "/nowhere/at/all"})] * 3, None, [1, 2, 4, 11],
          [(3, "PJ221"), (7, "PJ201"), (7, "PJ206"), (8, "PJ218"), (9, "PJ206"), (10, HANDLED)]),
]
