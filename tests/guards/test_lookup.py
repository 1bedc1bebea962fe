"""Lookups in dicts and sets without code of the keys: what Python finds, or a refusal."""

import random

import numpy as np
import pytest

from pijit.guards._evaluate import UNBOUND, find


class Keys:
    """Instances share the keys of their dicts."""


def same_as_python(d, keys):
    for key in keys:
        assert find(d, key) is d.get(key, UNBOUND)
        assert (find(set(d), key) is not UNBOUND) == (key in d)


KEYS = [0, 1, -1, -2, 2 ** 61 - 1, 2 ** 61, 2 ** 64, 10 ** 30, 0.0, -0.0, 1.0, 0.5, True, "", "a", "b" * 99, (), (1,),
        ("a", 1.0), ((1, "a"), 2), np.int64(1), np.float32(0.5), np.float64(7.0), 7, 1j, None]


@pytest.mark.parametrize("size", [0, 1, 5, 40, 300, 70000])
def test_finds_what_python_finds(size):
    chosen = random.Random(size)
    d = {}
    for _ in range(size):
        d[chosen.choice((chosen.randrange(4 * size), str(chosen.randrange(size)), chosen.random()))] = object()
        if chosen.random() < 0.3:
            del d[chosen.choice(list(d)[:20])]
    same_as_python(d, KEYS + list(d)[:300] + [chosen.randrange(4 * size) for _ in range(300 if size else 0)])


def test_keys_of_equal_hash():
    """Multiples of 2**61 - 1 and of powers of two collide in hash or in slot."""
    numbers = [k * (2 ** 61 - 1) for k in range(40)] + [k << 20 for k in range(1, 40)]
    d = {number: str(number) for number in numbers[::2]}
    same_as_python(d, numbers)
    for number in numbers[::4]:
        d.pop(number)
    same_as_python(d, numbers)


def test_dicts_of_instances():
    one, other = Keys(), Keys()
    one.a, one.b, one.c = 1, 2, 3
    other.a = 4
    same_as_python(vars(other), ["a", "b", "c", "d", 1])
    del one.b
    same_as_python(vars(one), ["a", "b", "c", "d", 1])


class Asked:
    def __init__(self, like):
        self.like = like

    def __hash__(self):
        return hash(self.like)

    def __eq__(self, other):
        raise AssertionError("was asked")


class Text(str):
    """Compares as strings do."""


class Plain:
    """Compares by identity."""

    def __hash__(self):
        return hash("k")


@pytest.mark.parametrize("key, stored", [("k", Asked("k")), (3, Asked(3)), ((1, "k"), (1, Asked("k")))])
def test_keys_that_compare_themselves_are_not_asked(key, stored):
    d = {stored: 1, "other": 2}
    for container in (d, set(d)):
        with pytest.raises(LookupError):
            find(container, key)
    assert find(d, "other") == 2 and find({key: 1}, key) == 1


def test_keys_with_a_builtin_comparison_are_asked():
    assert find({Text("k"): 1}, "k") == 1
    assert find({Plain(): 1}, "k") is UNBOUND
    assert find({np.str_("k"): 1}, "k") == 1
