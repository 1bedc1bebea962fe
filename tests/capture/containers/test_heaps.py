"""heapq.heappush and heappop in kernels: the same items in the same order, and what only bytecode can compare."""

import heapq
from heapq import heappop, heappush

import numpy as np
import pytest

from tests.harness import check, fail_unless_captured

X = np.random.RandomState(3).rand(60).round(1)
GRAPH = [[(int(j), float(w)) for j, w in zip(np.arange(i + 1, i + 5) % 80, np.random.RandomState(i).rand(4))]
         for i in range(80)]
"""So many that a list as long is none whose items are known one by one."""


def sorts(x):
    heap, found = [], []
    for v in x:
        heapq.heappush(heap, float(v) * 2.0)
    shape = list(heap)
    while heap:
        found.append(heapq.heappop(heap))
    return shape, found


def keeps(x, heap):
    """What the caller has is changed."""
    for i in range(len(x)):
        heappush(heap, x[i])
        if i % 3 == 2:
            heappop(heap)
            heap.append(heap[0])
    return len(heap)


def shortest(graph, source):
    far = [float("inf")] * len(graph)
    far[source] = 0.0
    heap = [(0.0, source)]
    steps = 0
    while heap:
        d, i = heappop(heap)
        if d > far[i]:
            continue
        for j, w in graph[i]:
            steps += 1
            if d + w < far[j]:
                far[j] = d + w
                heappush(heap, (d + w, j))
    return far, steps


def pairs(x):
    heap = []
    for i in range(len(x)):
        heappush(heap, (x[i], i))
        heappush(heap, (x[i], -i))
    s = 0.0
    tops = []
    while len(heap) > 20:
        v, i = heappop(heap)
        s = s * 0.5 + v * i
    while heap:
        tops.append(heappop(heap))
    return s, tops


def from_empty(x, heap):
    s = 0.0
    for v in x:
        heappush(heap, v)
        s += heappop(heap) * 2.0
    return s + heappop(heap)


def mixed(x, heap):
    s = 0.0
    for i in range(len(x)):
        heappush(heap, x[i])
        s += x[i] * 2.0
    return s, heap


class Sized:
    def __init__(self, size):
        self.size = size

    def __lt__(self, other):
        return False

    def __gt__(self, other):
        return True


CASES = [
    (sorts, (X,), [(X[:1],), (X[:0],), (np.append(X, [np.nan, np.inf, 0.5]),), (np.arange(20),)]),
    (keeps, (X, []), [(X, [0.25, 0.5]), (X, [0.5, 3]), (X, [1, 2 ** 70]), (X, [np.nan, 1.0])]),
    (shortest, (GRAPH, 0), [(GRAPH, 7), (GRAPH[:1] * 8, 3), ([[(0, "a")]], 0)]),
    (pairs, (X,), [(X[:12],), (X[:9],)]),
    (from_empty, (X, []), [(X, [0.0]), (X, [7, 8.5])]),
    (mixed, (X, [0.1]), [(X, ["a"]), (X, [Sized(1)]), (X, [(0.1, 2)]), (X, [None]), (X, (1.0,)), (X, [X])]),
]


@pytest.mark.parametrize("f, args, others", CASES, ids=[case[0].__name__ for case in CASES])
def test_same_heaps(f, args, others):
    with fail_unless_captured():
        check(f, *args, others=others)
