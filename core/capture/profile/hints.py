"""Hints: types that a program declares, as `# @jit.typing: () -> ...` or by `pijit.hint(value, ...)`.

A hint replaces the observation of a first run, so that the segment after a break is compiled at once. Like an
observation, it is checked by the guards of the segments that rely on it. When these fail, a run is observed, and the
hints are ignored from then on.
"""

from __future__ import annotations

import ast
import io
import linecache
import re
import tokenize
import warnings
from types import CodeType
from typing import Any, Callable, Dict, Iterable, Iterator, List, Optional, Sequence, Set, Tuple

import numpy as np

from pijit.core.bytecode.codec.decode import Function
from pijit.core.bytecode.instructions.opcodes import DUPLICATES, NAME_STORES, UNPACKINGS
from pijit.core.capture.values.array_kinds import is_captured
from pijit.core.capture.values.lattice import Abstract, Const, Instance, Number, OpaqueObject, Tensor, Unknown
from pijit.core.capture.values.lattice import Sequence as Items
from pijit.core.errors import Break
from pijit.core.graph.types import PYTHON_SCALARS, Array, Object, numpy_scalar
from pijit.core.hinting import ACCEPTED, CONTAINERS, TypeHintWarning, hint, text_of
from pijit.core.named_tuples import NamedTuple

MARK = "@jit.typing"
FORM = re.compile(r"#\s*@jit\.typing\s*:\s*\(\s*\)\s*->\s*(.*\S)")
ARRAYS = frozenset(["tensor_type", "tensor", "Tensor", "ndarray"])
TUPLES = frozenset(["tuple_", "tuple"])
SPREADS = NAME_STORES | DUPLICATES | UNPACKINGS
"""Opcodes between the instruction that makes the value of an assignment and the end of the assignment."""

VariableLookup = Callable[[str], Any]
"""Returns the value of a variable; raises KeyError if there is none."""


class Hinted(Exception):
    """Raised when capture meets a hint for the value of an earlier instruction; capture starts again."""


class Shown(NamedTuple):
    """A hint: the instruction that makes the value, the text of the type, and its line."""

    index: int  # type: ignore[assignment]  # hides the method of tuples
    text: str
    lineno: int


def parsed(text: str, lookup: VariableLookup, ndim: int = 1, defined_at: int = -1) -> Abstract:
    """The abstract value that a text describes. The text of the ValueError says what is accepted.

    ``ndim`` is the number of dimensions of arrays whose text gives none.
    """
    try:
        tree = ast.parse(text.strip(), mode="eval").body
        return _value(tree, lookup, ndim, defined_at)
    except (SyntaxError, KeyError, TypeError, ValueError, AttributeError):
        raise ValueError("{!r} is no type of a value; accepted are {}".format(text, ACCEPTED)) from None


def _value(tree: Any, lookup: VariableLookup, ndim: int, defined_at: int) -> Abstract:
    if isinstance(tree, ast.Subscript):
        parts = _parts(tree.slice)
        name = _name(tree.value)
        if name in TUPLES:
            return Items([_value(part, lookup, ndim, defined_at) for part in parts], defined_at=defined_at)
        if name in CONTAINERS:
            [_value(part, lookup, ndim, defined_at) for part in parts]
            return Instance(Object(CONTAINERS[name]), defined_at=defined_at)
        if name not in ARRAYS or len(parts) > 2:
            raise ValueError(name)
        hinted = ast.literal_eval(parts[1]) if len(parts) == 2 else ndim
        if type(hinted) is not int or not 0 <= hinted <= 32:
            raise ValueError(hinted)
        return Tensor(Array(_dtype(_kind(parts[0], lookup)), hinted, "C", True), defined_at=defined_at)
    kind = _kind(tree, lookup)
    if kind in PYTHON_SCALARS:
        return Number(PYTHON_SCALARS[kind], defined_at=defined_at)
    if kind in CONTAINERS.values():
        return Instance(Object(kind), defined_at=defined_at)
    return Number(numpy_scalar(_dtype(kind)), defined_at=defined_at)


def _parts(tree: Any) -> List[Any]:
    """The elements between the brackets."""
    inside = getattr(tree, "value", tree) if type(tree).__name__ == "Index" else tree
    return list(inside.elts) if isinstance(inside, ast.Tuple) else [inside]


def _name(tree: Any) -> str:
    """The last component of a dotted or plain name."""
    return tree.attr if isinstance(tree, ast.Attribute) else tree.id


def _kind(tree: Any, lookup: VariableLookup) -> Any:
    """A Python class, or a value that `numpy.dtype` accepts."""
    if isinstance(tree, ast.Set) and len(tree.elts) == 1:
        return lookup(_name(tree.elts[0]))
    name = _name(tree)
    known = {kind.__name__: kind for kind in PYTHON_SCALARS}
    return known.get(name) or CONTAINERS.get(name) or name


def _dtype(kind: Any) -> np.dtype[Any]:
    dtype: np.dtype[Any] = np.dtype(kind)
    if not is_captured(dtype):
        raise ValueError(dtype)
    return dtype


class HintedTypes:
    """The hints of one capture.

    Attributes:
        found: the declared values, by instruction.
        wrong: the instructions whose hints are ignored because they were wrong.
        ndim: the number of dimensions of arrays whose hint gives none: that of the first array argument.
    """

    __slots__ = ("found", "wrong", "ndim")

    def __init__(self, wrong: Iterable[int] = (), ndim: int = 1) -> None:
        self.found: Dict[int, Abstract] = {}
        self.wrong = frozenset(wrong)
        self.ndim = ndim

    def note(self, index: int, value: Abstract) -> bool:
        """Accept a hint unless it was wrong before. Returns whether it is new."""
        if index in self.wrong or index in self.found:
            return False
        self.found[index] = value
        return True


class Hints:
    """The hints of one function.

    Attributes:
        wrong: the instructions whose hints are ignored because they were wrong.
    """

    def __init__(self) -> None:
        self.wrong: Set[int] = set()
        self._shown: Optional[List[Shown]] = None

    def hinted(self, function: Function, code: CodeType, localsplus: Sequence[Any],
             globals: Dict[str, Any]) -> HintedTypes:
        """The hints in comments, for a call with these variables. Warns once about hints that cannot be parsed."""
        names = dict(zip(function.varnames, localsplus))

        def lookup(name: str) -> Any:
            return names[name] if name in names else globals[name]

        if self._shown is None:
            self._shown = list(_shown(function, code))
            for hint in self._shown:
                _warn_of(hint, lookup, code.co_filename)
        hinted = HintedTypes(self.wrong, next((value.ndim for value in localsplus if type(value) is np.ndarray), 1))
        for hint in self._shown:
            try:
                hinted.note(hint.index, parsed(hint.text, lookup, hinted.ndim, hint.index))
            except ValueError:
                continue
        return hinted


def _warn_of(hint: Shown, lookup: VariableLookup, filename: str) -> None:
    try:
        parsed(hint.text, lookup)
    except ValueError as error:
        warnings.warn_explicit("{}: {}".format(MARK, error), TypeHintWarning, filename, hint.lineno)


def _shown(function: Function, code: CodeType) -> Iterator[Shown]:
    """The hints in the source of a function. Those whose statements bind no name are left out."""
    lines = linecache.getlines(code.co_filename)
    used = [instr.lineno for instr in function.instructions if instr.lineno is not None]
    last = max(used, default=0)
    if not any(MARK in line for line in lines[code.co_firstlineno - 1:last + 1]):
        return
    for first, end, comment, lineno in _statements(lines, code.co_firstlineno, last):
        stored = [instr.index for instr in function.instructions
                  if instr.opname in NAME_STORES and instr.lineno is not None and first <= instr.lineno <= end]
        index = max(stored, default=-1)
        while index >= 0 and function.instructions[index].opname in SPREADS:
            index -= 1
        if index >= 0:
            form = FORM.match(comment)
            yield Shown(index, form.group(1) if form is not None else comment, lineno)


def _statements(lines: List[str], first: int, last: int) -> Iterator[Tuple[int, int, str, int]]:
    """(first line, last line, comment, its line) of logical lines with a hint at their end or directly above them."""
    begin, comment, where = 0, "", 0
    try:
        for token in tokenize.generate_tokens(io.StringIO("".join(lines[first - 1:])).readline):
            row = token.start[0] + first - 1
            if token.type == tokenize.COMMENT:
                if MARK in token.string:
                    comment, where = token.string, row
            elif token.type == tokenize.NEWLINE:
                if comment:
                    yield begin, row, comment, where
                begin, comment = 0, ""
                if row >= last:
                    return
            elif token.type not in (tokenize.NL, tokenize.INDENT, tokenize.DEDENT):
                begin = begin or row
    except (tokenize.TokenError, SyntaxError):
        return


def _nothing(name: str) -> Any:
    raise KeyError(name)


def check_text(text: str) -> None:
    """Raise ValueError unless a text describes a value without using names of variables."""
    parsed(text, _nothing)


def hinted_by(kind: Abstract, context: Any, defined_at: int) -> Abstract:
    """The value that a hint declares; ``defined_at`` is the instruction that makes it."""
    hinted = kind.object if isinstance(kind, Const) else kind.sample if isinstance(kind, OpaqueObject) else None
    try:
        return parsed(text_of(hinted), _nothing, context.types.hinted.ndim, defined_at)
    except (TypeError, ValueError):
        raise Break("PJ201", callee="hint") from None


def apply_hint(context: Any, callee: Abstract, value: Abstract, kind: Abstract) -> None:
    """Note the hint that a call of `hint` gives for an unknown value. Raises Hinted if it is new."""
    if (isinstance(callee, Const) and callee.object is hint and isinstance(value, Unknown) and value.defined_at >= 0
            and context is context.base
            and context.types.hinted.note(value.defined_at, hinted_by(kind, context, value.defined_at))):
        raise Hinted
