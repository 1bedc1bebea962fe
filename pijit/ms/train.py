"""`mindspore.train`: checkpoint files, and `Model`."""

from __future__ import annotations

from typing import Any, Dict, Iterable, Optional

import numpy as np

from pijit.ms.cell import Cell
from pijit.ms.nn.optimizers import Optimizer
from pijit.ms.nn.training import TrainOneStepCell, WithLossCell
from pijit.ms.parameter import Parameter


def save_checkpoint(save_obj: Any, ckpt_file_name: str, **kwargs: Any) -> None:
    """Store the parameters of a cell, or a list of {"name": ..., "data": ...}, as an npz file.

    Raises:
        TypeError: `save_obj` is neither.
    """
    if isinstance(save_obj, Cell):
        arrays = {one.name: one._array for one in save_obj.get_parameters()}
    elif isinstance(save_obj, (list, tuple)):
        arrays = {one["name"]: one["data"].asnumpy() for one in save_obj}
    else:
        raise TypeError("save_checkpoint: save_obj must be a Cell or a list of parameters; not {!r}".format(save_obj))
    with open(ckpt_file_name, "wb") as stream:
        np.savez(stream, **arrays)  # type: ignore[arg-type]


def load_checkpoint(ckpt_file_name: str, net: Any = None, **kwargs: Any) -> Dict[str, Parameter]:
    """The parameters in a file, by name; also copied into `net` if given. No code in the file is executed.

    Raises:
        ValueError: the file contains objects other than arrays of numbers.
    """
    with np.load(ckpt_file_name, allow_pickle=False) as stored:
        found = {name: Parameter(stored[name], name=name) for name in stored.files}
    if net is not None:
        load_param_into_net(net, found)
    return found


def load_param_into_net(net: Cell, parameter_dict: Dict[str, Parameter], strict_load: bool = False) -> Any:
    """Copy values into the parameters of a cell that have the same names.

    Returns:
        (names of the cell without a value, names that the cell does not have).
    """
    own = net.parameters_dict()
    for name, one in own.items():
        if name in parameter_dict:
            one.set_data(parameter_dict[name])
    return [name for name in own if name not in parameter_dict], [name for name in parameter_dict if name not in own]


def export(net: Any, *inputs: Any, file_name: str = "", file_format: str = "") -> None:
    """Not supported: graphs of MindSpore are not written.

    Raises:
        NotImplementedError: always.
    """
    raise NotImplementedError("export: graphs in the format {!r} are not written; use save_checkpoint for "
                              "parameters".format(file_format))


def load(file_name: str, **kwargs: Any) -> Any:
    """Not supported: graphs of MindSpore are not read.

    Raises:
        NotImplementedError: always.
    """
    raise NotImplementedError("load: graphs (MindIR) are not read; use load_checkpoint for parameters")


class Model:
    """A network with its loss and optimizer.

    Args:
        network: a cell.
        loss_fn: a loss; None: the network returns the loss.
        optimizer: updates the parameters; required by `train`.

    Raises:
        TypeError: `network` is not a cell.

    Example:
        >>> Model(net).predict(x)
    """

    def __init__(self, network: Cell, loss_fn: Any = None, optimizer: Optional[Optimizer] = None, **other: Any) -> None:
        if not isinstance(network, Cell):
            raise TypeError("Model: network must be a Cell; not {!r}".format(network))
        self._network = network
        self._loss_fn, self._optimizer = loss_fn, optimizer

    def predict(self, *predict_data: Any) -> Any:
        """The result of the network."""
        self._network.set_train(False)
        return self._network(*predict_data)

    def train(self, epoch: int, train_dataset: Iterable[Any], **other: Any) -> Any:
        """Train for `epoch` passes over an iterable of input tuples; returns the last loss.

        Raises:
            ValueError: there is no optimizer.
        """
        if self._optimizer is None:
            raise ValueError("Model.train: the model has no optimizer")
        whole = self._network if self._loss_fn is None else WithLossCell(self._network, self._loss_fn)
        step, loss = TrainOneStepCell(whole, self._optimizer), None
        for _ in range(epoch):
            for inputs in train_dataset:
                loss = step(*inputs)
        return loss
