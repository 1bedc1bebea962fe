from types import CodeType
from typing import Any, Callable, Dict, List, Optional, Tuple

import numpy as np

Run = Callable[..., Any]

MOST_OPERANDS: int
"""The largest number of operands that get adjoints."""

def plain_run(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call a function; sweeps that get this as `run` are done in C where values allow it."""

def set_tapes(tapes: List[Any]) -> None:
    """Set the tapes that record in this thread."""

def set_instrumented(code: CodeType, on: bool) -> None:
    """Set whether a code object runs on tapes. The caller keeps the code object alive as long as it does."""

def is_instrumented(code: CodeType) -> bool:
    """Whether a code object runs on tapes."""

def remember_rewritten(code: CodeType, rewritten: CodeType, module: Optional[str]) -> None:
    """Remember that functions with a code object and this `__module__` run rewritten code on tapes.

    The caller keeps the code object alive until it calls `forget_rewritten`.
    """

def forget_rewritten(code: CodeType) -> None:
    """Forget what functions with a code object run."""

def user_place() -> Optional[Tuple[str, int]]:
    """File and line of the innermost frame of instrumented code, or None."""

def overlaps_itself(x: np.ndarray[Any, Any]) -> bool:
    """Whether two elements may share memory, as in broadcast arrays and sliding windows."""

class Rule:
    """The derivative of a function, with at most four operands.

    An elementwise function has partials alone, a function over whole arrays has a vjp. A function with neither has a
    derivative that is zero everywhere.

    Attributes:
        function: a ufunc, a function, or a method of arrays.
        partials: functions of (g, r, *operands), each for the adjoint of one operand.
        vjp: a function of (g, r, *operands) for a tuple of adjoints, or None.
        operands: the number of leading operands that get adjoints.
        singular: where g is 0, the contribution of a partial is 0.
        holomorphic: the partials get the conjugates of complex operands.
    """

    function: Any
    partials: Tuple[Callable[..., Any], ...]
    vjp: Optional[Callable[..., Any]]
    operands: int
    singular: bool
    holomorphic: bool

    def __init__(self, function: Any, partials: Tuple[Callable[..., Any], ...], vjp: Optional[Callable[..., Any]],
                 operands: int, singular: bool, holomorphic: bool) -> None: ...

class Memory:
    """What a tape knows about the owner of memory.

    Attributes:
        owner: the array; a strong reference, so that its id is not reused.
        active: whether the memory depends on an active argument.
        shared: description of an argument that shares this memory with another one; the memory must not be written.
        bounds: first address, and the address after the last byte.
    """

    owner: np.ndarray[Any, Any]
    active: bool
    shared: Optional[str]
    bounds: Tuple[int, int]

    def shadow(self, x: Any) -> np.ndarray[Any, Any]:
        """The adjoint of the view ``x``; writable, made of zeros at the first use."""

    def shadow_bytes(self) -> np.ndarray[Any, Any]:
        """The adjoint of the whole memory as bytes."""

    def earlier(self, run: Run, x: Any) -> np.ndarray[Any, Any]:
        """``x`` in the private copy on which stores are undone; the user's memory is never written."""

    def value(self, x: Any) -> np.ndarray[Any, Any]:
        """``x`` at the point that the backward sweep has reached."""

class Tape:
    """Active values with their adjoints, and the records of a gradient call.

    A subclass has the methods over_budget, check_only_owner, give_converted, give_by_record, undo_store,
    record_by_rule, refuse_rule and strong_zero, which are called for what is not done in C.

    Attributes:
        held: bytes of arrays that the tape holds.
        allowed: with more bytes, `over_budget` is called.
        integers: whether integers are differentiated too, as if they were real; their adjoints are integers.
        lines: (file, line) to the number of operations recorded there.
        cuts: ((file, line), name) of operations on active values whose derivative is zero.
    """

    held: int
    allowed: int
    integers: bool
    lines: Dict[Optional[Tuple[str, int]], int]
    cuts: List[Tuple[Optional[Tuple[str, int]], str]]

    def carries(self, x: Any) -> bool:
        """Whether a value can carry an adjoint: a number or an array of a differentiable kind."""

    def active(self, x: Any) -> bool:
        """Whether a number or an array depends on an active argument."""

    def start_one(self, x: Any) -> None:
        """Make a number or a float array active; other values are left."""

    def memory(self, x: np.ndarray[Any, Any]) -> Memory:
        """What the tape knows about the memory that an array views."""

    def memories(self) -> List[Memory]:
        """All memory that the tape knows."""

    def shadow(self, x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """The adjoint of an array, made of zeros if there is none."""

    def adjoint(self, x: Any) -> Any:
        """The accumulated adjoint of a value, or None; a writable view for arrays."""

    def set_adjoint(self, x: Any, g: Any) -> None:
        """Replace the adjoint of an active number."""

    def value(self, x: Any) -> Any:
        """A value at the point that the sweep has reached; lists and tuples are rebuilt."""

    def give(self, run: Run, x: Any, g: Any) -> None:
        """Add to the adjoint of a value; for a container, to that of each item. None adds nothing."""

    def hold(self, size: int) -> None:
        """Count bytes of an array that the tape holds."""

    def cut(self, name: str) -> None:
        """Note an operation on an active value whose derivative is zero."""

    def record(self, back: Callable[[Run], None]) -> None:
        """Add a step of the backward sweep."""

    def record_value(self, r: Any, give: Callable[[Run, Any, Any], None]) -> None:
        """Make a value active, and add a step that gives its adjoint, if it has one, to its operands."""

    def run_back(self, run: Run, keep: bool) -> None:
        """Run all steps in reverse order. Unless they are kept, each is dropped before it runs."""

    def forget_adjoints(self) -> None:
        """Drop the accumulated adjoints, so that a kept tape can be swept again."""

Helper = Callable[..., Any]

def operator_helper(name: str, rule: Optional[Rule], powers: Optional[Dict[float, Rule]], other: Helper) -> Helper:
    """A helper for an operator.

    Args:
        name: the name of its function in the module operator; with an "i" before it for in-place operators.
        rule: its derivative; None: Python records it.
        powers: for `**`: the rules of the functions by which NumPy computes powers of arrays with constant exponents.
        other: the helper in Python, for values that are not plain.
    """

def load_helper(other: Helper) -> Helper:
    """A helper for `a[index]`, called with (a, index)."""

def store_slot_helper(other: Helper) -> Helper:
    """A helper for `a[index] = value`, called with (value, a, index) as a tuple."""

def attribute_helper(other: Helper) -> Helper:
    """A helper for `x.name`, called with (x, name)."""

def store_attribute_helper(other: Helper) -> Helper:
    """A helper for `x.name = value`, called with ((value, x), name)."""

def truth_helper(other: Helper) -> Helper:
    """A helper for the operand of a truth test."""

def site_helper(rules: Tuple[Rule, ...], other: Helper) -> Helper:
    """A helper for calls, called with (function, *args, **kwargs)."""

def call_helper(rules: Tuple[Rule, ...], other: Helper) -> Helper:
    """A helper for calls, called with (function, args)."""
