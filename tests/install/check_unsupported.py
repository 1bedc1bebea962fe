"""The installed package on a Python that it does not compile on: everything works, and says what is the matter.

tox runs this file without the rest of the suite and its conftest.py. `other_python/sitecustomize.py` is on the path then,
for subprocesses as well: it gives the interpreter another name than CPython's.
"""

import json
import os
import pathlib
import subprocess
import sys
import warnings

import numpy as np
import pytest

import pijit
from pijit import decorator
from pijit.__main__ import SUBCOMMANDS, main

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
VERSIONS = "CPython 3.7, 3.8, 3.9, 3.10, 3.11, 3.12 or 3.13"

pytestmark = pytest.mark.filterwarnings("error", "ignore::pijit.UnsupportedPythonWarning")

SCRIPT = """
import sys

def twice(x):
    return x + x

print(__name__, sys.argv[1:], twice(21), type(twice).__name__)
"""


class Model:
    """What classes of users have that jit is put on."""

    def plain(self, x):
        return x * 2.0

    @staticmethod
    def static(x):
        return x * 3.0

    @classmethod
    def made(cls, x):
        return cls, x * 4.0

    def __call__(self, x):
        return self.plain(x) + 1.0


def double(x, k=2.0):
    """Twice."""
    return x * k


@pytest.fixture
def unwarned(monkeypatch):
    monkeypatch.setattr(decorator, "_warned", False)


def python(*arguments, **kwargs):
    """Run this Python elsewhere; its status, output and errors."""
    done = subprocess.run([sys.executable] + list(arguments), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          universal_newlines=True, **kwargs)
    return done.returncode, done.stdout, done.stderr


def test_the_wheel_is_what_is_imported():
    assert os.path.dirname(os.path.abspath(pijit.__file__)) != os.path.join(ROOT, "pijit")
    assert decorator.why_not_python() is not None


def test_no_compiler_is_imported():
    program = "import sys, pijit, json; pijit.jit(len.__class__ and (lambda x: x)); print(json.dumps(sorted(sys.modules)))"
    status, output, errors = python("-c", program)
    assert status == 0, errors
    assert not set(json.loads(output)) & {"pijit.core.function_state", "pijit.function", "pijit.guards.source", "numba"}


FORMS = {
    "bare": lambda: pijit.jit(double),
    "called": lambda: pijit.jit(mode="PIJit")(double),
    "options": lambda: pijit.jit(double, jit_config={"cache_limit": 2, "check": True}),
    "signature": lambda: pijit.jit(double, input_signature=(pijit.Tensor([None], np.float64),), hash_args=[1]),
    "one graph": lambda: pijit.ms_function(jit_config={"jit_syntax_level": "STRICT"})(double),
}


@pytest.mark.parametrize("form", sorted(FORMS))
def test_functions_stay_and_one_warning_comes(unwarned, form):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        made = [FORMS[form](), FORMS[form]()]
    assert made == [double, double] and double(3.0) == 6.0
    assert [one.category for one in caught] == [pijit.UnsupportedPythonWarning]
    assert caught[0].filename == __file__ and VERSIONS in str(caught[0].message)


def test_methods_and_classes_stay_and_one_warning_comes(unwarned):
    before, model = dict(vars(Model)), Model()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert pijit.jit_class(Model) is Model and pijit.jit(Model) is Model
        assert pijit.jit(model) is model and pijit.jit(model.plain)(1.0) == 2.0
        assert pijit.jit(vars(Model)["static"]) is vars(Model)["static"]
    assert dict(vars(Model)) == before
    assert (model(1.0), model.static(1.0), model.made(1.0)) == (3.0, 3.0, (Model, 4.0))
    assert [one.category for one in caught] == [pijit.UnsupportedPythonWarning]
    assert caught[0].filename == __file__


@pytest.mark.parametrize("call, error, text", [
    (lambda: pijit.jit(3), TypeError, "jit: fn must be a Python function"),
    (lambda: pijit.jit(len), TypeError, "has no Python code"),
    (lambda: pijit.jit(staticmethod(len)), TypeError, "has no Python code"),
    (lambda: pijit.jit(int), TypeError, "has no Python code"),
    (lambda: pijit.jit_class(3), TypeError, "jit_class: cls must be a class"),
    (lambda: pijit.jit(double, mode="PIJitt"), ValueError, "jit: mode must be"),
    (lambda: pijit.jit(double, mode=3), TypeError, "jit: mode must be"),
    (lambda: pijit.jit(double, jit_config=3), TypeError, "jit_config must be a dict"),
    (lambda: pijit.jit(double, jit_config={"cache_limit": 0}), ValueError, "cache_limit"),
    (lambda: pijit.jit(double, input_signature=(object(),)), TypeError, "input_signature"),
    (lambda: pijit.stance("pithon"), ValueError, "stance: name must be"),
    (lambda: pijit.disable(3), TypeError, "disable: fn must be"),
    (lambda: pijit.set_logs("brakes"), ValueError, "set_logs: each subject must be"),
    (lambda: pijit.set_context(mode=7), ValueError, "set_context: mode must be"),
    (lambda: pijit.get_context("mod"), ValueError, "get_context: attr_key must be"),
    (lambda: pijit.hint(1, 1.5), TypeError, "hint: kind must be"),
    (lambda: pijit.explain(3), TypeError, "explain: f must be"),
    (lambda: pijit.info(3), TypeError, "info: f must be"),
    (lambda: pijit.check(3), TypeError, "check: f must be"),
    (lambda: pijit.profile(3), TypeError, r"profile: functions\[0\] must be"),
    (lambda: pijit.explain(double, profile=3), TypeError, "explain: profile must be"),
])
def test_what_is_wrong_is_refused(call, error, text):
    with pytest.raises(error, match=text):
        call()


def test_reports_give_the_reason(tmp_path):
    f = pijit.jit(double)
    report, numbers = pijit.explain(f, np.ones(3)), pijit.info(f)
    assert report.skipped.id == numbers.skipped.id == "PJ105" and not report.kernels and numbers.hits == 0
    assert VERSIONS in str(report) and "PJ105" in str(numbers) and pijit.info(Model().plain).name == "Model.plain"
    report.to_html(str(tmp_path / "page.html"))
    assert VERSIONS in (tmp_path / "page.html").read_text()
    paths = pijit.dump(f, tmp_path, np.ones(3))
    assert len(paths) == 1 and "PJ105" in pathlib.Path(paths[0]).read_text()
    assert pijit.get_code_extra(f) is None


def test_profiles_are_empty_and_give_the_reason():
    f = pijit.jit(double)
    with pijit.profile() as profile:
        assert f(1.0) == 2.0 and not profile.is_on
    assert profile.functions == () and profile.seconds == 0 and VERSIONS in str(profile)
    assert "not called" in str(pijit.explain(f, profile=True))


def test_switches_do_nothing(capsys):
    with pijit.disable(), pijit.stance("python") as taken:
        assert double(1.0) == 2.0 and taken.name == "python"
    assert pijit.disable(double)(2.0) == 4.0 and pijit.stance("run_only")(double)(2.0) == 4.0
    pijit.set_context(mode=pijit.GRAPH_MODE)
    assert pijit.get_context("mode") == pijit.GRAPH_MODE and pijit.jit(double)(2.0) == 4.0
    pijit.set_context(mode=pijit.PYNATIVE_MODE)
    pijit.set_logs("breaks", "cache")
    pijit.set_logs()
    assert capsys.readouterr() == ("", "")
    assert pijit.reset() is None
    x = np.ones(3)
    assert pijit.hint(x, "tensor_type[float64, 1]") is x and pijit.hint(x, pijit.Tensor([None], float)) is x
    assert pijit.check(double, np.ones(3), k=4.0)(2.0) == 4.0


def test_doctor_says_what_is_wrong():
    status, output, errors = python("-m", "pijit", "doctor")
    assert status == 1 and output.startswith("BAD  Python") and VERSIONS in output and errors == ""


@pytest.mark.parametrize("name", sorted(SUBCOMMANDS))
def test_subcommands_work_or_say_why_not(name, capsys, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    status = main([name] + [str(script)] * (name in ("explain", "bisect")))
    output, errors = capsys.readouterr()
    if SUBCOMMANDS[name].anywhere:
        assert output and errors == ""
    else:
        assert status == 1 and errors.startswith("python -m pijit {}: PJ105".format(name)) and VERSIONS in errors


def test_programs_run_with_one_warning(tmp_path):
    script, page = tmp_path / "script.py", tmp_path / "page.html"
    script.write_text(SCRIPT)
    status, output, errors = python("-m", "pijit", "--check", "--report", str(page), str(script), "a", "b")
    assert (status, output) == (0, "__main__ ['a', 'b'] 42 function\n"), errors
    assert errors.count("UnsupportedPythonWarning") == 1 and errors.startswith("{}:1: ".format(script))
    assert page.exists()


def test_modules_run_with_one_warning_and_logs_have_help(tmp_path):
    (tmp_path / "module.py").write_text(SCRIPT)
    status, output, errors = python("-m", "pijit", "-m", "module", "a", cwd=str(tmp_path),
                                    env=dict(os.environ, PIJIT_LOGS="help"))
    assert (status, output) == (0, "__main__ ['a'] 42 function\n"), errors
    assert errors.count("UnsupportedPythonWarning") == 1 and errors.count("  breaks ") == 1
    status, output, errors = python("-m", "pijit", "--version")
    assert (status, output, errors) == (0, "pijit {}\n".format(pijit.__version__), "")


def test_the_example_ends_with_a_sentence(tmp_path):
    status, output, errors = python(os.path.join(ROOT, "examples", "quickstart.py"), cwd=str(tmp_path))
    assert status == 0 and "Traceback" not in errors, errors
    last = output.splitlines()[-1]
    assert last.startswith("pijit compiled nothing") and VERSIONS in last
    assert errors.count("UnsupportedPythonWarning") == 1
