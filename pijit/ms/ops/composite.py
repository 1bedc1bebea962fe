"""Operations on functions and nested structures: maps, dispatch by type, gradient hooks."""

from __future__ import annotations

import functools
from typing import Any, Callable, Dict, List, Tuple

import numpy as np

from pijit.ms.derivatives import hooked
from pijit.ms.dtype import Type
from pijit.ms.gradient_functions import GradOperation, grad, value_and_grad  # noqa: F401
from pijit.ms.ops.primitive import Primitive
from pijit.ms.tensor import Tensor, array_of

partial = functools.partial


class MultitypeFuncGraph:
    """A function that dispatches on the types of its arguments.

    Args:
        name: its name.
        read_value: accepted without effect.

    Example:
        >>> add = MultitypeFuncGraph("add")
        >>> @add.register("Tensor", "Tensor")
        ... def add_tensors(x, y):
        ...     return x + y
    """

    def __init__(self, name: str, read_value: bool = False) -> None:
        if not isinstance(name, str):
            raise TypeError("MultitypeFuncGraph: name must be a str; not {!r}".format(name))
        self.name = name
        self.entries: List[Tuple[Tuple[Any, ...], Callable[..., Any]]] = []

    def register(self, *type_names: Any) -> Callable[[Any], Any]:
        """Decorate the function for arguments of these types: MindSpore's type names, or classes."""
        def registered(function: Any) -> Any:
            self.entries.append((type_names, function))
            return function
        return registered

    def __call__(self, *args: Any) -> Any:
        """The result of the function that is registered for the types of these arguments.

        Raises:
            ValueError: no function is registered for these types.
        """
        for types, function in self.entries:
            if len(types) == len(args) and all(_fits(kind, one) for kind, one in zip(types, args)):
                return function(*args)
        raise ValueError("MultitypeFuncGraph {!r}: nothing is registered for the types ({})".format(
            self.name, ", ".join(type(one).__name__ for one in args)))


_PYTHON: Dict[str, Tuple[type, ...]] = {
    "Tensor": (Tensor,), "Int": (int,), "Int64": (int,), "Float": (float,), "Float64": (float,), "Number": (int, float),
    "Bool": (bool,), "String": (str,), "Tuple": (tuple,), "List": (list,), "Dictionary": (dict,), "None": (type(None),),
    "Function": (type(lambda: 0),), "Any": (object,), "Parameter": (Tensor,)}


def _fits(kind: Any, x: Any) -> bool:
    if isinstance(kind, Type):
        kind = kind.name
    if isinstance(kind, str):
        kind = _PYTHON.get(kind.partition("[")[0], (object,))
    return isinstance(x, kind)


class HyperMap:
    """Applies an operation to the leaves of nested lists and tuples.

    Args:
        ops: the operation; None: the first argument of each call.
        reverse: accepted without effect; the leaves are evaluated in order.

    Example:
        >>> HyperMap(square)((Tensor([2.0]), Tensor([3.0])))
    """

    def __init__(self, ops: Any = None, reverse: bool = False) -> None:
        if ops is not None and not callable(ops):
            raise TypeError("HyperMap: ops must be callable or None; not {!r}".format(ops))
        self.ops = ops

    def __call__(self, *args: Any) -> Any:
        """The results in the same structure."""
        function, given = (args[0], args[1:]) if self.ops is None else (self.ops, args)
        return self._map(function, given)

    def _map(self, function: Any, given: Tuple[Any, ...]) -> Any:
        if isinstance(given[0], (list, tuple)):
            results = [self._map(function, one) for one in zip(*given)]
            return results if isinstance(given[0], list) else tuple(results)
        return function(*given)


class Map(HyperMap):
    """Applies an operation to the items of lists and tuples, without descending into the items."""

    def _map(self, function: Any, given: Tuple[Any, ...]) -> Any:
        results = [function(*one) for one in zip(*given)]
        return results if isinstance(given[0], list) else tuple(results)


class HookBackward(Primitive):
    """Calls a function with the incoming gradient, as a tuple; its result replaces the gradient.

    Args:
        hook_fn: the function.
        cell_id: accepted without effect.

    Raises:
        TypeError: `hook_fn` is not callable.
    """

    def __init__(self, hook_fn: Callable[..., Any], cell_id: str = "") -> None:
        if not callable(hook_fn):
            raise TypeError("HookBackward: hook_fn must be callable; not {!r}".format(hook_fn))
        super().__init__("HookBackward")
        self.hook_fn = hook_fn

    def __call__(self, *inputs: Any) -> Any:
        """The inputs."""
        out = hooked(self.hook_fn, inputs)
        return out[0] if len(inputs) == 1 else out


class InsertGradientOf(Primitive):
    """Replaces the incoming gradient by a function of it.

    Args:
        f: takes the gradient and returns its replacement.

    Raises:
        TypeError: `f` is not callable.
    """

    def __init__(self, f: Callable[..., Any]) -> None:
        if not callable(f):
            raise TypeError("InsertGradientOf: f must be callable; not {!r}".format(f))
        super().__init__("InsertGradientOf")
        self.f = f

    def __call__(self, x: Any) -> Any:
        """The input."""
        return hooked(lambda adjoints: self.f(adjoints[0]), (x,))[0]


class Print(Primitive):
    """Prints its inputs when it runs."""

    def __call__(self, *inputs: Any) -> int:
        """Print, and return 1."""
        print_(*inputs)
        return 1


def print_(*inputs: Any) -> None:
    """Print values as `print` does."""
    print(*inputs)


def scalar_to_tensor(input_x: Any, dtype: Any = None) -> Tensor:
    """A 0-d tensor."""
    return Tensor(input_x, dtype)


def clip_by_global_norm(x: Any, clip_norm: float = 1.0, use_norm: Any = None) -> Tuple[Tensor, ...]:
    """Tensors scaled so that their common norm is at most `clip_norm`."""
    total = np.sqrt(sum(np.sum(np.square(array_of(one))) for one in x)) if use_norm is None else use_norm
    factor = clip_norm / max(float(total), clip_norm)
    return tuple(one * factor for one in x)


def core(fn: Any = None, **flags: Any) -> Any:
    """Returns the function; flags are accepted."""
    return (lambda function: function) if fn is None else fn
