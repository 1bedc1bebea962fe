"""Normalisation layers."""

from __future__ import annotations

from typing import Any, Optional

from pijit.ms.cell import Cell
from pijit.ms.dtype import float32
from pijit.ms.initializer import initializer
from pijit.ms.nn.arguments import positive
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
