"""The site that Sphinx makes: it builds without warnings, has the anchors and the filter, and its list of pages."""

import re
import runpy
import subprocess
import sys

import pytest

from pijit.core.reasons import REASONS
from tests.pijit.docs.pages import DOCS, PAGES
from tests.pijit.reporting.browser import measured, needs_browser

pytestmark = pytest.mark.unshared  # one version has Sphinx

FILTERED = """function (page, window) {
  return [page.querySelectorAll("section[id^=PJ]:not([hidden])").length, page.getElementById("reasons-count").textContent,
          Array.from(page.querySelectorAll("section[id^=PJ]:not([hidden])")).map(function (one) { return one.id; })];
}"""


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    pytest.importorskip("sphinx")
    pytest.importorskip("furo")
    pytest.importorskip("myst_parser")
    folder = tmp_path_factory.mktemp("site")
    subprocess.check_call([sys.executable, "-m", "sphinx", "-E", "-W", "-q", str(DOCS), str(folder)])
    return folder


def test_each_reason_has_an_anchor(site):
    page = (site / "reasons.html").read_text()
    assert all('<section id="{}">'.format(name) in page for name in REASONS)
    assert "reasons.js" in page and "reasons.js" not in (site / "guide.html").read_text()


def test_pages_load_nothing_from_other_hosts(site):
    for page in site.rglob("*.html"):
        loaded = re.findall(r'<(?:script|img|iframe)[^>]* src="([^"]*)"|<link[^>]*rel="stylesheet"[^>]*href="([^"]*)"',
                            page.read_text())
        assert not [one for pair in loaded for one in pair if one.startswith(("http:", "https:", "//"))], page


@needs_browser
def test_the_filter_shows_sections_with_all_words(site):
    pages = [("reasons.html", 900), ("reasons.html?filter=PJ101", 900), ("reasons.html?filter=generator+function", 900),
             ("reasons.html?filter=nosuchword", 900)]
    everything, one, words, none = measured(site, pages, FILTERED)
    assert everything[0] == len(REASONS) and everything[1] == "{0} of {0} reasons".format(len(REASONS))
    assert one[2] == ["PJ101"] and none[0] == 0
    assert "PJ101" in words[2] and 1 <= words[0] < len(REASONS)


def test_the_list_of_pages_is_current():
    script = runpy.run_path(str(DOCS / "scripts" / "llms.py"))
    assert script["TARGET"].read_text(encoding="utf-8") == script["text"]()
    named = re.findall(r"\(_sources/([\w./-]+)\)", script["text"]())
    assert sorted(named + ["index.md"]) == PAGES


def test_links_of_the_list_exist_in_the_site(site):
    listed = (site / "llms.txt").read_text(encoding="utf-8")
    assert all((site / target).exists() for target in re.findall(r"\]\(([\w./-]+)\)", listed))
