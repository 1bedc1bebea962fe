"""Loops over dicts that are too long to be captured round by round, or that the function has made."""

import numpy as np
import pytest

from tests.harness import assert_nothing_breaks, check, fail_unless_captured, jitted, kernel_count, mode_config

PYTHON = {"backend": "python"}


def numbers(count=60, holes=True):
    d = {k: k * 0.5 for k in range(count)}
    if holes:
        del d[3], d[count - 1]
    return d


def words(count=60):
    return {"w%d" % k: k for k in range(count)}


def all_views(d):
    s = 0.0
    for k, v in d.items():
        s += v * k
    for k in d:
        s -= d[k]
    for v in d.values():
        s = s * 0.5 + v
    for i, (k, v) in enumerate(d.items()):
        s += i * v - k
    for k, v in zip(d.keys(), d.values()):
        s += k - v
    return s


def by_name(d):
    longest, total = "", 0
    for name, count in d.items():
        if count % 3 == 0:
            continue
        total += count
        if count > 50:
            longest = name
            break
    return longest, total


def consumed(d):
    return sum(d.values()), max(d), sum(k * v for k, v in d.items()), [v for v in d.values()][-1], len(list(d))


def inverted(d):
    return {v: k for k, v in d.items() if v > 3}


def of_arrays(d):
    s = 0.0
    for name, (a, n) in d.items():
        s += a.sum() * n
    return s


def counted(xs):
    counts = {}
    for x in xs:
        counts[x] = counts.get(x, 0) + 1
    best = 0
    for k, v in counts.items():
        best = max(best, k * v)
    return best, counts


def overwriting(d):
    for k, v in d.items():
        d[k] = v * 2.0
    return d


def nested(d):
    s = 0.0
    for a in d:
        for b, v in d.items():
            if b > a:
                break
            s += v
    return s


def leaving(d, log):
    """Bytecode takes some of the rounds, and gets the iterator as it is."""
    s = 0.0
    for k, v in d.items():
        s += v
        if k % 20 == 7:
            log.append(repr(k))
    return s, log


PROGRAMS = [
    (all_views, lambda: (numbers(),), [lambda: (numbers(20, False),), lambda: ({k: k for k in range(30)},)]),
    (by_name, lambda: (words(),), [lambda: (words(20),)]),
    (consumed, lambda: (numbers(),), [lambda: (numbers(30),)]),
    (inverted, lambda: (numbers(),), []),
    (of_arrays, lambda: ({"a%d" % k: (np.arange(4.0) + k, k) for k in range(20)},), []),
    (counted, lambda: ([k * k % 17 for k in range(80)],), [lambda: ([],)]),
    (overwriting, lambda: (numbers(),), [lambda: (numbers(20, False),)]),
    (nested, lambda: (numbers(),), []),
    (leaving, lambda: (numbers(), []), [lambda: (numbers(30), [])]),
]
NATIVE = [row[:2] for row in PROGRAMS if row[0] not in (counted, leaving)]


@pytest.mark.parametrize("f, args, others", PROGRAMS, ids=[row[0].__name__ for row in PROGRAMS])
def test_same_answers(f, args, others, polls):
    check(f, *args(), others=[make() for make in others], config=PYTHON)


@pytest.mark.parametrize("f, args", NATIVE, ids=[row[0].__name__ for row in NATIVE])
def test_nothing_breaks(f, args):
    assert_nothing_breaks(f, *args(), one_segment=False)


@fail_unless_captured()
def test_in_machine_code():
    def f(d, words):
        s = 0.0
        for k, v in d.items():
            s += k * v
        for k in d:
            s -= k
        for name in words:
            s += words[name]
        for v in d.values():
            if v > 20.0:
                break
            s += v
        return s

    check(f, numbers(), words(), others=[(numbers(20, False), words(20)), ({k: str(k) for k in range(30)}, words())])


def growing(d):
    t = 0
    for k in d:
        t += k
        if k == 40:
            d[1000] = 3.0
    return t


def shrinking(d):
    t = 0
    for k, v in d.items():
        t += k
        if k == 40:
            del d[5]
    return t


def replacing(d):
    t = 0
    for k in d:
        t += k
        if k < 5000:
            del d[k]
            d[k + 5000] = 1.0
    return t


def another_type(d):
    s = 0.0
    for v in d.values():
        s += v
    return s


@pytest.mark.parametrize("f, args", [
    (growing, lambda: (numbers(),)), (shrinking, lambda: (numbers(),)), (replacing, lambda: (numbers(20),)),
    (another_type, lambda: (dict(numbers(300), last="text"),)), (another_type, lambda: (dict(numbers(300), last=2),)),
], ids=lambda value: getattr(value, "__name__", ""))
def test_what_raises_raises_in_bytecode(f, args):
    check(f, *args(), others=[args()], config=PYTHON)


def test_an_iterator_that_has_a_name():
    def f(d):
        it = iter(d)
        s = 0
        for k in it:
            s += k
            if s > 100:
                break
        return s, list(it)

    check(f, numbers(), others=[(numbers(20),)], config=PYTHON)


def test_a_view_is_no_iterator():
    def f(d):
        items = d.items()
        s = 0.0
        for k, v in items:
            s += v
        for k, v in items:
            s += k
        return s, len(items), len(d.values()), 7 in d.keys()

    check(f, numbers(), config=PYTHON)


def test_kernels_begin_in_the_middle():
    def f(d, log):
        s = 0.0
        for k, v in d.items():
            s += v * v - k
            s += (v + k) * 0.5
            if k == 10:
                log.append(globals())
            s -= v * 3.0 + k
            s += (v - k) * 0.25
        return s

    j = jitted(f)
    log = []
    assert [j(numbers(), log) for _ in range(4)] == [f(numbers(), [])] * 4 and len(log) == 4
    if "force_breaks" not in mode_config():
        assert kernel_count(j)


@pytest.mark.parametrize("backend", ["python", None])
def test_a_key_that_goes_lives_on_in_a_variable(backend):
    def f(d, n):
        last = None
        for k, v in d.items():
            if v > n:
                last = k
                del d[k]
                break
        return last, len(d)

    def make(start):
        return {(k + start, k): k for k in range(50)}

    check(f, make(0.5), 30, others=[(make(1.5), 30), (make(2.5), 31)], config=backend and {"backend": backend})
