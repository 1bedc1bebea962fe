"""Names of classes: one public name has one meaning in the whole package."""

import ast
import re
from collections import defaultdict

from tests.test_layers import MODULES

API = ("pijit.ms", "pijit.signature")
"""Modules whose names MindSpore gives. They may repeat names of the compiler."""


def tree_of(name):
    with open(MODULES[name], encoding="utf-8") as file:
        return ast.parse(file.read())


def concept(name):
    """The module without the CPython family that it is for: modules of two families have the same interface."""
    return re.sub(r"_3\d+$", "", name)


def test_a_class_name_has_one_meaning():
    places = defaultdict(set)
    for name in MODULES:
        if not name.startswith(API):
            for node in tree_of(name).body:
                if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                    places[node.name].add(concept(name))
    assert {name: sorted(found) for name, found in places.items() if len(found) > 1} == {}


def test_modules_have_docstrings():
    assert [name for name in MODULES if not ast.get_docstring(tree_of(name))] == []
