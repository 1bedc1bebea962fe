"""Argument binding: the arguments of a call become the parameters of a Python function, as in CPython.

It works on abstract values. The inliner and the models of calls use it.
"""

from __future__ import annotations

import inspect
from types import CodeType
from typing import Callable, Dict, List

from pijit.core.capture.values.lattice import Abstract, Keywords, Sequence
from pijit.core.errors import Break

Default = Callable[[int, str], Abstract]
"""Default of a parameter: of a positional one by its position from the end, of a keyword-only one by (0, name)."""

FIRST_OF_CALLS = -2
"""In place of the instruction that makes a tuple: the tuple of further arguments of a call in the captured function."""


def bind(code: CodeType, arguments: List[Abstract], keywords: Dict[str, Abstract], default: Default,
         depth: int) -> Dict[str, Abstract]:
    """The abstract values of the parameters, by name.

    No instruction makes the tuple of further arguments. Instead of one, the depth of the call tells it from the tuples
    of callers: an exit may make both.

    Args:
        code: the callee's.
        arguments, keywords: of the call.
        default: see `Default`.
        depth: of the caller; 0 is the captured function.

    Raises:
        Break: Python would raise a TypeError, or a default is not available.
    """
    names, count = code.co_varnames, code.co_argcount
    last = count + code.co_kwonlyargcount
    takes_more = bool(code.co_flags & inspect.CO_VARARGS)
    if len(arguments) > count and not takes_more:
        raise Break("PJ211", callee=code.co_name, problem="%d arguments for %d parameters" % (len(arguments), count))
    bound = dict(zip(names[:count], arguments))
    others = _bind_keywords(code, bound, keywords)
    for position in range(len(arguments), count):
        if names[position] not in bound:
            bound[names[position]] = default(position - count, names[position])
    for name in names[count:last]:
        if name not in bound:
            bound[name] = default(0, name)
    if takes_more:
        bound[names[last]] = Sequence(list(arguments[count:]), defined_at=FIRST_OF_CALLS - depth)
    if code.co_flags & inspect.CO_VARKEYWORDS:
        bound[names[last + takes_more]] = Keywords(others)
    elif others:
        raise Break("PJ211", callee=code.co_name, problem="no parameter named %s" % ", ".join(others))
    return bound


def _bind_keywords(code: CodeType, bound: Dict[str, Abstract], keywords: Dict[str, Abstract]) -> Dict[str, Abstract]:
    """Bind the keyword arguments that name a parameter; returns the others."""
    first = getattr(code, "co_posonlyargcount", 0)
    named = code.co_varnames[first:code.co_argcount + code.co_kwonlyargcount]
    others = {}
    for name, value in keywords.items():
        if name not in named:
            others[name] = value
        elif name in bound:
            raise Break("PJ211", callee=code.co_name, problem="two values for %s" % name)
        else:
            bound[name] = value
    return others
