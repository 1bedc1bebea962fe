"""Cells: layers, containers, losses and optimizers."""

from __future__ import annotations

from pijit.ms.cell import Cell, GraphCell
from pijit.ms.nn.activations import (
                                     ELU,
                                     GELU,
                                     LeakyReLU,
                                     LogSoftmax,
                                     ReLU,
                                     ReLU6,
                                     Sigmoid,
                                     SiLU,
                                     Softmax,
                                     Tanh,
                                     get_activation,
)
from pijit.ms.nn.containers import CellDict, CellList, SequentialCell
from pijit.ms.nn.layers import (
                                     AvgPool2d,
                                     BatchNorm1d,
                                     BatchNorm2d,
                                     Conv2d,
                                     Dense,
                                     Dropout,
                                     Embedding,
                                     Flatten,
                                     Identity,
                                     LayerNorm,
                                     MaxPool2d,
)
from pijit.ms.nn.losses import (
                                     BCELoss,
                                     CrossEntropyLoss,
                                     L1Loss,
                                     LossBase,
                                     MSELoss,
                                     SmoothL1Loss,
                                     SoftmaxCrossEntropyWithLogits,
)
from pijit.ms.nn.optimizers import SGD, Momentum, Optimizer
from pijit.ms.nn.training import ForwardValueAndGrad, TrainOneStepCell, WithLossCell

__all__ = [
    "AvgPool2d", "BCELoss", "BatchNorm1d", "BatchNorm2d", "Cell", "CellDict", "CellList", "Conv2d", "CrossEntropyLoss",
    "Dense", "Dropout", "ELU", "Embedding", "Flatten", "ForwardValueAndGrad", "GELU", "GraphCell", "Identity", "L1Loss",
    "LayerNorm", "LeakyReLU", "LogSoftmax", "LossBase", "MSELoss", "MaxPool2d", "Momentum", "Optimizer", "ReLU",
    "ReLU6", "SGD", "SequentialCell", "SiLU", "Sigmoid", "SmoothL1Loss", "Softmax", "SoftmaxCrossEntropyWithLogits",
    "Tanh", "TrainOneStepCell", "WithLossCell", "get_activation"]
