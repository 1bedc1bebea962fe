"""Gradients of cells by kernels: joint functions of calls whose tensors and parameters are inputs of one graph.

`gradient_functions.py` asks for them before it uses a tape. Calls whose graph has custom derivatives, hooks, random
numbers or stores into parameters use the tape.
"""

from __future__ import annotations

import threading
import weakref
from typing import Any, Callable, Dict, List, MutableMapping, Optional, Sequence, Tuple

import numpy as np

from pijit.core.graph.reverse.errors import Irreversible
from pijit.core.pythons import why_not_python
from pijit.core.tape.state import STATE
from pijit.ms.cell import Cell
from pijit.ms.parameter import Parameter
from pijit.ms.tensor import Tensor, made

_OPTIONS = {"max_inline_depth": 24, "specialize_scalar": True}
"""Layers call each other, and their numbers are settings: guards compare them, so that no branch is left."""

_MOST_ARGUMENTS = 6
_COMPILES = why_not_python() is None


def _value_of(count: int) -> Callable[..., Any]:
    """A function of a callable and ``count`` arguments that gives the array of the result."""
    names = ", ".join("a%d" % number for number in range(count))
    namespace: Dict[str, Any] = {}
    exec("def gradient_of_cell(f, {0}):\n    return f({0})._array\n".format(names), namespace)
    found: Callable[..., Any] = namespace["gradient_of_cell"]
    return found


class KernelGradients:
    """The result of one call, and its gradients; has the interface of `derivatives.Gradients`.

    Attributes:
        result: the result of the function.
    """

    def __init__(self, value: Any, gradients: Sequence[Any], inputs: int) -> None:
        self.result = made(np.asarray(value))
        self._gradients = [made(one) for one in gradients]
        self._inputs = inputs

    def sweep(self, value: Any, seed: Any = None) -> None:
        """The kernel has done it."""

    def of_inputs(self) -> List[Any]:
        """The gradients of the arguments."""
        return self._gradients[:self._inputs]

    def of_weights(self) -> List[Tensor]:
        """The gradients of the parameters."""
        return self._gradients[self._inputs:]


class _Kernels:
    """The kernels of one function or cell for one number of arguments, and one choice of arguments and parameters."""

    def __init__(self, count: int) -> None:
        from pijit.gradient_kernels import GradientKernels  # which needs the extension modules
        from pijit.joint.entry import Form

        self._call = threading.local()  # each thread differentiates arrays of its own
        self.kernels = GradientKernels(_value_of(count), (), form=Form(), choose=self._positions, options=_OPTIONS)

    def found(self, arrays: Sequence[Any], args: Tuple[Any, ...]) -> Any:
        """Value and gradients of a call with respect to arrays, or what says that the tape has to compute them."""
        self._call.arrays = arrays
        try:
            return self.kernels.call(args, {})
        finally:
            self._call.arrays = ()

    def _positions(self, inputs: Sequence[Any]) -> Tuple[int, ...]:
        """The positions of the differentiated arrays among the inputs of a graph."""
        wanted = list(map(id, self._call.arrays))
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


_known: MutableMapping[Any, Dict[Tuple[Any, ...], _Kernels]] = weakref.WeakKeyDictionary()


def kernel_gradients(function: Any, args: Sequence[Any], kwargs: Dict[str, Any], positions: Sequence[int],
                     weights: Sequence[Parameter]) -> Optional[KernelGradients]:
    """The result and the gradients of a call, if a kernel computes them; None: the tape has to.

    Args:
        function: a cell.
        args, kwargs: its arguments.
        positions: positions of the differentiated arguments.
        weights: differentiated parameters.
    """
    if not _COMPILES or kwargs or STATE.tapes or not isinstance(function, Cell) or not 0 < len(args) <= _MOST_ARGUMENTS:
        return None
    tensors = [args[place] for place in positions]
    arrays = [one._array for one in [*tensors, *weights] if isinstance(one, Tensor)]
    if len(arrays) != len(tensors) + len(weights) or not all(map(_has_own_memory, arrays)):
        return None
    by_form = _known.setdefault(function, {})
    form = len(args), tuple(positions), len(weights)
    if form not in by_form:
        by_form[form] = _Kernels(len(args))
    found = by_form[form].found(arrays, (function, *args))
    if found is None or len(found) != 3:
        return None
    return KernelGradients(found[0], found[1], len(positions))


def _has_own_memory(array: Any) -> bool:
    return type(array) is np.ndarray and array.base is None and array.dtype.kind == "f"


def why_not(function: Any) -> str:
    """Why the last call of a cell's gradient used the tape (PJ510); "" if a kernel ran, or none was asked for."""
    return next((one.kernels.why for one in reversed(list(_known.get(function, {}).values()))), "")
