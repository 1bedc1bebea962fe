"""Whether functions that are made here may use a list that a builtin is changing.

Called by the models of list methods and of stores into slices.
"""

from __future__ import annotations

import builtins
import operator
import types
from typing import Any, Dict

import numpy as np

from pijit.core.capture.values.lattice import (
    Abstract,
    Const,
    LoopIterator,
    Range,
    Tensor,
    UnescapedFunction,
    class_of,
    number_type,
)
from pijit.guards.facts import is_among, is_exactly, type_module

PLAIN = (int, float, bool, complex, str, bytes, type(None), types.BuiltinFunctionType, types.ModuleType,
         types.MethodDescriptorType, np.ufunc, type(np.sum), operator.itemgetter, operator.attrgetter)


def sees_no_list(value: Abstract, globals: Dict[str, Any]) -> bool:
    """Whether a key function, or an iterator with code made here, reads no list or dict.

    It must run no other code of the program either.
    """
    if isinstance(value, Const):
        return _is_plain(value.object)
    plain = number_type(value) is not None or isinstance(value, (Tensor, Range))
    if plain or is_among(class_of(value), (str, range)):
        return True
    if isinstance(value, UnescapedFunction) and not _names_only_plain(value.code, globals):
        return False
    parts = value.lasting_parts
    return isinstance(value, (UnescapedFunction, LoopIterator)) and not parts or bool(parts) and all(
        sees_no_list(part, globals) for part in parts)


def _is_plain(found: Any) -> bool:
    of_python = issubclass(type(found), type) and type_module(found) in ("builtins", "numpy")
    return of_python or is_exactly(found, PLAIN)


def _names_only_plain(code: types.CodeType, globals: Dict[str, Any]) -> bool:
    """Whether all names in the code are those of attributes, modules, functions in C and plain values."""
    inner = [const for const in code.co_consts if isinstance(const, types.CodeType)]
    found = [globals[name] if name in globals else getattr(builtins, name, None) for name in code.co_names]
    return all(map(_is_plain, found)) and all(_names_only_plain(one, globals) for one in inner)
