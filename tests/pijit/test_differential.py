"""The harness against "jitted" functions that are wrong on purpose: it finds each kind of difference."""

import random
import types
import warnings

import numpy as np
import pytest

import pijit
from pijit.differential import DifferenceError, checked_call, compare_calls
from pijit.plain_functions import plain_twin

COUNT = 0
TABLE = np.zeros(3)
X = np.arange(6.0)


def kinds(function, wrong, *args, times=1):
    """The kinds of difference that the engine finds between two functions."""
    try:
        compare_calls(function, wrong, [(args, {})] * times)
    except DifferenceError as error:
        return {difference.kind for difference in error.differences}
    return set()


def swapped(pair):
    return pair[1], pair[0]


class Point:
    def __init__(self, x):
        self.x = x


RESULTS = [
    ("type", 1.0, np.float64(1.0)),
    ("type", 1, True),
    ("type", (1,), [1]),
    ("value", 1, 2),
    ("value", "a", "b"),
    ("value", {1, 2}, {1, 3}),
    ("bits", 0.0, -0.0),
    ("bits", 0.0j, complex(0.0, -0.0)),
    ("bits", np.float32(1.0), np.float32(1.0000001)),
    ("bits", np.array([1.0, np.nan]), np.array([1.0, -np.nan])),
    ("bits", np.array([0.0]), np.array([-0.0])),
    ("dtype", np.zeros(2, np.float32), np.zeros(2)),
    ("dtype", np.zeros(2, "<i4"), np.zeros(2, ">i4")),
    ("shape", np.zeros((2, 1)), np.zeros(2)),
    ("strides", np.zeros((3, 3)), np.zeros((3, 3), order="F")),
    ("flags", np.zeros(4), np.zeros(5)[:4]),
    ("length", [1, 2], [1]),
    ("length", {"a": 1}, {}),
    ("order", {"a": 1, "b": 2}, {"b": 2, "a": 1}),
    ("identity", np.add, np.subtract),
    ("bits", Point(0.0), Point(-0.0)),
    ("value", Point(1), Point(2)),
    ("value", iter([1, 2]), iter([1, 3])),
    ("type", np.array([1, None], object), np.array([1.0, None], object)),
]


@pytest.mark.parametrize("kind, right, wrong", RESULTS)
def test_finds_wrong_result(kind, right, wrong):
    assert kind in kinds(lambda: right, lambda: wrong)
    assert kinds(lambda: right, lambda: right) == set()


def test_finds_nan_payload():
    payload = np.array([0x7FF8000000000001], np.uint64).view(np.float64).copy()
    assert kinds(lambda: np.array([np.nan]), lambda: payload) == {"bits"}
    assert kinds(lambda: float("nan"), lambda: float(payload[0])) == {"bits"}


def test_finds_copy_instead_of_argument():
    def f(x):
        x *= 2
        return x

    def wrong(x):
        x *= 2
        return x.copy()

    assert "identity" in kinds(f, wrong, np.ones(3))
    assert kinds(f, f, np.ones(3)) == set()


def test_finds_copy_instead_of_view():
    found = kinds(lambda x: x[1:], lambda x: x[1:].copy(), np.ones(3))
    assert {"flags", "memory"} <= found
    assert kinds(lambda x: x[1:], lambda x: x[:2], np.ones(3)) == {"memory"}


def test_finds_missing_and_extra_mutation():
    def f(x):
        x[0] = 5.0

    assert kinds(f, lambda x: None, np.ones(3)) == {"bits"}
    assert kinds(lambda x: None, f, np.ones(3)) == {"bits"}


def test_finds_wrong_answer_for_aliased_arguments():
    def f(x, y):
        for i in range(len(x)):
            y[i] = x[i] + 1

    def wrong(x, y):
        y[:] = x.copy() + 1

    x = np.ones(5)
    assert kinds(f, wrong, x, x.copy()[:]) == set()
    assert kinds(f, wrong, x[:-1], x[1:]) == {"bits"}


def test_finds_global_and_cell_state():
    def f():
        global COUNT
        COUNT += 1
        TABLE[0] += 1

    assert kinds(f, lambda: None) == {"value", "bits"}
    assert kinds(f, plain_twin(f), times=3) == set()
    assert COUNT == 0 and TABLE[0] == 0.0

    total = 1.0

    def g():
        nonlocal total
        total += 1.0

    assert kinds(g, lambda: None) == {"bits"}
    assert total == 1.0


def test_finds_argument_that_is_a_view_of_a_global():
    def f(x):
        X[0] = 7.0
        return x[0]

    def wrong(x):
        first = x[0]
        X[0] = 7.0
        return first

    assert "bits" in kinds(f, wrong, X[:2])
    assert X[0] == 0.0


def test_finds_output_and_its_order():
    def f():
        print("a")
        warnings.warn("w")
        print("b")

    def silent():
        warnings.warn("w")

    def late():
        print("a")
        print("b")
        warnings.warn("w")

    assert "stdout" in kinds(f, silent)
    assert "warning" in kinds(f, late)  # another line
    assert kinds(f, plain_twin(f)) == set()


def test_finds_order_alone():
    def say(what):
        if what == "w":
            np.log(-np.ones(1))
        else:
            print(what)

    def f(order):
        for what in order:
            say(what)

    assert kinds(f, lambda order: f(swapped(order)), ("p", "w")) == {"order"}


def test_finds_lost_and_invented_exceptions():
    def f(x):
        return x[10]

    def wrong_type(x):
        raise ValueError("index 10 is out of bounds for axis 0 with size 3")

    def wrong_text(x):
        raise IndexError("out of bounds")

    x = np.ones(3)
    assert kinds(f, lambda x: None, x) == {"exception"}
    assert kinds(lambda x: None, f, x) == {"exception"}
    assert kinds(f, wrong_type, x) == {"exception"}
    assert {"traceback", "value"} <= kinds(f, wrong_text, x)
    assert kinds(f, lambda x: f(x), x) == {"traceback"}
    assert kinds(f, plain_twin(f), x) == set()


def test_finds_lost_cause():
    def f():
        try:
            raise KeyError(1)
        except KeyError as error:
            raise ValueError("v") from error

    def wrong():
        raise ValueError("v")

    assert "type" in kinds(f, wrong)


def test_finds_random_numbers_drawn():
    assert kinds(lambda: None, lambda: random.random() and None) == {"random"}
    assert kinds(lambda: None, lambda: np.random.rand() and None) == {"random"}
    assert kinds(lambda: np.random.rand(), lambda: np.random.rand()) == set()


def test_difference_in_a_later_call_names_the_call():
    calls = []

    def wrong(x):
        calls.append(x)
        return x + (len(calls) == 3)

    with pytest.raises(DifferenceError, match="call 3 of 3"):
        compare_calls(lambda x: x + 0, wrong, [((1,), {})] * 3)


def test_calls_that_make_their_arguments():
    def f(items):
        return sum(items)

    def make():
        return (iter(range(4)),), {}

    compare_calls(f, plain_twin(f), [make, make])
    with pytest.raises(DifferenceError, match="value of result: expected 6, got 7"):
        compare_calls(f, lambda items: sum(items) + 1, [make])


def test_local_classes_and_closures_compare_by_content():
    def f(x):
        class Local:
            pass

        made = Local()
        made.x = x
        return made, lambda: x

    compare_calls(f, plain_twin(f), [((1,), {})])
    assert "value" in kinds(f, lambda x: f(x + 1), 1)


def test_checked_call_is_visible_and_raises(capsys):
    def f(x):
        print("once")
        x += 1
        return x

    x = np.zeros(2)
    assert checked_call(f, plain_twin(f), plain_twin(f), (x,), {}) is x
    assert (x == 1).all()
    assert capsys.readouterr().out == "once\n"
    with pytest.raises(DifferenceError, match="bits of result"):
        checked_call(f, plain_twin(f), lambda x: print("once") or x, (x,), {})
    with pytest.raises(TypeError):
        checked_call(f, plain_twin(f), plain_twin(f), (), {})


class Table:
    """Columns that a copy joins into one array, as the objects of some libraries do."""

    def __init__(self, columns):
        self.columns = columns

    def __deepcopy__(self, memo):
        rows = np.array(self.columns)
        return Table([rows[k] for k in range(len(rows))])


def test_arguments_that_change_when_they_are_copied_are_not_checked(caplog):
    def scaled(table, x):
        table.columns[0][...] = x
        return float(table.columns[0].sum())

    for _ in range(3):
        table, x = Table([np.zeros(3), np.ones(3)]), np.arange(3.0)
        assert checked_call(scaled, plain_twin(scaled), plain_twin(scaled), (table, x), {}) == 3.0
    assert [record.getMessage().count("is not checked") for record in caplog.records] == [1]
    with pytest.raises(DifferenceError):
        checked_call(scaled, plain_twin(scaled), lambda table, x: 0.0, (types.SimpleNamespace(columns=[np.zeros(3)]), np.arange(3.0)), {})


@pytest.mark.unshared
def test_data_frames_under_check():
    pandas = pytest.importorskip("pandas")

    def rolled(frame, out):
        frame["mean"] = out
        return float(frame["close"].sum())
    f = pijit.jit(rolled, jit_config={"check": True})
    frame = pandas.DataFrame({"close": np.arange(5.0)})
    assert [f(frame, np.arange(5.0)) for _ in range(4)] == [10.0] * 4
