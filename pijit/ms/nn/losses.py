"""Loss functions as cells."""

from __future__ import annotations

from typing import Any

from pijit.ms.cell import Cell
from pijit.ms.ops import losses


class LossBase(Cell):
    """Base class of losses.

    Args:
        reduction: "mean", "sum" or "none".

    Raises:
        ValueError: `reduction` is none of these.
    """

    def __init__(self, reduction: str = "mean") -> None:
        super().__init__()
        if reduction not in losses.REDUCTIONS:
            raise ValueError("{}: reduction must be 'mean', 'sum' or 'none'; not {!r}".format(
                type(self).__name__, reduction))
        self.reduction = reduction


class MSELoss(LossBase):
    """Squared differences."""

    def construct(self, logits: Any, labels: Any) -> Any:
        """The loss."""
        return losses.mse_loss(logits, labels, self.reduction)


class L1Loss(LossBase):
    """Absolute differences."""

    def construct(self, logits: Any, labels: Any) -> Any:
        """The loss."""
        return losses.l1_loss(logits, labels, self.reduction)


class SmoothL1Loss(LossBase):
    """Absolute differences; squared below `beta`."""

    def __init__(self, beta: float = 1.0, reduction: str = "none") -> None:
        super().__init__(reduction)
        self.beta = beta

    def construct(self, logits: Any, labels: Any) -> Any:
        """The loss."""
        return losses.smooth_l1_loss(logits, labels, self.beta, self.reduction)


class CrossEntropyLoss(LossBase):
    """Cross entropies of logits; the targets are classes, or probabilities of classes."""

    def __init__(self, weight: Any = None, ignore_index: int = -100, reduction: str = "mean",
                 label_smoothing: float = 0.0) -> None:
        super().__init__(reduction)
        self.weight, self.ignore_index, self.label_smoothing = weight, ignore_index, label_smoothing

    def construct(self, logits: Any, labels: Any) -> Any:
        """The loss."""
        return losses.cross_entropy(logits, labels, self.weight, self.ignore_index, self.reduction,
                                    self.label_smoothing)


class SoftmaxCrossEntropyWithLogits(LossBase):
    """Cross entropies of logits and classes.

    Args:
        sparse: labels are classes; otherwise they are probabilities of classes.
        reduction: "mean", "sum" or "none".
    """

    def __init__(self, sparse: bool = False, reduction: str = "none") -> None:
        super().__init__(reduction)
        self.sparse = sparse

    def construct(self, logits: Any, labels: Any) -> Any:
        """The loss."""
        if self.sparse:
            return losses.cross_entropy(logits, labels, reduction=self.reduction)
        return losses.reduced(losses.softmax_cross_entropy_with_logits(logits, labels)._array, self.reduction,
                              "SoftmaxCrossEntropyWithLogits")


class BCELoss(LossBase):
    """Cross entropies of probabilities."""

    def __init__(self, weight: Any = None, reduction: str = "mean") -> None:
        super().__init__(reduction)
        self.weight = weight

    def construct(self, logits: Any, labels: Any) -> Any:
        """The loss."""
        return losses.binary_cross_entropy(logits, labels, self.weight, self.reduction)
