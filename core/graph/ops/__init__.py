"""Operations of the IR, one row each: operands, attributes, meaning, and all facts that other modules ask for.

"exits" means: the operation leaves through ``op.exit`` *before* any effect. It does so if Python or NumPy would raise,
warn or give a value that the result type cannot hold. An operation without an exit is known not to do this.

`info.py` describes the columns. The other modules of the package have the rows by kind of operand. Other modules ask
for the sets below; they define no sets of operations.
"""

from __future__ import annotations

from typing import Dict, FrozenSet

from pijit.core.graph.ops import arrays, effects, objects, scalars
from pijit.core.graph.ops.info import Fact, OpInfo

OPS: Dict[str, OpInfo] = {**scalars.ROWS, **arrays.ROWS, **objects.ROWS, **effects.ROWS}


def named(facts: int) -> FrozenSet[str]:
    """The names of the operations of which a fact, or one of several, is true."""
    return frozenset([name for name, info in OPS.items() if info.facts & facts])


EFFECTS = named(Fact.EFFECT)
CANNOT_FAIL = named(Fact.CANNOT_FAIL)
DROPS_REFERENCES = named(Fact.DROPS_REFERENCES)
DROPS_ITEMS = named(Fact.DROPS_ITEMS)
STORES = named(Fact.STORES)
STORES_ALL = named(Fact.STORES_ALL)
DRAWING = named(Fact.IS_DRAW)
NEEDS_GIL = named(Fact.NEEDS_GIL)
SHARES_OBJECTS = named(Fact.SHARES_OBJECTS)
NEEDS_FRAME = named(Fact.NEEDS_FRAME)

VIEWS = named(Fact.IS_VIEW)
MAKERS = named(Fact.MAKES_ARRAY)
REUSABLE = named(Fact.REUSABLE)
NUMPYS_MEMORY = named(Fact.NUMPYS_MEMORY)
MAKES_CONTAINER = named(Fact.MAKES_CONTAINER)
FOUND = named(Fact.FINDS_OBJECT)
GIVES_DEFAULT = named(Fact.GIVES_DEFAULT)
KEEPS_TRUTH = named(Fact.KEEPS_TRUTH)
KEEPS_VALUE = named(Fact.KEEPS_VALUE)
CONVERTS = named(Fact.CONVERTS)

HIDES_OPERANDS = named(Fact.HIDES_OPERANDS)
HIDES_OTHERS = named(Fact.HIDES_OTHERS)
FREES_OPERANDS = named(Fact.FREES_OPERANDS)
ACCESSES_ELEMENT = named(Fact.ACCESSES_ELEMENT)
FINDS_ELEMENTS = named(Fact.FINDS_ELEMENTS)
READS_ELSEWHERE = named(Fact.READS_ELSEWHERE)
KEEPS_ROWS = named(Fact.KEEPS_ROWS)
MAKES_ROWS = named(Fact.MAKES_ROWS)
MOVES_AHEAD = named(Fact.MOVES_AHEAD)

RAISES_FLAGS = named(Fact.RAISES_FLAGS)
ASKS_NUMPY = named(Fact.ASKS_NUMPY)
REPORTS_FLAGS = named(Fact.REPORTS_FLAGS)
PRECEDES_CHECKS = named(Fact.PRECEDES_CHECKS)

ELEMENTWISE = named(Fact.ELEMENTWISE)
APPLIES_UFUNC = named(Fact.APPLIES_UFUNC)
CHOOSES = named(Fact.CHOOSES)
UNDER_MASK = named(Fact.UNDER_MASK)
PLACES_ELEMENTS = named(Fact.PLACES_ELEMENTS)
COMPUTES_NO_ELEMENTS = named(Fact.ENDS_GROUP | Fact.PLACES_ELEMENTS)

PLAIN = named(Fact.PLAIN)
MOVABLE = named(Fact.MOVABLE)
OVERFLOWS = named(Fact.OVERFLOWS)
DIVIDES = named(Fact.DIVIDES)
FLOORS = named(Fact.FLOORS)
AFFINE = named(Fact.AFFINE)

CALLS_LIBRARY = named(Fact.CALLS_LIBRARY)
CHEAP = named(Fact.CHEAP)
COSTS_NOTHING = named(Fact.COSTS_NOTHING)
COSTS_ELEMENT = named(Fact.COSTS_ELEMENT)

SYMBOLS: Dict[str, str] = {name: info.symbol for name, info in OPS.items() if info.symbol}
FLAG_CHECKS: Dict[str, str] = {name: info.flag_check for name, info in OPS.items() if info.flag_check}

ELIDED_BYTES = 256 * 1024
"""Bytes from which on NumPy's operators compute into an operand that has no other reference."""

NEVER, ALWAYS, UNKNOWN, LEAVES = range(4)
"""Whether an operator computes into an operand of that size: it does not, it does, unknown, or it would raise."""
