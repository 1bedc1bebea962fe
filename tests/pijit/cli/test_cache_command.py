"""`python -m pijit cache`, and the option `cache`."""

import numpy as np
import pytest

import pijit
from pijit.__main__ import main
from pijit.core.kernel import compile as compiler


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("PIJIT_CACHE_DIR", str(tmp_path / "kernels"))
    monkeypatch.setattr(compiler, "_compiled", compiler._compiled.__class__())
    return tmp_path / "kernels"


def call(number, **config):
    """Call a new function of its own source with a kernel of its own."""
    scope = {}
    exec("def f(x):\n    s = %d.0\n    for i in range(len(x)):\n        s += x[i]\n    return s\n" % number, scope)
    return pijit.jit(scope["f"], jit_config=config)(np.ones(4))


def test_info_and_clear(folder, capsys):
    assert main(["cache"]) == 0 and "kernels: 0" in capsys.readouterr().out and not folder.exists()
    assert call(31) == 35.0
    assert main(["cache", "info"]) == 0
    printed = capsys.readouterr().out
    assert str(folder) in printed and "kernels: 0" not in printed and "not used" not in printed
    assert main(["cache", "clear"]) == 0 and "removed" in capsys.readouterr().out and not list(folder.iterdir())
    folder.chmod(0o777)
    assert main(["cache"]) == 0 and "not used: others may write" in capsys.readouterr().out
    assert main(["cache", "clear"]) == 1 and "nothing was removed" in capsys.readouterr().err


def test_the_option_switches_it_off(folder):
    assert call(32, cache=False) == 36.0 and not folder.exists()
    assert call(33, backend="python") == 37.0 and not folder.exists()
    assert call(34) == 38.0 and list(folder.iterdir())
