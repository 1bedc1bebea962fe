"""Computations of recurrent layers on arrays: one step of each kind, and the loop over a sequence.

A step takes the product of the input and its weight with the bias added, and a tuple of states. It returns the new
states. The first state is the output. Gates lie side by side in the last dimension.
"""

from __future__ import annotations

from typing import Any, Callable, Tuple

import numpy as np

States = Tuple[Any, ...]
Step = Callable[[Any, States, Any, Any], States]


def product(x: Any, weight: Any, bias: Any) -> Any:
    """`x @ weight.T + bias`; without a sum if the bias is None."""
    r = np.matmul(x, weight.T)
    return r if bias is None else r + bias


def _logistic(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def tanh_step(projected: Any, states: States, weight: Any, bias: Any) -> States:
    """A step of an Elman network with hyperbolic tangents."""
    return (np.tanh(projected + product(states[0], weight, bias)),)


def relu_step(projected: Any, states: States, weight: Any, bias: Any) -> States:
    """A step of an Elman network with rectifiers."""
    r = projected + product(states[0], weight, bias)
    return (np.maximum(r, r.dtype.type(0)),)


def lstm_step(projected: Any, states: States, weight: Any, bias: Any) -> States:
    """A step of an LSTM; the gates are input, forget, cell and output."""
    h, c = states
    n = h.shape[1]
    gates = projected + product(h, weight, bias)
    kept = _logistic(gates[:, n:2 * n]) * c
    c = kept + _logistic(gates[:, :n]) * np.tanh(gates[:, 2 * n:3 * n])
    return _logistic(gates[:, 3 * n:]) * np.tanh(c), c


def gru_step(projected: Any, states: States, weight: Any, bias: Any) -> States:
    """A step of a GRU; the gates are reset, update and new."""
    h = states[0]
    n = h.shape[1]
    hidden = product(h, weight, bias)
    reset = _logistic(projected[:, :n] + hidden[:, :n])
    update = _logistic(projected[:, n:2 * n] + hidden[:, n:2 * n])
    new = np.tanh(projected[:, 2 * n:] + reset * hidden[:, 2 * n:])
    return (new + update * (h - new),)


def sequence(step: Step, projected: Any, states: States, weight: Any, bias: Any, backward: bool) -> Any:
    """Steps over a whole sequence.

    Args:
        step: the function of one step.
        projected: its first argument for all steps, of shape (steps, batch, gates * hidden).
        states: the initial states, each of shape (batch, hidden).
        weight, bias: the further arguments of `step`.
        backward: whether the last step is computed first.

    Returns:
        (the outputs, of shape (steps, batch, hidden), the final states).
    """
    count = projected.shape[0]
    r = np.empty((count,) + states[0].shape, projected.dtype)
    for t in range(count - 1, -1, -1) if backward else range(count):
        states = step(projected[t], states, weight, bias)
        r[t] = states[0]
    return r, states


def padded_sequence(step: Step, projected: Any, states: States, weight: Any, bias: Any, backward: bool,
                    lengths: Any) -> Any:
    """As `sequence`, for sequences of different lengths; beyond its length, a sequence keeps its states.

    Args:
        lengths: the length of each sequence, of shape (batch,).

    Returns:
        (the outputs, which are 0 beyond the lengths, the final states).
    """
    count = projected.shape[0]
    r = np.empty((count,) + states[0].shape, projected.dtype)
    for t in range(count - 1, -1, -1) if backward else range(count):
        valid = np.expand_dims(lengths > t, 1)
        after = step(projected[t], states, weight, bias)
        r[t] = np.where(valid, after[0], projected.dtype.type(0))
        states = _chosen(valid, after, states)
    return r, states


def _chosen(valid: Any, after: States, before: States) -> States:
    return tuple([np.where(valid, new, old) for new, old in zip(after, before)])


def at(states: States, place: int) -> States:
    """The states of one layer and direction."""
    return tuple([one[place] for one in states])


def stacked(states: Any, place: int) -> Any:
    """One of the states of all layers and directions, stacked."""
    return np.stack([one[place] for one in states])
