"""`set_context` and `get_context`: process-wide choice whether each jitted function must run as one graph."""

from __future__ import annotations

import sys
from typing import Any, Optional

from pijit.core import graph_mode
from pijit.names import closest

GRAPH_MODE, PYNATIVE_MODE = 0, 1
"""Values that `set_context(mode=...)` accepts."""

KEYS = ("mode", "jit_syntax_level", "device_target")
LEVELS = (graph_mode.STRICT, graph_mode.LAX)
DEVICE = "CPU"


def set_context(mode: Optional[int] = None, jit_syntax_level: Optional[str] = None,
                device_target: Optional[str] = None) -> None:
    """Set how all jitted functions of the process run; omitted arguments keep their values.

    Under `GRAPH_MODE` each function runs as under `jit(mode="PSJit")`, whatever mode it was decorated with. Under
    `PYNATIVE_MODE`, the default, it runs as decorated. Code compiled under another setting is captured again.

    Args:
        mode: `GRAPH_MODE` or `PYNATIVE_MODE`.
        jit_syntax_level: "STRICT": a function that is not one graph is an error; "LAX", the default: it falls back to
            Python. Applies to functions whose `jit_config` does not set it.
        device_target: "CPU", the only supported value.

    Raises:
        TypeError, ValueError: an argument is none of these.

    Example:
        >>> set_context(mode=GRAPH_MODE)
        >>> set_context(mode=PYNATIVE_MODE)
    """
    _refuse_others("mode", mode, (GRAPH_MODE, PYNATIVE_MODE), "pijit.GRAPH_MODE (0) or pijit.PYNATIVE_MODE (1)")
    _refuse_others("jit_syntax_level", jit_syntax_level, LEVELS, "'STRICT' or 'LAX'")
    _refuse_others("device_target", device_target, (DEVICE,), "'CPU'")
    before = graph_mode.current()
    after = graph_mode.Context(before.graph_mode if mode is None else mode == GRAPH_MODE,
                               jit_syntax_level or before.jit_syntax_level)
    if after != before:
        graph_mode.change(after)
        function_state = sys.modules.get("pijit.core.function_state")  # not imported before something is jitted
        if function_state is not None:
            function_state.forget("set_context")


def _refuse_others(name: str, value: Any, accepted: Any, words: str) -> None:
    if value is not None and not any(type(value) is type(one) and value == one for one in accepted):
        kind = ValueError if type(value) is type(accepted[0]) else TypeError
        raise kind("set_context: {} must be {}, not {!r}".format(name, words, value))


def get_context(attr_key: str) -> Any:
    """The current value of a setting of `set_context`.

    Args:
        attr_key: "mode", "jit_syntax_level" or "device_target".

    Returns:
        The value, as `set_context` accepts it.

    Raises:
        TypeError: `attr_key` is not a string.
        ValueError: there is no such key; the message names the closest.

    Example:
        >>> get_context("mode") == PYNATIVE_MODE
        True
    """
    if not isinstance(attr_key, str):
        raise TypeError("get_context: attr_key must be a str, one of {}; not {!r}".format(", ".join(KEYS), attr_key))
    if attr_key not in KEYS:
        raise ValueError("get_context: attr_key must be {}".format(closest(attr_key, KEYS)))
    now = graph_mode.current()
    values = GRAPH_MODE if now.graph_mode else PYNATIVE_MODE, now.jit_syntax_level, DEVICE
    return dict(zip(KEYS, values))[attr_key]
