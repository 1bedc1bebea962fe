"""Runs a test, or a program among the tests, on CPython compiled to WebAssembly; `test_wasm_314.py` starts it, by `run.mjs`.

    program.py pytest ARGUMENTS...      program.py FILE ARGUMENTS...

The folder of this file has pijit's Python files in `pijit`, the tests in `tests`, what they import in `packages`. There are no
extension modules and no NumPy: `pijit` and `pijit.core` are packages whose `__init__.py` does not run.
"""

import asyncio
import os
import runpy
import sys
import sysconfig
import types
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))


def unpack_library():
    """The standard library as files: programs read its source."""
    archive = next(entry for entry in sys.path if entry.endswith(".zip"))
    folder = os.path.abspath(sysconfig.get_paths()["stdlib"])
    with zipfile.ZipFile(archive) as file:
        file.extractall(folder)
    sys.path[sys.path.index(archive)] = folder
    for module in list(sys.modules.values()):
        name = getattr(module, "__file__", None) or ""
        if name.startswith(archive):
            module.__file__ = folder + name[len(archive):]


def stand_in(name, **attributes):
    """A module in place of one that cannot be imported here."""
    module = sys.modules[name] = types.ModuleType(name)
    vars(module).update(attributes)


def run_alone(coroutine):
    """`asyncio.run` for coroutines that wait for nothing: the event loop here is the browser's."""
    try:
        while True:
            coroutine.send(None)
    except StopIteration as end:
        return end.value


def main(name, *arguments):
    unpack_library()
    sys.path[:0] = [os.path.join(HERE, "packages"), HERE, os.path.join(HERE, "tests", "bytecode")]
    stand_in("pijit", __path__=[os.path.join(HERE, "pijit")])
    stand_in("pijit.core", __path__=[os.path.join(HERE, "pijit", "core")])
    stand_in("pijit.core._hook", UNBOUND=type("Unbound", (), {})())
    asyncio.run = run_alone
    if name == "pytest":
        import pytest

        return pytest.main(["-q", "-p", "no:cacheprovider", "-p", "no:faulthandler", "--tb=short", *arguments])
    sys.argv = [name, *arguments]
    runpy.run_path(os.path.join(HERE, name), run_name="__main__")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
