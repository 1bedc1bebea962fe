"""Hints of types: `# @jit.typing: () -> ...` and `pijit.hint`."""

import warnings

import numpy as np
import pytest

import pijit
from pijit import TypeHintWarning, hint
from pijit.core.capture.profile.hints import parsed
from tests.harness import check, jitted, same

X = np.linspace(-1.0, 2.0, 7)
KIND = np.float64
PAIR = pijit.Tensor([None], np.float64)
made = []


def make(value):
    """What Python makes, and capture does not know."""
    made.append(1)
    return eval("value")


def behind(x):
    y = make(x * 2.0)  # @jit.typing: () -> tensor_type[float64]
    z = y * 2.0 + x
    return z * z + y


def above(x):
    # more of what is said here
    # @jit.typing: () -> tensor_type[{KIND}, 1]

    y = make(
        x * 2.0)
    z = y * 2.0 + x
    return z * z + y


def at_the_end(x, kind=np.float64):
    y = make(x * 2.0,
             )  # @jit.typing: () -> ndarray[{kind}]
    z = y * 2.0 + x
    return z * z + y


def by_call(x):
    y = hint(make(x * 2.0), "tensor_type[np.float64]")
    z = y * 2.0 + x
    return z * z + y


def by_call_of_tensor(x):
    y = pijit.hint(make(x * 2.0), PAIR)
    z = y * 2.0 + x
    return z * z + y


def scalars(x):
    a = make(3)  # @jit.typing: () -> int
    b = hint(make(2.5), float)
    c = make(x[0])  # @jit.typing: () -> float64
    total = a * b + c - a * (b + c) + c * c * b - a
    return total * 2.0 + a * b


def unpacked(x):
    a, b = make((2.0, x))  # @jit.typing: () -> tuple_[float, tensor_type[float64, 1]]
    z = b * a + x
    return z * z + b


def items(x):
    total = 0.0
    for value in make(iter([1.0, 2.0, 3.0])):  # @jit.typing: () -> float
        total = total + value * 2.0 - value * value * 0.5 + total * 0.25 - 1.0 / (value + 1.0) + value * 3.0
    return total + x


RIGHT = [behind, above, at_the_end, by_call, by_call_of_tensor, scalars, unpacked, items]


@pytest.mark.parametrize("function", RIGHT, ids=lambda f: f.__name__)
def test_the_first_call_is_compiled_and_observes_nothing(function):
    f = jitted(function, {"force_breaks": None, "perf_statistics": False})
    for calls in range(1, 4):
        same(function(X), f(X))
        assert f.cache_info().misses == 1 or function is items  # whose iterator is looked at
        assert sum(one.calls for one in f.state.entries[-1].launchers) >= calls
    assert len(f.state.recompiles) == (function is items)


def wrong_dtype(x):
    y = make(x * 2.0)  # @jit.typing: () -> tensor_type[float32]
    z = y * 2.0 + x
    return z * z + y


def wrong_rank(x):
    y = hint(make(x * 2.0), "tensor_type[float64, 2]")
    z = y * 2.0 + x
    return z * z + y


def wrong_class(x):
    y = make(x * 2.0)  # @jit.typing: () -> float
    z = y * 2.0 + x
    return z * z + y


def wrong_count(x):
    a, b = make((2.0, x))  # @jit.typing: () -> tuple_[float, tensor_type[float64, 1], int]
    z = b * a + x
    return z * z + b


@pytest.mark.parametrize("function", [wrong_dtype, wrong_rank, wrong_class], ids=lambda f: f.__name__)
def test_a_wrong_hint_costs_two_runs_and_is_told(function):
    f = jitted(function, {"force_breaks": None, "perf_statistics": False})
    for _ in range(7):
        del made[:]
        same(function(X), f(X))
        assert len(made) == 2
    line = function.__code__.co_firstlineno + 1
    told = pijit.explain(f).recompiles
    assert told[0].startswith("PJ306 hint of a type does not hold (line: {}, guard: ".format(line)), told
    assert told[1].startswith("PJ302") and f.state.entries[-1].launchers[0].misses == 0


@pytest.mark.parametrize("function", RIGHT + [wrong_count, wrong_dtype], ids=lambda f: f.__name__)
def test_answers_in_this_mode(function):
    check(function, X, calls=4)


def malformed(x):
    y = make(x)  # @jit.typing: float64
    return y * 2.0 + y


def test_what_cannot_be_understood_is_a_warning_at_its_line():
    f = jitted(malformed)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        pijit.explain(f, X)
        f(X), f(X)
    (one,) = [found for found in caught if found.category is TypeHintWarning]
    assert one.filename == __file__ and one.lineno == malformed.__code__.co_firstlineno + 1
    assert str(one.message).startswith("@jit.typing: '# @jit.typing: float64' is no type of a value; accepted are ")
    with warnings.catch_warnings(), pytest.raises(TypeHintWarning, match="tensor_type"):
        warnings.simplefilter("error")
        jitted(malformed)(X)
    with warnings.catch_warnings(), pytest.raises(TypeHintWarning, match="tensor_type"):
        warnings.simplefilter("error")
        pijit.explain(malformed, X)


def no_hint(name):
    raise KeyError(name)


@pytest.mark.parametrize("text", [
    "", "float64(", "tensor_type", "tensor_type[]", "tensor_type[float64, -1]", "longdouble", "tensor_type[object]",
    "tensor_type[float64, 1, 2]", "{unknown}", "a.b.c", "1", "vector[int]", "tuple_[float, nothing]", "() -> float"])
def test_texts_that_say_nothing(text):
    with pytest.raises(ValueError, match="is no type of a value; accepted are int, .*tensor_type"):
        parsed(text, no_hint)
    with pytest.raises(ValueError, match="is no type of a value"):
        hint(X, text)


@pytest.mark.parametrize("kind", [int, float, np.float32, np.dtype("int64"), PAIR, "tuple_[int, bool]", list, dict])
def test_hint_answers_with_the_value(kind):
    assert hint(X, kind) is X


@pytest.mark.parametrize("kind", [None, 3, str, pijit.Tensor([3]), object])
def test_hint_refuses_what_describes_nothing(kind):
    with pytest.raises(TypeError, match="hint: kind must be a text, a class, a dtype or a pijit.Tensor"):
        hint(X, kind)


def test_hint_of_what_is_known_is_part_of_the_kernel():
    def known(x):
        y = hint(x * 2.0, "tensor_type[float64]")
        return y * y + x

    f = jitted(known, {"force_breaks": None})
    same(known(X), f(X))
    assert not pijit.explain(f).breaks
