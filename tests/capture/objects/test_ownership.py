"""Stores into objects of earlier segments: they may be delayed or dropped only if the frame alone has the object."""

import collections
import types

import numpy as np
import pytest

import pijit
from tests.harness import check, kernel_count, mode_config


class Box:
    def __init__(self, w, gain):
        self.w, self.gain = w, gain

    def bump(self, k):
        self.gain = self.gain + k
        return self.gain


class Pair:
    """Made by captured code, with an object in it that it made as well."""

    def __init__(self, gain):
        self.box, self.gain = Box(1.0, gain), gain

    def bump(self, k):
        self.box.gain = self.box.gain + k
        return self.box.gain


def of_argument(names, x, s, box):
    """Captured code replaces an argument by an object of its own. Both reach the same instruction."""
    for _ in range(3):
        box = Box(x * 0.5, box.bump(s))
        try:
            x[1:] = x[:-1]
        except ValueError:
            box.w = None
    return box.gain, x


def of_other_code(names, x, s, box):
    """In one iteration, bytecode gives the variable an object that others have."""
    for i in range(9):
        y = x * 0.5
        box = names.make(y * s, box.gain + box.bump(s))
        names.swap(i)
        y = y + box.bump(s)
    return box.gain, y


def in_two_variables(names, x, s, box):
    twin = box
    for i in range(9):
        y = x * 0.5
        box = names.make(y * s, box.gain + box.bump(s))
        twin = names.make_alone(y, twin.bump(s))
        names.swap(i)
        y = y + box.bump(s) + twin.bump(0.25) + box.bump(s)
    return box.gain, twin.gain, y


def of_parts(names, x, s, pair):
    for i in range(9):
        y = x * 0.5
        pair = names.make_pair(pair.bump(s) + s)
        names.swap(i)
        y = y + pair.bump(s)
    return pair.gain, pair.box.gain, y


def known_while_others_write(names, x, s, box):
    """The segment writes the attribute of the same class in an argument, and reads it in its own object."""
    mine = names.make(x, 1.0)
    for i in range(9):
        y = x * 0.5
        mine = names.make(y, s + mine.gain)
        names.swap(i)
        box.gain = box.gain + s
        y = y + mine.gain
    return mine.gain, box.gain, y


def known_while_elements_are_written(names, x, s, box):
    listed, mine = [box, box], names.make(x, 1.0)
    for i in range(9):
        y = x * 0.5
        mine = names.make(y, s + mine.gain)
        names.swap(i)
        for one in listed:
            one.gain = one.gain + s
        y = y + mine.gain
    return mine.gain, box.gain, y


SITUATIONS = [of_argument, of_other_code, in_two_variables, of_parts, known_while_others_write,
              known_while_elements_are_written]


def names_for(kept):
    """Makers that are replaced for one iteration by functions that return the object that others have."""
    names = types.SimpleNamespace()

    def make(w, gain):
        return Box(w, gain)

    def make_pair(gain):
        return Pair(gain)

    def swap(i):
        other = 4 <= i < 5
        names.make = (lambda w, gain: kept) if other else make
        names.make_pair = (lambda gain: kept) if other else make_pair
    names.swap, names.make_alone = swap, make
    swap(0)
    return names


def answers(f, situation, calls=4):
    """What the calls return and what the object of the caller has afterwards."""
    found = []
    for _ in range(calls):
        kept = Pair(0.5) if situation is of_parts else Box(1.0, 0.5)
        found.append((f(names_for(kept), np.linspace(0.5, 1.5, 7), 0.25, kept), kept.gain, getattr(kept, "box", kept).gain))
    return repr(found)


@pytest.mark.parametrize("backend", ["python", "numba"])
@pytest.mark.parametrize("situation", SITUATIONS)
def test_stores_reach_objects_that_others_have(situation, backend):
    f = pijit.jit(situation, jit_config=mode_config({"backend": backend}))
    assert answers(f, situation) == answers(situation, situation)
    assert kernel_count(f) >= 1


Row = collections.namedtuple("Row", ["box", "gain"])


@pytest.mark.parametrize("kind", ["plain", "in_parts", "in_rows"])
def test_objects_of_the_frame_alone_are_taken_as_such(kind):
    """The guard holds where nothing else has the object: in two variables, in another object, on the operand stack."""
    def plain(x, s, say):
        box = Box(x, 0.5)
        for _ in range(8):
            twin = box
            say()
            y = x * s + box.bump(s) + twin.gain
            box = Box(y, box.gain + say(box.gain))
        return y

    def in_parts(x, s, say):
        pair = Pair(0.5)
        for _ in range(8):
            say()
            y = x * s + pair.bump(s) + pair.box.gain
            pair = Pair(pair.gain * 0.5 + say(pair.gain))
        return y
    def in_rows(x, s, say):
        row = Row(Box(1.0, 0.5), 0.5)
        for _ in range(8):
            twin = row.box
            say()
            y = x * s + row.box.bump(s) + twin.gain
            row = Row(Box(y, row.gain * 0.5), say(row.gain))
        return y
    f = {"plain": plain, "in_parts": in_parts, "in_rows": in_rows}[kind]
    fast = pijit.jit(f, jit_config=mode_config({}))
    said = []

    def say(*values):
        said.append(values)
        globals()  # a break: it is not captured
        return len(values) * 0.5
    wanted = f(np.ones(5), 0.25, say)
    told, said[:] = said[:], []
    for _ in range(3):
        assert repr(fast(np.ones(5), 0.25, say)) == repr(wanted)
    assert said == told * 3
    info = pijit.info(fast)
    assert kernel_count(fast) >= 1
    assert [miss for miss in info.exits.misses if "in the frame" in miss.guard] == []


class Parts:
    __slots__ = ("a", "b")

    def __init__(self, a, b):
        self.a, self.b = a, b


def shown_in_a_loop(x, s, flag):
    point = Parts(x, s)
    for i in range(1, len(x) - 1):
        for j in range(3):
            s = True
            if (x < s).any():
                del point[0]
        if flag:
            missing.append(i)  # noqa: F821


def shown_after_stores(x, s, flag):
    point = Parts(x, s)
    for i in range(4):
        point.b = point.b + 1.0
        for j in range(3):
            if (x < s).any():
                s = s - hash(point) % 1
        if flag:
            s = s + point.b
    return s, point.b


@pytest.mark.parametrize("f", [shown_in_a_loop, shown_after_stores], ids=lambda f: f.__name__)
@pytest.mark.parametrize("flag", [True, False])
@pytest.mark.parametrize("s", [0.5, -9.0, 9.0])
def test_objects_that_bytecode_has_taken_on_one_path_only(f, flag, s):
    """Where the paths meet the object is read-only. On the way there it was written."""
    check(f, np.array([0.5, -1.25, 3.0, 0.0, 0.5]), s, flag)
