"""The calls of a generated program: functions that make its arguments, and change globals before a call.

Each call differs from the first in some of: dtype, length, layout, aliasing, types and values of scalars, contents of
    containers, and globals. All that is passed is made in the source, so that the program runs by itself.
"""

from __future__ import annotations

from typing import Any, Callable, Dict, List, NamedTuple, Sequence, Tuple

from tests.fuzz.constant_shapes import COLUMNS
from tests.fuzz.writer import mentions

PARAMETERS = ("x", "y", "M", "P", "edge", "s", "t", "n", "m", "flag", "xs", "pair", "d", "c", "box")

_REAL = ("(0.5, -1.25, 3.0, 0.0)", "(1.0, 2.0, 4.0)", "(float('nan'), float('inf'), -0.0, 1.0)", "(3e4, -6e4, 0.1)")
_WHOLE = ("(3, -1, 0, 7)", "(127, -128, 1)", "(1, 2, 4)")
_UNSIGNED = ("(3, 255, 0, 7)", "(1, 2, 4)")
PALETTES: Dict[str, Sequence[str]] = {
    "'f8'": _REAL, "'i8'": _WHOLE, "'f4'": _REAL, "'i4'": _WHOLE, "bool": ("(True, False)",), "'u1'": _UNSIGNED,
    "'i1'": _WHOLE, "'i2'": _WHOLE, "'u2'": _UNSIGNED, "'u4'": _UNSIGNED, "'u8'": _UNSIGNED, "'f2'": _REAL,
    "'c16'": ("(1 + 2j, -0.5j, 3.0)", "(complex(float('nan'), 1), complex(-0.0, float('inf')), 1e200j)"),
    "'c8'": ("(1 + 2j, -0.5j, 3.0)",), "object": ("(0.5, 2.0, -1.0)",),
}
DTYPES = ("'f8'",) * 8 + tuple(PALETTES)

# Layouts, by how many items the memory below has for each that is seen.
VECTORS = ((1, "{}"), (1, "{}[::-1]"), (2, "{}[::2]"), (3, "{}.reshape(-1, 3)[:, 1]"), (1, "locked({})"),
           (1, "misaligned({})"), (2, "{}[::-2]"), (1, "{}.reshape(1, -1)"))
ROWS = 3
MATRICES = ((1, "{}.reshape(3, -1)"), (1, "{}.reshape(-1, 3).T"), (1, "{}.reshape(3, -1)[::-1]"),
            (1, "{}.reshape(3, -1)[:, ::-1]"), (2, "{}.reshape(6, -1)[::2]"), (1, "locked({}.reshape(3, -1))"))
# Of arrays with a number of columns, which takes the place of `{columns}`; `{double}` is twice as many.
TALL = ((1, "{{}}.reshape(-1, {columns})"), (1, "{{}}.reshape({columns}, -1).T"), (1, "{{}}.reshape(-1, {columns})[::-1]"),
        (1, "{{}}.reshape(-1, {columns})[:, ::-1]"), (2, "{{}}.reshape(-1, {double})[:, ::2]"),
        (2, "{{}}.reshape(-1, {columns})[::2]"), (2, "{{}}.reshape(-1, {double})[:, :{columns}]"),
        (1, "locked({{}}.reshape(-1, {columns}))"), (1, "misaligned({{}}.reshape(-1, {columns}))"))

SIZES = (7, 5, 3, 12, 2, 1, 0)
NUMBERS = ("0.5", "2", "-3", "np.float64(0.25)", "0.0", "True", "np.float32(1.5)", "float('nan')", "2 ** 62",
           "-2 ** 63",
           "2 ** 70", "np.int64(7)", "np.int8(100)", "np.uint8(200)", "1e200", "1j", "0.5 - 2j", "np.complex128(1 - 1j)", "np.bool_(True)",
           "np.array(1.5)")
INTEGERS = ("2", "1", "-1", "0", "7", "np.int64(3)", "2 ** 62", "True", "-2 ** 63", "2 ** 64", "np.uint8(5)")
ALIASES = ("x", "x[::-1]", "x[:]", "x.reshape(x.shape)")

# Statements that change what a program's globals hold before a call; the name before them is what must be in use.
CHANGES = (("GAIN", "GAIN = 2"), ("GAIN", "GAIN = np.float32(3)"), ("GAIN", "GAIN = 0.25"),
           ("TABLE", "TABLE = np.arange(16)"), ("TABLE", "TABLE[:] = 2"), ("LOG", "LOG.append(0)"),
           ("STATE", "STATE['total'] = 0.5"), ("KEPT", "KEPT.gain = 2"), ("KEPT", "KEPT.w = KEPT.w * 2"),
           ("KEPT", "KEPT.w = KEPT.w.astype('f4')"), ("KEPT", "KEPT.scale = np.negative"), ("LIST",
                                                                                            "LIST[0] = LIST[-1]"),
           ("LIST", "LIST.append(LIST[0])"))


class Facts(NamedTuple):
    """What one call's arguments are made from."""

    size: int
    dtype: str


class Calls:
    """Draws the calls of a program.

    Args:
        choose: draws from a sequence; the first is the simplest.
        chance: True once in so many times.
        body: the source of all functions of the program.
        parameters: those that its function has.
        columns: how many columns the function takes arrays with a few to have.
    """

    def __init__(self, choose: Callable[[Sequence[Any]], Any], chance: Callable[[int], bool], body: str,
                 parameters: Sequence[str], columns: str) -> None:
        self._choose = choose
        self._chance = chance
        self._body = body
        self._parameters = parameters
        self._columns = columns
        self._dtypes = tuple(name for name in DTYPES if name != "object" or not mentions("for|while", body))
        self._kept = {"xs": "LIST" if chance(4) else "", "box": "KEPT" if chance(4) else ""}

    def draw(self, count: int) -> List[str]:
        """The sources of `count` calls; the first is the plainest."""
        kept = any(self._kept.get(name) for name in self._parameters)
        size, dtype = SIZES[0] if kept else self._choose(SIZES[:4]), self._choose(self._dtypes)
        calls = [self._call(0, Facts(size, dtype), False)]
        for number in range(1, count):
            facts = Facts(self._choose(SIZES) if self._chance(3) else size,
                          self._choose(self._dtypes) if self._chance(3) else dtype)
            calls.append(self._call(number, facts, True))
        return calls

    def globals(self) -> str:
        """Objects that are passed in several calls."""
        texts = {"LIST": "LIST = [np.arange(7.0), np.ones(7)]\n", "KEPT": "KEPT = Box(np.arange(7.0), 0.5)\n"}
        return "".join(texts[self._kept[name]] for name in self._parameters if self._kept.get(name))

    def _call(self, number: int, facts: Facts, change: bool) -> str:
        lines = ["def call_{}():".format(number)] + (self._changes() if change else [])
        if ".seen" in self._body:  # classes are one for all who run a program
            lines.append("Box.seen = " + self._choose(("0", "0.5", "3") if change else ("0",)))
        needed = self._needed()
        lines += ["{} = {}".format(name, getattr(self, "_" + name)(facts, change)) for name in needed]
        passed = "".join(name + ", " for name in self._parameters)
        return "\n    ".join(lines + ["return ({}), {{}}".format(passed)]) + "\n"

    def _needed(self) -> List[str]:
        """The parameters, and the vectors that containers are made from."""
        holds = any(name in self._parameters for name in ("y", "xs", "pair", "d", "box"))
        return [name for name in PARAMETERS if name in self._parameters or (holds and name in "xy")]

    def _changes(self) -> List[str]:
        known = self._body + " ".join(self._kept[name] for name in self._parameters if name in self._kept)
        possible = [(name, text) for name, text in CHANGES if mentions(name, known)]
        if not possible or self._chance(3):
            return []
        name, text = self._choose(possible)
        return (["global " + name] if text.startswith(name + " =") else []) + [text]

    def _fresh(self, facts: Facts, layouts: Sequence[Tuple[int, str]], rows: int = 1) -> str:
        factor, layout = layouts[0] if not self._chance(3) else self._choose(layouts)
        if facts.dtype == "object" and "misaligned" in layout:  # references are always aligned
            factor, layout = layouts[0]
        palette = self._choose(PALETTES[facts.dtype])
        return layout.format("values({}, {}, {})".format(facts.size * rows * factor, facts.dtype, palette))

    def _x(self, facts: Facts, change: bool) -> str:
        return self._fresh(facts, VECTORS)

    def _y(self, facts: Facts, change: bool) -> str:
        if self._chance(3 if change else 6):
            return self._choose(ALIASES)
        other = facts if not self._chance(4) else facts._replace(dtype=self._choose(self._dtypes))
        return self._fresh(other, VECTORS)

    def _M(self, facts: Facts, change: bool) -> str:  # noqa: N802 - the name of the parameter
        if "x" in self._parameters and self._chance(8):
            return "np.broadcast_to(x, (3, x.shape[-1]))"
        return self._fresh(facts, MATRICES, ROWS)

    def _P(self, facts: Facts, change: bool) -> str:  # noqa: N802 - the name of the parameter
        columns = int(self._choose(COLUMNS) if change and self._chance(8) else self._columns)
        layouts = [(factor, layout.format(columns=columns, double=2 * columns)) for factor, layout in TALL]
        return self._fresh(facts, layouts, columns)

    def _edge(self, facts: Facts, change: bool) -> str:
        columns = self._choose(COLUMNS) if change and self._chance(8) else self._columns
        return self._fresh(facts._replace(size=int(columns)), VECTORS[:3])

    def _s(self, facts: Facts, change: bool) -> str:
        return str(self._choose(NUMBERS if change else NUMBERS[:6]))

    _t = _s

    def _n(self, facts: Facts, change: bool) -> str:
        return str(self._choose(("4", "3", "6", "0", "1")))

    def _m(self, facts: Facts, change: bool) -> str:
        return str(self._choose(INTEGERS if change else INTEGERS[:5]))

    def _flag(self, facts: Facts, change: bool) -> str:
        return str(self._choose(("True", "False") + (("None", "1") if change else ())))

    def _xs(self, facts: Facts, change: bool) -> str:
        options = ("[x, y]", "[x, x]", "[y.copy(), y, x[::-1]]", "[x]", "(x, y)", "[y, 2.0]", "[]")
        return self._kept["xs"] or str(self._choose(options if change else options[:3]))

    def _pair(self, facts: Facts, change: bool) -> str:
        options = ("(x, y)", "(y, y)", "[x, y]", "(x * 1, y, x)")
        return str(self._choose(options if change else options[:2]))

    def _d(self, facts: Facts, change: bool) -> str:
        options = ("{'a': x, 'b': y}", "{'a': x, 'b': x}", "{'b': y, 'a': y.copy()}", "{'a': x}")
        return str(self._choose(options if change else options[:2]))

    def _c(self, facts: Facts, change: bool) -> str:
        return "{{'k': {}, 'q': {}}}".format(self._choose(NUMBERS[:6]), self._choose(INTEGERS[:4]))

    def _box(self, facts: Facts, change: bool) -> str:
        options = ("Box(x, 0.5)", "Box(y.copy(), 2)", "Box(x[::-1], np.float32(2))", "Box(2.0, 1)")
        return self._kept["box"] or str(self._choose(options if change else options[:2]))
