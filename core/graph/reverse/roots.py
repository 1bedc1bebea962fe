"""Roots: the array that owns the elements of each array value, and the index path from it.

A view has no adjoint of its own; its adjoint is the same view of its root's adjoint. Elements that an operation loads
have a path, too.
"""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Sequence, Set, Tuple, cast

from pijit.core.graph.ir import Op, Value
from pijit.core.graph.ops import STORES, VIEWS
from pijit.core.graph.reverse.forward import view_of
from pijit.core.graph.reverse.regions import RegionItem, all_ops


class Roots:
    """The roots of all arrays of a region.

    Attributes:
        view: the operation of each view.
        stored: the roots that stores write to.
        viewed: the roots whose adjoints are arrays that are changed in place: those of views, loads and stores.
        reshaped: the roots that are reshaped; their adjoints are in C order, so that reshaping these makes no copy.
        alias: loop parameters whose adjoint is that of another value, for the iteration that is written.
    """

    def __init__(self, items: Sequence[RegionItem]) -> None:
        ops = all_ops(items)
        self.view: Dict[Value, Op] = {cast(Value, op.result): op for op in ops if op.name in VIEWS}
        self.alias: Dict[Value, Value] = {}
        self.stored: Set[Value] = {self.of(op.args[0]) for op in ops if op.name in STORES}
        self.reshaped: Set[Value] = {self.of(op.args[0]) for op in ops if op.name == "reshape"}
        self.viewed: Set[Value] = self.stored | {self.of(op.args[0]) for op in ops
                                                 if op.name in VIEWS or op.name == "load"}

    def of(self, value: Value) -> Value:
        """The root of a value; a number is its own root."""
        while True:
            if value in self.view:
                value = self.view[value].args[0]
            elif value in self.alias:
                value = self.alias[value]
            else:
                return value

    def ops(self, value: Value) -> List[Op]:
        """The view operations on the way from a value to its root, ignoring aliases."""
        found = []
        while value in self.view:
            found.append(self.view[value])
            value = found[-1].args[0]
        return found

    def path(self, value: Value, text: Callable[[Value], str], aliases: bool = False) -> Tuple[Value, str]:
        """The root, and the code that makes this view of an array like it."""
        path = ""
        while value in self.view or aliases and value in self.alias:
            if value in self.view:
                op = self.view[value]
                path = view_of(op, text) + path
                value = op.args[0]
            else:
                value = self.alias[value]
        return value, path

    def ends_in_index(self, value: Value, aliases: bool = False) -> bool:
        """Whether the path of an array ends in an index, so that an assignment stores into the array."""
        while value in self.view or aliases and value in self.alias:
            op = self.view.get(value)
            if op is not None and op.name != "in_order":
                return "index" in op.attrs
            value = op.args[0] if op is not None else self.alias[value]
        return False

    def indices(self, value: Value) -> List[Value]:
        """The numbers in the path of a value."""
        return [number for op in self.ops(value) for number in op.args[1:]]


def constants_of(items: Sequence[RegionItem]) -> Dict[Value, Any]:
    """The constants of a region."""
    return {cast(Value, op.result): op.attrs["value"] for op in all_ops(items) if op.name == "const"}
