"""The programs of the pages in docs/ run, and print what stands below them; pictures are those that they draw.

`PIJIT_TEST_GOLDEN=rewrite pytest tests/pijit/docs/test_docs.py` draws the pictures again.
"""

import os
import pathlib
import re
import subprocess
import sys

import pytest

DOCS = pathlib.Path(__file__).resolve().parents[3] / "docs"
PAGES = sorted(page.name for page in DOCS.glob("*.md"))
ELSEWHERE = {"guide.md": "test_guide.py", "extending.md": "no whole programs",
             "science.md": "tests/science/test_science_page.py"}
BLOCK = re.compile(r"^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```)?", re.S | re.M)
GOLDEN = sys.version_info[:2] == (3, 10)
"""Where line numbers and numpy's digits are those of the pages."""
RUNNER = """
import runpy, sys
for path in sys.argv[1:]:
    print('---')
    runpy.run_path(path, run_name='__main__')
"""


def blocks(page):
    """The programs of a page, each with what it has to print, or None."""
    return [(program, text or None) for program, text in BLOCK.findall((DOCS / page).read_text())]


@pytest.mark.parametrize("page", [page for page in PAGES if page not in ELSEWHERE and blocks(page)])
def test_programs(page, tmp_path):
    programs = blocks(page)
    paths = [tmp_path / "{}_{}.py".format(page[:-3], number) for number in range(len(programs))]
    for path, (program, _) in zip(paths, programs):
        path.write_text(program)
    out = subprocess.check_output([sys.executable, "-c", RUNNER] + [str(path) for path in paths], cwd=str(tmp_path),
                                  universal_newlines=True, stderr=subprocess.STDOUT)
    printed = out.replace(str(tmp_path) + os.sep, "").split("---\n")[1:]
    assert len(printed) == len(programs)
    for (_, wanted), found in zip(programs, printed):
        assert wanted is None or not GOLDEN or found == wanted
    for drawn in tmp_path.glob("*.svg") if GOLDEN else ():
        kept = DOCS / "pictures" / drawn.name
        if os.environ.get("PIJIT_TEST_GOLDEN") == "rewrite":
            kept.write_text(drawn.read_text())
        assert kept.read_text() == drawn.read_text()


def test_pages_lead_to_each_other():
    index = (DOCS / "index.md").read_text()
    listed = re.search(r"```{toctree}\n:hidden:\n\n(.*?)```", index, re.S).group(1).split()
    assert sorted(name + ".md" for name in listed + ["index"]) == PAGES
    for page in PAGES:
        for target in re.findall(r"\]\(([\w./-]+?\.(?:md|svg))\)", (DOCS / page).read_text()):
            assert (DOCS / target).exists(), (page, target)


def test_the_reference_has_all_that_the_package_has():
    import pijit

    named = set(re.findall(r"auto\w+:: ([\w.]+)", (DOCS / "api.md").read_text()))
    assert set(pijit.__all__) - {"GRAPH_MODE", "PYNATIVE_MODE", "Stance", "__version__"} <= named
