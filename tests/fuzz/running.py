"""Runs a program plain and jitted, and counts what there was in it."""

from __future__ import annotations

import linecache
from typing import Any, Dict, List

import pijit
from pijit.differential import compare_calls, plain_twin

FOOTER = '''

if __name__ == "__main__":
    import pijit
    from pijit.differential import compare_calls, plain_twin

    compare_calls(f, pijit.jit(plain_twin(f), jit_config={!r}), CALLS)
'''

FILENAME = "<program>"


class Counts:
    """What has been run.

    Attributes:
        sources: the programs that did not differ, as hashes.
        kernels: how many programs had a kernel.
        calls, errors: how many calls there were, and how many of them raised.
    """

    __slots__ = ("sources", "kernels", "calls", "errors")

    def __init__(self) -> None:
        self.kernels = self.calls = self.errors = 0
        self.sources = set()  # type: Set[int]

    def __str__(self) -> str:
        return "{} programs, {} with a kernel; {} calls, {} of which raised".format(
            len(self.sources), self.kernels, self.calls, self.errors)


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
    module = {"__name__": "program"}  # type: Dict[str, Any]
    exec(compile(source, FILENAME, "exec"), module)
    function, calls = module["f"], module["CALLS"]  # type: Any, List[Any]
    jitted = pijit.jit(plain_twin(function), jit_config=config)
    outcomes = compare_calls(function, jitted, calls)
    counts.sources.add(hash(source))
    counts.kernels += bool(jitted.graphs)
    counts.calls += len(outcomes)
    counts.errors += sum(outcome.error is not None for outcome in outcomes)
