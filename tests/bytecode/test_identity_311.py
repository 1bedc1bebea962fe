"""Decoding and encoding with no change gives back each code object of CPython 3.11 and later.

A test looks at a tenth of the code. As a program this file looks at all: `python tests/bytecode/test_identity_311.py`.
"""

import gc
import os
import sys
import sysconfig
import types
import warnings
import zlib
from collections import Counter

import pytest

if sys.version_info < (3, 11):
    pytest.skip("caches and exception tables come with CPython 3.11", allow_module_level=True)

from pijit.core.bytecode.codec import read_311
from pijit.core.bytecode.codec.decode import decode
from pijit.core.bytecode.codec.encode import Assembler
from pijit.core.bytecode.codec.layout import stack_size

FOLDERS = {"stdlib": sysconfig.get_paths()["stdlib"], "site-packages": sysconfig.get_paths()["purelib"]}
FIELDS = ("co_code", "co_linetable", "co_exceptiontable", "co_stacksize", "co_flags", "co_nlocals", "co_names", "co_varnames",
          "co_cellvars", "co_freevars", "co_filename", "co_name", "co_qualname", "co_firstlineno", "co_argcount",
          "co_posonlyargcount", "co_kwonlyargcount")


def python_files(folder):
    for parent, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in ("site-packages", "__pycache__"))
        for name in sorted(files):
            if name.endswith(".py"):
                yield os.path.join(parent, name)


def code_objects(path):
    """All code objects of a file; none when it is not valid Python of this version."""
    with open(path, "rb") as file:
        source = file.read()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            stack = [compile(source, path, "exec", dont_inherit=True)]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    while stack:
        code = stack.pop()
        stack.extend(const for const in code.co_consts if isinstance(const, types.CodeType))
        yield code


def differences(code):
    """The names of what differs when a code object has been decoded and encoded."""
    function = decode(code)
    again = Assembler(function).assemble()
    found = [field for field in FIELDS if getattr(code, field) != getattr(again, field)]
    if len(code.co_consts) != len(again.co_consts) or any(a is not b for a, b in zip(code.co_consts, again.co_consts)):
        found.append("co_consts")
    slots = read_311.slot_names(code)
    if any(code._varname_from_oparg(slot) != name for slot, name in enumerate(slots)):
        found.append("slots")
    if stack_size(function) > code.co_stacksize:
        found.append("stack_size")
    return found


def survey(folder, chosen):
    """Number of code objects of the chosen files, and for each field that differs how often and the first place."""
    counts, places = Counter(), {}
    for path in python_files(folder):
        if not chosen(os.path.relpath(path, folder)):
            continue
        for code in code_objects(path):
            counts["code objects"] += 1
            try:
                found = differences(code)
            except Exception as error:
                found = ["{}: {}".format(type(error).__name__, error)]
            counts.update(found)
            places.update((field, "{}:{} {}".format(path, code.co_firstlineno, code.co_qualname))
                          for field in found if field not in places)
    return counts, places


def in_sample(path):
    """A tenth of the files, always the same."""
    return zlib.crc32(path.replace(os.sep, "/").encode()) % 10 == 3


@pytest.fixture(autouse=True)
def no_collection():
    """There are no cycles here, and looking for them among millions of instructions takes long."""
    gc.disable()
    yield
    gc.enable()


@pytest.mark.parametrize("folder", sorted(FOLDERS))
def test_nothing_differs(folder):
    counts, places = survey(FOLDERS[folder], in_sample)
    assert not places, places
    assert counts["code objects"] > 100


if __name__ == "__main__":
    gc.disable()
    for title, root in sorted(FOLDERS.items()):
        totals, examples = survey(root, lambda path: True)
        print(sys.version.split()[0], title, dict(totals), examples)
