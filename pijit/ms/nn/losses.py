"""Loss functions as cells."""

from __future__ import annotations

from typing import Any, Tuple

from pijit.ms.cell import Cell
from pijit.ms.ops import losses


class LossBase(Cell):
    """Base class of losses.

    Args:
        reduction: "mean", "sum" or "none".

    Raises:
        ValueError: `reduction` is none of these.
    """

    reductions: Tuple[str, ...] = losses.REDUCTIONS

    def __init__(self, reduction: str = "mean") -> None:
        super().__init__()
        if reduction not in self.reductions:
            raise ValueError("{}: reduction must be {} or {!r}; not {!r}".format(
                type(self).__name__, ", ".join(map(repr, self.reductions[:-1])), self.reductions[-1], reduction))
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


class BCEWithLogitsLoss(LossBase):
    """Cross entropies of the logistic functions of logits.

    Args:
        reduction: "mean", "sum" or "none".
        weight: a factor per loss, a tensor that broadcasts; or None.
        pos_weight: a factor of the first class per loss, a tensor that broadcasts; or None.

    Returns:
        In calls, for logits and labels of one shape, a number; with "none" a tensor of that shape.

    Raises:
        ValueError: `reduction` is none of these.

    Example:
        >>> BCEWithLogitsLoss()(Tensor([0.0]), Tensor([1.0]))
        Tensor(shape=[], dtype=Float32, value=  6.93147182e-01)
    """

    def __init__(self, reduction: str = "mean", weight: Any = None, pos_weight: Any = None) -> None:
        super().__init__(reduction)
        self.weight, self.pos_weight = weight, pos_weight

    def construct(self, logits: Any, labels: Any) -> Any:
        """The loss."""
        return losses.binary_cross_entropy_with_logits(logits, labels, self.weight, self.pos_weight, self.reduction)


class NLLLoss(LossBase):
    """Negative log-probabilities of classes.

    Args:
        weight: a factor per class, a tensor; or None.
        ignore_index: a class whose losses are 0 and do not count for the mean.
        reduction: "mean": the sum divided by the sum of the factors; "sum" or "none".

    Returns:
        In calls, for logits of shape (batch, classes, ...) and labels of shape (batch, ...), a number; with "none" a
        tensor of the shape of the labels.

    Raises:
        ValueError: `reduction` is none of these.

    Example:
        >>> NLLLoss()(Tensor([[-1.0, -2.0], [-3.0, -4.0]]), Tensor([0, 1]))
        Tensor(shape=[], dtype=Float32, value=  2.50000000e+00)
    """

    def __init__(self, weight: Any = None, ignore_index: int = -100, reduction: str = "mean") -> None:
        super().__init__(reduction)
        self.weight, self.ignore_index = weight, ignore_index

    def construct(self, logits: Any, labels: Any) -> Any:
        """The loss."""
        return losses.nll_loss(logits, labels, self.weight, self.ignore_index, self.reduction)


class KLDivLoss(LossBase):
    """Kullback-Leibler divergences: `labels * (log(labels) - logits)`, and 0 where a label is 0.

    Args:
        reduction: "mean", "sum", "none", or "batchmean": the sum divided by the length of the first dimension.

    Returns:
        In calls, for logarithms of probabilities and probabilities of one shape, a number; with "none" a tensor of that
        shape.

    Raises:
        ValueError: `reduction` is none of these.

    Example:
        >>> KLDivLoss("sum")(Tensor([0.0, -1.0]), Tensor([0.0, 1.0]))
        Tensor(shape=[], dtype=Float32, value=  1.00000000e+00)
    """

    reductions = losses.REDUCTIONS + ("batchmean",)

    def construct(self, logits: Any, labels: Any) -> Any:
        """The loss."""
        return losses.kl_div(logits, labels, self.reduction)


class HuberLoss(LossBase):
    """Half of the squared differences; linear in differences above `delta` (Huber, 1964).

    Args:
        reduction: "mean", "sum" or "none".
        delta: the difference from which on the loss is linear, a positive number.

    Returns:
        In calls, for logits and labels whose shapes broadcast, a number; with "none" a tensor.

    Raises:
        ValueError: an argument is not accepted.

    Example:
        >>> HuberLoss("none")(Tensor([1.0, 5.0]), Tensor([0.0, 2.0]))
        Tensor(shape=[2], dtype=Float32, value= [ 5.00000000e-01,  2.50000000e+00])
    """

    def __init__(self, reduction: str = "mean", delta: float = 1.0) -> None:
        super().__init__(reduction)
        if not delta > 0:
            raise ValueError("HuberLoss: delta must be positive; not {!r}".format(delta))
        self.delta = delta

    def construct(self, logits: Any, labels: Any) -> Any:
        """The loss."""
        return losses.huber_loss(logits, labels, self.reduction, self.delta)


class CosineEmbeddingLoss(LossBase):
    """Losses of pairs of vectors by their cosine: 1 minus it for pairs that belong together, otherwise its excess.

    Args:
        margin: from -1 to 1; the cosine above which a pair that does not belong together has a loss.
        reduction: "mean", "sum" or "none".

    Returns:
        In calls, for two tensors of shape (batch, length, ...) and labels 1 or -1 of shape (batch, ...), a number; with
        "none" a tensor of the shape of the labels.

    Raises:
        ValueError: an argument is not accepted.

    Example:
        >>> CosineEmbeddingLoss()(Tensor([[3.0, 4.0]]), Tensor([[4.0, -3.0]]), Tensor([1]))
        Tensor(shape=[], dtype=Float32, value=  1.00000000e+00)
    """

    def __init__(self, margin: float = 0.0, reduction: str = "mean") -> None:
        super().__init__(reduction)
        if not -1 <= margin <= 1:
            raise ValueError("CosineEmbeddingLoss: margin must be from -1 to 1; not {!r}".format(margin))
        self.margin = margin

    def construct(self, logits_x1: Any, logits_x2: Any, labels: Any) -> Any:
        """The loss."""
        return losses.cosine_embedding_loss(logits_x1, logits_x2, labels, self.margin, self.reduction)


class MarginRankingLoss(LossBase):
    """Losses of pairs in the wrong order: `max(0, -target * (input1 - input2) + margin)`.

    Args:
        margin: the difference that has no loss.
        reduction: "mean", "sum" or "none".

    Returns:
        In calls, for two tensors and labels 1 or -1 of one shape, a number; with "none" a tensor of that shape.

    Raises:
        ValueError: `reduction` is none of these.

    Example:
        >>> MarginRankingLoss(0.5, "none")(Tensor([1.0, 2.0]), Tensor([2.0, 1.0]), Tensor([1, 1]))
        Tensor(shape=[2], dtype=Float32, value= [ 1.50000000e+00,  0.00000000e+00])
    """

    def __init__(self, margin: float = 0.0, reduction: str = "mean") -> None:
        super().__init__(reduction)
        self.margin = margin

    def construct(self, input1: Any, input2: Any, target: Any) -> Any:
        """The loss."""
        return losses.margin_ranking_loss(input1, input2, target, self.margin, self.reduction)


class SoftMarginLoss(LossBase):
    """Losses of two classes: `log(1 + exp(-labels * logits))`.

    Args:
        reduction: "mean", "sum" or "none".

    Returns:
        In calls, for logits and labels 1 or -1 of one shape, a number; with "none" a tensor of that shape.

    Raises:
        ValueError: `reduction` is none of these.

    Example:
        >>> SoftMarginLoss("none")(Tensor([0.0, 1000.0]), Tensor([1, -1]))
        Tensor(shape=[2], dtype=Float32, value= [ 6.93147182e-01,  1.00000000e+03])
    """

    def construct(self, logits: Any, labels: Any) -> Any:
        """The loss."""
        return losses.soft_margin_loss(logits, labels, self.reduction)
