"""Programs as a Hypothesis strategy: a function, what it uses, and calls of it, in one module's source.

    groups -> body (statements) -> helpers and closures that the body mentions -> parameters -> calls -> source
"""

from __future__ import annotations

import re
from typing import Any, Callable, Dict, List, Sequence, Tuple

from hypothesis import strategies as st

from tests.fuzz import constant_shapes
from tests.fuzz.arguments import PARAMETERS, Calls
from tests.fuzz.constant_shapes import COLUMNS, GROUP
from tests.fuzz.expressions import GROUPS
from tests.fuzz.library import ARRAYS, DEFINITIONS, GLOBALS, IMPORTS
from tests.fuzz.statements import HELPER, MAIN, STARTS
from tests.fuzz.tree import Compound, Line, Node, render
from tests.fuzz.writer import Scope, Writer, mentions

STATEMENTS = (8, 5, 14)  # in all, at most
MAX_LINES = 8  # statements that are in no other
HELPER_STATEMENTS = 3
MAX_GROUPS = 4
DRAWN_GROUPS = GROUPS + (GROUP,) * 3  # many templates need more programs
SURELY_BOUND = ("out", *constant_shapes.STARTS)  # the other names of `STARTS` may be unbound
RETURNED = ("vec", "num", "int", "short", "mat", "tall", "few", "grid", "cube")
# What only the main function has; its helpers may not mention it.
_OWN = "|".join(PARAMETERS + ("rate", "inner", "times", "tally") + tuple(STARTS))
LOCALS: Dict[str, Node] = {
    "times": Compound(("def times(e, k=2):", [Line("return e * k")])),
    "tally": Compound(("def tally(by=1):", [Line("nonlocal t"), Line("t = t + by"), Line("return t")])),
}
"""Functions that a function makes for itself."""
_HELPER_GROUPS = ("core", "maths", "views", "globals", "iteration", "errors")
_HELPERS = (("h0", "def h0(v, k=2):", "vec", "|h0|h1|both"), ("h1", "def h1(v, k=0.5):", "num", "|h1"))


@st.composite
def programs(draw: Callable[[Any], Any], always: Sequence[str] = ()) -> str:
    """The source of a module with the functions ``f`` and ``call_*``, and ``CALLS``, the order of its calls.

    Args:
        draw: Hypothesis' function for drawing from a strategy.
        always: groups of templates that each program has, besides those that it draws.
    """
    groups = _groups(draw, always)
    columns = draw(st.sampled_from(COLUMNS)) if GROUP in groups else COLUMNS[0]
    writer = Writer(draw, groups, MAIN, draw(st.sampled_from(STATEMENTS)), columns=columns)
    scope = writer.scope("any")
    body = writer.block(scope, MAX_LINES)
    body.append(Line("return " + ", ".join(_results(scope, body))))
    body[:0] = _inner(draw, writer, body)
    parameters = [name for name in PARAMETERS if mentions(name, render(body))]
    main = _function("def f({}):".format(", ".join(parameters)), body)
    if mentions("rate", render(body)):
        main = [Compound(("def make(rate):", main + [Line("return f")])), Line("f = make(0.5)")]
    functions = "\n\n".join(_helpers(draw, groups, render(main)) + [render(main)])
    calls = Calls(writer.choose, writer.chance, functions, parameters, columns)
    return _module(functions, calls, draw(st.integers(1, 4)))


def _groups(draw: Callable[[Any], Any], always: Sequence[str]) -> Tuple[str, ...]:
    chosen = {draw(st.sampled_from(DRAWN_GROUPS)) for _ in range(draw(st.integers(0, MAX_GROUPS)))}
    return tuple(group for group in GROUPS if group == "core" or group in always or group in chosen)


def _results(scope: Scope, body: List[Node]) -> List[str]:
    """The names that the function returns: all that are surely bound and occur in it."""
    names = [name for kind in RETURNED for name in scope.names.get(kind, ())]
    names += ["out"] if _uses_output(body) else []
    return [name for name in names if mentions(name, render(body))] or ["x"]


def _inner(draw: Callable[[Any], Any], writer: Writer, body: List[Node]) -> List[Node]:
    """What has to stand before a body: names that its templates use, and the closures that it calls."""
    text = render(body)
    used = [name for name in STARTS if (_uses_output(body) if name == "out" else mentions(name, text))]
    if "put" in used and "out" not in used:
        used.insert(0, "out")
    nodes: List[Node] = [Line(writer.fill(STARTS[name], writer.scope("any"))) for name in used
                         if name in SURELY_BOUND or not writer.chance(8)]
    nodes += [LOCALS[name] for name in LOCALS if mentions(name, text)]
    if mentions("inner", text):
        scope = writer.scope("vec")
        scope.bind("vec", "v")
        changed = [Line("nonlocal s"), Line(writer.fill("s += {num}", scope, 1))] if writer.chance(3) else []
        result = Line(writer.fill("return {vec}", scope).replace("inner(", "abs("))
        nodes.append(Compound(("def inner(v):", changed + [result])))
    return nodes


def _uses_output(body: List[Node]) -> bool:
    return mentions("out", render(body).replace("out=", ""))


def _function(header: str, body: List[Node]) -> List[Node]:
    """A function that declares what it assigns of the globals, and of the variable of its factory."""
    text = render(body)
    declared = [Line("global GAIN")] if _assigns("GAIN", text) else []
    declared += [Line("nonlocal rate")] if _assigns("rate", text) else []
    return [Compound((header, list(declared) + body))]


def _assigns(name: str, text: str) -> bool:
    return re.search(r"(?m)(^|; ) *{} \+?= ".format(name), text) is not None


def _helpers(draw: Callable[[Any], Any], groups: Tuple[str, ...], main: str) -> List[str]:
    """The generated helpers that a function needs, callees first."""
    sources: List[str] = []
    for name, header, result, barred in reversed(_HELPERS):
        if mentions(name + ("|both" if name == "h0" else ""), main + "".join(sources)):
            chosen = tuple(group for group in groups if group in _HELPER_GROUPS)
            writer = Writer(draw, chosen, HELPER, HELPER_STATEMENTS, _OWN + barred)
            scope = writer.scope(result, loops=2)
            body = writer.block(scope, HELPER_STATEMENTS) if writer.chance(2) else []
            body.append(Line(writer.fill("return {%s}" % result, scope)))
            sources.insert(0, render(_function(header, body)))
    return sources


def _module(functions: str, calls: Calls, count: int) -> str:
    """The whole source."""
    made = calls.draw(count)
    order = [0, 0, 0] + [number for number in range(1, count) for _ in range(2)] + [0] * (count > 1)
    tail = "\n\n".join(made) + "\n\nCALLS = [{}]\n".format(", ".join("call_%d" % number for number in order))
    kept = calls.globals()
    used = functions + kept + tail
    definitions = [source for name, source in DEFINITIONS.items() if mentions(name, used)]
    used += "".join(definitions)
    arrays = [source for name, source in ARRAYS.items() if mentions(name, tail)]
    used += "".join(arrays)
    top = [text for name, text in GLOBALS.items() if mentions(name, used)]
    imports = [text for name, text in IMPORTS.items() if mentions(name, used + "".join(top))]
    head = "\n".join(imports) + "\n\n" + "".join(line + "\n" for line in top)
    return "\n\n".join([head] + definitions + arrays + ([kept] if kept else []) + [functions, tail])
