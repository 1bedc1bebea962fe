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
from pijit.ms.nn.attention import MultiheadAttention
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
from pijit.ms.nn.recurrent import GRU, LSTM, RNN
from pijit.ms.nn.recurrent_cells import GRUCell, LSTMCell, RNNCell
from pijit.ms.nn.training import SGD, ForwardValueAndGrad, Momentum, Optimizer, TrainOneStepCell, WithLossCell
from pijit.ms.nn.transformer import (
                                     TransformerDecoder,
                                     TransformerDecoderLayer,
                                     TransformerEncoder,
                                     TransformerEncoderLayer,
)

__all__ = [
    "AvgPool2d", "BCELoss", "BatchNorm1d", "BatchNorm2d", "Cell", "CellDict", "CellList", "Conv2d", "CrossEntropyLoss",
    "Dense", "Dropout", "ELU", "Embedding", "Flatten", "ForwardValueAndGrad", "GELU", "GRU", "GRUCell", "GraphCell",
    "Identity", "L1Loss", "LSTM", "LSTMCell", "LayerNorm", "LeakyReLU", "LogSoftmax", "LossBase", "MSELoss",
    "MaxPool2d", "Momentum", "MultiheadAttention", "Optimizer", "RNN", "RNNCell", "ReLU", "ReLU6", "SGD",
    "SequentialCell", "SiLU", "Sigmoid", "SmoothL1Loss", "Softmax", "SoftmaxCrossEntropyWithLogits", "Tanh",
    "TrainOneStepCell", "TransformerDecoder", "TransformerDecoderLayer", "TransformerEncoder",
    "TransformerEncoderLayer", "WithLossCell", "get_activation"]
