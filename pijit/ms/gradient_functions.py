"""The gradient functions that programs use: `GradOperation`, `grad`, `value_and_grad`, `get_grad`."""

from __future__ import annotations

from typing import Any, Callable, Dict, Iterator, List, Optional, Sequence, Tuple, Union

from pijit.ms.constants import stop_gradient
from pijit.ms.derivatives import Gradients, tensors_in
from pijit.ms.gradient_probes import Probe, gradients_of, probing
from pijit.ms.kernel_gradients import KernelGradients
from pijit.ms.parameter import Parameter
from pijit.ms.tensor import Tensor
from pijit.reporting.gradient_report import GradientReport, files_of


class GradientFunction:
    """A function that computes gradients; the result of `GradOperation()(f)` and `grad(f)`."""

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

    def gradient_report(self, *args: Any, **kwargs: Any) -> GradientReport:
        """Run once on the tape, and report as `pijit.explain` does on gradients."""
        return self._probed(args, kwargs, None).report(self.function)

    def gradient_files(self, *args: Any, **kwargs: Any) -> Dict[str, str]:
        """Run once on the tape, and return what the kernels of such calls are made from: texts by file name."""
        shown: List[Any] = []
        probe = self._probed(args, kwargs, shown.append)
        return files_of(probe.report(self.function), probe.source, shown)

    def _probed(self, args: Tuple[Any, ...], kwargs: Dict[str, Any], show: Optional[Callable[[Any], None]]) -> Probe:
        if not args and not kwargs:
            raise TypeError("explain: a gradient is explained for one call; pass its arguments as well")
        with probing(show) as probe:
            self._run(self.function, args, kwargs)
        return probe


class GradOperation:
    """Creates gradient functions.

    Args:
        get_all: return the gradients of all tensor inputs as a tuple; otherwise that of the first one.
        get_by_list: return the gradients of parameters.
        sens_param: the last argument is the adjoint of the output; otherwise the adjoint is ones.

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
        """The gradient function of a function or cell; `weights` are the parameters."""
        return GradientFunction(fn, lambda function, args, kwargs: self._gradients(function, args, kwargs, weights))

    def with_value(self, fn: Callable[..., Any], args: Tuple[Any, ...], weights: Any = None) -> Tuple[Any, Any]:
        """(result of a function, its gradients) for these arguments."""
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
        found = gradients_of(function, args, kwargs, positions, listed, seed=seed)
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
    """The parameters that `weights` names; if None, those of the cell."""
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
        grad_position: the position of the differentiated argument, a tuple of positions, or None. A tuple of one
            position means the same as the position.
        weights: parameters that are differentiated, too: a `Parameter`, a list or tuple of these, or None.
        has_aux: only the first result is differentiated; the others are returned, too.
        return_ids: each gradient is (position or name of the parameter, gradient).

    Returns:
        A function that returns the gradient, a tuple of gradients, or (gradients of arguments, gradients of weights);
        with `has_aux` (these, aux).

    Raises:
        TypeError: an argument has a wrong type.
        ValueError: both `grad_position` and `weights` are None.
        RuntimeError: in calls: a position names no argument.

    Example:
        >>> grad(lambda x: x * x)(Tensor([3.0]))
        Tensor(shape=[1], dtype=Float32, value= [ 6.00000000e+00])
    """
    return GradientFunction(fn, _runner_of(grad_position, weights, has_aux, return_ids, False))


def value_and_grad(fn: Callable[..., Any], grad_position: Any = 0, weights: Any = None, has_aux: bool = False,
                   return_ids: bool = False) -> GradientFunction:
    """A function that returns (result of `fn`, its gradients); arguments and errors are those of `grad`.

    Example:
        >>> value_and_grad(lambda x: x * x)(Tensor([3.0]))
    """
    return GradientFunction(fn, _runner_of(grad_position, weights, has_aux, return_ids, True))


def _runner_of(grad_position: Any, weights: Any, has_aux: bool, return_ids: bool,
               with_value: bool) -> Callable[..., Any]:
    if grad_position is None and weights is None:
        raise ValueError("grad: grad_position and weights must not both be None")
    places = _checked_positions(grad_position)

    def run(function: Any, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Any:
        if grad_position is not None and not places:
            raise RuntimeError("grad: grad_position must name at least one argument; not {!r}".format(grad_position))
        for place in places:
            if not 0 <= place < len(args):
                raise RuntimeError("grad: Position index {} is exceed input size {}".format(place, len(args)))
        listed = [] if weights is None else _weights_of(function, weights)
        found = gradients_of(function, args, kwargs, places, listed, has_aux)
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
    listed = [] if grad_position is None else list(grad_position) if isinstance(grad_position, (tuple, list)) else [
        grad_position]
    for one in listed:
        if isinstance(one, bool) or not isinstance(one, int):
            raise TypeError("grad: grad_position must be an int, a tuple of ints or None; not {!r}".format(
                grad_position))
    return listed


def _arranged(found: Union[Gradients, KernelGradients], grad_position: Any, places: List[int], weights: Any,
              listed: List[Parameter], return_ids: bool) -> Any:
    inputs: List[Any] = found.of_inputs()
    of_weights: List[Any] = list(found.of_weights())
    if isinstance(grad_position, int) and inputs[0] is None and weights is None:
        return ()
    if return_ids:
        inputs = list(zip(places, inputs))
        of_weights = [(one.name, g) for one, g in zip(listed, of_weights)]
    by_position: Any = inputs[0] if isinstance(grad_position, int) or len(inputs) == 1 else tuple(inputs)
    if weights is None:
        return by_position
    by_weight: Any = of_weights[0] if isinstance(weights, Parameter) else tuple(of_weights)
    return by_weight if grad_position is None else (by_position, by_weight)


def get_grad(gradients: Any, identifier: Any) -> Tensor:
    """The gradient of an argument or parameter in the result of `grad(..., return_ids=True)`.

    Args:
        gradients: those gradients.
        identifier: a position or a `Parameter`.

    Raises:
        RuntimeError: there is no gradient for it.
        TypeError: `identifier` is neither a position nor a `Parameter`.
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
