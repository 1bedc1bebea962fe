"""Recurrent cells: one step of a recurrent network."""

from __future__ import annotations

from typing import Any, Optional, Tuple

from pijit.ms.cell import Cell
from pijit.ms.dtype import float32
from pijit.ms.initializer import Uniform, initializer
from pijit.ms.nn.arguments import positive
from pijit.ms.ops import recurrence
from pijit.ms.ops.elementwise import floating
from pijit.ms.parameter import Parameter
from pijit.ms.tensor import Tensor, array_of, made

NONLINEARITIES = {"tanh": recurrence.tanh_step, "relu": recurrence.relu_step}
"""The steps of Elman networks."""


def elman_step(layer: str, nonlinearity: Any) -> recurrence.Step:
    """The step of an Elman network with this nonlinearity.

    Raises:
        ValueError: there is none.
    """
    if not isinstance(nonlinearity, str) or nonlinearity not in NONLINEARITIES:
        raise ValueError("{}: nonlinearity must be 'tanh' or 'relu'; not {!r}".format(layer, nonlinearity))
    return NONLINEARITIES[nonlinearity]


def add_weights(cell: Cell, suffix: str, rows: int, columns: int, hidden_size: int, has_bias: bool, dtype: Any) -> Any:
    """Add the parameters of one direction of one layer; returns their names, and None for missing ones."""
    shapes = (("weight_ih", [rows, columns]), ("weight_hh", [rows, hidden_size]), ("bias_ih", [rows]),
              ("bias_hh", [rows]))
    names = []
    for name, shape in shapes[:4 if has_bias else 2]:
        values = initializer(Uniform(1 / hidden_size ** 0.5), shape, dtype)
        cell.insert_param_to_cell(name + suffix, Parameter(values, name=name + suffix))
        names.append(name + suffix)
    return tuple(names + [None] * (4 - len(names)))


def weights(cell: Cell, names: Any, dtype: Any) -> Any:
    """The arrays of the named parameters in a dtype; None for a missing one."""
    return tuple([None if name is None else _cast(getattr(cell, name)._array, dtype) for name in names])


def _cast(array: Any, dtype: Any) -> Any:
    return array if array.dtype == dtype else array.astype(dtype)


def checked_state(layer: str, name: str, state: Any, shape: Any, dtype: Any) -> Any:
    """The array of a state.

    Raises:
        TypeError: the state is not a tensor, or has another dtype.
        ValueError: it has another shape.
    """
    if not isinstance(state, Tensor):
        raise TypeError("{}: {} must be a Tensor; not {!r}".format(layer, name, state))
    if state._array.shape != shape:
        raise ValueError("{}: {} must have the shape {}; not {}".format(layer, name, shape, state._array.shape))
    if state._array.dtype != dtype:
        raise TypeError("{}: {} must have the dtype of x, {}; not {}".format(layer, name, dtype, state._array.dtype))
    return state._array


def checked_pair(layer: str, hx: Any, shape: Any, dtype: Any) -> Tuple[Any, Any]:
    """The arrays of a pair of states.

    Raises:
        TypeError: `hx` is not a pair of tensors, or one has another dtype.
        ValueError: one has another shape.
    """
    if not isinstance(hx, (tuple, list)) or len(hx) != 2:
        raise TypeError("{}: hx must be a tuple of two Tensors; not {!r}".format(layer, hx))
    return checked_state(layer, "hx[0]", hx[0], shape, dtype), checked_state(layer, "hx[1]", hx[1], shape, dtype)


class _RecurrentCell(Cell):
    """Common base of the cells that compute one step."""

    gates = 1
    bias_ih: Optional[Parameter] = None
    bias_hh: Optional[Parameter] = None

    def __init__(self, input_size: int, hidden_size: int, has_bias: bool = True, dtype: Any = float32) -> None:
        super().__init__()
        name = type(self).__name__
        self.input_size = positive(name, "input_size", input_size)
        self.hidden_size = positive(name, "hidden_size", hidden_size)
        self.has_bias = bool(has_bias)
        self.weight_names = add_weights(self, "", self.gates * hidden_size, input_size, hidden_size, has_bias, dtype)

    def _after(self, step: recurrence.Step, x: Any, states: recurrence.States) -> Any:
        """The states after a step."""
        w_ih, w_hh, b_ih, b_hh = weights(self, self.weight_names, x.dtype)
        return step(recurrence.product(x, w_ih, b_ih), states, w_hh, b_hh)

    def extend_repr(self) -> str:
        return "input_size={}, hidden_size={}, has_bias={}".format(self.input_size, self.hidden_size, self.has_bias)


class RNNCell(_RecurrentCell):
    """One step of an Elman network: `tanh(x @ weight_ih.T + bias_ih + hx @ weight_hh.T + bias_hh)` (Elman, 1990).

    Args:
        input_size, hidden_size: the numbers of features of input and state.
        has_bias: whether there are biases.
        nonlinearity: "tanh" or "relu".
        dtype: the element type of the parameters, which are uniform within 1 / sqrt(hidden_size).

    Calls take x of shape (batch, input_size) and hx of shape (batch, hidden_size).

    Returns:
        In calls the next state, of the shape of hx.

    Raises:
        TypeError, ValueError: an argument is not accepted, or hx has another shape.

    Example:
        >>> RNNCell(3, 2)(Tensor([[1.0, 2.0, 3.0]]), Tensor([[0.0, 0.0]])).shape
        (1, 2)
    """

    def __init__(self, input_size: int, hidden_size: int, has_bias: bool = True, nonlinearity: str = "tanh",
                 dtype: Any = float32) -> None:
        super().__init__(input_size, hidden_size, has_bias, dtype)
        self.nonlinearity = nonlinearity
        self.step = elman_step("RNNCell", nonlinearity)

    def construct(self, x: Any, hx: Any) -> Any:
        """The next state."""
        a = floating(array_of(x))
        h = checked_state("RNNCell", "hx", hx, (a.shape[0], self.hidden_size), a.dtype)
        return made(self._after(self.step, a, (h,))[0])


class GRUCell(_RecurrentCell):
    """One step of a gated recurrent unit (Cho and others, 2014).

    The gates lie in the order reset, update, new along the rows of the weights. The reset gate is applied after the
    product with `weight_hh`.

    Args:
        input_size, hidden_size: the numbers of features of input and state.
        has_bias: whether there are biases.
        dtype: the element type of the parameters, which are uniform within 1 / sqrt(hidden_size).

    Calls take x of shape (batch, input_size) and hx of shape (batch, hidden_size).

    Returns:
        In calls the next state, of the shape of hx.

    Raises:
        TypeError, ValueError: an argument is not accepted, or hx has another shape.

    Example:
        >>> GRUCell(3, 2)(Tensor([[1.0, 2.0, 3.0]]), Tensor([[0.0, 0.0]])).shape
        (1, 2)
    """

    gates = 3

    def construct(self, x: Any, hx: Any) -> Any:
        """The next state."""
        a = floating(array_of(x))
        h = checked_state("GRUCell", "hx", hx, (a.shape[0], self.hidden_size), a.dtype)
        return made(self._after(recurrence.gru_step, a, (h,))[0])


class LSTMCell(_RecurrentCell):
    """One step of a network with long short-term memory (Hochreiter and Schmidhuber, 1997).

    The gates lie in the order input, forget, cell, output along the rows of the weights.

    Args:
        input_size, hidden_size: the numbers of features of input and state.
        has_bias: whether there are biases.
        dtype: the element type of the parameters, which are uniform within 1 / sqrt(hidden_size).

    Calls take x of shape (batch, input_size) and hx, a tuple (h, c) of the shape (batch, hidden_size) each.

    Returns:
        In calls the next (h, c).

    Raises:
        TypeError, ValueError: an argument is not accepted, or hx is no pair or has other shapes.

    Example:
        >>> zeros = Tensor([[0.0, 0.0]])
        >>> LSTMCell(3, 2)(Tensor([[1.0, 2.0, 3.0]]), (zeros, zeros))[0].shape
        (1, 2)
    """

    gates = 4

    def construct(self, x: Any, hx: Any) -> Tuple[Any, Any]:
        """The next states."""
        a = floating(array_of(x))
        states = checked_pair("LSTMCell", hx, (a.shape[0], self.hidden_size), a.dtype)
        h, c = self._after(recurrence.lstm_step, a, states)
        return made(h), made(c)
