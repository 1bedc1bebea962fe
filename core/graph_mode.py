"""Single-graph mode: whether a function must be one graph, by its own options and by `pijit.set_context`."""

from __future__ import annotations

from typing import Any

from pijit.core.named_tuples import NamedTuple

STRICT, LAX = "STRICT", "LAX"


class Context(NamedTuple):
    """``graph_mode``: functions run as under mode "PSJit". ``jit_syntax_level`` is for functions that set no level."""

    graph_mode: bool = False
    jit_syntax_level: str = LAX


_now = Context()


def current() -> Context:
    """The current context."""
    return _now


def change(context: Context) -> None:
    """Set the context of the whole process. The caller must handle entries that were made under another context."""
    global _now
    _now = context


def one_graph(config: Any) -> str:
    """The reason why a function with these options must be one graph, or "" if it need not."""
    if config.fullgraph:
        return "fullgraph is set"
    if (config.jit_syntax_level or _now.jit_syntax_level) != STRICT:
        return ""
    if config.mode == "PSJit":
        return "the mode is 'PSJit' and jit_syntax_level 'STRICT'"
    return "the context is GRAPH_MODE and jit_syntax_level 'STRICT'" if _now.graph_mode else ""
