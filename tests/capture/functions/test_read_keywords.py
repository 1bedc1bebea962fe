"""Functions that look into their `**keywords`, called by compiled code: the dict is a new one in each call."""

import numpy as np
import pytest

from tests.harness import check, fail_unless_captured

X = np.linspace(0.5, 3.0, 12)


def get(v, **k):
    return v * k.get("z", 2.0) + k.get("q", 1.0)


def of_item(v, **k):
    return v * k["z"] + len(k) if "z" in k else v


def over_items(v, **k):
    s = v
    for name, value in k.items():
        s += value * len(name)
    return s


def truth(v, **k):
    return v * 2.0 if k else v


def itself(v, **k):
    k["n"] = len(k)
    return k


def handed_on(v, **k):
    return get(v, **k) + len(k)


def function_in(v, **k):
    return k["key"](v)


def missing(v, **k):
    return v * k["z"]


def read(x):
    s = 0.0
    for v in x:
        s += get(v) + get(v, z=3.0) - get(v, q=v, z=1.0) + of_item(v) + of_item(v, z=3.0) - of_item(v, q=v)
    return s


def walked(x):
    s = 0.0
    for v in x:
        s += over_items(v) + over_items(v, z=3.0, yy=v) + truth(v, z=1) - truth(v) + handed_on(v, z=2.0)
    return s


def kept(x):
    one, other = itself(1, a=x * 2.0 + 1.0), itself(2)
    other["b"] = one["a"]
    return one, other


def called(x):
    s = 0.0
    for v in x:
        s += function_in(v, key=lambda w: w * 2.0)
    return s


def not_there(x, log):
    s = 0.0
    for v in x:
        s += missing(v, z=2.0)
    log.append(s)
    return s + missing(s, y=1.0)


CASES = [(read, (X,)), (walked, (X,)), (kept, (X,)), (called, (X,)), (not_there, (X, []))]


@pytest.mark.parametrize("f, args", CASES, ids=[case[0].__name__ for case in CASES])
def test_keywords_that_are_read(f, args):
    with fail_unless_captured():
        check(f, *args, others=[(args[0] * 2.0,) + args[1:]])
