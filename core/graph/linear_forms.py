"""Linear forms: a graph's integers as sums of atoms, the values that are not sums themselves.

A form ``{a: 1, b: -2, None: 3}`` stands for ``a - 2 * b + 3``. Forms are over all whole numbers: values do not wrap,
because an operation that would wrap leaves the graph. (The compiler's own words may wrap, but are never used then.)
bounds_prover.py and the passes use them.
"""

from __future__ import annotations

from typing import Any, Dict, Optional, Tuple

import numpy as np

from pijit.core.graph.ir import Graph, Op, Value
from pijit.core.graph.types import Scalar

Form = Dict[Optional[Value], int]

LOW, HIGH = -2 ** 63, 2 ** 63 - 1


def plus(a: Form, b: Form, factor: int = 1) -> Form:
    """``a + factor * b``."""
    total = dict(a)
    for atom, number in b.items():
        total[atom] = total.get(atom, 0) + factor * number
        if not total[atom]:
            del total[atom]
    return total


def number_of(form: Form) -> Optional[int]:
    """The number that a constant form stands for, else None."""
    return form.get(None, 0) if not form.keys() - {None} else None


class Forms:
    """The form of each integer of a graph, and the value ranges of the atoms."""

    def __init__(self, graph: Graph) -> None:
        self.made: Dict[Value, Op] = {op.result: op for block in graph.blocks for op in block.ops
                                      if op.result is not None}
        self._known: Dict[Value, Form] = {}
        self._spans: Dict[Value, Tuple[int, int]] = {}
        self._sizes: Dict[Tuple[Value, int], Value] = {}
        for op in self.made.values():
            if op.name == "dim":
                self.of(op.result)  # type: ignore[arg-type]

    def of(self, value: Value) -> Form:
        if value not in self._known:
            op = self.made.get(value)
            find = _FORMS.get(op.name) if op is not None else None
            found = find(self, op) if find is not None and is_whole(value) else None
            self._known[value] = {value: 1} if found is None else found
        return self._known[value]

    def span(self, atom: Value) -> Tuple[int, int]:
        """The range of a value that holds everywhere."""
        if atom not in self._spans:
            op = self.made.get(atom)
            low, high = _dtype_span(atom.type)
            find = _SPANS.get(op.name) if op is not None else None
            least, most = (low, high) if find is None else find(self, op)
            self._spans[atom] = max(low, least), min(high, most)
        return self._spans[atom]

    def extent(self, form: Form) -> Tuple[int, int]:
        """The range of a form."""
        low = high = form.get(None, 0)
        for atom, factor in form.items():
            if atom is not None:
                ends = sorted(factor * end for end in self.span(atom))
                low, high = low + ends[0], high + ends[1]
        return low, high

    def ends(self, value: Value) -> Tuple[int, int]:
        """The range of a value, by its form and its type."""
        (low, high), (least, most) = self.extent(self.of(value)), _dtype_span(value.type)
        return max(low, least), min(high, most)

    def size(self, array: Value, axis: int, result: Optional[Value] = None) -> Optional[Form]:
        """The form of ``shape[axis]``: one atom for all queries, or the size that the array was made with.

        None if no operation reads the size.
        """
        op = self.made.get(array)
        if op is not None and op.name == "alloc":
            return self.of(op.args[axis])
        if op is not None and op.name == "transpose":
            return self.size(op.args[0], op.attrs["axes"][axis], result)
        if result is not None:
            return {self._sizes.setdefault((array, axis), result): 1}
        known = self._sizes.get((array, axis))
        return None if known is None else {known: 1}


def is_whole(value: Value) -> bool:
    return isinstance(value.type, Scalar) and value.type.dtype.kind in "iu"


def _dtype_span(kind: Any) -> Tuple[int, int]:
    if isinstance(kind, Scalar) and kind.dtype.kind in "iu":
        info = np.iinfo(kind.dtype)
        return int(info.min), int(info.max)
    return (0, 1) if isinstance(kind, Scalar) and kind.dtype.kind == "b" else (LOW, HIGH)


# ---- forms ----


def _const(forms: Forms, op: Op) -> Optional[Form]:
    return {None: int(op.attrs["value"])} if op.attrs["value"] else {}


def _cast(forms: Forms, op: Op) -> Optional[Form]:
    """A conversion between integers, if it keeps the value."""
    source, (low, high) = op.args[0], _dtype_span(op.result.type)  # type: ignore[union-attr]
    least, most = _dtype_span(source.type)
    keeps = op.exit is not None or low <= least and most <= high
    return forms.of(source) if keeps and is_whole(source) else None


def _sum(factor: int) -> Any:
    return lambda forms, op: plus(forms.of(op.args[0]), forms.of(op.args[1]), factor)


def _product(forms: Forms, op: Op) -> Optional[Form]:
    left, right = (forms.of(value) for value in op.args)
    for number, other in ((number_of(left), right), (number_of(right), left)):
        if number is not None:
            return plus({}, other, number)
    return None


def _quotient(forms: Forms, op: Op) -> Optional[Form]:
    """A quotient by 1 or -1."""
    by = number_of(forms.of(op.args[1]))
    return plus({}, forms.of(op.args[0]), by) if by in (1, -1) else None


_FORMS: Dict[str, Any] = {
    "const": _const, "cast": _cast, "same": lambda forms, op: forms.of(op.args[0]),
    "add": _sum(1), "sub": _sum(-1), "mul": _product, "floordiv": _quotient,
    "neg": lambda forms, op: plus({}, forms.of(op.args[0]), -1),
    "dim": lambda forms, op: forms.size(op.args[0], op.attrs["axis"], op.result),
}


# ---- spans ----


def _of_mask(forms: Forms, op: Op) -> Tuple[int, int]:
    masks = [number for number in (number_of(forms.of(value)) for value in op.args) if number is not None]
    return (0, masks[0]) if masks and masks[0] >= 0 else (LOW, HIGH)


def _of_remainder(forms: Forms, op: Op) -> Tuple[int, int]:
    low, high = forms.ends(op.args[1])
    return (0 if low >= 0 else low + 1), (high - 1 if high > 0 else 0)


def _of_product(forms: Forms, op: Op) -> Tuple[int, int]:
    corners = [a * b for a in forms.ends(op.args[0]) for b in forms.ends(op.args[1])]
    return min(corners), max(corners)


def _of_size(forms: Forms, op: Op) -> Tuple[int, int]:
    """NumPy makes no array of more bytes than a word counts, whatever its strides."""
    return 0, HIGH // max(op.args[0].type.dtype.itemsize, 1)  # type: ignore[union-attr]


def _of_part(forms: Forms, op: Op) -> Tuple[int, int]:
    """An iterator's length is never negative; its index is not either, unless it counts down."""
    kind, path = op.args[0].type, op.attrs["path"]
    for number in path[:-1]:
        kind = kind.parts[number]  # type: ignore[union-attr]
    positive = path[-1] == "length" or path[-1] == "index" and kind.kind in (  # type: ignore[union-attr]
        "range", "sequence")
    return (0 if positive else LOW), HIGH


_SPANS: Dict[str, Any] = {
    "and": _of_mask, "mod": _of_remainder, "mul": _of_product, "iterator_part": _of_part,
    "dim": _of_size, "list_size": lambda forms, op: (0, HIGH),
    "cast": lambda forms, op: (0, 1) if op.args[0].type.dtype.kind == "b" else (LOW, HIGH),
}
