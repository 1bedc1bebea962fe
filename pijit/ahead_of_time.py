"""`pijit.warmup`: compile a jitted function for given arguments before its first call.

`pijit` exports it. It must not call the function, and writes nothing to arguments.
"""

from __future__ import annotations

from typing import Any, Callable, Dict, Mapping, Tuple

from pijit.core.pythons import why_not_python
from pijit.explain import state_of
from pijit.plain_functions import unbound
from pijit.signature import Tensor


def warmup(f: Callable[..., Any], *signatures: Any) -> int:
    """Compile a jitted function for calls with given arguments, without calling it.

    The kernels go to the cache on disk, where other processes find them. Then the first call that a signature describes
    needs no compilation. An exception are kernels that depend on values that only a run shows, such as results of
    functions that stay bytecode.

    Args:
        f: a jitted function, or a bound method of one.
        signatures: for each kind of call its arguments: a list or tuple by position, or a dict by name; any other
            object is the only argument. A `Tensor` stands for an array of its shape and dtype; the lengths do not
            matter where they are None. All other objects are arguments themselves, and nothing is written to them.

    Returns:
        the number of kernels that serve such calls.

    Raises:
        TypeError: `f` is not jitted; a signature does not fit the parameters of `f`; a `Tensor` has no shape or dtype.

    Example:
        >>> @jit                                                        # doctest: +SKIP
        ... def f(x, n):
        ...     return x * 2.0 + n
        >>> pijit.warmup(f, (pijit.Tensor([None], float), 3))           # doctest: +SKIP
        1
    """
    function, receiver = unbound(f)
    state = state_of(function)
    if why_not_python() is not None:
        return 0
    if state is None:
        raise TypeError("warmup: f must be a jitted function, not {!r}".format(f))
    calls = [_call(signature, receiver) for signature in signatures]
    if state.skip is not None:
        return 0
    from pijit.core.preview import prepare

    return sum(prepare(state, args, kwargs) for args, kwargs in calls)


def _call(signature: Any, receiver: Tuple[Any, ...]) -> Tuple[Tuple[Any, ...], Dict[str, Any]]:
    """The arguments of a call that a signature describes."""
    if isinstance(signature, Mapping):
        return receiver, {name: _argument(value) for name, value in signature.items()}
    values = signature if isinstance(signature, (list, tuple)) else (signature,)
    return receiver + tuple(map(_argument, values)), {}


def _argument(value: Any) -> Any:
    """An argument; an array for a Tensor."""
    if not isinstance(value, Tensor):
        return value
    example = value.example
    if example is None:
        raise TypeError("warmup: {!r} must have a shape and a dtype".format(value))
    return example
