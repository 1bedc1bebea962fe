"""Opcode names stand in the packages that know the instruction set, and nowhere else.

Other packages ask `core/bytecode/instructions/predicates.py` what an instruction does, or use the sets of `opcodes`.
"""

import ast
import dis
import os

from pijit.core.bytecode.instructions.names_311 import why_unknown
from pijit.core.bytecode.instructions.opcodes import CLASS_OF_NAME
from tests.test_layers import MODULES, ROOT

ALLOWED = tuple(os.path.join("core", *path) + end for path, end in (
    (("bytecode",), os.sep), (("capture", "interpreter"), os.sep), (("capture", "state", "uncaptured_effects.py"), "")))

KNOWN = frozenset(CLASS_OF_NAME).union(dis.opmap)


def is_opcode(word):
    """Whether a word is the name of an instruction of any version, or an end of one, such as "CALL_" or "_DEREF"."""
    begins = word.endswith("_") and word.isupper() and any(name.startswith(word) for name in KNOWN)
    ends = word.startswith("_") and word.isupper() and any(name.endswith(word) for name in KNOWN)
    return begins or ends or word in KNOWN or why_unknown(word) is None


def literals(path):
    """(line, text) of the string literals of a file; docstrings and comments may name instructions."""
    with open(path, encoding="utf-8") as file:
        tree = ast.parse(file.read())
    prose = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        text = getattr(node, "s", None) if type(node).__name__ == "Str" else getattr(node, "value", None)
        if type(node).__name__ in ("Str", "Constant") and isinstance(text, str) and id(node) not in prose:
            yield node.lineno, text


def opcode_names(path):
    """(line, text) of the literals that consist of opcode names."""
    found = [(line, text) for line, text in literals(path) if text.split() and all(map(is_opcode, text.split()))]
    return sorted(found)


def test_opcode_names_stand_in_few_places():
    paths = [os.path.relpath(path, ROOT) for path in MODULES.values()]
    found = {path: opcode_names(os.path.join(ROOT, path)) for path in paths if not path.startswith(ALLOWED)}
    assert {path: names for path, names in found.items() if names} == {}


def test_a_name_is_found(tmp_path):
    path = tmp_path / "module.py"
    path.write_text('"""LOAD_FAST"""\nKINDS = "LOAD_FAST STORE_FAST".split()\nFIRST = "CALL_"\nLAST = "_DEREF"\nOTHER = "store LOAD_FAST"\n')
    assert opcode_names(str(path)) == [(2, "LOAD_FAST STORE_FAST"), (3, "CALL_"), (4, "_DEREF")]


def test_only_the_interpreter_interprets_instructions():
    """The module-level functions `op_OPCODE`. Subclasses of the interpreter elsewhere override some of them."""
    paths = [os.path.relpath(path, ROOT) for path in MODULES.values()]
    found = {}
    for path in paths:
        with open(os.path.join(ROOT, path), encoding="utf-8") as file:
            names = [node.name for node in ast.parse(file.read()).body if isinstance(node, ast.FunctionDef)]
        found[path] = [name for name in names if name.startswith("op_") and is_opcode(name[len("op_"):])]
    inside = os.path.join("core", "capture", "interpreter", "")
    assert any(names for path, names in found.items() if path.startswith(inside))
    assert not [path for path, names in found.items() if names and not path.startswith(inside)]
