"""Import statements in functions: modules that are there are looked up, all others Python imports."""

import builtins
import math
import sys
import types

import numpy as np
import pytest

import pijit
from tests.harness import assert_nothing_breaks, check, fail_unless_captured, jitted

X = np.linspace(0.5, 4.0, 30)


def whole_module(x):
    import numpy as np
    s = 0.0
    for v in x:
        s += np.sqrt(v) * 2.0
    return s, np.ones(3)


def names(x, n):
    from math import exp
    from math import pi as half_turn

    from numpy import float32, linalg
    s = 0.0
    for i in range(n):
        s += exp(-x[i]) * half_turn
    return s, float32(s), linalg.norm(x)


def packages(x):
    import os.path

    import numpy.fft
    import numpy.linalg as algebra
    return algebra.norm(x) + x.sum(), os.path.join, numpy.linalg is algebra


def helper(x):
    import numpy
    return numpy.maximum(x, 1.0) * 2.0


def in_a_callee(x):
    return helper(x) + helper(x + 1.0)


def in_the_loop(x):
    s = 0.0
    for v in x:
        from math import sin
        s += sin(v)
    return s


def unused(x):
    import json  # noqa: F401
    return x * 2.0 + 1.0


PROGRAMS = [(whole_module, (X,), [(X[:0],), (X * 2,)]), (names, (X, 30), [(X, 31), (X * 2, 3)]), (packages, (X,), []),
            (in_a_callee, (X,), []), (in_the_loop, (X,), []), (unused, (X,), [])]


@pytest.mark.parametrize("config", [{}, {"backend": "python"}], ids=["numba", "python"])
@pytest.mark.parametrize("f, args, others", PROGRAMS, ids=[row[0].__name__ for row in PROGRAMS])
def test_same_answers(f, args, others, config):
    with fail_unless_captured():
        check(f, *args, others=others, config=config)


@pytest.mark.parametrize("f, args", [row[:2] for row in PROGRAMS], ids=[row[0].__name__ for row in PROGRAMS])
def test_nothing_breaks(f, args):
    assert_nothing_breaks(f, *args)


def fitting(x):
    import module_of_tests as module
    from module_of_tests import factor
    return x * factor + module.shift


def unrelated(x):
    import module_of_tests  # noqa: F401
    return x * 2.0 + 1.0


def module(factor=3.0, **more):
    made = types.ModuleType("module_of_tests")
    made.__dict__.update(more, factor=factor, shift=1.0)
    return made


def outcomes(f, args, changes, after=lambda: None):
    """What calls give, three after each change; the changes are undone at the end."""
    found = []
    for change in changes:
        with pytest.MonkeyPatch.context() as patch:
            change(patch)
            for _ in range(3):
                try:
                    found.append(f(*args).tolist())
                except Exception as error:
                    found.append((type(error), str(error), after()))
    return found


def in_modules(made):
    return lambda patch: patch.setitem(sys.modules, "module_of_tests", made)


class Silent:
    factor, shift = 5.0, 2.0


def without_factor(patch):
    made = module()
    del made.factor
    in_modules(made)(patch)


def beginning(patch):
    made = module()
    made.__spec__ = types.SimpleNamespace(_initializing=True, name="module_of_tests")
    in_modules(made)(patch)


CHANGES = [in_modules(module()), in_modules(module(7.0)), in_modules(module(2)), in_modules(None), lambda patch: None,
           without_factor, in_modules(Silent()), in_modules(module(__getattr__=lambda name: 4.0)), beginning, in_modules(module())]


@pytest.mark.parametrize("f", [fitting, unrelated])
@pytest.mark.parametrize("first", [0, 4, 6, 8])
def test_modules_that_are_replaced_or_gone(f, first):
    changes = CHANGES[first:] + CHANGES[:first]
    assert outcomes(jitted(f), (X,), changes) == outcomes(f, (X,), changes)


def test_names_that_are_bound_anew(monkeypatch):
    made = module()
    monkeypatch.setitem(sys.modules, "module_of_tests", made)
    j = jitted(fitting)
    for value in (3.0, 3.0, 4.0, np.arange(30.0), 2, 4.0):
        made.factor = value
        for _ in range(3):
            np.testing.assert_array_equal(j(X), fitting(X))
    del made.factor
    for f in (j, fitting):
        with pytest.raises(ImportError, match="cannot import name 'factor' from 'module_of_tests'"):
            f(X)


def test_an_import_hook_is_asked_each_time(monkeypatch):
    plain, asked = builtins.__import__, []

    def hook(name, *more):
        if name == "module_of_tests":
            asked.append(name)
        return plain(name, *more)

    monkeypatch.setitem(sys.modules, "module_of_tests", module())
    j = jitted(unrelated)
    for _ in range(3):
        j(X)
    with monkeypatch.context() as patch:
        patch.setattr(builtins, "__import__", hook)
        for count in range(1, 4):
            j(X)
            assert len(asked) == count
    j(X)
    assert len(asked) == 3


def removes(x, names):
    import sys
    for name in names:
        sys.modules.pop(name, None)
    sys.modules["module_of_tests"] = names
    import module_of_tests
    return x * 2.0, module_of_tests


def test_modules_that_the_function_replaces_itself(monkeypatch):
    monkeypatch.setitem(sys.modules, "module_of_tests", module())
    j = jitted(removes)
    for names in (["module_of_tests"], ["module_of_tests"], []):
        assert j(X, names)[1] is names


def test_what_is_not_there_is_named():
    def f(x):
        import wave
        return x * 2.0, wave

    sys.modules.pop("wave", None)
    report = str(pijit.explain(f, X))
    assert "PJ207" in report and "wave" in report
    assert math.isclose(jitted(f)(X)[0][0], 1.0)


def test_a_module_is_imported_once_and_when_the_statement_runs(tmp_path, monkeypatch, capsys):
    (tmp_path / "noisy_module_of_tests.py").write_text("print('imported')\nfactor = 3.0\n")
    monkeypatch.syspath_prepend(str(tmp_path))

    def f(x, late):
        y = x * 2.0
        print("before")
        if late:
            from noisy_module_of_tests import factor
            y = y * factor
        return y

    def told(g):
        sys.modules.pop("noisy_module_of_tests", None)
        found = [g(X, late).tolist() for late in (False, True, True, False)]
        del sys.modules["noisy_module_of_tests"]
        return found + [g(X, True).tolist()], capsys.readouterr().out

    j = jitted(f)
    for _ in range(3):
        assert told(j) == told(f)
