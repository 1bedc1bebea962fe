"""Functions of itertools, and ``reversed`` of a list, as Python generators that loops inline.

None of the generators has a global or a free variable, so a generator can be made wherever a kernel exits. The
parameter ``R`` receives ``range``. Type checkers do not see that the first iteration binds a variable which later
iterations read.
"""

from __future__ import annotations

import functools
from types import CodeType
from typing import Any, Callable, Dict, List, Tuple, cast


def _added_up(items: Any) -> Any:
    begun = False
    for item in items:
        if begun:
            total = total + item  # type: ignore[has-type]  # noqa: F821
        else:
            begun, total = True, item
        yield total


def _folded(items: Any, function: Any) -> Any:
    begun = False
    for item in items:
        if begun:
            total = function(total, item)  # type: ignore[has-type]  # noqa: F821
        else:
            begun, total = True, item
        yield total


def _added_up_from(items: Any, total: Any) -> Any:
    yield total
    for item in items:
        total = total + item
        yield total


def _folded_from(items: Any, function: Any, total: Any) -> Any:
    yield total
    for item in items:
        total = function(total, item)
        yield total


def _chained_from(parts: Any) -> Any:
    for part in parts:
        for item in part:
            yield item


def _cycled(items: Any) -> Any:
    while True:
        for item in items:
            yield item


def _repeated(value: Any) -> Any:
    while True:
        yield value


def _repeated_times(value: Any, numbers: Any) -> Any:
    for _ in numbers:
        yield value


def _counted(number: Any, step: Any) -> Any:
    while True:
        yield number
        number = number + step


def _first(pairs: Any) -> Any:
    for _, item in pairs:
        yield item


def _sliced(pairs: Any, skipped: Any, step: Any) -> Any:
    for _, item in pairs:
        if skipped:
            skipped = skipped - 1
            continue
        skipped = step - 1
        yield item


def _paired(items: Any) -> Any:
    begun = False
    for item in items:
        if begun:
            yield previous, item  # type: ignore[has-type]  # noqa: F821
        begun, previous = True, item  # noqa: F841


def _starred(items: Any, function: Any) -> Any:
    for item in items:
        yield function(*item)


def _while_true(items: Any, function: Any) -> Any:
    for item in items:
        if not function(item):
            break
        yield item


def _from_false(items: Any, function: Any) -> Any:
    dropping = True
    for item in items:
        if dropping and function(item):
            continue
        dropping = False
        yield item


def _false(items: Any, function: Any) -> Any:
    for item in items:
        if not function(item):
            yield item


def _selected(pairs: Any) -> Any:
    for item, chosen in pairs:
        if chosen:
            yield item


def _backwards(items: Any, position: Any, length_of: Any) -> Any:
    while 0 <= position < length_of(items):
        item = items[position]
        position = position - 1
        yield item


def _codes(*functions: Callable[..., Any]) -> List[CodeType]:
    return [function.__code__ for function in functions]


ADDED_UP, FOLDED, ADDED_UP_FROM, FOLDED_FROM = _codes(_added_up, _folded, _added_up_from, _folded_from)
CHAINED_FROM, CYCLED, REPEATED, REPEATED_TIMES = _codes(_chained_from, _cycled, _repeated, _repeated_times)
COUNTED, FIRST_ONES, SLICED, PAIRED, STARRED = _codes(_counted, _first, _sliced, _paired, _starred)
WHILE_TRUE, FROM_FALSE, FALSE_ONES, SELECTED = _codes(_while_true, _from_false, _false, _selected)
BACKWARDS, = _codes(_backwards)


def _generator(name: str, parameters: List[str], lines: List[str]) -> CodeType:
    """The code of a function whose lines are nested loops, each inside the one before."""
    source = ["def %s(%s):" % (name, ", ".join(parameters))]
    source += ["    %s%s" % (" " * depth, line) for depth, line in enumerate(lines)]
    made: Dict[str, Any] = {}
    exec("\n".join(source), made)
    return cast(CodeType, made[name].__code__)


MOST_CHAINED = 4


@functools.lru_cache(maxsize=None)
def chained(count: int) -> CodeType:
    """``chain`` of ``count`` iterables, each of which is asked for an iterator when its turn comes."""
    names = ["a%d" % k for k in range(count)]
    body = "\n".join("    for item in %s:\n        yield item" % name for name in names)
    made: Dict[str, Any] = {}
    exec("def chain(%s):\n%s" % (", ".join(names), body or "    return\n    yield"), made)
    return cast(CodeType, made["chain"].__code__)


@functools.lru_cache(maxsize=None)
def product_of(ranges: Tuple[bool, ...]) -> CodeType:
    """``product`` of pools. A range is given by start, stop and step; any other pool is iterated again and again."""
    names = ["a%d, b%d, c%d" % (k, k, k) if is_range else "a%d" % k for k, is_range in enumerate(ranges)]
    lines = ["for i%d in %s:" % (k, "R(%s)" % name if is_range else name)
             for k, (name, is_range) in enumerate(zip(names, ranges))]
    items = ", ".join("i%d" % k for k in range(len(ranges)))
    return _generator("product", ["R"] + names, lines + ["yield (%s,)" % items])


@functools.lru_cache(maxsize=None)
def elements_of(axes: int) -> CodeType:
    """``ndenumerate`` of an array ``x`` with this number of axes, whose lengths are given."""
    lines = ["for i%d in R(n%d):" % (axis, axis) for axis in range(axes)]
    index = "".join("i%d, " % axis for axis in range(axes))
    names = ["n%d" % axis for axis in range(axes)]
    return _generator("elements", ["R", "x"] + names, lines + ["yield (%s), x[%s]" % (index, index)])


@functools.lru_cache(maxsize=None)
def chosen_from(count: int, ordered: bool, item: str) -> CodeType:
    """``combinations`` of ``count`` of ``n`` items, or ``permutations`` if ``ordered``.

    ``item`` is the expression for the item at a position: of a pool ``P``, or of a range with start ``S`` and step
    ``D``.
    """
    lines = []
    for k in range(count):
        if ordered:
            lines.append("for i%d in R(n):" % k)
            lines += ["if i%d != i%d:" % (k, other) for other in range(k)]
        else:
            lines.append("for i%d in R(%s, n):" % (k, "i%d + 1" % (k - 1) if k else "0"))
    items = ", ".join(item % ("i%d" % k) for k in range(count))
    return _generator("chosen", ["R", "n", "P", "S", "D"], lines + ["yield (%s,)" % items])


@functools.lru_cache(maxsize=None)
def zipped_with(kinds: Tuple[str, ...]) -> CodeType:
    """``zip`` of iterables ("each"), of values that are repeated ("repeat"),
    and of pools whose items come in an endless cycle ("cycle")."""
    each = ["i%d" % k for k, kind in enumerate(kinds) if kind == "each"]
    cycles = [k for k, kind in enumerate(kinds) if kind == "cycle"]
    items = ["a%d[k%d]" % (k, k) if kind == "cycle" else "a%d" % k if kind == "repeat" else "i%d" % k
             for k, kind in enumerate(kinds)]
    more = ["a%d" % k for k, kind in enumerate(kinds) if kind != "each"] + ["n%d" % k for k in cycles]
    lines = ["def zipped(%s):" % ", ".join(["together"] + more)]
    lines += ["    k%d = 0" % k for k in cycles]
    lines += ["    for (%s,) in together:" % ", ".join(each), "        yield (%s)" % ", ".join(items)]
    lines += ["        k%d = k%d + 1 if k%d + 1 < n%d else 0" % (k, k, k, k) for k in cycles]
    made: Dict[str, Any] = {}
    exec("\n".join(lines), made)
    return cast(CodeType, made["zipped"].__code__)
