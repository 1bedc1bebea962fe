"""`parallel`: threads share large loops over arrays, and nobody can tell but by the clock."""

import os
import signal
import subprocess
import sys
import threading
import warnings

import numpy as np
import pytest

from pijit.core import _launcher
from pijit.core.kernel import options
from pijit.differential import plain_twin
from tests.capture.exits.test_threads import run_threads
from tests.harness import check, jitted, same

THREADS = {"backend": "numba", "force_breaks": None, "parallel": True}

pytestmark = pytest.mark.skipif(_launcher.threads()[0] < 2, reason="there is one processor")


def chain(x, y):
    return (x * 2.0 + y) * (x - y) / (y + 3.0)


def store(x, y):
    y[1:-1] = 0.5 * (x[:-2] + x[2:])
    x[:] = y * 2.0
    return y.copy()


def integers(x, y):
    return (x.astype(np.int32) * 3 ^ 5) + 7, np.where(x < y, x, y)


def sums(x, y):
    return (x * y).sum(axis=-1), (x + y).sum(axis=0), y.sum(), (x - y).max(axis=0), x.mean(axis=-1)


def functions(x, y):
    return np.exp(-x) * np.sin(y) + np.tanh(x) ** 2.5, np.arctan2(x, y), np.floor(x)


def columns(x, y):
    return x - x.mean(axis=0), (x - y[..., :1]) * 2.0


def gathers(x, y):
    i = (x * 10.0).astype(np.int64) % 7
    return y.ravel()[i] * 2.0, (y.ravel()[i] + x).sum(axis=-1)


PROGRAMS = [chain, store, integers, sums, functions, columns, gathers]


def numbers(shape, dtype, seed):
    return (np.random.RandomState(seed).rand(*shape) * 5.0 + 0.5).astype(dtype)


def shared_loops(action):
    before = _launcher.threads()[2]
    action()
    return _launcher.threads()[2] - before


def ready(program, *args, **options):
    f = jitted(plain_twin(program), dict(THREADS, **options))
    for _ in range(3):
        f(*args)
    return f


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("program", PROGRAMS)
def test_bits(program, dtype):
    arguments = [(numbers(shape, dtype, 1), numbers(shape, dtype, 2)) for shape in (
        [(5, 4), (3, 4099), (4099, 3), (97, 513)] if program in (sums, columns) else
        [(5,), (20011,), (40000,)] if program is functions else [(20011,), (40000,), (7, 4099), (257, 100)])]
    assert shared_loops(lambda: check(program, *arguments[-1], others=arguments, config=THREADS)) > 0


def layouts(x, y):
    return np.sqrt(x) * y, np.exp(x), x.sum(axis=0)


def test_layouts():
    x, y = numbers((300, 310), np.float64, 1), numbers((300, 310), np.float64, 2)
    others = [(x.T, y.T), (x[::2], y[::2]), (x[:, ::3], y[:, ::3]), (x[::-1], y[:, ::-1]), (np.asfortranarray(x), y)]
    assert shared_loops(lambda: check(layouts, x, y, others=others, config=THREADS)) > 0


def in_place(x, out):
    np.exp(x, out=out)
    return out


def test_loops_that_write_what_they_read():
    x = numbers((30000,), np.float64, 1)
    check(in_place, x[1:], x[:-1], others=[(x[:-1], x[1:]), (x, x), (x, x.copy())], config=THREADS)


def smooth(x):
    x[1:-1] = 0.5 * (x[:-2] + x[2:])
    return x.copy()


@pytest.mark.parametrize("least, shared", [(0, True), (_launcher.threads()[0], False)])
def test_few_threads_leave_stores_by_blocks_to_one(least, shared, monkeypatch):
    """A store that reads what it writes needs no result apart then."""
    monkeypatch.setattr(options, "FEW", least)
    config = dict(THREADS, parallel="auto", cache=False)
    x = numbers((1 << 20,), np.float64, 1)
    f = jitted(plain_twin(smooth), config)
    f(x.copy())
    loops = shared_loops(lambda: same(f(x.copy()), smooth(x.copy())))
    assert (loops > 1) == shared, loops  # one looks how large the numbers are


def powers(x, y):
    return np.power(x, y) + 1


def test_loops_that_may_raise_stay_in_one_thread():
    x = np.full(20000, 3)
    check(powers, x, np.full(20000, 2), others=[(x, np.full(20000, -2))], config=THREADS)


def found(x, i):
    return x[i] * 2.0


@pytest.mark.parametrize("at", [0, 12345, 29999])
def test_an_index_out_of_range_is_found_by_any_thread(at):
    i = np.arange(30000) % 50
    f, wrong = ready(found, np.arange(50.0), i), i.copy()
    wrong[at] = 50
    with pytest.raises(IndexError, match="index 50 is out of bounds"):
        f(np.arange(50.0), wrong)


@pytest.mark.parametrize("at", [0, 12345, 29999])
@pytest.mark.parametrize("program, value", [(chain, 1e308), (functions, -800.0)])
def test_flags_of_any_thread_are_reported(program, value, at):
    x = numbers((30000,), np.float64, 1)
    x[at] = value
    f = check(program, x, numbers((30000,), np.float64, 2), config=THREADS)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(RuntimeWarning, match="overflow"):
            f(x, numbers((30000,), np.float64, 2))


@pytest.mark.parametrize("nogil", [False, True])
def test_python_threads_at_once(nogil):
    arguments = [(numbers((20011,), np.float64, seed), numbers((20011,), np.float64, seed + 4)) for seed in range(4)]
    wanted = [chain(*one) for one in arguments]
    f = ready(chain, *arguments[0], nogil=nogil)

    def work(number):
        for _ in range(200):
            same(wanted[number], f(*arguments[number]))
    assert shared_loops(lambda: run_threads(work, 4)) > 0


def test_small_loops_and_other_options_use_no_threads():
    x, y = numbers((20011,), np.float64, 1), numbers((20011,), np.float64, 2)
    assert shared_loops(lambda: check(chain, x[:500], y[:500], config=THREADS)) == 0
    for parallel in ("auto", False):
        assert shared_loops(lambda: check(chain, x, y, config=dict(THREADS, parallel=parallel))) == 0


def test_the_number_of_threads_is_numbas():
    numba = pytest.importorskip("numba")
    x, y = numbers((20011,), np.float64, 1), numbers((20011,), np.float64, 2)
    f, before = ready(chain, x, y), numba.get_num_threads()
    try:
        numba.set_num_threads(1)
        assert _launcher.threads()[0] == 1 and shared_loops(lambda: f(x, y)) == 0
    finally:
        numba.set_num_threads(before)
    assert _launcher.threads()[0] == before and shared_loops(lambda: f(x, y)) > 0


def test_a_lock_of_numbas_is_not_waited_for():
    parallel = pytest.importorskip("numba.np.ufunc.parallel")
    x, y = numbers((20011,), np.float64, 1), numbers((20011,), np.float64, 2)
    f, results = ready(chain, x, y), []
    parallel.set_num_threads(parallel.get_num_threads())
    with parallel._backend_init_process_lock:
        thread = threading.Thread(target=lambda: results.append(f(x, y).tobytes()), daemon=True)
        thread.start()
        thread.join(20)
        assert results == [chain(x, y).tobytes()]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_forked_child_starts_threads_of_its_own():
    x, y = numbers((20011,), np.float64, 1), numbers((20011,), np.float64, 2)
    f, wanted = ready(chain, x, y), chain(x, y).tobytes()
    child = os.fork()
    if child == 0:
        loops = _launcher.threads()
        right = f(x, y).tobytes() == wanted
        os._exit(0 if right and loops[1] == 0 and _launcher.threads()[1:] == (loops[0] - 1, loops[2] + 1) else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert f(x, y).tobytes() == wanted


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_fork_while_another_thread_shares_a_loop():
    x, y = numbers((20011,), np.float64, 1), numbers((20011,), np.float64, 2)
    f, wanted, done = ready(chain, x, y, nogil=True), chain(x, y).tobytes(), threading.Event()

    def work():
        while not done.is_set():
            f(x, y)
    thread = threading.Thread(target=work)
    thread.start()
    try:
        for _ in range(20):
            child = os.fork()
            if child == 0:
                signal.alarm(20)
                os._exit(0 if f(x, y).tobytes() == wanted else 1)
            assert os.waitpid(child, 0)[1] == 0
    finally:
        done.set()
        thread.join()


AT_EXIT = """
import threading
import numpy as np
import pijit
from pijit.core import _launcher

@pijit.jit(jit_config={"parallel": True, "nogil": True, "perf_statistics": False})
def work(x, n):
    for _ in range(n):
        x = x * 0.5 + 1.0
    return x

x = np.ones(50000)
work(x, 3), work(x, 3)
print(_launcher.threads())
threading.Thread(target=work, args=(x, 10 ** 9), daemon=True).start()
"""


def run_program(**environment):
    return subprocess.run([sys.executable, "-c", AT_EXIT], env=dict(os.environ, **environment), timeout=100,
                          check=True, stdout=subprocess.PIPE, universal_newlines=True).stdout.strip()


def test_interpreter_exits_while_threads_work():
    assert run_program() != run_program(NUMBA_NUM_THREADS="1") == "(1, 0, 0)"
