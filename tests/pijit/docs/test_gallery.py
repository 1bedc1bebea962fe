"""The pictures of docs/gallery.md are those that its programs draw, and are legible on light and dark pages."""

import re
import runpy
import subprocess
import sys

import pytest

from tests.pijit.docs.pages import DOCS, text_of

SCRIPTS = DOCS / "scripts"
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
SAME_ON_ALL_MACHINES = ("plate", "reaction", "planets")
"""Pictures without sums whose order the processor decides."""


@pytest.fixture(scope="module")
def pictures():
    return runpy.run_path(str(SCRIPTS / "gallery.py"))["PICTURES"]


@pytest.mark.parametrize("name", ["plate", "reaction", "planets", "conductivity", "ring", "digits"])
def test_pictures_are_current(name, pictures):
    drawn, kept = pictures[name]().text(), (DOCS / "pictures" / "gallery_{}.svg".format(name)).read_text()
    if name in SAME_ON_ALL_MACHINES:
        assert drawn == kept
    elif name != "ring":  # the edge of the region is that of rounding
        assert NUMBER.sub("", drawn) == NUMBER.sub("", kept)
        pairs = zip(NUMBER.findall(drawn), NUMBER.findall(kept))
        assert all(abs(float(one) - float(other)) <= 2.0 for one, other in pairs)


def test_the_page_shows_all_pictures(pictures):
    shown = re.findall(r"\(pictures/gallery_(\w+)\.svg\)", text_of("gallery.md"))
    assert sorted(shown) == sorted(pictures)
    assert all((DOCS.parent / path).exists() for path in re.findall(r"`(examples/\w+\.py)`", text_of("gallery.md")))


def luminance(colour):
    """The relative luminance of a colour "#rrggbb", as WCAG 2 defines it."""
    parts = [int(colour[k:k + 2], 16) / 255.0 for k in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("scheme", ["LIGHT", "DARK"])
def test_colours_differ_from_the_background(scheme):
    colours = runpy.run_path(str(SCRIPTS / "svg.py"))[scheme]
    for name in set(colours) - {"back"}:
        low, high = sorted((luminance(colours[name]), luminance(colours["back"])))
        assert (high + 0.05) / (low + 0.05) >= (3.0 if name == "line" else 4.5), name


@pytest.mark.parametrize("name", ["reaction", "planets"])
def test_examples_give_the_same_with_and_without(name):
    out = subprocess.check_output([sys.executable, str(DOCS.parent / "examples" / (name + ".py"))],
                                  universal_newlines=True)
    assert re.search(r"^same \w+: True$", out, re.M)
