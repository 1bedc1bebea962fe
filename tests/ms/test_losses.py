"""Losses: against formulas, capture as a whole, gradients, errors."""

import numpy as np
import pytest

from tests.ms.layer_checks import captured_whole, gradients_agree

RANDOM = np.random.RandomState(8)
A, B = RANDOM.uniform(-2, 2, (3, 4)), RANDOM.uniform(-2, 2, (3, 4))
P = RANDOM.uniform(0.1, 0.9, (3, 4))
SIGNS = np.where(RANDOM.uniform(-1, 1, (3, 4)) > 0, 1, -1).astype(np.int32)
PAIRS, CLASSES = np.array([1, -1, -1], np.int32), np.array([1, 3, 0], np.int32)
LOGS = A - np.log(np.sum(np.exp(A), axis=1, keepdims=True))
CHOSEN = -LOGS[np.arange(3), CLASSES]
FACTORS = np.array([0.5, 2.0, 1.0, 3.0])
ZEROED = np.where(P > 0.6, 0.0, P)
COSINES = np.sum(A * B, axis=1) / np.linalg.norm(A, axis=1) / np.linalg.norm(B, axis=1)


def huber(d, delta):
    return np.where(d <= delta, d ** 2 / 2, delta * (d - delta / 2))


def logistic(x):
    return 1 / (1 + np.exp(-x))


# name: (layer, its arguments, the inputs, the losses before the reduction, the positions of differentiated inputs)
LOSSES = {
    "nll": ("NLLLoss", {}, (LOGS, CLASSES), CHOSEN, (0,)),
    "kl": ("KLDivLoss", {}, (LOGS, P), P * (np.log(P) - LOGS), (0, 1)),
    "kl with zeros": ("KLDivLoss", {}, (LOGS, ZEROED), np.where(ZEROED > 0, ZEROED * (np.log(np.maximum(ZEROED, 1e-9)) - LOGS), 0), (0,)),
    "huber": ("HuberLoss", {}, (A, B), huber(np.abs(A - B), 1), (0, 1)),
    "huber delta": ("HuberLoss", {"delta": 0.5}, (A, B), huber(np.abs(A - B), 0.5), (0, 1)),
    "bce": ("BCEWithLogitsLoss", {}, (A, P), -(P * np.log(logistic(A)) + (1 - P) * np.log(logistic(-A))), (0, 1)),
    "cosine": ("CosineEmbeddingLoss", {}, (A, B, PAIRS), np.where(PAIRS == 1, 1 - COSINES, np.maximum(COSINES, 0)), (0, 1)),
    "cosine margin": ("CosineEmbeddingLoss", {"margin": -0.9}, (A, B, PAIRS), np.where(PAIRS == 1, 1 - COSINES, np.maximum(COSINES + 0.9, 0)), (0, 1)),
    "ranking": ("MarginRankingLoss", {"margin": 0.25}, (A, B, SIGNS), np.maximum(0, -SIGNS * (A - B) + 0.25), (0, 1)),
    "soft margin": ("SoftMarginLoss", {}, (A, SIGNS), np.log(1 + np.exp(-SIGNS * A)), (0,)),
}


@pytest.fixture
def ms():
    import pijit.ms

    return pijit.ms


@pytest.mark.parametrize("name", sorted(LOSSES))
def test_losses(ms, name):
    layer, arguments, inputs, wanted, by = LOSSES[name]
    given = [ms.Tensor(one.copy()) for one in inputs]
    for reduction, reduce in (("none", np.asarray), ("sum", np.sum), ("mean", np.mean)):
        cell = getattr(ms.nn, layer)(reduction=reduction, **arguments)
        found = captured_whole(cell, *given) if reduction == "mean" else cell(*given).asnumpy()
        np.testing.assert_allclose(found, reduce(wanted), rtol=1e-10, atol=1e-12)
        gradients_agree(cell, *given, by=by)


def test_float32(ms):
    for name in ("kl", "huber", "cosine", "ranking", "soft margin", "bce", "nll"):
        layer, arguments, inputs, wanted, _ = LOSSES[name]
        given = [ms.Tensor(one.astype("f") if one.dtype.kind == "f" else one) for one in inputs]
        found = getattr(ms.nn, layer)(reduction="none", **arguments)(*given)
        assert found.dtype == ms.float32
        np.testing.assert_allclose(found.asnumpy(), wanted, rtol=1e-4, atol=1e-5)


def test_batchmean(ms):
    cell = ms.nn.KLDivLoss("batchmean")
    wanted = np.sum(LOSSES["kl"][3]) / 3
    np.testing.assert_allclose(captured_whole(cell, ms.Tensor(LOGS), ms.Tensor(P)), wanted, rtol=1e-12)
    gradients_agree(cell, ms.Tensor(LOGS.copy()), ms.Tensor(P.copy()))
    assert ms.ops.kl_div(ms.Tensor(LOGS), ms.Tensor(P), "batchmean").asnumpy() == cell(ms.Tensor(LOGS), ms.Tensor(P)).asnumpy()


def test_weights(ms):
    nn, weight = ms.nn, ms.Tensor(FACTORS)
    given = ms.Tensor(LOGS.copy()), ms.Tensor(CLASSES)
    kept = CLASSES != 3
    for cell, wanted in ((nn.NLLLoss(weight), np.sum(CHOSEN * FACTORS[CLASSES]) / np.sum(FACTORS[CLASSES])),
                         (nn.NLLLoss(ignore_index=3), np.mean(CHOSEN[kept])), (nn.NLLLoss(weight, 3, "sum"), np.sum((CHOSEN * FACTORS[CLASSES])[kept]))):
        np.testing.assert_allclose(captured_whole(cell, *given), wanted, rtol=1e-12)
        gradients_agree(cell, *given)
    cell = nn.BCEWithLogitsLoss("none", weight, ms.Tensor(FACTORS + 1))
    wanted = -FACTORS * ((FACTORS + 1) * P * np.log(logistic(A)) + (1 - P) * np.log(logistic(-A)))
    np.testing.assert_allclose(captured_whole(cell, ms.Tensor(A), ms.Tensor(P)), wanted, rtol=1e-12)
    gradients_agree(cell, ms.Tensor(A.copy()), ms.Tensor(P.copy()))


def test_classes_of_positions(ms):
    logs, classes = ms.Tensor(RANDOM.uniform(-3, 0, (2, 3, 4))), ms.Tensor(RANDOM.randint(0, 3, (2, 4)))
    found = ms.nn.NLLLoss(reduction="none")(logs, classes).asnumpy()
    for i, j in np.ndindex(2, 4):
        assert found[i, j] == -logs.asnumpy()[i, classes.asnumpy()[i, j], j]


def test_large_values(ms):
    x, y = ms.Tensor([1000.0, -1000.0]), ms.Tensor([-1.0, 1.0])
    assert ms.nn.SoftMarginLoss()(x, y).item() == 1000.0
    assert ms.grad(lambda a: ms.ops.soft_margin_loss(a, y, "sum"))(x).asnumpy().tolist() == [1.0, -1.0]


def test_wrong_arguments(ms):
    nn = ms.nn
    for text, make in (
            ("HuberLoss: delta must be positive; not 0", lambda: nn.HuberLoss(delta=0)),
            ("CosineEmbeddingLoss: margin must be from -1 to 1; not 2", lambda: nn.CosineEmbeddingLoss(2)),
            ("SoftMarginLoss: reduction must be 'mean', 'sum' or 'none'; not 'max'", lambda: nn.SoftMarginLoss("max")),
            ("KLDivLoss: reduction must be 'mean', 'sum', 'none' or 'batchmean'; not 'max'", lambda: nn.KLDivLoss("max")),
            ("margin_ranking_loss: reduction must be", lambda: ms.ops.margin_ranking_loss(ms.Tensor(A), ms.Tensor(B), ms.Tensor(SIGNS), reduction="max"))):
        with pytest.raises(ValueError, match=text):
            make()
