"""Calls that captured code makes in another way than bytecode, with the same result.

There are calls during which attributes of objects have other values, and calls that compile a part of the program. The
models of `core/capture/models/objects/substitutions.py` capture them.
"""

from __future__ import annotations

from typing import Any, Callable, Sequence


def call_with_attribute(*args: Any, objects: Sequence[Any], name: str, values: Sequence[Any],
                        function: Callable[..., Any], **keywords: Any) -> Any:
    """The result of ``function(*args, **keywords)`` while an attribute of each object has another value.

    Two threads must not do this with the same object at once.

    Args:
        objects: the objects.
        name: the name of the attribute, which the objects have themselves, not their classes.
        values: its value in each object during the call.
        function, args, keywords: the call.
    """
    kept = [getattr(one, name) for one in objects]
    for place, one in enumerate(objects):
        setattr(one, name, values[place])
    try:
        out = function(*args, **keywords)  # CPython 3.7: a return in here is not captured
    finally:
        for place, one in enumerate(objects):
            setattr(one, name, kept[place])
    return out


def call_compiled(*args: Any, function: Callable[..., Any], compiled: Callable[..., Any], **keywords: Any) -> Any:
    """The result of ``compiled(*args, **keywords)``, which is that of ``function(*args, **keywords)``.

    Captured code contains the latter call, because it is compiled itself.

    Args:
        function: the function.
        compiled: what compiles the function and runs it.
        args, keywords: the call.
    """
    return compiled(*args, **keywords)
