"""Errors inside pijit, in each phase: the original function runs, one log line says so; under the strict switch they raise."""

import logging
import operator
import os
import signal
import subprocess
import sys
import threading
import time
import warnings

import numpy as np
import pytest

import pijit
from pijit.core import function_state, pipeline
from pijit.core.bytecode import analysed_code
from pijit.core.capture import driver
from pijit.core.capture.build import graph_builder
from pijit.core.capture.interpreter import type_propagation
from pijit.core.entries import kernels, launch_sites, linked_code
from pijit.core.errors import InternalError
from pijit.core.graph import passes
from pijit.core.kernel.llvm import codegen
from pijit.differential import plain_twin
from pijit.guards.cache import CacheLimitWarning
from tests.harness import jitted, kernel_count

stay = operator.methodcaller("__abs__")
"""A call that stays bytecode, and gives back a number that is not negative."""
X = np.linspace(-1.0, 2.0, 7)

PHASES = {
    "decode": (analysed_code, "normal_function", "PJ901"),
    "analysis": (type_propagation.TypePropagator, "step", "PJ901"),
    "builder": (graph_builder.GraphBuilder, "build", "PJ901"),
    "simplify": (passes, "simplify", "PJ901"),
    "verify": (driver, "verify", "PJ901"),
    "compile": (kernels, "compile_graph", "PJ902"),
    "launcher": (launch_sites, "Launcher", "PJ901"),
    "segment guards": (launch_sites, "segment_program", "PJ901"),
    "entry guards": (pipeline, "entry_program", "PJ901"),
    "link": (linked_code, "link", "PJ903"),
    "record": (pipeline, "segment_reports", "PJ901"),
}


class Injected(Exception):
    pass


def failing(*args, **kwargs):
    raise Injected("injected\nsecond line")


def new_function():
    def f(x, k):
        y = x * 2.0 + k
        effects.append(k)
        return y * y
    effects = []
    return plain_twin(f), effects  # a code object of its own, for which there are no kernels yet


def one_kernel():
    def f(x, k):
        return x * 2.0 + k
    return plain_twin(f)


def observed_value():
    def f(x, k):
        y = x * 2.0 + k
        n = stay(k)
        effects.append(n)
        return y * y + n
    effects = []
    return plain_twin(f), effects


@pytest.mark.parametrize("phase", sorted(PHASES))
def test_original_runs_and_one_line_is_logged(phase, lenient, monkeypatch, caplog):
    owner, name, reason_id = PHASES[phase]
    monkeypatch.setattr(owner, name, failing)
    f, effects = new_function()
    j = jitted(f)
    with caplog.at_level(logging.ERROR, "pijit"):
        for k in range(6):
            np.testing.assert_array_equal(j(X, k), (X * 2.0 + k) ** 2)
    assert effects == list(range(6))
    assert len(caplog.records) == 1
    message = caplog.records[0].getMessage()
    assert message.startswith(reason_id + ": ") and "new_function.<locals>.f (" in message and "Injected: injected" in message
    assert set(j.state.failures) == {function_state.reason(reason_id, error="injected")}
    assert kernel_count(j) == 0


@pytest.mark.parametrize("phase", sorted(PHASES))
def test_strict_raises(phase, monkeypatch):
    owner, name, reason_id = PHASES[phase]
    monkeypatch.setattr(owner, name, failing)
    j = jitted(one_kernel())
    with pytest.raises(InternalError, match=reason_id) as raised:
        j(X, 1.0)
    assert "Injected" in repr(raised.value)


@pytest.mark.parametrize("phase", sorted(set(PHASES) - {"compile"}))
def test_attempts_are_bounded(phase, lenient, monkeypatch):
    owner, name, _ = PHASES[phase]
    attempts = []

    def counting(*args, **kwargs):
        attempts.append(name)
        failing()
    monkeypatch.setattr(owner, name, counting)
    j = jitted(one_kernel())
    for _ in range(20):
        j(X, 1.0)
    assert len(attempts) == len(j.state.failures) == function_state.MAX_FAILURES


def test_works_again_after_one_failure(lenient, monkeypatch):
    j = jitted(one_kernel())
    with monkeypatch.context() as patch:
        patch.setattr(linked_code, "link", failing)
        j(X, 1.0)
    assert len(j.state.failures) == 1 and j.cache_info().currsize == 0
    for _ in range(3):
        np.testing.assert_array_equal(j(X, 1.0), X * 2.0 + 1.0)
    assert kernel_count(j) >= 1 and j.cache_info().hits == 2


def test_cache_clear_gives_new_attempts(lenient, monkeypatch):
    j = jitted(one_kernel())
    with monkeypatch.context() as patch:
        patch.setattr(linked_code, "link", failing)
        for _ in range(5):
            j(X, 1.0)
    j(X, 1.0)
    assert kernel_count(j) == 0
    j.cache_clear()
    j(X, 1.0)
    assert kernel_count(j) >= 1 and j.state.failures == []


def test_one_failing_kernel_leaves_the_others(lenient, monkeypatch):
    compile_graph = kernels.compile_graph

    def second_fails(*args):
        if len(compiled) == 1:
            failing()
        compiled.append(compile_graph(*args))
        return compiled[-1]
    compiled = []
    monkeypatch.setattr(kernels, "compile_graph", second_fails)
    f, effects = new_function()
    j = jitted(f, {"force_breaks": None})
    for k in range(4):
        np.testing.assert_array_equal(j(X, k), (X * 2.0 + k) ** 2)
    assert effects == [0, 1, 2, 3] and kernel_count(j) == 1


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
@pytest.mark.parametrize("phase", sorted(PHASES))
def test_interrupted_capture_leaves_a_usable_function(phase, error, monkeypatch):
    owner, name, _ = PHASES[phase]

    def interrupting(*args, **kwargs):
        raise error
    j = jitted(one_kernel())
    with monkeypatch.context() as patch:
        patch.setattr(owner, name, interrupting)
        with pytest.raises(error):
            j(X, 1.0)
    for _ in range(3):
        np.testing.assert_array_equal(j(X, 1.0), X * 2.0 + 1.0)
    assert kernel_count(j) >= 1 and j.state.failures == []


def test_an_interrupt_does_not_reach_into_the_compiler(monkeypatch):
    library, finished = codegen.library, threading.Event()

    def interrupted(*args):
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.05)
        made = library(*args)
        finished.set()
        return made
    f = pijit.jit(lambda x: x * 2.03125 + 1.0, jit_config={"cache": False, "backend": "numba"})
    with monkeypatch.context() as patch:
        patch.setattr(codegen, "library", interrupted)
        with pytest.raises(KeyboardInterrupt):
            f(X)
        assert finished.wait(60)
    np.testing.assert_array_equal(f(X), X * 2.03125 + 1.0)
    assert kernel_count(f) == 1 and f.state.failures == []


def test_interrupt_between_observation_and_capture(monkeypatch):
    f, effects = observed_value()
    j = jitted(f)
    j(X, 0)
    with monkeypatch.context() as patch:
        patch.setattr(function_state, "make_entry", lambda *a: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            j(X, 1)
    for k in (2, 3, 4):
        np.testing.assert_array_equal(j(X, k), (X * 2.0 + k) ** 2 + k)
    assert effects == [0, 2, 3, 4] and kernel_count(j) >= 2


def deep(n, x):
    if n == 0:
        return x * 2.0 + 1.0
    return deep_jitted(n - 1, x)


deep_jitted = None


def test_recursion_error_is_the_functions_own(lenient, caplog, no_collections):
    global deep_jitted
    deep_jitted = jitted(deep)
    with caplog.at_level(logging.ERROR, "pijit"):
        with pytest.raises(RecursionError):
            deep_jitted(100000, X)
    assert caplog.records == []
    np.testing.assert_array_equal(deep_jitted(10, X), X * 2.0 + 1.0)


def test_first_capture_near_the_recursion_limit(lenient, caplog, no_collections):
    j = jitted(one_kernel())

    def descend():
        try:
            return descend()
        except RecursionError:
            return j(X, 1.0)
    with caplog.at_level(logging.ERROR, "pijit"):
        np.testing.assert_array_equal(descend(), X * 2.0 + 1.0)
    assert caplog.records == []
    j(X, 1.0)
    assert kernel_count(j) >= 1


CLOSE_TO_THE_LIMIT = """
import numpy as np
import pijit
from pijit.differential import plain_twin

def double(x):
    return x * 2.0 + 1.0

for depth in range(500, 1000, 7):
    jitted = pijit.jit(plain_twin(double), jit_config={"backend": "python"})
    def descend(n):
        if n == depth:
            jitted(np.arange(3.0))
        return descend(n + 1)
    try:
        descend(0)
    except RecursionError:
        continue
    raise AssertionError("no RecursionError")
"""


def test_capture_close_to_the_recursion_limit_does_not_abort_the_process():
    subprocess.run([sys.executable, "-c", CLOSE_TO_THE_LIMIT], check=True)


def test_limit_warning_as_an_error_is_raised_as_such():
    j = jitted(one_kernel(), {"cache_limit": 1})
    j(X, 1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(CacheLimitWarning):
            j(X, 1)
        np.testing.assert_array_equal(j(X, 1), X * 2.0 + 1)
    assert j.state.failures == []


def test_broken_on_capture_callback(lenient, monkeypatch, caplog):
    monkeypatch.setattr("pijit.reporting.printing.show", failing)
    j = pijit.jit(one_kernel(), jit_config={"backend": "python", "print_graph": True})
    with caplog.at_level(logging.ERROR, "pijit"):
        np.testing.assert_array_equal(j(X, 1.0), X * 2.0 + 1.0)
    assert len(caplog.records) == 1
