"""collections.deque in loops: both ends, items by index, length and truth, and what only bytecode does."""

from collections import deque

import numpy as np
import pytest

import pijit
from tests.harness import check, fail_unless_captured, jitted, kernel_count, mode_config

PYTHON = {"backend": "python"}
X = np.array([3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0, 6.0, 5.0, 3.0, 5.0, 8.0])


def grid(size, seed=0):
    walls = (np.random.RandomState(seed).rand(size, size) < 0.25).astype(int)
    walls[0, 0] = 0
    return walls


def breadth_first(walls, row, column):
    n, m = walls.shape
    steps = np.full(walls.shape, -1)
    steps[row, column] = 0
    q = deque([(row, column)])
    while q:
        r, c = q.popleft()
        for dr, dc in ((1, 0), (-1, 0), (0, 1), (0, -1)):
            a, b = r + dr, c + dc
            if 0 <= a < n and 0 <= b < m and walls[a, b] == 0 and steps[a, b] < 0:
                steps[a, b] = steps[r, c] + 1
                q.append((a, b))
    return steps


def largest_in_window(x, k):
    q = deque()
    out = np.empty(len(x) - k + 1)
    for i in range(len(x)):
        while q and x[q[-1]] <= x[i]:
            q.pop()
        q.append(i)
        if q[0] <= i - k:
            q.popleft()
        if i >= k - 1:
            out[i - k + 1] = x[q[0]]
    return out


def bounded(q, x):
    s = 0.0
    for v in x:
        q.append(v * 2.0)
        if len(q) > 2:
            s += q[0] - q[-1] + q[1]
        q.appendleft(-v)
    return s, q


def graph_order(edges, start):
    seen = [False] * len(edges)
    order = []
    q = deque([start])
    seen[start] = True
    while len(q) > 0:
        n = q.pop()
        order.append(n)
        for k in edges[n]:
            if not seen[k]:
                seen[k] = True
                q.appendleft(k)
    return order


def rotating(q, n):
    t = 0
    for i in range(n):
        first = q.popleft()
        t = t * 3 + first
        q.append(first + i)
    return t % 1000003, q


def keeping(q, out):
    """The tuples that leave are those that came."""
    s = 0
    while q:
        pair = q.popleft()
        s += pair[0] * pair[1]
        if s % 2:
            out.append(pair)
    return s, [any(one is other for other in PAIRS) for one in out]


def of_arrays(q):
    s = 0.0
    while q:
        a, name = q.popleft()
        s += a.sum() + len(q)
    return s


def in_a_callee(q, v):
    return take(q) + v if q else v


def take(q):
    return q.popleft() * 2


def called(q, n):
    s = 0.0
    for i in range(n):
        s += in_a_callee(q, 1.5)
    return s, len(q)


def two_names(p, q, n):
    for i in range(n):
        p.append(q[0] + i)
        q.popleft()
    return list(p), list(q)


PAIRS = [(k, k + 1) for k in range(12)]
EDGES = [[(3 * k + j * j) % 20 for j in range(4)] for k in range(20)]
PROGRAMS = [
    (breadth_first, lambda: (grid(9), 0, 0), [lambda: (grid(5, 1), 0, 0)]),
    (largest_in_window, lambda: (X, 3), [lambda: (X[::-1], 4), lambda: (X[:2], 1)]),
    (bounded, lambda: (deque(maxlen=5), X), [lambda: (deque([1.0]), X), lambda: (deque(maxlen=0), X)]),
    (graph_order, lambda: (EDGES, 0), [lambda: (EDGES, 7)]),
    (rotating, lambda: (deque(range(5)), 30), [lambda: (deque([1, 2]), 3), lambda: (deque([2 ** 61, 2 ** 62]), 9)]),
    (keeping, lambda: (deque(PAIRS), []), [lambda: (deque(PAIRS[:3]), [])]),
    (of_arrays, lambda: (deque([(X + k, "a%d" % k) for k in range(5)]),), [lambda: (deque([(X > 2, "b")]),)]),
    (called, lambda: (deque([1.0, 2.0, 3.0]), 5), [lambda: (deque(), 2)]),
    (two_names, lambda: (deque([1, 2]), deque([5, 6, 7, 8]), 4), [lambda: (deque([3]), deque([4, 5, 6]), 3)]),
]


@pytest.mark.parametrize("f, args, others", PROGRAMS, ids=[row[0].__name__ for row in PROGRAMS])
def test_same_answers(f, args, others, polls):
    check(f, *args(), others=[make() for make in others], config=PYTHON)


@pytest.mark.parametrize("f, args", [row[:2] for row in PROGRAMS if row[0] is not two_names],
                         ids=[row[0].__name__ for row in PROGRAMS if row[0] is not two_names])
def test_the_loop_is_a_kernel(f, args):
    j = jitted(f, PYTHON)
    for _ in range(4):
        j(*args())
    if "force_breaks" not in mode_config():
        kernels = [segment for segment in j.state.entries[0].reports.segments if segment.kind == "kernel"]
        assert max(segment.instructions for segment in kernels) > 15


@fail_unless_captured()
def test_in_machine_code():
    def f(q, x, k):
        s = 0.0
        for i in range(len(x)):
            while q and q[-1][0] > 100 - i:
                q.pop()
            q.append((i, x[i]))
            if len(q) > k:
                j, v = q.popleft()
                s += v * j
            q.appendleft((i * 2, s))
        return s, q

    check(f, deque([(1, 2.0)]), X, 3, others=[(deque([(1, 2.0)], 4), X, 3), (deque([(1, 2)]), X, 2), (deque(), X, 0)])
    check(breadth_first, grid(12), 0, 0, others=[(grid(6, 3), 0, 0)])


def emptying(q):
    s = 0
    for i in range(10):
        s += q.popleft()
    return s


def beyond(q):
    s = 0
    for i in range(10):
        s += q[i]
    return s


def unpacking(q):
    s = 0
    while q:
        a, b = q.popleft()
        s += a * b
    return s


def caught(q, log):
    s = 0
    for i in range(8):
        try:
            s += q.pop()
        except IndexError:
            log.append(i)
    return s, log


@pytest.mark.parametrize("f, args, others", [
    (emptying, lambda: (deque(range(12)),), [lambda: (deque(range(7)),), lambda: (deque([1] * 8 + [2.5, None]),)]),
    (beyond, lambda: (deque(range(12)),), [lambda: (deque(range(7)),)]),
    (unpacking, lambda: (deque(PAIRS),), [lambda: (deque(PAIRS + [(1, 2, 3)]),), lambda: (deque(PAIRS + [(1.5, 2)]),)]),
    (caught, lambda: (deque(range(5)), []), [lambda: (deque([1.5]), [])]),
], ids=lambda value: getattr(value, "__name__", ""))
def test_what_raises_raises_in_bytecode(f, args, others):
    check(f, *args(), others=[make() for make in others], config=PYTHON)


def test_a_subclass_is_no_deque():
    class Loud(deque):
        def popleft(self):
            calls.append(len(self))
            return super().popleft()

    calls = []
    j = jitted(emptying)
    for make in (deque, deque, deque, Loud, Loud):
        j(make(range(12)))
    assert calls == list(range(12, 2, -1)) * 2


def test_finalizers_run_in_time():
    class Item:
        def __init__(self, name):
            self.name = name

        def __del__(self):
            log.append(self.name)

    def f(q, x, log):
        s = 0.0
        for i in range(len(x)):
            q.popleft()
            q.append(i)
            s += x[i] * 2.0
            log.append(i)
        return s

    log = []
    j = jitted(f)
    for _ in range(4):
        seen = []
        for g in (f, j):
            q = deque([Item("a"), 1, Item("b"), 2.5] + [0] * 10)
            g(q, X, log)
            seen.append(list(log))
            del log[:]
        assert seen[0] == seen[1]


def test_what_bytecode_does_in_between_is_seen():
    def f(q, log):
        s = 0
        while q:
            v = q.popleft()
            s += v * 2
            if v == 3:
                log.append(repr(v))
                q.extend([10, 20])
                q.rotate(1)
            s -= len(q)
        return s, log

    j = check(f, deque(range(6)), [], others=[(deque(range(3)), [])], config=PYTHON)
    if "force_breaks" not in mode_config():
        assert kernel_count(j)


def made_here(x, most):
    """Searches begin with what is there, and windows have a length."""
    q, last, order = deque([(0, 1.0)]), deque(maxlen=most), []
    while q:
        i, w = q.popleft()
        last.append(x[i] * w)
        order.append(last[0])
        for j in (2 * i + 1, 2 * i + 2):
            if j < len(x):
                q.append((j, w * 0.5))
    first = deque(x[:3], 2)
    return order, last, first, first[0] + deque((1.5, 2.5))[1], deque(range(most), maxlen=None)


def test_a_deque_that_is_made_here():
    check(made_here, X, 3, others=[(X[:1], 1), (X, 0), (X, -1), (X, 2.0), (X[:0], 2)], config=PYTHON)
    with fail_unless_captured():
        check(made_here, X, 3, others=[(X[:1], 1), (X, -1)])
    j = jitted(made_here, PYTHON)
    for _ in range(3):
        j(X, 3)
    assert "force_breaks" in mode_config() or not pijit.explain(j, X, 3).breaks
