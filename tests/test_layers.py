"""The layers of the compiler: a package imports only packages below it, and no imports form a cycle.

The order is that of docs/design.md. It is read from the source files, whatever the running Python imports.
"""

import ast
import itertools
import os
from collections import defaultdict

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

LAYERS = """
pijit.ms
pijit
pijit.core
pijit.core.capture.driver
pijit.core.capture.inline
pijit.core.capture.build
pijit.core.capture.analysis
pijit.core.capture.interpreter
pijit.core.capture.models
pijit.core.capture.typing
pijit.core.capture.context
pijit.core.capture.profile
pijit.core.capture.state
pijit.core.capture.values
pijit.core.kernel.kernel_function
pijit.core.kernel.kernel_record
pijit.core.kernel.shared
pijit.core.kernel.compile
pijit.core.kernel.reference
pijit.core.kernel.emit
pijit.core.kernel.plan
pijit.core.kernel.llvm.nest
pijit.core.kernel.llvm
pijit.core.kernel
pijit.core.bytecode.analysed_code
pijit.core.bytecode.linker
pijit.core.bytecode.rewrite
pijit.core.bytecode.assembler
pijit.core.bytecode.normal_form
pijit.core.bytecode.analysis
pijit.core.bytecode.codec
pijit.core.bytecode.flow
pijit.core.bytecode.instructions
pijit.core.hinting
pijit.core.graph.reverse
pijit.core.graph.passes
pijit.core.graph.derivatives
pijit.core.graph
pijit.guards
pijit.core.asynchronous_exceptions
pijit.core.errors
pijit.core.pythons
pijit.core.reasons
pijit.core.named_tuples
pijit._version
""".split()
"""From the top to the bottom. A module belongs to the longest name that it begins with."""

FREE = ("pijit.core._hook", "pijit.core._launcher", "pijit.core._signals", "pijit.core._tape",
        "pijit.core._ufuncs", "pijit.guards._evaluate")
"""Extension modules, which import nothing of ours at import."""

WITHOUT_LLVM = ("pijit.core.kernel.plan", "pijit.core.kernel.emit", "pijit.core.kernel.reference")
"""Packages that import neither llvmlite nor numba."""

UPWARDS = {("pijit.core.hinting", "pijit.core.capture.profile.hints")}
"""Imports inside of functions that may go up: `pijit.hint` has its text read by the capturer, where that is supported."""


def source_files():
    """(name of the module, path) of all modules of the package."""
    for folder, package in (("pijit", "pijit"), ("core", "pijit.core"), ("guards", "pijit.guards")):
        for below, _, files in os.walk(os.path.join(ROOT, folder)):
            for file in files:
                if file.endswith(".py"):
                    path = os.path.relpath(os.path.join(below, file), os.path.join(ROOT, folder))
                    parts = [package] + path[:-3].split(os.sep)
                    yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts), os.path.join(below, file)


MODULES = dict(source_files())


def parsed(name):
    """The syntax tree of a module."""
    with open(MODULES[name], encoding="utf-8") as file:
        return ast.parse(file.read())


def imports(name):
    """(imported module, whether it is imported when this one is) of a module; imports for type checkers are left out."""
    tree = parsed(name)
    inner = {id(node) for function in ast.walk(tree) if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef))
             for node in ast.walk(function)}
    types = {id(node) for test in ast.walk(tree) if isinstance(test, ast.If) and "TYPE_CHECKING" in ast.dump(test.test)
             for node in ast.walk(test)}
    for node in ast.walk(tree):
        if id(node) not in types and isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "pijit":
            for alias in node.names:
                found = "%s.%s" % (node.module, alias.name)
                found = found if found in MODULES or found in FREE else node.module
                yield found, id(node) not in inner


def layer(name):
    """The number of a module's layer; larger ones are lower."""
    fitting = [one for one in LAYERS if name == one or name.startswith(one + ".")]
    return LAYERS.index(max(fitting, key=len))


@pytest.mark.parametrize("name", sorted(MODULES))
def test_imports_go_down(name):
    wrong = [found for found, _ in imports(name) if found not in FREE and (name, found) not in UPWARDS and layer(found) < layer(name)]
    assert not wrong, wrong


def test_no_cycles():
    graph = {name: sorted({found for found, at_once in imports(name) if at_once and found != name and found not in FREE})
             for name in MODULES}
    done, path = set(), []

    def visit(name):
        assert name not in path, " -> ".join(path[path.index(name):] + [name])
        if name not in done:
            path.append(name)
            for found in graph[name]:
                visit(found)
            path.pop()
            done.add(name)

    for name in sorted(graph):
        visit(name)


@pytest.mark.parametrize("name", [name for name in sorted(MODULES) if name.startswith(WITHOUT_LLVM)])
def test_plans_and_emitters_build_no_llvm(name):
    """They name intrinsics; `pijit.core.kernel.llvm` has their instructions."""
    found = [alias.name for node in ast.walk(parsed(name)) if isinstance(node, ast.Import) for alias in node.names]
    found += [node.module or "" for node in ast.walk(parsed(name)) if isinstance(node, ast.ImportFrom)]
    assert not [module for module in found if module.split(".")[0] in ("llvmlite", "numba")]


def test_folders_are_small():
    """Folders of the tests count, too: they follow the packages of the code."""
    tests = [os.path.join(below, file) for below, _, files in os.walk(os.path.join(ROOT, "tests"))
             for file in files if file.endswith(".py")]
    sizes = defaultdict(int)
    for path in itertools.chain(MODULES.values(), tests):
        sizes[os.path.relpath(os.path.dirname(path), ROOT)] += not path.endswith("__init__.py")
    for top in ("core", "guards"):
        for below, _, files in os.walk(os.path.join(ROOT, top)):
            sizes[os.path.relpath(below, ROOT) + ", C"] += sum(file.endswith((".c", ".h", ".inc")) for file in files)
    assert {folder: size for folder, size in sizes.items() if size > 26} == {}
