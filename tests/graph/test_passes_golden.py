"""Each pass on the graphs of small functions: `passes/PASS.test` has the graphs before and after the pass.

A file begins with comments. Then it has cases of this form::

    [case name-of-the-behaviour]
    # What the pass does here, or why it does nothing.
    # call: np.arange(8.0), 3
    def f(x, n):
        return x[:n] * 2.0
    [before]
      b0(%0: float64[1d,C] 'x', %1: py.int64 'n'):
      ...
    [out]
      ...

The source has one function and one comment with the arguments of the call that is captured; ``np`` is NumPy. A comment
``# options: fastmath=True`` sets options. The graph
is the first one of that capture, as `core/graph/printer.py` prints it without its name. If the pass changes nothing,
``[out]`` has the word ``unchanged``.

The graphs are those of CPython 3.10. `PIJIT_TEST_GOLDEN=rewrite pytest tests/graph/test_passes_golden.py` rewrites
them; look at the difference before you commit it.
"""

import os
import pathlib
import re
import sys
import types

import numpy as np
import pytest

import pijit
from pijit.core.graph.passes import PASSES, recorded

FOLDER = pathlib.Path(__file__).with_name("passes")
REWRITE = os.environ.get("PIJIT_TEST_GOLDEN") == "rewrite"
NAMES = ["simplify"] + [name for name, _ in PASSES]
CALL = "# call:"
OPTIONS = "# options:"
UNCHANGED = "unchanged"


class Case:
    """One case of a file: its name, the source with its first line's number, and the golden texts by section."""

    def __init__(self, path, name, lineno):
        self.path, self.name, self.lineno = path, name, lineno
        self.source = ""
        self.golden = {"before": "", "out": ""}

    def function(self):
        """The function, its arguments, and its options."""
        namespace = {"np": np}
        call, = [line for line in self.source.splitlines() if line.startswith(CALL)]
        # Tracebacks show the lines of the data file.
        exec(compile("\n" * (self.lineno - 1) + self.source, str(self.path), "exec"), namespace)
        f, = [value for value in namespace.values() if isinstance(value, types.FunctionType)]
        given = [line[len(OPTIONS):] for line in self.source.splitlines() if line.startswith(OPTIONS)]
        options = eval("dict({})".format(*given or [""]))
        return f, eval("arguments({})".format(call[len(CALL):]), {"np": np, "arguments": lambda *values: values}), options

    def printed(self):
        """The graph before the pass and after it, by section."""
        f, args, options = self.function()
        with recorded() as found:
            pijit.jit(f, jit_config={"backend": "python", "perf_statistics": False, **options})(*args)
        stages = next(iter(found.values()))
        names = [name for name, _ in stages]
        done = ["before passes"] + ["after " + name for name in NAMES[:NAMES.index(self.path.stem)]]
        before = [stage.text for stage in stages if stage.name in done][-1]
        after = "after " + self.path.stem
        out = stages[names.index(after)].text if after in names else UNCHANGED
        # The number of a ufunc's inner loop differs between versions of NumPy.
        return {name: re.sub(r"\bloop=\d+, ", "", text) + "\n" for name, text in (("before", before), ("out", out))}

    def text(self, printed):
        return "[case {}]\n{}[before]\n{}[out]\n{}".format(self.name, self.source, printed["before"], printed["out"])


def read(path):
    """The comments at the top of a file, and its cases."""
    head, cases, section = "", [], None
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        title = re.match(r"\[(case [\w-]+|before|out)\]$", line)
        if title is None:
            if section is not None:
                cases[-1].golden[section] += line + "\n" if line else ""
            elif cases:
                cases[-1].source += line + "\n"
            else:
                head += line + "\n"
        elif title.group(1).startswith("case "):
            cases.append(Case(path, title.group(1)[len("case "):], number + 1))
            section = None
        else:
            section = title.group(1)
    return head, cases


FILES = {path.stem: read(path) for path in sorted(FOLDER.glob("*.test"))}
CASES = [case for _, cases in FILES.values() for case in cases]


@pytest.mark.unshared
@pytest.mark.skipif(sys.version_info[:2] != (3, 10), reason="the graphs are of CPython 3.10")
@pytest.mark.parametrize("case", CASES, ids=["{}-{}".format(case.path.stem, case.name) for case in CASES])
def test_graphs_before_and_after(case):
    printed = case.printed()
    if REWRITE:
        case.golden = printed
        head, cases = FILES[case.path.stem]
        case.path.write_text(head + "\n".join(one.text(one.golden) for one in cases), encoding="utf-8")
    assert case.golden["before"] == printed["before"]
    assert case.golden["out"] == printed["out"]


def test_every_pass_has_a_file():
    assert sorted(FILES) == sorted(NAMES)


@pytest.mark.parametrize("name", sorted(FILES))
def test_each_pass_works_in_one_case_and_not_in_another(name):
    _, cases = FILES[name]
    assert len({case.name for case in cases}) == len(cases)
    assert {case.golden["out"] == UNCHANGED + "\n" for case in cases} == {True, False}
