"""`pijit.get_code_extra`: the state of a jitted function as plain data, for tests and tools.

`pijit` exports it. It must not capture or compile.
"""

from __future__ import annotations

from typing import Any, Callable, Dict, Optional

from pijit.explain import state_of


class CodeExtra(dict):  # type: ignore[type-arg]
    """A dictionary whose keys are attributes, too."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None


def get_code_extra(f: Callable[..., Any]) -> Optional[CodeExtra]:
    """The state that pijit holds for a function.

    Args:
        f: a jitted function or method.

    Returns:
        None if `f` is not jitted, otherwise these keys. `stat` is "NEVER_COMPILE", "GRAPH_CANDIDATE" (before the first
        capture) or "GRAPH_CALLABLE"; "NEVER_COMPILE" also if all attempts so far ended in errors inside pijit.
        `compile_count_` counts the captures that made an entry, `break_count_` those of them that contain a break
        outside of exception handlers. From the first entry on, `code` describes the newest entry. It has four keys:
        `compiled_code_`, the linked code object; `phase_`, the names of its kernels, "" without one; `guard_`, a text;
        `call_count_`, the calls that it has served, with the call that compiled it.

    Example:
        >>> get_code_extra(len) is None
        True
    """
    state = state_of(f)
    if state is None:
        return None
    with_breaks = [entry for entry in state.entries if not all(one.in_handler for one in entry.reports.breaks)]
    extra = CodeExtra(stat=_stat(state), compile_count_=len(state.entries), break_count_=len(with_breaks))
    if state.entries:
        extra["code"] = CodeExtra(_newest(state.entries[-1]))
    return extra


def _stat(state: Any) -> str:
    if state.entries:
        return "GRAPH_CALLABLE"
    return "NEVER_COMPILE" if state.skip is not None or state.failures else "GRAPH_CANDIDATE"


def _newest(entry: Any) -> Dict[str, Any]:
    kernels = ["k{}".format(segment.id) for segment in entry.reports.segments if segment.kind == "kernel"]
    return {"compiled_code_": entry.code.linked, "phase_": ",".join(kernels),
            "guard_": "\n".join(entry.guards), "call_count_": entry.calls + 1}
