"""Operations that make Python objects or read them."""

from __future__ import annotations

from typing import Dict

from pijit.core.graph.ops.info import ANSWERS, BAD_INDEX, BOXED, MAKES, OBJECTS, SEARCHES, WORDS, Fact, OpInfo

ENTRY_PARTS = ("entry_key", "entry_value")
"""The operations that read the key and the value of an entry."""

ROWS: Dict[str, OpInfo] = {
    # new objects; the values ("v") are as those of effects.py
    "new_tuple": OpInfo("v*", "a new tuple of the values", facts=Fact.NEEDS_GIL | Fact.COSTS_NOTHING, calls=MAKES),
    "new_list": OpInfo("v*", "a new list of the values",
        facts=Fact.NEEDS_GIL | Fact.MAKES_CONTAINER | Fact.COSTS_NOTHING, calls=MAKES),
    "new_dict": OpInfo("v*", "a new dict; the operands are keys and values in turn, keys are exact ints and strings",
        facts=Fact.NEEDS_GIL | Fact.MAKES_CONTAINER | Fact.COSTS_NOTHING, calls=MAKES),
    "new_set": OpInfo("v*", "a new set of the values, which are numbers or strings",
        facts=Fact.NEEDS_GIL | Fact.MAKES_CONTAINER, calls=MAKES),
    "new_slice": OpInfo("v v v", "a new slice of start, stop and step, each an integer or None", facts=Fact.NEEDS_GIL,
        calls=MAKES),
    "new_instance": OpInfo("s o o v*",
        "the object at the address in the WORD, or where it is 0 a new instance of a plain class whose attributes of "
        "these names have these values",
        facts=Fact.NEEDS_GIL, calls=MAKES),
    "changed_instance": OpInfo("s o o v*", "the same; the object at the address gets these attributes first",
        facts=Fact.NEEDS_GIL, calls=MAKES),
    "new_object": OpInfo("o o v*",
        "what a class of C code makes of the values, the last ones by keyword; the second operand is the tuple of "
        "their names",
        facts=Fact.NEEDS_GIL, calls=MAKES),
    "new_function": OpInfo("o o o o o o o*",
        "a new function: its code, globals, qualified name, defaults, keyword defaults and annotations, each None "
        "where there are none, and its cells",
        facts=Fact.NEEDS_GIL, calls=MAKES),
    "new_cell": OpInfo("v", "a new cell with this content", facts=Fact.NEEDS_GIL, calls=MAKES),
    "bound_method": OpInfo("o o", "the method of a list, dict, set or deque of this name as an object",
        facts=Fact.NEEDS_GIL, calls=MAKES),
    "box": OpInfo("v", "a number as an object", facts=Fact.NEEDS_GIL, calls=MAKES),
    "tuple_of": OpInfo("o", "a new tuple of a list's items; exits when there is no memory", facts=OBJECTS),
    "origin": OpInfo("o", "WORD: the address of an object that the launcher holds"),
    # lists that nobody has yet
    "collect": OpInfo("o v",
        "append to a list that was made here and that nobody has yet: an exit rebuilds it; exits "
        "when there is no memory",
        facts=OBJECTS, calls=BOXED, runtime="append"),
    "collect_pair": OpInfo("o o v", "dict[key] = value of a dict that nobody has yet, as collect", facts=OBJECTS,
        calls=BOXED, runtime="store_key"),
    "collect_member": OpInfo("o v", "set.add(value) of a set that nobody has yet, as collect", facts=OBJECTS,
        calls=BOXED, runtime="set_add"),
    # reads of containers at the time of the operation. Each exits before it has an effect if the item is missing, or is
    # not exactly of the result's type
    "length": OpInfo("o", "len(list, tuple, dict or set) as a py int", facts=OBJECTS, calls=ANSWERS),
    "list_size": OpInfo("o", "WORD: how many items a list, tuple, dict, set, string or bytes has now", facts=OBJECTS),
    "list_item": OpInfo("o s",
        "the scalar at a WORD index of a list; exits when it is out of range, or is not of the result's type",
        facts=OBJECTS, why_exit=BAD_INDEX),
    "load_item": OpInfo("o s", "list[index] or tuple[index], the index being a WORD",
        facts=OBJECTS | Fact.FINDS_OBJECT),
    "load_attr": OpInfo("o o", "object.name, the name being an object; exits where reading it runs code",
        facts=OBJECTS | Fact.FINDS_OBJECT),
    "load_key": OpInfo("o o", "dict[key], the key being an exact int or string", facts=OBJECTS | Fact.FINDS_OBJECT),
    "load_int": OpInfo("o s", "dict[key], the key being a py int", facts=OBJECTS | Fact.FINDS_OBJECT),
    "get_key": OpInfo("o o v", "dict.get(key, value)", facts=OBJECTS | Fact.FINDS_OBJECT | Fact.GIVES_DEFAULT),
    "get_int": OpInfo("o s v", "dict.get(key, value), the key being a py int",
        facts=OBJECTS | Fact.FINDS_OBJECT | Fact.GIVES_DEFAULT),
    "deque_item": OpInfo("o s", "deque[index], the index being a WORD", facts=OBJECTS | Fact.FINDS_OBJECT),
    "has_key": OpInfo("o o", "FLAG: key in dict or set",
        facts=OBJECTS, why_exit="a key is missing, or its value of another type"),
    "find_item": OpInfo("o v",
        "WORD: where a list or tuple has a value first, or -1; exits when it meets an item that is neither a number "
        "nor a string",
        facts=OBJECTS, calls=SEARCHES),
    "count_items": OpInfo("o v", "WORD: how many items of a list or tuple equal a value; exits as find_item",
        facts=OBJECTS, calls=SEARCHES),
    # entries of dicts and sets
    "next_entry": OpInfo("o s", "WORD: the position after the next entry of a dict or set, or 0", facts=OBJECTS,
        calls=ANSWERS),
    "entry_key": OpInfo("o s", "the key of the entry before a position that next_entry gave",
        facts=OBJECTS | Fact.FINDS_OBJECT),
    "entry_value": OpInfo("o s", "the value of the entry before a position that next_entry gave",
        facts=OBJECTS | Fact.FINDS_OBJECT),
    "taken_entry": OpInfo("o", "WORD: the position after the entry that dict.popitem or set.pop takes, or 0",
        facts=OBJECTS, calls=ANSWERS),
    # checks
    "has_class": OpInfo("o o", "FLAG: the class of the first object is the second one", facts=OBJECTS),
    "lacks_own": OpInfo("o o", "FLAG: an object has no attribute of this name in a dict of its own", facts=OBJECTS),
    "plain_items": OpInfo("o",
        "exits unless a list, or a dict as keys, has numbers, strings, arrays, and rows of these",
        facts=OBJECTS, calls=WORDS),
    "even_rows": OpInfo("o",
        "exits unless the rows of a list have one length, and arrays in it one shape, at each depth",
        facts=OBJECTS, calls=WORDS),
    "hold": OpInfo("o", "the object lives as long as the kernel runs; exits where a list has what ends noticeably",
        facts=OBJECTS),
    # strings and bytes
    "char_code": OpInfo("o s", "the code point at a WORD index that is inside of a string, as a py int",
        facts=OBJECTS, why_exit=BAD_INDEX, calls=ANSWERS),
    "char_at": OpInfo("o s", "the string of that character", facts=OBJECTS, why_exit=BAD_INDEX),
    "byte_at": OpInfo("o s", "bytes[index] or bytearray[index] as a py int; exits if it is out of range",
        facts=OBJECTS, why_exit=BAD_INDEX),
    "same_text": OpInfo("o o", "FLAG: two strings are equal", facts=OBJECTS),
    "text_add": OpInfo("o o", "the sum of two strings", facts=OBJECTS),
    "has_text": OpInfo("o o", "FLAG: the second string is in the first; exits when there is no memory", facts=OBJECTS),
}
