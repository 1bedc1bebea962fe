"""HTML reports: the picture of the split beside the annotated source, then guards, recompiles and other lists.

The document has no scripts and no external resources, and follows the reader's light or dark scheme. A report may be
part of another page, such as a notebook. Its style rules have their own classes and are important, so the page cannot
change them. Untrusted notebooks lose style sheets; the source is then still a `pre` element with one line per row.
"""

from __future__ import annotations

import os
from html import escape
from typing import Any, Iterable, Iterator, Sequence, Union

from pijit.reporting.colours import DARK, LIGHT, MONOSPACE, firm, schemes
from pijit.reporting.picture import svg_of
from pijit.reporting.report import PLAIN, Line

STYLE = schemes(".pj") + firm("""
.pj { background: var(--pj-back); color: var(--pj-text); padding: 12px; text-align: left; direction: ltr;
  font: 14px/1.45 system-ui, 'DejaVu Sans', sans-serif; letter-spacing: normal; text-transform: none;
  white-space: normal; word-break: normal; print-color-adjust: exact; -webkit-print-color-adjust: exact; }
.pj h1, .pj h2 { font: inherit; font-size: 18px; margin: 0; padding: 0; border: 0; color: inherit; background: none;
  text-align: left; overflow-wrap: anywhere; }
.pj h2 { font-size: 15px; margin-top: 18px; }
.pj p { font: inherit; margin: 4px 0; color: inherit; text-align: left; overflow-wrap: anywhere; }
.pj .pj-soft { color: var(--pj-soft); }
.pj .pj-columns { display: flex; flex-wrap: wrap; gap: 20px; align-items: flex-start; margin-top: 12px; }
.pj .pj-picture { flex: 0 1 auto; max-width: 100%; }
.pj .pj-picture svg { display: block; max-width: 100%; height: auto; margin: 0; background: none; }
.pj .pj-source { flex: 1 1 420px; min-width: 0; max-width: 100%; box-sizing: border-box; margin: 0; padding: 0;
  border: 0; max-height: none; overflow: visible; background: none; color: inherit; text-align: left;
  font: 12px/1.5 MONOSPACE; }
.pj .pj-line { display: block; margin: 0; border: 0; padding: 0 0 0 var(--pj-gutter); background: none; color: inherit;
  text-indent: calc(-1 * var(--pj-gutter)); font: inherit; text-align: left; white-space: pre-wrap;
  overflow-wrap: anywhere; word-break: normal; }
.pj .pj-line.pj-kernel { background: var(--pj-kernel); }
.pj .pj-line.pj-mixed { background: var(--pj-mixed); }
.pj .pj-line.pj-note { color: var(--pj-note); }
.pj .pj-gutter { display: inline; color: var(--pj-soft); margin: 0; padding: 0; border: 0; font: inherit;
  white-space: inherit; background: none; user-select: none; -webkit-user-select: none; }
.pj ul { margin: 4px 0; padding: 0 0 0 20px; text-align: left; list-style: disc; }
.pj li { font: inherit; font-size: 13px; margin: 0; color: inherit; text-align: left; overflow-wrap: anywhere; }
@media print { .pj .pj-columns { display: block; } .pj .pj-source { margin-top: 12px; }
  .pj .pj-line, .pj li { break-inside: avoid; } }
""".replace("MONOSPACE", MONOSPACE))

PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title><style>body {{ margin: 0; background: {light}; }}
@media screen and (prefers-color-scheme: dark) {{ body {{ background: {dark}; }} }}</style></head>
<body>{body}</body></html>
"""

INDENT = "white-space:pre-wrap;text-align:left;--pj-gutter:{}ch"
"""The part of the source's style that does not depend on the style sheet."""
WIDEST = 14
"""Maximum length of a mark in characters; longer marks are shortened, and a tooltip shows them in full."""


def page_of(reports: Iterable[Any], title: str) -> str:
    """A complete document with these reports in order."""
    return PAGE.format(title=escape(title), body="\n".join(map(fragment_of, reports)), light=LIGHT["back"],
                       dark=DARK["back"])


def write_page(path: Union[str, "os.PathLike[str]"], reports: Iterable[Any], title: str) -> str:
    """Write such a document to a file; see `Report.to_html`."""
    try:
        target = os.fspath(path)
    except TypeError:
        raise TypeError("to_html: path must be a str or an os.PathLike, not {!r}".format(path)) from None
    with open(target, "w", encoding="utf-8") as stream:
        stream.write(page_of(reports, title))
    return target


def fragment_of(report: Any) -> str:
    """A report as an element that can be embedded in other pages, such as a notebook."""
    return '<div class="pj"><style>{}</style>{}</div>\n'.format(STYLE, "".join(_parts(report, "h1")))


def _parts(report: Any, heading: str) -> Iterator[str]:
    yield "<{0}>{1}</{0}>".format(heading, escape(report.name))
    yield '<p class="pj-soft">{}</p><p>{}</p>'.format(escape(report.filename), escape(report.counts))
    if report.skipped is not None:
        yield "<p>Runs as plain Python: {} {}. {}</p><p>{}</p>".format(
            *map(escape, (report.skipped.id, report.skipped.title, report.skipped.why, report.skipped.hint)))
    if report.unseen:
        yield "<p>{}</p>".format(escape(report.unseen.capitalize()))
    yield ('<div class="pj-columns"><div class="pj-picture" style="white-space:pre-line">{}</div>{}</div>'.format(
        svg_of(report).strip(), _source(report.annotated)))
    if report.profile is not None:
        yield '<h2>Profile</h2><pre class="pj-source">{}</pre>'.format(escape("\n".join(report.profile_lines)))
    for title, items in report.lists + [("effects", list(report.effects))] * bool(report.effects):
        yield "<h2>{}</h2><ul>{}</ul>".format(
            title.capitalize(), "".join("<li>{}</li>".format(escape(str(item))) for item in items))
    for callee in report.callees:
        yield from _parts(callee, "h2")


def _source(lines: Sequence[Line]) -> str:
    """The source with marks and numbers before the lines, and notes below them."""
    if not lines:
        return ""
    width = max(len(_before(line)) for line in lines)
    digits = max(len(str(line.number)) for line in lines)
    gutter = width + digits + 4
    return '<pre class="pj-source" style="{}">{}</pre>'.format(
        INDENT.format(gutter), "".join(_row(line, width, digits, gutter) for line in lines))


def _row(line: Line, width: int, digits: int, gutter: int) -> str:
    """A line and its notes; each ends with a newline, which separates lines if there is no style sheet."""
    kind = "" if line.mark in ("", PLAIN) else " pj-mixed" if line.mark.endswith(PLAIN) else " pj-kernel"
    before = "{:<{}} {:>{}} | ".format(_before(line), width, line.number, digits)
    row = '<span class="pj-line{}"><span class="pj-gutter"{}>{}</span>{}\n</span>'.format(
        kind, ' title="{}"'.format(escape(line.mark)) * (len(line.mark) > WIDEST), escape(before),
        escape(line.text.expandtabs()))
    return row + "".join('<span class="pj-line pj-note">{}{}\n</span>'.format(" " * gutter, escape(note))
                         for note in line.notes)


def _before(line: Line) -> str:
    """The mark of a line, and its time if there is one."""
    return "{} {}".format(_shortened(line.mark), line.time).strip() if line.time else _shortened(line.mark)


def _shortened(mark: str) -> str:
    """A mark such as `k1,k2,+5/py` for a line that is part of many kernels."""
    if len(mark) <= WIDEST:
        return mark
    labels, slash, plain = mark.partition("/")
    first = labels.split(",")
    return "{},{},+{}{}{}".format(first[0], first[1], len(first) - 2, slash, plain)
