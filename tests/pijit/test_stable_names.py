"""What docs/stability.md promises: names, parameters, options, variables, commands and ids that a release had stay.

`stable_names.txt` has them, as the Python on which it was written (3.10) shows them. More may come at any time, so the
test fails only where one has gone. `PIJIT_TEST_GOLDEN=rewrite pytest tests/pijit/test_stable_names.py` adds those of a
new version.
"""

import inspect
import os
import pathlib
import re

import pytest

import pijit
from pijit.cli.commands import SUBCOMMANDS
from pijit.core.reasons import REASONS
from pijit.function import CacheInfo, Jitted
from pijit.options import OPTIONS
from tests.pijit.docs.pages import PAGES, text_of

GOLDEN = pathlib.Path(__file__).with_name("stable_names.txt")
MARKS = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**",
         inspect.Parameter.KEYWORD_ONLY: "by-name:"}


def parameters(function):
    """The parameters of a function, as words: "=" follows the name of one with a default."""
    return [MARKS.get(one.kind, "") + one.name + "=" * (one.default is not one.empty)
            for one in inspect.signature(function).parameters.values()]


def attributes(kind):
    """The attributes of a class that its docstring or the reference names, and the fields of a tuple."""
    members = re.findall(r"autoclass:: (?:[\w.]+\.)?%s\n +:members: (.*)" % kind.__name__, text_of("api.md"))
    named = set(re.findall(r"\w+", " ".join([kind.__doc__ or "", *members, *getattr(kind, "_fields", ())])))
    common = {name for base in (Exception, tuple, dict) for name in dir(base)}
    return sorted(name for name in dir(kind) if name in named and not name.startswith("_") and name not in common)


def variables():
    """The environment variables that the code reads."""
    files = list(pathlib.Path(pijit.__file__).parent.rglob("*.py")) + list(pathlib.Path(
        pijit.core.__file__).parent.rglob("*.py"))
    return sorted({name for file in files for name in re.findall(
        r"[\"'](PIJIT_[A-Z_]+)[\"']", file.read_text(encoding="utf-8"))})


def stable():
    """All that is promised: (kind, name) and its words."""
    found = {}
    for name in pijit.__all__:
        value = getattr(pijit, name)
        if inspect.isclass(value):
            found["class", name] = attributes(value)
        if callable(value) and (not inspect.isclass(value) or "Args:" in (value.__doc__ or "")):
            found["call", name] = parameters(value)
        if not callable(value):
            found["value", name] = []
    found["class", "Jitted"], found["class", "CacheInfo"] = attributes(Jitted), attributes(CacheInfo)
    for kind, names in (("option", OPTIONS), ("variable", variables()), ("command", SUBCOMMANDS), ("reason", REASONS)):
        found.update(((kind, name), []) for name in names)
    return found


def promised():
    lines = GOLDEN.read_text(encoding="utf-8").splitlines()
    return {tuple(line.split()[:2]): line.split()[2:] for line in lines}


def keeps(before, after):
    """Whether calls that were right before still are: parameters keep their places and names; new ones are optional."""
    named = ("by-name:", "**")
    places, new_places = ([word for word in words if not word.startswith(named)] for words in (before, after))
    others, new_others = ({word for word in words if word.startswith(named)} for words in (before, after))
    added = new_places[len(places):] + [word for word in new_others if word not in others and word[:-1] not in others]
    return (len(places) <= len(new_places) and all(new in (old, old + "=") for old, new in zip(places, new_places))
            and all(not new_others.isdisjoint((old, old + "=")) for old in others)
            and all(word.endswith("=") or word.startswith("*") for word in added))


def test_nothing_that_is_promised_has_gone():
    if os.environ.get("PIJIT_TEST_GOLDEN") == "rewrite":
        GOLDEN.write_text("".join(" ".join([*key, *words]) + "\n" for key, words in sorted(stable().items())),
                          encoding="utf-8")
    now, gone = stable(), []
    for (kind, name), words in promised().items():
        after = now.get((kind, name))
        same = after is not None and (set(words) <= set(after) if kind == "class" else keeps(words, after))
        gone += [] if same else ["{} {}: {} -> {}".format(kind, name, words, after)]
    assert not gone, "see docs/stability.md for how names go away: {}".format(gone)


@pytest.mark.parametrize("before, after, kept", [
    ("f x=", "f x=", True), ("f", "f x=", True), ("f", "f *more **rest", True), ("f", "f by-name:x=", True),
    ("f x", "f x=", True), ("f by-name:x", "f by-name:x=", True), ("f", "f x", False), ("f x=", "f new= x=", False),
    ("f *more", "f new= *more", False), ("f", "f by-name:x", False), ("f x=", "f x", False), ("f x y", "f y x", False),
    ("f x=", "f", False), ("x=", "by-name:x=", False)])
def test_which_changes_of_parameters_break_calls(before, after, kept):
    assert keeps(before.split(), after.split()) is kept


def test_variables_are_documented():
    docs = "".join(map(text_of, PAGES))
    assert variables() and all(name in docs for name in variables())
