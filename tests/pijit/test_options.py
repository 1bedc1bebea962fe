"""Options: defaults, what is refused and how, and the page that the table makes."""

import copy
import pathlib
import pickle
import warnings

import numpy as np
import pytest

from pijit import jit, options

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def nothing_warned_yet(monkeypatch):
    """Warnings that are shown once per process are shown in each test."""
    monkeypatch.setattr(options, "_warned", set())


def test_defaults():
    parsed = options.parse(None)
    assert parsed.changed() == {} and parsed.backend == "numba" and parsed.cache_limit == 8
    assert parsed.on_capture is None and parsed.force_breaks is None


@pytest.mark.parametrize("name", sorted(options.OPTIONS))
def test_each_key_refuses_a_wrong_type_by_name(name):
    with pytest.raises(TypeError) as caught:
        options.parse({name: object()})
    assert repr(name) in str(caught.value) and options.OPTIONS[name].accepts.words in str(caught.value)


@pytest.mark.parametrize("name", sorted(options.OPTIONS))
def test_each_key_accepts_its_default(name):
    assert options.parse({name: options.OPTIONS[name].default}) == options.parse(None)


@pytest.mark.parametrize("config, text", [
    ({"backend": "llvm"}, "jit_config['backend'] must be 'numba' or 'python', not 'llvm'"),
    ({"cache_limit": 0}, "jit_config['cache_limit'] must be an int >= 1, not 0"),
    ({"parallel": "yes"}, "jit_config['parallel'] must be 'auto' or True or False, not 'yes'"),
])
def test_wrong_value(config, text):
    with pytest.raises(ValueError) as caught:
        options.parse(config)
    assert str(caught.value) == text


@pytest.mark.parametrize("config", [{"fullgraph": 1}, {"cache_limit": True}, {"fullgraph": None},
                                    {"allowed_inline_modules": "numpy"}, {"allowed_inline_modules": [1]}])
def test_almost_right_types_are_refused(config):
    with pytest.raises(TypeError):
        options.parse(config)


@pytest.mark.parametrize("config", [3, "fullgraph", [("fullgraph", True)]])
def test_not_a_dict(config):
    with pytest.raises(TypeError, match="jit_config must be a dict of options or None"):
        options.parse(config)


@pytest.mark.parametrize("key, closest", [
    ("print_guard", "print_guards"), ("LOG_GRAPH_BREAK", "log_graph_break"),
    ("MAX_LOOP_UNROLLING", "max_loop_unrolling"), ("fulgraph", "fullgraph")])
def test_unknown_key_warns_with_the_closest(key, closest):
    with pytest.warns(UserWarning) as caught:
        parsed = options.parse({key: True})
    assert [str(one.message) for one in caught] == [
        "unknown jit_config key {!r} is ignored; the closest known key is {!r}".format(key, closest)]
    assert caught[0].filename == __file__
    assert parsed == options.parse(None)


def test_keys_that_work_do_not_warn():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        options.parse({"fullgraph": True, "cache_limit": 3, "backend": "python", "force_breaks": "every"})
        options.parse({name: row.default for name, row in options.OPTIONS.items()})


def test_all_keys_have_an_effect():
    assert all(row.works for row in options.OPTIONS.values())


def test_a_key_without_effect_warns_once(monkeypatch):
    name = "fastmath"
    monkeypatch.setitem(options.OPTIONS, name, options.OPTIONS[name]._replace(works=False))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(2):
            jit(jit_config={name: True})
    assert [(one.category, str(one.message), one.filename) for one in caught] == [
        (UserWarning, name + " has no effect in this version of pijit", __file__)]


@pytest.mark.filterwarnings("ignore:.*no effect")
def test_modules_are_kept_as_names():
    parsed = options.parse({"allowed_inline_modules": [np, "math"]})
    assert parsed.allowed_inline_modules == ("math", "numpy")
    assert pickle.loads(pickle.dumps(parsed)) == parsed == copy.deepcopy(parsed)


def test_options_are_immutable_and_hashable():
    parsed = options.parse({"fullgraph": True})
    with pytest.raises(AttributeError):
        parsed.fullgraph = False
    with pytest.raises(AttributeError):
        parsed.nonsense = 1
    assert hash(parsed) == hash(options.parse({"fullgraph": True})) and parsed.fullgraph is True
    assert options.parse(parsed) == parsed


def test_page_is_up_to_date():
    assert (ROOT / "docs" / "options.md").read_text() == options.page()
