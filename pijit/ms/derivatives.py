"""Gradients of functions and cells over tensors, and derivatives that a program defines itself.

Functions run on the tape of `pijit.grad`, which tracks the array in each tensor. Integer tensors are differentiated as
if they were real, and their gradients are integers, as in MindSpore.
"""

from __future__ import annotations

from typing import Any, Callable, Dict, Iterator, List, Optional, Sequence, Tuple

import numpy as np

from pijit.core.pythons import why_no_gradients
from pijit.core.reasons import reason
from pijit.core.tape import array_handlers, frame_handlers, handlers  # noqa: F401
from pijit.core.tape.calls import call
from pijit.core.tape.differentiate import without_tape
from pijit.core.tape.errors import GradientError
from pijit.core.tape.records import record_result
from pijit.core.tape.state import beneath, no_grad, reached, recording, runner
from pijit.core.tape.tape import Tape, cleared
from pijit.ms.parameter import Parameter
from pijit.ms.tensor import Tensor, made

Derivative = Callable[..., Any]
"""Takes (*inputs, out, dout) and returns the gradient of each input."""


class Gradients:
    """One run of a function on a tape, and its backward sweep.

    Args:
        function: a function, method or cell.
        args, kwargs: its arguments.
        positions: positions of the differentiated arguments.
        weights: differentiated parameters.

    Attributes:
        result: the result of the function.
        tape: what has recorded the run.
    """

    def __init__(self, function: Callable[..., Any], args: Sequence[Any], kwargs: Dict[str, Any],
                 positions: Sequence[int], weights: Sequence[Parameter]) -> None:
        if why_no_gradients() is not None:
            raise GradientError(reason("PJ501"), "PJ501")
        self._given = args
        self._args = _with_own_memory(list(args), positions, weights)
        self._positions, self._weights = positions, list(weights)
        leaves = [one for place in positions for one in tensors_in(self._args[place])]
        leaves += [one._array for one in weights]
        self.tape = Tape(beneath(call), any(one.dtype.kind in "iu" for one in leaves))
        for one in leaves:
            self.tape.start(one)
        try:
            with recording(self.tape):
                self.result = call(function, tuple(self._args), kwargs)
        except BaseException as error:
            raise error.with_traceback(without_tape(error.__traceback__))

    def sweep(self, value: Any, seed: Any = None) -> None:
        """Sweep backward from a value; the seed is ones by default, or has the structure of the value."""
        run = runner(call)
        for one, part in _seeds(value, seed):
            self.tape.give(run, one, part)
        self.tape.sweep(run)

    def of_inputs(self) -> List[Any]:
        """The gradients of the arguments at the positions, in their structure."""
        return [self._like(self._args[place], self._given[place]) for place in self._positions]

    def of_weights(self) -> List[Tensor]:
        """The gradients of the parameters."""
        return [self._gradient(one, one) for one in self._weights]

    def _like(self, x: Any, given: Any) -> Any:
        if isinstance(x, Tensor):
            return self._gradient(x, given)
        if isinstance(x, (list, tuple)):
            parts = [self._like(one, other) for one, other in zip(x, given)]
            return type(x)(*parts) if hasattr(x, "_fields") else type(x)(parts)
        if isinstance(x, dict):
            return {name: self._like(one, given[name]) for name, one in x.items()}
        return None

    def _gradient(self, x: Tensor, given: Tensor) -> Tensor:
        """The gradient of a tensor; the program gave it or the tensor of which it is a copy."""
        array = x._array
        g = self.tape.adjoint(array)
        found = made(np.zeros(array.shape, array.dtype) if g is None else runner(call)(np.array, g))
        return changed_by_hooks(runner(call), given, found)


def tensors_in(x: Any) -> Iterator[Any]:
    """The arrays of the tensors in an argument."""
    if isinstance(x, Tensor):
        yield x._array
    elif isinstance(x, (list, tuple)):
        for one in x:
            yield from tensors_in(one)
    elif isinstance(x, dict):
        for one in x.values():
            yield from tensors_in(one)


def _with_own_memory(args: List[Any], positions: Sequence[int], weights: Sequence[Parameter]) -> List[Any]:
    """The arguments; one that shares memory with another is copied, because each has its own gradient."""
    seen = [one._array for one in weights]
    for place, x in enumerate(args):
        arrays = list(tensors_in(x))
        shared = any(np.may_share_memory(one, other) for one in arrays for other in seen)
        if place in positions and shared:
            args[place] = _copied(x)
        seen += list(tensors_in(args[place]))
    return args


def _copied(x: Any) -> Any:
    if isinstance(x, Tensor):
        return call(_copy, (x,))
    if isinstance(x, (list, tuple)):
        parts = [_copied(one) for one in x]
        return type(x)(*parts) if hasattr(x, "_fields") else type(x)(parts)
    return {name: _copied(one) for name, one in x.items()} if isinstance(x, dict) else x


def _copy(x: Tensor) -> Tensor:
    return made(np.array(x._array))


def _seeds(value: Any, seed: Any) -> Iterator[Tuple[Any, Any]]:
    """(array, adjoint) of each tensor of a value."""
    if isinstance(value, Tensor):
        if seed is None:
            yield value._array, np.ones(value.shape, value._array.dtype)
        else:
            yield value._array, np.broadcast_to(
                np.asarray(seed._array if isinstance(seed, Tensor) else seed), value.shape)
    elif isinstance(value, (list, tuple)):
        whole = seed is not None and not isinstance(seed, (list, tuple))
        for k, one in enumerate(value):
            yield from _seeds(one, None if seed is None else seed if whole else seed[k])
    elif isinstance(value, dict):
        for name, one in value.items():
            yield from _seeds(one, None if seed is None else seed[name] if isinstance(seed, dict) else seed)
    elif isinstance(value, (float, np.floating)):
        yield value, 1.0 if seed is None else seed


# User-defined derivatives.


def call_with_derivative(function: Callable[..., Any], derivative: Derivative, inputs: Tuple[Any, ...]) -> Any:
    """The result of a function, recorded with the given derivative instead of the operations inside.

    Args:
        function: takes the inputs.
        derivative: takes (*inputs, out, dout); returns a tuple with a gradient per input, or a tensor for one input.
        inputs: the inputs.

    Returns:
        The result of the function.
    """
    tapes = reached(inputs)
    if not tapes:
        return function(*inputs)
    with no_grad():
        out = function(*inputs)
    out = _copied(out) if reached(out) else out
    arrays = list(tensors_in(out))
    for tape in tapes:
        record_result(tape, arrays, _derivative_give(tape, derivative, inputs, out))
    return out


def _derivative_give(tape: Tape, derivative: Derivative, inputs: Tuple[Any, ...], out: Any) -> Any:
    held = tuple(_held(tape, one) for one in inputs)
    targets = [list(tensors_in(one)) for one in inputs]

    def give(run: Any, g: Any, r: Any) -> None:
        parts = run(derivative, *([one() for one in held] + [out, _rebuilt(out, iter(g))]))
        if not isinstance(parts, (tuple, list)):
            parts = (parts,)
        for arrays, part in zip(targets, parts):
            for array, one in zip(arrays, tensors_in(part)):
                tape.give(run, array, one)
    return give


def _held(tape: Tape, x: Any) -> Callable[[], Any]:
    """Returns an input with the values that it had when the function was called."""
    if not isinstance(x, Tensor):
        return lambda: x
    array = x._array
    return lambda: x if tape.value(array) is x._array else made(tape.value(array))


def _rebuilt(out: Any, adjoints: Iterator[Any]) -> Any:
    if isinstance(out, Tensor):
        return made(next(adjoints))
    if isinstance(out, (list, tuple)):
        return type(out)(_rebuilt(one, adjoints) for one in out)
    if isinstance(out, dict):
        return {name: _rebuilt(one, adjoints) for name, one in out.items()}
    return out


call_with_derivative.tape_aware = True  # type: ignore[attr-defined]


def hooked(hook: Callable[..., Any], inputs: Tuple[Any, ...]) -> Any:
    """The inputs; in the sweep, the hook receives their adjoints and may replace them.

    Args:
        hook: takes a tuple with an adjoint per input; returns None, a tensor, or a tuple of tensors.
        inputs: tensors.
    """
    def derivative(*given: Any) -> Any:
        dout = given[-1]
        adjoints = dout if isinstance(dout, tuple) else (dout,)
        changed = hook(adjoints)
        return adjoints if changed is None else changed
    return call_with_derivative(lambda *given: tuple(map(_copied, given)), derivative, inputs)


hooked.tape_aware = True  # type: ignore[attr-defined]


class HookHandle:
    """Handle of a registered hook; `remove` removes the hook."""

    def __init__(self, hooks: List[Any], hook: Callable[..., Any], after: Optional[Callable[[], None]] = None) -> None:
        self._hooks, self._hook, self._after = hooks, hook, after
        self._removed = False

    def remove(self) -> None:
        """Remove the hook; no effect if it was removed before."""
        if not self._removed:
            self._removed = True
            self._hooks.remove(self._hook)
            if self._after is not None:
                self._after()


def register_tensor_hook(tensor: Tensor, hook: Callable[..., Any]) -> HookHandle:
    """Register a hook that receives the gradient of a tensor; see `Tensor.register_hook`."""
    if not callable(hook):
        raise TypeError("register_hook: hook_fn must be callable; not {!r}".format(hook))
    tapes = reached((tensor,))
    if not tapes and not isinstance(tensor._hooks, list):
        tensor._hooks = []
    hooks: Any = [] if tapes else tensor._hooks
    hooks.append(hook)
    for tape in tapes:
        tape.record(_hook_back(tape, tensor._array, hooks))
    return HookHandle(hooks, hook)


register_tensor_hook.tape_aware = True  # type: ignore[attr-defined]


def _hook_back(tape: Tape, array: Any, hooks: List[Any]) -> Callable[[Any], None]:
    def back(run: Any) -> None:
        shadow = tape.adjoint(array) if hooks else None
        if shadow is not None:
            g = run(cleared, shadow, ())
            tape.give(run, array, _changed(run, hooks, made(g))._array)
    return back


def changed_by_hooks(run: Any, tensor: Tensor, g: Tensor) -> Tensor:
    """The gradient of a tensor after its hooks."""
    return _changed(run, tensor._hooks, g) if tensor._hooks else g


def _changed(run: Any, hooks: Sequence[Any], g: Tensor) -> Tensor:
    for hook in list(hooks):
        changed = run(hook, g)
        if changed is not None and not isinstance(changed, Tensor):
            raise TypeError("register_hook: hook_fn must return a tensor or None; not {!r}".format(changed))
        g = g if changed is None else changed
    return g


class _BpropGetters:
    """The registry of derivatives of primitives; `bprop_getters.register(ops.Mul)` decorates a function.

    Example:
        >>> @bprop_getters.register(Mul)
        ... def get_bprop_mul(self):
        ...     return lambda x, y, out, dout: (y * dout, x * dout)
    """

    def register(self, prim: Any) -> Callable[[Any], Any]:
        """Decorate a function that takes the primitive and returns (*inputs, out, dout) -> gradients.

        Raises:
            TypeError: `prim` is not a class of primitives.
        """
        from pijit.ms.ops.primitive import Primitive

        cls = prim if isinstance(prim, type) else type(prim)
        if not issubclass(cls, Primitive):
            raise TypeError("bprop_getters.register: prim must be a class of primitives such as ops.Mul; "
                            "not {!r}".format(prim))

        def registered(getter: Any) -> Any:
            cls.bprop_getter = getter
            return getter
        return registered

    def get(self, prim: Any, default: Any = None) -> Any:
        """The function registered for a primitive, or the default."""
        return getattr(prim, "bprop_getter", None) or default


bprop_getters = _BpropGetters()
