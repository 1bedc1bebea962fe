"""What a list is expected to hold is no certainty: objects whose end or conversion runs code of the user's."""

import numpy as np

from tests.harness import fail_unless_captured, jitted

X = np.arange(4.0)
seen = []


class Noted:
    def __del__(self):
        seen.append("end")


class Converted:
    def __array__(self, *args, **keywords):
        seen.append("converted")
        return np.arange(3.0)


def made_by(make):
    return eval("make[0]()")


def taken_out(rows, x):
    row = rows.pop()
    n = len(row)
    row = None
    seen.append(n)
    return x * 2.0 + 1.0, n


def put_together(make, x):
    parts = made_by(make)
    y = np.concatenate(parts)
    return y * 2.0 + 1.0, np.vstack(parts) + x[0]


def same_notes(f, calls):
    """As many calls of a function and of the jitted one, whose notes are the same as well."""
    g = jitted(f)
    for make in calls:
        answers = []
        for one in (f, g):
            del seen[:]
            value = one(*make())
            answers.append((repr(value), list(seen)))
        assert answers[0] == answers[1]


@fail_unless_captured()
def test_lists_that_are_taken_out_end_in_time():
    numbers = [lambda: ([[1, 2], [3, 4]], X)] * 3
    others = [lambda: ([[1, 2], [Noted(), 4]], X), lambda: ([[1], [Noted(), Noted()]], X)]
    same_notes(taken_out, numbers + others + numbers)


@fail_unless_captured()
def test_items_that_become_arrays_do_so_once():
    arrays = [lambda: ([lambda: [X, X]], X)] * 3
    others = [lambda: ([lambda: [Converted(), Converted()]], X), lambda: ([lambda: [np.arange(3.0), Converted()]], X)]
    same_notes(put_together, arrays + others + arrays)
