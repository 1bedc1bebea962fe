"""``dict(pairs)`` of what yields pairs, and ``text.join`` of what yields strings."""

import numpy as np
import pytest

from tests.harness import check, fail_unless_captured, nothing_breaks, same_answers

X = np.array([2.5, -1.0, 7.0, 2.5, 3.0, -0.0, 0.5])
LONG = np.linspace(-3.0, 3.0, 41)
PYTHON = {"backend": "python"}


def of_a_generator(x):
    k = 2.0
    found = dict((i, v * k) for i, v in enumerate(x) if v > 0)
    return found, sum(found.values()), list(found)


def of_iterators(x):
    return dict(zip(range(len(x)), x)), dict(enumerate(x)), dict(zip(x, x[::-1])), dict(map(lambda v: (v, -v), x))


def of_a_list(x):
    rows = [(int(v * 3), v) for v in x]
    found, total = dict(rows), 0.0
    for key, value in found.items():
        total += key * value
    return found, total


def of_few(x):
    return dict((name, x.sum() * i) for i, name in enumerate(("a", "b"))), dict(zip(("a", "b"), x))


def in_a_loop(x):
    found = []
    for i in range(len(x)):
        found.append(dict((k, v) for k, v in zip(x[:i], x[i:])))
    return found


def of_three(x):
    return dict((v, v, v) for v in x)


def unhashable(x):
    return dict(([v], 1) for v in x)


def with_an_error(x):
    done = []
    done.append(len(x))
    return dict((i, 1 // int(v)) for i, v in enumerate(x)), done


def joined(x):
    k = 2
    signs = "".join("+" if v > 0 else "-" for v in x)
    table = "\n".join(" ".join(str(i * j) for j in range(3)) for i in range(len(x)))
    return signs, table, ", ".join(f"{i}:{v * k:.2f}" for i, v in enumerate(x)), ",".join(map(str, x))


def complement(x):
    names = {"A": "T", "T": "A", "C": "G", "G": "C"}
    return "".join(names[c] for c in "ACGT" * 7), len(x)


def joined_numbers(x):
    return ",".join(v for v in x)


OTHERS = [(LONG,), (X[:0],), (X.astype(int),), (np.array([np.nan, np.nan]),), (list(X),), (np.array([1.0, 2.0]),)]
def of_given_pairs(pairs, x):
    """The keys are known by their values, which guards compare."""
    found = dict(pairs)
    return found, list(found), sum(found.values()) + x.sum()


GIVEN = [
    (of_given_pairs, ([[0, 1.5], [1, 2.5]], X), [
        ([[0, 1.5], [2, 2.5]], X), ([[0, 1.5], [0, 2.5]], X), ([[1, 1.5], [True, 2.5]], X), ([[1.0, 1.5], [1, 2.5]], X),
        ([["a", 1.5], ["b", 2.5]], X), ([(0, 1.5), (1, 2.5)], X), ([[0, 1.5], [1, 2.5, 3.5]], X), ([], X)]),
    (of_given_pairs, ((["a", 1.5], ("b", 2)), X), [((["a", 1.5], ("a", 2)), X), ((["b", 1.5], ("a", 2)), X)]),
]
CASES = [(f, (X,), OTHERS) for f in (of_a_generator, of_iterators, of_a_list, of_few, in_a_loop, with_an_error,
                                     joined, complement)]
RAISING = [(f, (X,), OTHERS) for f in (of_three, unhashable, joined_numbers)]

test_same_answers = same_answers(CASES + RAISING + GIVEN, PYTHON)
test_nothing_breaks = nothing_breaks(CASES + GIVEN)


@pytest.mark.parametrize("f", [of_a_generator, of_a_list, joined])
def test_in_machine_code(f):
    with fail_unless_captured():
        check(f, X, others=[(LONG,), (X[:0],), (-X,)])
