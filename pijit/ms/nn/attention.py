"""Attention: `MultiheadAttention`."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np

from pijit.ms.cell import Cell
from pijit.ms.dtype import float32
from pijit.ms.initializer import initializer
from pijit.ms.nn.arguments import positive
from pijit.ms.nn.layers import Dense, Dropout
from pijit.ms.ops import recurrence
from pijit.ms.ops.elementwise import floating
from pijit.ms.parameter import Parameter
from pijit.ms.tensor import array_of, made

FEATURES = "MultiheadAttention: {} must have 2 or 3 dimensions as query has, and {} features; its shape is {}"
SIZES = ("MultiheadAttention: query, key and value must have one batch size, key and value one length; "
         "not (batch, length, features) {}, {}, {}")


def _stacked(a: Any) -> Any:
    """The matrices of all heads of all batches as one stack, whose products have C order."""
    return np.reshape(a, (a.shape[0] * a.shape[1], a.shape[2], a.shape[3]))


def _masked(scores: Any, mask: Any) -> Any:
    """Scores with a mask: True excludes a key, a float is added."""
    if mask.dtype.kind == "b":
        return np.where(mask, scores.dtype.type(-np.inf), scores)
    return scores + mask.astype(scores.dtype)


def _mask_of(name: str, mask: Any, shapes: Any) -> Any:
    """The array of a mask.

    Raises:
        TypeError: the elements are neither bool nor floats.
        ValueError: the mask has another shape.
    """
    a = array_of(mask)
    if a.dtype.kind not in "bf":
        raise TypeError("MultiheadAttention: {} must be a Tensor of bool or floats; not of {}".format(name, a.dtype))
    if a.shape not in shapes:
        raise ValueError("MultiheadAttention: {} must have the shape {}; not {}".format(
            name, " or ".join([str(one) for one in shapes]), a.shape))
    return a


def _thirds(parameter: Any, n: int) -> Any:
    a = parameter._array
    return a[:n], a[n:2 * n], a[2 * n:]


def _with_keys(a: Any, *added: Any) -> Any:
    """An array of shape (batch, keys, features) with further keys at the end."""
    rows = [np.broadcast_to(one, (a.shape[0], 1, a.shape[2])).astype(a.dtype) for one in added]
    return np.concatenate([a] + rows, axis=1)


class MultiheadAttention(Cell):
    """Multi-head attention (Vaswani and others, 2017).

    Per head, keys are compared with queries, and softmax of the scaled products gives the weights of the values.

    Args:
        embed_dim: the number of features of queries and results.
        num_heads: the number of heads; each has embed_dim / num_heads features.
        dropout: the probability with which, in training, weights are dropped.
        has_bias: whether the projections have biases.
        add_bias_kv: whether a key and a value that are parameters are added to each sequence.
        add_zero_attn: whether a key and a value of zeros are added to each sequence.
        kdim, vdim: the numbers of features of keys and values; None for `embed_dim`.
        batch_first: whether tensors have the batch dimension first; otherwise it is the second.
        dtype: the element type of the parameters.

    Calls take:
        query, key, value: of shapes (queries, batch, embed_dim), (keys, batch, kdim) and (keys, batch, vdim); or all
            without the batch dimension.
        key_padding_mask: None, or of shape (batch, keys). True excludes a key; a float is added to its products.
        need_weights: whether the weights are returned.
        attn_mask: None, or as `key_padding_mask`, of shape (queries, keys) or (batch * num_heads, queries, keys).
        average_attn_weights: whether the weights are averaged over the heads.

    Returns:
        In calls (result, weights), or (result,) without `need_weights`. The result has the shape of the query. The
        weights have the shape (batch, queries, keys), or (batch, num_heads, queries, keys) without average. A query all
        of whose keys are excluded has NaN as result.

    Raises:
        TypeError, ValueError: an argument is not accepted, or a tensor has another shape.

    Example:
        >>> x = Tensor(np.ones((5, 2, 8), np.float32))
        >>> result, weights = MultiheadAttention(8, 4)(x, x, x)
        >>> result.shape, weights.shape
        ((5, 2, 8), (2, 5, 5))
    """

    layout: Optional[str] = None
    """"batch first" or None. Captured code checks it by a guard, and captures one path; a bool gives two."""

    in_proj_weight: Optional[Parameter] = None
    q_proj_weight: Optional[Parameter] = None
    k_proj_weight: Optional[Parameter] = None
    v_proj_weight: Optional[Parameter] = None
    in_proj_bias: Optional[Parameter] = None
    bias_k: Optional[Parameter] = None
    bias_v: Optional[Parameter] = None

    def __init__(self, embed_dim: int, num_heads: int, dropout: float = 0.0, has_bias: bool = True,
                 add_bias_kv: bool = False, add_zero_attn: bool = False, kdim: Optional[int] = None,
                 vdim: Optional[int] = None, batch_first: bool = False, dtype: Any = float32) -> None:
        super().__init__()
        name = "MultiheadAttention"
        self.embed_dim = positive(name, "embed_dim", embed_dim)
        self.num_heads = positive(name, "num_heads", num_heads)
        if embed_dim % num_heads:
            raise ValueError("{}: embed_dim must be a multiple of num_heads {}; not {!r}".format(
                name, num_heads, embed_dim))
        if not 0 <= dropout < 1:
            raise ValueError("{}: dropout must be from 0 to below 1; not {!r}".format(name, dropout))
        self.kdim = embed_dim if kdim is None else positive(name, "kdim", kdim)
        self.vdim = embed_dim if vdim is None else positive(name, "vdim", vdim)
        self.head_dim, self.dropout = embed_dim // num_heads, float(dropout)
        self.layout = "batch first" if batch_first else None
        self.dropout_op = Dropout(p=self.dropout, dtype=dtype) if dropout else None
        self._add_weights(has_bias, add_bias_kv, dtype)
        self.zeros = "zeros" if add_zero_attn else None  # a str is a constant of captured code

    @property
    def batch_first(self) -> bool:
        """Whether tensors have the batch dimension first."""
        return self.layout is not None

    def _add_weights(self, has_bias: bool, add_bias_kv: bool, dtype: Any) -> None:
        n = self.embed_dim
        separate = self.kdim != n or self.vdim != n
        shapes = {"q_proj_weight": (n, n), "k_proj_weight": (n, self.kdim), "v_proj_weight": (n, self.vdim)}
        for name, shape in (shapes if separate else {"in_proj_weight": (3 * n, n)}).items():
            setattr(self, name, Parameter(initializer("xavier_uniform", shape, dtype), name=name))
        if has_bias:
            self.in_proj_bias = Parameter(initializer("zeros", [3 * n], dtype), name="in_proj_bias")
        self.out_proj = Dense(n, n, has_bias=has_bias, dtype=dtype)
        for name in ("bias_k", "bias_v") if add_bias_kv else ():
            setattr(self, name, Parameter(initializer("xavier_normal", (1, 1, n), dtype), name=name))

    def construct(self, query: Any, key: Any, value: Any, key_padding_mask: Any = None, need_weights: bool = True,
                  attn_mask: Any = None, average_attn_weights: bool = True) -> Any:
        """The result and the weights, or the result alone, as a tuple."""
        q, k, v = floating(array_of(query)), floating(array_of(key)), floating(array_of(value))
        whole = q.ndim == 3
        q, k, v = self._batches(q, k, v)
        queries, keys = q.shape[1], k.shape[1]
        q, k, v = self._projected(q, k, v)
        heads = _stacked(self._heads(q) / q.dtype.type(self.head_dim ** 0.5))
        scores = np.matmul(heads, np.swapaxes(_stacked(self._heads(k)), 1, 2))
        scores = np.reshape(scores, (q.shape[0], self.num_heads, q.shape[1], k.shape[1]))
        r, weights = self._mixed(self._with_masks(scores, key_padding_mask, attn_mask, queries, keys, whole), v)
        out = self.out_proj
        r = recurrence.product(r, out.weight._array, None if out.bias is None else out.bias._array)
        if not whole:
            r, weights = r[0], weights[0]
        elif self.layout is None:
            r = np.swapaxes(r, 0, 1)
        if not need_weights:
            return (made(np.array(r, order="C")),)
        if average_attn_weights:
            weights = np.mean(weights, axis=-3)
        return made(np.array(r, order="C")), made(np.array(weights))

    def _batches(self, q: Any, k: Any, v: Any) -> Any:
        """Queries, keys and values of shape (batch, sequence, features)."""
        for name, a, width in (("query", q, self.embed_dim), ("key", k, self.kdim), ("value", v, self.vdim)):
            if a.ndim != q.ndim or a.ndim not in (2, 3) or a.shape[-1] != width:
                raise ValueError(FEATURES.format(name, width, a.shape))
        if q.ndim == 2:
            q, k, v = np.expand_dims(q, 0), np.expand_dims(k, 0), np.expand_dims(v, 0)
        elif self.layout is None:
            q, k, v = np.swapaxes(q, 0, 1), np.swapaxes(k, 0, 1), np.swapaxes(v, 0, 1)
        if k.shape[0] != q.shape[0] or k.shape[:2] != v.shape[:2]:
            raise ValueError(SIZES.format(q.shape, k.shape, v.shape))
        return q, k, v

    def _projected(self, q: Any, k: Any, v: Any) -> Any:
        """The projections of queries, keys and values, with the added keys and values."""
        n = self.embed_dim
        if self.q_proj_weight is not None and self.k_proj_weight is not None and self.v_proj_weight is not None:
            w_q, w_k, w_v = self.q_proj_weight._array, self.k_proj_weight._array, self.v_proj_weight._array
        else:
            w_q, w_k, w_v = _thirds(self.in_proj_weight, n)
        b_q, b_k, b_v = (None, None, None) if self.in_proj_bias is None else _thirds(self.in_proj_bias, n)
        q, k, v = recurrence.product(q, w_q, b_q), recurrence.product(k, w_k, b_k), recurrence.product(v, w_v, b_v)
        if self.bias_k is not None and self.bias_v is not None:
            k, v = _with_keys(k, self.bias_k._array), _with_keys(v, self.bias_v._array)
        if self.zeros is not None:
            nothing = np.zeros((1, 1, n), q.dtype)
            k, v = _with_keys(k, nothing), _with_keys(v, nothing)
        return q, k, v

    def _heads(self, a: Any) -> Any:
        """Features divided into heads: the shape (batch, heads, sequence, features of a head)."""
        parts = np.reshape(a, (a.shape[0], a.shape[1], self.num_heads, self.head_dim))
        return np.array(np.transpose(parts, (0, 2, 1, 3)), order="C")

    def _with_masks(self, scores: Any, key_padding_mask: Any, attn_mask: Any, queries: int, keys: int,
                    whole: bool) -> Any:
        """Scores with both masks; added keys are not masked."""
        batch, heads = scores.shape[0], self.num_heads
        if key_padding_mask is not None:
            mask = _mask_of("key_padding_mask", key_padding_mask, ((batch, keys),) if whole else ((keys,),))
            scores = self._mask(scores, np.reshape(mask, (batch, 1, 1, keys)))
        if attn_mask is not None:
            mask = _mask_of("attn_mask", attn_mask, ((queries, keys), (batch * heads, queries, keys)))
            scores = self._mask(scores, mask if mask.ndim == 2 else np.reshape(mask, (batch, heads, queries, keys)))
        return scores

    def _mask(self, scores: Any, mask: Any) -> Any:
        keys = mask.shape[-1]
        if self.bias_k is None and self.zeros is None:
            return _masked(scores, mask)
        return np.concatenate([_masked(scores[..., :keys], mask), scores[..., keys:]], axis=3)

    def _mixed(self, scores: Any, v: Any) -> Any:
        """The weighted values of all heads side by side, and the weights."""
        weights = np.exp(scores - np.max(scores, axis=3, keepdims=True))
        weights = weights / np.sum(weights, axis=3, keepdims=True)
        if self.dropout_op is not None:
            weights = self.dropout_op(made(weights))._array
        r = np.reshape(np.matmul(_stacked(weights), _stacked(self._heads(v))),
                       (v.shape[0], self.num_heads, weights.shape[2], self.head_dim))
        r = np.array(np.transpose(r, (0, 2, 1, 3)), order="C")
        return np.reshape(r, (r.shape[0], r.shape[1], self.embed_dim)), weights
