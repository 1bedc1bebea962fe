"""Reports of effects on objects that the function did not create, in the terms of a Python program.

`capture_report` adds them to its record.
"""

from __future__ import annotations

from typing import Any, Dict, Iterable, List, Sequence, Tuple

from pijit.core.break_causes import line_of
from pijit.core.capture.build.segment import Captured
from pijit.core.capture_records import EffectReport
from pijit.core.graph.ops import EFFECTS, OPS

INSTRUCTIONS: Dict[str, str] = {
    "STORE_ATTR": "store of an attribute", "DELETE_ATTR": "del of an attribute",
    "STORE_GLOBAL": "store of a global", "DELETE_GLOBAL": "del of a global",
    "STORE_NAME": "store of a global", "DELETE_NAME": "del of a global",
    "STORE_DEREF": "store of a variable of an outer function", "DELETE_DEREF": "del of a variable of an outer function",
    "STORE_SUBSCR": "store of an item", "DELETE_SUBSCR": "del of an item",
}
"""The effect of each instruction that stays bytecode. Operations of graphs have theirs in ``graph.ops``."""


def effect_reports(made: Iterable[Captured], instructions: Sequence[Any],
                   broken: Iterable[int]) -> Tuple[EffectReport, ...]:
    """The effects by line; each is reported once, with all kernels that have it."""
    places: Dict[Tuple[str, int, str], List[str]] = {}
    for captured in made:
        for op in (op for block in captured.graph.blocks for op in block.ops):
            if op.name in EFFECTS:
                what = OPS[op.name].report_as
                places.setdefault((op.origin.file, op.lineno, what), []).append("k%d" % captured.number)
    for index in broken:
        if instructions[index].opname in INSTRUCTIONS:
            what = INSTRUCTIONS[instructions[index].opname]
            places.setdefault(("", line_of(instructions, index), what), []).append("bytecode")
    return tuple(EffectReport(line, what, ", ".join(dict.fromkeys(where)), file)
                 for (file, line, what), where in sorted(places.items()))
