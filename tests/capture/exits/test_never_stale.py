"""What changes between calls is seen: objects, classes, modules and functions; and how many captures changes cost."""

import importlib
import sys
import types

import numpy as np
import pytest

from pijit.differential import plain_twin
from tests.harness import check, jitted, kernel_count

X = np.arange(6.0)


def outcome(f, *args):
    try:
        answer = f(*args)
    except Exception as error:
        return type(error), str(error)
    return type(answer), repr(answer)


def follows(f, changes, *args, times=3):
    """The jitted function gives what Python gives after each change."""
    captured, plain = jitted(f, {"cache_limit": 32, "force_breaks": None, "backend": "python"}), plain_twin(f)
    for change in (lambda: None,) + tuple(changes):
        change()
        for _ in range(times):
            assert outcome(captured, *args) == outcome(plain, *args)
    assert kernel_count(captured) >= 1


class Model:
    scale = 2.0

    def __init__(self):
        self.weight = 3.0

    @property
    def bias(self):
        return self.weight + 1.0

    def step(self, x):
        return x * self.weight


def uses_model(m, x):
    return m.step(x) * m.scale + m.bias


def test_attributes_and_classes():
    class Own(Model):
        pass

    m = Own()
    follows(uses_model, [
        lambda: setattr(m, "weight", 4), lambda: setattr(m, "weight", X), lambda: setattr(m, "weight", np.float32(2)),
        lambda: setattr(m, "weight", 3.0), lambda: setattr(m, "scale", 5.0), lambda: delattr(m, "scale"),
        lambda: setattr(Own, "scale", 7), lambda: setattr(Own, "bias", property(lambda self: 100.0)),
        lambda: setattr(Own, "step", lambda self, x: x - 1.0), lambda: setattr(m, "step", lambda x: x + 9.0),
        lambda: delattr(m, "step"), lambda: setattr(m, "__dict__", {"weight": 11.0, "scale": 0.5}),
        lambda: setattr(m, "__class__", Model), lambda: m.__dict__.clear(), lambda: m.__dict__.update(weight=1.0),
    ], m, X)


def helper(x, n=2.0, *, k=1.0):
    return x * n + k


def uses_helper(x):
    return helper(x) + 1.0


def test_parts_of_a_function():
    def other(x, n=2.0, *, k=1.0):
        return x - n * k

    saved = helper.__code__, helper.__defaults__, helper.__kwdefaults__
    try:
        follows(uses_helper, [
            lambda: setattr(helper, "__defaults__", (5.0,)), lambda: setattr(helper, "__kwdefaults__", {"k": 9}),
            lambda: setattr(helper, "__code__", other.__code__), lambda: helper.__kwdefaults__.update(k=X),
            lambda: setattr(helper, "__defaults__", None), lambda: setattr(helper, "__defaults__", (1,)),
            lambda: setattr(helper, "__code__", saved[0])], X)
    finally:
        helper.__code__, helper.__defaults__, helper.__kwdefaults__ = saved


def test_own_parts():
    def f(x, n=2.0, *, k=1.0):
        return x * n + k

    def other(x, n=2.0, *, k=1.0):
        return x - n + k

    captured = jitted(f)
    for change in (lambda g: None, lambda g: setattr(g, "__defaults__", (7,)),
                   lambda g: setattr(g, "__kwdefaults__", {"k": 4.0})):
        change(f)
        for _ in range(3):
            assert outcome(captured, X) == outcome(plain_twin(f), X)


def test_a_reloaded_module(tmp_path, monkeypatch):
    path = tmp_path / "reloaded_by_a_test.py"
    path.write_text("SCALE = 2.0\ndef run(x):\n    return x * SCALE\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    module = importlib.import_module("reloaded_by_a_test")

    def f(x):
        return module.run(x) + module.SCALE

    def again(text):
        path.write_text(text)
        importlib.invalidate_caches()
        importlib.reload(module)

    try:
        follows(f, [lambda: again("SCALE = 5\ndef run(x):\n    return x - SCALE  # longer than before\n"),
                    lambda: setattr(module, "SCALE", X), lambda: setattr(module, "run", len)], X)
    finally:
        del sys.modules["reloaded_by_a_test"]


def test_contents_of_containers():
    def f(xs, d):
        return xs[0] * d["a"] + len(xs)

    xs, d = [X, 2.0], {"a": 3.0}
    follows(f, [lambda: xs.append(1), lambda: xs.__setitem__(0, X[::2]), lambda: xs.__setitem__(0, 4),
                lambda: d.update(a=X), lambda: d.pop("a"), lambda: d.update(a=2, b=xs), lambda: xs.reverse(),
                lambda: xs.clear(), lambda: xs.append(np.ones((2, 2)))], xs, d)


def test_containers_that_contain_themselves():
    def f(xs, x):
        inner = xs[1]
        return inner[0] * x + inner[1][0], xs

    def tangled(value):
        made = [value]
        made.append(made)
        return made

    captured = jitted(f, {"backend": "python"})
    for value in (2.0, 3, X, 2.0):
        xs = tangled(value)
        for _ in range(2):
            got, wanted = captured(xs, X), f(xs, X)
            assert got[0].tolist() == wanted[0].tolist() and got[1] is xs


def test_aliases():
    def arrays(x, y):
        x[1:] = x[1:] + y[:-1]
        y[0] = 100.0
        return x + y

    def lists(xs, ys):
        xs.append(1.0)
        ys[0].append(2.0)
        return len(xs) * 1.0 + len(ys[0]), xs

    x = np.arange(6.0)
    wide = np.arange(7.0)
    check(arrays, x.copy(), x.copy(), aliased=[(x, x), (wide[1:], wide[:-1]), (x, x[::-1])])
    inner, outer = [0.0], [3.0]
    check(lists, [0.0], [[1.0]], aliased=[(inner, [inner])])
    captured = jitted(lists)
    for _ in range(3):
        assert captured(outer, [outer])[1] is outer
    assert outer == [3.0] + [1.0, 2.0] * 3


def special_arrays(tmp_path):
    raw = np.zeros(49, np.uint8)
    unaligned = raw[1:].view("d")
    unaligned[...] = X
    locked = X.copy()
    locked.flags.writeable = False
    mapped = np.memmap(str(tmp_path / "data"), "d", "w+", shape=(6,))
    mapped[:] = X
    return [X, X.view(np.matrix), np.ma.masked_array(X, X > 3), mapped, locked, X.astype(">f8"), unaligned,
            np.array(2.0), X.astype(object), np.array(2.0, object), X.reshape(2, 3), X[::-1], X[:0], np.float64(3.0)]


def test_every_kind_of_array(tmp_path):
    def f(x):
        y = x * 2.0 + 1.0
        return y - x

    def write(x):
        x[0] = 5.0
        return x * 2.0

    for function in (f, write):
        captured = jitted(function, {"cache_limit": 32, "backend": "python"})
        for _ in range(2):
            for ours, plain in zip(special_arrays(tmp_path), special_arrays(tmp_path)):
                assert outcome(captured, ours) == outcome(function, plain)
                assert repr(ours) == repr(plain)


@pytest.mark.parametrize("steered", [False, True])
def test_numbers_cost_few_captures(steered):
    def f(x, n):
        return x.sum(axis=0) * n + 1.0

    def by_axis(x, n):
        return x.sum(axis=n)

    captured = jitted(by_axis if steered else f, {"force_breaks": None, "backend": "python"})
    wide = np.ones((2,) * 12)
    for n in list(range(10)) * 2:
        if steered:
            assert captured(wide, n).shape == by_axis(wide, n).shape
        else:
            assert captured(X, n) == f(X, n)
    assert captured.cache_info().currsize <= 3 and len(captured.state.entries) <= 3
    assert captured.cache_info().misses <= 6


def test_shapes_cost_one_capture():
    def f(x, y):
        return (x * y + 1.0)[1:].sum(axis=0)

    captured = jitted(f, {"force_breaks": None})
    for rows in range(1, 6):
        for columns in (1, 2, 7):
            x = np.ones((rows, columns))
            assert captured(x, x).tolist() == f(x, x).tolist()
    info = captured.cache_info()
    assert info.misses <= 2 and info.currsize == 1 and info.hits + info.misses == 15


def test_the_limit_names_the_guard():
    def f(x, kind):
        return x * 2.0 + 1.0, kind is None

    captured = jitted(f, {"cache_limit": 2, "force_breaks": None})
    kinds = [types.SimpleNamespace(), None, 3, "a", X, 2.0, np.float32(1)]
    with pytest.warns(RuntimeWarning, match="limit of 2 compiled variants.*the guard that failed most.*kind") as caught:
        for kind in kinds * 2:
            assert captured(X, kind)[1] is (kind is None)
    assert len(caught) == 1
    info = captured.cache_info()
    assert info.currsize == info.maxsize == 2 and info.hits + info.misses == 2 * len(kinds)


def test_a_recompile_names_guard_facts_and_line(caplog):
    def f(x, n):
        y = x + 1.0
        return y * n

    captured = jitted(f, {"log_recompile": True, "force_breaks": None, "backend": "python"})
    with caplog.at_level("INFO", logger="pijit.recompiles"):
        for n in (2, 2, 2.5):
            captured(X, n)
    line, = [record.getMessage() for record in caplog.records]
    assert "L['n'] is an int" in line and "is now 2.5" in line
    assert "%s:%d" % (__file__, f.__code__.co_firstlineno + 2) in line and "PJ301" in line
