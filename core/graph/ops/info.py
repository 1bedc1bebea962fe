"""The columns of the table of operations.

The other modules of the package use it. It must name no operation.
"""

from __future__ import annotations

from typing import Tuple

from pijit.core.named_tuples import NamedTuple


class Fact:
    """What is true of all operations of one name, as bits; passes, plans and emitters ask for it.

    The bits are plain integers: enum.Flag would make each combination an object, which slows down the import.

    Effects:
        EFFECT: changes an object or an array that existed before.
        CANNOT_FAIL: an effect that only a lack of memory prevents. Without an exit it raises MemoryError.
        DROPS_REFERENCES: may end the life of objects, or lets other threads run, which may end it.
        DROPS_ITEMS: may, in addition, remove items of lists, and keys of dicts and sets.
        STORES: only writes elements of the first operand; they follow from the others.
        STORES_ALL: such an operation that writes all elements.
        IS_DRAW: draws numbers from a random generator.
        NEEDS_GIL: runs with the GIL.
        SHARES_OBJECTS: reads or changes objects that other threads may have. So the whole kernel holds the GIL.
        NEEDS_FRAME: needs the frame that runs the linked code.
    Results:
        IS_VIEW: the result is a view of the first operand's memory.
        MAKES_ARRAY: the result is a new array.
        REUSABLE: the result's memory may be given to another array after the last use.
        NUMPYS_MEMORY: the new array always has memory of NumPy's allocator.
        MAKES_CONTAINER: the result is a new list, dict or set.
        FINDS_OBJECT: the result is an existing user object, to which the program may have other references.
        GIVES_DEFAULT: the result is the last operand if the key is missing; it is not stored.
        KEEPS_TRUTH: the result is true if the operand is.
        KEEPS_VALUE: the result is the first operand's value under another type, or has only elements of it.
        CONVERTS: the result is the operand's number under another type.
    Array operands:
        HIDES_OPERANDS: no other code gets hold of an array operand.
        HIDES_OTHERS: the same except for the first operand, which NumPy may write.
        FREES_OPERANDS: only reads or writes elements of array operands, at once. So the memory of an operand may be
            given to another array after its last use. This is stricter than HIDES_OPERANDS: an ``assign`` may be
            delayed, and ``product`` makes an object of an array.
        ACCESSES_ELEMENT: reads or writes one element, at an index for each axis.
        FINDS_ELEMENTS: finds elements of the first operand in its memory, at computed indices. A nest may notice at its
            end that one is out of range.
        READS_ELSEWHERE: needs the first operand's memory, because an element of the result is one from another place.
        KEEPS_ROWS: the last stride of the result is its smallest one if those of all array operands are.
        MAKES_ROWS: the last stride of the result is its smallest one.
        MOVES_AHEAD: reads no elements, and may move before operations that are done by blocks of rows.
    Floating-point errors:
        RAISES_FLAGS: exits for floating-point flags. The attribute ``ignored`` has the flags that are not reported.
            The attribute ``always_checked`` of any operation has the flags that are always checked.
        ASKS_NUMPY: exits for the flags that NumPy's error state reports.
        REPORTS_FLAGS: may be a part of the report of flags that follows an operator that writes in place.
        PRECEDES_CHECKS: may precede a pending check of flags: no effect, and the result is a number or a FLAG.
    Loop nests:
        ELEMENTWISE: a new array, whose elements are computed from the operands' elements at the same place.
        APPLIES_UFUNC: applies the ufunc that is the attribute ``ufunc`` to the elements at one place.
        CHOOSES: an element of the result is one of several elements, which a condition or an index chooses.
        UNDER_MASK: the second operand is a mask of the first one.
        ENDS_GROUP: computes no elements, but may end a fusion group.
        PLACES_ELEMENTS: computes no elements, but tells a fusion group where elements are.
    Scalars:
        PLAIN: changes nothing and calls no function.
        MOVABLE: may move before a loop nest: no effect except the result.
        OVERFLOWS: the exact result on int64 may not fit int64.
        DIVIDES: exits if the second operand is 0.
        FLOORS: the quotient is rounded down, or the result is the rest.
        AFFINE: of integers that are affine in a loop's counter the result may be affine, too.
    Calls:
        CALLS_LIBRARY: calls the library function that is the attribute ``function``.
    Cost:
        CHEAP: an operation on arrays that takes no longer than an operation on scalars.
        COSTS_NOTHING: takes no time compared with bytecode.
        COSTS_ELEMENT: costs as much as an operation on one element of an array.
    """

    EFFECT = 1 << 0
    CANNOT_FAIL = 1 << 1
    DROPS_REFERENCES = 1 << 2
    DROPS_ITEMS = 1 << 3
    NEEDS_GIL = 1 << 4
    SHARES_OBJECTS = 1 << 5
    IS_VIEW = 1 << 6
    MAKES_ARRAY = 1 << 7
    REUSABLE = 1 << 8
    MAKES_CONTAINER = 1 << 9
    FINDS_OBJECT = 1 << 10
    GIVES_DEFAULT = 1 << 11
    KEEPS_TRUTH = 1 << 12
    HIDES_OPERANDS = 1 << 13
    HIDES_OTHERS = 1 << 14
    FREES_OPERANDS = 1 << 15
    RAISES_FLAGS = 1 << 16
    ASKS_NUMPY = 1 << 17
    REPORTS_FLAGS = 1 << 18
    PRECEDES_CHECKS = 1 << 19
    ELEMENTWISE = 1 << 20
    UNDER_MASK = 1 << 21
    ENDS_GROUP = 1 << 22
    PLACES_ELEMENTS = 1 << 23
    PLAIN = 1 << 24
    MOVABLE = 1 << 25
    OVERFLOWS = 1 << 26
    DIVIDES = 1 << 27
    CALLS_LIBRARY = 1 << 28
    CHEAP = 1 << 29
    COSTS_NOTHING = 1 << 30
    COSTS_ELEMENT = 1 << 31
    STORES = 1 << 32
    STORES_ALL = 1 << 33
    IS_DRAW = 1 << 34
    KEEPS_VALUE = 1 << 35
    CONVERTS = 1 << 36
    ACCESSES_ELEMENT = 1 << 37
    FINDS_ELEMENTS = 1 << 38
    READS_ELSEWHERE = 1 << 39
    KEEPS_ROWS = 1 << 40
    MAKES_ROWS = 1 << 41
    MOVES_AHEAD = 1 << 42
    APPLIES_UFUNC = 1 << 43
    CHOOSES = 1 << 44
    FLOORS = 1 << 45
    AFFINE = 1 << 46
    NUMPYS_MEMORY = 1 << 47
    NEEDS_FRAME = 1 << 48


OBJECTS = Fact.NEEDS_GIL | Fact.SHARES_OBJECTS
CHANGES_OBJECTS = OBJECTS | Fact.EFFECT | Fact.DROPS_REFERENCES | Fact.DROPS_ITEMS


WORDS, BOXED, ANSWERS, SEARCHES, MAKES = "words", "boxed", "answers", "searches", "makes"
"""How kernel source calls a function of the runtime:

- WORDS: all operands are objects or words.
- BOXED: the last operand is a value, which becomes an object; the others are objects or words.
- ANSWERS: as WORDS, and the result is what the function returns. It cannot fail.
- SEARCHES: as BOXED, and the function leaves the result in a word.
- MAKES: all operands are values, and the result is a new object.
"""


class OpInfo(NamedTuple):
    """The properties that all operations of one name share.

    Attributes:
        operands: a letter per operand: "s" scalar, "a" array, "o" object, "i" iterator, "v" any value. "*" after a
            letter: any number of them; alone: scalars and arrays.
        meaning: the result or the effect, and the reasons to exit.
        attrs: the attributes that each such operation has.
        facts: the other properties, bits of `Fact`.
        symbol: the operator of Python.
        report_as: the effect in the terms of a Python program.
        why_exit: the reason to exit in reports, if the operands' types do not tell it.
        flag_check: the check of floating-point flags of NumPy's scalars; that of complex numbers has another name.
        not_plain: the letters of the kinds of numbers for which `Fact.PLAIN` is not true.
        calls: how kernel source calls the runtime's function of this name, one of the words above; "" if another
            function writes the operation.
        runtime: the name of the runtime's function, if it is that of another operation.
    """

    operands: str
    meaning: str
    attrs: Tuple[str, ...] = ()
    facts: int = 0
    symbol: str = ""
    report_as: str = ""
    why_exit: str = ""
    flag_check: str = ""
    not_plain: str = ""
    calls: str = ""
    runtime: str = ""


BAD_INDEX = "an index is out of range, or an item of another type"
BAD_SHAPE = "shapes do not fit"
BAD_SHAPE_OR_FLAG = "shapes do not fit, or a floating-point flag is raised"
BAD_SHIFT = "the result does not fit 64 bits, or the count is negative"
