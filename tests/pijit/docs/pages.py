"""Reads the pages of docs/: programs, commands, comparisons of two tools, and tables of contents.

A page may have these blocks, which tests run:

- a program, with the text that it prints below it; if its first line is `# NAME.py`, it is also saved under this name
- cells of a notebook, which begin with `%`
- commands of a shell, on pages that save a program
- comparisons: a table with a program of each tool, a program that uses either, and the text that both print
"""

import pathlib
import re

DOCS = pathlib.Path(__file__).resolve().parents[3] / "docs"
PAGES = sorted(page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md"))

PROGRAM = re.compile(r"^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```)?", re.S | re.M)
COMMANDS = re.compile(r"^```sh\n(.*?)^```\n(?:\n```text\n(.*?)^```)?", re.S | re.M)
COMPARISON = re.compile(r"^### ([^\n]*)\n((?:(?!^#|^<table>).)*?)^<table>\n(.*?)^</table>\n\n"
                        r"```python\n(.*?)^```\n\n```text\n(.*?)^```\n", re.S | re.M)
CELL = re.compile(r"<td>\n\n```python\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?(?:\nRaises `(\w+)`[^\n]*\n)?\n</td>", re.S | re.M)
TOCTREE = re.compile(r"^```{toctree}\n(.*?)^```", re.S | re.M)


class Comparison:
    """One task, solved with another tool and with pijit.

    Attributes:
        title: the heading.
        cells: (tool, program, printed text or None, name of the exception or None) of each column.
        use: a program that calls what a cell has defined.
        printed: the text that it prints; a cell may have another text of its own.
    """

    def __init__(self, title, table, use, printed):
        self.title, self.use, self.printed = title, use, printed
        tools = re.findall(r"<th>(.*?)</th>", table)
        self.cells = [(tool,) + cell for tool, cell in zip(tools, CELL.findall(table))]
        assert len(tools) == len(self.cells) == 2, title


def text_of(page):
    """The Markdown of a page."""
    return (DOCS / page).read_text(encoding="utf-8")


def comparisons(page):
    """The comparisons of a page."""
    return [Comparison(title, table, use, printed) for title, _, table, use, printed in COMPARISON.findall(text_of(page))]


def programs(page):
    """(program, text that it prints or None) of a page, without its cells and comparisons."""
    found = PROGRAM.findall(COMPARISON.sub("", text_of(page)))
    return [(program, text or None) for program, text in found if not program.startswith("%")]


def notebook_cells(page):
    """The cells of a page, in their order."""
    return [program for program, _ in PROGRAM.findall(text_of(page)) if program.startswith("%")]


def saved(page):
    """The programs of a page that have a name of a file, by name."""
    named = [(re.match(r"# (\w+\.py)\n", program), program) for program, _ in programs(page)]
    return {found.group(1): program for found, program in named if found}


def commands(page):
    """(commands, text that they print or None) of a page that saves programs; each line must call `python`."""
    found = COMMANDS.findall(text_of(page)) if saved(page) else []
    return [(block, text or None) for block, text in found
            if all(re.match(r"(?:\w+=\S+ )*python ", line) for line in block.splitlines())]


def listed(page):
    """The pages that the tables of contents of a page list, in their order; options are left out."""
    lines = [line for block in TOCTREE.findall(text_of(page)) for line in block.splitlines()]
    names = [line.strip() for line in lines if line.strip() and not line.startswith(":")]
    return [(pathlib.PurePosixPath(page).parent / (name + ".md")).as_posix() for name in names]
