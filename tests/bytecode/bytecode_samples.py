"""Small functions with every kind of control flow, arguments for them, and what running them really does."""

import sys

from pijit.core.bytecode.codec.decode import decode


class Manager:
    """A context manager that swallows KeyError."""

    def __init__(self, log):
        self.log = log

    def __enter__(self):
        self.log += ["enter"]
        return self

    def __exit__(self, kind, value, traceback):
        self.log += ["exit", kind]
        return kind is KeyError


def fail(x):
    if x == 1:
        raise KeyError(x)
    if x == 2:
        raise ValueError(x)
    return x


def straight(x, y=2):
    z = x * y
    return z - x


def conditional(x):
    if x > 0 and x != 2 or x == -1:
        y = 1
    elif not x:
        y = 2
    return y


def for_else(n, stop):
    total = 0
    for i in range(n):
        if i == stop:
            break
        if i % 2:
            continue
        total += i
    else:
        total = -total
    return total


def while_else(n):
    while n > 3:
        n -= 1
        if n == 5:
            break
    else:
        return "else", n
    return "break", n


def nested_loops(n):
    found = []
    for i in range(n):
        for j in range(i):
            if j == 3:
                break
            if (i + j) % 3 == 0:
                continue
            found += [(i, j)]
        else:
            found += [i]
        k = i
        while k:
            k //= 2
            if k == 2:
                break
    return found


def try_everything(x):
    log = []
    try:
        log += ["body"]
        y = fail(x)
    except KeyError:
        log += ["key"]
        y = None
    except ValueError as error:
        log += ["value", str(error)]
        if x == 2:
            return log
    else:
        log += ["else"]
    finally:
        log += ["finally"]
    return log, y


def bare_except(x):
    try:
        return fail(x)
    except:  # noqa: E722
        x = -1
    return x


def reraise(x):
    try:
        fail(x)
    except KeyError:
        x += 1
        raise
    return x


def with_statement(x):
    log = []
    with Manager(log) as manager:
        y = fail(x)
        log += [manager is not None, y]
    with Manager(log), Manager(log):
        log += ["two"]
        fail(x)
    return log


def return_in_finally_try(n):
    log = []
    for i in range(n):
        try:
            if i == 2:
                return log, i
            if i == 1:
                continue
            log += [i]
        finally:
            log += ["finally"]
    return log


def break_in_try(n):
    log = []
    while True:
        try:
            try:
                n -= 1
                if n == 3:
                    continue
                if n < 1:
                    break
                log += [fail(n)]
            finally:
                log += [n]
        except KeyError as error:
            log += [error.args]
            continue
    return log


def return_in_with_in_for(n):
    log = []
    for i in range(n):
        with Manager(log):
            for j in range(i):
                if j == 2:
                    return log, i, j
                if i == 2:
                    break
            else:
                continue
            log += [i]
    return log


def return_overrides(x):
    for i in range(3):
        try:
            fail(x)
        finally:
            if i == 1:
                return i
            if x > 2:
                break
    return x


def nested_finally(x):
    log = []
    try:
        try:
            return log, fail(x)
        finally:
            log += ["inner"]
            with Manager(log):
                log += [fail(x - 1)]
    finally:
        log += ["outer"]


def comprehension(n):
    squares = [i * i for i in range(n) if i % 2]
    return squares, {i: n for i in squares}, sum(i for i in squares)


def star_unpack(items):
    first, *middle, last = items
    (a, b), c = (first, last), middle
    return a, b, c, [*items, 1], (*items, *middle)


def chained(a, b, c):
    return a < b <= c, not a < b < c < 9


def deletes(x):
    y = x
    if x:
        del y
    try:
        return y
    except UnboundLocalError:
        return "unbound"


def short_circuit(a, b):
    c = a and b or (b, a)
    assert c != 5, "message"
    return c if c else a


def keywords(a, *args, b=3, **rest):
    total = a + b
    for value in args:
        total += value
    return total, sorted(rest)


NUMBERS = [(i,) for i in range(-1, 8)]
SAMPLES = [
    (straight, NUMBERS), (conditional, NUMBERS), (for_else, [(5, 2), (5, 9), (0, 0)]), (while_else, NUMBERS),
    (nested_loops, NUMBERS), (try_everything, NUMBERS), (bare_except, NUMBERS), (reraise, NUMBERS),
    (with_statement, NUMBERS), (return_in_finally_try, NUMBERS), (break_in_try, NUMBERS),
    (return_in_with_in_for, NUMBERS), (return_overrides, NUMBERS), (nested_finally, NUMBERS),
    (comprehension, NUMBERS), (star_unpack, [((1, 2, 3, 4),), ((1,),)]),
    (chained, [(1, 2, 3), (2, 1, 0), (1, 9, 9)]),
    (deletes, NUMBERS), (short_circuit, [(0, 0), (1, 0), (5, 5), (2, 3)]), (keywords, [(1,), (1, 2, 3)]),
]
NAMES = [function.__name__ for function, _ in SAMPLES]


def outcome(function, args):
    """What a call gives: its value, or its exception with text and lines."""
    try:
        return "value", function(*args)
    except Exception as error:
        lines = []
        traceback = error.__traceback__
        while traceback is not None:
            lines.append(traceback.tb_lineno)
            traceback = traceback.tb_next
        return "error", type(error), str(error), lines[1:]


def executed(function, args):
    """Indices of the instructions that a call really runs, in order."""
    code = function.__code__
    index_at = {instr.offset: instr.index for instr in decode(code).instructions}
    path = []

    def trace(frame, event, arg):
        if frame.f_code is not code:
            return None
        frame.f_trace_opcodes = True
        if event == "opcode":
            path.append(index_at[frame.f_lasti])
        return trace

    sys.settrace(trace)
    try:
        outcome(function, args)
    finally:
        sys.settrace(None)
    return path


def at(function, text):
    """Line number of the first line of a function that contains a text."""
    import inspect
    lines, first = inspect.getsourcelines(function)
    return first + next(number for number, line in enumerate(lines) if text in line)
