"""How a browser shows reports: as pages, in notebooks with their style sheets, where styles are removed, and narrow."""

import re

import numpy as np
import pytest

import pijit
from pijit.reporting.html_page import _shortened, fragment_of, page_of
from pijit.reporting.picture import svg_of
from pijit.reporting.report import Report
from tests.harness import fail_unless_captured, jitted
from tests.pijit.reporting.browser import measured, needs_browser

X = np.linspace(0.0, 1.0, 200)

HOST = """<!DOCTYPE html><html><head><meta charset="utf-8"><style>
body { margin: 0; background: #111; color: #ddd; font: 20px serif; }
.host table { table-layout: fixed; margin: 0 auto 1em; font-size: 12px; border: none; }
.host td, .host th, .host tr { text-align: right; vertical-align: middle; padding: 8px; white-space: normal; }
.host tbody tr:nth-child(odd) { background: #111; } .host tbody tr:nth-child(even) { background: #444; }
.host pre, .host code { font-size: 18px; line-height: 3; color: #ccc; background: #222; padding: 4px;
  white-space: normal; text-align: right; word-break: break-all; }
.host .area pre { word-break: break-all; white-space: pre-wrap; overflow-x: auto; }
.host ul:not(.inline) { padding-left: 2em; } .host p { margin-bottom: 1em; text-align: right; }
.host h1, .host h2 { font-size: 40px; margin: 20px 0 10px; }
.host svg { max-width: 100%; height: auto; }
.host svg text, text { font-size: 19px; letter-spacing: 2px; text-anchor: end; }
.host span { display: inline-block; line-height: 1; padding: 2px; }
.kernel, .title, .box, .source, .code, .columns, .note { display: none; } :root { --back: red; --text: red; }
</style></head><body THEME><div class="host"><div class="area">REPORTS</div></div></body></html>
"""

MEASURE = """function (page, view) {
  var round = function (box) { return [box.left, box.top, box.right, box.bottom].map(function (one) {
    return Math.round(one * 10) / 10; }); };
  var lines = Array.from(page.querySelectorAll(".pj-gutter")).map(function (gutter) {
    var code = gutter.nextSibling, text = code.textContent, range = page.createRange(), at = text.search(/[^ \\n]/);
    if (at < 0) { at = text.length - 1; }
    range.setStart(code, at); range.setEnd(code, at + 1);
    return { gutter: round(gutter.getBoundingClientRect()), first: round(range.getBoundingClientRect()), indent: at,
             line: round(gutter.parentNode.getBoundingClientRect()), columns: gutter.textContent.length }; });
  var boxes = [], spills = [];
  page.querySelectorAll("svg .pj-box, svg text").forEach(function (one) {
    var size = one.getBBox(), box = boxes[boxes.length - 1];
    if (one.tagName == "rect") { boxes.push(size); }
    else if (size.x < box.x - 1 || size.x + size.width > box.x + box.width) { spills.push(one.textContent); } });
  var style = function (query, name) {
    var one = page.querySelector(query); return one && view.getComputedStyle(one)[name]; };
  return { lines: lines, spills: spills, wide: page.documentElement.scrollWidth,
    texts: Array.from(page.querySelectorAll("svg text")).map(function (one) {
      return round(one.getBoundingClientRect()); }),
    picture: page.querySelector(".pj-picture").getBoundingClientRect().width,
    source: page.querySelector(".pj-source").offsetLeft, back: style(".pj", "backgroundColor"),
    text: style(".pj", "color"), code: style(".pj-line", "color"), kernel: style("svg .pj-kernel", "fill"),
    letters: style("svg text", "fill") }; }"""


def walk(x, n):
    total = 0.0
    for i in range(n):
        y = x[i] * 2.0
        total += y * y - x[i]
        if i % 100 == 0:
            print("at", i)

    größe = np.sqrt(x) * total
    if (total<0) & (n>200): print("<done> & gone", "a long text, a long text, a long text, a long text, a long text", "漢字漢字", 200)
    return (größe * größe + x).sum()


def plain(n):
    for i in range(n):
        yield i


@pytest.fixture(scope="module")
def reports():
    with fail_unless_captured():
        f = jitted(walk)
        for _ in range(3):
            f(X, 150)
    return [pijit.explain(f), pijit.explain(pijit.jit(plain))]


def hosted(reports, theme=""):
    return HOST.replace("THEME", theme).replace("REPORTS", "".join(map(fragment_of, reports)))


def without_styles(html):
    """What JupyterLab leaves in notebooks that are not trusted: no style sheets, and of pictures the text."""
    before, sheet, rest = html.partition("</style></head>")
    rest = re.sub(r"(?s)<style>.*?</style>", "", rest)
    return before + sheet + re.sub(r"</?(svg|title|text|rect|path)\b[^>]*>", "", rest)


def notebook(reports, **options):
    """The page that nbconvert makes of a notebook with these reports as outputs."""
    nbformat, nbconvert = pytest.importorskip("nbformat"), pytest.importorskip("nbconvert")
    cells = [nbformat.v4.new_code_cell("pijit.explain(f)", outputs=[
        nbformat.v4.new_output("execute_result", {"text/html": report._repr_html_()})]) for report in reports]
    page, _ = nbconvert.HTMLExporter(**options).from_notebook_node(nbformat.v4.new_notebook(cells=cells))
    return re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL)


def overlap(one, other):
    return min(one[2], other[2]) - max(one[0], other[0]) > 0.5 and min(one[3], other[3]) - max(one[1], other[1]) > 4


def assert_readable(seen, width):
    """Source lines keep their indentation, and no label is on another or beyond its box or the page."""
    assert seen["spills"] == [] and seen["wide"] <= width
    lines, texts = seen["lines"], seen["texts"]
    assert len(lines) == len(set(line["line"][1] for line in lines)) > 10
    for one, other in zip(lines, lines[1:]):
        assert one["line"][3] <= other["line"][1] + 0.5, (one, other)
    for line in lines:
        left, _, right, _ = line["gutter"]
        column = (right - left) / line["columns"]
        assert column > 4 and abs(line["first"][0] - right - line["indent"] * column) < 1, line
        assert line["first"][1] < line["gutter"][3] and line["line"][0] - 0.5 <= left, line
    assert not [(one, other) for k, one in enumerate(texts) for other in texts[:k] if overlap(one, other)]


def brightness(colour):
    return sum(map(int, re.findall(r"\d+", colour)[:3])) / 3


def is_dark(seen):
    """Whether all of it is dark; fails if some of it is."""
    answers = {brightness(seen["back"]) < 60, brightness(seen["text"]) > 190, brightness(seen["code"]) > 190}
    if seen["kernel"]:
        answers |= {brightness(seen["kernel"]) < 80, brightness(seen["letters"]) > 190}
    (answer,) = answers
    return answer


@needs_browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_are_as_meant(reports, tmp_path, scheme):
    reports[0].to_html(tmp_path / "report.html")
    (tmp_path / "several.html").write_text(page_of(reports * 2, "<several>"), encoding="utf-8")
    widths = [1200, 360, 1200, 400]
    found = measured(tmp_path, list(zip(["report.html"] * 2 + ["several.html"] * 2, widths)), MEASURE, scheme)
    for seen, width in zip(found, widths):
        assert_readable(seen, width)
        assert is_dark(seen) == (scheme == "dark") and 300 < seen["picture"] <= width
        assert (seen["source"] > 300) == (width == 1200)


@needs_browser
def test_themes_of_hosts_are_followed_and_their_rules_are_not(reports, tmp_path):
    themes = {'data-jp-theme-light="false"': True, 'data-jp-theme-light="true"': False, 'class="vscode-dark"': True,
              'class="vscode-light"': False, 'class="vscode-high-contrast vscode-high-contrast-light"': False,
              'data-theme="dark"': True, "": False}
    pages = []
    for number, theme in enumerate(themes):
        pages.append(("host{}.html".format(number), 1000 - 600 * (number % 2)))
        (tmp_path / pages[-1][0]).write_text(hosted(reports, theme), encoding="utf-8")
    for (_, width), seen, dark in zip(pages, measured(tmp_path, pages, MEASURE), themes.values()):
        assert_readable(seen, width)
        assert is_dark(seen) == dark


@needs_browser
@pytest.mark.parametrize("options", [{"template_name": "lab", "theme": "dark"}, {"template_name": "classic"}],
                         ids=["lab", "classic"])
def test_notebooks_made_pages(reports, tmp_path, options):
    (tmp_path / "notebook.html").write_text(notebook(reports, **options), encoding="utf-8")
    (seen,) = measured(tmp_path, [("notebook.html", 1100)], MEASURE)
    assert_readable(seen, 1100)
    assert is_dark(seen) == ("theme" in options)


@needs_browser
def test_the_source_is_readable_without_styles(reports, tmp_path):
    page = without_styles(hosted(reports).replace(".host span {", ".host b {"))
    assert "<svg" not in page and page.count("<style") == 1
    (tmp_path / "bare.html").write_text(page, encoding="utf-8")
    (seen,) = measured(tmp_path, [("bare.html", 1000)], MEASURE)
    assert_readable(seen, 1000)


def test_a_report_can_be_on_a_page_twice_and_names_nothing_of_it(reports):
    for html in (fragment_of(reports[0]), svg_of(reports[0])):
        assert not re.search(r"\bid=|:root|url\(|@import|@font-face", html)
        assert all(name.startswith("pj") for found in re.findall(r'class="([^"]*)"', html) for name in found.split())
        assert set(re.findall(r"var\((--[\w-]+)", html)) <= set(re.findall(r"(--pj-[\w-]+):", html))


def test_tabs_escapes_and_long_functions():
    lines = ["def f(a):", "\tif a<b>c & d:", "    \treturn \"'\"", ""]
    lines += ["    a = a + {}".format(k) for k in range(1000)]
    report = Report("f<g>", "a&b.py", tuple(enumerate(lines, 1)), (), (), None, (), ())
    source = re.search(r"(?s)<pre[^>]*>(.*)</pre>", fragment_of(report)).group(1)
    text = re.sub(r"<[^>]*>", "", source)
    assert text.splitlines()[:4] == ["    1 | def f(a):",
                                     "    2 |         if a&lt;b&gt;c &amp; d:",
                                     "    3 |         return &quot;&#x27;&quot;", "    4 | "]
    assert len(text.splitlines()) == len(lines) and "<h1>f&lt;g&gt;</h1>" in page_of([report], "f")
    assert page_of([report._replace(source=())], "f").count("<pre") == 0


def test_marks_of_many_kernels_are_shortened():
    assert _shortened("k1,k2,k3/py") == "k1,k2,k3/py"
    assert _shortened("k1,k2,k3,k4,k5,k6/py") == "k1,k2,+4/py"


def test_wide_characters_count_twice_in_pictures():
    report = Report("漢" * 30, "a.py", (), (), (), None, (), ())
    texts = re.findall(r"<text[^>]*>([^<]*)</text>", svg_of(report))
    assert texts[0] == "漢" * 21 and texts[1].strip() == "漢" * 9
