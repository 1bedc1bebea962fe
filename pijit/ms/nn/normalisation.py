"""Normalisation layers."""

from __future__ import annotations

from typing import Any, Optional

from pijit.ms.cell import Cell
from pijit.ms.dtype import float32
from pijit.ms.initializer import initializer
from pijit.ms.nn.arguments import dimensions, positive
from pijit.ms.ops import normalisation
from pijit.ms.parameter import Parameter


class _BatchNorm(Cell):
    """Common base of the batch normalisations."""

    dimensions = 4

    def __init__(self, num_features: int, eps: float = 1e-5, momentum: float = 0.9, affine: bool = True,
                 gamma_init: Any = "ones", beta_init: Any = "zeros", moving_mean_init: Any = "zeros",
                 moving_var_init: Any = "ones", use_batch_statistics: Optional[bool] = None, data_format: str = "NCHW",
                 dtype: Any = float32) -> None:
        super().__init__()
        self.num_features = positive(type(self).__name__, "num_features", num_features)
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
        return normalisation.batch_norm(x, self.moving_mean, self.moving_variance, self.gamma, self.beta, batch,
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


class BatchNorm3d(_BatchNorm):
    """Batch normalisation per channel of volumes, of shape (batch, channels, depth, height, width).

    Args:
        num_features: the number of channels.
        eps, momentum, affine, use_batch_statistics: as for `BatchNorm2d`.
        gamma_init, beta_init, moving_mean_init, moving_var_init: initializers.
        dtype: the element type of the parameters.

    Returns:
        In calls a tensor of the input's shape.

    Raises:
        TypeError, ValueError: an argument is not accepted.

    Example:
        >>> BatchNorm3d(3)(Tensor(np.ones((1, 3, 2, 2, 2), np.float32))).shape
        (1, 3, 2, 2, 2)
    """

    dimensions = 5

    def __init__(self, num_features: int, eps: float = 1e-5, momentum: float = 0.9, affine: bool = True,
                 gamma_init: Any = "ones", beta_init: Any = "zeros", moving_mean_init: Any = "zeros",
                 moving_var_init: Any = "ones", use_batch_statistics: Optional[bool] = None,
                 dtype: Any = float32) -> None:
        super().__init__(num_features, eps, momentum, affine, gamma_init, beta_init, moving_mean_init,
                         moving_var_init, use_batch_statistics, dtype=dtype)


class InstanceNorm2d(Cell):
    """Instance normalisation: each channel of each image by itself (Ulyanov and others, 2016).

    The statistics of the images are used in training and otherwise; the moving ones are kept for reading.

    Args:
        num_features: the number of channels.
        eps: added to the variance.
        momentum: the fraction of the moving statistics that a training step keeps, from 0 to 1.
        affine: whether factor and summand are trained.
        gamma_init, beta_init: initializers.
        dtype: the element type of the parameters.

    Returns:
        In calls a tensor of the input's shape, (batch, channels, height, width).

    Raises:
        TypeError, ValueError: an argument is not accepted.

    Example:
        >>> InstanceNorm2d(3)(Tensor(np.ones((1, 3, 2, 2), np.float32))).shape
        (1, 3, 2, 2)
    """

    def __init__(self, num_features: int, eps: float = 1e-5, momentum: float = 0.1, affine: bool = True,
                 gamma_init: Any = "ones", beta_init: Any = "zeros", dtype: Any = float32) -> None:
        super().__init__()
        self.num_features = positive("InstanceNorm2d", "num_features", num_features)
        if not 0 <= momentum <= 1:
            raise ValueError("InstanceNorm2d: momentum must be from 0 to 1; not {!r}".format(momentum))
        self.eps, self.momentum = eps, momentum
        shape = [num_features]
        self.moving_mean = Parameter(initializer("zeros", shape, dtype), name="mean", requires_grad=False)
        self.moving_variance = Parameter(initializer("ones", shape, dtype), name="variance", requires_grad=False)
        self.gamma = Parameter(initializer(gamma_init, shape, dtype), name="gamma", requires_grad=affine)
        self.beta = Parameter(initializer(beta_init, shape, dtype), name="beta", requires_grad=affine)

    def construct(self, x: Any) -> Any:
        """The normalised images."""
        dimensions("InstanceNorm2d", x, 4)
        return normalisation.instance_norm(x, self.moving_mean, self.moving_variance, self.gamma, self.beta,
                                           self.training, 1 - self.momentum, self.eps)

    def extend_repr(self) -> str:
        return "num_features={}, eps={}, momentum={}, gamma={}, beta={}".format(
            self.num_features, self.eps, self.momentum, self.gamma, self.beta)


class GroupNorm(Cell):
    """Group normalisation: over the channels of each group and the positions (Wu and He, 2018).

    Args:
        num_groups: number of groups of channels.
        num_channels: number of channels, a multiple of `num_groups`.
        eps: added to the variance.
        affine: whether factor and summand are trained.
        gamma_init, beta_init: initializers.
        dtype: the element type of the parameters.

    Returns:
        In calls a tensor of the input's shape, (batch, channels, height, width).

    Raises:
        TypeError, ValueError: an argument is not accepted.

    Example:
        >>> GroupNorm(2, 4)(Tensor(np.ones((1, 4, 2, 2), np.float32))).shape
        (1, 4, 2, 2)
    """

    def __init__(self, num_groups: int, num_channels: int, eps: float = 1e-5, affine: bool = True,
                 gamma_init: Any = "ones", beta_init: Any = "zeros", dtype: Any = float32) -> None:
        super().__init__()
        self.num_groups = positive("GroupNorm", "num_groups", num_groups)
        self.num_channels = positive("GroupNorm", "num_channels", num_channels)
        if num_channels % num_groups:
            raise ValueError("GroupNorm: num_channels must be a multiple of num_groups {}; not {}".format(
                num_groups, num_channels))
        self.eps, self.affine = eps, bool(affine)
        self.gamma = Parameter(initializer(gamma_init, [num_channels], dtype), name="gamma", requires_grad=affine)
        self.beta = Parameter(initializer(beta_init, [num_channels], dtype), name="beta", requires_grad=affine)

    def construct(self, x: Any) -> Any:
        """The normalised values."""
        dimensions("GroupNorm", x, 4)
        if x.shape[1] != self.num_channels:
            raise ValueError("GroupNorm: x must have num_channels {} channels; not {}".format(
                self.num_channels, x.shape[1]))
        return normalisation.group_norm(x, self.num_groups, self.gamma, self.beta, self.eps)

    def extend_repr(self) -> str:
        return "num_groups={}, num_channels={}, eps={}, affine={}, gamma={}, beta={}".format(
            self.num_groups, self.num_channels, self.eps, self.affine, self.gamma, self.beta)


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
        return normalisation.layer_norm(input_x, self.normalized_shape, self.gamma, self.beta, self.epsilon)

    def extend_repr(self) -> str:
        return "normalized_shape={}, gamma={}, beta={}".format(self.normalized_shape, self.gamma, self.beta)
