"""Transformers: layers of encoder and decoder, and stacks of them (Vaswani and others, 2017)."""

from __future__ import annotations

import copy
from typing import Any, Optional

from pijit.ms.cell import Cell
from pijit.ms.dtype import float32
from pijit.ms.nn.arguments import positive
from pijit.ms.nn.attention import MultiheadAttention
from pijit.ms.nn.containers import CellList
from pijit.ms.nn.layers import Dense, Dropout
from pijit.ms.nn.normalisation import LayerNorm
from pijit.ms.ops import elementwise

ACTIVATIONS = {"relu": elementwise.relu, "gelu": elementwise.gelu}
"""Activations by name."""


def _activation(layer: str, activation: Any) -> Any:
    if isinstance(activation, str) and activation in ACTIVATIONS:
        return ACTIVATIONS[activation]
    if isinstance(activation, str) or not callable(activation):
        raise ValueError("{}: activation must be 'relu', 'gelu', a cell or a function; not {!r}".format(
            layer, activation))
    return activation


class _Layer(Cell):
    """Common base of both layers: self-attention and two dense layers, each with dropout and normalisation."""

    norms = 2
    norm1: LayerNorm
    norm2: LayerNorm
    dropout1: Dropout
    dropout2: Dropout

    order: Optional[str] = None
    """"norm first" or None. Captured code checks it by a guard, and captures one path; a bool gives two."""

    def __init__(self, d_model: int, nhead: int, dim_feedforward: int = 2048, dropout: float = 0.1,
                 activation: Any = "relu", layer_norm_eps: float = 1e-5, batch_first: bool = False,
                 norm_first: bool = False, dtype: Any = float32) -> None:
        super().__init__()
        self.self_attn = MultiheadAttention(d_model, nhead, dropout, batch_first=batch_first, dtype=dtype)
        if self.norms == 3:
            self.multihead_attn = MultiheadAttention(d_model, nhead, dropout, batch_first=batch_first, dtype=dtype)
        self.dense1 = Dense(d_model, positive(type(self).__name__, "dim_feedforward", dim_feedforward), dtype=dtype)
        self.dropout = Dropout(p=dropout)
        self.dense2 = Dense(dim_feedforward, d_model, dtype=dtype)
        for k in range(1, self.norms + 1):
            setattr(self, "norm{}".format(k), LayerNorm((d_model,), epsilon=layer_norm_eps, dtype=dtype))
            setattr(self, "dropout{}".format(k), Dropout(p=dropout))
        self.activation = _activation(type(self).__name__, activation)
        self.batch_first, self.order = bool(batch_first), "norm first" if norm_first else None

    @property
    def norm_first(self) -> bool:
        """Whether each part normalises its input."""
        return self.order is not None

    def _attended(self, x: Any, mask: Any, padding: Any) -> Any:
        """The dropped-out self-attention."""
        return self.dropout1(self.self_attn(x, x, x, padding, False, mask)[0])

    def _fed(self, x: Any) -> Any:
        """The results of the dense layers, before the last dropout."""
        return self.dense2(self.dropout(self.activation(self.dense1(x))))


class TransformerEncoderLayer(_Layer):
    """Encoder layer of a transformer: self-attention and two dense layers (Vaswani and others, 2017).

    Args:
        d_model: the number of features.
        nhead: the number of heads of the attention.
        dim_feedforward: the number of features between the two dense layers.
        dropout: the probability with which, in training, elements are dropped.
        activation: "relu", "gelu", a cell or a function, between the dense layers.
        layer_norm_eps: see `LayerNorm`.
        batch_first: whether tensors have the batch dimension first; otherwise it is the second.
        norm_first: whether each part normalises its input; otherwise its sum with the input.
        dtype: the element type of the parameters.

    Calls take:
        src: of shape (steps, batch, d_model), or (steps, d_model).
        src_mask, src_key_padding_mask: None, or `attn_mask` and `key_padding_mask` of `MultiheadAttention`.

    Returns:
        In calls a tensor of the shape of src.

    Raises:
        TypeError, ValueError: an argument is not accepted, or a tensor has another shape.

    Example:
        >>> TransformerEncoderLayer(8, 2, 16)(Tensor(np.ones((5, 3, 8), np.float32))).shape
        (5, 3, 8)
    """

    def construct(self, src: Any, src_mask: Any = None, src_key_padding_mask: Any = None) -> Any:
        """The encoded sequence."""
        x = src
        if self.order is not None:
            x = x + self._attended(self.norm1(x), src_mask, src_key_padding_mask)
            return x + self.dropout2(self._fed(self.norm2(x)))
        x = self.norm1(x + self._attended(x, src_mask, src_key_padding_mask))
        return self.norm2(x + self.dropout2(self._fed(x)))


class TransformerDecoderLayer(_Layer):
    """Decoder layer of a transformer: self-attention, attention to the encoder's results, and two dense layers.

    Args:
        d_model: the number of features.
        nhead: the number of heads of the attention.
        dim_feedforward: the number of features between the two dense layers.
        dropout: the probability with which, in training, elements are dropped.
        activation: "relu", "gelu", a cell or a function, between the dense layers.
        layer_norm_eps: see `LayerNorm`.
        batch_first: whether tensors have the batch dimension first; otherwise it is the second.
        norm_first: whether each part normalises its input; otherwise its sum with the input.
        dtype: the element type of the parameters.

    Calls take:
        tgt: of shape (steps, batch, d_model), or (steps, d_model).
        memory: the encoder's result, with a length of its own.
        tgt_mask, tgt_key_padding_mask: None, or `attn_mask` and `key_padding_mask` of the self-attention.
        memory_mask, memory_key_padding_mask: the same of the attention to the memory.

    Returns:
        In calls a tensor of the shape of tgt.

    Raises:
        TypeError, ValueError: an argument is not accepted, or a tensor has another shape.

    Example:
        >>> memory = Tensor(np.ones((4, 3, 8), np.float32))
        >>> TransformerDecoderLayer(8, 2, 16)(Tensor(np.ones((5, 3, 8), np.float32)), memory).shape
        (5, 3, 8)
    """

    norms = 3
    norm3: LayerNorm
    dropout3: Dropout

    def construct(self, tgt: Any, memory: Any, tgt_mask: Any = None, memory_mask: Any = None,
                  tgt_key_padding_mask: Any = None, memory_key_padding_mask: Any = None) -> Any:
        """The decoded sequence."""
        x = tgt
        if self.order is not None:
            x = x + self._attended(self.norm1(x), tgt_mask, tgt_key_padding_mask)
            x = x + self._joined(self.norm2(x), memory, memory_mask, memory_key_padding_mask)
            return x + self.dropout3(self._fed(self.norm3(x)))
        x = self.norm1(x + self._attended(x, tgt_mask, tgt_key_padding_mask))
        x = self.norm2(x + self._joined(x, memory, memory_mask, memory_key_padding_mask))
        return self.norm3(x + self.dropout3(self._fed(x)))

    def _joined(self, x: Any, memory: Any, mask: Any, padding: Any) -> Any:
        """The dropped-out attention to the memory."""
        return self.dropout2(self.multihead_attn(x, memory, memory, padding, False, mask)[0])


def _copies(stack: str, layer: Any, num_layers: int) -> CellList:
    if not isinstance(layer, Cell):
        raise TypeError("{}: the layer must be a Cell; not {!r}".format(stack, layer))
    return CellList([copy.deepcopy(layer) for _ in range(positive(stack, "num_layers", num_layers))])


class TransformerEncoder(Cell):
    """Stack of encoder layers.

    Args:
        encoder_layer: a layer, such as `TransformerEncoderLayer`; copies of it are the layers.
        num_layers: their number.
        norm: a cell that is called with the result, or None.

    Calls take the arguments of `TransformerEncoderLayer`.

    Raises:
        TypeError, ValueError: an argument is not accepted.

    Example:
        >>> TransformerEncoder(TransformerEncoderLayer(8, 2, 16), 2)(Tensor(np.ones((5, 3, 8), np.float32))).shape
        (5, 3, 8)
    """

    def __init__(self, encoder_layer: Cell, num_layers: int, norm: Any = None) -> None:
        super().__init__()
        self.layers = _copies("TransformerEncoder", encoder_layer, num_layers)
        self.num_layers, self.norm = num_layers, norm

    def construct(self, src: Any, src_mask: Any = None, src_key_padding_mask: Any = None) -> Any:
        """The encoded sequence."""
        for layer in self.layers.cell_list:
            src = layer(src, src_mask, src_key_padding_mask)
        return src if self.norm is None else self.norm(src)


class TransformerDecoder(Cell):
    """Stack of decoder layers.

    Args:
        decoder_layer: a layer, such as `TransformerDecoderLayer`; copies of it are the layers.
        num_layers: their number.
        norm: a cell that is called with the result, or None.

    Calls take the arguments of `TransformerDecoderLayer`.

    Raises:
        TypeError, ValueError: an argument is not accepted.

    Example:
        >>> x = Tensor(np.ones((5, 3, 8), np.float32))
        >>> TransformerDecoder(TransformerDecoderLayer(8, 2, 16), 2)(x, x).shape
        (5, 3, 8)
    """

    def __init__(self, decoder_layer: Cell, num_layers: int, norm: Any = None) -> None:
        super().__init__()
        self.layers = _copies("TransformerDecoder", decoder_layer, num_layers)
        self.num_layers, self.norm = num_layers, norm

    def construct(self, tgt: Any, memory: Any, tgt_mask: Any = None, memory_mask: Any = None,
                  tgt_key_padding_mask: Any = None, memory_key_padding_mask: Any = None) -> Any:
        """The decoded sequence."""
        for layer in self.layers.cell_list:
            tgt = layer(tgt, memory, tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask)
        return tgt if self.norm is None else self.norm(tgt)
