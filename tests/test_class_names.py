"""Names of classes and types: one name has one meaning in the whole package."""

import ast
import re
import typing
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


def named(node, module):
    """(name, meaning) of each class or type that a statement of a module defines.

    A private class is one of its module. The meaning of a type is its definition, which several modules may repeat.
    """
    if isinstance(node, ast.ClassDef):
        yield node.name.lstrip("_"), concept(module)
    elif isinstance(node, ast.Assign) and isinstance(node.value, (ast.Subscript, ast.Call)):
        head = node.value.value if isinstance(node.value, ast.Subscript) else node.value.func
        if isinstance(head, ast.Name) and (head.id == "TypeVar" or head.id in vars(typing)):
            for target in node.targets:
                if len(target.id) > 1:
                    yield target.id, ast.dump(node.value)


def test_a_name_has_one_meaning():
    meanings = defaultdict(set)
    for module in MODULES:
        if not module.startswith(API):
            for node in tree_of(module).body:
                for name, meaning in named(node, module):
                    meanings[name].add(meaning)
    assert {name: sorted(found) for name, found in meanings.items() if len(found) > 1} == {}


def test_modules_have_docstrings():
    assert [name for name in MODULES if not ast.get_docstring(tree_of(name))] == []
