"""Gradients of cells and functions of tensors by kernels: tensors and parameters are inputs of one graph.

`gradient_functions.py` asks for them before it uses a tape. Calls whose graph has custom derivatives, hooks or stores
into parameters use the tape.
"""

from __future__ import annotations

import threading
import types
import weakref
from typing import Any, Callable, Dict, List, MutableMapping, Optional, Sequence, Tuple, Union

import numpy as np

from pijit.core.graph.reverse.errors import Irreversible
from pijit.core.pythons import why_not_python
from pijit.core.reasons import reason
from pijit.core.tape.native import plain_run
from pijit.core.tape.state import STATE
from pijit.ms.cell import Cell
from pijit.ms.derivatives import changed_by_hooks
from pijit.ms.parameter import Parameter
from pijit.ms.tensor import Tensor, made

_OPTIONS = {"max_inline_depth": 24, "specialize_scalar": True}
"""Layers call each other, and their numbers are settings: guards compare them, so that no branch is left."""

_MOST_ARGUMENTS = 6
_COMPILES = why_not_python() is None


def _value_of(count: int, aux: int, has_seed: bool) -> Callable[..., Any]:
    """A function of a callable and ``count`` arguments that gives the array of the result.

    With ``aux`` auxiliary results it gives the array of the first result, and a tuple of those of the others. With a
    seed, which is the last argument, it gives the result times the seed, and a tuple of the result: the adjoint of the
    result is the seed then.
    """
    parameters = ["a%d" % number for number in range(count)]
    call = "f(%s)" % ", ".join(parameters)
    lines = ["return %s._array" % call]
    if has_seed:
        lines = ["r = %s._array" % call, "return r * seed, (r,)"]
        parameters.append("seed")
    elif aux:
        names = ["r%d" % number for number in range(1 + aux)]
        arrays = [name + "._array" for name in names]
        lines = ["%s = %s" % (", ".join(names), call), "return %s, (%s,)" % (arrays[0], ", ".join(arrays[1:]))]
    namespace: Dict[str, Any] = {}
    exec("def gradient_of_cell(f, %s):\n    %s\n" % (", ".join(parameters), "\n    ".join(lines)), namespace)
    found: Callable[..., Any] = namespace["gradient_of_cell"]
    return found


class KernelGradients:
    """The result of one call, and its gradients; has the interface of `derivatives.Gradients`.

    Attributes:
        result: the result of the function; a tuple with the auxiliary results if it has some.
    """

    def __init__(self, value: Any, gradients: Sequence[Any], inputs: Sequence[Tensor], weights: Sequence[Tensor],
                 has_aux: bool) -> None:
        value, aux = value if has_aux else (value, ())
        self.result: Any = (made(value), *map(made, aux)) if has_aux else made(value)
        self._gradients = [made(one) if not tensor._hooks else changed_by_hooks(plain_run, tensor, made(one))
                           for tensor, one in zip([*inputs, *weights], gradients)]
        self._inputs = len(inputs)

    def sweep(self, value: Any, seed: Any = None) -> None:
        """The kernel has done it."""

    def of_inputs(self) -> List[Any]:
        """The gradients of the arguments."""
        return self._gradients[:self._inputs]

    def of_weights(self) -> List[Tensor]:
        """The gradients of the parameters."""
        return self._gradients[self._inputs:]


class _GradientKernels:
    """The kernels of one function or cell. They are for one number of arguments and auxiliary results, with a seed or
    without one, and for one choice of differentiated arguments and parameters."""

    def __init__(self, count: int, aux: int, has_seed: bool, show: Optional[Callable[[Any], None]] = None) -> None:
        from pijit.gradient_kernels import GradientKernels  # which needs the extension modules
        from pijit.joint.entry import ResultForm

        self._call = threading.local()  # each thread differentiates arrays of its own
        form = ResultForm(has_aux=aux > 0 or has_seed)
        self.kernels = GradientKernels(_value_of(count, aux, has_seed), (), form=form,
                                       choose=self._positions, options=_OPTIONS, show=show)

    def found(self, arrays: Sequence[Any], args: Tuple[Any, ...]) -> Any:
        """Value and gradients of a call with respect to arrays, or what says that the tape has to compute them."""
        self._call.arrays = arrays
        try:
            return self.kernels.call(args, {})
        finally:
            self._call.arrays = ()

    def probe(self, arrays: Sequence[Any], args: Tuple[Any, ...]) -> Tuple[str, str]:
        """How calls like this one run, and the source of the joint function, or "". The tape runs the call, too."""
        self._call.arrays = arrays
        try:
            return self.kernels.probe(args, {})[1:]
        finally:
            self._call.arrays = ()

    def _positions(self, inputs: Sequence[Any], expected: Optional[Tuple[int, ...]]) -> Tuple[int, ...]:
        """The positions of the differentiated arrays among the inputs of a graph. They are those that are expected in
        most calls."""
        arrays = self._call.arrays
        if expected is not None and _are_apart(inputs, expected, arrays):
            return expected
        wanted = list(map(id, arrays))
        places: Dict[int, List[int]] = {one: [] for one in wanted}
        for place, one in enumerate(inputs):
            if type(one) is np.ndarray:
                if id(one) in places:
                    places[id(one)].append(place)
                if id(one.base) in places:
                    raise Irreversible("an array that shares memory with a differentiated one")
        if any(len(places[one]) != 1 for one in wanted):
            raise Irreversible("an array that the function reads in several ways, or not at all")
        return tuple(places[one][0] for one in wanted)


def _are_apart(inputs: Sequence[Any], places: Tuple[int, ...], arrays: Sequence[Any]) -> bool:
    """Whether these inputs are the arrays, and no other input shares memory with them."""
    for place, array in zip(places, arrays):
        if inputs[place] is not array:
            return False
    own = set(map(id, arrays))
    count = 0
    for one in inputs:
        if type(one) is np.ndarray:
            if id(one) in own:
                count += 1
            elif one.base is not None and id(one.base) in own:
                return False
    return count == len(arrays) == len(own)


_known: MutableMapping[Any, Dict[Tuple[Any, ...], _GradientKernels]] = weakref.WeakKeyDictionary()


def kernel_gradients(function: Any, args: Sequence[Any], kwargs: Dict[str, Any], positions: Sequence[int],
                     weights: Sequence[Parameter], aux: int = 0, seed: Any = None) -> Optional[KernelGradients]:
    """The result and the gradients of a call, if a kernel computes them; None: the tape has to.

    Args:
        function: a cell or a function.
        args, kwargs: its arguments.
        positions: positions of the differentiated arguments.
        weights: differentiated parameters.
        aux: the number of auxiliary results, which are tensors.
        seed: the adjoint of the result, a tensor; None: ones. There are no auxiliary results then.
    """
    arrays = _arrays_of(function, args, kwargs, positions, weights, seed)
    if isinstance(arrays, str):
        return None
    by_form = _known.setdefault(function, {})
    form = len(args), tuple(positions), len(weights), aux, seed is not None
    if form not in by_form:
        by_form[form] = _GradientKernels(len(args), aux, seed is not None)
    found = by_form[form].found(arrays, (function, *args, *_seed_arrays(seed)))
    if found is None or len(found) != 3:
        return None
    value, gradients, _ = found
    if (aux or seed is not None) and _has_argument(value[1], (*args, *weights)):
        return None
    return KernelGradients(value if seed is None else value[1][0], gradients, [args[place] for place in positions],
                           weights, aux > 0)


def _seed_arrays(seed: Any) -> Tuple[Any, ...]:
    """The array of a seed as the last argument, if there is one."""
    return () if seed is None else (seed._array,)


def _has_argument(aux: Sequence[Any], given: Sequence[Any]) -> bool:
    """Whether an auxiliary result is the array of an argument or a parameter, whose object has to be returned."""
    known = {id(one._array) for one in given if isinstance(one, Tensor)}
    return any(id(one) in known for one in aux)


def probe(function: Any, args: Sequence[Any], kwargs: Dict[str, Any], positions: Sequence[int],
          weights: Sequence[Parameter], aux: int = 0, seed: Any = None,
          show: Optional[Callable[[Any], None]] = None) -> Tuple[str, str]:
    """How later calls like this one run, as a sentence, and the source of the joint function, or "".

    Args:
        function, args, kwargs, positions, weights, aux, seed: those of `kernel_gradients`.
        show: receives the texts of the kernels that are made for this, see `KernelTexts`.
    """
    arrays = _arrays_of(function, args, kwargs, positions, weights, seed)
    if isinstance(arrays, str):
        return reason("PJ510", because=arrays), ""
    kernels = _GradientKernels(len(args), aux, seed is not None, show)
    return kernels.probe(arrays, (function, *args, *_seed_arrays(seed)))


def is_lasting(function: Any) -> bool:
    """Whether a function may have kernels: a cell, or a Python function, jitted or not. Bound methods are new objects
    at each access."""
    return isinstance(function, Cell) or type(getattr(function, "py_func", function)) is types.FunctionType


def _arrays_of(function: Any, args: Sequence[Any], kwargs: Dict[str, Any], positions: Sequence[int],
               weights: Sequence[Parameter], seed: Any) -> Union[List[Any], str]:
    """The differentiated arrays of a call, or why no kernel is tried."""
    if not _COMPILES:
        return "nothing is compiled on this Python"
    if STATE.tapes:
        return "it is called while another tape records"
    if not is_lasting(function):
        return "it is neither a cell nor a function"
    if kwargs or not 0 < len(args) <= _MOST_ARGUMENTS:
        return "the call has keywords, no argument, or more than %d" % _MOST_ARGUMENTS
    if seed is not None and not (isinstance(seed, Tensor) and _is_number(seed._array)):
        return "the adjoint of the output is no tensor of one float"
    arrays = []
    for one in [args[place] for place in positions] + [*weights]:
        if not isinstance(one, Tensor) or not _has_own_memory(one._array):
            return "a differentiated argument is no tensor of floats with memory of its own"
        arrays.append(one._array)
    return arrays


def _is_number(array: Any) -> bool:
    return type(array) is np.ndarray and array.ndim == 0 and array.dtype.kind == "f"


def _has_own_memory(array: Any) -> bool:
    return type(array) is np.ndarray and array.base is None and array.dtype.kind == "f"


def why_not(function: Any) -> str:
    """Why the last call of a gradient used the tape (PJ510); "" if a kernel ran, or none was asked for."""
    return next((one.kernels.why for one in reversed(list(_known.get(function, {}).values()))), "")
