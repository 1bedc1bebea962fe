"""``pijit.hint(value, kind)`` of a value that is already known; `profile/hints.py` reads hints for unknown values."""

from __future__ import annotations

from typing import List

from pijit.core.capture.models.protocol import Interpreter
from pijit.core.capture.models.registry import models
from pijit.core.capture.profile.hints import hinted_by
from pijit.core.capture.values.describe import Arguments, only
from pijit.core.capture.values.lattice import Abstract
from pijit.core.hinting import hint


@models(hint)
def call_hint(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``hint(value, kind)`` of a value that is already known."""
    only(arguments, keywords, "hint", 2)
    hinted_by(arguments[1], interpreter.context, -1)
    return arguments[0]
