"""Kernel functions of joint functions: requests to the interpreter, arguments of other types, and calls given up."""

import builtins
import gc
import signal
import sys
import threading
import time

import numpy as np
import pytest

import pijit
from pijit.core import _hook
from pijit.core._launcher import Launcher
from pijit.core.kernel.kernel_function import KernelLeft, OtherArguments
from pijit.guards.guard import IsType
from pijit.guards.program import GuardProgram
from pijit.guards.source import Global, Local
from tests.gradients.joint.joint_gradient import Gradient, is_kernel


def waves(u0, steps):
    u, v = u0.copy(), u0 * 0.0
    for _ in range(steps):
        v[1:-1] += 0.1 * (u[2:] - 2.0 * u[1:-1] + u[:-2])
        u += 0.1 * v
    return (u * u).sum()


U = np.sin(np.linspace(0.0, 3.0, 200))
LONG = 200000
"""Steps that take some hundredths of a second."""


def warm(steps=5):
    gradient = Gradient(waves, 0).warm(U, steps)
    assert gradient.compare(U, steps), gradient.why
    entry = gradient.f._kernels.entries[0]
    assert all(type(part.usual) is _hook.KernelFunction for part in (entry.function, entry.backward))
    return gradient


def counts(gradient):
    entry = gradient.f._kernels.entries[0]
    return [part.usual.launcher.calls for part in (entry.function, entry.backward)]


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there are no interval timers")
def test_handlers_of_signals_run_while_a_kernel_runs():
    gradient, times = warm(), []
    expected = gradient.f(U, LONG)
    before = signal.signal(signal.SIGALRM, lambda number, frame: times.append(time.perf_counter()))

    def run():
        """Whether handlers ran again and again; on a busy machine they may not."""
        times.clear()
        start = time.perf_counter()
        found = gradient.f(U, LONG)
        took = time.perf_counter() - start
        assert found[0] == expected[0] and found[1].tobytes() == expected[1].tobytes() and gradient.why == ""
        return len(times) > 2 and all(later - earlier < 0.8 * took for earlier, later in zip([start] + times, times))
    signal.setitimer(signal.ITIMER_REAL, 0.002, 0.002)
    try:
        assert any(run() for _ in range(20))
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there are no interval timers")
def test_exceptions_of_handlers_end_a_kernel():
    class Stop(BaseException):
        pass

    def handler(number, frame):
        raise Stop

    gradient = warm()
    before = signal.signal(signal.SIGALRM, handler)
    start = time.perf_counter()
    signal.setitimer(signal.ITIMER_REAL, 0.01)
    try:
        with pytest.raises(Stop):
            for _ in range(100):
                gradient.f(U, LONG)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
    assert time.perf_counter() - start < 30.0
    assert gradient.compare(U, 7), gradient.why


def test_other_threads_run_while_a_kernel_runs():
    gradient, seen, stop = warm(), [], threading.Event()

    def count():
        while not stop.is_set():
            seen.append(time.perf_counter())
            time.sleep(0)
    thread = threading.Thread(target=count)
    before = sys.getswitchinterval()
    sys.setswitchinterval(0.001)
    thread.start()
    try:
        for _ in range(20):  # on a busy machine the other thread may not run
            start = time.perf_counter()
            gradient.f(U, LONG)
            end = time.perf_counter()
            assert gradient.why == ""
            if len([one for one in seen if start < one < end]) > 5:
                break
        else:
            pytest.fail("the other thread did not run")
    finally:
        sys.setswitchinterval(before)
        stop.set()
        thread.join()


def test_the_garbage_collector_runs_between_iterations():
    gradient, found = warm(), []

    class Node:
        def __del__(self):
            found.append(1)
    nodes = [Node(), Node()]
    nodes[0].other, nodes[1].other = nodes[1], nodes[0]
    del nodes
    before = gc.get_threshold()
    gc.set_threshold(1)
    try:
        assert gradient.compare(U, 300), gradient.why
    finally:
        gc.set_threshold(*before)
    gc.collect()
    assert len(found) == 2


def test_special_values_leave_the_kernel_to_the_tape():
    gradient = warm()
    for value in (np.nan, np.inf, 1e200):
        u = U.copy()
        u[50] = value
        gradient.compare(u, 5)
    assert gradient.compare(U, 5), gradient.why


def test_kernel_functions_are_called_from_several_threads():
    gradient, found = warm(), []
    expected = gradient.f(U, 500)

    def run():
        for _ in range(20):
            found.append(gradient.f(U, 500))
    threads = [threading.Thread(target=run) for _ in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert len(found) == 80 and all(one[1].tobytes() == expected[1].tobytes() for one in found)


# The type itself.

def kernel_function(program, kernel=lambda x: (0, x * 2.0), returns=(0,)):
    launcher = Launcher(None, {}, {}, (("float",),), 3, 3, kernel, ((("float", 2),), (("float", 2),)), 1, "double",
                        returns=returns)
    return _hook.KernelFunction(program, launcher, {"scale": 3.0}, vars(builtins), KernelLeft, OtherArguments)


FLOAT = GuardProgram([IsType(Local(0, "x"), float)], (Local(0, "x"),))


def test_a_call_returns_what_the_kernel_leaves():
    f = kernel_function(FLOAT)
    assert [f(1.5), f(2.0)] == [3.0, 4.0] and f.launcher.calls == 2 and f.program is FLOAT


def test_guards_look_at_arguments_and_globals():
    f = kernel_function(GuardProgram([IsType(Local(0, "x"), float)], (Global("scale"),)))
    assert f(1.5) == 6.0
    for wrong in ((1,), (), ("text",)):
        with pytest.raises(OtherArguments):
            f(*wrong)


def test_other_exits_and_errors():
    with pytest.raises(KernelLeft):
        kernel_function(FLOAT, lambda x: (1, x))(1.0)
    with pytest.raises(KernelLeft):
        kernel_function(FLOAT, lambda x: None)(1.0)
    with pytest.raises(TypeError, match="keyword"):
        kernel_function(FLOAT)(x=1.0)


def test_wrong_parts_are_refused():
    f = kernel_function(FLOAT)
    for parts in ((3, f.launcher, {}, {}, KernelLeft, OtherArguments), (FLOAT, 3, {}, {}, KernelLeft, OtherArguments),
                  (FLOAT, f.launcher, 3, {}, KernelLeft, OtherArguments), (FLOAT, f.launcher, {}, {}, 3, OtherArguments),
                  (FLOAT, f.launcher, {}, {}, KernelLeft, 3), (FLOAT, f.launcher)):
        with pytest.raises(TypeError):
            _hook.KernelFunction(*parts)
    many = GuardProgram([], [Local(0, "x")] * 65)
    with pytest.raises(ValueError, match="at most 64 inputs"):
        _hook.KernelFunction(many, f.launcher, {}, {}, KernelLeft, OtherArguments)


def test_references():
    f, value = kernel_function(FLOAT), 1234.5
    before = sys.getrefcount(value), sys.getrefcount(FLOAT), sys.getrefcount(f.launcher)
    for _ in range(1000):
        f(value)
        with pytest.raises(OtherArguments):
            f(1)
    assert (sys.getrefcount(value), sys.getrefcount(FLOAT), sys.getrefcount(f.launcher)) == before


def test_functions_are_jitted_once_their_arguments_have_other_types():
    gradient = warm()
    entry = gradient.f._kernels.entries[0]
    inputs = entry.program.check(*gradient.f._kernels._roots((U, 3), {}))
    first = entry.function(*inputs)
    with np.errstate(all="raise"):
        again = entry.function(*[one.astype("f") if isinstance(one, np.ndarray) else one for one in inputs])
    assert type(entry.function.usual) is not _hook.KernelFunction and type(first) is type(again) is tuple
    assert gradient.compare(U, 4) and is_kernel(entry.function)


def test_reports_tell_kernels_from_jitted_functions():
    gradient = warm()
    assert "; later calls are one kernel\n" in str(pijit.explain(gradient.f, U, 3))
    gradient.f._kernels.entries[0].backward.give_kernel_up()
    report = str(pijit.explain(gradient.f, U, 3))
    assert "; later calls run jitted functions: it was called with arguments of several types\n" in report
