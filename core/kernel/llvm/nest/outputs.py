"""Rows of nests with several results: each element's operands are loaded once, and all results are stored.

All results are new arrays. Metadata (``alias.scope``, ``noalias``) tells LLVM that no operand and no other result has
their memory. Otherwise its vector code would have to compare each pair of addresses, and it gives up if there are many.
Called by nest.py.
"""

from __future__ import annotations

from typing import Any, Dict, List

from pijit.core.kernel.llvm.builder import loop
from pijit.core.kernel.llvm.nest.elements import converted


class AliasScopes:
    """One alias scope for each of several arrays.

    Args:
        module: the LLVM module.
        count: the number of arrays.
    """

    def __init__(self, module: Any, count: int) -> None:
        earlier: List[AliasScopes] = vars(module).setdefault("alias_scopes", [])
        earlier.append(self)
        name = "pijit.%d" % len(earlier)
        domain = module.add_metadata([name])
        self._module = module
        self._scopes = [module.add_metadata(["%s.%d" % (name, number), domain]) for number in range(count)]
        self._all = module.add_metadata(self._scopes)

    def mark_load(self, instruction: Any) -> None:
        """A load from another array than these."""
        instruction.set_metadata("noalias", self._all)

    def mark_store(self, instruction: Any, number: int) -> None:
        """A store into the array with this number."""
        others = [scope for scope in self._scopes if scope is not self._scopes[number]]
        instruction.set_metadata("alias.scope", self._module.add_metadata([self._scopes[number]]))
        if others:
            instruction.set_metadata("noalias", self._module.add_metadata(others))


def write_row(writer: Any, size: Any, rows: List[Any], lasts: str, fixed: Dict[int, Any]) -> None:
    """Write a row of a nest with several results."""
    nest, builder = writer.nest, writer.builder
    numbers = [writer.first_step + step for step in nest.outputs] + [len(writer.kinds) - 1]
    writer.scopes = AliasScopes(builder.module, len(numbers))

    def body(index: Any) -> None:
        places = writer.places(rows, index, lasts)
        values = writer.values(places[:nest.read], fixed)
        for output, number in enumerate(numbers):
            array = nest.read + output
            value = converted(builder, values[number], writer.kinds[number], writer.dtypes[array])
            writer.scopes.mark_store(writer.store(places[array], value), output)

    loop(builder, size, body)
    writer.scopes = None
