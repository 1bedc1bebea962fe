"""Loops over what itertools makes: native loops, or rounds that are known one by one."""

import itertools
import operator
from itertools import accumulate, chain, combinations, count, cycle, islice, permutations, product, repeat, starmap

import numpy as np
import pytest

import pijit
from tests.capture.containers.effects_common import CUT, launches
from tests.harness import check, fail_unless_captured, nothing_breaks, same_answers

X = np.linspace(0.5, 3.0, 8)
M = np.arange(12.0).reshape(4, 3)
ROWS = [float(k * k % 7) for k in range(20)]
PYTHON = {"backend": "python"}
OFFSETS = (-1, 0, 1)


def of_ranges(x, n, a):
    total = 0.0
    for i, j in product(range(n), range(1, n, 2)):
        total += x[i] * x[j] * a
    for i, j in itertools.product(range(n - 1, 0, -1), repeat=2):
        total = total * 0.5 + x[i] - x[j]
    return total


def of_offsets(x, n, a):
    total = 0.0
    for i in range(1, n - 1):
        for dx, dy in product(OFFSETS, (-1, 1)):
            total += x[i + dx] * (dy + a)
    for p in permutations((0, 1, 2)):
        total = total * 0.5 + x[p[0]] - x[p[2]]
    return total


def of_many_offsets(x, n, a):
    total = 0.0
    for dx, dy, dz in product((-1, 0, 1), repeat=3):
        total = total * 0.9 + x[dx + 1] * dy + dz * a
    return total


def of_arrays(x, n, a):
    total = 0.0
    for u, v in product(x, x[::2]):
        total += u * v * a
        x[0] += 1.0  # the pools are as they were
    return total, x


def pairs_of_ranges(x, n, a):
    total = 0.0
    for i, j in combinations(range(n), 2):
        total += x[i] * x[j] * a
    for i, j, k in combinations(range(1, n, 2), r=3):
        total -= x[i] * x[j] + k
    for i, j in permutations(range(n), 2):
        total = total * 0.5 + x[i] - x[j]
    return total


def pairs_of_arrays(x, n, a):
    total = 0.0
    for u, v in combinations(x, 2):
        total += u * v * a
        x[-1] += 1.0
    return total, x


def pairs_of_rows(m, n, a):
    total = 0.0
    for r, s in combinations(m, 2):
        r += 1.0  # rows are views
        total += r[0] * s[1] * a
    return total, m


def pairs_of_lists(rows, n, a):
    total = 0.0
    for u, v in combinations(rows, 2):
        total += u * v * a
        rows[0] = 100.0
    return total, rows


def summed_up(x, n, a):
    total = 0.0
    for v in accumulate(x):
        total += v * a
    for v in accumulate(x, lambda one, other: one * 0.5 + other):
        total -= v
    for v in accumulate(range(n), operator.mul):
        total += v
    return total, list(accumulate(x, max)), sum(accumulate([3, 1, n]))


def one_after_the_other(x, n, a):
    total = 0.0
    for v in chain(x, x[::-1]):
        total = total * 0.5 + v * a
    for i in chain(range(n), range(n + 2, 8)):
        total += x[i] * i
    for v in chain((a, 1.0), x):
        total -= v
    return total, list(chain(x, [n]))


def parts_of_parts(m, n, a):
    total = 0.0
    for v in chain.from_iterable(m):
        total = total * 0.5 + v * a
    for v in chain.from_iterable(range(i) for i in range(n)):
        total += v
    return total


def sliced(x, n, a):
    total = 0.0
    for v in islice(x, n):
        total += v * a
    for i, v in enumerate(islice(x, 1, n, 2)):
        total -= v * i
    for v in islice(x, 2, None):
        total = total * 0.5 + v
    return total, list(islice(x, 3))


def counted(x, n, a):
    total = 0.0
    for i, v in zip(count(), x):
        total += i * v
    for v, i in zip(x, count(n, -2)):
        total -= i * v
    for i in count(1):
        if i >= n:
            break
        total += x[i] * a
    for t in count(0.0, 0.1):
        if t > a:
            break
        total += t
    return total


def again_and_again(x, n, a):
    total = 0.0
    for v, sign in zip(x, cycle((1.0, -1.0, 0.5))):
        total += v * sign
    for v, w, u in zip(repeat(a), x, repeat(2.0)):
        total += v * w * u
    for _ in repeat(None, n):
        total = total * 0.5 + x[0]
    return total, sum(map(operator.mul, x, x)), list(repeat(a, 3))


def by_functions(x, n, a):
    total = 0.0
    for v in itertools.takewhile(lambda v: v < a, x):
        total += v
    for v in itertools.dropwhile(lambda v: v < a, x):
        total -= v * 0.5
    for v in itertools.filterfalse(lambda v: v > a, x):
        total *= v
    for v in itertools.compress(x, x > a):
        total += v
    return total, sum(starmap(lambda u, v: u * v - a, zip(x, x[1:])))


def neighbours(x, n, a):
    total = 0.0
    for u, v in itertools.pairwise(x):
        total += (v - u) * a
    return total


def wrong_in_the_middle(x, n, a):
    """The rest of the loop is bytecode's, over what the kernel has left."""
    seen = []
    try:
        for i, j in product(range(n + 4), range(3)):
            seen.append(x[i] * j)
    except IndexError as error:
        return seen, str(error)
    big = 1
    for i, j in combinations(range(40), 2):
        big = big * 3 + i - j
    for v in chain(range(20), (5, 6)):
        big = big * 7 + v
    return seen, big


def raises_below(x, n, a):
    """Frames and lines of what functions and iterables raise, and of warnings, are those of the program."""
    def divided(one, other):
        return one / (int(other) - n)
    found = []
    for make in (0, 1, 2, 3, 4):
        try:
            if make == 0:
                for v in accumulate([2.0, 3.0, 4.0, 5.0, 6.0], divided):
                    found.append(v)
            elif make == 1:
                for v in starmap(divided, zip(x, range(9))):
                    found.append(v)
            elif make == 2:
                for v in chain((1 / (5 - i) for i in range(9)), x):
                    found.append(v)
            elif make == 3:
                for v in accumulate(x * 1e308):
                    found.append(v * a)
            else:
                for v in islice((2.0 / (5 - i) for i in range(9)), 1, 8, 2):
                    found.append(v)
        except ZeroDivisionError as error:
            trace, lines = error.__traceback__, []
            while trace is not None:
                lines.append((trace.tb_frame.f_code.co_name, trace.tb_lineno))
                trace = trace.tb_next
            found.append((str(error), lines))
    return found


def with_names(x, n, a):
    pairs = product(range(n), range(2))
    first = next(pairs)
    ids = count(3)
    it, more = iter(count(n)), iter(product((1, 2)))
    return (first, sum(x[i] * j for i, j in pairs), next(ids), next(ids), type(pairs), repr(ids), repr(it), next(it),
            type(more), next(more))


def prints(x, n, a):
    for i, j in combinations(range(3), 2):
        print(i, j, x[i] * x[j] * a)
    for i, v in zip(count(), x):
        print(i, v * a)
    return n


def counted_keys(n):
    """A dict that no guard knows, so that its length is a number of the run time."""
    found = {}
    for k in range(n):
        found[k * 3 % 11] = k
    return found


def sliced_from_computed(x, n, a):
    keys = counted_keys(n)
    total = 0.0
    for v in islice(keys, len(keys) - 2, None):
        total = total * 0.5 + v * a
    for v in islice(keys, len(keys) - 3, len(keys) - 1, 2):
        total = total * 0.5 + v * a
    for v in islice(keys, len(keys) - 2, None, None):
        total += v
    return total


def sliced_by_computed(x, n, a):
    keys = counted_keys(n)
    return [v * a for v in islice(keys, 0, None, len(keys) - 3)]


def chosen_by_computed(x, n, a):
    keys = counted_keys(n)
    return [p for p in permutations((1, 2, 3), len(keys) - 3)], [p for p in combinations((1, 2, 3), len(keys) - 3)]


def chosen_by_none(x, n, a):
    return list(permutations((n, a), None)), list(combinations((n, a), None))


LIST = [(ROWS, 3, 2.0), (ROWS[:3], 3, 2.0), ([1, 2.5], 2, 2.0), ([], 2, 2.0)]
OTHERS = [(X * 3, 4, 1.0), (X, 2, 2), (X.astype(int), 3, 2.0), (X, 0, 2.0), (X[:1], 1, 2.0), (X[:0], 0, 2.0),
          (X, 2.0, 2.0), (X[::2], 4, 2.5)]
WHOLE = [(f, (X, 5, 2.0), OTHERS) for f in (
    of_ranges, of_offsets, of_many_offsets, of_arrays, pairs_of_ranges, pairs_of_arrays, summed_up,
    one_after_the_other, sliced, counted, again_and_again, by_functions)]
WHOLE += [(f, (M, 3, 2.0), [(M[:0], 0, 1.0), (M.T, 2, 1.0), (M[:1], 1, 3)]) for f in (pairs_of_rows, parts_of_parts)]
WHOLE += [(pairs_of_lists, LIST[0], LIST[1:])]
if hasattr(itertools, "pairwise"):
    WHOLE.append((neighbours, (X, 5, 2.0), OTHERS))
WHOLE += [(sliced_from_computed, (X, 5, 2.0), OTHERS)]
CASES = WHOLE + [(f, (X, 5, 2.0), OTHERS) for f in (
    wrong_in_the_middle, raises_below, with_names, prints, sliced_by_computed, chosen_by_computed, chosen_by_none)]

test_same_answers = same_answers(CASES, PYTHON)
test_nothing_breaks = nothing_breaks(WHOLE)


@pytest.mark.parametrize("f", [of_ranges, of_offsets, pairs_of_arrays, summed_up, one_after_the_other, sliced,
                               counted, again_and_again, raises_below, wrong_in_the_middle], ids=lambda f: f.__name__)
def test_in_machine_code(f):
    with fail_unless_captured():
        check(f, X, 5, 2.0, others=OTHERS[:4])


def test_iterators_are_where_kernels_leave(leaves_often):
    for f, args, others in CASES:
        check(f, *args, others=others[:3], config=PYTHON)
    assert len(leaves_often) > 100


def test_polls_leave_loops_over_stand_ins(polls):
    for f, args, _ in CASES:
        check(f, *args, config=PYTHON)


def test_one_kernel_has_the_whole_loop():
    j = check(pairs_of_ranges, X, 8, 2.0)
    assert CUT or launches(j, X, 8, 2.0) == 1, str(pijit.explain(j, X, 8, 2.0))


def test_a_loop_with_a_break_says_so():
    def broken(x):
        total = 0.0
        for i, j in product(range(3), range(4)):
            total += x[i] * x[j]
            print(total)
        return total
    j = check(broken, X, config=PYTHON)
    found = [one.reason_id for one in pijit.explain(j, X).breaks]
    assert "PJ201" in found and "PJ209" in found


def test_a_replaced_function_is_not_taken_for_its_own(monkeypatch):
    def f(x, n):
        return sum([x[i] * j for i, j in itertools.product(range(n), range(2))])
    j = check(f, X, 3, config=PYTHON)
    monkeypatch.setattr(itertools, "product", lambda *pools: [(1, 5)])
    assert j(X, 3) == f(X, 3) == X[1] * 5
