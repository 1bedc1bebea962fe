"""Operations on scalars, and the control operations.

Scalar operands of one operation already have the same type (explicit ``cast`` operations come before it). `ops`
collects the rows. Nothing else may import them from here.
"""

from __future__ import annotations

from typing import Dict

from pijit.core.graph.ops.info import BAD_SHIFT, OBJECTS, Fact, OpInfo

_NUMBER = Fact.PLAIN | Fact.PRECEDES_CHECKS
_SIMPLE = _NUMBER | Fact.MOVABLE

ROWS: Dict[str, OpInfo] = {
    # values
    "const": OpInfo("", "a scalar constant of the result's type", attrs=("value",), facts=_SIMPLE | Fact.COSTS_NOTHING),
    "cast": OpInfo("s", "C-like conversion to the result's dtype (bool: != 0); may exit if the value does not fit",
        facts=Fact.PLAIN | Fact.MOVABLE | Fact.CONVERTS, why_exit="the value does not fit the type"),
    "same": OpInfo("s", "the same value under another family (py.float64 from np.float64 and so on)",
        facts=_SIMPLE | Fact.COSTS_NOTHING | Fact.KEEPS_TRUTH | Fact.KEEPS_VALUE | Fact.CONVERTS),
    "iterator_part": OpInfo("i",
        "a WORD (by name) or the array (by number) of an iterator input, as it was when the graph was entered; "
        "numbers before lead into nested iterators",
        attrs=("path",), facts=Fact.COSTS_NOTHING),
    # arithmetic
    "add": OpInfo("ss",
        "a + b; integers exit on overflow unless raw; np floats exit when a non-finite result comes from finite "
        "operands or NaN appears",
        symbol="+", facts=_SIMPLE | Fact.OVERFLOWS | Fact.AFFINE, flag_check="sum"),
    "sub": OpInfo("ss", "a - b, as add", symbol="-", facts=_SIMPLE | Fact.OVERFLOWS | Fact.AFFINE, flag_check="sum"),
    "mul": OpInfo("ss", "a * b, as add",
        symbol="*", facts=_SIMPLE | Fact.OVERFLOWS | Fact.AFFINE, flag_check="product"),
    "truediv": OpInfo("ss",
        "float or complex a / b; py exits on b == 0; np exits as add and on b == 0, and its complex quotients raise "
        "other flags than those of machine code",
        symbol="/", facts=_SIMPLE | Fact.DIVIDES, flag_check="quotient", not_plain="c"),
    "floordiv": OpInfo("ss", "a // b as Python (floor); exits on b == 0 and on integer overflow; np as add",
        symbol="//", facts=Fact.PLAIN | Fact.OVERFLOWS | Fact.DIVIDES | Fact.FLOORS, not_plain="f"),
    "mod": OpInfo("ss", "a % b as Python (sign of b); exits like floordiv",
        symbol="%", facts=Fact.PLAIN | Fact.DIVIDES | Fact.FLOORS, not_plain="f"),
    "neg": OpInfo("s", "-a; integers exit on the minimum", facts=_SIMPLE | Fact.OVERFLOWS),
    "abs": OpInfo("s",
        "abs(a); integers exit on the minimum, complex numbers unless the size is finite and normal or 0",
        facts=_SIMPLE | Fact.OVERFLOWS, not_plain="c"),
    "power": OpInfo("ss",
        "the process's pow on float64; exits where ``by``, python or numpy, may raise or warn, and where the result "
        "is subnormal",
        attrs=("by",), symbol="**", why_exit="Python or NumPy may raise or warn, or the result is subnormal"),
    "libm": OpInfo("s*",
        "the process's libm function on float64; exits when the result is NaN or infinite and no operand is (domain "
        "and range errors), and with an attribute ``finite`` always then",
        attrs=("function",), why_exit="the argument has no finite result"),
    # bits
    "and": OpInfo("ss", "a & b on integers or booleans", symbol="&", facts=_SIMPLE),
    "or": OpInfo("ss", "a | b", symbol="|", facts=_SIMPLE),
    "xor": OpInfo("ss", "a ^ b", symbol="^", facts=Fact.PLAIN),
    "shl": OpInfo("ss", "a << b; exits unless 0 <= b < 63 and the result fits (py)",
        symbol="<<", facts=Fact.PLAIN | Fact.OVERFLOWS, why_exit=BAD_SHIFT),
    "shr": OpInfo("ss", "a >> b; exits when b < 0; b >= 64 gives the sign",
        symbol=">>", facts=Fact.PLAIN, why_exit=BAD_SHIFT),
    "invert": OpInfo("s", "~a; logical not on np.bool_", facts=Fact.PLAIN),
    # complex numbers
    "complex": OpInfo("ss", "the complex number with these floats as real and imaginary part", facts=_NUMBER),
    "real": OpInfo("s", "the real part of a complex number", facts=_NUMBER),
    "imag": OpInfo("s", "its imaginary part", facts=_NUMBER),
    "infinite": OpInfo("s", "FLAG: a part of the complex number is infinite"),
    "compare_size": OpInfo("s s", "FLAG: abs(a) <operator> b of a complex number and a float; exits as abs",
        attrs=("operator",)),
    # truth values
    "not": OpInfo("s", "FLAG: not a (a is a FLAG)", facts=_SIMPLE),
    "truth": OpInfo("s", "FLAG: a != 0 (NaN is true)", facts=_NUMBER | Fact.KEEPS_TRUTH),
    "compare": OpInfo("ss", "FLAG: a <operator> b, operator one of == != < <= > >=",
        attrs=("operator",), facts=_SIMPLE | Fact.REPORTS_FLAGS),
    "select": OpInfo("sss", "the second operand if the first, a FLAG, is true, else the third, of one type",
        facts=_NUMBER),
    "flag": OpInfo("s", "a FLAG as a bool of the result's type (py.bool or np.bool)",
        facts=_NUMBER | Fact.REPORTS_FLAGS | Fact.COSTS_NOTHING | Fact.KEEPS_TRUTH | Fact.KEEPS_VALUE),
    # control
    "require": OpInfo("s", "exits unless the FLAG is true",
        facts=Fact.REPORTS_FLAGS | Fact.MOVABLE, why_exit="a condition does not hold that the code was compiled for"),
    "raised": OpInfo("",
        "py int: the floating-point flags that a ufunc_into right before, with an attribute ``reports``, has raised "
        "when it had written, and that NumPy reports then; 0 if it left for them",
        facts=OBJECTS | Fact.REPORTS_FLAGS | Fact.COSTS_NOTHING, why_exit="a floating-point flag is raised"),
    "poll": OpInfo("",
        "at the back edges of loops: exits when the interpreter has something to do - with an attribute ``signals``: "
        "has signals to handle - between two bytecodes (a signal, another thread that waits); with an attribute "
        "``serves`` it handles that instead",
        facts=Fact.COSTS_NOTHING, why_exit="the interpreter has something to do"),
}
