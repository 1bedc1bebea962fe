"""Layers: cells with parameters, and parameter-free cells such as pooling."""

from __future__ import annotations

from typing import Any, Optional

from pijit.ms.cell import Cell
from pijit.ms.dtype import float32
from pijit.ms.initializer import HeUniform, Uniform, initializer
from pijit.ms.nn.activations import get_activation
from pijit.ms.ops import layers, movement, products
from pijit.ms.parameter import Parameter


def _positive(layer: str, name: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError("{}: {} must be an int; not {!r}".format(layer, name, value))
    if value < 1:
        raise ValueError("{}: {} must be positive; not {!r}".format(layer, name, value))
    return value


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
        self.in_channels = _positive("Dense", "in_channels", in_channels)
        self.out_channels = _positive("Dense", "out_channels", out_channels)
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


class Conv2d(Cell):
    """Convolution of images of shape (batch, channels, height, width).

    Args:
        in_channels, out_channels: the numbers of channels before and after.
        kernel_size, stride, dilation: an int or a tuple of two.
        pad_mode: "same", "valid" or "pad".
        padding: with "pad": an int or (top, bottom, left, right).
        group: number of channel groups that are convolved separately.
        has_bias: whether there is a bias.
        weight_init, bias_init: initializers; by default that of He and others (2015), and uniform.
        data_format: "NCHW".

    Raises:
        TypeError, ValueError: an argument is not accepted.

    Example:
        >>> Conv2d(3, 4, 3)(Tensor(np.ones((1, 3, 5, 5), np.float32))).shape
        (1, 4, 5, 5)
    """

    bias: Optional[Parameter] = None

    def __init__(self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1, pad_mode: str = "same",
                 padding: Any = 0, dilation: Any = 1, group: int = 1, has_bias: bool = False, weight_init: Any = None,
                 bias_init: Any = None, data_format: str = "NCHW", dtype: Any = float32) -> None:
        super().__init__()
        self.in_channels = _positive("Conv2d", "in_channels", in_channels)
        self.out_channels = _positive("Conv2d", "out_channels", out_channels)
        self.group = _positive("Conv2d", "group", group)
        if in_channels % group or out_channels % group:
            raise ValueError("Conv2d: in_channels and out_channels must be multiples of group {}; not {} and {}".format(
                group, in_channels, out_channels))
        if pad_mode not in layers.PAD_MODES:
            raise ValueError("Conv2d: pad_mode must be 'same', 'valid' or 'pad'; not {!r}".format(pad_mode))
        if data_format != "NCHW":
            raise ValueError("Conv2d: data_format must be 'NCHW'; not {!r}".format(data_format))
        self.kernel_size = layers.pair("Conv2d: kernel_size", kernel_size)
        self.stride, self.dilation = layers.pair("Conv2d: stride", stride), layers.pair("Conv2d: dilation", dilation)
        self.pad_mode, self.padding, self.has_bias = pad_mode, padding, bool(has_bias)
        shape = (out_channels, in_channels // group) + self.kernel_size
        self.weight = Parameter(initializer(HeUniform(5 ** 0.5) if weight_init is None else weight_init, shape, dtype),
                                name="weight")
        bound = 1 / (shape[1] * shape[2] * shape[3]) ** 0.5
        if has_bias:
            self.bias = Parameter(
                initializer(Uniform(bound) if bias_init is None else bias_init, [out_channels], dtype), name="bias")

    def construct(self, x: Any) -> Any:
        """The convolved images."""
        return layers.conv2d(x, self.weight, self.bias, self.stride, self.pad_mode, self.padding, self.dilation,
                             self.group)

    def extend_repr(self) -> str:
        return "input_channels={}, output_channels={}, kernel_size={}, stride={}, pad_mode={}, padding={}, " \
            "dilation={}, group={}, has_bias={}".format(
                self.in_channels, self.out_channels, self.kernel_size, self.stride, self.pad_mode, self.padding,
                self.dilation, self.group, self.has_bias)


class _BatchNorm(Cell):
    """Common base of the batch normalisations."""

    dimensions = 4

    def __init__(self, num_features: int, eps: float = 1e-5, momentum: float = 0.9, affine: bool = True,
                 gamma_init: Any = "ones", beta_init: Any = "zeros", moving_mean_init: Any = "zeros",
                 moving_var_init: Any = "ones", use_batch_statistics: Optional[bool] = None, data_format: str = "NCHW",
                 dtype: Any = float32) -> None:
        super().__init__()
        self.num_features = _positive(type(self).__name__, "num_features", num_features)
        if not 0 <= momentum <= 1:
            raise ValueError("{}: momentum must be from 0 to 1; not {!r}".format(type(self).__name__, momentum))
        self.eps, self.momentum, self.use_batch_statistics = eps, momentum, use_batch_statistics
        shape = [num_features]
        self.moving_mean = Parameter(initializer(moving_mean_init, shape, dtype), name="mean", requires_grad=False)
        self.moving_variance = Parameter(initializer(moving_var_init, shape, dtype), name="variance",
                                         requires_grad=False)
        self.gamma = Parameter(initializer(gamma_init, shape, dtype), name="gamma", requires_grad=affine)
        self.beta = Parameter(initializer(beta_init, shape, dtype), name="beta", requires_grad=affine)

    def construct(self, x: Any) -> Any:
        """The normalised values."""
        if x.ndim != self.dimensions:
            raise ValueError("{}: x must have {} dimensions; not {}".format(
                type(self).__name__, self.dimensions, x.ndim))
        batch = self.training if self.use_batch_statistics is None else self.use_batch_statistics
        return layers.batch_norm(x, self.moving_mean, self.moving_variance, self.gamma, self.beta, batch,
                                 1 - self.momentum, self.eps)

    def extend_repr(self) -> str:
        return "num_features={}, eps={}, momentum={}, gamma={}, beta={}, moving_mean={}, moving_variance={}".format(
            self.num_features, self.eps, self.momentum, self.gamma, self.beta, self.moving_mean, self.moving_variance)


class BatchNorm1d(_BatchNorm):
    """Batch normalisation per column of (batch, features); see `BatchNorm2d`."""

    dimensions = 2


class BatchNorm2d(_BatchNorm):
    """Batch normalisation per channel of images (Ioffe and Szegedy, 2015).

    Args:
        num_features: the number of channels.
        eps: added to the variance.
        momentum: the fraction of the moving statistics that a training step keeps.
        affine: whether factor and summand are trained.
        gamma_init, beta_init, moving_mean_init, moving_var_init: initializers.
        use_batch_statistics: True: use those of the batch; False: use the moving ones; None: those of the batch in
            training, otherwise the moving ones.

    Raises:
        TypeError, ValueError: an argument is not accepted.

    Example:
        >>> BatchNorm2d(3)(Tensor(np.ones((1, 3, 2, 2), np.float32))).shape
        (1, 3, 2, 2)
    """


class LayerNorm(Cell):
    """Layer normalisation over the last dimensions (Ba and others, 2016).

    Args:
        normalized_shape: their lengths.
        begin_norm_axis, begin_params_axis: accepted for the last dimensions.
        gamma_init, beta_init: initializers.
        epsilon: added to the variance.
    """

    def __init__(self, normalized_shape: Any, begin_norm_axis: int = -1, begin_params_axis: int = -1,
                 gamma_init: Any = "ones", beta_init: Any = "zeros", epsilon: float = 1e-7,
                 dtype: Any = float32) -> None:
        super().__init__()
        if not isinstance(normalized_shape, (tuple, list)):
            raise TypeError("LayerNorm: normalized_shape must be a tuple or list; not {!r}".format(normalized_shape))
        self.normalized_shape, self.epsilon = tuple(normalized_shape), epsilon
        self.gamma = Parameter(initializer(gamma_init, normalized_shape, dtype), name="gamma")
        self.beta = Parameter(initializer(beta_init, normalized_shape, dtype), name="beta")

    def construct(self, input_x: Any) -> Any:
        """The normalised values."""
        return layers.layer_norm(input_x, self.normalized_shape, self.gamma, self.beta, self.epsilon)

    def extend_repr(self) -> str:
        return "normalized_shape={}, gamma={}, beta={}".format(self.normalized_shape, self.gamma, self.beta)


class MaxPool2d(Cell):
    """Max pooling: the greatest element of each window.

    Args:
        kernel_size, stride: an int or a tuple of two.
        pad_mode, padding: as for `Conv2d`.
    """

    def __init__(self, kernel_size: Any = 1, stride: Any = 1, pad_mode: str = "valid", padding: Any = 0,
                 dilation: Any = 1, return_indices: bool = False, ceil_mode: bool = False,
                 data_format: str = "NCHW") -> None:
        super().__init__()
        if return_indices or ceil_mode:
            raise ValueError("MaxPool2d: return_indices and ceil_mode must be False")
        if pad_mode.lower() not in layers.PAD_MODES:
            raise ValueError("MaxPool2d: pad_mode must be 'same', 'valid' or 'pad'; not {!r}".format(pad_mode))
        self.kernel_size = layers.pair("MaxPool2d: kernel_size", kernel_size)
        self.stride = layers.pair("MaxPool2d: stride", stride)
        self.pad_mode, self.padding, self.dilation = (
            pad_mode.lower(), padding, layers.pair("MaxPool2d: dilation", dilation))

    def construct(self, x: Any) -> Any:
        """The greatest elements."""
        if x.ndim == 3:
            return movement.squeeze(self.construct(movement.expand_dims(x, 0)), 0)
        return layers.max_pool2d(x, self.kernel_size, self.stride, self.pad_mode, self.padding, self.dilation)

    def extend_repr(self) -> str:
        return "kernel_size={}, stride={}, pad_mode={}".format(self.kernel_size, self.stride, self.pad_mode.upper())


class AvgPool2d(Cell):
    """Average pooling: the mean of each window; arguments as for `MaxPool2d`."""

    def __init__(self, kernel_size: Any = 1, stride: Any = 1, pad_mode: str = "valid", padding: Any = 0,
                 data_format: str = "NCHW") -> None:
        super().__init__()
        self.kernel_size = layers.pair("AvgPool2d: kernel_size", kernel_size)
        self.stride = layers.pair("AvgPool2d: stride", stride)
        self.pad_mode, self.padding = pad_mode.lower(), padding

    def construct(self, x: Any) -> Any:
        """The means."""
        return layers.avg_pool2d(x, self.kernel_size, self.stride, self.pad_mode, self.padding)

    def extend_repr(self) -> str:
        return "kernel_size={}, stride={}, pad_mode={}".format(self.kernel_size, self.stride, self.pad_mode.upper())


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
        self.vocab_size = _positive("Embedding", "vocab_size", vocab_size)
        self.embedding_size = _positive("Embedding", "embedding_size", embedding_size)
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

