"""Loops over short dicts that store under the keys that the dict has: its keys stay what guards say of them."""

import numpy as np
import pytest

from tests.harness import check, nothing_breaks, same_answers

PYTHON = {"backend": "python"}


def parameters():
    return {"w": np.arange(6.0).reshape(2, 3), "b": np.linspace(-1.0, 1.0, 4), "s": 2.5}


def slopes():
    return {name: value * 0.5 + 0.25 for name, value in parameters().items()}


def descend(params, grads):
    for name in params:
        params[name] = params[name] - 0.1 * grads[name]
    return params


def descend_in_place(params, grads):
    for name in params.keys():
        params[name] -= 0.1 * grads[name]
    return params


def momentum(params, grads, velocity):
    for name, value in params.items():
        velocity[name] = 0.9 * velocity[name] - 0.1 * grads[name]
        params[name] = value + velocity[name]
    return params, velocity


def first_moments(params, grads, moments):
    for name in params:
        if name not in moments:
            moments[name] = params[name] * 0.0
        moments[name] = 0.5 * moments[name] + grads[name]
        params[name] = params[name] - moments[name]
    return params, moments


def later_rounds_see(d):
    seen = []
    for name, value in d.items():
        d["b"] = d["b"] + 1.0
        seen.append(value * 2.0)
    return seen, d, len(d), "b" in d


def numbered(d):
    for i, (k, v) in enumerate(zip(d, d.values())):
        d[k] = v * i
    return d, i, k


def integer_keys(d):
    for k in d:
        d[k] = d[k] * 2.0 + d[1]
    return d


def nested(d):
    for a in d:
        for b in d:
            d[b] = d[b] * 0.5 + d[a]
    return d


def to_a_limit(d, limit):
    for k in d:
        d[k] = d[k] * 2.0
        if d[k] > limit:
            break
    else:
        d["w"] = -1.0
    return d, k


def added(d, n):
    for k in d:
        d[k] = d[k] + 1.0
        if n > 2:
            d["new"] = 1.0
    return d


def renewed(d, name):
    for k in d:
        d[k] = d[k] + 1.0
        del d[name]
        d[name] = 7.0
    return d


def of_two(d, other):
    for k in d:
        d[k] = d[k] + 1.0
        other[k] = d[k] * 2.0
        other["new"] = 0.5
    return d, other


def equal_keys(d):
    for k in d:
        d[True] = d[k] + 1.0
        d[2.0] = 3.5
    return d, [type(k) for k in d]


def raising(d, x, i):
    for k in d:
        d[k] = d[k] + x[i]
        i += 2
    return d


def caught(d):
    for k in d:
        try:
            d[k] = 1 // d[k]
        except ZeroDivisionError:
            d[k] = -1
    return d


def put(d, k, v):
    d[k] = v


def by_a_call(d):
    for k in d:
        put(d, k, d[k] * 2.0)
    return d


class Model:
    def __init__(self, **values):
        self.__dict__.update(values)


def of_an_object(model):
    for k in model.__dict__:
        model.__dict__[k] = model.__dict__[k] * 2.0
        model.b = model.b + 1.0
    return sorted(model.__dict__.items())


def by_names(model):
    values = vars(model)
    for k, v in values.items():
        values[k] = v * 2.0 + model.b
    return sorted(values.items()), model.b


def three():
    return {"w": 1.0, "b": -2.0, "s": 2.5}


SHARED = three()
CASES = [
    (descend, (parameters(), slopes()), [(three(), three()), (slopes(), parameters()), ({}, {}), (SHARED, SHARED)]),
    (descend_in_place, (parameters(), slopes()), [(three(), three()), (parameters(), {"w": 1.0})]),
    (momentum, (parameters(), slopes(), slopes()), [(three(), three(), three()), (SHARED, three(), SHARED),
                                                    (SHARED, SHARED, three())]),
    (first_moments, (parameters(), slopes(), {}), [(parameters(), slopes(), slopes()), (SHARED, slopes(), SHARED)]),
    (later_rounds_see, (three(),), [({"b": 1.0},), ({"b": np.ones(2), "c": 2},)]),
    (numbered, (parameters(),), [(three(),), ({"a": 1, "b": 2},)]),
    (integer_keys, ({0: 1.0, 1: 2.0, 7: 3.0},), [({1: 1.0},), ({0: np.ones(3), 1: 2.0},), ({0: 1.0},)]),
    (nested, (three(),), [({"a": 1.0},), ({"a": np.ones(2), "b": 1.0},)]),
    (to_a_limit, (three(), 100.0), [(three(), 1.0), (three(), 4.5)]),
    (added, (three(), 1), [(three(), 3), (dict(three(), new=2.0), 3)]),
    (renewed, (three(), "s"), [(three(), "w"), (three(), "gone")]),
    (of_two, (three(), {}), [(three(), three()), (SHARED, SHARED)]),
    (equal_keys, ({1: 1.0, 2: 2.0},), [({True: 1.0, 2.0: 2.0},), ({1: 1.0},)]),
    (raising, (three(), np.arange(8.0), 0), [(three(), np.arange(8.0), 5), (three(), np.arange(3.0), 0)]),
    (caught, ({"a": 1, "b": 2, "c": 3},), [({"a": 1, "b": 0, "c": 3},), ({"a": 0, "b": 0},)]),
    (by_a_call, (three(),), [({"a": np.ones(3), "b": 1.0},)]),
    (of_an_object, (Model(w=1.0, b=2.0),), [(Model(w=1.0, b=2.0, c=4.0),)]),
    (by_names, (Model(w=1.0, b=2.0),), [(Model(w=1.0, b=2.0, c=4.0),)]),
]

test_same_answers = same_answers(CASES, PYTHON)
test_in_machine_code = same_answers(CASES[:4])
test_nothing_breaks = nothing_breaks([case for case in CASES if case[0] in (
    descend, descend_in_place, momentum, numbered, integer_keys, nested, to_a_limit, raising)])


@pytest.mark.parametrize("f", [descend, descend_in_place])
def test_a_dict_that_is_also_read(f):
    """One dict for both: an entry of its own, in which the dict that is read is the one that changes."""
    d = parameters()
    check(f, d, d, config=PYTHON, others=[(parameters(), slopes())])
