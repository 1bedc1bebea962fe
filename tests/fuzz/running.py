"""Runs a program plain and jitted, and counts what there was in it."""

from __future__ import annotations

import linecache
import sys
from typing import Any, Dict, Sequence, Set

import pijit
from pijit.compare import Difference
from pijit.differential import DifferenceError, compare_calls
from pijit.plain_functions import plain_twin

FOOTER = '''

if __name__ == "__main__":
    import pijit
    from pijit.core import errors
    from pijit.differential import compare_calls
    from pijit.plain_functions import plain_twin

    errors.set_strict(True)
    compare_calls(f, pijit.jit(plain_twin(f), jit_config={!r}), CALLS)
'''

FILENAME = "<program>"


class Counts:
    """What has been run.

    Attributes:
        sources: the programs that did not differ, as hashes.
        kernels: how many programs had a kernel.
        nans: how many programs were left where NaNs with different bits met. Which one comes out depends in NumPy
            1.21 on where an item lies in memory, so that two plain runs differ too.
        lines: how many programs were left at the line of an unbound variable on 3.11, where warm functions name the line
            before, so that two plain calls differ too.
        calls, errors: how many calls there were, and how many of them raised.
    """

    __slots__ = ("sources", "kernels", "nans", "lines", "calls", "errors")

    def __init__(self) -> None:
        self.kernels = self.nans = self.lines = self.calls = self.errors = 0
        self.sources: Set[int] = set()

    def __str__(self) -> str:
        return ("{} programs, {} with a kernel; {} left at NaNs, {} at lines of 3.11; {} calls, {} of which raised"
                .format(len(self.sources), self.kernels, self.nans, self.lines, self.calls, self.errors))


def script(source: str, config: Dict[str, Any]) -> str:
    """A program as a file that can be run: it raises if there is a difference."""
    return source + FOOTER.format(config)


def run(source: str, config: Dict[str, Any], counts: Counts) -> None:
    """Compare a program with its jitted self, unless `counts` has it already.

    Raises:
        DifferenceError: they differ.
    """
    if hash(source) in counts.sources:
        return
    linecache.cache[FILENAME] = (len(source), None, source.splitlines(True), FILENAME)
    module: Dict[str, Any] = {"__name__": "program"}
    exec(compile(source, FILENAME, "exec"), module)
    function, calls = module["f"], module["CALLS"]  # type: Any, List[Any]
    jitted = pijit.jit(plain_twin(function), jit_config=config)
    try:
        outcomes = compare_calls(function, jitted, calls)
    except DifferenceError as error:
        nans, line = only_nans(error.differences), only_line_of_unbound(error)
        if not nans and not line:
            raise
        counts.nans += nans
        counts.lines += line
        return
    counts.sources.add(hash(source))
    counts.kernels += bool(jitted.graphs)
    counts.calls += len(outcomes)
    counts.errors += sum(outcome.error is not None for outcome in outcomes)


def only_line_of_unbound(error: DifferenceError) -> bool:
    """Whether a traceback alone differs, and CPython 3.11 chooses its line: that of an unbound local variable.

    The difference's cause is the exception of the jitted call.
    """
    return (sys.version_info[:2] == (3, 11) and isinstance(error.__cause__, UnboundLocalError)
            and all(difference.kind == "traceback" for difference in error.differences))


def only_nans(differences: Sequence[Difference]) -> bool:
    """Whether NaNs alone have different bits, also seen as bytes of the memory that their array is a view of."""
    arrays = [difference.where.rpartition("[")[0] for difference in differences if _between_nans(difference)]
    memory = tuple(array + ".base[" for array in arrays)
    return all(_between_nans(difference) or difference.kind == "bits" and difference.where.startswith(memory)
               for difference in differences)


def _between_nans(difference: Difference) -> bool:
    return difference.kind == "bits" and "nan" in difference.expected and "nan" in difference.got
