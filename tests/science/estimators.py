"""Estimators with jitted functions and methods; a module of its own, so that worker processes find them by name."""

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin, TransformerMixin

from pijit import jit


@jit
def weighted_distance(a, b):
    total = 0.0
    for i in range(len(a)):
        total += abs(a[i] - b[i]) * (i + 1.0)
    return total


def plain_weighted_distance(a, b):
    total = 0.0
    for i in range(len(a)):
        total += abs(a[i] - b[i]) * (i + 1.0)
    return total


@jit
def kernel(a, b):
    return np.exp(-0.5 * ((a[:, None, :] - b[None, :, :]) ** 2).sum(axis=2))


def plain_kernel(a, b):
    return np.exp(-0.5 * ((a[:, None, :] - b[None, :, :]) ** 2).sum(axis=2))


@jit
def scaled(x):
    return np.log1p(np.abs(x)) * 2.0 + 1.0


def plain_scaled(x):
    return np.log1p(np.abs(x)) * 2.0 + 1.0


class Ridge(BaseEstimator, RegressorMixin):
    """Linear regression by gradient descent, in a jitted method."""

    def __init__(self, alpha=0.1, steps=50, transform=None):
        self.alpha = alpha
        self.steps = steps
        self.transform = transform

    def fit(self, x, y):
        x = x if self.transform is None else self.transform(x)
        self.coef_ = self.descend(x, y, np.zeros(x.shape[1]))
        return self

    @jit
    def descend(self, x, y, w):
        rate = 0.5 / len(x)
        for _ in range(self.steps):
            w = w - rate * (x.T @ (x @ w - y) + self.alpha * w)
        return w

    def predict(self, x):
        return (x if self.transform is None else self.transform(x)) @ self.coef_


class Clip(BaseEstimator, TransformerMixin):
    """A transformer with a jitted method."""

    def __init__(self, bound=1.0):
        self.bound = bound

    def fit(self, x, y=None):
        self.n_features_in_ = x.shape[1]
        return self

    @jit
    def transform(self, x):
        return np.minimum(np.maximum(x, -self.bound), self.bound)
