"""What reports and dumps say of functions whose split is known.

The golden texts in `golden/` hold on CPython 3.10. `PIJIT_TEST_GOLDEN=rewrite pytest tests/pijit/reporting/test_known_splits.py`
writes them anew; look at what changed before you commit it.
"""

import os
import pathlib
import re
import sys

import pytest

import pijit
from pijit.reporting import printing
from tests.pijit.reporting.known_splits import KNOWN

GOLDEN = pathlib.Path(__file__).with_name("golden")
REWRITE = os.environ.get("PIJIT_TEST_GOLDEN") == "rewrite"
EVERYTHING = "whole"
"""The function all parts of which are golden; of the others those that say how they were split."""

PARTS = ("segments", "uses", "guards")
NAMES = [known.function.__name__ for known in KNOWN]


@pytest.fixture
def known(request, capsys):
    """A row of the table, and its function jitted after its calls."""
    row = KNOWN[request.param]
    f = pijit.jit(row.function, jit_config={"backend": "python", "perf_statistics": False,
                                            "print_after_all": row.function.__name__ == EVERYTHING})
    for arguments in row.calls:
        f(*arguments)
    capsys.readouterr()
    return row, f


each = pytest.mark.parametrize("known", range(len(KNOWN)), ids=NAMES, indirect=True)


@each
def test_counts_are_the_truth(known):
    row, f = known
    report, first = pijit.explain(f), row.function.__code__.co_firstlineno
    breaks = [(one.lineno - first, one.reason_id) for one in report.breaks]
    assert breaks == list(row.breaks) and len(f.state.entries) == row.entries
    assert (report.skipped.id if report.skipped else "") == row.skipped
    assert row.kernels is None or len(report.kernels) == row.kernels
    assert set(row.kernel_lines) <= {line - first for segment in report.kernels for line in segment.lines}
    assert [callee.name for callee in report.callees] == list(row.callees)
    assert [why.split()[0] for why in report.recompiles] == list(row.recompiles)
    head = str(report).splitlines()[0]
    assert " {} kernel".format(len(report.kernels)) in head and " {} break".format(len(report.breaks)) in head
    if report.split is not None:
        assert sum(box.kind == "kernel" for box in report.split.boxes) == len(
            {segment.id for segment in report.kernels} & {box.number for box in report.split.boxes})


def golden_text(row, f):
    """What is compared: without addresses, seconds, folders, and the numbers that kernels give to objects."""
    report = pijit.explain(f)
    sections = ["*** Report: {} ***\n{}\n".format(report.name, report)]
    if report.records:
        wanted = [part for part in printing.PARTS if part.attribute != "times" and (
            part.attribute in PARTS or row.function.__name__ == EVERYTHING)]
        sections += [printing.section(part, report.records[-1]) for part in wanted]
    text = "\n".join(sections).replace(row.function.__code__.co_filename, "known_splits.py")
    return re.sub(r"\bc\d+\b", "c", re.sub(r" at 0x[0-9a-f]+", " at 0x0", text))


@pytest.mark.unshared
@pytest.mark.skipif(sys.version_info[:2] != (3, 10), reason="the golden texts are of CPython 3.10")
@each
def test_golden_texts(known):
    row, f = known
    path = GOLDEN / "{}.txt".format(row.function.__name__)
    text = golden_text(row, f)
    if REWRITE:
        path.write_text(text, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == text


def test_every_golden_text_has_a_function():
    assert sorted(path.stem for path in GOLDEN.glob("*.txt")) == sorted(NAMES)
