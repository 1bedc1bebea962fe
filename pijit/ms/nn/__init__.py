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
from pijit.ms.nn.convolutions import Conv1d, Conv1dTranspose, Conv2d, Conv2dTranspose
from pijit.ms.nn.layers import Dense, Dropout, Embedding, Flatten, Identity
from pijit.ms.nn.losses import (
                                     BCELoss,
                                     CrossEntropyLoss,
                                     L1Loss,
                                     LossBase,
                                     MSELoss,
                                     SmoothL1Loss,
                                     SoftmaxCrossEntropyWithLogits,
)
from pijit.ms.nn.normalisation import BatchNorm1d, BatchNorm2d, BatchNorm3d, GroupNorm, InstanceNorm2d, LayerNorm
from pijit.ms.nn.pooling import (
                                     AdaptiveAvgPool1d,
                                     AdaptiveAvgPool2d,
                                     AdaptiveMaxPool1d,
                                     AdaptiveMaxPool2d,
                                     AvgPool1d,
                                     AvgPool2d,
                                     MaxPool1d,
                                     MaxPool2d,
)
from pijit.ms.nn.training import SGD, ForwardValueAndGrad, Momentum, Optimizer, TrainOneStepCell, WithLossCell

__all__ = [
    "AdaptiveAvgPool1d", "AdaptiveAvgPool2d", "AdaptiveMaxPool1d", "AdaptiveMaxPool2d", "AvgPool1d", "AvgPool2d",
    "BCELoss", "BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "Cell", "CellDict", "CellList", "Conv1d",
    "Conv1dTranspose", "Conv2d", "Conv2dTranspose", "CrossEntropyLoss", "Dense", "Dropout", "ELU", "Embedding",
    "Flatten", "ForwardValueAndGrad", "GELU", "GraphCell", "GroupNorm", "Identity", "InstanceNorm2d", "L1Loss",
    "LayerNorm", "LeakyReLU", "LogSoftmax", "LossBase", "MSELoss", "MaxPool1d", "MaxPool2d", "Momentum",
    "Optimizer", "ReLU", "ReLU6", "SGD", "SequentialCell", "SiLU", "Sigmoid", "SmoothL1Loss", "Softmax",
    "SoftmaxCrossEntropyWithLogits", "Tanh", "TrainOneStepCell", "WithLossCell", "get_activation"]
