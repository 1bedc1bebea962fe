"""Gradients of functions and cells over tensors: `grad`, `value_and_grad`, `GradOperation`, and derivatives of one's own.

They record on the tape of `pijit.grad`; a tensor is the array that it holds. Integer tensors are differentiated as if they
were real, and their gradients are integers, as in MindSpore.
"""

from __future__ import annotations

import math
from typing import Any, Callable, Dict, Iterator, List, Optional, Sequence, Tuple

import numpy as np

from pijit.core.pythons import why_not_python
from pijit.core.reasons import reason
from pijit.core.tape import array_handlers, handlers  # noqa: F401
from pijit.core.tape.calls import call
from pijit.core.tape.differentiate import without_tape
from pijit.core.tape.errors import GradientError
from pijit.core.tape.records import record_result
from pijit.core.tape.state import beneath, no_grad, reached, recording, runner
from pijit.core.tape.tape import Tape
from pijit.ms.parameter import Parameter
from pijit.ms.tensor import Tensor, made

Derivative = Callable[..., Any]
"""Takes (*inputs, out, dout) and returns what reaches each input."""


class Gradients:
    """One run of a function on a tape, and the sweep back.

    Args:
        function: a function, method or cell.
        args, kwargs: its arguments.
        positions: which arguments are differentiated.
        weights: parameters that are differentiated.

    Attributes:
        result: what the function has returned.
    """

    def __init__(self, function: Callable[..., Any], args: Sequence[Any], kwargs: Dict[str, Any], positions: Sequence[int],
                 weights: Sequence[Parameter]) -> None:
        if why_not_python() is not None:
            raise GradientError(reason("PJ501"), "PJ501")
        self._args = _with_own_memory(list(args), positions, weights)
        self._positions, self._weights = positions, [one._array for one in weights]
        leaves = [one for place in positions for one in tensors_in(self._args[place])]
        self._tape = Tape(beneath(call), any(one.dtype.kind in "iu" for one in leaves + self._weights))
        for one in leaves + self._weights:
            self._tape.start(one)
        try:
            with recording(self._tape):
                self.result = call(function, tuple(self._args), kwargs)
        except BaseException as error:
            raise error.with_traceback(without_tape(error.__traceback__))

    def sweep(self, value: Any, seed: Any = None) -> None:
        """Go back from a value; its seed is ones, or a value of the same structure."""
        run = runner(call)
        for one, part in _seeds(value, seed):
            self._tape.give(run, one, part)
        self._tape.sweep(run)

    def of_inputs(self) -> List[Any]:
        """The gradients of the arguments at the positions, with their structure."""
        return [self._like(self._args[place]) for place in self._positions]

    def of_weights(self) -> List[Tensor]:
        """The gradients of the parameters."""
        return [self._gradient(one) for one in self._weights]

    def _like(self, x: Any) -> Any:
        if isinstance(x, Tensor):
            return self._gradient(x._array)
        if isinstance(x, (list, tuple)):
            parts = [self._like(one) for one in x]
            return type(x)(*parts) if hasattr(x, "_fields") else type(x)(parts)
        if isinstance(x, dict):
            return {name: self._like(one) for name, one in x.items()}
        return None

    def _gradient(self, array: Any) -> Tensor:
        g = self._tape.adjoint(array)
        return made(np.zeros(array.shape, array.dtype) if g is None else runner(call)(np.array, g))


def tensors_in(x: Any) -> Iterator[Any]:
    """The arrays of the tensors of an argument."""
    if isinstance(x, Tensor):
        yield x._array
    elif isinstance(x, (list, tuple)):
        for one in x:
            yield from tensors_in(one)
    elif isinstance(x, dict):
        for one in x.values():
            yield from tensors_in(one)


def _with_own_memory(args: List[Any], positions: Sequence[int], weights: Sequence[Parameter]) -> List[Any]:
    """The arguments; those that share memory with another one are copied, since each has a gradient of its own."""
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
            yield value._array, np.broadcast_to(np.asarray(seed._array if isinstance(seed, Tensor) else seed), value.shape)
    elif isinstance(value, (list, tuple)):
        whole = seed is not None and not isinstance(seed, (list, tuple))
        for k, one in enumerate(value):
            yield from _seeds(one, None if seed is None else seed if whole else seed[k])
    elif isinstance(value, dict):
        for name, one in value.items():
            yield from _seeds(one, None if seed is None else seed[name] if isinstance(seed, dict) else seed)
    elif isinstance(value, (float, np.floating)):
        yield value, 1.0 if seed is None else seed


# Derivatives of one's own.


def call_with_derivative(function: Callable[..., Any], derivative: Derivative, inputs: Tuple[Any, ...]) -> Any:
    """The result of a function, recorded with a derivative in place of what is inside.

    Args:
        function: takes the inputs.
        derivative: takes (*inputs, out, dout); returns a tuple with what reaches each input, or a tensor for one input.
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
    """Gives an input as it was when the function was called."""
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


def stop_gradient(value: Any) -> Any:
    """A copy that is constant to gradients."""
    with no_grad():
        return _copied(value)


stop_gradient.tape_aware = True  # type: ignore[attr-defined]


def hooked(hook: Callable[..., Any], inputs: Tuple[Any, ...]) -> Any:
    """The inputs, whose adjoints a function sees when they are known and may replace.

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


class _BpropGetters:
    """The registry of derivatives of primitives; `bprop_getters.register(ops.Mul)` decorates one.

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
            raise TypeError("bprop_getters.register: prim must be a class of primitives such as ops.Mul; not {!r}".format(prim))

        def registered(getter: Any) -> Any:
            cls.bprop_getter = getter
            return getter
        return registered

    def get(self, prim: Any, default: Any = None) -> Any:
        """What is registered for a primitive, or the default."""
        return getattr(prim, "bprop_getter", None) or default


bprop_getters = _BpropGetters()


def erf_of(x: Any) -> Any:
    """Error functions of an array."""
    return call_with_derivative(lambda given: made(_erf(given._array)), _erf_derivative, (made(x),))._array


def _erf(x: Any) -> Any:
    return np.vectorize(math.erf, otypes=[x.dtype])(x)


def _erf_derivative(x: Any, out: Any, dout: Any) -> Any:
    array = x._array
    return made(dout._array * array.dtype.type(2 / math.sqrt(math.pi)) * np.exp(-array * array)),


# The functions of programs.


class GradientFunction:
    """A function that computes gradients; what `GradOperation()(f)` and `grad(f)` return."""

    tape_aware = True

    def __init__(self, function: Callable[..., Any], run: Callable[..., Any]) -> None:
        if not callable(function):
            raise TypeError("grad: fn must be a function or a cell; not {!r}".format(function))
        self.function = function
        self._run = run

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The gradients for these arguments."""
        return self._run(self.function, args, kwargs)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else lambda *args, **kwargs: self(instance, *args, **kwargs)


class GradOperation:
    """Makes gradient functions.

    Args:
        get_all: the gradients of all tensor inputs as a tuple; else that of the first one.
        get_by_list: the gradients of parameters.
        sens_param: the last argument is the adjoint of the output; else it is ones.

    Raises:
        TypeError: an argument is not a bool.

    Example:
        >>> GradOperation(get_all=True)(lambda x, y: x * y)(Tensor([2.0]), Tensor([3.0]))
    """

    tape_aware = True

    def __init__(self, get_all: bool = False, get_by_list: bool = False, sens_param: bool = False) -> None:
        for name, value in (("get_all", get_all), ("get_by_list", get_by_list), ("sens_param", sens_param)):
            if not isinstance(value, bool):
                raise TypeError("GradOperation: {} must be a bool; not {!r}".format(name, value))
        self.get_all, self.get_by_list, self.sens_param = get_all, get_by_list, sens_param

    def __call__(self, fn: Callable[..., Any], weights: Any = None) -> GradientFunction:
        """The gradient function of a function or cell, and of the parameters `weights`."""
        return GradientFunction(fn, lambda function, args, kwargs: self._gradients(function, args, kwargs, weights))

    def with_value(self, fn: Callable[..., Any], args: Tuple[Any, ...], weights: Any = None) -> Tuple[Any, Any]:
        """(what a function returns, its gradients) for these arguments."""
        return self._run(fn, args, {}, weights)

    with_value.tape_aware = True  # type: ignore[attr-defined]

    def _gradients(self, function: Any, args: Tuple[Any, ...], kwargs: Dict[str, Any], weights: Any) -> Any:
        return self._run(function, args, kwargs, weights)[1]

    def _run(self, function: Any, args: Tuple[Any, ...], kwargs: Dict[str, Any], weights: Any) -> Tuple[Any, Any]:
        seed = None
        if self.sens_param:
            args, seed, kwargs = _without_seed(args, kwargs)
        listed = _weights_of(function, weights) if self.get_by_list else []
        positions = _positions_of_tensors(args)
        if not self.get_all:
            positions = positions[:1] if not self.get_by_list else []
        found = Gradients(function, args, kwargs, positions, listed)
        found.sweep(found.result, seed)
        inputs: Any = tuple(found.of_inputs())
        if not self.get_all:
            inputs = inputs[0] if inputs else ()
        if not self.get_by_list:
            return found.result, inputs
        of_weights: Any = found.of_weights()
        of_weights = of_weights[0] if isinstance(weights, Parameter) else tuple(of_weights)
        return found.result, (inputs, of_weights) if self.get_all else of_weights


def _without_seed(args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Tuple[Tuple[Any, ...], Any, Dict[str, Any]]:
    for name in ("sens_param", "sens"):
        if name in kwargs:
            return args, kwargs[name], {key: value for key, value in kwargs.items() if key != name}
    if not args:
        raise TypeError("GradOperation: with sens_param the last argument must be the adjoint of the output")
    return args[:-1], args[-1], kwargs


def _positions_of_tensors(args: Sequence[Any]) -> List[int]:
    return [k for k, one in enumerate(args) if next(tensors_in(one), None) is not None]


def _weights_of(function: Any, weights: Any) -> List[Parameter]:
    """The parameters that are meant: a parameter, a list of these, or those of the cell."""
    if weights is None:
        owner = getattr(function, "__self__", function)
        return list(owner.trainable_params()) if hasattr(owner, "trainable_params") else []
    listed = [weights] if isinstance(weights, Parameter) else list(weights)
    for one in listed:
        if not isinstance(one, Parameter):
            raise TypeError("grad: weights must be a Parameter or a list of these; not {!r}".format(weights))
    return listed


def grad(fn: Callable[..., Any], grad_position: Any = 0, weights: Any = None, has_aux: bool = False,
         return_ids: bool = False) -> GradientFunction:
    """A function that computes gradients of `fn`.

    Args:
        fn: a function or a cell.
        grad_position: the position of the differentiated argument, a tuple of positions, or None.
        weights: parameters that are differentiated too: a `Parameter`, a list or tuple of these, or None.
        has_aux: only the first result is differentiated; the others are returned too.
        return_ids: each gradient is (position or name of the parameter, gradient).

    Returns:
        A function that returns the gradient, a tuple of gradients, or (gradients of arguments, gradients of weights); with
        `has_aux` (these, aux).

    Raises:
        TypeError: an argument has a wrong type.
        ValueError: both `grad_position` and `weights` are None; in calls: a position names no argument.

    Example:
        >>> grad(lambda x: x * x)(Tensor([3.0]))
        Tensor(shape=[1], dtype=Float32, value= [ 6.00000000e+00])
    """
    return GradientFunction(fn, _runner_of(grad_position, weights, has_aux, return_ids, False))


def value_and_grad(fn: Callable[..., Any], grad_position: Any = 0, weights: Any = None, has_aux: bool = False,
                   return_ids: bool = False) -> GradientFunction:
    """A function that returns (what `fn` returns, its gradients); arguments and errors are those of `grad`.

    Example:
        >>> value_and_grad(lambda x: x * x)(Tensor([3.0]))
    """
    return GradientFunction(fn, _runner_of(grad_position, weights, has_aux, return_ids, True))


def _runner_of(grad_position: Any, weights: Any, has_aux: bool, return_ids: bool, with_value: bool) -> Callable[..., Any]:
    if grad_position is None and weights is None:
        raise ValueError("grad: grad_position and weights must not both be None")
    places = _checked_positions(grad_position)

    def run(function: Any, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Any:
        if grad_position is not None and not places:
            raise RuntimeError("grad: grad_position must name at least one argument; not {!r}".format(grad_position))
        for place in places:
            if not 0 <= place < len(args):
                raise ValueError("grad: grad_position={} names no argument; the call has {}".format(place, len(args)))
        listed = [] if weights is None else _weights_of(function, weights)
        found = Gradients(function, args, kwargs, places, listed)
        value, aux = found.result, None
        if has_aux:
            if not isinstance(value, tuple) or len(value) < 2:
                raise ValueError("grad: with has_aux fn must return (value, aux, ...); not {!r}".format(value))
            aux = value[1:]
            found.sweep(value[0])
        else:
            found.sweep(value)
        gradients = _arranged(found, grad_position, places, weights, listed, return_ids)
        if with_value:
            return value, gradients
        return (gradients, stop_gradient(aux)) if aux is not None else gradients
    return run


def _checked_positions(grad_position: Any) -> List[int]:
    listed = [] if grad_position is None else list(grad_position) if isinstance(grad_position, (tuple, list)) else [grad_position]
    for one in listed:
        if isinstance(one, bool) or not isinstance(one, int):
            raise TypeError("grad: grad_position must be an int, a tuple of ints or None; not {!r}".format(grad_position))
    return listed


def _arranged(found: Gradients, grad_position: Any, places: List[int], weights: Any, listed: List[Parameter],
              return_ids: bool) -> Any:
    inputs: List[Any] = found.of_inputs()
    of_weights: List[Any] = list(found.of_weights())
    if isinstance(grad_position, int) and inputs[0] is None and weights is None:
        return ()
    if return_ids:
        inputs = list(zip(places, inputs))
        of_weights = [(one.name, g) for one, g in zip(listed, of_weights)]
    by_position: Any = inputs[0] if isinstance(grad_position, int) else tuple(inputs)
    if weights is None:
        return by_position
    by_weight: Any = of_weights[0] if isinstance(weights, Parameter) else tuple(of_weights)
    return by_weight if grad_position is None else (by_position, by_weight)


def get_grad(gradients: Any, identifier: Any) -> Tensor:
    """The gradient of an argument or parameter out of what `grad(..., return_ids=True)` gave.

    Args:
        gradients: those gradients.
        identifier: a position or a `Parameter`.

    Raises:
        RuntimeError: it is not among them.
        TypeError: `identifier` is neither.
    """
    if not isinstance(identifier, (int, Tensor)):
        raise TypeError("get_grad: identifier must be a position or a Parameter; not {!r}".format(identifier))
    wanted = getattr(identifier, "name", identifier)
    for name, g in _pairs(gradients):
        if type(name) is type(wanted) and name == wanted:
            return g  # type: ignore[no-any-return]
    raise RuntimeError("get_grad: there is no gradient for {!r}".format(wanted))


def _pairs(gradients: Any) -> Iterator[Tuple[Any, Any]]:
    if isinstance(gradients, tuple) and len(gradients) == 2 and isinstance(gradients[0], (int, str)):
        yield gradients[0], gradients[1]
    elif isinstance(gradients, (tuple, list)):
        for one in gradients:
            yield from _pairs(one)
