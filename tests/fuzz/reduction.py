"""Takes lines and blocks out of a failing program: Hypothesis shrinks what it drew, this what came of it.

    for i in range(3):          x = x + 1
        x = x + 1         ->                     if the program still fails
"""

from __future__ import annotations

import re
from typing import Callable, Iterator, List

MAX_TRIALS = 300

_COUNTS = re.compile(r"\s*w\d \+= 1$")  # what ends a loop


def reduced(source: str, fails: Callable[[str], bool]) -> str:
    """The shortest source that was found for which `fails` holds; it holds for `source`."""
    lines, trials, shorter = source.splitlines(), 0, True
    while shorter:
        shorter = False
        for candidate in _candidates(lines):
            text = "\n".join(candidate) + "\n"
            if trials < MAX_TRIALS and _compiles(text):
                trials += 1
                if fails(text):
                    lines, shorter = candidate, True
                    break
    return "\n".join(lines) + "\n"


def _candidates(lines: List[str]) -> Iterator[List[str]]:
    """Without a call; without a statement, from the last on; and with a block in place of its statement."""
    for number, line in enumerate(lines):
        if line.startswith("CALLS = [") and "," in line:
            names = line[len("CALLS = ["):-1].split(", ")
            for left_out in reversed(range(len(names))):
                kept = names[:left_out] + names[left_out + 1:]
                yield lines[:number] + ["CALLS = [{}]".format(", ".join(kept))] + lines[number + 1:]
    for start in reversed(range(len(lines))):
        if _COUNTS.match(lines[start]):
            continue
        end = _end(lines, start)
        yield lines[:start] + lines[end:]
        if end > start + 1:
            extra = _indent(lines[start + 1]) - _indent(lines[start])
            yield lines[:start] + [line[extra:] for line in lines[start + 1:end]] + lines[end:]


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _end(lines: List[str], start: int) -> int:
    """Where the statement at a line ends: behind the lines that are further in."""
    end = start + 1
    while end < len(lines) and lines[end].strip() and _indent(lines[end]) > _indent(lines[start]):
        end += 1
    return end


def _compiles(text: str) -> bool:
    try:
        compile(text, "<program>", "exec")
    except SyntaxError:
        return False
    return True
