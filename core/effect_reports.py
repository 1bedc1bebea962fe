"""Reports of effects on objects that the function did not create, in the terms of a Python program.

`capture_report` adds them to its record.
"""

from __future__ import annotations

from typing import Any, Dict, Iterable, List, Sequence, Tuple

from pijit.core.break_causes import line_of
from pijit.core.bytecode.instructions.predicates import outer_write
from pijit.core.capture.build.segment import Captured
from pijit.core.capture_records import EffectReport
from pijit.core.graph.ops import EFFECTS, OPS

PLACES: Dict[str, str] = {"attribute": "an attribute", "global": "a global", "cell": "a variable of an outer function",
                          "item": "an item"}
"""The places that instructions write, in words, see `outer_write`.
Operations of graphs have their words in ``graph.ops``."""


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
        written = outer_write(instructions[index])
        if written is not None:
            what = "%s of %s" % (written[0], PLACES[written[1]])
            places.setdefault(("", line_of(instructions, index), what), []).append("bytecode")
    return tuple(EffectReport(line, what, ", ".join(dict.fromkeys(where)), file)
                 for (file, line, what), where in sorted(places.items()))
