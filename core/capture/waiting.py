"""Builds what waits on the operand stack where paths meet before its call: ``values.append(x if x > 0.0 else -x)``."""

from __future__ import annotations

from typing import Any, List, Optional

from pijit.core.capture.managers import Manager
from pijit.core.capture.record import parts_within, with_owner, with_parts
from pijit.core.capture.values import Abstract
from pijit.core.graph.ir import Block, Value


def waiting_parameters(self: Any, value: Abstract, block: Block, hint: str, like: Optional[Abstract]) -> Abstract:
    """A copy of ``value`` whose parts are parameters of ``block``."""
    if isinstance(value, Manager):
        known = like if isinstance(like, Manager) else value
        return with_owner(value, known.function, self._parameters(value.owner, block, hint, known.owner))
    parts = parts_within(value)
    likes = parts_within(like) if type(like) is type(value) else (None,) * len(parts)
    return with_parts(value, tuple(self._parameters(part, block, hint, part_like)
                                   for part, part_like in zip(parts, likes)))


def waiting_values(self: Any, wanted: Abstract, given: Any) -> List[Value]:
    """The values for these parameters."""
    if isinstance(wanted, Manager):
        return self._parts(wanted.owner, given.owner)  # type: ignore[no-any-return]
    return [part for want, have in zip(parts_within(wanted), parts_within(given)) for part in self._parts(want, have)]
