"""Calls of module functions without the empty operand stack slot."""

import os
import sys

import numpy as np

from pijit.core.bytecode.analysis.blocks import build_cfg
from pijit.core.bytecode.normal_form.normalise import normal_function, plain_function
from pijit.core.bytecode.rewrite.method_calls import module_calls, with_plain_calls
from tests.harness import check, fail_unless_captured


def nested(x, name):
    return np.sqrt(np.maximum(x, 0.0 if name else 1.0)), name.upper(), os.path.join(name, "b".join([name]))


def names(plain):
    return [(i.opname, i.value) for i in normal_function(plain).instructions if i.opname in ("LOAD_METHOD", "CALL_METHOD")]


def made_plain(function):
    """The function with plain calls, or None if there is nothing to change."""
    cfg = build_cfg(normal_function(plain_function(function.__code__, True)))
    calls = module_calls(cfg, globals())
    return with_plain_calls(cfg.function, calls) if calls else None


def test_only_module_calls_change():
    plain = made_plain(nested)
    assert names(plain) == [("LOAD_METHOD", "upper"), ("CALL_METHOD", 0), ("LOAD_METHOD", "join"), ("CALL_METHOD", 1)]
    changed = type(nested)(plain.code, globals())
    assert changed(4.0, "a") == nested(4.0, "a")
    if sys.version_info < (3, 11):
        assert len(plain.code.co_code) == len(nested.__code__.co_code)


def test_nothing_to_change():
    assert made_plain(names) is None


def of_a_fallback_call(x):
    return np.sqrt(shifted(x)) * np.exp(shifted(x) - 1.0)


def shifted(x):
    return x + 1.0


def test_a_fallback_call_among_the_arguments():
    with fail_unless_captured():
        check(of_a_fallback_call, np.arange(5.0))


def of_a_branch(x, wide):
    return np.maximum((x if 0.5 < np.float32(wide) else x * 2.0), x)


def test_a_branch_whose_ends_the_compiler_has_copied():
    """CPython 3.10 has a CALL_METHOD for each arm."""
    with fail_unless_captured():
        check(of_a_branch, np.arange(5.0), 1.5, others=[(np.arange(-3.0, 3.0), 0.25)])


def test_calls_that_no_path_leads_to():
    def f(x):
        raise ValueError(x)
        return np.sqrt(x)

    assert made_plain(f) is None


def of_a_choice(x, first, second):
    return (np if first and second else os).multiply(x, 2.0) if first is not None else (
        os if first else np).add(x, 1.0)


def test_calls_of_a_chosen_module_stay():
    """Two modules meet at one lookup, which belongs to neither."""
    if made_plain(of_a_choice) is not None:
        assert any(name == ("LOAD_METHOD", "multiply") or name == ("LOAD_METHOD", "add") for name in names(made_plain(of_a_choice)))
    check(of_a_choice, np.arange(3.0), True, True, others=[(np.arange(3.0), None, 0)])


def of_a_module_and_an_array(x, special):
    y = x if special == "cast" and np.pi > 3.0 else np
    return (x if special == "cast" and np.pi > 3.0 else y).sum() + (
        np if special is None and np.pi > 3.0 else np).sum(x)


def test_calls_of_a_module_behind_two_conditions():
    check(of_a_module_and_an_array, np.arange(3.0), "cast")
