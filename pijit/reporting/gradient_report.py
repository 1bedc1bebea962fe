"""Report of `explain` on a gradient: the source, the recorded lines, and the places where derivatives are cut.

The gradient functions of `pijit` and `pijit.ms` make it. It must not differentiate.
"""

from __future__ import annotations

import collections
import inspect
from typing import Any, Callable, Dict, List, Sequence, Tuple


class GradientReport:
    """The recorded lines of a function in one gradient call.

    Attributes:
        recorded: (file, line) to the number of operations recorded there.
        cuts: (file, line) to the names of operations whose derivative is zero.
        how: a sentence about kernels for later calls, or "".
    """

    def __init__(self, function: Callable[..., Any], tape: Any, how: str = "") -> None:
        self.how = how
        self._function = getattr(function, "py_func", function)
        self.recorded: Dict[Any, int] = dict(tape.lines)
        self.cuts: Dict[Any, List[str]] = collections.OrderedDict()
        for place, name in tape.cuts:
            names = self.cuts.setdefault(place, [])
            if name not in names:
                names.append(name)

    def __str__(self) -> str:
        function = inspect.unwrap(getattr(self._function, "__func__", self._function))
        title = "gradient of {}: {} operations recorded, {} cut".format(
            getattr(function, "__qualname__", repr(function)), sum(self.recorded.values()),
            sum(map(len, self.cuts.values())))
        return "\n".join([title + ("; " + self.how if self.how else ""), ""] + self._source(function))

    __repr__ = __str__

    def _source(self, function: Any) -> List[str]:
        try:
            lines, first = inspect.getsourcelines(function)
            path = function.__code__.co_filename
        except (OSError, TypeError, AttributeError):
            return ["(the source is not available)"]
        shown: List[str] = []
        for number, line in enumerate(lines, first):
            place: Tuple[str, int] = (path, number)
            shown.append("{:5}{:4} | {}".format("tape" if self.recorded.get(place) else "", number, line.rstrip("\n")))
            if place in self.cuts:
                shown.append("{:9}   ^ derivative is zero here: {}".format("", ", ".join(self.cuts[place])))
        return shown


def files_of(report: GradientReport, source: str, shown: Sequence[Any]) -> Dict[str, str]:
    """The texts that `pijit.dump` writes for a gradient, by file name.

    Args:
        report: the report on the call.
        source: the source of the joint function, or "".
        shown: the texts of its kernels, see `KernelTexts`.
    """
    files = {"explain.txt": str(report) + "\n"}
    if source:
        files["joint.py"] = source
    for texts in shown:
        files.update(texts.files())
    return files
