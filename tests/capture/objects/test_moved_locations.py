"""Items of lists that are stored at known positions on some paths of a callee and at computed ones on others."""

import pytest

import pijit
from tests.harness import mode_config


def quicksorting(jit):
    @jit
    def part(items, start, end):
        pivot, low, high, done = items[end], start - 1, end, 0
        while not done:
            while not done:
                low = low + 1
                if low == high:
                    done = 1
                    break
                if items[low] > pivot:
                    items[high] = items[low]
                    break
            while not done:
                high = high - 1
                if high == low:
                    done = 1
                    break
                if items[high] < pivot:
                    items[low] = items[high]
                    break
        items[high] = pivot
        return high

    @jit
    def sort(items, start, end):
        if start < end:
            middle = part(items, start, end)
            sort(items, start, middle - 1)
            sort(items, middle + 1, end)
    return part, sort


def storing_in_rows(jit):
    @jit
    def part(rows, low, end):
        pivot, column = rows[end][low], low
        rows[end][low] = pivot + 1.0
        while low < end:
            if rows[low][column] > pivot:
                rows[low][end] = rows[low][column]
                break
            low += 1
        rows[low][low] = pivot
        return low

    @jit
    def sort(rows, start, end):
        if start < end:
            middle = part(rows, start, end)
            sort(rows, start, middle - 1)
            sort(rows, middle + 1, end)
    return part, sort


def storing_in_a_dict(jit):
    @jit
    def part(table, low, end):
        table[end] = 1.5 * low
        while low < end:
            low += 1
            if table[low] < table[end]:
                table[low] = table[end]
                break
        table[low] = table[end] + 1.0
        return low

    @jit
    def sort(table, start, end):
        if start < end:
            middle = part(table, start, end)
            sort(table, start, middle - 1)
            sort(table, middle + 1, end)
    return part, sort


def storing_in_a_pair(jit):
    @jit
    def part(pair, low, end):
        one, other = pair
        one[end] = other[low]
        while low < end:
            low += 1
            if one[low] > other[end]:
                other[low] = one[end]
                break
        other[low] = one[low] + 1
        return low

    @jit
    def sort(pair, start, end):
        if start < end:
            middle = part(pair, start, end)
            sort(pair, start, middle - 1)
            sort(pair, middle + 1, end)
    return part, sort


CASES = [
    (quicksorting, lambda: [9, 3, 7, 1, 8, 2, 6, 0, 5, 4]),
    (quicksorting, lambda: [0.5 * k for k in range(10)]),
    (storing_in_rows, lambda: [[float(i * j % 5) for i in range(6)] for j in range(6)]),
    (storing_in_a_dict, lambda: {k: float(k) for k in range(8)}),
    (storing_in_a_pair, lambda: ([5, 3, 4, 1, 2, 9], [1, 2, 3, 4, 5, 6])),
]


@pytest.mark.parametrize("make, build", CASES)
def test_recursion(make, build):
    def jit(f):
        return pijit.jit(f, jit_config=mode_config())
    functions, (_, plain) = make(jit), make(lambda f: f)
    for _ in range(3):
        wanted, got = build(), build()
        last = 5
        plain(wanted, 0, last)
        functions[1](got, 0, last)
        assert repr(got) == repr(wanted)
    assert [one.state.failures for one in functions] == [[], []]
