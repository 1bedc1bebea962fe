"""Layers that have no family of their own: dense layers, dropout, embeddings."""

from __future__ import annotations

from typing import Any, Optional

from pijit.ms.cell import Cell
from pijit.ms.dtype import float32
from pijit.ms.initializer import HeUniform, Uniform, initializer
from pijit.ms.nn.activations import get_activation
from pijit.ms.nn.arguments import positive
from pijit.ms.ops import layers, movement, products
from pijit.ms.parameter import Parameter


class Dense(Cell):
    """Fully connected layer: `x @ weight.T + bias` over the last dimension.

    Args:
        in_channels, out_channels: the lengths of the last dimension before and after.
        weight_init, bias_init: initializers; by default uniform within 1 / sqrt(in_channels).
        has_bias: whether there is a bias.
        activation: the name of an activation, a cell, or None.
        dtype: the element type of the parameters.

    Raises:
        TypeError, ValueError: an argument is not accepted.

    Example:
        >>> Dense(3, 2)(Tensor([[1.0, 2.0, 3.0]])).shape
        (1, 2)
    """

    bias: Optional[Parameter] = None

    def __init__(self, in_channels: int, out_channels: int, weight_init: Any = None, bias_init: Any = None,
                 has_bias: bool = True, activation: Any = None, dtype: Any = float32) -> None:
        super().__init__()
        self.in_channels = positive("Dense", "in_channels", in_channels)
        self.out_channels = positive("Dense", "out_channels", out_channels)
        self.has_bias = bool(has_bias)
        bound = 1 / in_channels ** 0.5
        self.weight = Parameter(initializer(HeUniform(5 ** 0.5) if weight_init is None else weight_init,
                                            [out_channels, in_channels], dtype), name="weight")
        if has_bias:
            self.bias = Parameter(
                initializer(Uniform(bound) if bias_init is None else bias_init, [out_channels], dtype), name="bias")
        self.activation = get_activation(activation) if isinstance(activation, str) else activation

    def construct(self, x: Any) -> Any:
        """The result, of shape (..., out_channels)."""
        x = products.dense(x, self.weight, self.bias)
        return x if self.activation is None else self.activation(x)

    def extend_repr(self) -> str:
        return "input_channels={}, output_channels={}, has_bias={}".format(
            self.in_channels, self.out_channels, self.has_bias)


class Flatten(Cell):
    """Joins the dimensions from `start_dim` to `end_dim` into one."""

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        super().__init__()
        self.start_dim, self.end_dim = start_dim, end_dim
        self.form = "rows" if (start_dim, end_dim) == (1, -1) else None  # a str is a constant of captured code

    def construct(self, x: Any) -> Any:
        """The tensor with fewer dimensions."""
        if self.form is not None:
            return movement.flatten(x)
        return movement.flatten(x, start_dim=self.start_dim, end_dim=self.end_dim)


class Dropout(Cell):
    """Dropout: in training, sets elements to 0 with probability `p` and scales up the others.

    Args:
        keep_prob: the probability that an element is kept; ignored if `p` is given.
        p: the probability that an element is dropped.
    """

    mode: Optional[str] = None
    """"train" in training. Captured code checks a str or None by a guard, and captures one path."""

    def __init__(self, keep_prob: float = 0.5, p: Optional[float] = None, dtype: Any = float32) -> None:
        super().__init__()
        self.p = 1 - keep_prob if p is None else p
        if not 0 <= self.p < 1:
            raise ValueError("Dropout: p must be from 0 to below 1; not {!r}".format(self.p))

    @property
    def training(self) -> bool:
        """Whether elements are dropped."""
        return self.mode is not None

    @training.setter
    def training(self, value: bool) -> None:
        object.__setattr__(self, "mode", "train" if value else None)

    def construct(self, x: Any) -> Any:
        """The tensor; in training with elements dropped."""
        return x if self.mode is None else layers.dropout(x, self.p)

    def extend_repr(self) -> str:
        return "p={}".format(self.p)


class Embedding(Cell):
    """Embedding: looks up a row of a table for each integer.

    Args:
        vocab_size: the number of rows.
        embedding_size: the length of a row.
        embedding_table: the initializer of the table.
    """

    def __init__(self, vocab_size: int, embedding_size: int, use_one_hot: bool = False, embedding_table: Any = "normal",
                 dtype: Any = float32, padding_idx: Optional[int] = None) -> None:
        super().__init__()
        self.vocab_size = positive("Embedding", "vocab_size", vocab_size)
        self.embedding_size = positive("Embedding", "embedding_size", embedding_size)
        table = initializer(embedding_table, [vocab_size, embedding_size], dtype)
        if padding_idx is not None:
            table[padding_idx] = 0
        self.embedding_table = Parameter(table, name="embedding_table")

    def construct(self, ids: Any) -> Any:
        """The rows."""
        return movement.gather(self.embedding_table, ids, 0)


class Identity(Cell):
    """Returns the input."""

    def construct(self, x: Any) -> Any:
        """The input."""
        return x
