"""Reports as pictures and pages: what is in them; test_hosted_reports.py has how a browser shows them."""

import re
from xml.etree import ElementTree

import numpy as np
import pytest

import pijit
from pijit.core.graph.ops import EFFECTS, OPS
from pijit.reporting.html_page import fragment_of
from tests.harness import fail_unless_captured, jitted

X = np.linspace(0.0, 1.0, 200)


def walk(x, n):
    total = 0.0
    for i in range(n):
        y = x[i] * 2.0
        total += y * y - x[i]
        if i % 100 == 0:
            print("at", i)
    z = np.sqrt(x) * total
    print("<done> & gone")
    return (z * z + x).sum()


@pytest.fixture(scope="module")
def report():
    with fail_unless_captured():
        f = jitted(walk)
        for _ in range(3):
            f(X, 150)
    return pijit.explain(f)


def parsed(svg):
    """The boxes of a picture, as (kind, first line of text, other lines), and its edges by kind."""
    root = ElementTree.fromstring(svg)
    space = "{http://www.w3.org/2000/svg}"
    boxes = []
    for element in root:
        kind = element.get("class", "")
        if element.tag == space + "rect" and kind.startswith("pj-box "):
            boxes.append((kind[len("pj-box pj-"):], []))
        elif element.tag == space + "text" and boxes and element.text != "solid: control, dotted: data":
            boxes[-1][1].append(element.text)
    paths = [element.get("class")[len("pj-"):] for element in root.iter(space + "path")]
    heads = [name for name in paths if name.endswith("-head")]
    return [(kind, lines[0], lines[1:]) for kind, lines in boxes], heads


def test_boxes_and_edges_are_those_of_the_split(report):
    boxes, heads = parsed(report.to_svg())
    assert [kind for kind, _, _ in boxes] == [box.kind for box in report.split.boxes]
    assert boxes[0][:2] == ("start", "walk") and boxes[-1] == ("end", "return", [])
    assert "L['x'] is a float64 array, ndim 1," in boxes[0][2]
    assert sum(kind == "kernel" for kind, _, _ in boxes) == len(report.kernels)
    prints = [lines for kind, _, lines in boxes if kind == "bytecode" and any("PJ201" in line for line in lines)]
    assert len(prints) >= 2
    kinds = [edge.kind for edge in report.split.edges if edge.kind == "control" or edge.source]
    assert heads.count("control-head") == kinds.count("control") and heads.count("data-head") == kinds.count("data")


def test_split_says_where_control_and_data_go(report):
    split, first = report.split, walk.__code__.co_firstlineno
    loops = [box for box in split.boxes if box.kind == "kernel" and box.first <= first + 3 <= box.last]
    (rare,) = [box for box in split.boxes if box.kind == "bytecode" and box.first <= first + 6 <= box.last]
    loop = next(box for box in loops if any(edge[:3] == (rare.id, box.id, "control") for edge in split.edges))
    assert any(edge[:3] == (loop.id, rare.id, "control") for edge in split.edges)
    handed = {name for edge in split.edges if edge[:3] == (loop.id, rare.id, "data") for name in edge.names}
    assert handed & {"i", "(operands)"}
    last = max(box.id for box in split.boxes if box.kind == "kernel")
    assert any(edge.target == last and edge.kind == "data" and "z" in edge.names for edge in split.edges)
    assert any(edge[:3] == (last, split.boxes[-1].id, "control") for edge in split.edges)


def test_effects_name_line_and_place():
    def stores(x, out, model):
        for i in range(len(x)):
            out[i] = x[i] * 2.0 + 1.0
            model.total += x[i]
        print("stored")
        return out

    class Model:
        total = 0.0

        def __init__(self):
            self.total = 0.0

    with fail_unless_captured():
        f = jitted(stores)
        for _ in range(3):
            f(X, np.zeros(200), Model())
    found = pijit.explain(f).effects
    line = stores.__code__.co_firstlineno
    assert (line + 2, "store of array elements") in {(one.line, one.what) for one in found}
    assert {one.line for one in found} == {line + 2, line + 3}
    assert all(re.match(r"k\d+|bytecode", one.where) for one in found)


def test_functions_without_a_split_have_a_picture_too():
    def generator():
        yield 1

    boxes, heads = parsed(pijit.explain(pijit.jit(generator)).to_svg())
    assert heads == [] and boxes[0][0] == "bytecode" and "runs as plain Python" in boxes[0][2]
    assert "not captured yet" in pijit.explain(pijit.jit(walk)).to_svg()


def test_page_and_fragment(report, tmp_path):
    path = tmp_path / "report.html"
    assert report.to_html(path) == str(path)
    text = path.read_text(encoding="utf-8")
    assert text.startswith("<!DOCTYPE html>") and "<script" not in text and "http-equiv" not in text
    assert "&lt;done&gt; &amp; gone" in text and "<done>" not in text
    assert report._repr_html_() == fragment_of(report) and report._repr_html_() in text
    for one in report.breaks + tuple(report.guards):
        assert (one if isinstance(one, str) else one.message).split("'")[0] in text
    assert not re.search(r'(src|href)="', text)
    with pytest.raises(TypeError, match="to_html: path must be a str or an os.PathLike, not 3"):
        report.to_html(3)


def test_each_effect_has_words():
    assert {name for name, info in OPS.items() if info.report_as} == EFFECTS
