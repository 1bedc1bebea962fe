"""The split of a report as an SVG picture: boxes in program order, control edges at the right, data edges at the left.

The boxes form one column that fits a phone screen. The picture has no ids, so a page can hold several. Colours are
attributes, too: viewers without style sheets show the light scheme.
"""

from __future__ import annotations

import textwrap
import unicodedata
from html import escape
from typing import Any, Dict, Iterable, List, Sequence, Set, Tuple

from pijit.core.named_tuples import NamedTuple
from pijit.reporting.colours import LIGHT, MONOSPACE, firm, schemes

WIDTH = 300
"""Width of a box in pixels, without the lanes of edges."""
MARGIN, GAP, LANE, LINE = 8, 26, 9, 15
COLUMNS = 42
FILLER = "\0"
"""Placeholder for the second column of a wide character while lines are wrapped."""
MOST = 6
"""Maximum number of texts shown in one box; the others are counted."""

PAINTS = {
    "ground": {"fill": "back"}, "title": {"fill": "text"}, "soft": {"fill": "soft"},
    "kernel": {"fill": "kernel", "stroke": "kernel-edge"}, "bytecode": {"fill": "byte", "stroke": "byte-edge"},
    "start": {"fill": "end", "stroke": "end-edge"}, "end": {"fill": "end", "stroke": "end-edge"},
    "control": {"fill": "", "stroke": "control"}, "data": {"fill": "", "stroke": "data"},
    "control-head": {"fill": "control"}, "data-head": {"fill": "data"}}
"""Fill and stroke of each kind of element, as names of colours; "" for none."""
BOXES = ("start", "kernel", "bytecode", "end")
DASHES = {"bytecode": "5 3", "data": "2 2"}

STYLE = schemes(".pj-pic") + firm("""
.pj-pic text { font: 11px/1.3 %s; letter-spacing: normal; word-spacing: 0; text-transform: none; text-anchor: start;
  direction: ltr; white-space: pre; stroke: none; }
.pj-pic text.pj-title { font-weight: bold; }
""" % MONOSPACE) + firm("".join(
    ".pj-pic .pj-{} {{ {} }}\n".format(kind, " ".join(
        "{}: {};".format(what, "var(--pj-{})".format(name) if name else "none") for what, name in paints.items()))
    for kind, paints in PAINTS.items()))


class Text(NamedTuple):
    """A line of a box."""

    words: str
    style: str


class Placed(NamedTuple):
    """A box with its lines and its position."""

    kind: str
    lines: Sequence[Text]
    top: int
    bottom: int

    @property
    def middle(self) -> int:
        return (self.top + self.bottom) // 2


def svg_of(report: Any) -> str:
    """The picture of a report as a complete SVG document, without scripts and embedded fonts."""
    boxes, edges = _boxes_and_edges(report)
    placed, top = [], MARGIN
    for kind, lines in boxes:
        height = LINE * len(lines) + 12
        placed.append(Placed(kind, lines, top, top + height))
        top += height + GAP
    data = _buses(edge for edge in edges if edge.kind == "data" and edge.source)
    control = _buses(edge for edge in edges if edge.kind == "control" and edge.target != edge.source + 1)
    straight = [edge for edge in edges if edge.kind == "control" and edge.target == edge.source + 1]
    left = MARGIN + LANE * (1 + _lanes(data)) if data else MARGIN
    right = left + WIDTH
    width = right + (LANE * (1 + _lanes(control)) if control else 0) + MARGIN
    parts = [_box(box, left) for box in placed]
    parts += [_arrow_down(left + WIDTH // 2, placed[edge.source].bottom, placed[edge.target].top)
              for edge in straight]
    parts += [_bus(placed, source, targets, right, right + LANE * (1 + lane), "control", 6)
              for source, targets, lane in control]
    parts += [_bus(placed, source, targets, left, left - LANE * (1 + lane), "data", -6)
              for source, targets, lane in data]
    parts.append(_text(Text("solid: control, dotted: data", "soft"), left, top - GAP + 20))
    title = "How {} was split: {}".format(report.name, ", ".join(box.lines[0].words for box in placed))
    return ('<svg class="pj-pic" xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 {w} {h}" width="{w}" '
            'height="{h}" font-family="{font}" font-size="11"><title>{title}</title>\n<style>{style}</style>'
            '<rect {ground} width="{w}" height="{h}"/>{parts}</svg>\n').format(
                w=width, h=top - GAP + 28, font=MONOSPACE, title=escape(title), style=STYLE,
                ground=_look("ground"), parts="".join(parts))


def _boxes_and_edges(report: Any) -> Tuple[List[Tuple[str, List[Text]]], Sequence[Any]]:
    split = report.split
    if split is None:
        said = "runs as plain Python" if report.skipped is not None else report.unseen
        why = [] if report.skipped is None else ["{} {}".format(report.skipped.id, report.skipped.title)]
        return [("bytecode", [*_wrapped(report.name, "title"), *_texts([said]), *_texts(why)])], ()
    gives: Dict[int, Set[str]] = {}
    for edge in split.edges:
        if edge.kind == "data" and edge.source:
            gives.setdefault(edge.source, set()).update(edge.names)
    return [(box.kind, _lines(report, box, sorted(gives.get(box.id, ())))) for box in split.boxes], split.edges


def _lines(report: Any, box: Any, gives: Sequence[str]) -> List[Text]:
    if box.kind == "start":
        return _wrapped(report.name, "title") + _texts(report.guards or ["no guards"])
    if box.kind == "end":
        return [Text("return", "title")]
    busy = [line for one in report.kernels if one.id == box.number for line in one.lines]
    first, last = (busy[0], busy[-1]) if busy else (box.first, box.last)
    where = "line {}".format(first) if first == last else "lines {}-{}".format(first, last)
    name = "kernel k{}".format(box.number) if box.kind == "kernel" else "bytecode"
    lines = [Text("{}, {}".format(name, where), "title")]
    for verb, names in (("takes", box.takes), ("gives", gives)):
        if names:
            lines += _wrapped("{} {}".format(verb, ", ".join(names)), "soft")
    if box.kind == "bytecode":
        lines += _texts(dict.fromkeys(reason_on(report, box.first, box.last)))
    return lines


def reason_on(report: Any, first: int, last: int) -> List[str]:
    """Why these lines stay bytecode: their breaks, or else segments that were not worth a kernel."""
    found = [one.message for one in report.breaks if first <= one.lineno <= last]
    return found or [one.reason for one in report.segments
                     if one.kind != "kernel" and one.lines and first <= one.start_line and one.end_line <= last]


def _texts(texts: Iterable[str]) -> List[Text]:
    texts = list(texts)
    lines = [line for text in texts[:MOST] for line in _wrapped(text, "soft")]
    return lines + ([Text("and {} more".format(len(texts) - MOST), "soft")] if len(texts) > MOST else [])


def _wrapped(text: str, style: str) -> List[Text]:
    filled = "".join(sign + FILLER * _is_wide(sign) for sign in text)
    lines = textwrap.wrap(filled, COLUMNS, subsequent_indent="  ", break_long_words=True) or [""]
    return [Text(line.replace(FILLER, ""), style) for line in lines]


def _is_wide(sign: str) -> bool:
    """Whether monospace fonts make this character twice as wide."""
    return unicodedata.east_asian_width(sign) in "WF"


def _look(kind: str) -> str:
    """The attributes class, fill and stroke of an element of this kind."""
    paints = PAINTS[kind]
    look = ['class="{}pj-{}"'.format("pj-box " * (kind in BOXES), kind)]
    look += ['{}="{}"'.format(what, LIGHT[name] if name else "none") for what, name in paints.items()]
    if "stroke" in paints:
        look.append('stroke-width="1.5"')
    if kind in DASHES:
        look.append('stroke-dasharray="{}"'.format(DASHES[kind]))
    return " ".join(look)


def _text(line: Text, x: int, y: int) -> str:
    weight = ' font-weight="bold"' * (line.style == "title")
    return '<text {}{} x="{}" y="{}" xml:space="preserve">{}</text>\n'.format(
        _look(line.style), weight, x, y, escape(line.words))


def _box(box: Placed, left: int) -> str:
    outline = '<rect {} x="{}" y="{}" width="{}" height="{}" rx="6"/>'.format(
        _look(box.kind), left, box.top, WIDTH, box.bottom - box.top)
    return outline + "".join(
        _text(line, left + 10, box.top + LINE * (k + 1) + 2) for k, line in enumerate(box.lines))


def _arrow_down(x: int, top: int, bottom: int) -> str:
    line = '<path {} d="M{} {}V{}"/>'.format(_look("control"), x, top, bottom - 6)
    return line + '<path {} d="M{} {}l-4 -7h8z"/>'.format(_look("control-head"), x, bottom)


def _buses(edges: Iterable[Any]) -> List[Tuple[int, List[int], int]]:
    """Lanes of edges: (source, targets, lane). Edges of one source share a lane; short ones lie next to the boxes."""
    targets: Dict[int, List[int]] = {}
    for edge in edges:
        targets.setdefault(edge.source, []).append(edge.target)
    spans = {source: (min([source] + found), max([source] + found)) for source, found in targets.items()}
    taken: List[List[Tuple[int, int]]] = []
    buses = []
    for source in sorted(spans, key=lambda one: (spans[one][1] - spans[one][0], one)):
        first, last = spans[source]
        lane = next((k for k, lane in enumerate(taken) if all(last < a or first > b for a, b in lane)), len(taken))
        taken += [[]] * (lane == len(taken))
        taken[lane] = taken[lane] + [(first, last)]
        buses.append((source, targets[source], lane))
    return buses


def _lanes(buses: Sequence[Tuple[int, List[int], int]]) -> int:
    return max(lane for _, _, lane in buses) + 1


def _bus(placed: Sequence[Placed], source: int, targets: Sequence[int], side: int, lane: int, kind: str,
         shift: int) -> str:
    """An edge from the lower part of a box along a lane to the upper parts of others, with an arrowhead at each."""
    start = placed[source].middle + 4
    parts = ['<path {} d="M{} {}H{}"/>'.format(_look(kind), side, start, lane)]
    for target in targets:
        end = placed[target].middle - 4
        parts.append('<path {} d="M{} {}V{}H{}"/>'.format(_look(kind), lane, start, end, side + shift))
        parts.append('<path {} d="M{} {}l{} -4v8z"/>'.format(_look(kind + "-head"), side, end, shift))
    return "".join(parts)
