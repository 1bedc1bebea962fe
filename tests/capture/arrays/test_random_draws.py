"""Random numbers drawn in kernels: the same numbers in the same order, and the same states afterwards."""

import random
import sys
import threading
import time

import numpy as np
import pytest

import pijit
from pijit.core.graph.draws import DRAWS
from pijit.core.kernel.bit_generators import is_drawn, is_filled
from tests.harness import check, fail_unless_captured, jitted


def of_generator(seed, n):
    rng = np.random.default_rng(seed)
    out = np.zeros(7)
    for i in range(n):
        out[0] += rng.random()
        out[1] += rng.uniform(-1.0, i)
        out[2] += rng.standard_normal() * rng.uniform()
        out[3] += rng.normal(0.5, scale=2) - rng.normal(i)
        out[4] += rng.exponential(1.5) + rng.standard_exponential()
        out[5] += rng.integers(6) + rng.integers(-3, 2 ** 40)
        out[6] += rng.integers(low=i, high=i + 1)
    return out, type(rng.integers(3)), rng.bit_generator.state


def of_module(seed, n):
    np.random.seed(seed)
    out = np.zeros(4)
    for i in range(n):
        out[0] += np.random.rand() * np.random.random() - np.random.random_sample()
        out[1] += np.random.uniform(-2, 3) + np.random.uniform(high=2.5)
        out[2] += np.random.randn() + np.random.normal(1.0, 0.5) + np.random.standard_normal()
        out[3] += np.random.randint(10) * np.random.randint(-5, i + 1)
    return out, type(np.random.randint(3)), np.random.get_state()


def of_state(seed, n):
    rng = np.random.RandomState(seed)
    total, odd = 0.0, 0
    for _ in range(n):
        odd += rng.randint(0, 100) % 2
        total += rng.rand() if odd % 3 else rng.normal()
    return total, odd, rng.get_state()


def of_python(seed, n):
    random.seed(seed)
    total, hits = 0.0, 0
    for i in range(n):
        total += random.random() - random.uniform(1.0, 2.0) + random.gauss(0.0, 1.0)
        hits += random.randint(1, 6) + random.getrandbits(20)
        total *= random.choice((0.5, 1.0, 1.5))
    return total, hits, random.getstate()


def metropolis(seed, n):
    rng = np.random.default_rng(seed)
    x, accepted, chain = 0.0, 0, np.empty(n)
    for i in range(n):
        new = x + rng.normal(scale=0.7)
        if np.log(rng.random()) < 0.5 * (x * x - new * new):
            x, accepted = new, accepted + 1
        chain[i] = x
    return chain, accepted, rng.bit_generator.state


def shuffled(seed, n):
    rng = np.random.default_rng(seed)
    x = np.arange(n)
    for i in range(n - 1, 0, -1):
        j = rng.integers(0, i + 1)
        x[i], x[j] = x[j], x[i]
    return x


def arrays_of_generator(seed, n):
    rng = np.random.default_rng(seed)
    out, more = np.zeros((n, 3)), np.zeros((2, n))
    for i in range(n):
        out[i] = rng.random(3) + rng.uniform(-1.0, i, 3) * rng.standard_normal(size=3) - rng.normal(0.5, 2, (3,))
        more += rng.exponential(1.5, (2, n)) * rng.standard_exponential([2, n]) + rng.normal(scale=0.5, size=(2, n))
        out[i] += rng.integers(6, size=3) * rng.integers(-3, 2 ** 40, np.int64(3))
        rng.random(2)
    return out, more, rng.integers(3, 9, (2, 2)), rng.bit_generator.state


def arrays_of_module(seed, n):
    np.random.seed(seed)
    out, more = np.zeros((n, 3)), np.zeros((2, n))
    for i in range(n):
        out[i] = np.random.rand(3) + np.random.uniform(-1.0, i, 3) * np.random.standard_normal(3)
        more += np.random.randn(2, n) * np.random.random_sample((2, n)) - np.random.random(size=(2, n))
        out[i] += np.random.randint(6, size=3) + np.random.randint(3, 9, 3) + np.random.normal(0.5, 2, (3,))
    return out, more, np.random.get_state()


def walks(seed, n):
    rng = np.random.default_rng(seed)
    place, farthest = np.zeros(5), 0.0
    for _ in range(n):
        place = place + np.where(rng.random(5) < 0.5, -1.0, 1.0)
        farthest = max(farthest, np.abs(place).max())
    return place, farthest, rng.bit_generator.state


def large(seed, n):
    rng = np.random.default_rng(seed)
    total = 0.0
    for _ in range(n // 5):
        total += rng.normal(1.0, 2.0, 5000).sum() * rng.random((50, 50)).mean()
    return total, rng.bit_generator.state


@pytest.mark.parametrize("f", [of_generator, of_module, of_state, of_python, metropolis, shuffled, arrays_of_generator,
                               arrays_of_module, walks, large])
def test_same_numbers_and_state(f):
    with fail_unless_captured():
        check(f, 3, 40, calls=4, others=[(5, 17)])


def test_all_methods_draw_the_same_bits():
    assert [row for row in DRAWS if not is_drawn(row)] == []
    assert [row for row in DRAWS if row.fills and not is_filled(row)] == []


def test_no_break_in_the_loop():
    def f(rng, n):
        inside = 0
        for _ in range(n):
            x, y = rng.random(), rng.uniform(-1.0, 1.0)
            inside += x * x + y * y < 1.0
        return inside

    one, other = np.random.default_rng(1), np.random.default_rng(1)
    fast = jitted(f)
    assert [fast(one, 50) for _ in range(3)] == [f(other, 50) for _ in range(3)]
    assert one.bit_generator.state == other.bit_generator.state
    report = pijit.explain(fast, one, 50)
    assert report.kernels and not report.breaks, str(report)


def test_generators_of_other_kinds_under_one_name():
    def f(rng, n):
        total = 0.0
        for _ in range(n):
            total += rng.normal() + rng.uniform(0.0, 1.0)
        return total

    def makers():
        return [np.random.default_rng(2), np.random.RandomState(2), np.random.Generator(np.random.MT19937(2)),
                np.random.Generator(np.random.SFC64(2)), np.random.RandomState(np.random.PCG64(2))]

    fast = jitted(f)
    for _ in range(2):
        assert [fast(rng, 9) for rng in makers()] == [f(rng, 9) for rng in makers()]


WRONG = [lambda rng, i: rng.uniform(0.0, np.inf if i == 5 else 1.0), lambda rng, i: rng.normal(0.0, 3.0 - i),
         lambda rng, i: rng.integers(0, 5 - i), lambda rng, i: rng.exponential(4.0 - i),
         lambda rng, i: rng.integers(), lambda rng, i: rng.random(dtype=np.int8),
         lambda rng, i: rng.uniform(3.0 - i, 0.0), lambda rng, i: rng.random(3 - i).sum(),
         lambda rng, i: rng.normal(0.0, 3.0 - i, 2).sum(), lambda rng, i: rng.integers(0, 5 - i, (2, 2)).sum(),
         lambda rng, i: rng.random(()).sum(), lambda rng, i: rng.random(2.0 if i == 5 else 2).sum(),
         lambda rng, i: np.random.RandomState(3).rand((2,) if i == 5 else 2).sum(),
         lambda rng, i: rng.normal(i, size=(2, 2), scale=0.5).sum()]


@pytest.mark.parametrize("number", range(len(WRONG)))
def test_wrong_arguments_raise_where_they_do(number):
    draw = WRONG[number]

    def f(seed, n):
        rng = np.random.default_rng(seed)
        total, seen = 0.0, 0
        try:
            for i in range(n):
                total += draw(rng, i)
                seen += 1
        except (ValueError, OverflowError, TypeError) as error:
            return total, seen, type(error), str(error), rng.random()
        return total, seen, rng.random()

    check(f, 4, 8, others=[(4, 3)])


def test_draws_before_a_side_exit_happen_once():
    def f(seed, x, n):
        np.random.seed(seed)
        total = 0.0
        try:
            for i in range(n):
                total += np.random.rand() * x[i]
        except IndexError as error:
            return total, str(error), np.random.rand()
        return total, np.random.rand()

    check(f, 4, np.arange(6.0), 8, others=[(4, np.arange(9.0), 8)])


def test_arrays_of_numbers_and_other_forms():
    def f(seed, n):
        rng = np.random.default_rng(seed)
        total = rng.normal(size=3) + rng.random(None)
        for i in range(n):
            total += rng.random() + rng.uniform(0, 1, None) + rng.integers(5, endpoint=True)
            total += rng.normal([0.0, i, 2.0])
        return total, rng.random(dtype=np.float32), np.random.RandomState(3).rand(2)

    check(f, 4, 8)


class Loaded(random.Random):
    def random(self):
        return 0.25


class Half(np.random.RandomState):
    def rand(self, *shape):
        return 0.5


def test_generators_with_methods_of_their_own():
    def f(rng, n):
        total = 0.0
        for _ in range(n):
            total += rng.random() + rng.uniform(0.0, 2.0)
        return total

    def g(rng, n):
        return sum([rng.rand() for _ in range(n)])

    changed = random.Random(3)
    changed.random = lambda: 0.125
    fast, other = jitted(f), jitted(g)
    for make in (lambda: random.Random(3), lambda: Loaded(3), lambda: changed, lambda: random.SystemRandom()):
        wanted, got = f(make(), 9), fast(make(), 9)
        assert wanted == got or type(make()) is random.SystemRandom
    for _ in range(3):
        assert other(Half(3), 4) == g(Half(3), 4)
        assert other(np.random.RandomState(3), 4) == g(np.random.RandomState(3), 4)


@pytest.mark.skipif(not hasattr(np.random, "set_bit_generator"), reason="NumPy 1.24 has it first")
def test_module_with_another_bit_generator():
    def f(n):
        total = 0.0
        for _ in range(n):
            total += np.random.rand() + np.random.randn()
        return total

    fast, before = jitted(f), np.random.get_bit_generator()
    try:
        found = []
        for one in (f, fast, fast):
            np.random.set_bit_generator(np.random.PCG64(5))
            found.append(one(7))
    finally:
        np.random.set_bit_generator(before)
    assert len(set(found)) == 1


def test_kernel_waits_for_the_lock_that_another_thread_has():
    def f(rng, n):
        total = 0.0
        for _ in range(n):
            total += rng.random()
        return total

    rng, fast = np.random.default_rng(6), jitted(f)
    for _ in range(3):
        fast(rng, 5)
    state, lock = rng.bit_generator.state, rng.bit_generator.lock
    wanted = f(rng, 5)
    rng.bit_generator.state = state
    has_it, released = threading.Event(), []

    def hold():
        with lock:
            has_it.set()
            time.sleep(0.2)
            released.append(True)

    other = threading.Thread(target=hold)
    other.start()
    has_it.wait()
    assert fast(rng, 5) == wanted and released
    other.join()
    free = []
    asking = threading.Thread(target=lambda: free.append(lock.acquire(False)) or lock.release())
    asking.start()
    asking.join()
    assert free == [True]


def test_arrays_in_loops_without_a_break():
    def f(rng, n):
        total = np.zeros(4)
        for _ in range(n):
            total += rng.normal(0.0, 0.5, 4) * rng.random(4)
        return total

    one, other = np.random.default_rng(1), np.random.default_rng(1)
    fast = jitted(f)
    for _ in range(3):
        assert fast(one, 50).tobytes() == f(other, 50).tobytes()
    assert one.bit_generator.state == other.bit_generator.state
    report = pijit.explain(fast, one, 50)
    assert report.kernels and not report.breaks, str(report)


def test_other_threads_run_while_a_large_array_is_filled():
    def f(rng, n):
        return rng.standard_normal(n)[0] * 2.0 + 1.0

    rng, fast = np.random.default_rng(6), jitted(f, {"backend": "numba"})
    for _ in range(3):
        fast(rng, 5)
    taken, stop = [], threading.Event()

    def watch():
        while not stop.is_set():
            free = rng.bit_generator.lock.acquire(False)
            if free:
                rng.bit_generator.lock.release()
            taken.append(not free)
            time.sleep(0.0001)  # lets the kernel begin

    before, watcher = sys.getswitchinterval(), threading.Thread(target=watch)
    sys.setswitchinterval(1000.0)
    watcher.start()
    try:
        while not any(taken):
            fast(rng, 1_000_000)
    finally:
        stop.set()
        sys.setswitchinterval(before)
        watcher.join()


def test_references_stay_what_they_are():
    def f(rng, n):
        total = 0.0
        for _ in range(n):
            total += rng.random() + random.random() + random.gauss(0.0, 1.0)
        return total

    rng, fast = np.random.default_rng(6), jitted(f)
    for _ in range(3):
        fast(rng, 50)
    before = sys.getrefcount(rng), sys.getrefcount(random._inst)
    for _ in range(20):
        fast(rng, 50)
    assert (sys.getrefcount(rng), sys.getrefcount(random._inst)) == before
