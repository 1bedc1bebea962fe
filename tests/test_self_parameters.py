"""A parameter named ``self`` belongs to a method: a free function names what it gets."""

import ast

from tests.test_class_names import tree_of
from tests.test_layers import MODULES

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def free_functions(scope, in_class=False):
    """The functions of a scope and of the scopes in it, without those that are written in the body of a class."""
    for node in ast.iter_child_nodes(scope):
        if isinstance(node, FUNCTIONS) and not in_class:
            yield node
        inner_class = isinstance(node, ast.ClassDef) or in_class and not isinstance(node, FUNCTIONS)
        for found in free_functions(node, inner_class):
            yield found


def parameters(function):
    return [one.arg for one in function.args.args + function.args.kwonlyargs]


def test_free_functions_are_found():
    tree = ast.parse("def f(self):\n    class C:\n        def g(self):\n            return lambda self: 1\n"
                     "        table = {1: lambda self: 2}\n    return C")
    assert [type(one).__name__ for one in free_functions(tree)] == ["FunctionDef", "Lambda"]


def test_free_functions_have_no_self():
    assert ["%s:%d" % (name, one.lineno) for name in sorted(MODULES) for one in free_functions(tree_of(name))
            if "self" in parameters(one)] == []
