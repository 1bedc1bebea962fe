"""The names of the extension module `pijit.core._tape`; on Pythons without it, names that only can be imported.

Gradients are refused there (PJ501) before any of them is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable

from pijit.core.pythons import why_not_python

if TYPE_CHECKING or why_not_python() is None:
    from pijit.core._hook import set_recording
    from pijit.core._tape import (
        MOST_OPERANDS,
        Memory,
        Rule,
        Tape,
        attribute_helper,
        call_helper,
        forget_rewritten,
        is_instrumented,
        load_helper,
        operator_helper,
        overlaps_itself,
        plain_run,
        remember_rewritten,
        set_instrumented,
        set_tapes,
        site_helper,
        store_attribute_helper,
        store_slot_helper,
        truth_helper,
        user_place,
    )
else:
    class Rule:
        """Holds its arguments."""

        def __init__(self, *args: Any) -> None:
            self.args = args

    Memory = Tape = Rule
    MOST_OPERANDS = 0

    def plain_run(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """A plain call."""
        return function(*args, **kwargs)

    def _last(*args: Any) -> Any:
        return args[-1] if args else None

    operator_helper = load_helper = store_slot_helper = site_helper = call_helper = _last
    attribute_helper = store_attribute_helper = truth_helper = _last
    remember_rewritten = forget_rewritten = _last
    set_instrumented = is_instrumented = overlaps_itself = set_recording = set_tapes = user_place = _last

__all__ = [
    "MOST_OPERANDS", "Memory", "Rule", "Tape", "attribute_helper", "call_helper", "forget_rewritten",
    "is_instrumented", "load_helper", "operator_helper", "overlaps_itself", "plain_run", "remember_rewritten",
    "set_instrumented", "set_recording", "set_tapes", "site_helper", "store_attribute_helper", "store_slot_helper",
    "truth_helper", "user_place"]
