"""One row of the table: a kernel at a size and dtype, compared and timed."""

from __future__ import annotations

from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple

import numpy as np

import pijit
from benchmarks.cases.case import Case, uniform
from benchmarks.competitors import Competitors
from benchmarks.measure import Spread, interleaved, middle, spread

COPY = "copy"
"""The competitor that measures memory bandwidth: STREAM's copy of an array as large as the kernel's largest."""

LOOPS = "loops"
"""The competitor that only calls the NumPy loops that the kernel calls, with operands in the second-level cache."""

LOOP_BYTES = 1 << 16
"""Bytes of an operand of these loops; with much less, the cost of calls from Python would count."""


class Row(NamedTuple):
    """The measurements of a kernel at a size and dtype.

    Attributes:
        bytes: of the kernel's largest argument.
        seconds: the median time of a call, by version.
        ratios: the speed relative to NumPy, by version.
        bound: the share of the possible speed that a version reaches. The limit is memory, or NumPy's own loops.
        first: the seconds of the first calls of pijit and numba at the smallest size, compilation included.
        refused: why a version is missing.
        wrong: how pijit's results differ from NumPy's.
        why_not: the reason why they may differ.
        others_wrong: competitors whose results are not NumPy's, with the difference.
        kernels: how many kernels pijit has for the function.
        breaks: the lines that stay bytecode, each with the id of the reason.
        limit: COPY or LOOPS, whichever takes longer, or the name of another limit.
        again: the share if operands that must be read twice are counted twice.
    """

    family: str
    kernel: str
    dtype: str
    size: str
    bytes: int
    seconds: Dict[str, float]
    ratios: Dict[str, Spread]
    bound: Dict[str, float]
    first: Dict[str, float]
    refused: Dict[str, str]
    wrong: str
    why_not: str
    others_wrong: Dict[str, str]
    kernels: int
    breaks: List[Tuple[int, str]]
    limit: str = COPY
    again: float = 0.0

    def record(self) -> Dict[str, Any]:
        """The row for JSON."""
        return dict(self._asdict(), ratios={name: ratio._asdict() for name, ratio in self.ratios.items()})

    @classmethod
    def of_record(cls, record: Dict[str, Any]) -> "Row":
        """The row that JSON holds."""
        ratios = {name: Spread(**ratio) for name, ratio in record["ratios"].items()}
        return cls(**dict(record, ratios=ratios, breaks=[tuple(one) for one in record["breaks"]]))


def rows_of(family: str, case: Case, sizes: Sequence[str], dtypes: Optional[Sequence[str]], budget: float,
            clock: Callable[[], float]) -> Iterator[Row]:
    """Measure the rows of a kernel; its versions are compiled once per dtype, at the smallest size."""
    for dtype in case.dtypes:
        if dtypes is not None and dtype not in dtypes:
            continue
        competitors = Competitors(case, dtype, min(case.sizes.values()))
        for size in sizes:
            yield _row(family, competitors, dtype, size, budget, clock)


def _row(family: str, competitors: Competitors, dtype: str, size: str, budget: float,
         clock: Callable[[], float]) -> Row:
    case = competitors.case
    target = case.sizes[size]
    differences = competitors.compare(target, dtype)
    functions = {name: function for name, function in competitors.functions.items()
                 if name == "pijit" or name not in differences}
    arguments = {name: case.make(target, dtype) for name in functions}
    largest = max([a.nbytes for a in arguments["numpy"] if isinstance(a, np.ndarray)] or [target])
    if case.passes:
        functions[COPY], arguments[COPY] = copy(largest)
    if case.passes and case.loops:
        functions[LOOPS], arguments[LOOPS] = own_loops(case, np.dtype(dtype), largest)
    samples = interleaved(functions, arguments, budget, clock)
    floors = {COPY: [case.passes / 2.0 * one for one in samples.pop(COPY, [])], LOOPS: samples.pop(LOOPS, [])}
    limit = max(floors, key=lambda name: middle(floors[name] or [0.0]))
    seconds = {name: middle(times) for name, times in samples.items()}
    bound = {name: spread(floors[limit], times).median for name, times in samples.items()} if floors[limit] else {}
    report = pijit.explain(competitors.functions["pijit"])
    wrong = differences.pop("pijit", "")
    return Row(family, case.name, dtype, size, largest, seconds,
               {name: spread(samples["numpy"], times) for name, times in samples.items() if name != "numpy"},
               bound, competitors.first, competitors.refused, wrong, case.why_not if wrong else "", differences,
               len(report.kernels), sorted({(one.lineno, one.reason_id) for one in report.breaks}),
               case.limited or limit,
               bound["pijit"] * (1.0 + case.again / case.passes) if case.again and bound else 0.0)


def copy(size: int) -> Tuple[Callable[..., Any], Tuple[Any, ...]]:
    """A copy of ``size`` bytes, and its arguments."""
    source = np.ones(max(size // 8, 1))
    return np.copyto, (np.empty_like(source), source)


def own_loops(case: Case, dtype: np.dtype, size: int) -> Tuple[Callable[..., Any], Tuple[Any, ...]]:
    """A function that runs the NumPy loops of a case over ``size`` bytes, in blocks, and its arguments."""
    count = LOOP_BYTES // dtype.itemsize
    calls = [(loop, uniform(dtype, count, low=low, high=high)) for loop, low, high in case.loops]
    blocks, rest = divmod(size // dtype.itemsize, count)

    def run(result: np.ndarray) -> None:
        for loop, operand in calls:
            for _ in range(blocks):
                loop(operand, result)
            loop(operand[:rest], result[:rest])

    return run, (np.empty(count, dtype),)
