"""`Parameter`: a tensor that a `Cell` owns and that training updates."""

from __future__ import annotations

import itertools
from typing import Any, Iterable, Optional

import numpy as np

from pijit.ms.tensor import Tensor

_counter = itertools.count()


class Parameter(Tensor):
    """A named tensor with a gradient.

    Args:
        default_input: its initial value: a tensor, an array, a number or a list.
        name: its name; a cell names a parameter that has none.
        requires_grad: whether `trainable_params` lists it.
        layerwise_parallel, parallel_optimizer: accepted without effect.

    Raises:
        TypeError: `default_input` contains no numbers, or `name` is not a string.

    Attributes:
        is_weight: whether it was made with `requires_grad`, even if it is frozen now. Casts of cells are for weights.

    Example:
        >>> Parameter(Tensor([1.0]), name="w").name
        'w'
    """

    def __init__(self, default_input: Any, name: Optional[str] = None, requires_grad: bool = True,
                 layerwise_parallel: bool = False, parallel_optimizer: bool = True, storage_format: str = "") -> None:
        if name is not None and not isinstance(name, str):
            raise TypeError("Parameter: name must be a str or None; not {!r}".format(name))
        super().__init__(default_input)
        self.name = "Parameter" if name is None else name
        self.requires_grad = self.is_weight = bool(requires_grad)
        self.grad: Optional[Tensor] = None
        self.unique = next(_counter)

    def _kind(self) -> str:
        return "Parameter (name={})".format(self.name)

    def __str__(self) -> str:
        return "Parameter (name={}, shape={}, dtype={}, requires_grad={})".format(
            self.name, self.shape, self.dtype, self.requires_grad)

    __repr__ = __str__

    def __deepcopy__(self, memo: Any) -> "Parameter":
        return self.clone()

    def clone(self, init: Any = "same") -> "Parameter":
        """A separate parameter with the same values, or with those of an initializer."""
        values = np.array(self._array)
        if init != "same":
            from pijit.ms.initializer import fill  # initializer makes tensors

            fill(values, init)
        made = Parameter(values, self.name, self.requires_grad)
        made.is_weight = self.is_weight
        return made

    @property
    def data(self) -> "Parameter":
        """The parameter."""
        return self

    @property
    def param_info(self) -> "Parameter":
        """The parameter; it describes itself."""
        return self

    def value(self) -> Tensor:
        """The values as a separate tensor."""
        return Tensor(self._array)

    def set_data(self, data: Any, slice_shape: bool = False) -> "Parameter":
        """Copy values; in place if shape and type are the same.

        Args:
            data: a tensor, an array or a number.

        Raises:
            TypeError: `data` contains no numbers.
        """
        values = data._array if isinstance(data, Tensor) else Tensor(data)._array
        if values.shape == self._array.shape and values.dtype == self._array.dtype:
            self._array[...] = values
        else:
            self._array = np.array(values)
        return self

    def init_data(self, layout: Any = None, set_sliced: bool = False) -> "Parameter":
        """The parameter; its initial values are computed at creation."""
        return self


class ParameterTuple(tuple):  # type: ignore[type-arg]
    """A tuple of parameters.

    Args:
        iterable: the parameters.

    Raises:
        TypeError: one is not a `Parameter`.

    Example:
        >>> ParameterTuple(net.trainable_params())
    """

    def __new__(cls, iterable: Iterable[Parameter]) -> "ParameterTuple":
        items = tuple(iterable)
        for one in items:
            if not isinstance(one, Parameter):
                raise TypeError("ParameterTuple: each item must be a Parameter; not {!r}".format(one))
        return super().__new__(cls, items)

    def clone(self, prefix: str, init: Any = "same") -> "ParameterTuple":
        """Separate parameters, with the same values or those of an initializer; their names begin with `prefix`."""
        made = []
        for one in self:
            copy = one.clone(init)
            copy.name = "{}.{}".format(prefix, one.name)
            made.append(copy)
        return ParameterTuple(made)
