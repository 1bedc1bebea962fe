"""Effects on Python objects.

The value ("v") is an array, an object, or a scalar, which becomes the exact Python or NumPy scalar. Each operation
exits before it has an effect if the effect is impossible: there is no memory, or user code would run.
"""

from __future__ import annotations

from typing import Dict

from pijit.core.graph.ops.info import BAD_INDEX, BOXED, CHANGES_OBJECTS, OBJECTS, WORDS, Fact, OpInfo

_KEEPS_ALL = Fact.EFFECT | OBJECTS
_KEEPS_ITEMS = _KEEPS_ALL | Fact.DROPS_REFERENCES

ROWS: Dict[str, OpInfo] = {
    # attributes, globals and cells
    "store_attr": OpInfo("o o v", "object.name = value, the name being an object; exits unless the class is plain",
        facts=_KEEPS_ITEMS, report_as="store of an attribute", calls=BOXED),
    "plain_store_attr": OpInfo("o o v", "object.__setattr__(object, name, value), as store_attr, whatever "
        "__setattr__ the class has", facts=_KEEPS_ITEMS, report_as="store of an attribute", calls=BOXED),
    "delete_attr": OpInfo("o o", "del object.name, as store_attr; exits when there is none",
        facts=CHANGES_OBJECTS, report_as="del of an attribute", calls=WORDS),
    "store_global": OpInfo("o v", "globals()[name] = value, the name being an object",
        facts=_KEEPS_ITEMS | Fact.NEEDS_FRAME, report_as="store of a global", calls=BOXED),
    "delete_global": OpInfo("o", "del globals()[name], the name being an object; exits when there is none",
        facts=CHANGES_OBJECTS | Fact.NEEDS_FRAME, report_as="del of a global", calls=WORDS),
    "store_cell": OpInfo("o v", "the cell's content becomes the value",
        facts=_KEEPS_ITEMS, report_as="store of a variable of an outer function", calls=BOXED),
    "delete_cell": OpInfo("o", "the cell has no content any more; exits when it had none",
        facts=CHANGES_OBJECTS, report_as="del of a variable of an outer function", calls=WORDS),
    # lists
    "append": OpInfo("o v", "list.append(object, value); exits when there is no memory",
        facts=_KEEPS_ALL | Fact.CANNOT_FAIL, report_as="list.append", calls=BOXED),
    "insert": OpInfo("o s v", "list.insert(index, value), the index being a WORD",
        facts=_KEEPS_ALL | Fact.CANNOT_FAIL, report_as="list.insert", calls=BOXED),
    "extend": OpInfo("o o", "list.extend(items), the items being a list or tuple",
        facts=_KEEPS_ALL | Fact.CANNOT_FAIL, report_as="list.extend", calls=WORDS),
    "reverse": OpInfo("o", "list.reverse()", facts=_KEEPS_ALL | Fact.CANNOT_FAIL, report_as="list.reverse",
        calls=WORDS),
    "sort": OpInfo("o s", "list.sort(reverse=a WORD); exits unless all items are numbers of one class, or strings",
        facts=CHANGES_OBJECTS, report_as="list.sort", calls=WORDS),
    "store_item": OpInfo("o s v", "list[index] = value, the index being a WORD; exits when it is out of range",
        facts=CHANGES_OBJECTS, report_as="store of a list's item", calls=BOXED),
    "delete_item": OpInfo("o s", "del list[index], the index being a WORD; exits when it is out of range",
        facts=CHANGES_OBJECTS, report_as="del of a list's item", calls=WORDS),
    "store_slice": OpInfo("o o o", "list[slice] = items, a list or tuple; exits where it would raise",
        facts=CHANGES_OBJECTS, report_as="store of a part of a list", calls=WORDS),
    "delete_slice": OpInfo("o o", "del list[slice]; exits where it would raise",
        facts=CHANGES_OBJECTS, report_as="del of a part of a list", calls=WORDS),
    "list_take": OpInfo("o s", "del list[index], the index being a WORD, of an item that is there and may go",
        facts=CHANGES_OBJECTS, report_as="list.pop", calls=WORDS),
    "pop_item": OpInfo("o s", "list.pop(index), the index being a WORD",
        facts=CHANGES_OBJECTS | Fact.FINDS_OBJECT, report_as="list.pop"),
    "clear_list": OpInfo("o", "list.clear()", facts=CHANGES_OBJECTS, report_as="list.clear", calls=WORDS),
    # dicts
    "store_key": OpInfo("o o v", "dict[key] = value, the key being an exact int or string",
        facts=_KEEPS_ITEMS, report_as="store of a dict's entry", calls=BOXED),
    "store_int": OpInfo("o s v", "dict[key] = value, the key being a py int",
        facts=_KEEPS_ITEMS, report_as="store of a dict's entry", calls=BOXED),
    "delete_key": OpInfo("o o", "del dict[key]; exits when it is missing",
        facts=CHANGES_OBJECTS, report_as="del of a dict's entry", calls=WORDS),
    "discard_key": OpInfo("o o", "del dict[key] where there is such a key",
        facts=CHANGES_OBJECTS, report_as="dict.pop", calls=WORDS),
    "pop_key": OpInfo("o o", "dict.pop(key)", facts=CHANGES_OBJECTS | Fact.FINDS_OBJECT, report_as="dict.pop"),
    "pop_default": OpInfo("o o v", "dict.pop(key, value)",
        facts=CHANGES_OBJECTS | Fact.FINDS_OBJECT | Fact.GIVES_DEFAULT, report_as="dict.pop"),
    "setdefault": OpInfo("o o v", "dict.setdefault(key, value)",
        facts=CHANGES_OBJECTS | Fact.FINDS_OBJECT, report_as="dict.setdefault"),
    "update": OpInfo("o o", "dict.update(dict)", facts=CHANGES_OBJECTS, report_as="dict.update", calls=WORDS),
    "clear_dict": OpInfo("o", "dict.clear()", facts=CHANGES_OBJECTS, report_as="dict.clear", calls=WORDS),
    "take_entry": OpInfo("o", "takes out the entry that taken_entry gave; exits where globals are in the dict",
        facts=CHANGES_OBJECTS, report_as="popitem, or set.pop", calls=WORDS),
    # sets
    "set_add": OpInfo("o v", "set.add(value), the value being a number or a string",
        facts=_KEEPS_ALL, report_as="set.add", calls=BOXED),
    "set_discard": OpInfo("o v", "set.discard(value) of such a value", facts=CHANGES_OBJECTS, report_as="set.discard",
        calls=BOXED),
    "set_remove": OpInfo("o v", "set.remove(value) of such a value; exits when it is missing",
        facts=CHANGES_OBJECTS, report_as="set.remove", calls=BOXED),
    "clear_set": OpInfo("o", "set.clear()", facts=CHANGES_OBJECTS, report_as="set.clear", calls=WORDS),
    # deques and heaps
    "deque_append": OpInfo("o v", "deque.append(value); exits where an item has to go that may be noticed",
        facts=CHANGES_OBJECTS, report_as="deque.append", calls=BOXED),
    "deque_appendleft": OpInfo("o v", "deque.appendleft(value); exits as deque_append",
        facts=CHANGES_OBJECTS, report_as="deque.appendleft", calls=BOXED),
    "deque_take": OpInfo("o s", "del deque[index], the index being 0 or -1, of an item that is there",
        facts=CHANGES_OBJECTS, report_as="deque.pop", calls=WORDS),
    "deque_drop": OpInfo("o s", "as deque_take; exits where there is none, or its end may be noticed",
        facts=CHANGES_OBJECTS, report_as="deque.pop", calls=WORDS),
    "heap_push": OpInfo("o v", "heapq.heappush(list, value); exits where items do not compare plainly",
        facts=CHANGES_OBJECTS, report_as="heapq.heappush", calls=BOXED),
    "heap_drop": OpInfo("o", "heapq.heappop(list) without its answer; exits also where its end may show",
        facts=CHANGES_OBJECTS, report_as="heapq.heappop", calls=WORDS),
    # other effects
    "host_call": OpInfo("v*",
        "function(*values), the last ones by keyword; only graphs that become Python source have such calls",
        attrs=("function", "names"), facts=_KEEPS_ALL, report_as="call of Python"),
    # bytes and random numbers
    "store_byte": OpInfo("o s s", "bytearray[index] = value, both WORDs; exits when one is out of range",
        facts=_KEEPS_ALL, report_as="store of a byte", why_exit=BAD_INDEX, calls=WORDS),
    "draw": OpInfo("o s*",
        "a number from a random generator by the method of this number in graph/draws.py; exits where that raises, "
        "and while another thread draws",
        attrs=("method",), facts=CHANGES_OBJECTS | Fact.IS_DRAW, report_as="draw of a random number"),
    "draw_array": OpInfo("o s*",
        "a new array in C order of random numbers, as draw; the last ``ndim`` operands are its shape; exits also on "
        "negative sizes, and where there is no memory",
        attrs=("method", "ndim"),
        facts=CHANGES_OBJECTS | Fact.IS_DRAW | Fact.MAKES_ARRAY, report_as="draw of random numbers"),
}
