"""The markup of HTML reports: balanced tags, colours for both schemes that can be read, and pages that nbconvert makes."""

import re
from html.parser import HTMLParser

import numpy as np
import pytest

import pijit
from pijit.reporting.colours import DARK, DARK_HOSTS, LIGHT, LIGHT_HOSTS
from pijit.reporting.html_page import fragment_of, page_of
from tests.harness import fail_unless_captured, jitted

VOID = {"meta", "link", "br", "img", "input", "hr"}
SHOWN = [("text", "back"), ("soft", "back"), ("note", "back"), ("text", "kernel"), ("soft", "kernel"), ("text", "mixed"),
         ("soft", "mixed"), ("text", "byte"), ("text", "end")]
"""Colours of letters, and of what is behind them."""
READABLE = 4.5
"""The contrast that WCAG 2.1 wants of text."""


def walk(x, n):
    total = 0.0
    for i in range(n):
        total += x[i] * 2.0
        if i % 50 == 0:
            print("at", i)
    return (x * total).sum()


@pytest.fixture(scope="module")
def report():
    x = np.linspace(0.0, 1.0, 200)
    with fail_unless_captured():
        f = jitted(walk)
        for _ in range(3):
            f(x, 150)
    with pijit.profile():
        f(x, 150)
    return pijit.explain(f, profile=True)


class Tags(HTMLParser):
    """Checks that each tag is closed by its own end."""

    def __init__(self):
        super().__init__()
        self.open, self.seen = [], []

    def handle_starttag(self, tag, attributes):
        self.seen.append((tag, dict(attributes)))
        self.open += [] if tag in VOID else [tag]

    def handle_startendtag(self, tag, attributes):
        self.seen.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.open and self.open.pop() == tag, (tag, self.open)


def parsed(html):
    tags = Tags()
    tags.feed(html)
    tags.close()
    assert tags.open == []
    return tags.seen


def luminance(colour):
    parts = [int(colour[k:k + 2], 16) / 255.0 for k in (1, 3, 5)]
    red, green, blue = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one, other):
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("letters, behind", SHOWN)
def test_colours_can_be_read(scheme, letters, behind):
    assert contrast(scheme[letters], scheme[behind]) >= READABLE


def test_both_schemes_have_the_same_colours():
    assert set(LIGHT) == set(DARK) and luminance(LIGHT["back"]) > 0.9 and luminance(DARK["back"]) < 0.05


def test_the_fragment_is_balanced_and_alone(report):
    html = fragment_of(report)
    seen = parsed(html)
    assert seen[0] == ("div", {"class": "pj"}) and not {tag for tag, _ in seen} & {"html", "body", "script", "link"}
    assert html.count("<div") == html.count("</div>") and "Profile" in html


def test_the_page_is_a_document_in_both_schemes(report):
    html = page_of([report, report], "a <title> & more")
    assert html.startswith("<!DOCTYPE html>\n<html lang=") and [tag for tag, _ in parsed(html)].count("html") == 1
    assert "<title>a &lt;title&gt; &amp; more</title>" in html
    page = html[:html.index("</head>")]
    assert "background: " + LIGHT["back"] in page
    assert re.search(r"prefers-color-scheme: dark\) {{ body {{ background: {}".format(DARK["back"]).replace("{{", r"\{").replace(
        "}}", r"\}"), page)


def test_the_dark_scheme_defines_each_colour(report):
    sheet = fragment_of(report)
    used = set(re.findall(r"var\(--pj-([\w-]+)", sheet)) - {"gutter"}
    assert used <= set(DARK)
    dark = re.search(r"@media \(prefers-color-scheme: dark\) \{ \.pj \{(.*?)\}", sheet).group(1)
    for rules, hosts in ((dark, DARK_HOSTS), (None, LIGHT_HOSTS)):
        assert all("{} .pj".format(host) in sheet for host in hosts)
        assert rules is None or all("--pj-{}: {};".format(*one) in rules for one in DARK.items())
    # a host that says it is light overrides the reader's scheme, and paper is light
    assert sheet.index("prefers-color-scheme") < sheet.index(DARK_HOSTS[0]) < sheet.index(LIGHT_HOSTS[0]) < sheet.index(
        "@media print")


@pytest.mark.parametrize("options", [{"template_name": "lab", "theme": "dark"}, {"template_name": "lab"},
                                     {"template_name": "classic"}, {"template_name": "basic"},
                                     {"template_name": "lab", "sanitize_html": True}],
                         ids=["dark", "light", "classic", "basic", "sanitized"])
def test_pages_of_nbconvert(report, options):
    nbformat, nbconvert = pytest.importorskip("nbformat"), pytest.importorskip("nbconvert")
    cell = nbformat.v4.new_code_cell("pijit.explain(f)", outputs=[
        nbformat.v4.new_output("execute_result", {"text/html": report._repr_html_(), "text/plain": str(report)})])
    page, _ = nbconvert.HTMLExporter(**options).from_notebook_node(nbformat.v4.new_notebook(cells=[cell]))
    assert report.name in page
    if not options.get("sanitize_html"):
        html = fragment_of(report)  # nbconvert writes the markup again, with other character references
        for part in ('class="pj-line', 'class="pj-gutter"', "<rect", "<text", 'class="pj-columns"'):
            assert page.count(part) == html.count(part) > 0, part
        assert re.search(r"@media \(prefers-color-scheme: dark\) \{ \.pj \{", page)
        assert bool(re.search('<body[^>]*data-jp-theme-light="false"', page)) == ("theme" in options)
