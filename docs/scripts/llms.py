"""Writes docs/_extra/llms.txt: the pages of the site with a sentence about each, for language models.

Run it with `python docs/scripts/llms.py`. The order and the groups are those of the tables of contents. The links go to
the Markdown sources, which the site has in `_sources`.
"""

import pathlib
import re

DOCS = pathlib.Path(__file__).resolve().parents[1]
TARGET = DOCS / "_extra" / "llms.txt"

TOCTREE = re.compile(r"^```{toctree}\n(.*?)^```", re.S | re.M)


def toctrees(page):
    """(caption, names of pages) of each table of contents on a page."""
    for block in TOCTREE.findall((DOCS / page).read_text(encoding="utf-8")):
        lines = [line.strip() for line in block.splitlines() if line.strip()]
        captions = [line[len(":caption:"):].strip() for line in lines if line.startswith(":caption:")]
        yield (captions + [""])[0], [line for line in lines if not line.startswith(":")]


def plain(text):
    """Markdown without links, in one line."""
    return " ".join(re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", text).split())


def title_and_sentence(page):
    """The heading of a page, and the first sentence of its first paragraph."""
    text = (DOCS / page).read_text(encoding="utf-8")
    title = re.search(r"^# (.*)$", text, re.M).group(1)
    paragraph = next(block for block in text.split("\n\n") if block[0].isalpha() or block[0] in "`[")
    return title, re.split(r"(?<=[.?])\s", plain(paragraph))[0].rstrip(":")


def entries(names, folder=""):
    """A line for each page, each followed by those of the pages that it lists."""
    for name in names:
        page = folder + name + ".md"
        title, sentence = title_and_sentence(page)
        yield "- [{}](_sources/{}): {}".format(title, page, sentence)
        below = page[:page.rfind("/") + 1]
        for _, children in toctrees(page):
            for line in entries(children, below):
                yield line


def text():
    """The text of the file."""
    title, sentence = title_and_sentence("index.md")
    lines = ["# " + title, "", "> " + sentence]
    for caption, names in toctrees("index.md"):
        lines += ["", "## " + caption, ""] + list(entries(names))
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    TARGET.write_text(text(), encoding="utf-8")
