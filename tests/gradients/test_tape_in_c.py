"""The tape in C and its helpers: they do what the helpers in Python do, own their references and leave nothing behind."""

import gc
import math
import sys
import tracemalloc
import warnings

import array_programs
import numpy as np
import object_programs
import pytest

import pijit
from pijit.core import _tape
from pijit.core.tape import instrument
from pijit.core.tape.differentiate import Recorded, value_and_gradients
from pijit.core.tape.errors import GradientError

X = np.array([0.7, 1.3, 0.41, 0.93])
MATRIX = np.arange(12.0).reshape(3, 4) / 7.0


def arithmetic(x):
    return ((x * 2.0 + 1.0) / (x - 3.0) - (-x) ** 3 + (+x) ** 2 + x ** 0.5 + 2.0 ** x + x ** x).sum()


def numbers(x):
    a, b = float(x[0]), x[1]
    for k in range(5):
        a, b = a * b + 0.5 / a - k, b - a * 0.25
    return math.sin(a) * math.hypot(a, b) + abs(b) ** 1.5


def broadcast(x):
    return (MATRIX * x + x[:, None][:3] - np.float64(2.0) * x[1]).sum() + (x * MATRIX[0, 1]).mean()


def stores(x):
    u = x.copy()
    u[1:] = u[:-1] * 0.5
    u[0] = x[2]
    u[-1] = 3.0
    u[1:3] += x[:2]
    u *= x
    u /= 1.5
    u -= 0.25
    u[::2] = u[1::2]
    return (u * u).sum() + u[1]


def whole_functions(x):
    y = np.outer(x, x) + np.eye(4)
    z = np.dot(y, x) + y @ x + np.matmul(y, y)[0] + np.cumsum(x) + x.cumsum()
    return (z.sum(axis=0) + np.sum(y, axis=1, keepdims=True).mean() + y.T.max() + np.linalg.det(y)
            + np.where(x > 0.5, z, x).sum() + np.clip(x, 0.5, 1.0).sum() + np.linalg.norm(x))


def ufuncs(x):
    return (np.sin(x) * np.exp(-x) + np.sqrt(np.abs(x)) + np.maximum(x, 0.9) + np.log(x + 1.0) + np.arctan2(x, 2.0)
            + np.floor(x) * x + np.hypot(x, 1.0)).sum()


def cuts(x):
    t = 0.0
    for v in x:
        if v > 0.5 and not v == 1.3:
            t = t + v // 0.25 * v + v % 0.3
    return t + (x > 1.0).sum() * x[0]


def single_precision(x):
    y = x.astype(np.float32)
    return float((y * np.float32(2.0) + y[1] * y).sum() * y[0]) + (y / 3).sum()


def complex_numbers(x):
    z = x * 1j + x
    return (np.exp(z) * z.conj()).real.sum() + abs(z[0] * (2.0 + 1.0j)) ** 2


class Layer:
    def __init__(self, w):
        self.w, self.calls = w, 0

    @property
    def twice(self):
        return self.w * 2.0

    def __call__(self, x):
        self.calls += 1
        self.last = x * self.w + self.twice
        return self.last


def objects(x):
    layers = [Layer(x), Layer(x[::-1])]
    for layer in layers:
        x = layer(x)
    return x.sum() + layers[0].calls + layers[1].last.max() + len(layers)


PROGRAMS = [arithmetic, numbers, broadcast, stores, whole_functions, ufuncs, cuts, single_precision, complex_numbers, objects]


def outcome(f, x):
    """Value, gradient, end state of the argument, and what the tape has noted, or the exception."""
    x = x.copy()
    try:
        found = value_and_gradients(f, [0], (x,), {})
    except Exception as error:
        return type(error), str(error)
    return (type(found.value), np.asarray(found.value).tobytes(), found.gradients[0].tobytes(), x.tobytes(),
            found.tape.lines, sorted(set(found.tape.cuts), key=str))


@pytest.fixture
def in_python(monkeypatch):
    """The outcome with code that calls the helpers in Python."""
    def run(f, x):
        with monkeypatch.context() as patch:
            patch.setattr(instrument, "ROWS", instrument.helper_rows(instrument.HELPERS_IN_PYTHON))
            patch.setattr(instrument, "_made", type(instrument._made)())
            return outcome(f, x)
    return run


@pytest.mark.parametrize("f", PROGRAMS + object_programs.PROGRAMS + array_programs.PROGRAMS, ids=lambda f: f.__name__)
def test_outcomes_are_those_of_the_helpers_in_python(f, in_python):
    point = X if f in PROGRAMS else np.array([0.7, 1.3, 0.41, 0.93, 1.13])
    assert outcome(f, point) == in_python(f, point)


def failing_division(x):
    return x.sum() / 0


def failing_index(x):
    x[7] = 1.0
    return x[9]


def failing_shapes(x):
    return (x + np.ones(3)).sum()


def failing_store(x):
    y = x * 2.0
    y[1:] = np.ones(7)
    return y.sum()


def failing_update(x):
    x += np.ones(7)
    return x.sum()


def without_rule(x):
    return np.lexsort((x, x)).sum() * x[0] + np.linalg.matrix_rank(np.outer(x, x)) * x[1]


@pytest.mark.parametrize("f", [failing_division, failing_index, failing_shapes, failing_store, failing_update, without_rule],
                         ids=lambda f: f.__name__)
def test_exceptions_are_those_of_the_helpers_in_python(f, in_python):
    assert outcome(f, X) == in_python(f, X)


@pytest.mark.parametrize("f", [stores, arithmetic, whole_functions, numbers], ids=lambda f: f.__name__)
def test_gradients_of_gradients(f):
    def slope(x):
        return (pijit.grad(f)(x) * np.array([1.0, -2.0, 0.5, 3.0])).sum()
    found, step = pijit.grad(slope)(X), 1e-6
    for k in range(len(X)):
        above, below = X.copy(), X.copy()
        above[k] += step
        below[k] -= step
        assert abs((slope(above) - slope(below)) / (2 * step) - found[k]) < 1e-4 * max(1.0, abs(found[k]))


def test_a_kept_tape_is_swept_again():
    recorded = Recorded(stores, [0], (X.copy(),), {})
    first = recorded.backward(recorded.result, 1.0, True, False)
    second = recorded.backward(recorded.result, 2.0, True, False)
    assert np.array_equal(first[0] * 2.0, second[0])


def test_an_operand_whose_shape_is_assigned_later():
    def f(x):
        y = x * 2.0
        z = y * y
        y.shape = (2, 2)
        return z.sum() + y[0, 1]
    assert np.array_equal(pijit.grad(f)(X), 8.0 * X + np.array([0.0, 2.0, 0.0, 0.0]))


def test_subclasses_and_objects_are_left_to_python(in_python):
    class Own(np.ndarray):
        pass

    def f(x):
        y = x.view(Own) * 2.0
        y[1:] = y[:-1] + 1.0
        return float((y * x).sum()) + sum(np.array([x[0], x[1]], dtype=object) * 2)
    assert outcome(f, X) == in_python(f, X)


def test_warnings_are_those_without_a_tape():
    def f(x):
        y = x / 0.0
        return (np.log(x - 10.0) * 0.0 + y).sum()

    def texts(call):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            call(X.copy())
        return [(str(one.message), one.category) for one in caught]
    assert texts(lambda x: value_and_gradients(f, [0], (x,), {})) == texts(f) != []


def test_a_rule_that_refuses_names_the_line_of_the_call():
    def f(x):
        m = np.outer(x, x) * 0.0 + np.eye(4)
        return np.linalg.eigh(m)[1].sum()
    with pytest.raises(GradientError, match=r"test_tape_in_c.py:\d+\)"):
        value_and_gradients(f, [0], (X.copy(),), {})


# References and memory.

@pytest.mark.parametrize("f", PROGRAMS + [failing_store, failing_shapes], ids=lambda f: f.__name__)
def test_nothing_is_left_behind(f):
    tracemalloc.start()
    try:  # a leak grows in each round; caches, NumPy's of freed memory among them, do so for some rounds
        assert any(growth_of(lambda: outcome(f, X)) < 2000 for _ in range(40))
    finally:
        tracemalloc.stop()


def growth_of(call):
    """The growth of memory by 100 calls, in bytes; the smallest object has 24."""
    before = tracemalloc.get_traced_memory()[0]
    for _ in range(100):
        call()
    gc.collect()
    return tracemalloc.get_traced_memory()[0] - before


def test_references_of_what_rules_and_records_hold():
    values = [X, MATRIX, 1.5, np.float64(2.5), Ellipsis, None, np.sin, np.sum]

    def f(x, m, a, b):
        y = np.sin(x) * a + b
        y[1] = a
        y += m[0]
        return np.sum(y) + y[2]
    counts = []
    for _ in range(30):
        value_and_gradients(f, [0], (X, MATRIX, values[2], values[3]), {})
        gc.collect()
        counts.append([sys.getrefcount(one) for one in values])
    assert counts[10] == counts[-1]


def test_a_tape_that_refers_to_itself_is_collected():
    class Tape(_tape.Tape):
        pass
    alive = len([one for one in gc.get_objects() if type(one).__name__ == "Tape" and type(one).__module__ == __name__])
    tape = Tape()
    tape.allowed = 1 << 20
    tape.record(lambda run: tape)
    tape.record_value(np.ones(3), tape.record)
    del tape
    gc.collect()
    assert alive == len([one for one in gc.get_objects()
                         if type(one).__name__ == "Tape" and type(one).__module__ == __name__])


@pytest.mark.parametrize("call", [
    lambda: _tape.set_tapes(3), lambda: _tape.Tape().memory(3), lambda: _tape.Tape().shadow([]),
    lambda: _tape.Tape().cut(3), lambda: _tape.Tape().hold("x"), lambda: _tape.overlaps_itself(3),
    lambda: _tape.Rule(None, [], None, 0, False, False), lambda: _tape.operator_helper("add", 3, None, None),
    lambda: _tape.site_helper((3,), None), lambda: _tape.Tape().give(1, 2), lambda: _tape.set_instrumented(3, True),
    lambda: _tape.Memory()], ids=range(12))
def test_wrong_arguments_raise_type_errors(call):
    with pytest.raises(TypeError):
        call()


def test_wrong_values_raise_value_errors():
    with pytest.raises(ValueError, match="there is no operator walk"):
        _tape.operator_helper("walk", None, None, None)
    with pytest.raises(ValueError, match="not an active number"):
        _tape.Tape().set_adjoint(1.0, 2.0)
    with pytest.raises(ValueError, match="at most 4 operands"):
        _tape.Rule(None, (), None, 5, False, False)


def test_overlaps():
    base = np.zeros((4, 6))
    for x, expected in ((base, False), (base[:, ::2], False), (base.T, False), (base[::-1, 1:], False),
                        (np.broadcast_to(base[0], (3, 6)), True), (np.zeros((0, 3)), False), (np.float64(3.0)[...], False),
                        (np.lib.stride_tricks.as_strided(base, (3, 3), (48, 48)), True),
                        (np.lib.stride_tricks.as_strided(base, (3, 3), (8, 8)), True),
                        (np.lib.stride_tricks.as_strided(base, (3, 2), (16, 8)), False)):
        assert _tape.overlaps_itself(np.asarray(x)) is expected


def test_many_values_on_one_tape():
    def f(x, n):
        a = float(x[0])
        for _ in range(n):
            a = a * 1.0001 + 0.25
        return a
    found = value_and_gradients(f, [0], (X, 20000), {})
    assert abs(found.gradients[0][0] / 1.0001 ** 20000 - 1.0) < 1e-9
    assert sum(found.tape.lines.values()) == 40002
