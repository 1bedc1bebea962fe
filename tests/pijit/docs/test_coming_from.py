"""The comparisons in docs/coming_from/: both columns run and print the same text, and pijit's have kernels.

The column of another tool is skipped if the tool is not installed.
"""

import importlib.util
import subprocess
import sys

import pytest

from tests.pijit.docs.pages import PAGES, comparisons, text_of

RUNNER = """
import runpy, sys
for path in sys.argv[1:]:
    print('---')
    try:
        names = runpy.run_path(path, run_name='__main__')
    except Exception as error:
        print('raised', type(error).__name__)
        print(error, file=sys.stderr)
        continue
    if 'pijit' in sys.modules:
        from pijit.function import Jitted
        for name, value in names.items():
            assert not isinstance(value, Jitted) or value.graphs, (path, name, 'has no kernel')
"""
SHOWN = [page for page in PAGES if page.startswith("coming_from/")]
TOOLS = sorted({(page, cell[0]) for page in SHOWN for one in comparisons(page) for cell in one.cells})
MODULES = {"PyTorch": "torch", "JAX": "jax", "Cython": "cython", "numba": "numba", "pijit": "pijit"}


@pytest.mark.parametrize("page, tool", TOOLS)
def test_columns(page, tool, tmp_path):
    if importlib.util.find_spec(MODULES[tool]) is None:
        pytest.skip("{} is not installed".format(tool))
    cells = [(one, cell) for one in comparisons(page) for cell in one.cells if cell[0] == tool]
    paths = [tmp_path / "cell_{}.py".format(number) for number in range(len(cells))]
    for path, (one, cell) in zip(paths, cells):
        path.write_text(cell[1] + "\n\n" + one.use)
    out = subprocess.check_output([sys.executable, "-c", RUNNER] + [str(path) for path in paths], cwd=str(tmp_path),
                                  universal_newlines=True)
    printed = out.split("---\n")[1:]
    assert len(printed) == len(cells)
    for (one, (_, _, own, error)), text in zip(cells, printed):
        wanted = "raised {}\n".format(error) if error else own or one.printed
        assert text == wanted, one.title


@pytest.mark.parametrize("page", SHOWN)
def test_pages_have_both_columns(page):
    found = comparisons(page)
    assert len(found) >= 3 and all(one.cells[1][0] == "pijit" for one in found)
    assert "is the better choice" in text_of(page) and text_of(page).count("<table>") == len(found)
