"""Bar chart of the rows as SVG: a bar for each kernel and version on a log scale."""

from __future__ import annotations

import math
from typing import Dict, List, Sequence
from xml.sax.saxutils import escape

from benchmarks.measure import geometric_mean
from benchmarks.report import COLUMNS
from benchmarks.rows import Row

COLOURS = {"pijit": "#c0392b", "njit": "#7f8c8d", "tuned": "#2c3e50", "numexpr": "#b7950b"}
LEFT, DECADE, BAR, GAP, TOP = 260, 200, 5, 6, 50


def means(rows: Sequence[Row]) -> Dict[str, Dict[str, float]]:
    """The geometric mean over sizes and dtypes, by kernel and version."""
    kernels: Dict[str, Dict[str, float]] = {}
    for name in dict.fromkeys(row.kernel for row in rows):
        mine = [row for row in rows if row.kernel == name]
        kernels[name] = {version: geometric_mean(row.ratios[version].median for row in mine if version in row.ratios)
                         for version in COLUMNS if any(version in row.ratios for row in mine)}
    return kernels


def picture(rows: Sequence[Row]) -> str:
    """The SVG file's text."""
    kernels = means(rows)
    values = [value for versions in kernels.values() for value in versions.values()] or [1.0]
    low, high = min(math.floor(math.log10(min(values))), -1), max(math.ceil(math.log10(max(values))), 1)
    width, one = LEFT + DECADE * (high - low) + 60, LEFT + DECADE * -low
    shapes: List[str] = []
    y = TOP
    for name, versions in kernels.items():
        height = BAR * len(versions)
        shapes.append('<text x="%d" y="%.1f" text-anchor="end">%s</text>'
                      % (LEFT - 8, y + height / 2 + 3, escape(name)))
        for version, value in versions.items():
            end = one + DECADE * math.log10(value)
            shape = '<rect x="%.1f" y="%d" width="%.1f" height="%d" fill="%s"><title>%s: %.2fx</title></rect>'
            shapes.append(shape % (min(one, end), y, max(abs(end - one), 0.5), BAR, COLOURS[version],
                                   escape(name + ", " + version), value))
            y += BAR
        y += GAP
    marks = ['<line x1="{0}" x2="{0}" y1="{1}" y2="{2}" stroke="{3}"/>'
             '<text x="{0}" y="{4}" text-anchor="middle">{5:g}x</text>'.format(
                 LEFT + DECADE * (k - low), TOP - 6, y, "#000" if k == 0 else "#ddd", TOP - 10, 10.0 ** k)
             for k in range(low, high + 1)]
    legend = ['<rect x="{0}" y="8" width="10" height="10" fill="{1}"/><text x="{2}" y="17">{3}</text>'.format(
        10 + 160 * k, COLOURS[version], 24 + 160 * k, text) for k, (version, text) in enumerate(COLUMNS.items())]
    return ('<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" '
            'font-family="sans-serif" font-size="10">\n'
            '<rect width="100%%" height="100%%" fill="#fff"/>\n%s\n</svg>\n'
            % (max(width, 660), y + 10, "\n".join(legend + marks + shapes)))
