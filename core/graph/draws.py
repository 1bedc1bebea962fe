"""Random draws: methods of random generators that draw one number, or an array of them.

Kernels draw with the generators' own code. Capture, `graph/reverse` and the kernels read the table. It must not draw a
number.
"""

from __future__ import annotations

import sys
import types
from typing import Any, Dict, Tuple

import numpy as np

from pijit.core.graph.types import FLOAT, INT, Scalar, numpy_scalar
from pijit.core.named_tuples import NamedTuple
from pijit.guards.facts import type_module, type_name

NEW, LEGACY, PYTHONS = "numpy.random._generator.Generator", "numpy.random.mtrand.RandomState", "_random.Random"


class Draw(NamedTuple):
    """One method: its class, its parameters with defaults, and the type of its result.

    ``number`` is the one of native/launcher/abi_numbers.inc. Parameters whose default is ``...`` must be given and are
    integers. A default of None means that the parameter before is then the upper bound, and 0 the lower one.
    """

    number: int
    owner: str
    method: str
    parameters: Tuple[Tuple[str, Any], ...]
    result: Scalar

    @property
    def fills(self) -> bool:
        """Whether the method has a parameter ``size``, after the others, and fills an array of that shape."""
        return self.owner != PYTHONS


def _rows() -> Tuple[Draw, ...]:
    spread = (("low", 0.0), ("high", 1.0))
    normal = (("loc", 0.0), ("scale", 1.0))
    bounds = (("low", ...), ("high", None))
    rows = [(NEW, "random", (), FLOAT), (NEW, "uniform", spread, FLOAT), (NEW, "standard_normal", (), FLOAT),
            (NEW, "normal", normal, FLOAT), (NEW, "standard_exponential", (), FLOAT),
            (NEW, "exponential", (("scale", 1.0),), FLOAT), (NEW, "integers", bounds, numpy_scalar(np.int64)),
            (LEGACY, "random_sample", (), FLOAT), (LEGACY, "uniform", spread, FLOAT),
            (LEGACY, "standard_normal", (), FLOAT), (LEGACY, "normal", normal, FLOAT),
            (LEGACY, "randint", bounds, INT), (PYTHONS, "random", (), FLOAT),
            (PYTHONS, "getrandbits", (("k", ...),), INT)]
    return tuple(Draw(number, *row) for number, row in enumerate(rows))


DRAWS = _rows()
ALIASES: Dict[Tuple[str, str], str] = {(LEGACY, "random"): "random_sample", (LEGACY, "rand"): "random_sample",
                                       (LEGACY, "randn"): "standard_normal"}
"""Methods that are the same as other ones, with the same arguments unless they are in `TAKES_SIZES`."""
TAKES_SIZES = frozenset([(LEGACY, "rand"), (LEGACY, "randn")])
"""Aliases whose arguments are the sizes of an array."""
BY_NAME: Dict[Tuple[str, str], Draw] = {(row.owner, row.method): row for row in DRAWS}
BY_NAME.update({(owner, alias): BY_NAME[owner, method] for (owner, alias), method in ALIASES.items()})


def class_path(kind: type) -> str:
    """The dotted path of a class: module and name."""
    return "%s.%s" % (type_module(kind), type_name(kind))


def is_generator(kind: type) -> bool:
    """Whether a class is one of NumPy's generators; their instances have no attributes of their own."""
    return class_path(kind) in (NEW, LEGACY) and getattr(sys.modules[type_module(kind)], type_name(kind), None) is kind


def is_pythons_generator(kind: type) -> bool:
    """Whether a class is ``random.Random`` itself."""
    return type_module(kind) == "random" and kind is getattr(sys.modules["random"], "Random", None)


def is_pythons_draw(target: Any) -> bool:
    """Whether an object is a method of Python's class of random generators that draws a number."""
    return (type(target) is types.MethodDescriptorType and class_path(target.__objclass__) == PYTHONS
            and (PYTHONS, target.__name__) in BY_NAME)
