"""Recurrent layers: stacks of recurrent networks over sequences."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np

from pijit.ms.cell import Cell
from pijit.ms.dtype import float32
from pijit.ms.nn.arguments import positive
from pijit.ms.nn.layers import Dropout
from pijit.ms.nn.recurrent_cells import add_weights, checked_pair, checked_state, elman_step, weights
from pijit.ms.ops import recurrence
from pijit.ms.ops.elementwise import floating
from pijit.ms.tensor import array_of, made


class _Recurrent(Cell):
    """Common base of the stacked layers over sequences."""

    gates = 1
    step: recurrence.Step
    layout: Optional[str] = None
    """"batch first" or None. Captured code checks it by a guard, and captures one path; a bool gives two."""

    def __init__(self, input_size: int, hidden_size: int, num_layers: int = 1, has_bias: bool = True,
                 batch_first: bool = False, dropout: float = 0.0, bidirectional: bool = False,
                 dtype: Any = float32) -> None:
        super().__init__()
        name = type(self).__name__
        self.input_size = positive(name, "input_size", input_size)
        self.hidden_size = positive(name, "hidden_size", hidden_size)
        self.num_layers = positive(name, "num_layers", num_layers)
        if isinstance(dropout, bool) or not isinstance(dropout, (int, float)):
            raise TypeError("{}: dropout must be a float; not {!r}".format(name, dropout))
        if not 0 <= dropout < 1:
            raise ValueError("{}: dropout must be from 0 to below 1; not {!r}".format(name, dropout))
        self.has_bias, self.layout = bool(has_bias), "batch first" if batch_first else None
        self.dropout, self.bidirectional = float(dropout), bool(bidirectional)
        self.dropout_op = Dropout(p=self.dropout) if dropout else None
        directions = ((False, ""), (True, "_reverse"))[:2 if bidirectional else 1]
        rows, columns = self.gates * hidden_size, [input_size] + [hidden_size * len(directions)] * (num_layers - 1)
        self.stack = tuple(tuple(
            (backward, add_weights(self, "_l{}{}".format(layer, suffix), rows, width, hidden_size, has_bias, dtype))
            for backward, suffix in directions) for layer, width in enumerate(columns))
        """For each layer and direction: whether it begins at the end, and the names of its parameters."""

    @property
    def batch_first(self) -> bool:
        """Whether tensors have the batch dimension first."""
        return self.layout is not None

    def _states(self, hx: Any, shape: Any, dtype: Any) -> recurrence.States:
        """The initial states of all layers and directions."""
        if hx is None:
            return (np.zeros(shape, dtype),)
        return (checked_state(type(self).__name__, "hx", hx, shape, dtype),)

    def construct(self, x: Any, hx: Any = None, seq_length: Any = None) -> Any:
        """The outputs of the last layer, and the final states."""
        r, lasts = self._run(x, hx, seq_length)
        return made(r), made(recurrence.stacked(lasts, 0))

    def _run(self, x: Any, hx: Any, seq_length: Any) -> Any:
        """The outputs of the last layer, and the final states per layer and direction."""
        r = floating(array_of(x))
        if r.ndim != 3:
            raise ValueError("{}: x must have 3 dimensions; not {}".format(type(self).__name__, r.ndim))
        if self.layout is not None:
            r = np.swapaxes(r, 0, 1)
        batch = r.shape[1]
        lengths = None if seq_length is None else self._lengths(seq_length, batch)
        firsts = self._states(hx, (self.num_layers * len(self.stack[0]), batch, self.hidden_size), r.dtype)
        lasts: Any = []
        for directions in self.stack:
            if lasts and self.dropout_op is not None:
                r = self.dropout_op(made(r))._array
            parts = []
            for backward, names in directions:
                w_ih, w_hh, b_ih, b_hh = weights(self, names, r.dtype)
                projected = recurrence.product(r, w_ih, b_ih)
                states = recurrence.at(firsts, len(lasts))
                if lengths is None:
                    part, last = recurrence.sequence(self.step, projected, states, w_hh, b_hh, backward)
                else:
                    part, last = recurrence.padded_sequence(self.step, projected, states, w_hh, b_hh, backward, lengths)
                parts.append(part)
                lasts.append(last)
            r = parts[0] if len(parts) == 1 else np.concatenate(parts, axis=2)
        return (np.array(np.swapaxes(r, 0, 1), order="C") if self.layout is not None else r), lasts

    def extend_repr(self) -> str:
        return "input_size={}, hidden_size={}, num_layers={}, has_bias={}, batch_first={}, dropout={}, " \
            "bidirectional={}".format(self.input_size, self.hidden_size, self.num_layers, self.has_bias,
                                      self.batch_first, self.dropout, self.bidirectional)

    def _lengths(self, seq_length: Any, batch: int) -> Any:
        lengths = array_of(seq_length)
        if lengths.dtype.kind not in "iu":
            raise TypeError("{}: seq_length must be a Tensor of integers; not of {}".format(
                type(self).__name__, lengths.dtype))
        if lengths.shape != (batch,):
            raise ValueError("{}: seq_length must have the shape {}; not {}".format(
                type(self).__name__, (batch,), lengths.shape))
        return lengths


class RNN(_Recurrent):
    """Stacked Elman networks (Elman, 1990); see `RNNCell` for the formula.

    Parameters are named `weight_ih_l0`, `weight_hh_l0`, `bias_ih_l0`, `bias_hh_l0`, then with `l1` and so on. Those of
    the second direction end in `_reverse`.

    Args:
        input_size, hidden_size: the numbers of features of input and state.
        num_layers: the number of layers; each takes the outputs of the previous one.
        has_bias: whether there are biases.
        batch_first: whether x and the outputs begin with the batch dimension.
        dropout: the probability with which, in training, elements between two layers are dropped.
        bidirectional: whether a second network per layer reads the sequence from its end.
        nonlinearity: "tanh" or "relu".
        dtype: the element type of the parameters, which are uniform within 1 / sqrt(hidden_size).

    Calls take:
        x: of shape (steps, batch, input_size).
        hx: None for zeros, or of shape (num_layers * directions, batch, hidden_size).
        seq_length: None, or the length of each sequence as integers of shape (batch,). Beyond its length, a sequence
            has zeros as outputs and keeps its state.

    Returns:
        In calls (outputs, final states). Outputs have the shape (steps, batch, directions * hidden_size).
        States have the shape (num_layers * directions, batch, hidden_size).

    Raises:
        TypeError, ValueError: an argument is not accepted, or a tensor has another shape.

    Example:
        >>> outputs, state = RNN(3, 2, batch_first=True)(Tensor(np.ones((4, 5, 3), np.float32)))
        >>> outputs.shape, state.shape
        ((4, 5, 2), (1, 4, 2))
    """

    def __init__(self, input_size: int, hidden_size: int, num_layers: int = 1, has_bias: bool = True,
                 batch_first: bool = False, dropout: float = 0.0, bidirectional: bool = False, dtype: Any = float32, *,
                 nonlinearity: str = "tanh") -> None:
        super().__init__(input_size, hidden_size, num_layers, has_bias, batch_first, dropout, bidirectional, dtype)
        self.nonlinearity = nonlinearity
        self.step = elman_step("RNN", nonlinearity)


class GRU(_Recurrent):
    """Stacked gated recurrent units (Cho and others, 2014); see `GRUCell` for the gates, `RNN` for parameter names.

    Args:
        input_size, hidden_size: the numbers of features of input and state.
        num_layers: the number of layers; each takes the outputs of the previous one.
        has_bias: whether there are biases.
        batch_first: whether x and the outputs begin with the batch dimension.
        dropout: the probability with which, in training, elements between two layers are dropped.
        bidirectional: whether a second network per layer reads the sequence from its end.
        dtype: the element type of the parameters, which are uniform within 1 / sqrt(hidden_size).

    Calls take:
        x: of shape (steps, batch, input_size).
        hx: None for zeros, or of shape (num_layers * directions, batch, hidden_size).
        seq_length: None, or the length of each sequence as integers of shape (batch,). Beyond its length, a sequence
            has zeros as outputs and keeps its state.

    Returns:
        In calls (outputs, final states). Outputs have the shape (steps, batch, directions * hidden_size).
        States have the shape (num_layers * directions, batch, hidden_size).

    Raises:
        TypeError, ValueError: an argument is not accepted, or a tensor has another shape.

    Example:
        >>> outputs, state = GRU(3, 2, bidirectional=True)(Tensor(np.ones((5, 4, 3), np.float32)))
        >>> outputs.shape, state.shape
        ((5, 4, 4), (2, 4, 2))
    """

    gates = 3
    step = staticmethod(recurrence.gru_step)


class LSTM(_Recurrent):
    """Stacked networks with long short-term memory (Hochreiter and Schmidhuber, 1997).

    `LSTMCell` describes the gates, `RNN` the names of parameters.

    Args:
        input_size, hidden_size: the numbers of features of input and state.
        num_layers: the number of layers; each takes the outputs of the previous one.
        has_bias: whether there are biases.
        batch_first: whether x and the outputs begin with the batch dimension.
        dropout: the probability with which, in training, elements between two layers are dropped.
        bidirectional: whether a second network per layer reads the sequence from its end.
        dtype: the element type of the parameters, which are uniform within 1 / sqrt(hidden_size).

    Calls take:
        x: of shape (steps, batch, input_size).
        hx: None for zeros, or a tuple (h, c), each of the shape (num_layers * directions, batch, hidden_size).
        seq_length: None, or the length of each sequence as integers of shape (batch,). Beyond its length, a sequence
            has zeros as outputs and keeps its state.

    Returns:
        In calls (outputs, final states). Outputs have the shape (steps, batch, directions * hidden_size).
        States are a tuple (h, c), each of shape (num_layers * directions, batch, hidden_size).

    Raises:
        TypeError, ValueError: an argument is not accepted, or a tensor has another shape.

    Example:
        >>> outputs, (h, c) = LSTM(3, 2, num_layers=2)(Tensor(np.ones((5, 4, 3), np.float32)))
        >>> outputs.shape, h.shape, c.shape
        ((5, 4, 2), (2, 4, 2), (2, 4, 2))
    """

    gates = 4
    step = staticmethod(recurrence.lstm_step)

    def _states(self, hx: Any, shape: Any, dtype: Any) -> recurrence.States:
        if hx is None:
            return np.zeros(shape, dtype), np.zeros(shape, dtype)
        return checked_pair("LSTM", hx, shape, dtype)

    def construct(self, x: Any, hx: Any = None, seq_length: Any = None) -> Any:
        """The outputs of the last layer, and the final (h, c)."""
        r, lasts = self._run(x, hx, seq_length)
        return made(r), (made(recurrence.stacked(lasts, 0)), made(recurrence.stacked(lasts, 1)))
