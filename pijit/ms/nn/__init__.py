"""Cells: layers, containers, losses and optimizers."""

from __future__ import annotations

from pijit.ms.cell import Cell, GraphCell
from pijit.ms.nn.activations import (
    GELU,
    HSigmoid,
    HSwish,
    LogSigmoid,
    LogSoftmax,
    Mish,
    ReLU,
    ReLU6,
    SeLU,
    Sigmoid,
    SiLU,
    Softmax,
    Softsign,
    Tanh,
    Tanhshrink,
    get_activation,
)
from pijit.ms.nn.activations_with_arguments import (
    CELU,
    ELU,
    GLU,
    Hardtanh,
    HShrink,
    LeakyReLU,
    PReLU,
    SoftShrink,
    Threshold,
)
from pijit.ms.nn.adam import Adam, AdamWeightDecay
from pijit.ms.nn.attention import MultiheadAttention
from pijit.ms.nn.containers import CellDict, CellList, SequentialCell
from pijit.ms.nn.convolutions import Conv1d, Conv1dTranspose, Conv2d, Conv2dTranspose
from pijit.ms.nn.layers import Dense, Dropout, Embedding, Flatten, Identity
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
    BCEWithLogitsLoss,
    CosineEmbeddingLoss,
    CrossEntropyLoss,
    HuberLoss,
    KLDivLoss,
    L1Loss,
    LossBase,
    MarginRankingLoss,
    MSELoss,
    NLLLoss,
    SmoothL1Loss,
    SoftMarginLoss,
    SoftmaxCrossEntropyWithLogits,
)
from pijit.ms.nn.normalisation import BatchNorm1d, BatchNorm2d, BatchNorm3d, GroupNorm, InstanceNorm2d, LayerNorm
from pijit.ms.nn.optimizers import SGD, Adagrad, Momentum, Optimizer, RMSProp
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
from pijit.ms.nn.recurrent import GRU, LSTM, RNN
from pijit.ms.nn.recurrent_cells import GRUCell, LSTMCell, RNNCell
from pijit.ms.nn.training import ForwardValueAndGrad, TrainOneStepCell, WithLossCell
from pijit.ms.nn.transformer import (
    TransformerDecoder,
    TransformerDecoderLayer,
    TransformerEncoder,
    TransformerEncoderLayer,
)

__all__ = [
    "Adagrad", "Adam", "AdamWeightDecay", "AdaptiveAvgPool1d", "AdaptiveAvgPool2d", "AdaptiveMaxPool1d",
    "AdaptiveMaxPool2d", "AvgPool1d", "AvgPool2d", "BCELoss", "BCEWithLogitsLoss", "BatchNorm1d", "BatchNorm2d",
    "BatchNorm3d", "CELU", "Cell", "CellDict", "CellList", "Conv1d", "Conv1dTranspose", "Conv2d", "Conv2dTranspose",
    "CosineDecayLR", "CosineEmbeddingLoss", "CrossEntropyLoss", "Dense", "Dropout", "DynamicLossScaleUpdateCell",
    "ELU", "Embedding", "ExponentialDecayLR", "FixedLossScaleUpdateCell", "Flatten", "ForwardValueAndGrad", "GELU",
    "GLU", "GRU", "GRUCell", "GraphCell", "GroupNorm", "HShrink", "HSigmoid", "HSwish", "Hardtanh", "HuberLoss",
    "Identity", "InstanceNorm2d", "KLDivLoss", "L1Loss", "LSTM", "LSTMCell", "LayerNorm", "LeakyReLU",
    "LearningRateSchedule", "LogSigmoid", "LogSoftmax", "LossBase", "MSELoss", "MarginRankingLoss", "MaxPool1d",
    "MaxPool2d", "Mish", "Momentum", "MultiheadAttention", "NLLLoss", "Optimizer", "PReLU", "PolynomialDecayLR",
    "RMSProp", "RNN", "RNNCell", "ReLU", "ReLU6", "SGD", "SeLU", "SequentialCell", "SiLU", "Sigmoid", "SmoothL1Loss",
    "SoftMarginLoss", "SoftShrink", "Softmax", "SoftmaxCrossEntropyWithLogits", "Softsign", "Tanh", "Tanhshrink",
    "Threshold", "TrainOneStepCell", "TrainOneStepWithLossScaleCell", "TransformerDecoder", "TransformerDecoderLayer",
    "TransformerEncoder", "TransformerEncoderLayer", "WarmUpLR", "WithLossCell", "cosine_decay_lr",
    "exponential_decay_lr", "get_activation", "piecewise_constant_lr"]
