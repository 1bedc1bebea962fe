"""Initializers: objects that compute the initial values of parameters."""

from __future__ import annotations

import math
from typing import Any, Dict, Tuple
from typing import Type as Class

import numpy as np

from pijit.ms.dtype import as_numpy, float32
from pijit.ms.tensor import Tensor, as_shape, made
from pijit.names import closest


class Initializer:
    """Computes the initial values of arrays; a subclass defines `values`."""

    def __init__(self, **kwargs: Any) -> None:
        self.settings = kwargs

    def values(self, shape: Tuple[int, ...]) -> Any:
        """The values for a shape: an array or a number."""
        raise NotImplementedError("{}: an Initializer needs a values method".format(type(self).__name__))

    def __call__(self, array: np.ndarray[Any, Any]) -> None:
        """Fill an array."""
        array[...] = self.values(array.shape)


class Zero(Initializer):
    """Zeros."""

    def values(self, shape: Tuple[int, ...]) -> Any:
        return 0


class One(Initializer):
    """Ones."""

    def values(self, shape: Tuple[int, ...]) -> Any:
        return 1


class Constant(Initializer):
    """One number, or an array of the same shape."""

    def __init__(self, value: Any) -> None:
        super().__init__(value=value)
        self.value = value

    def values(self, shape: Tuple[int, ...]) -> Any:
        return self.value


class Uniform(Initializer):
    """Random numbers from -scale to scale."""

    def __init__(self, scale: float = 0.07) -> None:
        super().__init__(scale=scale)
        self.scale = scale

    def values(self, shape: Tuple[int, ...]) -> Any:
        return _random().uniform(-self.scale, self.scale, shape)


class Normal(Initializer):
    """Normally distributed random numbers."""

    def __init__(self, sigma: float = 0.01, mean: float = 0.0) -> None:
        super().__init__(sigma=sigma, mean=mean)
        self.sigma, self.mean = sigma, mean

    def values(self, shape: Tuple[int, ...]) -> Any:
        return _random().normal(self.mean, self.sigma, shape)


class TruncatedNormal(Initializer):
    """Truncated normal distribution: values beyond `a` and `b` standard deviations are drawn again."""

    def __init__(self, sigma: float = 0.01, mean: float = 0.0, a: float = -2.0, b: float = 2.0) -> None:
        super().__init__(sigma=sigma, mean=mean, a=a, b=b)
        self.sigma, self.mean, self.a, self.b = sigma, mean, a, b

    def values(self, shape: Tuple[int, ...]) -> Any:
        r = _random().standard_normal(shape)
        beyond = (r < self.a) | (r > self.b)
        while beyond.any():
            r[beyond] = _random().standard_normal(int(beyond.sum()))
            beyond = (r < self.a) | (r > self.b)
        return r * self.sigma + self.mean


class XavierUniform(Initializer):
    """Uniform distribution; the bound depends on the numbers of inputs and outputs (Glorot and Bengio, 2010)."""

    def __init__(self, gain: float = 1) -> None:
        super().__init__(gain=gain)
        self.gain = gain

    def values(self, shape: Tuple[int, ...]) -> Any:
        inputs, outputs = fans(shape)
        bound = self.gain * math.sqrt(6.0 / (inputs + outputs))
        return _random().uniform(-bound, bound, shape)


class XavierNormal(Initializer):
    """Normal distribution; the width depends on the numbers of inputs and outputs (Glorot and Bengio, 2010)."""

    def __init__(self, gain: float = 1) -> None:
        super().__init__(gain=gain)
        self.gain = gain

    def values(self, shape: Tuple[int, ...]) -> Any:
        inputs, outputs = fans(shape)
        return _random().normal(0, self.gain * math.sqrt(2.0 / (inputs + outputs)), shape)


class _He(Initializer):
    def __init__(self, negative_slope: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu") -> None:
        super().__init__(negative_slope=negative_slope, mode=mode, nonlinearity=nonlinearity)
        if mode not in ("fan_in", "fan_out"):
            raise ValueError("{}: mode must be 'fan_in' or 'fan_out'; not {!r}".format(type(self).__name__, mode))
        self.negative_slope, self.mode, self.nonlinearity = negative_slope, mode, nonlinearity

    def width(self, shape: Tuple[int, ...]) -> float:
        """The standard deviation."""
        gains = {"leaky_relu": math.sqrt(2.0 / (1 + self.negative_slope ** 2)), "relu": math.sqrt(2.0), "tanh": 5.0 / 3}
        return gains.get(self.nonlinearity, 1.0) / math.sqrt(fans(shape)[self.mode == "fan_out"])


class HeUniform(_He):
    """Uniform distribution; the bound depends on the number of inputs or outputs (He and others, 2015)."""

    def values(self, shape: Tuple[int, ...]) -> Any:
        bound = math.sqrt(3.0) * self.width(shape)
        return _random().uniform(-bound, bound, shape)


class HeNormal(_He):
    """Normal distribution; the width depends on the number of inputs or outputs (He and others, 2015)."""

    def values(self, shape: Tuple[int, ...]) -> Any:
        return _random().normal(0, self.width(shape), shape)


class Identity(Initializer):
    """The identity matrix."""

    def values(self, shape: Tuple[int, ...]) -> Any:
        if len(shape) != 2:
            raise ValueError("Identity: shape must have two dimensions; not {!r}".format(shape))
        return np.eye(*shape)


BY_NAME: Dict[str, Class[Initializer]] = {
    "zeros": Zero, "zero": Zero, "ones": One, "one": One, "uniform": Uniform, "normal": Normal,
    "truncatednormal": TruncatedNormal, "truncated_normal": TruncatedNormal,
    "xavier_uniform": XavierUniform, "xavieruniform": XavierUniform,
    "xavier_normal": XavierNormal, "xaviernormal": XavierNormal, "he_uniform": HeUniform, "heuniform": HeUniform,
    "he_normal": HeNormal, "henormal": HeNormal, "identity": Identity}
"""Initializers by name."""


def fans(shape: Tuple[int, ...]) -> Tuple[int, int]:
    """The numbers of inputs and outputs of a weight with this shape.

    Raises:
        ValueError: the shape has fewer than two dimensions.
    """
    if len(shape) < 2:
        raise ValueError("initializer: shape must have two dimensions or more; not {!r}".format(shape))
    window = int(np.prod(shape[2:]))
    return shape[1] * window, shape[0] * window


def _random() -> np.random.RandomState:
    """The generator after `set_seed`. Without a seed, as in MindSpore, NumPy's global generator decides the numbers."""
    from pijit.ms.ops.creation import generator, get_seed  # ops makes tensors, which need this module

    return generator() if get_seed() is not None else np.random.RandomState(np.random.randint(2 ** 31 - 1))


def resolved(init: Any) -> Initializer:
    """The initializer for a name, a number or an initializer.

    Raises:
        ValueError: no initializer has this name.
        TypeError: `init` is none of these.
    """
    if isinstance(init, Initializer):
        return init
    if isinstance(init, bool) or not isinstance(init, (str, int, float)):
        raise TypeError("initializer: init must be a name, a number or an Initializer; not {!r}".format(init))
    if isinstance(init, (int, float)):
        return Constant(init)
    if init.lower() not in BY_NAME:
        raise ValueError("initializer: init must be {}".format(closest(init, BY_NAME)))
    return BY_NAME[init.lower()]()


def fill(array: np.ndarray[Any, Any], init: Any) -> None:
    """Fill an array with the values of an initializer."""
    resolved(init)(array)


def initializer(init: Any, shape: Any = None, dtype: Any = float32) -> Tensor:
    """A tensor with the values of an initializer.

    Args:
        init: the name of an initializer, an initializer, a number, or a tensor, which is copied.
        shape: the shape.
        dtype: the element type.

    Raises:
        ValueError: no initializer has this name, or `shape` differs from that of a tensor.
        TypeError: `init` is none of these.

    Example:
        >>> initializer("ones", [2])
        Tensor(shape=[2], dtype=Float32, value= [ 1.00000000e+00,  1.00000000e+00])
    """
    if isinstance(init, Tensor):
        if shape is not None and tuple(as_shape(shape)) != init.shape:
            raise ValueError("initializer: shape must be that of init, {}; not {!r}".format(init.shape, shape))
        return made(np.array(init._array))
    array = np.zeros(tuple(as_shape(() if shape is None else shape)), as_numpy(dtype, "initializer"))
    fill(array, init)
    return made(array)
