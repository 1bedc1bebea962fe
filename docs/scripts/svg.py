"""Writes SVG pictures that are legible on light and dark pages: curves, cells in colours, points and labels.

A picture has its own background. Its colours follow the scheme that the reader prefers.
"""

from xml.sax.saxutils import escape

LIGHT = {"back": "#ffffff", "text": "#1f2933", "line": "#7b8794", "first": "#2563c9", "second": "#b7452b",
         "third": "#1f7a45"}
DARK = {"back": "#14181d", "text": "#e4e7eb", "line": "#9fb0c0", "first": "#7fb0ff", "second": "#ff9d85",
        "third": "#6fd597"}
SHADES = ["#440154", "#46327e", "#365c8d", "#277f8e", "#1fa187", "#4ac16d", "#a0da39", "#fde725"]
"""Colours of cells, from low values to high ones; equal in both schemes."""
FONT = "font: 12px ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace"


def _variables(colours):
    return " ".join("--{}: {};".format(name, colour) for name, colour in colours.items())


def _number(value):
    """A coordinate in pixels; a tenth of a pixel is not visible."""
    return ("%.1f" % value).replace(".0", "")


class Drawing:
    """A picture that grows by shapes.

    Args:
        width, height: in pixels.
        title: what the picture shows, for readers that do not see it.
    """

    def __init__(self, width, height, title):
        self._size, self._title, self._shapes = (width, height), title, []

    def label(self, x, y, text, anchor="start"):
        """Write a text; `anchor` says which of its points is at x: start, middle or end."""
        self._shapes.append('<text x="{}" y="{}" text-anchor="{}">{}</text>'.format(
            _number(x), _number(y), anchor, escape(text)))

    def frame(self, x, y, width, height):
        """Draw a rectangle around a part of the picture."""
        self._shapes.append('<rect class="frame" x="{}" y="{}" width="{}" height="{}"/>'.format(
            *map(_number, (x, y, width, height))))

    def curve(self, points, colour):
        """Draw a line through points; `colour` is a name of LIGHT and DARK."""
        path = " ".join(_number(x) + "," + _number(y) for x, y in points)
        self._shapes.append('<polyline class="{}" points="{}"/>'.format(colour, path))

    def dots(self, points, colour, radius=2.5):
        """Draw a disc at each point."""
        self._shapes += ['<circle class="{} dot" cx="{}" cy="{}" r="{}"/>'.format(
            colour, _number(x), _number(y), radius) for x, y in points]

    def cells(self, values, x, y, size, low, high):
        """Draw a rectangle for each number of a two-dimensional array, in one of the SHADES.

        Args:
            values: rows of numbers.
            x, y: the upper left corner.
            size: the width and height of a cell.
            low, high: the values of the first and the last shade.
        """
        paths = [[] for _ in SHADES]
        for row, line in enumerate(values):
            levels = [shade_of(value, low, high) for value in line] + [None]
            begin = 0
            for column in range(1, len(levels)):
                if levels[column] != levels[begin]:
                    paths[levels[begin]].append("M{} {}h{}v{}h-{}z".format(
                        _number(x + begin * size), _number(y + row * size), _number((column - begin) * size),
                        _number(size), _number((column - begin) * size)))
                    begin = column
        self._shapes += ['<path class="cells" fill="{}" d="{}"/>'.format(shade, "".join(path))
                         for shade, path in zip(SHADES, paths) if path]

    def text(self):
        """The text of the file."""
        strokes = " ".join(".{0} {{ stroke: var(--{0}); }} .{0}.dot {{ fill: var(--{0}); }}".format(name)
                           for name in ("first", "second", "third"))
        style = "\n".join((
            "svg { " + _variables(LIGHT) + " }",
            "@media (prefers-color-scheme: dark) { svg { " + _variables(DARK) + " } }",
            ".ground { fill: var(--back); } text { fill: var(--text); " + FONT + "; }",
            ".frame { fill: none; stroke: var(--line); } polyline { fill: none; stroke-width: 1.8; }",
            strokes, ".dot { stroke: var(--back); stroke-width: 1.2; } .cells { shape-rendering: crispEdges; }"))
        return ('<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{0}" height="{1}" viewBox="0 0 {0} {1}">'
                '<title>{2}</title>\n<style>{3}</style>\n<rect class="ground" width="{0}" height="{1}"/>\n{4}\n'
                '</svg>\n').format(self._size[0], self._size[1], escape(self._title), style, "\n".join(self._shapes))


def shade_of(value, low, high):
    """The number of the shade of a value."""
    return int(min(max((float(value) - low) / (high - low), 0.0), 0.999999) * len(SHADES))
