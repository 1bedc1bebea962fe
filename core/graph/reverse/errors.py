"""Errors of reversal.

All modules of the package raise them, and `pijit/gradient_kernels.py` catches them. They must not reach the user.
"""

from typing import Dict, Optional, Type


class Irreversible(Exception):
    """A graph that is not reversed; the message says why. Its function uses the tape."""


class OtherShapes(Exception):
    """A joint function was called with sizes, conditions or trip counts for which it was not made."""


class TooLarge(OtherShapes):
    """A loop would save more than its limit, if it saved each iteration."""


ANSWERS: Dict[Type[OtherShapes], Optional[bool]] = {OtherShapes: False, TooLarge: None}
"""What joint functions return instead of a result: they are kernels, and a `raise` would be left to bytecode."""


def check_answer(found: object) -> None:
    """Raise what the answer of a joint function means, if it is no result."""
    for error, answer in ANSWERS.items():
        if found is answer:
            raise error
