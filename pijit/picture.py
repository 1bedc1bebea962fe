"""A report's split as a picture: an SVG of boxes in program order, control at the right, data at the left.

The boxes are one column, as wide as a telephone shows without shrinking it. Colours follow the light or dark scheme
of whoever shows it.
"""

from __future__ import annotations

import textwrap
from html import escape
from typing import Any, Dict, Iterable, List, NamedTuple, Sequence, Set, Tuple

WIDTH = 300
"""Of a box; the lanes of edges come on top."""
MARGIN, GAP, LANE, LINE = 8, 26, 9, 15
COLUMNS = 42
MOST = 6
"""More texts than this in one box are counted, not shown."""

STYLE = """
.pj-pic { --pj-back: #ffffff; --pj-text: #1f2933; --pj-soft: #52606d; --pj-kernel: #e3f4e8; --pj-kernel-edge: #1f8a4c;
  --pj-byte: #fdf1dc; --pj-byte-edge: #b7791f; --pj-end: #eef1f5; --pj-end-edge: #7b8794; --pj-control: #3e4c59;
  --pj-data: #2563c9; }
@media (prefers-color-scheme: dark) { .pj-pic { --pj-back: #14181d; --pj-text: #e4e7eb; --pj-soft: #9fb0c0;
  --pj-kernel: #14351f; --pj-kernel-edge: #4cc27c; --pj-byte: #3a2c12; --pj-byte-edge: #e0a94a; --pj-end: #222a33;
  --pj-end-edge: #7b8794; --pj-control: #b8c4d0; --pj-data: #7fb0ff; } }
.pj-pic .ground { fill: var(--pj-back); }
.pj-pic text { font: 11px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; fill: var(--pj-text); }
.pj-pic .title { font-weight: bold; }
.pj-pic .soft { fill: var(--pj-soft); }
.pj-pic .box { stroke-width: 1.5; }
.pj-pic .kernel { fill: var(--pj-kernel); stroke: var(--pj-kernel-edge); }
.pj-pic .bytecode { fill: var(--pj-byte); stroke: var(--pj-byte-edge); stroke-dasharray: 5 3; }
.pj-pic .start, .pj-pic .end { fill: var(--pj-end); stroke: var(--pj-end-edge); }
.pj-pic .control { stroke: var(--pj-control); } .pj-pic .data { stroke: var(--pj-data); stroke-dasharray: 2 2; }
.pj-pic .control, .pj-pic .data { fill: none; stroke-width: 1.5; }
.pj-pic .control-head { fill: var(--pj-control); } .pj-pic .data-head { fill: var(--pj-data); }
"""


class Text(NamedTuple):
    """A line of a box."""

    words: str
    style: str


class Placed(NamedTuple):
    """A box with its lines and where it is."""

    kind: str
    lines: Sequence[Text]
    top: int
    bottom: int

    @property
    def middle(self) -> int:
        return (self.top + self.bottom) // 2


def svg_of(report: Any) -> str:
    """The picture of a report as an SVG document of its own, without scripts and without fonts of its own."""
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
    parts.append('<text class="soft" x="{}" y="{}">solid: control, dotted: data</text>'.format(left, top - GAP + 20))
    title = "How {} was split: {}".format(report.name, ", ".join(box.lines[0].words for box in placed))
    return ('<svg class="pj-pic" xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 {w} {h}" width="{w}" '
            'height="{h}"><title>{title}</title><style>{style}</style><rect class="ground" width="{w}" height="{h}"/>'
            '{parts}</svg>\n').format(w=width, h=top - GAP + 28, title=escape(title), style=STYLE,
                                      parts="\n".join(parts))


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
    """Why bytecode stays on these lines: breaks, or else segments that were not worth a kernel."""
    found = [one.message for one in report.breaks if first <= one.lineno <= last]
    return found or [one.reason for one in report.segments
                     if one.kind != "kernel" and one.lines and first <= one.start_line and one.end_line <= last]


def _texts(texts: Iterable[str]) -> List[Text]:
    texts = list(texts)
    lines = [line for text in texts[:MOST] for line in _wrapped(text, "soft")]
    return lines + ([Text("and {} more".format(len(texts) - MOST), "soft")] if len(texts) > MOST else [])


def _wrapped(text: str, style: str) -> List[Text]:
    lines = textwrap.wrap(text, COLUMNS, subsequent_indent="  ", break_long_words=True) or [""]
    return [Text(line, style) for line in lines]


def _box(box: Placed, left: int) -> str:
    parts = ['<rect class="box {}" x="{}" y="{}" width="{}" height="{}" rx="6"/>'.format(
        box.kind, left, box.top, WIDTH, box.bottom - box.top)]
    parts += ['<text class="{}" x="{}" y="{}" xml:space="preserve">{}</text>'.format(
        line.style, left + 10, box.top + LINE * (k + 1) + 2, escape(line.words)) for k, line in enumerate(box.lines)]
    return "".join(parts)


def _arrow_down(x: int, top: int, bottom: int) -> str:
    line = '<path class="control" d="M{} {}V{}"/>'.format(x, top, bottom - 6)
    return line + '<path class="control-head" d="M{} {}l-4 -7h8z"/>'.format(x, bottom)


def _buses(edges: Iterable[Any]) -> List[Tuple[int, List[int], int]]:
    """The edges of one source share a lane: source, targets, lane. Short ones are next to the boxes."""
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
    """From the lower part of a box along a lane to the upper parts of others, with a head at each."""
    start = placed[source].middle + 4
    parts = ['<path class="{}" d="M{} {}H{}"/>'.format(kind, side, start, lane)]
    for target in targets:
        end = placed[target].middle - 4
        parts.append('<path class="{}" d="M{} {}V{}H{}"/>'.format(kind, lane, start, end, side + shift))
        parts.append('<path class="{}-head" d="M{} {}l{} -4v8z"/>'.format(kind, side, end, shift))
    return "".join(parts)
