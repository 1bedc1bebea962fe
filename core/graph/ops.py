"""Operations of the IR, one row each: operands, attributes, meaning, and whether it may take its exit.

Scalar operands of one operation already have the same type (explicit ``cast`` operations come before it). "exits"
means: the operation leaves through ``op.exit`` *before* any effect. It does so if Python or NumPy would raise, warn or
give a value that the result type cannot hold. An operation without an exit is known not to do this.
"""

from __future__ import annotations

from typing import Dict, NamedTuple, Tuple

from pijit.core.graph.dot_errors import DOT_REPORTS


class OpInfo(NamedTuple):
    """The properties that all operations of one name share."""

    operands: str
    attrs: Tuple[str, ...]
    effect: bool
    meaning: str


OPS: Dict[str, OpInfo] = {
    # scalars
    "const": OpInfo("", ("value",), False, "a scalar constant of the result's type"),
    "cast": OpInfo("s", (), False,
                   "C-like conversion to the result's dtype (bool: != 0); may exit if the value does not fit"),
    "same": OpInfo("s", (), False, "the same value under another family (py.float64 from np.float64 and so on)"),
    "add": OpInfo("ss", (), False, "a + b; integers exit on overflow unless raw; np floats exit when a non-finite "
                                   "result comes from finite operands or NaN appears"),
    "sub": OpInfo("ss", (), False, "a - b, as add"),
    "mul": OpInfo("ss", (), False, "a * b, as add"),
    "truediv": OpInfo("ss", (), False, "float or complex a / b; py exits on b == 0; np exits as add and on b == 0"),
    "floordiv": OpInfo("ss", (), False, "a // b as Python (floor); exits on b == 0 and on integer overflow; np as add"),
    "mod": OpInfo("ss", (), False, "a % b as Python (sign of b); exits like floordiv"),
    "and": OpInfo("ss", (), False, "a & b on integers or booleans"),
    "or": OpInfo("ss", (), False, "a | b"),
    "xor": OpInfo("ss", (), False, "a ^ b"),
    "shl": OpInfo("ss", (), False, "a << b; exits unless 0 <= b < 63 and the result fits (py)"),
    "shr": OpInfo("ss", (), False, "a >> b; exits when b < 0; b >= 64 gives the sign"),
    "neg": OpInfo("s", (), False, "-a; integers exit on the minimum"),
    "invert": OpInfo("s", (), False, "~a; logical not on np.bool_"),
    "abs": OpInfo("s", (), False,
                  "abs(a); integers exit on the minimum, complex numbers unless the size is finite and normal or 0"),
    "complex": OpInfo("ss", (), False, "the complex number with these floats as real and imaginary part"),
    "real": OpInfo("s", (), False, "the real part of a complex number"),
    "imag": OpInfo("s", (), False, "its imaginary part"),
    "infinite": OpInfo("s", (), False, "FLAG: a part of the complex number is infinite"),
    "not": OpInfo("s", (), False, "FLAG: not a (a is a FLAG)"),
    "truth": OpInfo("s", (), False, "FLAG: a != 0 (NaN is true)"),
    "compare": OpInfo("ss", ("operator",), False, "FLAG: a <operator> b, operator one of == != < <= > >="),
    "compare_size": OpInfo("s s", ("operator",), False,
                           "FLAG: abs(a) <operator> b of a complex number and a float; exits as abs"),
    "select": OpInfo("sss", (), False, "the second operand if the first, a FLAG, is true, else the third, of one type"),
    "flag": OpInfo("s", (), False, "a FLAG as a bool of the result's type (py.bool or np.bool)"),
    "libm": OpInfo("s*", ("function",), False,
                   "the process's libm function on float64; exits when the result is NaN or infinite and no "
                   "operand is (domain and range errors), and with an attribute ``finite`` always then"),
    "power": OpInfo("ss", ("by",), False,
                    "the process's pow on float64; exits where ``by``, python or numpy, may raise or warn, and "
                    "where the result is subnormal"),
    "iterator_part": OpInfo("i", ("path",), False,
                            "a WORD (by name) or the array (by number) of an iterator input, as it was when the "
                            "graph was entered; numbers before lead into nested iterators"),
    # arrays: facts and views; a view has the base's memory, and is made an ndarray object only when needed
    "dim": OpInfo("a", ("axis",), False, "WORD: shape[axis]"),
    "view": OpInfo("a s*", ("index",), False,
                   "basic indexing; ``index`` is a tuple with one entry per index item: 'i' (integer), 'n' (newaxis), "
                   "'e' (a full slice ':'), or 'sXYZ' where X, Y, Z are '-' (absent) or 'v' (a value) for start, stop, "
                   "step; the scalar operands (WORDs) follow in order. Exits on an integer out of range, step 0. "
                   "With an attribute ``inside`` integers are known to be from 0 on and in range"),
    "transpose": OpInfo("a", ("axes",), False, "view with permuted axes"),
    "reshape": OpInfo("a s*", ("unknown",), False,
                      "view of an array in C order with a size (a WORD) for each axis; the one of the axis ``unknown`` "
                      "is -1, if that is not None. Exits where the array has another number of elements"),
    "part": OpInfo("a", ("which",), False, "view of the 'real' or 'imag' parts of complex elements"),
    "load": OpInfo("a s*", (), False,
                   "np scalar: element at one WORD index per axis; exits when out of range; ``inside`` as in view; "
                   "else ``checks`` may tell by a letter per index what is not known: see passes/ranges.py"),
    "store": OpInfo("a s* s", (), True, "a[i...] = last operand (already of a's dtype); exits when out of range"),
    # arrays: computing; every array result is a new C- or K-ordered array as NumPy would allocate it
    "ufunc": OpInfo("*", ("ufunc", "types", "loop"), False,
                    "elementwise NumPy ufunc on arrays and scalars, broadcast; ``types`` is the loop's dtype "
                    "characters ('dd->d'); operands of another dtype are converted first; exits on shape mismatch "
                    "and when a floating-point flag is raised. Of an operator ``into`` says for each operand "
                    "whether NumPy computes into it where it is large, and ``ordered`` whether that shows in the "
                    "bits"),
    "ufunc_into": OpInfo("a *", ("ufunc", "types", "loop"), True,
                         "the same with out=first operand (overlap-safe, nothing written when it exits)"),
    "reduce": OpInfo("a", ("ufunc", "axis", "keepdims", "types"), False,
                     "ufunc.reduce over one axis or all (axis None); result is an array or np scalar; bits as NumPy"),
    "scan": OpInfo("a", ("ufunc",), False,
                   "ufunc.accumulate along the last axis, cast to the result's dtype first; exits when a "
                   "floating-point flag is raised"),
    "where": OpInfo("a *", ("types",), False,
                    "np.where(a, x, y) of bools, as ufunc; types is '?dd->d'; arrays are in C order, x and y have the "
                    "result's dtype where they are arrays; exits on shape mismatch"),
    "gather": OpInfo("a a*", ("types",), False,
                     "a[i, j...] with an integer array of one axis for each axis of a; the arrays are broadcast; "
                     "exits on an index out of range"),
    "assign": OpInfo("a *", (), True, "a[...] = array or scalar, broadcast and converted; exits on shape mismatch"),
    "alloc": OpInfo("s*", ("fill", "order"), False,
                    "new array of the WORD shape; fill None (empty), 0 or 1; exits on negative"),
    # objects; the values ("v") are as those of the effects below
    "new_tuple": OpInfo("v*", (), False, "a new tuple of the values"),
    "new_list": OpInfo("v*", (), False, "a new list of the values"),
    "new_dict": OpInfo("v*", (), False,
                       "a new dict; the operands are keys and values in turn, keys are exact ints and strings"),
    "new_instance": OpInfo("s o o v*", (), False,
                           "the object at the address in the WORD, or where it is 0 a new instance of a plain class "
                           "whose attributes of these names have these values"),
    "changed_instance": OpInfo("s o o v*", (), False,
                               "the same; the object at the address gets these attributes first"),
    "origin": OpInfo("o", (), False, "WORD: the address of an object that the launcher holds"),
    "bound_method": OpInfo("o o", (), False, "the method of a list, dict, set or deque of this name as an object"),
    "new_cell": OpInfo("v", (), False, "a new cell with this content"),
    "new_function": OpInfo("o o o o o o o*", (), False,
                           "a new function: its code, globals, qualified name, defaults, keyword defaults and "
                           "annotations, each None where there are none, and its cells"),
    "new_object": OpInfo("o o v*", (), False,
                         "what a class of C code makes of the values, the last ones by keyword; the second operand is "
                         "the tuple of their names"),
    "new_slice": OpInfo("v v v", (), False, "a new slice of start, stop and step, each an integer or None"),
    "new_set": OpInfo("v*", (), False, "a new set of the values, which are numbers or strings"),
    "box": OpInfo("v", (), False, "a number as an object"),
    "collect_pair": OpInfo("o o v", (), False, "dict[key] = value of a dict that nobody has yet, as collect"),
    "collect_member": OpInfo("o v", (), False, "set.add(value) of a set that nobody has yet, as collect"),
    "collect": OpInfo("o v", (), False, "append to a list that was made here and that nobody has yet: where an exit "
                                        "leads, it is made anew; exits when there is no memory"),
    "tuple_of": OpInfo("o", (), False, "a new tuple of a list's items; exits when there is no memory"),
    "list_size": OpInfo("o", (), False, "WORD: how many items a list, tuple, dict, set, string or bytes has now"),
    "list_item": OpInfo("o s", (), False, "the scalar at a WORD index of a list; exits when it is out of range, or is "
                                          "not of the result's type"),
    "elements": OpInfo("s*", ("shape",), False,
                       "a new array of this shape, in C order, of these numbers; exits when there is no memory"),
    "concatenate": OpInfo("a*", ("axis",), False,
                          "arrays of one dtype behind each other along an axis, as a new array in C order; exits "
                          "where the other lengths differ, or there is no memory"),
    "roll": OpInfo("a s", ("axis",), False,
                   "the array that np.roll makes along an axis, in C order, by so many places as are inside; exits "
                   "where it has no element, or there is no memory"),
    "listed": OpInfo("o s", ("kinds", "rows"), False,
                     "the array in C order of the numbers in a list, or in the lists or tuples in it if ``rows`` "
                     "is their class, which have that many items each; ``kinds`` are the numbers' types, one or "
                     "one for each item of a row; exits where one is of another"),
    # strings and bytes
    "char_code": OpInfo("o s", (), False, "the code point at a WORD index that is inside of a string, as a py int"),
    "char_at": OpInfo("o s", (), False, "the string of that character"),
    "byte_at": OpInfo("o s", (), False, "bytes[index] or bytearray[index] as a py int; exits if it is out of range"),
    "same_text": OpInfo("o o", (), False, "FLAG: two strings are equal"),
    "text_add": OpInfo("o o", (), False, "the sum of two strings"),
    "has_text": OpInfo("o o", (), False, "FLAG: the second string is in the first; exits when there is no memory"),
    # calls of library functions (graph/library.py)
    "invoke": OpInfo("v*", ("function", "keywords"), False,
                     "the library function on the objects of the values, the last ones by keyword; exits when it "
                     "raises or would warn, and when the result is not of the result's type"),
    "gufunc": OpInfo("a a*", ("function", "keywords", "ufunc", "loop", "types", "errors"), False,
                     "what the library function gives, by one run of a generalised ufunc's inner loop "
                     "(graph/gufuncs.py); exits on shapes that do not fit and where ``errors`` are raised or "
                     "reported"),
    "product": OpInfo("a a", ("function", "keywords"), False, "np.dot of two arrays; exits when it raises"),
    "dot": OpInfo("a a", ("function", "keywords", "ufunc", "loop", "types", "errors"), False,
                  "np.dot of two vectors without steps between their elements; exits on lengths that differ, and where "
                  "``errors`` are reported"),
    "item": OpInfo("o", ("index",), False,
                   "an item of a tuple that ``invoke`` gave; exits when it is not of the result's type"),
    "perform": OpInfo("a v*", ("function", "keywords"), True,
                      "a library function that writes its first argument and has no result; exits, having written "
                      "nothing, when it raises or would warn"),
    "rows": OpInfo("a a", (), False,
                   "a[index] of an array in C order with more axes than one and a vector of integers; exits where "
                   "one is out of range"),
    "shares": OpInfo("a a", (), False, "FLAG: two arrays may share memory"),
    "identical": OpInfo("a a", (), False, "FLAG: two arrays are one object"),
    "pick": OpInfo("a a", (), False, "a[mask] of two arrays in C order; exits unless their shapes are one"),
    "scatter": OpInfo("a a v", (), True,
                      "a[index] = value of vectors, the value being one too or a scalar, of a's dtype; exits, "
                      "having written nothing, as perform"),
    "put_mask": OpInfo("a a v", (), True, "a[mask] = value, as scatter, of arrays in C order"),
    "add_at": OpInfo("a a v", (), True,
                     "np.add.at(a, index, value) of arrays that are apart, as scatter; exits also when a flag is "
                     "raised"),
    # effects on Python objects; the value ("v") is an array, an object, or a scalar, which becomes the exact Python or
    # NumPy scalar. Each exits before it has an effect if it is impossible: no memory, or user code would run
    "store_byte": OpInfo("o s s", (), True, "bytearray[index] = value, both WORDs; exits when one is out of range"),
    "append": OpInfo("o v", (), True, "list.append(object, value); exits when there is no memory"),
    "store_item": OpInfo("o s v", (), True,
                         "list[index] = value, the index being a WORD; exits when it is out of range"),
    "store_attr": OpInfo("o o v", (), True,
                         "object.name = value, the name being an object; exits unless the class is plain"),
    "store_global": OpInfo("o v", (), True, "globals()[name] = value, the name being an object"),
    "store_cell": OpInfo("o v", (), True, "the cell's content becomes the value"),
    "list_take": OpInfo("o s", (), True,
                        "del list[index], the index being a WORD, of an item that is there and may go"),
    "delete_attr": OpInfo("o o", (), True, "del object.name, as store_attr; exits when there is none"),
    "delete_global": OpInfo("o", (), True, "del globals()[name], the name being an object; exits when there is none"),
    "delete_cell": OpInfo("o", (), True, "the cell has no content any more; exits when it had none"),
    "store_slice": OpInfo("o o o", (), True, "list[slice] = items, a list or tuple; exits where it would raise"),
    "delete_slice": OpInfo("o o", (), True, "del list[slice]; exits where it would raise"),
    "delete_item": OpInfo("o s", (), True, "del list[index], the index being a WORD; exits when it is out of range"),
    "insert": OpInfo("o s v", (), True, "list.insert(index, value), the index being a WORD"),
    "extend": OpInfo("o o", (), True, "list.extend(items), the items being a list or tuple"),
    "reverse": OpInfo("o", (), True, "list.reverse()"),
    "clear_list": OpInfo("o", (), True, "list.clear()"),
    "store_key": OpInfo("o o v", (), True, "dict[key] = value, the key being an exact int or string"),
    "delete_key": OpInfo("o o", (), True, "del dict[key]; exits when it is missing"),
    "discard_key": OpInfo("o o", (), True, "del dict[key] where there is such a key"),
    "update": OpInfo("o o", (), True, "dict.update(dict)"),
    "clear_dict": OpInfo("o", (), True, "dict.clear()"),
    "set_add": OpInfo("o v", (), True, "set.add(value), the value being a number or a string"),
    "set_discard": OpInfo("o v", (), True, "set.discard(value) of such a value"),
    "set_remove": OpInfo("o v", (), True, "set.remove(value) of such a value; exits when it is missing"),
    "clear_set": OpInfo("o", (), True, "set.clear()"),
    # reads of containers at the time of the operation; each exits before it has an effect if the item is missing, or is
    # not exactly of the result's type
    "length": OpInfo("o", (), False, "len(list, tuple, dict or set) as a py int"),
    "load_item": OpInfo("o s", (), False, "list[index] or tuple[index], the index being a WORD"),
    "has_class": OpInfo("o o", (), False, "FLAG: the class of the first object is the second one"),
    "lacks_own": OpInfo("o o", (), False, "FLAG: an object has no attribute of this name in a dict of its own"),
    "load_attr": OpInfo("o o", (), False, "object.name, the name being an object; exits where reading it runs code"),
    "load_key": OpInfo("o o", (), False, "dict[key], the key being an exact int or string"),
    "load_int": OpInfo("o s", (), False, "dict[key], the key being a py int"),
    "get_int": OpInfo("o s v", (), False, "dict.get(key, value), the key being a py int"),
    "store_int": OpInfo("o s v", (), True, "dict[key] = value, the key being a py int"),
    "next_entry": OpInfo("o s", (), False, "WORD: the position behind the next entry of a dict or set, or 0"),
    "entry_key": OpInfo("o s", (), False, "the key of the entry in front of a position that next_entry gave"),
    "entry_value": OpInfo("o s", (), False, "the value of the entry in front of a position that next_entry gave"),
    "deque_item": OpInfo("o s", (), False, "deque[index], the index being a WORD"),
    "deque_take": OpInfo("o s", (), True, "del deque[index], the index being 0 or -1, of an item that is there"),
    "deque_drop": OpInfo("o s", (), True, "as deque_take; exits where there is none, or its end may be noticed"),
    "heap_push": OpInfo("o v", (), True, "heapq.heappush(list, value); exits where items do not compare plainly"),
    "heap_drop": OpInfo("o", (), True, "heapq.heappop(list) without its answer; exits also where its end may show"),
    "draw": OpInfo("o s*", ("method",), True,
                   "a number from a random generator by the method of this number in graph/draws.py; exits where "
                   "that raises, and while another thread draws"),
    "deque_append": OpInfo("o v", (), True, "deque.append(value); exits where an item has to go that may be noticed"),
    "deque_appendleft": OpInfo("o v", (), True, "deque.appendleft(value); exits as deque_append"),
    "hold": OpInfo("o", (), False,
                   "the object lives as long as the kernel runs; exits where a list has what ends noticeably"),
    "taken_entry": OpInfo("o", (), False,
                          "WORD: the position behind the entry that dict.popitem or set.pop takes, or 0"),
    "take_entry": OpInfo("o", (), True, "takes it out; exits where globals are in the dict"),
    "plain_items": OpInfo("o", (), False,
                          "exits unless a list, or a dict as keys, has numbers, strings, arrays, and rows of these"),
    "has_key": OpInfo("o o", (), False, "FLAG: key in dict or set"),
    "find_item": OpInfo("o v", (), False,
                        "WORD: where a list or tuple has a value first, or -1; exits when it meets an item that is "
                        "neither a number nor a string"),
    "count_items": OpInfo("o v", (), False,
                          "WORD: how many items of a list or tuple equal a value; exits as find_item"),
    "sort": OpInfo("o s", (), True,
                   "list.sort(reverse=a WORD); exits unless all items are numbers of one class, or strings"),
    "get_key": OpInfo("o o v", (), False, "dict.get(key, value)"),
    "pop_item": OpInfo("o s", (), True, "list.pop(index), the index being a WORD"),
    "pop_key": OpInfo("o o", (), True, "dict.pop(key)"),
    "pop_default": OpInfo("o o v", (), True, "dict.pop(key, value)"),
    "setdefault": OpInfo("o o v", (), True, "dict.setdefault(key, value)"),
    # control
    "raised": OpInfo("", (), False,
                     "py int: the floating-point flags that a ufunc_into right before, with an attribute "
                     "``reports``, has raised when it had written, and that NumPy reports then; 0 if it left for "
                     "them"),
    "require": OpInfo("s", (), False, "exits unless the FLAG is true"),
    "poll": OpInfo("", (), False,
                   "at the back edges of loops: exits when the interpreter has something to do - with an attribute "
                   "``signals``: has signals to handle - between two bytecodes (a signal, another thread that "
                   "waits)"),
}

EFFECTS = frozenset(name for name, info in OPS.items() if info.effect)

LOOKS_AT_FLAGS = frozenset(("ufunc", "ufunc_into", "reduce", "scan"))
"""Operations that leave for floating-point flags. Their attribute ``ignored`` has the flags that are not reported.

The attribute ``heeded`` of any operation has the flags that are always checked.
"""

ASKS_NUMPY = frozenset(("invoke", "add_at") + (("dot", "product") if DOT_REPORTS else ()))
"""Operations that leave for the flags that NumPy's error state reports."""

SURE = frozenset(("append", "insert", "extend", "reverse"))
"""Effects that only a lack of memory prevents; without an exit they raise MemoryError."""

ELIDED_BYTES = 256 * 1024
"""Bytes from which on NumPy's operators compute into an operand that has no other reference."""

NEVER, ALWAYS, UNKNOWN, LEAVES = range(4)
"""Whether an operator computes into an operand of that size: it does not, it does, unknown, or it would raise."""

VIEWS = frozenset(("view", "transpose", "reshape", "part"))
"""Operations whose result is a view of their first operand's memory."""

MAKERS = frozenset(("alloc", "ufunc", "where", "reduce", "scan", "gufunc", "product", "gather", "pick", "rows",
                    "listed", "elements", "concatenate", "roll"))
"""Operations whose result is a new array."""

FOUND = frozenset(("load_item", "load_attr", "deque_item", "load_int", "get_int", "load_key", "entry_key",
                   "entry_value", "get_key",
                   "pop_item", "pop_key", "pop_default", "setdefault"))
"""Operations whose result is an existing user object, to which the program may have other references."""
