"""``{**d}``, ``{*x}`` and ``set(d)``: the order and the objects that CPython makes, and ``in`` of arrays."""

import numpy as np

from tests.harness import check, fail_unless_captured, nothing_breaks, same_answers

X = np.array([2.5, -1.0, 7.0, 0.5, 3.0, -0.0])
I = np.array([3, 0, -2, 7])
PYTHON = {"backend": "python"}
SPARSE = [16, 1, 2, 3, 4]


def merged(d, e, x):
    a = {**d, **e, "z": x * 2.0}
    b = {"z": 1, **d}
    return a, b, list(a), a["z"] * b["z"], {**a}, {**{}}


def merged_in_loop(d, x):
    s = 0.0
    for v in x:
        m = {**d, "w": v}
        s += m["w"] * m["a"]
    return s


def members(xs, x):
    return {*xs}, {*"ab"}, {16, 1, 2, 3, 4}, {1.5, "a", b"c"[0]}, x * 2.0 + 1.0


def of_dict(d, x):
    return set(d), set(d.keys()), x * 2.0 + 1.0


def found(x, m, v):
    n = 0
    for k in range(5):
        if k in x:
            n += 1
        if v not in x:
            n += 10
    return n, v in m, 2.5 in m, np.float64(3.0) in x


CASES = [
    (merged, ({"a": 1.0, "b": X}, {"b": 2}, X), [({}, {}, X), ({"z": 1}, {}, X), ({1: 2.0}, {"a": X}, X),
                                                 ({None: 1}, {}, X), ([], {}, X)]),
    (merged_in_loop, ({"a": 2.0, "w": 1}, X), [({"a": 2.0, "w": 1}, X[:0]), ({}, X)]),
    (members, (SPARSE, X), [([], X), ([1, 1.0, True], X), ([[1]], X), ((5, "a"), X)]),
    (of_dict, (dict.fromkeys(SPARSE), X), [({}, X), (dict.fromkeys("abcdef"), X), (dict.fromkeys(range(20)), X)]),
    (found, (X, X.reshape(2, 3), 7.0), [(I, X, 3), (X, X, float("nan")), (X[:0], X, 7.0), (I, X, 2 ** 70),
                                        (X, X, X), (X, X, X[:2]), (X > 0, X, True), (X, X, "a")]),
]

test_same_answers = same_answers(CASES, PYTHON)
test_nothing_breaks = nothing_breaks(CASES)


def test_the_order_of_sets_is_that_of_python():
    def f(d, xs, k, x):
        whole, some = set(d), set(d.keys())
        y = x * 2.0 + 1.0
        return list(whole), list(some), list({*xs}), list({16, 1, 2, 3, k}), list(set(xs)), y * x - y / 3.0 + x

    with fail_unless_captured():
        check(f, dict.fromkeys(SPARSE), SPARSE, 4, X, config=PYTHON, others=[
            (dict.fromkeys(SPARSE + list(range(40, 90, 3))), SPARSE * 4, 16, X)])


def test_keys_stay_the_objects_that_they_were():
    def f(d, x):
        return {**d, "w": x * 2.0 + 1.0}

    with fail_unless_captured() as watched:
        check(f, {"ab": 1.0}, X, config=PYTHON)
    for _ in range(3):
        key = "".join(["a", "b"])
        assert list(watched[0]({key: 1.0}, X))[0] is key


def test_keys_of_the_user_s_are_compared_by_python():
    class Key:
        def __init__(self):
            self.asked = 0

        def __hash__(self):
            return hash("w")

        def __eq__(self, other):
            self.asked += 1
            return False

    def f(d, k, x):
        m = {**d, "w": x * 2.0}
        return len(m), k.asked, len(set(d)), k.asked

    with fail_unless_captured():
        j = check(f, {"w": 1.0}, Key(), X, config=PYTHON)
    one, other = Key(), Key()
    assert j({one: 1.0}, one, X) == f({other: 1.0}, other, X)


@fail_unless_captured()
def test_in_machine_code():
    def f(d, x):
        m = {**d, "w": x * 2.0}
        return m, 7.0 in x, set(d), {16, 1, 2, 3, 4}, m["w"] + m["a"]

    check(f, {"a": 2.0, "w": 1}, X, others=[({"a": 2, "b": 1}, X)])
