"""os.environ.get and os.getenv in kernels: what the environment says when control comes there."""

import collections.abc
import os

import numpy as np
import pytest

import pijit
from tests.harness import check, fail_unless_captured, jitted, same

X = np.linspace(0.5, 3.0, 12)
NAME = "PIJIT_TEST_SCALE"


def scaled(x, name):
    scale = float(os.environ.get(name, "2.5"))
    return x * scale + 1.0, os.getenv(name), os.environ.get(key=name, default=None), os.getenv(name, 3)


def asked(x, name):
    known = name in os.environ
    total = 0.0
    for v in x:
        if name not in os.environ:
            total -= v
        total += v * 0.5
    return known, total, os.environ[name] if name in os.environ else None


def in_a_loop(x, name):
    total = 0.0
    for v in x:
        total += v * len(os.environ.get(name, "four"))
    return total


def set_meanwhile(x, name):
    before = os.environ.get(name)
    os.environ[name] = "7"
    y = x * float(os.environ.get(name, "1"))
    del os.environ[name]
    return before, y, os.environ.get(name, "gone")


@pytest.mark.parametrize("f", [scaled, in_a_loop, asked])
@fail_unless_captured()
def test_values_that_change(f, monkeypatch):
    j = jitted(f)
    for value in (None, "3.0", "4.25", None, "5"):
        monkeypatch.delenv(NAME, raising=False)
        if value is not None:
            monkeypatch.setenv(NAME, value)
        for _ in range(3):
            same(f(X, NAME), j(X, NAME))
    monkeypatch.delenv(NAME, raising=False)
    report = pijit.explain(j, X, NAME)
    assert report.kernels and not report.breaks, str(report)


def test_a_name_that_is_missing(monkeypatch):
    def f(x, name):
        total = x.sum() * 2.0
        return total + float(os.environ[name])

    monkeypatch.setenv(NAME, "2.5")
    check(f, X, NAME, others=[(X, "PIJIT_TEST_NO_SUCH_NAME"), (X, 3)], config={"backend": "python"})


def test_set_in_the_function(monkeypatch):
    monkeypatch.delenv(NAME, raising=False)
    check(set_meanwhile, X, NAME)


def test_a_text_that_is_no_number(monkeypatch):
    j = jitted(scaled)
    monkeypatch.setenv(NAME, "1.5")
    for value in ("1.5", "1.5", "many", "2"):
        monkeypatch.setenv(NAME, value)
        try:
            expected = scaled(X, NAME)
        except ValueError as error:
            with pytest.raises(ValueError, match=str(error)):
                j(X, NAME)
        else:
            same(expected, j(X, NAME))


class Settings(collections.abc.Mapping):
    def __init__(self, values):
        self.values_ = values

    def __getitem__(self, key):
        return self.values_[key]

    def __iter__(self):
        return iter(self.values_)

    def __len__(self):
        return len(self.values_)


def test_other_mappings():
    def f(x, settings):
        return x * settings.get("scale", 2.0) + settings.get("none", 1.0)

    check(f, X, Settings({"scale": 3.0}), others=[(X, Settings({})), (X, {"scale": 4.0})])


def test_wrong_arguments():
    def f(x, name):
        y = x * 2.0
        try:
            return y, os.environ.get(name, 1, 2)
        except TypeError as error:
            return y, str(error)

    check(f, X, NAME)
    check(lambda x, name: (x + 1.0, os.environ.get(name, "a")), X, NAME, others=[(X, NAME + "_2")])


def test_names_that_no_variable_has():
    def f(x, name):
        y = x * 2.0
        try:
            return y, os.environ.get(name)
        except (UnicodeError, TypeError) as error:
            return y, str(error)

    def g(x, name):
        y = x * 2.0
        try:
            return y, os.environb.get(name)
        except (UnicodeError, TypeError) as error:
            return y, str(error)

    check(f, X, "\ud800", others=[(X, NAME)])
    check(g, X, NAME, others=[(X, b"NAME")])
