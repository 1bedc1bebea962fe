"""Gradients of functions that print: kernels with the tape's bits, and the output of the program."""

import contextlib
import io
import sys
import warnings

import numpy as np
import pytest

import pijit
from pijit.core.graph.reverse.rows import limits
from pijit.core.pythons import why_not_python
from tests.gradients.joint.joint_gradient import Gradient

pytestmark = pytest.mark.skipif(why_not_python() is not None, reason="nothing is compiled here")

X = np.linspace(0.1, 1.0, 12)


def straight(x, a):
    y = x * a
    print("sum", y.sum(), a)
    return (y * y).sum()


def every_third(x, steps):
    u = x.copy()
    for i in range(steps):
        u[1:-1] = u[1:-1] + 0.1 * (u[:-2] - 2.0 * u[1:-1] + u[2:])
        if i % 3 == 0:
            print(i, u.max(), sep=": ", end=";\n")
    return (u * u).sum()


def formatted(x, a, steps):
    s = a
    for i in range(steps):
        s = s * 0.9 + (x * x).sum() * a
        print("%d of %d" % (i, steps), f"{s:.4f} {i!r:>3}", "{}".format(i), str(s), flush=True)
    print("end")
    return s


def texts(x, a):
    s = (x * a).sum()
    print(f"{s!r}", f"{float(s)!r}", f"{a!r}", repr(x[0]), 2, True, None, "%s|%r" % (s, a))
    return s * s


def arrays(x, a):
    y = np.sqrt(x) * a
    for i in range(3):
        y[1:] = y[1:] * y[:-1]
        print(y, y[::5], x[2:4])
    return y.sum()


def until_small(x, a):
    y = (x * x).sum() * a
    n = 0
    while y > 0.01:
        y = y * 0.5
        n += 1
        if n == 3:
            print("three", y)
    print(n, "steps")
    return y


def in_both_sides(x, a):
    s = 0.0
    for i in range(len(x)):
        if x[i] > 0.5:
            print("large", i)
            s += x[i] * a
        else:
            print("small", i, x[i])
            s -= x[i] * x[i]
    return s


def helper(x, i):
    print("step", i)
    return x * 0.9


def by_helper(x, a):
    for i in range(4):
        x = helper(x, i)
    return (x * a).sum()


def to_stdout(x, a):
    y = x * a
    for i in range(3):
        y[1:] = y[1:] * y[:-1]
        n = sys.stdout.write("%d: %.3f\n" % (i, y[0]))
        print("length", n, file=sys.stdout)
    return (y * y).sum()


PROGRAMS = [(to_stdout, (0, 1), (X, 1.1)), (by_helper, (0, 1), (X, 2.0)), (straight, 0, (X, 1.5)),
            (straight, (0, 1), (X, 1.5)), (every_third, 0, (X, 10)),
            (formatted, (0, 1), (X, 0.3, 4)), (texts, (0, 1), (X, 0.7)), (arrays, (0, 1), (X, 1.1)),
            (until_small, (0, 1), (X, 0.7)), (in_both_sides, (0, 1), (X, 2.0))]


def output_of(function, *args):
    """What a call prints, and its result or the exception."""
    with contextlib.redirect_stdout(io.StringIO()) as text:
        try:
            result = function(*args)
        except Exception as error:
            result = (type(error), str(error))
    return text.getvalue(), result


@pytest.mark.parametrize("function, keys, args", PROGRAMS)
def test_kernels_print_as_the_program(function, keys, args):
    plain, _ = output_of(function, *args)
    gradient = Gradient(function, keys)
    output_of(gradient.warm, *args)
    for _ in range(3):
        text, by_kernel = output_of(gradient.compare, *args)
        assert by_kernel is True, (by_kernel, gradient.why)
        assert text == plain * 2  # by the tape, and by a kernel


def overflowing(x, a, at):
    y = x * a
    for i in range(6):
        print("step", i)
        if i == at:
            y = y * 1e300
            y = y * 1e300
        y = y * 0.5
    print("done")
    return y.sum()


@pytest.mark.parametrize("action", ["default", "error"])
@pytest.mark.parametrize("at", [0, 3, 5, 7])
def test_no_output_is_repeated_after_a_warning(at, action):
    gradient = pijit.value_and_grad(pijit.jit(overflowing), (0, 1))
    for _ in range(4):
        output_of(gradient, X, 2.0, 7)

    def warned(function):
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter(action)
            text, result = output_of(function, X, 2.0, at)
        return text, result, [str(one.message) for one in found]
    plain, found = warned(overflowing), warned(gradient)
    assert found[0] == plain[0] and found[2] == plain[2][:len(found[2])]
    assert len(plain[2]) == (at < 7 and action == "default")
    if action == "error" and at < 7:
        assert found[1] == plain[1]


class Full(io.RawIOBase):
    """A file with room for some bytes."""

    def __init__(self):
        self.text, self.tries = b"", 0

    def writable(self):
        return True

    def write(self, text):
        self.tries += 1
        if len(self.text) > 18:
            raise OSError("no room")
        self.text += bytes(text)
        return len(text)


def test_an_exception_of_print_is_raised_once_at_its_line():
    gradient = pijit.value_and_grad(pijit.jit(overflowing), (0, 1))
    for _ in range(4):
        output_of(gradient, X, 2.0, 7)
    found, files = [], []
    for function in (overflowing, gradient):
        full = Full()
        file = io.TextIOWrapper(io.BufferedWriter(full, 1), write_through=True)
        with contextlib.redirect_stdout(file), pytest.raises(OSError, match="no room") as raised:
            function(X, 2.0, 7)
        files.append(file)  # its end would try to write once more
        lines = [one.lineno for one in raised.traceback if one.name == "overflowing"]
        found.append((full.text, full.tries, len(lines)))
    assert found[0] == found[1] and found[0][2] == 1


class Spying(io.StringIO):
    """A file whose method is in Python."""

    def write(self, text):
        return super().write(text.upper())


def test_files_in_python_use_the_tape():
    gradient = pijit.value_and_grad(pijit.jit(overflowing), (0, 1))
    for _ in range(4):
        output_of(gradient, X, 2.0, 7)
    found = []
    for function in (overflowing, gradient):
        with contextlib.redirect_stdout(Spying()) as file:
            function(X, 2.0, 7)
        found.append(file.getvalue())
    assert found[0] == found[1] and gradient._kernels.why


class Patched(io.StringIO):
    """A class in Python."""


def logged(x, a, steps, log):
    s = x[0] * a
    for i in range(steps):
        s = s * 0.9 + (x * x).sum() * a
        if i % 2 == 0:
            log.write("step %d: %.4f\n" % (i, s))
    return s


def with_own_method():
    """A file with an attribute that hides its method."""
    file = io.StringIO()
    file.write = lambda text: io.StringIO.write(file, text.upper())
    return file


@pytest.mark.parametrize("make, by_kernel", [(io.StringIO, True), (Patched, False), (with_own_method, False)])
def test_texts_are_written_to_files(make, by_kernel):
    plain = make()
    logged(X, 0.3, 5, plain)
    gradient = pijit.value_and_grad(pijit.jit(logged), (0, 1))
    for _ in range(4):
        log = make()
        value, _ = gradient(X, 0.3, 5, log)
        assert log.getvalue() == plain.getvalue() and value == logged(X, 0.3, 5, make())
    assert (gradient._kernels.why == "") == by_kernel


class Shown:
    """An object whose text is computed by Python."""

    def __str__(self):
        return "shown"


SHOWN = Shown()


OTHER = Patched()


def other_object(x, a):
    print(SHOWN)
    return (x * a).sum()


def other_file(x, a):
    print("x", file=OTHER)
    return (x * a).sum()


@pytest.mark.parametrize("function", [other_object, other_file])
def test_other_prints_use_the_tape(function):
    plain, _ = output_of(function, X, 2.0)
    gradient = pijit.grad(pijit.jit(function), (0, 1))
    for _ in range(4):
        text, _ = output_of(gradient, X, 2.0)
        assert text == plain
    assert "PJ510" in str(output_of(pijit.explain, gradient, X, 2.0)[1])


def test_explain_prints_once():
    gradient = pijit.grad(pijit.jit(every_third))
    plain, _ = output_of(every_third, X, 10)
    for _ in range(4):
        output_of(gradient, X, 10)
    text, report = output_of(pijit.explain, gradient, X, 10)
    assert text == plain and "later calls run jitted functions: it calls functions that are not part" in str(report)


def steep(x, steps):
    u = x.copy()
    for i in range(steps):
        u[1:] = u[1:] - 0.1 * u[1:] * (u[1:] - u[:-1])
        if i % 5 == 0:
            print(i, f"{u.max():.3f}")
    return (u * u).sum()


def test_checkpoints_do_not_print_again(monkeypatch):
    monkeypatch.setattr(limits, "KEPT", 1)
    monkeypatch.setattr(limits, "KEPT_OF_CHEAP", 1)
    plain, _ = output_of(steep, X, 17)
    gradient = Gradient(steep, 0)
    output_of(gradient.warm, X, 17)
    for _ in range(3):
        text, by_kernel = output_of(gradient.compare, X, 17)
        assert by_kernel is True, (by_kernel, gradient.why)
        assert text == plain * 2
    assert gradient.f._kernels.entries[0].larger
