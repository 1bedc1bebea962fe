"""Matrix and tensor products."""

from __future__ import annotations

from typing import Any

import numpy as np

from pijit.ms.tensor import Tensor, array_of, made, operands


def matmul(input: Any, other: Any) -> Tensor:
    """Matrix products; leading dimensions are broadcast."""
    a, b = operands(input, other)
    return made(np.matmul(a, b))


def matmul_transposed(x: Any, y: Any, transpose_a: bool = False, transpose_b: bool = False) -> Tensor:
    """Matrix products; each operand is optionally transposed."""
    a, b = operands(x, y)
    if transpose_a:
        a = np.swapaxes(a, -1, -2)
    if transpose_b:
        b = np.swapaxes(b, -1, -2)
    return made(np.matmul(a, b))


def bmm(input_x: Any, mat2: Any) -> Tensor:
    """Batched matrix products."""
    return matmul(input_x, mat2)


def mm(input: Any, mat2: Any) -> Tensor:
    """The product of two matrices."""
    return matmul(input, mat2)


def dot(input: Any, other: Any) -> Tensor:
    """Inner products along the last axis of `input` and the second-to-last axis of `other`."""
    a, b = operands(input, other)
    return made(np.dot(a, b))


def outer(input: Any, vec2: Any) -> Tensor:
    """The outer product of two vectors."""
    a, b = operands(input, vec2)
    return made(np.outer(a, b))


ger = outer


def tensor_dot(x1: Any, x2: Any, axes: Any) -> Tensor:
    """Tensor contraction: sums of products over axes."""
    a, b = operands(x1, x2)
    return made(np.tensordot(a, b, axes))


def einsum(equation: str, *operands_: Any) -> Tensor:
    """Sums of products by an equation, as in `numpy.einsum`."""
    return made(np.einsum(equation, *[array_of(one) for one in operands_]))


def dense(input: Any, weight: Any, bias: Any = None) -> Tensor:
    """`input @ weight.T + bias`."""
    a, b = operands(input, weight)
    r = np.matmul(a, b.T)
    return made(r) if bias is None else made(r + array_of(bias))


linear = dense


def bias_add(input_x: Any, bias: Any, data_format: str = "NCHW") -> Tensor:
    """The tensor plus a number per channel: the second dimension, or ("NHWC") the last."""
    x, b = operands(input_x, bias)
    if data_format == "NHWC":
        return made(x + b)
    return made(x + np.reshape(b, (1, x.shape[1]) + (1,) * (x.ndim - 2)))


def einsum_of(inputs: Any, equation: str) -> Tensor:
    """Sums of products by an equation, for a tuple of tensors."""
    return einsum(equation, *inputs)
