"""Mixed precision: which cells compute in float16; and the loss scalers."""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Tuple

import numpy as np

from pijit.ms import nn, ops
from pijit.ms.casts import call_with_casts, cast_all
from pijit.ms.cell import Cell
from pijit.ms.dtype import float16
from pijit.ms.loss_scalers import DynamicLossScaler, LossScaler, StaticLossScaler, all_finite  # noqa: F401
from pijit.ms.ops.primitive import Primitive
from pijit.ms.special_calls import set_cast

_WHITE = ("Conv1d", "Conv2d", "Conv3d", "Conv1dTranspose", "Conv2dTranspose", "Conv3dTranspose", "Dense", "LSTMCell",
          "RNNCell", "GRUCell")
_WHITE_OPERATIONS = ("Conv2D", "MatMul", "BatchMatMul", "PReLU", "ReLU", "Ger")
_BLACK = ("BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "LayerNorm")
_EXACT = _BLACK + (
    "GroupNorm", "Softmax", "LogSoftmax", "MSELoss", "L1Loss", "SmoothL1Loss", "CrossEntropyLoss", "NLLLoss", "BCELoss",
    "BCEWithLogitsLoss", "SoftmaxCrossEntropyWithLogits")


def _present(names: Tuple[str, ...], module: Any) -> List[Any]:
    return [getattr(module, name) for name in names if hasattr(module, name)]


def get_white_list() -> List[Any]:
    """The classes that compute in float16 at level O1; a copy.

    Example:
        >>> nn.Dense in get_white_list()
        True
    """
    return _present(_WHITE, nn) + _present(_WHITE_OPERATIONS, ops)


def get_black_list() -> List[Any]:
    """The classes that compute in float32 at level O2; a copy.

    Example:
        >>> nn.BatchNorm2d in get_black_list()
        True
    """
    return _present(_BLACK, nn)


class _OutputTo32(Cell):
    """Casts the float16 results of a network to float32."""

    def __init__(self, backbone: Cell) -> None:
        super().__init__(auto_prefix=False)
        self._backbone = backbone

    def construct(self, *args: Any, **kwargs: Any) -> Any:
        """The results of the network in float32."""
        return cast_all(self._backbone(*args, **kwargs), np.dtype(np.float32))


def _operated(*args: Any, owner: Primitive, kwargs: Dict[str, Any]) -> Any:
    return owner(*args, **kwargs)


class _CastOperation:
    """An operation of a cell that computes in another type; `result` is the type that it returns, or None."""

    def __init__(self, operation: Primitive, dtype: Any, result: Any) -> None:
        self.operation, self._dtype, self._result = operation, dtype, result

    def __call__(self, *args: Any) -> Any:
        """The result of the operation."""
        out = call_with_casts(*args, function=_operated, owner=self.operation, kwargs={}, dtype=self._dtype)
        return out if self._result is None else cast_all(out, self._result)


def _cast_listed(network: Cell, listed: Tuple[Any, ...], dtype: Any, back: bool) -> None:
    """Let the cells and operations of the listed classes compute in another type, and return float32 if `back`."""
    result = np.dtype(np.float32) if back else None
    for _, cell in network.cells_and_names():
        if isinstance(cell, listed):
            if "_cast" not in cell.__dict__:
                set_cast(cell, dtype, result)
            continue
        for name, value in list(vars(cell).items()):
            if isinstance(value, Primitive) and isinstance(value, listed):
                object.__setattr__(cell, name, _CastOperation(value, dtype, result))


def _cast_others(network: Cell, black: Tuple[Any, ...], dtype: Any) -> None:
    """Let all cells compute in another type except those of the listed classes."""
    network.to_float(dtype)
    for _, cell in network.cells_and_names():
        if isinstance(cell, black):
            set_cast(cell, np.dtype(np.float32), dtype.nptype)


def _level_1(network: Cell, dtype: Any) -> Cell:
    _cast_listed(network, tuple(get_white_list()), dtype.nptype, True)
    return network


def _level_2(network: Cell, dtype: Any) -> Cell:
    _cast_others(network, tuple(get_black_list()), dtype)
    return _OutputTo32(network)


def _level_3(network: Cell, dtype: Any) -> Cell:
    return _OutputTo32(network.to_float(dtype))


def _level_auto(network: Cell, dtype: Any) -> Cell:
    _cast_listed(network, tuple(get_white_list()), dtype.nptype, False)
    _cast_listed(network, tuple(_present(_EXACT, nn)), np.dtype(np.float32), False)
    return network


LEVELS: Dict[str, Any] = {"O0": lambda network, dtype: network, "O1": _level_1, "O2": _level_2, "O3": _level_3,
                          "auto": _level_auto}


def _checked(caller: str, network: Any, dtype: Any) -> None:
    if not isinstance(network, Cell):
        raise TypeError("{}: network must be a Cell; not {!r}".format(caller, network))
    if dtype != float16:
        raise ValueError("{}: dtype must be float16; not {!r}".format(caller, dtype))


def auto_mixed_precision(network: Cell, amp_level: str = "O0", dtype: Any = float16) -> Cell:
    """A network whose cells partly compute in float16; parameters stay float32.

    Args:
        network: a cell; its cells are changed.
        amp_level: "O0": no change. "O1": cells and operations of the white list compute in float16 and return float32.
            "O2": all cells except those of the black list compute in float16; the network returns float32. "O3": all
            cells compute in float16; the network returns float32. "auto": cells and operations of the white list
            compute in and return float16; normalisations, softmax and losses compute in float32; others compute in
            the types of their inputs.
        dtype: `float16`.

    Returns:
        The network.

    Raises:
        TypeError: `network` is not a cell.
        ValueError: an unknown level or another type.

    Example:
        >>> auto_mixed_precision(nn.Dense(2, 3), "O3")(Tensor([[1.0, 2.0]])).dtype
        Float32
    """
    _checked("auto_mixed_precision", network, dtype)
    if amp_level not in LEVELS:
        raise ValueError("auto_mixed_precision: amp_level must be {}; not {!r}".format(", ".join(LEVELS), amp_level))
    return LEVELS[amp_level](network, dtype)  # type: ignore[no-any-return]


def custom_mixed_precision(network: Cell, *, white_list: Optional[List[Any]] = None,
                           black_list: Optional[List[Any]] = None, dtype: Any = float16) -> Cell:
    """Like `auto_mixed_precision` with a list of classes: "O1" with a white list, "O2" with a black list.

    Args:
        network: a cell; its cells are changed.
        white_list: classes of cells and operations that compute in float16.
        black_list: classes of cells that compute in float32.
        dtype: `float16`.

    Returns:
        The network.

    Raises:
        TypeError: `network` is not a cell, or a list contains other objects than classes of cells and operations.
        ValueError: both lists or none are given, or another type.

    Example:
        >>> custom_mixed_precision(network, white_list=get_white_list() + [nn.Tanh])
    """
    _checked("custom_mixed_precision", network, dtype)
    if (white_list is None) == (black_list is None):
        raise ValueError("custom_mixed_precision: either white_list or black_list must be given")
    listed = white_list if white_list is not None else black_list
    if not isinstance(listed, list) or not all(
            isinstance(one, type) and issubclass(one, (Cell, Primitive)) for one in listed):
        raise TypeError("custom_mixed_precision: a list must contain classes of cells and operations; not {!r}".format(
            listed))
    if white_list is not None:
        _cast_listed(network, tuple(listed), dtype.nptype, True)
        return network
    _cast_others(network, tuple(listed), dtype)
    return _OutputTo32(network)
