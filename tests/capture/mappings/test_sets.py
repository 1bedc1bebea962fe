"""Sets in kernels: their items in order and as a list, and what operators make of two of them."""

import numpy as np
import pytest

import pijit
from tests.harness import check, fail_unless_captured, jitted, mode_config, same_answers

X = np.linspace(0.5, 8.0, 16)
PYTHON = {"backend": "python"}


def in_order(x, s):
    total, own = 0.0, set()
    for i in range(len(x)):
        own.add(i * 7 % 5)
    for i in sorted(own):
        total = total * 0.5 + x[i]
    for i in sorted(s, reverse=True):
        total = total * 0.5 + i
    return total, list(own), sorted(s)


def as_lists(x, s):
    total = 0.0
    for i in list(s):
        total = total * 0.5 + x[0] * i
        s.discard(i)
    return total, s, list({30, 7, 1000003, -5})


def combined(x, s, u):
    seen = set()
    for i in range(4):
        seen = seen | {i}
    both, one = s & u, (s | u) - seen
    return x[0] * 2.0 + len(both) + len(s ^ u), both, one, s ^ u, type(frozenset(s) | u), seen


def in_place(x, s, u):
    """The set stays the same object."""
    other, frozen = s, frozenset(u)
    before = frozen
    s |= u
    s -= {1}
    frozen |= {7}
    own = {3, 4}
    alias = own
    own ^= {4, 5}
    own &= {3, 5, 6}
    return x[0] * 2.0 + x[1], other is s, s, frozen, before is frozen, before, own is alias, own


def wrong_operands(x, s):
    found = [x[0] * 2.0 + x[1]]
    for other in ([1], 2, None):
        try:
            found.append(s | other)
        except TypeError as error:
            found.append(str(error))
    return found


ONES = [(X, {5.5, -2.0}), (X, {1, 2.5, True}), (X, set()), (X, frozenset((3, 1))), (X, {"b", "a"}),
        (X, {None, 1}), (X, {(2, 1), (1, 2)}), (X, [3, 1, 2])]
TWO = [(X, {1}, {2}), (X, {1.0, 2}, {2.0, 1}), (X, frozenset((1, 2)), {2}), (X, {2}, frozenset((1, 2))),
       (X, set(), set()), (X, {"a", "b"}, {"b"}), (X, {(1, 2)}, {(1, 2), 3}), (X, {1}, [1])]
CASES = [(in_order, (X, {40, 3, 17}), ONES), (as_lists, (X, {40, 3, 17}), ONES),
         (combined, (X, {1, 2, 9}, {2, 3}), TWO), (in_place, (X, {1, 2}, {2, 3}), TWO),
         (wrong_operands, (X, {1}), [(X, frozenset((1,)))])]

test_same_answers = same_answers(CASES, PYTHON)


@pytest.mark.parametrize("f, args", [case[:2] for case in CASES[:1]], ids=["in_order"])
def test_nothing_breaks(f, args):
    j = jitted(f, PYTHON)
    for _ in range(3):
        j(*args)
    assert "force_breaks" in mode_config() or not pijit.explain(j, *args).breaks


def test_in_machine_code():
    with fail_unless_captured():
        check(in_order, X, {40, 3, 17}, others=ONES[:2])
        check(combined, X, {1, 2, 9}, {2, 3}, others=TWO[:3])


def test_items_that_compare_by_code_of_the_program():
    asked = []

    class Item:
        def __init__(self, n):
            self.n = n

        def __hash__(self):
            return 1

        def __eq__(self, other):
            asked.append((self.n, other.n))
            return self.n == other.n

    def f(x, s, u):
        return len(s | u) + len(s & u) + x[0] * 2.0

    j = jitted(f, PYTHON)
    j(X, {1, 2}, {2})
    s, u = {Item(1), Item(2)}, {Item(2), Item(3)}
    for _ in range(3):
        del asked[:]
        wanted = f(X, s, u), list(asked)
        del asked[:]
        assert (j(X, s, u), asked) == wanted
