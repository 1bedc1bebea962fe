"""Jitted functions in scikit-learn: metrics, kernels, transformers, estimators; cloned, pickled, in worker processes."""

import os
import pickle
import sys

import numpy as np
import pytest

import pijit
from tests.harness import jitted

pytest.importorskip("sklearn")
from sklearn.base import clone  # noqa: E402
from sklearn.cluster import DBSCAN  # noqa: E402
from sklearn.gaussian_process import GaussianProcessRegressor  # noqa: E402
from sklearn.gaussian_process.kernels import PairwiseKernel  # noqa: E402
from sklearn.metrics import make_scorer, pairwise_distances  # noqa: E402
from sklearn.model_selection import GridSearchCV, cross_val_score  # noqa: E402
from sklearn.neighbors import KNeighborsClassifier, NearestNeighbors  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import FunctionTransformer, StandardScaler  # noqa: E402
from sklearn.svm import SVC  # noqa: E402

sys.path.insert(0, os.path.dirname(__file__))
import estimators  # noqa: E402

X = np.random.default_rng(1).normal(size=(60, 4))
LABELS = (X[:, 0] + 0.3 * X[:, 1] > 0.0).astype(int)
Y = X @ np.array([1.0, -2.0, 0.5, 0.0])


@pytest.fixture(autouse=True)
def importable(monkeypatch):
    """Worker processes find pijit and the module of estimators."""
    paths = [os.path.dirname(__file__)] + [path or os.getcwd() for path in sys.path]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(paths))


def ran(f):
    """Whether kernels have served calls of a jitted function, without breaks."""
    return f.cache_info().hits > 0 and pijit.info(f).kernels > 0 and not pijit.info(f).breaks


def bits(values):
    return np.asarray(values).tobytes()


@pytest.mark.parametrize("jobs", [None, 2])
def test_pairwise_distances(jobs):
    fast = jitted(estimators.plain_weighted_distance)
    wanted = pairwise_distances(X, metric=estimators.plain_weighted_distance)
    assert bits(pairwise_distances(X, metric=fast, n_jobs=jobs)) == bits(wanted)
    assert bits(pairwise_distances(X, X[:7], metric=fast, n_jobs=jobs)) == bits(
        pairwise_distances(X, X[:7], metric=estimators.plain_weighted_distance))
    assert ran(fast)


def test_dbscan():
    wanted = DBSCAN(eps=3.0, min_samples=3, metric=estimators.plain_weighted_distance).fit(X)
    found = DBSCAN(eps=3.0, min_samples=3, metric=estimators.weighted_distance).fit(X)
    assert bits(found.labels_) == bits(wanted.labels_) and len(set(wanted.labels_)) > 1
    assert ran(estimators.weighted_distance)


@pytest.mark.parametrize("algorithm", ["brute", "ball_tree"])
def test_neighbours(algorithm):
    found, wanted = [NearestNeighbors(n_neighbors=3, metric=metric, algorithm=algorithm).fit(X).kneighbors(X[:9])
                     for metric in (estimators.weighted_distance, estimators.plain_weighted_distance)]
    assert bits(found[0]) == bits(wanted[0]) and bits(found[1]) == bits(wanted[1])


def test_classifier_with_a_metric():
    found, wanted = [KNeighborsClassifier(3, metric=metric).fit(X, LABELS).predict(X[:20])
                     for metric in (estimators.weighted_distance, estimators.plain_weighted_distance)]
    assert bits(found) == bits(wanted)


def test_svc():
    found, wanted = [SVC(kernel=one).fit(X, LABELS).decision_function(X[:20])
                     for one in (estimators.kernel, estimators.plain_kernel)]
    assert bits(found) == bits(wanted) and ran(estimators.kernel)


def test_gaussian_process():
    def plain(a, b, gamma=1.0):
        return np.exp(-gamma * np.sum((a - b) ** 2))

    fast = jitted(plain)
    found, wanted = [GaussianProcessRegressor(PairwiseKernel(metric=one), optimizer=None, alpha=0.1).fit(X, Y).predict(X[:9])
                     for one in (fast, plain)]
    assert bits(found) == bits(wanted) and ran(fast)


def test_function_transformer():
    found, wanted = [FunctionTransformer(one).fit_transform(X) for one in (estimators.scaled, estimators.plain_scaled)]
    assert bits(found) == bits(wanted)
    FunctionTransformer(estimators.scaled).fit_transform(X)
    assert ran(estimators.scaled)


def test_estimator_with_a_jitted_method():
    model = estimators.Ridge().fit(X, Y)
    plain = estimators.Ridge.descend.py_func(estimators.Ridge(), X, Y, np.zeros(4))
    assert bits(model.coef_) == bits(plain)
    assert bits(model.fit(X, Y).coef_) == bits(plain) and ran(estimators.Ridge.descend)
    for _ in range(3):
        assert bits(estimators.Clip(0.5).fit_transform(X)) == bits(np.clip(X, -0.5, 0.5))
    assert ran(estimators.Clip.transform.__wrapped__)  # scikit-learn wraps methods of transformers


def test_clone_and_pickle():
    model = estimators.Ridge(transform=estimators.scaled)
    copy = clone(model)
    assert copy.transform is estimators.scaled or copy.transform.py_func is estimators.scaled.py_func
    fitted = copy.fit(X, Y)
    again = pickle.loads(pickle.dumps(fitted))
    assert again.transform is estimators.scaled
    assert bits(again.predict(X)) == bits(fitted.predict(X)) == bits(clone(again).fit(X, Y).predict(X))


def test_clone_checks_that_parameters_stay_the_same():
    model = clone(KNeighborsClassifier(3, metric=estimators.weighted_distance))
    assert clone(model).get_params()["metric"] is model.get_params()["metric"]
    assert repr(model) == repr(clone(model))


@pytest.mark.parametrize("jobs", [1, 2])
def test_searches_in_processes(jobs):
    pipeline = make_pipeline(StandardScaler(), FunctionTransformer(estimators.scaled), estimators.Clip(2.0),
                             estimators.Ridge())
    search = GridSearchCV(pipeline, {"ridge__alpha": [0.01, 0.1], "clip__bound": [1.0, 3.0]}, cv=3, n_jobs=jobs)
    search.fit(X, Y)
    plain = make_pipeline(StandardScaler(), FunctionTransformer(estimators.plain_scaled), estimators.Clip(2.0),
                          estimators.Ridge())
    with pijit.stance("python"):
        wanted = GridSearchCV(plain, {"ridge__alpha": [0.01, 0.1], "clip__bound": [1.0, 3.0]}, cv=3).fit(X, Y)
    assert bits(search.cv_results_["mean_test_score"]) == bits(wanted.cv_results_["mean_test_score"])


def test_scorers():
    def plain(wanted, found):
        return -np.mean(np.abs(wanted - found))

    fast = jitted(plain)
    scores = [cross_val_score(estimators.Ridge(), X, Y, cv=4, scoring=make_scorer(one)) for one in (fast, plain)]
    assert bits(scores[0]) == bits(scores[1])
