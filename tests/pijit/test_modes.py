"""mode="PSJit", ms_function, set_context, hash_args, jit_class: the rest of the documents' `jit`."""

import cloudpickle
import numpy as np
import pytest

import pijit
from pijit import jit
from tests.harness import fail_unless_captured, jitted, mode_config

X = np.linspace(0.0, 1.0, 100)


@pytest.fixture(autouse=True)
def same_context():
    yield
    pijit.set_context(mode=pijit.PYNATIVE_MODE, jit_syntax_level="LAX")


def whole(x):
    y = x * 2.0 + 1.0
    return y * y - x


def prints(x):
    y = x * 2.0 + 1.0
    print("between")
    return y * y - x


def strict(**more):
    return mode_config(dict({"jit_syntax_level": "STRICT"}, **more))


def test_strict_psjit_is_an_error_that_shows_the_line(capsys):
    f = jit(prints, mode="PSJit", jit_config=strict())
    for _ in range(2):
        with pytest.raises(pijit.FullGraphError) as caught:
            f(X)
    assert capsys.readouterr().out == ""
    lines = str(caught.value).splitlines()
    assert lines[0] == ("the mode is 'PSJit' and jit_syntax_level 'STRICT', but not all of prints can be captured:")
    place = "  {}:{}: PJ201 ".format(__file__, prints.__code__.co_firstlineno + 2)
    assert lines[1].startswith(place) and lines[2] == '    print("between")' and lines[3].startswith("    hint: ")


@pytest.mark.parametrize("decorate", [lambda: jit(whole, mode="PSJit", jit_config=strict()),
                                      lambda: pijit.ms_function(whole, jit_config=strict()),
                                      lambda: pijit.ms_function(jit_config=strict())(whole)])
def test_strict_psjit_of_one_graph(decorate):
    f = decorate()
    assert np.array_equal(f(X), whole(X)) and np.array_equal(f(X), whole(X))
    assert f.config.mode == "PSJit" and len(f.graphs) == 1 and f.cache_info().hits == 1


def test_lax_psjit_falls_back_as_pijit_does(capsys):
    with fail_unless_captured(2):
        f = jitted(prints)
        f(X)
    g = jit(prints, mode="PSJit", jit_config=mode_config({"jit_syntax_level": "LAX"}))
    assert np.array_equal(g(X), prints(X)) and len(g.graphs) == len(f.graphs)


def test_generator_under_strict_psjit():
    def generator():
        yield 1

    with pytest.raises(pijit.FullGraphError, match="the mode is 'PSJit' .* not all of .*generator"):
        jit(generator, mode="PSJit", jit_config=strict())


def test_graph_mode_makes_breaks_errors_also_of_what_was_compiled_before(capsys):
    f = jit(prints, jit_config=mode_config())
    g = jit(whole, jit_config=mode_config())
    lax = jit(prints, jit_config=mode_config({"jit_syntax_level": "LAX"}))
    f(X), f(X), g(X)
    pijit.set_context(mode=pijit.GRAPH_MODE, jit_syntax_level="STRICT", device_target="CPU")
    assert (pijit.get_context("mode"), pijit.get_context("jit_syntax_level")) == (pijit.GRAPH_MODE, "STRICT")
    with pytest.raises(pijit.FullGraphError, match="^the context is GRAPH_MODE and jit_syntax_level 'STRICT', but"):
        f(X)
    assert np.array_equal(g(X), whole(X)) and g.graphs and np.array_equal(lax(X), prints(X))
    pijit.set_context(jit_syntax_level="LAX")
    assert np.array_equal(f(X), prints(X))
    pijit.set_context(mode=pijit.PYNATIVE_MODE, jit_syntax_level="STRICT")
    assert np.array_equal(f(X), prints(X)) and pijit.get_context("device_target") == "CPU"


@pytest.mark.parametrize("give, error, text", [
    (lambda: pijit.set_context(mode="GRAPH_MODE"), TypeError,
     r"set_context: mode must be pijit.GRAPH_MODE \(0\) or pijit.PYNATIVE_MODE \(1\), not 'GRAPH_MODE'"),
    (lambda: pijit.set_context(mode=2), ValueError, "set_context: mode must be"),
    (lambda: pijit.set_context(mode=True), TypeError, "set_context: mode must be"),
    (lambda: pijit.set_context(jit_syntax_level="strict"), ValueError, "'STRICT' or 'LAX', not 'strict'"),
    (lambda: pijit.set_context(device_target="GPU"), ValueError, "device_target must be 'CPU', not 'GPU'"),
    (lambda: pijit.get_context("modes"), ValueError, r"'modes' \(the closest is 'mode'\)"),
    (lambda: pijit.get_context(1), TypeError, "get_context: attr_key must be a str"),
])
def test_context_refuses(give, error, text):
    with pytest.raises(error, match=text):
        give()
    assert pijit.get_context("mode") == pijit.PYNATIVE_MODE


def test_inner_decoration_is_ignored():
    inner = jit(whole, input_signature=pijit.Tensor(shape=[3], dtype=np.float32), hash_args=[1],
                jit_config=mode_config())

    def outer(x):
        return inner(x) * 2.0 + x

    with fail_unless_captured():
        f = jitted(outer)
        assert np.array_equal(f(X), whole(X) * 2.0 + X)
        f(X)
    assert not [one for one in pijit.explain(f).breaks if one.opname.startswith("CALL")]


class Scale:
    """Hashable by what it holds."""

    def __init__(self, value):
        self.value = value

    def __hash__(self):
        return hash(self.value)

    def __eq__(self, other):
        return self.value == other.value


@pytest.mark.parametrize("held, change", [
    ([1.0, 2.0], lambda held: held.append(3.0)), ({"a": [1]}, lambda held: held["a"].append(2)),
    ([1.0, 2.0], lambda held: held.__setitem__(0, True)), ({"a": 1}, lambda held: held.update(a=1.0)),
    (np.zeros(3), lambda held: held.__setitem__(1, 5.0)), (Scale(3), lambda held: setattr(held, "value", 4))])
def test_hash_args_that_change_capture_again(held, change):
    f = jit(whole, hash_args=(held, "name"), jit_config=mode_config())
    for _ in range(3):
        assert np.array_equal(f(X), whole(X))
    assert f.cache_info().hits == 2 and f.cache_info().misses == 1
    change(held)
    with pijit.stance("error_on_recompile"), pytest.raises(pijit.RecompileError, match=r"PJ307 .*hash_args\[0\]"):
        f(X)
    for _ in range(2):
        assert np.array_equal(f(X), whole(X))
    assert f.cache_info().misses == 3 and len(f.state.entries) == 1
    assert pijit.info(f).recompiles == ("PJ307 a declared dependency has changed (because: hash_args[0])",)


def test_another_context_is_told_once():
    f = jit(whole, jit_config=mode_config())
    f(X), f(X)
    try:
        pijit.set_context(mode=pijit.GRAPH_MODE)
        f(X), f(X)
        assert pijit.info(f).recompiles == ("PJ307 a declared dependency has changed (because: set_context)",)
    finally:
        pijit.set_context(mode=pijit.PYNATIVE_MODE)
    pijit.reset()
    f(X)
    assert pijit.info(f).recompiles == () and f.cache_info()[:2] == (0, 1)


def test_arguments_travel_with_pickles():
    k = 3.0
    f = jit(lambda x: x * k + 1.0, mode="PSJit", hash_args=[2], input_signature=[pijit.Tensor([None], float)])
    again = cloudpickle.loads(cloudpickle.dumps(f))
    assert again.config.mode == "PSJit" and again.config.hash_args.values == (2,) and (again(X) == X * k + 1.0).all()
    with pytest.raises(TypeError):
        again(1)


def test_jit_class():
    @pijit.jit_class
    class Model:
        def __init__(self, k):
            self.k = k

        def __call__(self, x):
            return self.step(x) - x

        def step(self, x):
            return self.twice(x) * self.k + 1.0

        @staticmethod
        def twice(x):
            return x * 2.0

        @classmethod
        def made(cls, k):
            return cls(k)

        @property
        def other(self):
            return self.k

    model = Model.made(3.0)
    for _ in range(2):
        assert np.array_equal(model(X), X * 2.0 * 3.0 + 1.0 - X) and np.array_equal(model.step(X), X * 2.0 * 3.0 + 1.0)
    kinds = {name: isinstance(getattr(vars(Model)[name], "__func__", vars(Model)[name]), type(jit(whole)))
             for name in ("__init__", "__call__", "step", "twice", "made")}
    assert kinds == {"__init__": False, "__call__": True, "step": True, "twice": True, "made": True}
    assert type(vars(Model)["other"]) is property and Model.__name__ == "Model"
    with pytest.raises(TypeError, match="jit_class: cls must be a class, not"):
        pijit.jit_class(whole)
