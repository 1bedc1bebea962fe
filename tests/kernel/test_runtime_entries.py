"""The runtime table: emitted calls agree with the list from which C makes the table."""

import ast
import os
import re

import pytest

from pijit.core import kernel
from pijit.core.graph.ops import OPS, SHARES_OBJECTS
from pijit.core.kernel.errors import CompileError
from pijit.core.kernel.runtime_entries import BAILS_OUT, ENTRIES, NEVER, STATUS, VALUE, check_call

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

RESULTS = {"runtime": None, "checked": (STATUS, BAILS_OUT)}
"""Methods of the emitter that write a call: the results that their entries may have, None for any."""


def literal_calls():
    """(place, method, name, number of words or None) of calls by a literal name in the emitter's source."""
    folder = os.path.join(os.path.dirname(kernel.__file__), "emit")
    for path in sorted(os.path.join(top, name) for top, _, names in os.walk(folder) for name in names):
        if not path.endswith(".py"):
            continue
        with open(path) as source:
            tree = ast.parse(source.read())
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in RESULTS \
                    and node.args and getattr(node.args[0], "s", None).__class__ is str:
                name = ast.literal_eval(node.args[0])
                spread = any(isinstance(arg, ast.Starred) for arg in node.args)
                yield "%s:%d" % (os.path.relpath(path, folder), node.lineno), node.func.attr, name, None if spread else len(node.args) - 1


OPERATIONS = {"text_append": "text_add"}
"""By entry: the operation that calls it, if it has another name."""


def test_calls_agree_with_the_list():
    found = list(literal_calls())
    assert len(found) > 25
    for place, method, name, words in found:
        assert name in ENTRIES, place
        assert words in (None, len(ENTRIES[name].words)), place
        assert RESULTS[method] is None or ENTRIES[name].result in RESULTS[method], place


def test_entries_are_numbered_in_order():
    assert [entry.number for entry in ENTRIES.values()] == list(range(len(ENTRIES)))
    assert all(re.match(r"[a-z]\w*$", word) for entry in ENTRIES.values() for word in (entry.name,) + entry.words)
    assert {entry.result for entry in ENTRIES.values()} == {STATUS, BAILS_OUT, VALUE}
    assert ENTRIES["store_key"].words == ("dict", "key", "kind", "value")
    assert ENTRIES["clear_exception"].words == ()


def test_documented_signatures():
    """The comment in the list names the words of each entry as the entry does."""
    with open(os.path.join(ROOT, "core", "native", "runtime", "entries.inc")) as file:
        comment = file.read().split("*/")[0].replace("\n *", " ")
    signatures = re.findall(r"(?<![\w.])([a-z_]+)\(([\w, ]*)\)", comment)
    documented = {name: tuple(words.replace(",", " ").split()) for name, words in signatures}
    assert {name: documented.get(name) for name in ENTRIES} == {name: entry.words for name, entry in ENTRIES.items()}


def test_entries_that_need_the_gil():
    """An operation shares objects with other threads if a kernel without the GIL must not call its entry."""
    never = [name for name, entry in ENTRIES.items() if entry.gil == NEVER]
    operations = [OPERATIONS.get(name, name) for name in never]
    assert len(never) > 50
    assert [name for name in operations if name in OPS and name not in SHARES_OBJECTS] == []
    assert [name for name in operations if name not in OPS] == []


def test_wrong_calls_are_refused():
    assert check_call("release", ("frame", "object")).result == STATUS
    with pytest.raises(CompileError, match=r"release\(frame, object\) is called with 1 arguments"):
        check_call("release", ("frame",))
    with pytest.raises(CompileError, match="has no function 'nothing'"):
        check_call("nothing", ())
