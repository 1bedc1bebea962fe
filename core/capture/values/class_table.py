"""Tables by the class of an abstract value: what layers above do with a value, where a method would know too much.

Interpreter and graph builder look up ``table[type(value)]``. It must not know a class of values.
"""

from __future__ import annotations

from typing import Dict, TypeVar

RowType = TypeVar("RowType")


class ClassTable(Dict[type, RowType]):
    """A row for each class of abstract values. A class without a row of its own has that of its nearest base.

    Only a table in which most classes behave alike has a row for `Abstract`. In others a new class needs a row.
    """

    def __missing__(self, cls: type) -> RowType:
        base = next((base for base in cls.__mro__ if base in self), None)
        if base is None:
            raise KeyError(cls)
        row = self[cls] = self[base]
        return row
