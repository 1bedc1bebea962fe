"""The programs of the pages in docs/ run, and print what stands below them; pictures are those that they draw.

`PIJIT_TEST_GOLDEN=rewrite pytest tests/pijit/docs/test_docs.py` draws the pictures again.
"""

import os
import re
import subprocess
import sys

import pytest

from tests.pijit.docs.pages import DOCS, PAGES, commands, listed, notebook_cells, programs, saved, text_of

ELSEWHERE = {"guide.md": "test_guide.py", "extending.md": "no whole programs",
             "science.md": "tests/science/test_science_page.py"}
GOLDEN = sys.version_info[:2] == (3, 10)
"""Where pictures are those of the pages."""
RUNNER = """
import runpy, sys
for path in sys.argv[1:]:
    print('---')
    runpy.run_path(path, run_name='__main__')
"""
CELLS = """
import sys
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
for path in sys.argv[1:]:
    shell.run_cell(open(path).read()).raise_error()
"""


def write_all(texts, folder, name):
    """Write texts to numbered files, and return the paths."""
    paths = [folder / name.format(number) for number in range(len(texts))]
    for path, text in zip(paths, texts):
        path.write_text(text)
    return [str(path) for path in paths]


def output(command, folder):
    """What a command prints when it runs in a folder."""
    return subprocess.check_output(command, cwd=str(folder), universal_newlines=True, stderr=subprocess.STDOUT)


def compare_pictures(folder):
    """Fail if a picture in a folder is not that of the docs; or write those of the docs again, if that is asked for."""
    for drawn in folder.glob("*.svg") if GOLDEN else ():
        kept = DOCS / "pictures" / drawn.name
        if os.environ.get("PIJIT_TEST_GOLDEN") == "rewrite":
            kept.write_text(drawn.read_text())
        assert kept.read_text() == drawn.read_text()


@pytest.mark.parametrize("page", [page for page in PAGES if page not in ELSEWHERE and programs(page)])
def test_programs(page, tmp_path):
    found = programs(page)
    paths = write_all([program for program, _ in found], tmp_path, os.path.basename(page)[:-3] + "_{}.py")
    out = output([sys.executable, "-c", RUNNER] + paths, tmp_path)
    printed = out.replace(str(tmp_path) + os.sep, "").split("---\n")[1:]
    assert len(printed) == len(found)
    for (_, wanted), text in zip(found, printed):
        assert wanted is None or text == wanted
    compare_pictures(tmp_path)


@pytest.mark.parametrize("page", [page for page in PAGES if page not in ELSEWHERE and commands(page)])
def test_commands(page, tmp_path):
    for name, program in saved(page).items():
        (tmp_path / name).write_text(program)
    for block, wanted in commands(page):
        shown = "".join(output(["sh", "-c", re.sub(r"\bpython\b", sys.executable, line, count=1)], tmp_path)
                        for line in block.splitlines())
        assert wanted is None or shown.replace(str(tmp_path) + os.sep, "") == wanted


@pytest.mark.unshared
@pytest.mark.parametrize("page", [page for page in PAGES if notebook_cells(page)])
def test_notebook_cells(page, tmp_path):
    pytest.importorskip("IPython")
    output([sys.executable, "-c", CELLS] + write_all(notebook_cells(page), tmp_path, "cell_{}.txt"), tmp_path)


def test_pages_lead_to_each_other():
    assert sorted(["index.md"] + [name for page in PAGES for name in listed(page)]) == PAGES
    for page in PAGES:
        for target in re.findall(r"\]\(([\w./-]+?\.(?:md|svg))\)", text_of(page)):
            assert ((DOCS / page).parent / target).exists(), (page, target)


def test_the_reference_has_all_that_the_package_has():
    import pijit

    named = set(re.findall(r"auto\w+:: ([\w.]+)", text_of("api.md")))
    assert set(pijit.__all__) - {"GRAPH_MODE", "PYNATIVE_MODE", "Stance", "__version__"} <= named
