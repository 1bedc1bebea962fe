"""Callees whose calls are recorded in C: functions and methods of arrays that have a rule, or a derivative of zero."""

from __future__ import annotations

import inspect
from typing import Iterator, Optional, Tuple

import numpy as np

from pijit.core.graph.derivatives import CUTS, ELEMENTWISE, FUNCTIONS, METHODS
from pijit.core.tape import array_handlers, frame_handlers, handlers  # noqa: F401
from pijit.core.tape.callables import HANDLERS, READING, WRITERS
from pijit.core.tape.native import Rule
from pijit.core.tape.rules import rule_of

PACKED = frozenset((np.reshape, np.transpose))
"""Functions that get several arguments of the method as one tuple."""


def _functions() -> Iterator[Optional[Rule]]:
    for known in list(ELEMENTWISE) + list(FUNCTIONS) + list(CUTS):
        if known not in HANDLERS and known not in READING:
            yield rule_of(known, known)


def _methods() -> Iterator[Optional[Rule]]:
    for name in dir(np.ndarray):
        method, known = getattr(np.ndarray, name), METHODS.get(name) or getattr(np, name, None)
        if "ndarray." + name not in HANDLERS and name not in WRITERS and inspect.ismethoddescriptor(method) and (
                known in ELEMENTWISE or known in FUNCTIONS or known in CUTS) and known not in PACKED:
            yield rule_of(known, method)


CALLEES: Tuple[Rule, ...] = tuple(rule for rule in list(_functions()) + list(_methods()) if rule is not None)
"""Their rules."""
