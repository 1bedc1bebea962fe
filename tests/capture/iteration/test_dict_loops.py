"""Loops over dicts: short ones are captured round by round, under guards on the keys and their order."""

import numpy as np
import pytest

from tests.harness import (
    HIT,
    MISS,
    assert_calls,
    assert_nothing_breaks,
    check,
    fail_unless_captured,
    jitted,
    mode_config,
)

X = np.linspace(-2.0, 3.0, 37)
PYTHON = {"backend": "python"}


def weighted(d, x):
    for k in d:
        x = x * d[k] + len(d)
    return x


def by_items(d, x):
    s, names = 0.0, []
    for i, (k, v) in enumerate(d.items()):
        if k == "skip":
            continue
        x = x + v * i
        names.append(k)
    return x, s, names, k, v


def by_values(d, x):
    for v, k in zip(d.values(), d.keys()):
        x = x * v
        if k == "stop":
            break
    else:
        x = -x
    return x


def consumed(d):
    best = max(d.values()), min(d.values(), default=None)
    return sum(d.values()), list(d), tuple(d.items()), best, any(v > 2 for v in d.values()), {k: v for k, v in d.items()}


def made(a, x):
    d = {"one": a, "two": x}
    for k, v in d.items():
        x = x + v
    return {k: v * 2 for k, v in d.items()}, {k: 1 for k in ("p", "q", "p")}, x


def nested(layers, x):
    for name, layer in layers.items():
        for key, w in layer.items():
            x = x * w if key == "scale" else x + w
    return x


D = {"a": 2.0, "b": 3.0, "skip": 1.5}
CASES = [
    (weighted, (D, X), [({"b": 2.0, "a": 3.0, "skip": 1.5}, X), ({"a": 2, "b": 3.0, "skip": 1.5}, X), ({}, X),
                        ({k: 1.0 for k in range(3)}, X), ({(1, 2): 3.0}, X), (dict.fromkeys(range(40), 1.0), X)]),
    (by_items, (D, X), [({"skip": 1.0}, X), ({"a": X, "b": 1}, X), ({}, X)]),
    (by_values, (D, X), [({"stop": 2.0, "a": 1.0}, X), ({"a": 1.0, "stop": 2.0}, X), ({}, X)]),
    (consumed, (D,), [({"a": 1, "b": 5},), ({},), ({"a": "text"},)]),
    (made, (2.0, X), [(3, X)]),
    (nested, ({"l1": {"scale": 2.0, "bias": X}, "l2": {"bias": 1.0}}, X), [({"l1": {"bias": X, "scale": 2.0}}, X)]),
]


@pytest.mark.parametrize("f, args, others", CASES, ids=[case[0].__name__ for case in CASES])
def test_same_answers(f, args, others):
    check(f, *args, others=others, config=PYTHON)


@pytest.mark.parametrize("f, args", [case[:2] for case in CASES if case[0] is not by_items],
                         ids=[case[0].__name__ for case in CASES if case[0] is not by_items])
def test_nothing_breaks(f, args):
    assert_nothing_breaks(f, *args)


@fail_unless_captured()
def test_in_machine_code():
    def f(d, x):
        s = sum(d.values())
        for k, v in d.items():
            x = x * v + s if k != "b" else x - v
        return x, {k: v * s for k, v in d.items()}

    check(f, D, X, others=[({"b": 1.0, "a": 2.0, "skip": 3.0}, X)])


def test_contents_are_never_stale():
    d = dict(D)
    f = jitted(weighted)
    assert np.array_equal([f(d, X) for _ in range(3)][-1], weighted(d, X))
    d["a"] = -7.0
    assert np.array_equal(f(d, X), weighted(d, X))
    d["a"] = d.pop("a")
    assert list(d) == ["b", "skip", "a"] and np.array_equal(f(d, X), weighted(d, X))
    del d["b"]
    assert np.array_equal(f(d, X), weighted(d, X))


def test_keys_are_guarded_by_value_and_order():
    f = jitted(weighted, PYTHON)
    if "force_breaks" in mode_config():
        pytest.skip("other entries")
    same = {"".join(["ski", "p"]) if k == "skip" else k: v for k, v in D.items()}
    assert_calls(f, [MISS, HIT, HIT, MISS], [(D, X), (D, X), (same, X), (dict(reversed(list(D.items()))), X)])


def test_a_dict_that_changes_on_the_way():
    def f(d, x):
        for k in d:
            x = x * 2.0
            d[k + "!"] = 1.0
        return x

    def replaced(d, x):
        for k in d:
            x = x * d[k]
            d[k] = 1.5
        return x, d

    check(f, {"a": 1.0}, X, config=PYTHON)
    check(replaced, {"a": 1.0, "b": 2.0}, X, config=PYTHON)


def test_an_exit_in_the_middle():
    def f(d, x):
        log = []
        for k, v in d.items():
            log.append(k)
            x = x + 1 // v
        return x, log

    def caught(d, x):
        s = 0.0
        for v in d.values():
            try:
                s += 1.0 / v
            except ZeroDivisionError:
                s -= 1.0
        return s, x * s

    for g in (f, caught):
        check(g, {"a": 1, "b": 2, "c": 4}, X, config=PYTHON, others=[({"a": 1, "b": 0, "c": 4}, X)])


def test_views_that_leave():
    def f(d, x):
        items = d.items()
        n = len(d.values()) + ("a" in d.keys())
        return [x * v for _, v in items], sorted(d.items()), n

    check(f, D, X, config=PYTHON)


def test_a_loop_in_a_loop_that_binds_the_dict_anew():
    """What the inner loop goes over is one dict at first and another one later."""
    def f(x, xs, d):
        seen = 0
        xs.reverse()
        for _ in reversed(xs):
            for key in d:
                x, *rest = xs
                seen += len(key)
                d = {"a": x, "b": x}
        return x, d, seen

    numbers = np.arange(7)
    check(f, numbers, [X, X + 1.0], {"a": numbers, "b": X}, config=PYTHON, others=[(X, [X], {"k": 1})])
