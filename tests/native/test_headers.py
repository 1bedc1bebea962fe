"""Each C header compiles alone: it includes what it uses.

A header that relies on what was included before it breaks when the order of includes changes.
"""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
from concurrent.futures import ThreadPoolExecutor

import numpy
import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FOLDERS = [os.path.join("core", "native"), os.path.join("guards", "native")]
"""The folders that setup.py passes to the compiler, in this order."""

SOME_VERSIONS = {"cpython/builtins_inl.h": (7, 10), "cpython/frame_inl.h": (7, 10),
                 "cpython/untraced_call_inl.h": (7, 10), "cpython/vectorcall/vectorcall_slot_37_inl.h": (7, 7),
                 "cpython/vectorcall/vectorcalls_inl.h": (7, 10),
                 "cpython/function_hooks/redirection.h": (11, 13),
                 "cpython/eval_breaker/monitoring_tools_inl.h": (12, 13),
                 "cpython/eval_breaker/per_thread_inl.h": (13, 13)}
"""The first and the last minor version of CPython for headers whose names do not tell it."""

WORKERS = 2


def headers():
    """All headers, as C files include them."""
    for folder in FOLDERS:
        top = os.path.join(ROOT, folder)
        for below, _, names in os.walk(top):
            for name in names:
                if name.endswith(".h"):
                    yield os.path.relpath(os.path.join(below, name), top).replace(os.sep, "/")


def versions(header):
    """The first and the last minor version of CPython that a header is for."""
    if header in SOME_VERSIONS:
        return SOME_VERSIONS[header]
    if header.startswith("hook/"):
        return 7, 10
    if header.startswith("hidden/"):
        return 11, 13
    suffix = re.search(r"_3(\d+)(?:_3(\d+))?(?:_inl)?\.h$", header)
    if suffix is None:
        return 7, 13
    return int(suffix.group(1)), int(suffix.group(2) or 13)


def compiler():
    """The command that checks a C file without making code; the test is skipped if there is no compiler."""
    tool = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if tool is None:
        pytest.skip("no C compiler")
    folders = [os.path.join(ROOT, folder) for folder in FOLDERS]
    folders += [numpy.get_include(), sysconfig.get_paths()["include"]]
    return [tool, "-std=c99", "-fsyntax-only", "-Wall", "-Wno-unused-function", *("-I" + folder for folder in folders)]


def faults(command, header):
    """The errors and warnings of a file that only includes the header."""
    run = subprocess.run([*command, "-x", "c", "-"], input='#include "%s"\n' % header, stdout=subprocess.DEVNULL,
                         stderr=subprocess.PIPE, universal_newlines=True, env=dict(os.environ, LC_ALL="C"))
    lines = [line for line in run.stderr.splitlines() if re.search(r"(error|warning): ", line)]
    return lines or (["cannot be compiled: " + run.stderr] if run.returncode != 0 else [])


def test_headers_compile_alone():
    minor = sys.version_info[1]
    if minor > 13 or sys.implementation.name != "cpython" or sysconfig.get_config_var("Py_GIL_DISABLED"):
        pytest.skip("pijit does not compile on this Python")
    command = compiler()
    own = sorted(header for header in headers() if versions(header)[0] <= minor <= versions(header)[1])
    assert len(own) > 100
    with ThreadPoolExecutor(WORKERS) as pool:
        found = dict(zip(own, pool.map(lambda header: faults(command, header), own)))
    report = ["%s: %s" % (header, line) for header, lines in found.items() for line in lines[:3]]
    assert not report, "\n".join(report[:30])


def code_of(header):
    """The text of a header without comments and directives."""
    for folder in FOLDERS:
        path = os.path.join(ROOT, folder, header)
        if os.path.exists(path):
            with open(path) as file:
                text = re.sub(r"/\*.*?\*/", "", file.read(), flags=re.S)
            return re.sub(r"^#(?:.*\\\n)*.*", "", text, flags=re.M)
    raise AssertionError(header)


def declarations(code):
    """(text, whether it is a function with a body) of each declaration at the top level; the text has no braces."""
    text, depth = "", 0
    for piece in re.findall(r"[{};]|[^{};]+", code):
        depth += (piece == "{") - (piece == "}")
        is_body = depth == 0 and piece == "}" and text.rstrip().endswith(")")
        if is_body or (depth == 0 and piece == ";"):
            yield " ".join(text.split()), is_body
            text = ""
        elif depth == 0 and piece != "}":
            text += piece


def is_definition(text, is_body):
    """Whether each C file with this declaration would define the same name, or have mutable data of its own.

    A macro in front stands for ``static inline`` and attributes.
    """
    if re.match(r"(typedef|extern|struct \w+$|union|enum)\b", text) or re.match(r"[A-Z_]+\b", text):
        return False
    if is_body:
        return not text.startswith("static ")
    declarator = text.split("=")[0]
    if "(" in declarator:
        return False
    return not text.startswith("static ") or "const " not in declarator.rsplit("*", 1)[-1]


def test_headers_declare():
    """Functions and variables are defined in .c files; functions that are inlined are static, in files *_inl.h."""
    found = []
    for header in headers():
        for text, is_body in declarations(code_of(header)):
            if is_definition(text, is_body) or (is_body and not header.endswith("_inl.h")):
                found.append("%s: %s" % (header, text))
    assert not found, "\n".join(found)


@pytest.mark.parametrize("code", ["int\nready(void)\n{\n}", "PyObject *shared;", "int limit = 3;", "const API *api;",
                                  "static PyObject *pooled;", "static int counts[4] = {0, 1};", "static const char *name;"])
def test_definitions_are_found(code):
    (declaration,) = declarations(code)
    assert is_definition(*declaration)


@pytest.mark.parametrize("code", ["int ready(void);", "extern PyObject *shared;", "static inline int\nready(void)\n{\n}",
                                  "static const int limits[2] = {0, 1};", "static const char *const name = 0;",
                                  "typedef struct {\n    int (*of)(void);\n} API;", "enum { OK = 0 };", "struct API;"])
def test_declarations_are_allowed(code):
    (declaration,) = declarations(code)
    assert not is_definition(*declaration)
