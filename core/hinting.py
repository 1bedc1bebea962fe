"""`pijit.hint` and the hints that it accepts.

The capturer reads hints in `pijit.core.capture.profile.hints`. This module must not import the capturer at its top.
"""

from __future__ import annotations

from typing import Any, Dict

import numpy as np

from pijit.core.graph.types import PYTHON_SCALARS
from pijit.core.pythons import why_not_python

ACCEPTED = ("int, float, bool, complex, list, dict or set; a dtype of NumPy's, for its scalars: float64; "
            "tensor_type[float64], or with a number of dimensions tensor_type[float64, 2], for arrays; "
            "tuple_[float, tensor_type[int64, 1]], for tuples; {name} for a dtype or type that a variable holds")
CONTAINERS: Dict[str, type] = {"list": list, "list_": list, "dict": dict, "set": set}


class TypeHintWarning(UserWarning):
    """A comment that begins with `@jit.typing` does not describe a value."""


def text_of(kind: Any) -> str:
    """The text of a hint, from a text, a class, a dtype, or an object with a text in `jit_typing`.

    Raises TypeError for anything else.
    """
    text = getattr(kind, "jit_typing", None)
    if type(kind) is str:
        return kind
    if type(text) is str:
        return text
    if type(kind) is type and kind in (*PYTHON_SCALARS, *CONTAINERS.values()):
        return kind.__name__
    if isinstance(kind, np.dtype) or isinstance(kind, type) and issubclass(kind, np.generic):
        return np.dtype(kind).name
    raise TypeError("hint: kind must be a text, a class, a dtype or a pijit.Tensor, not {!r}; texts that are accepted: "
                    "{}".format(kind, ACCEPTED))


def hint(value: Any, kind: Any) -> Any:
    """Describe a value that Python makes, so that the code after it is compiled at the first call.

    Args:
        value: any value; if pijit knows its type anyway, the hint is not needed.
        kind: int, float, bool, complex, list, dict, set, a dtype, a `pijit.Tensor`, or a text as after
            `# @jit.typing: () ->`, such as "tensor_type[float64, 2]". A wrong hint does no harm: a run is observed, as
            without a hint.

    Returns:
        The value itself.

    Raises:
        TypeError: `kind` is something else.
        ValueError: the text does not describe a value. On a Python that is not supported texts are not checked.

    Example:
        >>> y = hint(load("table.bin"), "tensor_type[float64, 2]")              # doctest: +SKIP
    """
    text = text_of(kind)
    if why_not_python() is None:
        from pijit.core.capture.profile.hints import check_text  # the capturer needs the extension modules

        check_text(text)
    return value
