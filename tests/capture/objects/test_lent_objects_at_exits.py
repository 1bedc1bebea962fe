"""Exits inside of an inlined callee, after an effect: virtual objects of its callers leave once, and as they are."""

import numpy as np
import pytest

import pijit
from tests.harness import fail_unless_captured, jitted


class Point:
    def __init__(self, x, y):
        self.x, self.y = x, y


def described(value, names):
    """A value without its identity, but with that of the points in it."""
    if isinstance(value, (tuple, list)):
        return [described(one, names) for one in value]
    if isinstance(value, Point):
        return names.setdefault(id(value), len(names)), described(value.x, names), described(value.y, names)
    return value.tolist() if isinstance(value, np.ndarray) else value


def outcome(f, x, seen):
    try:
        result = f(x, seen)
    except (ZeroDivisionError, IndexError) as error:
        result = [type(error).__name__, str(error)]
    return described([result, seen], {})


def used_later(point, x, seen):
    seen.append(x[0])
    ratio = point.y / x[1]
    seen.append(ratio)
    return point.x + ratio


def one_point(x, seen):
    total = 0.0
    for k in range(6):
        point = Point(x[0] + k, x[1])
        total += used_later(point, x, seen) + point.x * point.y
    return total, x[3]


def kept_by_the_callee(point, x, seen):
    seen.append(x[0])
    ratio = 1.0 / x[1]
    seen.append(point)
    return ratio


def identity(x, seen):
    point, other = Point(x[0], 2.0), Point(x[1], 2.0)
    ratio = kept_by_the_callee(point, x, seen) * np.sqrt(x[2] * x[2] + 1.0) * x[0]
    return point, ratio, other, seen[-1] is point, point


def made_inside(point, x, seen):
    mine = Point(x[2], point.x)
    seen.append(x[0])
    ratio = mine.x / x[1] + point.y
    seen.append(mine.y)
    return ratio * mine.y


def two_makers(x, seen):
    point = Point(x[0] + 0.5, x[2])
    ratio = made_inside(point, x, seen) * np.sqrt(x[2] * x[2] + 1.0)
    return point, ratio, point.x * point.y


def outer(point, x, seen):
    mine = Point(point, 3.0)
    return made_inside(point, x, seen) + used_later(point, x, seen) * mine.y, mine


def two_levels(x, seen):
    point = Point(x[0] * 2.0, x[2] + 1.0)
    ratio, mine = outer(point, x, seen)
    return ratio, mine, mine.x is point, point.y * np.sqrt(x[2] * x[2] + 1.0)


def changed_before(point, x, seen):
    point.y = x[2] * 3.0
    seen.append(x[0])
    ratio = point.y / x[1]
    return point.x + ratio


def changes(x, seen):
    point = Point(x[0], 1.0)
    return changed_before(point, x, seen) * np.sqrt(x[2] * x[2] + 1.0), point, point.y


def sets(point, value):
    point.y = value


def changed_below(point, x, seen):
    sets(point, x[2] * 3.0)
    seen.append(x[0])
    ratio = point.y / x[1]
    return point.x + ratio


def changes_below(x, seen):
    point = Point(x[0], 1.0)
    return changed_below(point, x, seen) * np.sqrt(x[2] * x[2] + 1.0), point, point.y


def nested(point, x, seen):
    seen.append(x[0])
    return point.x.y / x[1] + point.y


def parts(x, seen):
    inner = Point(x[0], x[2])
    point = Point(inner, 4.0)
    ratio = nested(point, x, seen) * np.sqrt(x[2] * x[2] + 1.0)
    return point, inner, ratio, point.x is inner


INLINED = [one_point, two_makers, two_levels, parts]
CALLS = [(1.0, 2.0, 3.0, 4.0), (2.0, 4.0, 1.0, 0.0), (1.0, 0.0, 3.0, 4.0), (3.0, 5.0, 2.0, 1.0), (0.0, 0.0, 0.0, 0.0),
         (1.5, 0.5, 3.0, 4.0), (1.0, 2.0, 3.0)]


@pytest.mark.parametrize("f", INLINED + [identity, changes, changes_below])
def test_objects_are_made_once_with_their_attributes(f):
    fast = jitted(f)
    for _ in range(3):
        fast(CALLS[0], [])
    for call in CALLS + CALLS[::-1]:
        assert outcome(fast, call, []) == outcome(f, call, [])


@pytest.mark.parametrize("f", INLINED)
def test_the_callee_is_inlined(f):
    with fail_unless_captured():
        fast = jitted(f)
        for _ in range(3):
            fast(CALLS[0], [])
    report = pijit.explain(fast, CALLS[0], [])
    assert report.kernels and not report.breaks and not report.callees, str(report)
