"""What a round of a loop stores is kept for the next rounds where nothing else can have written there."""

import numpy as np
import pytest

import pijit
from pijit.core.graph.passes import recorded
from tests.harness import check, fail_unless_captured, jitted

X = np.linspace(-3.0, 4.0, 40)
GRID = np.arange(56.0).reshape(8, 7) % 5.0
BASE = np.arange(1.0, 30.0)


def keeps(f, args):
    """Whether some loop of the function's graphs keeps a value."""
    with recorded() as stages:
        pijit.jit(f, jit_config={"backend": "python"})(*args)
    return any("'kept'" in stage[-1].text for stage in stages.values())


def running_sum(x):
    y = x.copy()
    for i in range(1, len(y)):
        y[i] = y[i] + y[i - 1]
    return y


def two_back(x, a, b):
    y = np.zeros(len(x))
    for i in range(2, len(x)):
        y[i] = x[i] + a * y[i - 1] - b * y[i - 2]
    return y


def in_place(x):
    for i in range(3, x.size):
        x[i] = x[i] + x[i - 3] * 2


def from_the_end(x):
    y = x.copy()
    for i in range(len(y) - 2, -1, -1):
        y[i] = y[i] * 0.5 + y[i + 1]
    return y


def every_second(x):
    y = x.copy()
    for i in range(2, len(y), 2):
        y[i] = y[i] - y[i - 2] + y[i - 1]
    return y


def sweep(a):
    n = a.shape[0]
    for i in range(1, n - 1):
        for j in range(1, n - 1):
            a[i, j] = (a[i - 1, j] + a[i, j - 1] + a[i, j + 1] + a[i + 1, j]) / 4.0
    return a


def in_both_arms(x, y):
    t = np.zeros((len(x) + 1, len(y) + 1), np.int64)
    for i in range(1, len(x) + 1):
        for j in range(1, len(y) + 1):
            if x[i - 1] > y[j - 1]:
                t[i, j] = t[i - 1, j - 1] + 1
            else:
                t[i, j] = max(t[i - 1, j], t[i, j - 1])
    return t


def with_while(x):
    i = 1
    while i < x.shape[0]:
        x[i] = x[i - 1] + x[i]
        i += 1


def two_made(x):
    y, z = np.zeros(len(x)), np.ones(len(x))
    for i in range(1, len(x)):
        y[i] = y[i - 1] + x[i]
        z[i] = z[i - 1] - y[i]
    return y, z


def sometimes(x):
    y = x.copy()
    for i in range(1, len(y)):
        if y[i] > 0.0:
            y[i] = y[i - 1] + 1.0
    return y


def wraps(x):
    y = x.copy()
    for i in range(len(y)):
        y[i] = y[i] + y[i - 1]
    return y


def into_two(x, y):
    for i in range(1, len(x)):
        x[i] = x[i - 1] + 1.0
        y[i] = x[i] * 2.0


def elsewhere_too(x):
    y = x.copy()
    for i in range(2, len(y)):
        y[i - 2] = 7.0
        y[i] = y[i - 1] + 1.0
    return y


def loaded_again(x):
    """What was stored is loaded in the same round, and in the next one."""
    s = 0.0
    for i in range(len(x)):
        s = s * 0.5 + x[2]
        x[2] = x[i] + 1.0
        s = s + x[2]
    return s


def loaded_behind(x):
    s = 0.0
    for i in range(len(x)):
        x[2] = x[i] + 1.0
        if s < 4.0:
            s = s + x[2]
    return s


def strided(x):
    for i in range(1, len(x)):
        x[i] = x[i - 1] + 1.0


def too_far(x, n):
    for i in range(1, n):
        x[i] = x[i - 1] + x[i]


def one_element(x, n):
    for i in range(n):
        x[2] += x[3]


def another_step(x, n):
    y, i = x.copy(), 1
    while i < len(y):
        y[i] = y[i - 1] + 1.0
        i += 2 if y[i] > n else 1
    return y


CASES = [
    (running_sum, (X,), [(X[:0],), (X[:1],), (X[:2],), (X.astype(np.float32),), (np.arange(9),)], True),
    (two_back, (X, 0.5, 0.25), [(X[:2], 0.5, 0.25), (X[:3], 2, 1.5), (X[:0], 0.5, 0.5)], True),
    (in_place, (np.arange(10, dtype=np.int8),), [(np.arange(3),), (np.arange(5.0),)], True),
    (from_the_end, (X,), [(X[:1],), (X[:0],)], True),
    (every_second, (X,), [(X[:2],), (X[:7],)], True),
    (sweep, (GRID[:7].copy(),), [(GRID.copy(),), (GRID[:2].copy(),), (np.asfortranarray(GRID[:7]),)], True),
    (in_both_arms, (X[::3].copy(), X[:9]), [(X[:0], X), (X[:1], X[:1])], True),
    (with_while, (X.copy(),), [(X[:1].copy(),), (X[:0],)], True),
    (two_made, (X,), [(X[:1],)], True),
    (sometimes, (X,), [(X[:1],)], False),
    (wraps, (X,), [(X[:1],)], False),
    (into_two, (X.copy(), X.copy()), [(X[:1].copy(), X.copy())], False),
    (elsewhere_too, (X,), [(X[:3],)], False),
    (loaded_again, (X.copy(),), [(X[:3].copy(),), (X[:0],)], True),
    (loaded_behind, (X.copy(),), [(X[:3].copy(),), (X[:0],)], False),
    (strided, (BASE[::2],), [(BASE.copy(),)], False),
    (too_far, (X.copy(), 40), [(X[:5].copy(), 5), (X.copy(), 1)], True),
    (one_element, (X.copy(), 7), [(X.copy(), 2), (X.copy(), 0), (X[:2].copy(), 3)], True),
    (another_step, (X, 2.0), [(X, -9.0), (X[:1], 0.0)], False),
]
NAMES = [case[0].__name__ for case in CASES]


@pytest.mark.parametrize("backend", ["python", "numba"])
@pytest.mark.parametrize("f, args, others, kept", CASES, ids=NAMES)
@fail_unless_captured()
def test_same_answers(f, args, others, kept, backend):
    check(f, *args, others=others, config={"backend": backend})


@pytest.mark.parametrize("f, args, kept", [(f, args, kept) for f, args, _, kept in CASES], ids=NAMES)
def test_what_is_kept(f, args, kept):
    assert keeps(f, [arg.copy() if isinstance(arg, np.ndarray) and f is not strided else arg for arg in args]) is kept


def test_first_of_two_arrays():
    """The choice of an array depends on the order of stores, not on addresses of objects."""
    found = set()
    for _ in range(20):
        with recorded() as stages:
            pijit.jit(two_made, jit_config={"backend": "python"})(X)
        found.add("".join(stage[-1].text for stage in stages.values()))
    assert len(found) == 1


@fail_unless_captured()
def test_an_index_out_of_range():
    check(too_far, X.copy(), 41, others=[(X.copy(), 60), (X[:0].copy(), 2)])


@fail_unless_captured()
def test_arrays_that_share_memory():
    words = np.arange(20.0)
    check(into_two, X.copy(), X.copy(), aliased=[(words[:-1], words[1:]), (words[1:], words[:-1])])


@fail_unless_captured()
def test_elements_that_share_memory():
    words, others = np.arange(8.0), np.arange(8.0)
    compiled = jitted(strided)
    for size, step in ((9, 0), (6, 8), (3, 16)):
        strided(np.lib.stride_tricks.as_strided(words, (size,), (step,)))
        compiled(np.lib.stride_tricks.as_strided(others, (size,), (step,)))
        assert words.tolist() == others.tolist()


@fail_unless_captured()
def test_leaving_in_the_middle():
    """A warning leaves the kernel, and what follows goes on from memory."""
    huge = X.copy()
    huge[17] = 1e308
    with np.errstate(over="ignore"):
        check(two_back, huge, 1.5, 0.25)
    check(two_back, huge, 1.5, 0.25)


def summed_up(x, out, i):
    s = 1.0 / (i + 5.0)
    for j in range(4):
        if s < 0.0:
            raise IndexError(j)
        out[3] -= x[j]
    return s


def calls_with_loops(x, out, n):
    s = 0.0
    for i in range(n):
        s += summed_up(x, out, i)
        s += x[i % 7]
    return s, out


@fail_unless_captured()
def test_two_loops_that_carry():
    """The first round of the outer loop has one of its own, as ``s`` is another type behind it."""
    check(calls_with_loops, X, np.ones(9), 6, others=[(X, np.ones(9), 0), (X, np.ones(3), 2)])


def from_the_end(x, s, m):
    for i in range((5 * 3) % 5):
        for j in range(len(x)):
            for k in range(3):
                x[len(x) - 1] += s + s + s
            s = s * 0.5
    return s, x.shape[0] + m


def from_the_end_of_a_view(x, s, m):
    for i in range(m):
        for k in range(3):
            x.T[x.T.shape[0] - 1, 1] += s * k
            s = s * 0.5
    return x, x.shape[1] + m, x.T.shape[0]


@pytest.mark.parametrize("f, x", ((from_the_end, X), (from_the_end_of_a_view, GRID)))
def test_lengths_that_are_asked_for_elsewhere_too(f, x):
    with fail_unless_captured():
        check(f, x, True, 2, others=[(x, 0.75, 0), (x, 2.0, 1)])
