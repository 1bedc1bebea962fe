"""`mindspore._extends`: decorators and switches that programs import; they have no effect here."""

from __future__ import annotations

import types
from typing import Any

compile_config = types.SimpleNamespace()
"""Switches of MindSpore's compiler that programs set; they have no effect here."""


def cell_attr_register(fn: Any = None, attrs: Any = None) -> Any:
    """Returns the function."""
    return (lambda function: function) if fn is None else fn
