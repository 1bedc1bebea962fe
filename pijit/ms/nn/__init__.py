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
from pijit.ms.nn.adam import Adam, AdamWeightDecay
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
from pijit.ms.nn.learning_rates import (
                                     CosineDecayLR,
                                     ExponentialDecayLR,
                                     LearningRateSchedule,
                                     PolynomialDecayLR,
                                     WarmUpLR,
                                     cosine_decay_lr,
                                     exponential_decay_lr,
                                     piecewise_constant_lr,
)
from pijit.ms.nn.loss_scales import DynamicLossScaleUpdateCell, FixedLossScaleUpdateCell, TrainOneStepWithLossScaleCell
from pijit.ms.nn.losses import (
                                     BCELoss,
                                     CrossEntropyLoss,
                                     L1Loss,
                                     LossBase,
                                     MSELoss,
                                     SmoothL1Loss,
                                     SoftmaxCrossEntropyWithLogits,
)
from pijit.ms.nn.optimizers import SGD, Adagrad, Momentum, Optimizer, RMSProp
from pijit.ms.nn.training import ForwardValueAndGrad, TrainOneStepCell, WithLossCell

__all__ = [
    "Adagrad", "Adam", "AdamWeightDecay", "AvgPool2d", "BCELoss", "BatchNorm1d", "BatchNorm2d", "Cell", "CellDict",
    "CellList", "Conv2d", "CosineDecayLR", "CrossEntropyLoss", "Dense", "Dropout", "DynamicLossScaleUpdateCell", "ELU",
    "Embedding", "ExponentialDecayLR", "FixedLossScaleUpdateCell", "Flatten", "ForwardValueAndGrad", "GELU",
    "GraphCell", "Identity", "L1Loss", "LayerNorm", "LeakyReLU", "LearningRateSchedule", "LogSoftmax", "LossBase",
    "MSELoss", "MaxPool2d", "Momentum", "Optimizer", "PolynomialDecayLR", "RMSProp", "ReLU", "ReLU6", "SGD",
    "SequentialCell", "SiLU", "Sigmoid", "SmoothL1Loss", "Softmax", "SoftmaxCrossEntropyWithLogits", "Tanh",
    "TrainOneStepCell", "TrainOneStepWithLossScaleCell", "WarmUpLR", "WithLossCell", "cosine_decay_lr",
    "exponential_decay_lr", "get_activation", "piecewise_constant_lr"]
