"""What `jit` accepts, refuses and returns."""

import copy
import functools
import inspect
import pickle
import pydoc
import subprocess
import sys
import types
import warnings
import weakref

import cloudpickle
import numpy as np
import pytest

import pijit
from pijit import decorator, jit


def plain(x, k=2.0):
    """Twice."""
    return x * k


class Held:
    def method(self, x):
        return x * 2.0


@pytest.mark.parametrize("wrong", [3, "f", [plain], np.zeros(2)])
def test_refuses_what_is_not_callable(wrong):
    with pytest.raises(TypeError) as caught:
        jit(wrong)
    text = str(caught.value)
    assert text.startswith("jit: fn must be a Python function, a method,") and repr(wrong) in text


@pytest.mark.parametrize("wrong", [len, np.add, int, functools.lru_cache()(plain)])
def test_refuses_callables_without_python_code(wrong):
    with pytest.raises(TypeError, match="jit: fn must be"):
        jit(wrong)


@pytest.mark.parametrize("arguments, error, text", [
    ({"mode": "PIJIT"}, ValueError, "jit: mode must be one of 'PIJit', 'PSJit'; not 'PIJIT' (the closest is 'PIJit')"),
    ({"mode": "PSJIT"}, ValueError, "jit: mode must be one of 'PIJit', 'PSJit'; not 'PSJIT' (the closest is 'PSJit')"),
    ({"mode": 3}, TypeError, "jit: mode must be 'PIJit' or 'PSJit', not 3"),
    ({"input_signature": ("x",)}, TypeError, "jit: an entry of input_signature must be a pijit.Tensor, an array as an "
                                             "example, int, float, bool or complex, None for an argument that may be "
                                             "anything, or a list or tuple of these; not 'x'"),
])
def test_refuses_arguments(arguments, error, text):
    for give in (lambda: jit(plain, **arguments), lambda: jit(**arguments)):
        with pytest.raises(error) as caught:
            give()
        assert str(caught.value) == text


def test_refuses_wrong_options_and_warns_at_the_users_line():
    with pytest.raises(ValueError, match="cache_limit"):
        jit(jit_config={"cache_limit": 0})
    with pytest.warns(UserWarning, match="'print_guards'") as caught:
        jit(jit_config={"print_guard": True})
    assert caught[0].filename == __file__


@pytest.mark.parametrize("variable", ["PIJIT_DISABLE", "NUMBA_DISABLE_JIT"])
def test_disabled_when_decorating(monkeypatch, variable):
    monkeypatch.setenv(variable, "1")
    assert jit(plain) is plain and jit(mode="PIJit")(plain) is plain
    with pytest.raises(TypeError):
        jit(3)


@pytest.mark.parametrize("decorate", [lambda: jit(plain), lambda: jit()(plain), lambda: jit(fn=plain)])
def test_unsupported_python_warns_once_at_the_users_line(monkeypatch, decorate):
    monkeypatch.setattr(decorator, "_warned", False)
    monkeypatch.setattr(sys, "version_info", (3, 14, 0, "final", 0))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert decorate() is plain and jit(plain) is plain and jit()(plain) is plain
    assert [one.category for one in caught] == [pijit.UnsupportedPythonWarning]
    assert "cpython 3.14" in str(caught[0].message)
    assert (caught[0].filename, caught[0].lineno) == (__file__, decorate.__code__.co_firstlineno)
    assert pijit.explain(plain).skipped.id == "PJ105"


@pytest.mark.parametrize("decorate", [lambda: pijit.ms_function(plain), lambda: pijit.jit_class(Held)])
def test_all_decorators_warn_at_the_users_line(monkeypatch, decorate):
    monkeypatch.setattr(decorator, "_warned", False)
    monkeypatch.setattr(sys, "version_info", (3, 14, 0, "final", 0))
    with pytest.warns(pijit.UnsupportedPythonWarning, match="CPython 3.7, 3.8, 3.9, 3.10, 3.11, 3.12 or 3.13") as caught:
        decorate()
    assert (caught[0].filename, caught[0].lineno) == (__file__, decorate.__code__.co_firstlineno)


def test_the_name_of_the_users_module_may_be_anything():
    names = {"__name__": 3, "jit": jit, "f": plain}
    exec("g = jit(f)", names)
    assert names["g"].py_func is plain


def test_unknown_options_warn_at_the_users_line():
    with pytest.warns(UserWarning, match="'print_guards'") as caught:
        pijit.ms_function(jit_config={"print_guard": True})
    assert caught[0].filename == __file__


@pytest.mark.parametrize("wrong", [len, int, staticmethod(len), functools.partial(len), np.add])
def test_what_has_no_code_is_refused_where_nothing_is_compiled(monkeypatch, wrong):
    for patch in (lambda: monkeypatch.setenv("PIJIT_DISABLE", "1"),
                  lambda: monkeypatch.setattr(sys, "version_info", (3, 14, 0, "final", 0))):
        with monkeypatch.context():
            patch()
            with pytest.raises(TypeError, match="has no Python code"):
                jit(wrong)


def test_import_is_light(tmp_path):
    heavy = ("numpy", "numba", "bytecode", "llvmlite", "pijit.core._hook", "pijit.core._launcher", "pijit.guards._evaluate")
    script = "import sys, pijit; print([m for m in {!r} if m in sys.modules])".format(heavy)
    command = [sys.executable, "-c", script]
    printed = subprocess.check_output(command, universal_newlines=True, cwd=str(tmp_path))
    assert printed == "[]\n"


def test_names_that_are_imported_at_their_first_use_are_listed():
    assert set(pijit.__all__) <= set(dir(pijit))
    assert all(hasattr(pijit, name) for name in pijit.__all__)
    with pytest.raises(AttributeError, match="module 'pijit' has no attribute 'nonsense'"):
        pijit.nonsense


def test_the_three_forms():
    called = jit(mode="PIJit", jit_config={"cache_limit": 2})
    for f in (jit(plain), jit()(plain), called(plain), jit(fn=plain)):
        assert f.py_func is plain and f.__wrapped__ is plain
        assert f.__name__ == "plain" and f.__doc__ == "Twice."
        assert inspect.signature(f) == inspect.signature(plain)
        assert (f(np.ones(3), k=3.0) == 3.0).all()
        assert weakref.ref(f)() is f and copy.deepcopy(f) is f
    assert jit(plain, jit_config={"cache_limit": 2}).config.cache_limit == 2


@pytest.mark.parametrize("config", [{}, {"check": True}])
def test_help_and_dir_are_those_of_the_function(config):
    f = jit(plain, jit_config=config)
    page = pydoc.render_doc(f, renderer=pydoc.plaintext)
    assert "plain(x, k=2.0)" in page and "Twice." in page and type(f).__doc__.startswith("A jitted function")
    assert set(dir(plain)) | {"explain", "py_func"} <= set(dir(f))
    undocumented = jit(lambda x: x, jit_config=config)
    assert "jitted" not in pydoc.render_doc(undocumented, renderer=pydoc.plaintext) and undocumented.__doc__ is None
    undocumented.__doc__ = "Now it is."
    assert "Now it is." in pydoc.render_doc(undocumented, renderer=pydoc.plaintext)


def test_cache_info_and_clear():
    f = jit(plain)
    assert f.cache_info() == (0, 0, 8, 0)
    f(np.ones(100))
    info = f.cache_info()
    assert info.misses == 1 and info.hits == 0 and info.currsize == 1 and info.maxsize == 8
    f(np.ones(100))
    assert f.cache_info().hits == 1
    f.cache_clear()
    assert f.cache_info().currsize == 0
    assert (f(np.ones(100)) == 2.0).all()


def test_methods():
    from decorated import Model

    model, x = Model(3.0), np.ones(4)
    assert (model.method(x) == 3.0).all() and (Model.method(model, x) == 3.0).all()
    assert (model.static(x) == 2.0).all() and (Model.outer_static(x) == 2.0).all()
    assert model.klass(x)[0] == "Model" and Model.outer_class(x)[0] == "Model"
    bound = jit(model.method)
    assert bound.__self__ is model and (bound(x) == 3.0).all()


def test_callable_objects_classes_and_partials():
    from decorated import Layer

    x = np.ones(4)
    layer = jit(Layer(2.0))
    assert (layer(x) == 3.0).all() and isinstance(layer, types.MethodType)

    @jit
    class Net:
        def construct(self, x):
            return x - 1.0

    assert (Net().construct(x) == 0.0).all() and isinstance(vars(Net)["construct"], type(jit(plain)))
    half = jit(functools.partial(plain, k=0.5))
    assert (half(x) == 0.5).all()


def test_jit_of_jitted():
    f = jit(plain, jit_config={"cache_limit": 2})
    assert jit(f) is f and jit(f, jit_config={"cache_limit": 2}) is f
    g = jit(f, jit_config={"log_recompile": True})
    assert g is not f and g.py_func is plain
    assert g.config.cache_limit == 2 and g.config.log_recompile is True


def test_checked_function_compares_each_call(monkeypatch):
    assert (jit(plain, jit_config={"check": True})(np.ones(4)) == 2.0).all()
    monkeypatch.setenv("PIJIT_CHECK", "1")
    f = jit(plain)
    assert f.config.check is True
    monkeypatch.setattr(f, "_plain", lambda x, k=2.0: x * k + 1.0)
    with pytest.raises(pijit.DifferenceError, match="bits of result"):
        f(np.ones(4))


def test_pickle_by_name_and_by_value():
    from decorated import module_level

    assert pickle.loads(pickle.dumps(module_level)) is module_level
    k = 3.0
    f = jit(lambda x: x * k, jit_config={"cache_limit": 5})
    f.note = "kept"
    again = cloudpickle.loads(cloudpickle.dumps(f))
    assert (again(np.ones(3)) == 3.0).all() and again.config.cache_limit == 5 and again.note == "kept"
    assert again.__wrapped__ is again.py_func


def test_cloudpickle_sends_main_by_value(tmp_path):
    script = tmp_path / "script.py"
    script.write_text("import sys, pickle, cloudpickle\nfrom pijit import jit\n"
                      "@jit(jit_config={'cache_limit': 5})\ndef f(n):\n"
                      "    return 1 if n < 2 else n * f(n - 1)\n"
                      "assert pickle.loads(pickle.dumps(f)) is f\n"
                      "open(sys.argv[1], 'wb').write(cloudpickle.dumps(f))\n")
    target = tmp_path / "f.pickle"
    subprocess.check_call([sys.executable, str(script), str(target)])
    loaded = pickle.loads(target.read_bytes())
    assert loaded(5) == 120 and loaded.config.cache_limit == 5
