"""What programs take from `mindspore._extends`: decorators and switches that change nothing here."""

from __future__ import annotations

import types
from typing import Any

compile_config = types.SimpleNamespace()
"""Switches of MindSpore's compiler that programs set; they change nothing here."""


def cell_attr_register(fn: Any = None, attrs: Any = None) -> Any:
    """Returns the function."""
    return (lambda function: function) if fn is None else fn
