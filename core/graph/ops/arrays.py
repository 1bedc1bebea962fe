"""Operations on arrays: views, elements, computing, and calls of library functions."""

from __future__ import annotations

from typing import Dict

from pijit.core.graph.dot_errors import DOT_REPORTS
from pijit.core.graph.ops.info import BAD_INDEX, BAD_SHAPE, BAD_SHAPE_OR_FLAG, CHANGES_OBJECTS, OBJECTS, Fact, OpInfo

ELEMENTS = "store of array elements"

_READ = Fact.HIDES_OPERANDS | Fact.FREES_OPERANDS
_COMPUTED = _READ | Fact.MAKES_ARRAY | Fact.REUSABLE
_STORES_ALL = Fact.EFFECT | Fact.STORES | Fact.STORES_ALL
_DOT = Fact.ASKS_NUMPY if DOT_REPORTS else 0

ROWS: Dict[str, OpInfo] = {
    # sizes and identity
    "dim": OpInfo("a", "WORD: shape[axis]",
        attrs=("axis",), facts=_READ | Fact.COSTS_NOTHING | Fact.CHEAP | Fact.PRECEDES_CHECKS | Fact.MOVES_AHEAD),
    "shares": OpInfo("a a", "FLAG: two arrays may share memory", facts=OBJECTS | _READ | Fact.COSTS_NOTHING),
    "identical": OpInfo("a a", "FLAG: two arrays are one object", facts=Fact.COSTS_NOTHING),
    # views: a view has the base's memory, and is made an ndarray object only when needed
    "view": OpInfo("a s*",
        "basic indexing; ``index`` is a tuple with one entry per index item: 'i' (integer), 'n' (newaxis), 'e' (a "
        "full slice ':'), or 'sXYZ' where X, Y, Z are '-' (absent) or 'v' (a value) for start, stop, step; the "
        "scalar operands (WORDs) follow in order. Exits on an integer out of range, step 0. With an attribute "
        "``inside`` integers are known to be from 0 on and in range",
        attrs=("index",),
        facts=Fact.IS_VIEW | Fact.PLACES_ELEMENTS | Fact.COSTS_ELEMENT | Fact.KEEPS_VALUE | Fact.KEEPS_ROWS |
              Fact.MOVES_AHEAD,
        why_exit=BAD_INDEX),
    "transpose": OpInfo("a", "view with permuted axes", attrs=("axes",), facts=Fact.IS_VIEW),
    "reshape": OpInfo("a s*",
        "view of an array in C order with a size (a WORD) for each axis; the one of the axis ``unknown`` is -1, if "
        "that is not None. Exits where the array has another number of elements",
        attrs=("unknown",), facts=Fact.IS_VIEW, why_exit=BAD_SHAPE),
    "in_order": OpInfo("a", "the same memory as an array in C order; exits where its strides are others",
        facts=Fact.IS_VIEW, why_exit="the array is not in C order"),
    "part": OpInfo("a", "view of the 'real' or 'imag' parts of complex elements",
        attrs=("which",), facts=Fact.IS_VIEW | Fact.COSTS_ELEMENT),
    # elements
    "load": OpInfo("a s*",
        "np scalar: element at one WORD index per axis; exits when out of range; ``inside`` as in view; else "
        "``checks`` may tell by a letter per index what is not known: see passes/eliminate_checks.py",
        facts=_READ | Fact.COSTS_ELEMENT | Fact.CHEAP | Fact.PRECEDES_CHECKS | Fact.ACCESSES_ELEMENT,
        why_exit=BAD_INDEX),
    "store": OpInfo("a s* s", "a[i...] = last operand (already of a's dtype); exits when out of range",
        facts=Fact.EFFECT | Fact.STORES | Fact.HIDES_OPERANDS | Fact.COSTS_ELEMENT | Fact.CHEAP | Fact.ACCESSES_ELEMENT,
        report_as=ELEMENTS, why_exit=BAD_INDEX),
    # computing; every array result is a new C- or K-ordered array as NumPy would allocate it
    "ufunc": OpInfo("*",
        "elementwise NumPy ufunc on arrays and scalars, broadcast; ``types`` is the loop's dtype characters "
        "('dd->d'); operands of another dtype are converted first; exits on shape mismatch and when a floating-point "
        "flag is raised. Of an operator ``into`` says for each operand whether NumPy computes into it where it is "
        "large, and ``ordered`` whether that shows in the bits",
        attrs=("ufunc", "types", "loop"),
        facts=_COMPUTED | Fact.RAISES_FLAGS | Fact.ELEMENTWISE | Fact.APPLIES_UFUNC | Fact.KEEPS_ROWS,
        why_exit=BAD_SHAPE_OR_FLAG),
    "ufunc_into": OpInfo("a *", "the same with out=first operand (overlap-safe, nothing written when it exits)",
        attrs=("ufunc", "types", "loop"),
        facts=_READ | _STORES_ALL | Fact.RAISES_FLAGS | Fact.APPLIES_UFUNC, report_as=ELEMENTS,
        why_exit=BAD_SHAPE_OR_FLAG),
    "where": OpInfo("a *",
        "np.where(a, x, y) of bools, as ufunc; types is '?dd->d'; arrays are in C order, x and y have the result's "
        "dtype where they are arrays; exits on shape mismatch",
        attrs=("types",), facts=_COMPUTED | Fact.ELEMENTWISE | Fact.CHOOSES | Fact.KEEPS_ROWS | Fact.MAKES_ROWS,
        why_exit=BAD_SHAPE),
    "reduce": OpInfo("a",
        "ufunc.reduce over one axis or all (axis None); result is an array or np scalar; bits as NumPy; "
        "float16 may be added up as float32",
        attrs=("ufunc", "axis", "keepdims", "types"), facts=_COMPUTED | Fact.RAISES_FLAGS | Fact.ENDS_GROUP,
        why_exit="the array is empty, or a floating-point flag is raised"),
    "scan": OpInfo("a",
        "ufunc.accumulate along the last axis, cast to the result's dtype first; exits when a floating-point flag is "
        "raised",
        attrs=("ufunc",), facts=OBJECTS | _READ | Fact.MAKES_ARRAY | Fact.RAISES_FLAGS),
    "assign": OpInfo("a *", "a[...] = array or scalar, broadcast and converted; exits on shape mismatch, "
        "and when a conversion raises a floating-point flag",
        facts=_STORES_ALL | Fact.ENDS_GROUP | Fact.HIDES_OPERANDS, report_as=ELEMENTS, why_exit=BAD_SHAPE_OR_FLAG),
    # new arrays
    "alloc": OpInfo("s*", "new array of the WORD shape; fill None (empty), 0 or 1; exits on negative",
        attrs=("fill", "order"), facts=Fact.MAKES_ARRAY),
    "elements": OpInfo("s*", "a new array of this shape, in C order, of these numbers; exits when there is no memory",
        attrs=("shape",), facts=OBJECTS | Fact.MAKES_ARRAY | Fact.NUMPYS_MEMORY),
    "listed": OpInfo("o s",
        "the array in C order of the numbers in a list, or in the lists or tuples in it if ``rows`` is their class, "
        "which have that many items each; ``kinds`` are the numbers' types, one or one for each item of a row; exits "
        "where one is of another",
        attrs=("kinds", "rows"), facts=OBJECTS | Fact.MAKES_ARRAY | Fact.NUMPYS_MEMORY),
    "concatenate": OpInfo("a*",
        "arrays of one dtype one after the other along an axis, as a new array in C order; exits where the other "
        "lengths differ, where strides grow from an axis to the next one, or there is no memory",
        attrs=("axis",), facts=_READ | Fact.MAKES_ARRAY),
    "roll": OpInfo("a s",
        "the array that np.roll makes along an axis, in C order, by so many places as are inside; exits where it has "
        "no element, or there is no memory",
        attrs=("axis",), facts=_READ | Fact.MAKES_ARRAY | Fact.PLACES_ELEMENTS | Fact.READS_ELSEWHERE),
    # elements at integers and under masks
    "gather": OpInfo("a a*",
        "a[i, j...] with an integer array of one axis for each axis of a; the arrays are broadcast; exits on an "
        "index out of range",
        attrs=("types",),
        facts=_COMPUTED | Fact.CHOOSES | Fact.FINDS_ELEMENTS | Fact.READS_ELSEWHERE, why_exit=BAD_INDEX),
    "rows": OpInfo("a a",
        "a[index] of an array in C order with more axes than one and a vector of integers; exits where one is out of "
        "range",
        facts=OBJECTS | _COMPUTED, why_exit=BAD_INDEX),
    "pick": OpInfo("a a", "a[mask] of two arrays in C order; exits unless their shapes are one",
        facts=OBJECTS | _COMPUTED | Fact.UNDER_MASK),
    "scatter": OpInfo("a a v",
        "a[index] = value of vectors, the value being one too or a scalar, of a's dtype; exits, having written "
        "nothing, as perform",
        facts=CHANGES_OBJECTS | Fact.HIDES_OTHERS, report_as=ELEMENTS, why_exit=BAD_INDEX),
    "put_mask": OpInfo("a a v", "a[mask] = value, as scatter, of arrays in C order",
        facts=CHANGES_OBJECTS | Fact.UNDER_MASK | Fact.HIDES_OTHERS, report_as=ELEMENTS),
    "add_at": OpInfo("a a v",
        "np.add.at(a, index, value) of arrays that are apart, as scatter; exits also when a flag is raised",
        facts=CHANGES_OBJECTS | Fact.ASKS_NUMPY | Fact.HIDES_OTHERS, report_as="np.add.at", why_exit=BAD_INDEX),
    # calls of library functions (graph/library.py)
    "invoke": OpInfo("v*",
        "the library function on the objects of the values, the last ones by keyword; exits when it raises or would "
        "warn, and when the result is not of the result's type",
        attrs=("function", "keywords"),
        facts=Fact.DROPS_REFERENCES | Fact.DROPS_ITEMS | Fact.NEEDS_GIL | Fact.CALLS_LIBRARY | Fact.ASKS_NUMPY |
              Fact.ENDS_GROUP,
        why_exit="the function raises, or gives another type"),
    "perform": OpInfo("a v*",
        "a library function that writes its first argument and has no result; exits, having written nothing, when it "
        "raises or would warn",
        attrs=("function", "keywords"), facts=CHANGES_OBJECTS | Fact.CALLS_LIBRARY,
        report_as="store of array elements by NumPy"),
    "item": OpInfo("o", "an item of a tuple that ``invoke`` gave; exits when it is not of the result's type",
        attrs=("index",), facts=Fact.NEEDS_GIL, why_exit=BAD_INDEX),
    "gufunc": OpInfo("a a*",
        "what the library function gives, by one run of a generalised ufunc's inner loop (graph/gufuncs.py); exits "
        "on shapes that do not fit and where ``errors`` are raised or reported",
        attrs=("function", "keywords", "ufunc", "loop", "types", "errors"), facts=_COMPUTED | Fact.NEEDS_GIL),
    "product": OpInfo("a a", "np.dot of two arrays; exits when it raises",
        attrs=("function", "keywords"),
        facts=Fact.DROPS_REFERENCES | Fact.DROPS_ITEMS | Fact.NEEDS_GIL | Fact.MAKES_ARRAY | Fact.NUMPYS_MEMORY |
              Fact.HIDES_OPERANDS | _DOT),
    "dot": OpInfo("a a",
        "np.dot of two vectors without steps between their elements; exits on lengths that differ, and where "
        "``errors`` are reported",
        attrs=("function", "keywords", "ufunc", "loop", "types", "errors"),
        facts=Fact.NEEDS_GIL | Fact.HIDES_OPERANDS | _DOT),
}
