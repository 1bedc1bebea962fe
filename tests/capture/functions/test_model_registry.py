"""The registry of models: identity, one model for each target, the catalogue, the page, walkthroughs of the docs."""

import os
import re
import shutil
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import pijit
from pijit.cli.commands import models_page
from pijit.core.capture.models import catalogue, registry
from pijit.core.capture.models.registry import models, models_code
from tests.harness import assert_nothing_breaks, check, fail_unless_captured
from tests.native.test_headers import compiler

ROOT = os.path.join(os.path.dirname(__file__), "..", "..", "..")


@pytest.fixture
def own(monkeypatch):
    """The registry, with changes that end with the test."""
    monkeypatch.setattr(registry, "MODELS", dict(registry.MODELS))


def model(interpreter, arguments, keywords):
    raise AssertionError("never called")


class Unhashable(type):
    def __eq__(self, other):
        raise AssertionError("compared")

    __hash__ = None


def test_targets_are_found_by_identity(own):
    class Plain(metaclass=Unhashable):
        def method(self):
            pass

    models(Plain)(model)
    models(Plain, "method")(model)
    assert registry.model_of(Plain).handler is registry.method_model(Plain, "method").handler is model
    assert registry.model_of(Plain.method) is registry.method_model(Plain, "other") is None
    assert registry.class_method_model(Plain, "method") is None


def test_several_targets_and_methods(own):
    models(("one", None, "other"))(model)
    assert registry.model_of("one") and registry.model_of("other") and not registry.model_of(None)
    models((list, tuple), "__len__", "__iter__")(model)
    assert all(registry.method_model(kind, name) for kind in (list, tuple) for name in ("__len__", "__iter__"))
    models_code(test_several_targets_and_methods)(model)
    assert registry.code_model(test_several_targets_and_methods.__code__) is model


@pytest.mark.parametrize("key", [(len,), (np.sum,), (list, "pop"), (np.ndarray, "sum")])
def test_a_target_has_one_model(own, key):
    before = dict(registry.MODELS)
    with pytest.raises(ValueError, match="two models"):
        models(*key)(model)
    assert registry.MODELS == before


def test_a_class_must_have_the_method(own):
    with pytest.raises(ValueError, match="has no method 'push'"):
        models(list, "push")(model)


def test_the_library_serves_where_no_handler_does():
    assert registry.model_of(np.kron).handler is None and registry.model_of(np.kron).row.path == "kron"
    roll = registry.model_of(np.roll)
    assert roll.handler is not None and roll.row.path == "roll"


def test_the_catalogue_has_all_modules_that_register():
    folder = os.path.dirname(catalogue.__file__)
    found, own_files = set(), ("registry.py", "catalogue.py", "page.py")
    for below, _, files in os.walk(folder):
        for file in (file for file in files if file.endswith(".py") and file not in own_files):
            with open(os.path.join(below, file), encoding="utf-8") as source:
                if re.search(r"models\.registry import .*(model_factory|models(_\w+)?|register_entry|serves)\b", source.read()):
                    found.add(os.path.relpath(os.path.join(below, file), folder))
    assert found == {os.path.relpath(module.__file__, folder) for module in catalogue.MODULES}


def test_models_have_docstrings():
    assert [one for one in registry.all_models() if one.handler is not None and not one.handler.__doc__] == []


@pytest.mark.unshared
@pytest.mark.skipif(sys.version_info[:2] != (3, 10) or not hasattr(np, "_core"),
                    reason="the page is made with CPython 3.10 and its newest NumPy")
def test_the_page_is_up_to_date():
    with open(os.path.join(ROOT, "docs", "models.md"), encoding="utf-8") as page:
        assert page.read() == models_page()


# the walkthroughs of docs/extending.md

def block_with(text, language="python"):
    """The block of a language in the walkthroughs that has a text."""
    with open(os.path.join(ROOT, "docs", "extending.md"), encoding="utf-8") as page:
        blocks = re.findall(r"^( *)```%s\n(.*?)^\1```" % language, page.read(), re.DOTALL | re.MULTILINE)
    return next(textwrap.dedent(block) for _, block in blocks if text in block)


def checked(x):
    y = np.asarray_chkfinite(x)
    return y * 2.0 + x, y is x


def contained(xs, x):
    total = 0
    for item in xs:
        if xs.__contains__(item + x):
            total += item
    return total


FLOATS, NUMBERS = np.arange(12.0).reshape(3, 4), [3, 1, 4, 1, 5, 9, 2, 6]
WALKTHROUGHS = [
    ("call_asarray_chkfinite", checked, (FLOATS,),
     [(FLOATS + np.nan,), (FLOATS.astype("f"),), (FLOATS[:, ::2],), (FLOATS[:0],), (np.arange(3),), ([1.0, 2.0],)]),
    ("call_contains", contained, (NUMBERS, 1), [(NUMBERS, 3), (tuple(NUMBERS), 1), ([], 1), ([1.5, 2.5], 1.0)]),
]


@pytest.mark.parametrize("name, f, args, others", WALKTHROUGHS, ids=[row[0] for row in WALKTHROUGHS])
def test_a_walkthrough_of_the_documentation(own, name, f, args, others):
    report = pijit.explain(pijit.jit(f, jit_config={"backend": "python"}), *args)
    assert report.breaks, "it is captured without the model"
    exec(block_with("def {}(".format(name)), {"__name__": "walkthrough"})
    assert_nothing_breaks(f, *args)
    with fail_unless_captured():
        check(f, *args, others=others)


def linked_or_copied(source, target):
    if source.endswith(".py"):
        shutil.copyfile(source, target)
    else:
        os.symlink(os.path.realpath(source), target)


def insert(path, block, before):
    """Insert a block before the last occurrence of a text in a file; at the end if the text is ""."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    at = text.rindex(before) if before else len(text)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text[:at] + block + text[at:])


@pytest.mark.unshared
@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege there")
def test_the_walkthrough_of_a_new_operation(tmp_path):
    """With the Python parts in place, kernels of the Python back end have the operation."""
    package = tmp_path / "pijit"
    shutil.copytree(os.path.dirname(pijit.__file__), str(package), copy_function=linked_or_copied,
                    ignore=shutil.ignore_patterns("__pycache__", "native"))
    core = os.path.join(str(package), "core")
    insert(os.path.join(core, "graph", "ops", "effects.py"), block_with('"deque_rotate": OpInfo('), "}")
    insert(os.path.join(core, "kernel", "reference", "effects.py"), block_with("def deque_rotate(") + "\n\n",
           "def _functions(")
    insert(os.path.join(core, "capture", "models", "containers", "deques.py"), "\n\n" + block_with("def call_rotate("), "")
    script = os.path.join(os.path.dirname(__file__), "rotated_deque.py")
    paths = os.pathsep.join(filter(None, (str(tmp_path), os.environ.get("PYTHONPATH"))))
    done = subprocess.run([sys.executable, script, str(tmp_path / "dump")], env=dict(os.environ, PYTHONPATH=paths),
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300)
    assert done.stdout.decode().split() == ["0", "True"], done.stdout.decode()


@pytest.mark.unshared
def test_the_c_parts_of_the_walkthrough_fit_the_runtime(tmp_path):
    """The function has the prototype that its entry declares, and both compile. Nothing is linked."""
    native = os.path.join(ROOT, "core", "native", "runtime")
    (tmp_path / "runtime").mkdir()
    entries, functions = str(tmp_path / "runtime" / "entries.inc"), str(tmp_path / "deques.c")
    shutil.copyfile(os.path.join(native, "entries.inc"), entries)
    shutil.copyfile(os.path.join(native, "objects", "deques.c"), functions)
    insert(entries, block_with("ENTRY(deque_rotate", "c"), "#undef ENTRY")
    insert(functions, block_with("runtime_deque_rotate(", "c"), "")
    tool, *options = compiler()
    done = subprocess.run([tool, "-I" + str(tmp_path), *options, "-Wmissing-prototypes", "-Werror", functions],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300)
    assert done.returncode == 0, done.stdout.decode()
