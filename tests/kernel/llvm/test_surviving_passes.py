"""LLVM's assertions: one that fails ends a compilation, and the kernel is compiled without vectorisation."""

import ctypes
import logging
import signal
import subprocess
import sys
import types
from collections import OrderedDict

import numpy as np
import pytest

import pijit
from pijit.core import _signals
from pijit.core.kernel import compile
from pijit.core.kernel.llvm import codegen, surviving_passes
from tests.harness import check

LIBC = ctypes.CDLL(None)
NUMBA = {"backend": "numba"}


def address(function):
    return ctypes.cast(function, ctypes.c_void_p).value


def test_a_function_that_returns():
    text = ctypes.create_string_buffer(b"text")
    assert _signals.call_until_abort(address(LIBC.strlen), ctypes.addressof(text), 0, 0) is None


def test_a_function_that_aborts():
    before = signal.getsignal(signal.SIGABRT)
    for _ in range(3):
        assert _signals.call_until_abort(address(LIBC.abort), 0, 0, 0) == ""
    assert signal.getsignal(signal.SIGABRT) == before


def test_handlers_of_other_modules_come_back(tmp_path):
    with open(str(tmp_path / "stacks"), "w+") as file:
        done = subprocess.run([sys.executable, "-c", PROGRAM, "late"], stdout=subprocess.PIPE, stderr=file)
        file.seek(0)
        assert "Fatal Python error: Aborted" in file.read()
    assert done.returncode == -signal.SIGABRT and done.stdout == b"survived\n"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="other C libraries do not let a stream be exchanged")
def test_text_on_stderr():
    done = subprocess.run([sys.executable, "-c", PROGRAM, "text"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert done.returncode == 0 and done.stderr.startswith(b"seen: ")


def test_another_thread_that_aborts_ends_the_process():
    done = subprocess.run([sys.executable, "-c", PROGRAM, "thread"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert done.returncode == -signal.SIGABRT


def test_a_child_ends_by_its_own_abort():
    done = subprocess.run([sys.executable, "-c", PROGRAM, "fork"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert done.returncode == 0 and done.stdout == b"6 child\n"


@pytest.mark.parametrize("arguments, error", [((0, 0, 0, 0), ValueError), ((1,), TypeError), (("a", 0, 0, 0), TypeError)])
def test_wrong_arguments(arguments, error):
    with pytest.raises(error):
        _signals.call_until_abort(*arguments)


PROGRAM = '''
import ctypes, faulthandler, os, sys, threading, time
import pijit
from pijit.core import _signals
from pijit.core.kernel import compile

libc = ctypes.CDLL(None)
address = lambda function: ctypes.cast(function, ctypes.c_void_p).value
faulthandler.enable()
kind = sys.argv[1]
if kind == "late":
    _signals.call_until_abort(address(libc.abort), 0, 0, 0)
    print("survived", flush=True)
    os.abort()
if kind == "text":
    text = ctypes.create_string_buffer(b"seen")
    assert _signals.call_until_abort(address(libc.perror), ctypes.addressof(text), 0, 0) is None
if kind == "thread":
    faulthandler.disable()
    worker = threading.Thread(target=_signals.call_until_abort, args=(address(libc.usleep), 900000, 0, 0), daemon=True)
    worker.start()
    time.sleep(0.2)
    os.abort()
if kind == "fork":
    worker = threading.Thread(target=_signals.call_until_abort, args=(address(libc.usleep), 400000, 0, 0))
    worker.start()
    time.sleep(0.1)
    child = os.fork()
    if child == 0:
        faulthandler.disable()
        os.abort()
    status = os.waitpid(child, 0)[1]
    worker.join()
    print(status & 127, "child", flush=True)
'''


def mirrored(x, m, c):
    n = 30
    out = np.zeros(n + 2, x.dtype)
    for i in range(2, n + 1):
        out[i] += ((x[2 * i] * x[i + 1]) * -(0.5))
        x[n - i] = ((x[n - i] - x[n - i]) + max(m[i, i], c))
        out[i] += out[i - 1]
    return out, x


def test_a_kernel_whose_loop_llvm_cannot_judge():
    """LLVM 22 fails at this loop on processors with AVX-512. Later kernels are as before."""
    x, m = np.sin(np.arange(240.0)), np.cos(np.arange(3600.0)).reshape(60, 60)
    check(mirrored, x, m.T.copy().T, np.float64(0.25), others=[(x[::2].copy(), m[::2, ::2], 3)], config=NUMBA)
    check(lambda x: (x * 2.0 + 1.0).sum(), x, config=NUMBA)


def fail_first_passes(monkeypatch):
    """Let the first passes of all fail; returns the list of the modules that passes get."""
    if not surviving_passes.can_survive():
        pytest.skip("this llvmlite has other passes")
    real, calls = surviving_passes.SurvivingPasses.run, []

    def run(self, module, builder):
        calls.append(module)
        if len(calls) == 1:
            raise surviving_passes.AbortedPasses("assertion of a test")
        return real(self, module, builder)

    monkeypatch.setattr(surviving_passes.SurvivingPasses, "run", run)
    return calls


def test_an_abort_compiles_again(monkeypatch, caplog):
    caplog.set_level(logging.INFO, "pijit.cache")
    calls = fail_first_passes(monkeypatch)
    monkeypatch.setattr(codegen, "SUPPORTED", False)
    check(lambda x: np.sqrt(x * x + 3.25).sum(), np.arange(50.0), config=NUMBA)
    assert len(calls) >= 3 and "assertion of a test" in caplog.text


def scaled(x):
    y = np.exp(x * 0.375)
    return y + 1.0


def loops(f, x):
    """A jitted copy of a function after calls, and its report."""
    copy = pijit.jit(mode="PIJit", jit_config=NUMBA)(types.FunctionType(f.__code__, f.__globals__, f.__name__))
    for _ in range(3):
        copy(x)
    return pijit.explain(copy)


def test_explain_names_kernels_without_vectorised_loops(monkeypatch, tmp_path):
    """Also one whose machine code comes from the disk, but not one that is compiled as usual."""
    monkeypatch.setenv("PIJIT_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(compile, "_compiled", OrderedDict())
    with monkeypatch.context() as failing:
        calls = fail_first_passes(failing)
        report = loops(scaled, np.arange(50.0))
    assert [(one.line, one.kernel, one.reason_id) for one in report.slow] == [(report.line + 1, "k1", "PJ320")]
    assert len(calls) >= 2 and "^ PJ320 loops are not vectorised (kernel: k1)" in str(report)
    report.to_html(str(tmp_path / "page.html"))
    assert "PJ320" in (tmp_path / "page.html").read_text()
    compile._compiled.clear()
    assert [one.reason_id for one in loops(scaled, np.arange(50.0)).slow] == ["PJ320"]
    assert loops(lambda x: np.exp(x * 0.625) + 1.0, np.arange(50.0)).slow == ()
