"""Whether a function must be one graph: its own options, and the context that `pijit.set_context` sets."""

from __future__ import annotations

from typing import Any, NamedTuple

STRICT, LAX = "STRICT", "LAX"


class Context(NamedTuple):
    """``graph_mode``: functions run as under mode "PSJit". ``jit_syntax_level`` is that of those that set none."""

    graph_mode: bool = False
    jit_syntax_level: str = LAX


_now = Context()


def current() -> Context:
    """The context that holds now."""
    return _now


def change(context: Context) -> None:
    """Let a context hold, for the whole process. Entries made under another one are the caller's business."""
    global _now
    _now = context


def one_graph(config: Any) -> str:
    """Why a function with these options must be one graph; "" if it need not."""
    if config.fullgraph:
        return "fullgraph is set"
    if (config.jit_syntax_level or _now.jit_syntax_level) != STRICT:
        return ""
    if config.mode == "PSJit":
        return "the mode is 'PSJit' and jit_syntax_level 'STRICT'"
    return "the context is GRAPH_MODE and jit_syntax_level 'STRICT'" if _now.graph_mode else ""
