"""Reports of effects on objects that the function did not create, in the terms of a Python program.

`capture_report` adds them to its record.
"""

from __future__ import annotations

from typing import Any, Dict, Iterable, List, Sequence, Tuple

from pijit.core.break_causes import line_of
from pijit.core.capture.build.segment import Captured
from pijit.core.capture_records import EffectReport
from pijit.core.graph.ops import EFFECTS

ELEMENTS = "store of array elements"
ITEM, ENTRY = "store of a list's item", "store of a dict's entry"

WORDS: Dict[str, str] = {
    "store": ELEMENTS, "ufunc_into": ELEMENTS, "assign": ELEMENTS, "scatter": ELEMENTS, "put_mask": ELEMENTS,
    "add_at": "np.add.at", "perform": "store of array elements by NumPy",
    "store_attr": "store of an attribute", "store_cell": "store of a variable of an outer function",
    "store_global": "store of a global", "store_item": ITEM, "store_key": ENTRY, "store_int": ENTRY,
    "store_byte": "store of a byte", "delete_item": "del of a list's item",
    "delete_attr": "del of an attribute", "delete_global": "del of a global",
    "delete_cell": "del of a variable of an outer function",
    "store_slice": "store of a part of a list", "delete_slice": "del of a part of a list",
    "delete_key": "del of a dict's entry",
    "append": "list.append", "insert": "list.insert", "extend": "list.extend", "reverse": "list.reverse",
    "sort": "list.sort", "pop_item": "list.pop", "clear_list": "list.clear",
    "pop_key": "dict.pop", "pop_default": "dict.pop", "discard_key": "dict.pop",
    "setdefault": "dict.setdefault", "update": "dict.update", "clear_dict": "dict.clear",
    "set_add": "set.add", "set_discard": "set.discard", "set_remove": "set.remove", "clear_set": "set.clear",
    "draw": "draw of a random number", "list_take": "list.pop", "heap_push": "heapq.heappush",
    "heap_drop": "heapq.heappop",
    "deque_append": "deque.append", "deque_appendleft": "deque.appendleft", "deque_take": "deque.pop",
    "take_entry": "popitem, or set.pop",
    "deque_drop": "deque.pop",
    "STORE_ATTR": "store of an attribute", "DELETE_ATTR": "del of an attribute",
    "STORE_GLOBAL": "store of a global", "DELETE_GLOBAL": "del of a global",
    "STORE_NAME": "store of a global", "DELETE_NAME": "del of a global",
    "STORE_DEREF": "store of a variable of an outer function", "DELETE_DEREF": "del of a variable of an outer function",
    "STORE_SUBSCR": "store of an item", "DELETE_SUBSCR": "del of an item",
}
"""The effect of each operation of a graph, and of each instruction that stays bytecode, in words."""

UNTOLD = frozenset(["poll"])
"""Operations whose effects touch no object of the user's."""


def effect_reports(made: Iterable[Captured], instructions: Sequence[Any],
                   broken: Iterable[int]) -> Tuple[EffectReport, ...]:
    """The effects by line; each is reported once, with all kernels that have it."""
    places: Dict[Tuple[str, int, str], List[str]] = {}
    for captured in made:
        for op in (op for block in captured.graph.blocks for op in block.ops):
            if op.name in EFFECTS - UNTOLD:
                places.setdefault((op.origin.file, op.lineno, WORDS[op.name]), []).append("k%d" % captured.number)
    for index in broken:
        if instructions[index].opname in WORDS:
            what = WORDS[instructions[index].opname]
            places.setdefault(("", line_of(instructions, index), what), []).append("bytecode")
    return tuple(EffectReport(line, what, ", ".join(dict.fromkeys(where)), file)
                 for (file, line, what), where in sorted(places.items()))
