"""A report as HTML: the picture of the split beside the annotated source, then guards, recompiles and the rest.

One document without scripts and without anything from elsewhere, light or dark as its reader prefers.
"""

from __future__ import annotations

import os
from html import escape
from typing import Any, Iterable, Iterator, Union

from pijit.picture import svg_of
from pijit.report import PLAIN

STYLE = """
.pj { --back: #ffffff; --text: #1f2933; --soft: #52606d; --line: #d9e0e7; --kernel: #e3f4e8; --mixed: #f4f0d8;
  --note: #8a4b08; color-scheme: light dark; background: var(--back); color: var(--text); padding: 12px;
  font: 14px/1.45 system-ui, "DejaVu Sans", sans-serif; text-align: left; }
@media (prefers-color-scheme: dark) { .pj { --back: #14181d; --text: #e4e7eb; --soft: #9fb0c0; --line: #323c47;
  --kernel: #14351f; --mixed: #35321a; --note: #f0bd6c; } }
.pj h1, .pj h2 { font-size: 18px; margin: 0; overflow-wrap: anywhere; } .pj h2 { font-size: 15px; margin-top: 18px; }
.pj p { margin: 4px 0; overflow-wrap: anywhere; } .pj .soft { color: var(--soft); }
.pj .columns { display: flex; flex-wrap: wrap; gap: 20px; align-items: flex-start; margin-top: 12px; }
.pj .columns > .pic { flex: 0 1 auto; max-width: 100%; }
.pj .pic svg { display: block; max-width: 100%; height: auto; }
.pj .columns > .source { flex: 1 1 420px; min-width: 0; max-width: 100%; overflow-x: auto; }
.pj table { border-collapse: collapse; width: 100%; background: var(--back); color: var(--text); }
.pj tr { background: transparent; }
.pj td { padding: 0 8px 0 0; vertical-align: top; border: 0; text-align: left;
  font: 12px/1.5 ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; }
.pj td.code { white-space: pre-wrap; overflow-wrap: anywhere; width: 100%; }
.pj td.number, .pj td.mark { color: var(--soft); text-align: right; white-space: nowrap; }
.pj tr.kernel { background: var(--kernel); } .pj tr.mixed { background: var(--mixed); }
.pj td.note { white-space: pre-wrap; overflow-wrap: anywhere; color: var(--note); padding-left: 24px; }
.pj ul { margin: 4px 0; padding-left: 20px; } .pj li { overflow-wrap: anywhere; font-size: 13px; }
"""

PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title><style>body {{ margin: 0; background: #ffffff; }}
@media (prefers-color-scheme: dark) {{ body {{ background: #14181d; }} }}</style></head>
<body>{body}</body></html>
"""


def page_of(reports: Iterable[Any], title: str) -> str:
    """A whole document with these reports, one after the other."""
    return PAGE.format(title=escape(title), body="\n".join(map(fragment_of, reports)))


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
    """A report as an element that other pages can hold, such as a notebook."""
    return '<div class="pj"><style>{}</style>{}</div>\n'.format(STYLE, "".join(_parts(report, "h1")))


def _parts(report: Any, heading: str) -> Iterator[str]:
    yield "<{0}>{1}</{0}>".format(heading, escape(report.name))
    yield '<p class="soft">{}</p><p>{}</p>'.format(escape(report.filename), escape(report.counts))
    if report.skipped is not None:
        yield "<p>Runs as plain Python: {} {}. {}</p><p>{}</p>".format(
            *map(escape, (report.skipped.id, report.skipped.title, report.skipped.why, report.skipped.hint)))
    if report.unseen:
        yield "<p>{}</p>".format(escape(report.unseen.capitalize()))
    yield '<div class="columns"><div class="pic">{}</div><div class="source"><table>{}</table></div></div>'.format(
        svg_of(report), "".join(_rows(report)))
    for title, items in report.lists + [("effects", list(report.effects))] * bool(report.effects):
        yield "<h2>{}</h2><ul>{}</ul>".format(
            title.capitalize(), "".join("<li>{}</li>".format(escape(str(item))) for item in items))
    for callee in report.callees:
        yield from _parts(callee, "h2")


def _rows(report: Any) -> Iterator[str]:
    """The source, a row per line, with what is to say of it below."""
    for number, mark, text, notes in report.annotated:
        style = "" if mark in ("", PLAIN) else "mixed" if mark.endswith(PLAIN) else "kernel"
        yield '<tr class="{}"><td class="mark">{}</td><td class="number">{}</td><td class="code">{}</td></tr>'.format(
            style, escape(mark), number, escape(text) or " ")
        for note in notes:
            yield '<tr><td class="note" colspan="3">{}</td></tr>'.format(escape(note))
