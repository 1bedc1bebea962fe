"""The runtime table: emitted calls agree with the list from which C makes the table."""

import ast
import os
import re

import pytest

from pijit.core import kernel
from pijit.core.kernel.errors import CompileError
from pijit.core.kernel.runtime_entries import BAILS_OUT, ENTRIES, STATUS, VALUE, check_call

RESULTS = {"runtime": None, "checked": (STATUS, BAILS_OUT)}
"""Methods of the emitter that write a call: the results that their entries may have, None for any."""


def literal_calls():
    """(place, method, name, number of words or None) of calls by a literal name in the emitter's source."""
    folder = os.path.join(os.path.dirname(kernel.__file__), "emit")
    for file in sorted(os.listdir(folder)):
        if not file.endswith(".py"):
            continue
        with open(os.path.join(folder, file)) as source:
            tree = ast.parse(source.read())
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in RESULTS \
                    and node.args and getattr(node.args[0], "s", None).__class__ is str:
                name = ast.literal_eval(node.args[0])
                spread = any(isinstance(arg, ast.Starred) for arg in node.args)
                yield "%s:%d" % (file, node.lineno), node.func.attr, name, None if spread else len(node.args) - 1


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


def test_wrong_calls_are_refused():
    assert check_call("release", ("frame", "object")).result == STATUS
    with pytest.raises(CompileError, match=r"release\(frame, object\) is called with 1 arguments"):
        check_call("release", ("frame",))
    with pytest.raises(CompileError, match="has no function 'nothing'"):
        check_call("nothing", ())
