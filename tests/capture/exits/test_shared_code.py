"""Several jitted functions on one code object, and functions with namespaces, cells and defaults of their own."""

import builtins
import functools
import gc
import pickle
import types

import cloudpickle
import numpy as np
import pytest

import pijit
from pijit.core.entries import kernels
from pijit.core.kernel import shared
from tests.harness import check, fail_unless_captured, jitted, kernel_count

X = np.linspace(-1.0, 2.0, 7)


def make(k, default):
    def inner(x, s=default, *rest, t=k, **named):
        y = x * 2.0 + k
        return y * s + t
    return inner


def expect(function, plain, *args, **kwargs):
    for _ in range(3):
        got, wanted = function(*args, **kwargs), plain(*args, **kwargs)
        assert type(got) is type(wanted) and got.dtype == wanted.dtype and got.tobytes() == wanted.tobytes()


def test_closures_of_one_factory_serve_side_by_side():
    functions = [(jitted(make(k, d)), make(k, d)) for k, d in [(1.0, 2.0), (2, 3), (X, 1.5), (np.float32(3), 0.5)]]
    for _ in range(2):
        for function, plain in functions:
            expect(function, plain, X)
    for function, plain in functions:
        info = function.cache_info()
        assert (info.misses, info.currsize) == (1, 1) and info.hits == 5
        assert kernel_count(function) >= 1


def test_py_func_is_the_function_also_for_twins():
    plain = [make(1.0, 2.0), make(2.0, 3.0)]
    functions = [jitted(f) for f in plain]
    for f, function in zip(plain, functions):
        assert function.py_func is f and function.__wrapped__ is f
        assert function.__name__ == "inner" and function.__qualname__ == f.__qualname__
        assert function.__defaults__ == f.__defaults__ and function.__kwdefaults__ == f.__kwdefaults__
        assert function.__closure__ == f.__closure__ and function.__code__ == f.__code__
    assert functions[0].__code__ is not functions[1].__code__


def test_one_function_jitted_twice():
    def f(x):
        return x * 2.0 + 1.0
    first, second = jitted(f), jitted(f, {"cache_limit": 2})
    expect(first, f, X)
    expect(second, f, X)
    expect(first, f, X)
    assert first.cache_info()[:2] == (5, 1) and second.cache_info()[:3] == (2, 1, 2)
    second.cache_clear()
    expect(first, f, X)
    assert first.cache_info().misses == 1
    expect(second, f, X)
    assert second.cache_info().misses == 2


def test_first_function_goes_away():
    plain = make(2.0, 3.0)
    first, second = jitted(make(1.0, 2.0)), jitted(plain)
    expect(second, plain, X)
    del first
    gc.collect()
    third = jitted(make(4.0, 5.0))
    expect(second, plain, X)
    expect(third, make(4.0, 5.0), X)
    assert second.cache_info().misses == third.cache_info().misses == 1


def test_rebound_cells_are_seen_by_both_closures():
    def make_pair():
        k = 1.0

        def scaled(x):
            return x * k + k

        def rebind(value):
            nonlocal k
            k = value
        return scaled, rebind
    (one, rebind_one), (two, rebind_two) = make_pair(), make_pair()
    first, second = jitted(one), jitted(two)
    for value in (2.0, 3, X, -1.0):
        rebind_one(value)
        expect(first, one, X)
        expect(second, two, X)
        rebind_two(value)
        expect(first, one, X)
        expect(second, two, X)


def test_function_made_anew_in_each_call_compiles_once(monkeypatch):
    compiled = []
    compile_graph = kernels.compile_graph
    monkeypatch.setattr(kernels, "compile_graph", lambda *a: compiled.append(a) or compile_graph(*a))

    def outer(x, k):
        inner = jitted(lambda y: y * 2.0 + k)
        return inner(x)
    for k in (1.0, 2.0, 3.0, 4.0):
        np.testing.assert_array_equal(outer(X, k), X * 2.0 + k)
    assert len({args[0].name for args in compiled}) == len(compiled) >= 1


def test_kernels_of_a_code_object_go_with_it():
    namespace = {}
    exec("def f(x):\n    return x * 2.0 + 1.0", namespace)
    before = len(shared._kernels)
    function = jitted(namespace["f"])
    function(X)
    key = id(function.py_func.__code__)
    assert len(shared._kernels[key]) >= 1
    function.cache_clear()
    assert shared._kernels[key] == {}
    del function, namespace["f"]
    gc.collect()
    assert len(shared._kernels) <= before


class SameText:
    """Two of these print alike."""

    def __repr__(self):
        raise AssertionError("a user's repr was called")


def returns_object(x):
    y = x * 2.0 + 1.0
    return y, MARK


def test_constants_that_print_alike_are_told_apart():
    one, two = SameText(), SameText()
    namespace = {"MARK": one}
    f = types.FunctionType(returns_object.__code__, namespace)
    j = jitted(f)
    for mark in (one, two, one):
        namespace["MARK"] = mark
        for _ in range(3):
            assert j(X)[1] is mark


def reads_attribute_object(model, x):
    y = x * 2.0 + 1.0
    return y, model.mark


def test_attribute_objects_that_print_alike_are_told_apart():
    model = types.SimpleNamespace(mark=SameText())
    j = jitted(reads_attribute_object)
    for _ in range(4):
        for _ in range(3):
            assert j(model, X)[1] is model.mark
        model.mark = SameText()


def test_two_namespaces_under_one_code_object():
    source = "def f(x):\n    y = x * SCALE\n    y = y + TABLE\n    return y - len(x)\n"
    spaces = [{"SCALE": 2.0, "TABLE": X}, {"SCALE": 3.0, "TABLE": X + 1.0}]
    for space in spaces:
        exec(source, space)
    code = spaces[0]["f"].__code__
    plain = [types.FunctionType(code, space) for space in spaces]
    functions = [jitted(types.FunctionType(code, space)) for space in spaces]
    for _ in range(2):
        for function, f in zip(functions, plain):
            expect(function, f, X)


def test_custom_builtins_are_used():
    calls = []

    def counting(values):
        calls.append(len(values))
        return 100
    space = {"__builtins__": dict(vars(builtins), len=counting)}
    exec("def f(x):\n    y = x * 2.0 + 1.0\n    return y + len(x)", space)
    j = jitted(space["f"])
    for _ in range(3):
        np.testing.assert_array_equal(j(X), X * 2.0 + 101.0)
    assert calls == [7, 7, 7]


@pytest.mark.parametrize("args, kwargs", [((X,), {}), ((X, 2.0), {}), ((X, 2.0, 3, 4), {"t": 1.0, "u": 2}),
                                          ((X,), {"s": X}), ((), {"x": X, "t": 3})])
def test_signature_with_defaults_cells_and_stars(args, kwargs):
    with fail_unless_captured():
        check(make(1.5, 2.5), *args, **kwargs)


@pytest.mark.parametrize("args, kwargs", [((), {}), ((X,), {"zz": 1, "x": X})])
def test_wrong_arguments_raise_what_python_raises(args, kwargs):
    plain = make(1.0, 2.0)
    j = jitted(plain)
    with pytest.raises(TypeError) as expected:
        plain(*args, **kwargs)
    with pytest.raises(TypeError) as got:
        j(*args, **kwargs)
    assert str(got.value) == str(expected.value)


def test_changed_defaults_are_seen():
    plain = make(1.0, 2.0)
    j = jitted(plain)
    j(X)
    j.__defaults__ = (5,)
    for _ in range(3):
        np.testing.assert_array_equal(j(X), (X * 2.0 + 1.0) * 5 + 1.0)


@pytest.mark.parametrize("dumps", [cloudpickle.dumps])
def test_pickled_closures(dumps):
    functions = [pijit.jit(make(k, 2.0), jit_config={"backend": "python", "cache_limit": 3}) for k in (1.0, 2)]
    for function in functions:
        function(X)
        again = pickle.loads(dumps(function))
        assert type(again) is type(function) and again.config.cache_limit == 3
        expect(again, function.py_func, X)
        assert again.cache_info().hits == 2


class Layer:
    def __init__(self, w):
        self.w = w

    @functools.partial(pijit.jit, jit_config={"backend": "python"})
    def forward(self, x):
        y = x * self.w
        return y + 1.0


def test_pickled_methods():
    layer = Layer(X)
    expect(layer.forward, functools.partial(Layer.forward.py_func, layer), X)
    again = pickle.loads(pickle.dumps(layer.forward))
    assert again.__func__ is Layer.forward
    np.testing.assert_array_equal(again(X), X * X + 1.0)
