"""The optimizers `Adam` and `AdamWeightDecay`."""

from __future__ import annotations

from typing import Any

import numpy as np

from pijit.ms.nn.optimizers import Optimizer, check_flags, check_numbers
from pijit.ms.parameter import Parameter


class Adam(Optimizer):
    """Adam (Kingma and Ba, 2015): moving means of the gradient and of its square.

    `m = beta1 * m + (1 - beta1) * g` and `v = beta2 * v + (1 - beta2) * g * g`; then
    `w -= rate * sqrt(1 - beta2 ** t) / (1 - beta1 ** t) * m / (sqrt(v) + eps)` in step `t`. With `use_nesterov` (Dozat,
    2016) `beta1 * m + (1 - beta1) * g` stands for `m` in the last formula. With `use_amsgrad` (Reddi and others, 2018)
    the greatest `v` so far stands for `v`.

    Args:
        params, learning_rate, weight_decay, loss_scale: as for `Optimizer`.
        beta1, beta2: between 0 and 1.
        eps: positive.
        use_locking: accepted without effect.
        use_nesterov, use_amsgrad: choose the variants.

    Raises:
        TypeError, ValueError: an argument is not accepted.

    Example:
        >>> Adam(net.trainable_params(), learning_rate=0.001)
    """

    def __init__(self, params: Any, learning_rate: Any = 1e-3, beta1: float = 0.9, beta2: float = 0.999,
                 eps: float = 1e-8, use_locking: bool = False, use_nesterov: bool = False, weight_decay: float = 0.0,
                 loss_scale: float = 1.0, use_amsgrad: bool = False) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        check_numbers("Adam", "between 0 and 1", beta1=beta1, beta2=beta2)
        check_numbers("Adam", "positive", eps=eps)
        check_flags("Adam", use_locking=use_locking, use_nesterov=use_nesterov, use_amsgrad=use_amsgrad)
        self.beta1, self.beta2, self.eps = float(beta1), float(beta2), float(eps)
        self.use_nesterov = use_nesterov
        self.beta1_power = Parameter(np.ones(1, np.float32), name="beta1_power", requires_grad=False)
        self.beta2_power = Parameter(np.ones(1, np.float32), name="beta2_power", requires_grad=False)
        self.moment1, self.moment2 = self.moments_of("moment1"), self.moments_of("moment2")
        self.vhat = self.moments_of("vhat") if use_amsgrad else None

    def begin(self) -> None:
        """Update the powers of the decay rates."""
        first, second = self.beta1_power._array, self.beta2_power._array
        first *= first.dtype.type(self.beta1)
        second *= second.dtype.type(self.beta2)

    def step(self, place: int, a: Any, g: Any, rate: Any) -> None:
        m, v, number = self.moment1[place]._array, self.moment2[place]._array, a.dtype.type
        m[...] = m * number(self.beta1) + g * number(1 - self.beta1)
        v[...] = v * number(self.beta2) + g * g * number(1 - self.beta2)
        spread = v
        if self.vhat is not None:
            spread = self.vhat[place]._array
            spread[...] = np.maximum(spread, v)
        first, second = self.beta1_power._array[0], self.beta2_power._array[0]
        size = rate * number(np.sqrt(1 - second) / (1 - first))
        direction = m * number(self.beta1) + g * number(1 - self.beta1) if self.use_nesterov else m
        a -= size * direction / (np.sqrt(spread) + number(self.eps))


class AdamWeightDecay(Optimizer):
    """Adam with decoupled weight decay (Loshchilov and Hutter, 2019), without correction of the first steps.

    `m = beta1 * m + (1 - beta1) * g` and `v = beta2 * v + (1 - beta2) * g * g`; then
    `w -= rate * (m / (sqrt(v) + eps) + weight_decay * w)`.

    Args:
        params, learning_rate: as for `Optimizer`.
        beta1, beta2: between 0 and 1.
        eps: positive.
        weight_decay: factor by which the parameters are added to the direction; to those that `Optimizer` describes.

    Raises:
        TypeError, ValueError: an argument is not accepted.

    Example:
        >>> AdamWeightDecay(net.trainable_params(), learning_rate=0.001, weight_decay=0.01)
    """

    def __init__(self, params: Any, learning_rate: Any = 1e-3, beta1: float = 0.9, beta2: float = 0.999,
                 eps: float = 1e-6, weight_decay: float = 0.0) -> None:
        super().__init__(learning_rate, params, weight_decay)
        check_numbers("AdamWeightDecay", "between 0 and 1", beta1=beta1, beta2=beta2)
        check_numbers("AdamWeightDecay", "positive", eps=eps)
        self.beta1, self.beta2, self.eps = float(beta1), float(beta2), float(eps)
        self.moments1, self.moments2 = self.moments_of("adam_m"), self.moments_of("adam_v")

    def decayed(self, a: Any, g: Any, decay: Any) -> Any:
        """The gradient; the decay is part of the update."""
        return g

    def step(self, place: int, a: Any, g: Any, rate: Any) -> None:
        m, v, number = self.moments1[place]._array, self.moments2[place]._array, a.dtype.type
        m[...] = m * number(self.beta1) + g * number(1 - self.beta1)
        v[...] = v * number(self.beta2) + g * g * number(1 - self.beta2)
        update = m / (np.sqrt(v) + number(self.eps))
        if self.decays[place] is not None:
            update = update + a * number(self.decays[place])
        a -= update * rate
