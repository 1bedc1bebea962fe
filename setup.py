"""Build of the C extensions; setup.cfg holds all other package metadata.

This file has no annotations, so that a Python that is too old can parse it and print its error message.
"""

import glob
import os
import sys
import sysconfig

if sys.version_info < (3, 7):
    sys.exit("pijit needs Python 3.7 or later, and compiles on CPython 3.7 to 3.13; this is Python %d.%d"
             % sys.version_info[:2])

from concurrent.futures import ThreadPoolExecutor

from setuptools import Distribution, Extension, setup
from setuptools.command.build import build
from setuptools.command.build_ext import build_ext
from setuptools.errors import CompileError, ExecError, LinkError, PlatformError

FAMILIES = {(3, 7): "37_38", (3, 8): "37_38", (3, 9): "39_310", (3, 10): "39_310",
            (3, 11): "311", (3, 12): "312", (3, 13): "313_314"}
"""Suffixes of C files that are specific to versions of CPython, by version."""

COMPARE = "guards/native/lookup/compare_keys.c"
"""Part of each module that searches dicts."""

HOOKS = ("cpython/function_hooks/function_hooks.c", "cpython/function_hooks/stack_sampler.c")
"""Hooks of plain functions, besides the part that is specific to a version."""

CALLS = {"37_38": ("hook", "cpython/frame_37_38.c"), "39_310": ("hook", "cpython/frame_39_310.c"),
         "311": ("hidden", "cpython/eval_breaker/monitoring_311.c", "cpython/function_hooks/redirection_311.c",
                 "cpython/function_hooks/trampoline_events_311.c") + HOOKS,
         "312": ("hidden", "cpython/eval_breaker/monitoring_312.c",
                 "cpython/function_hooks/redirection_312_314.c") + HOOKS,
         "313_314": ("hidden", "cpython/eval_breaker/monitoring_313_314.c",
                     "cpython/function_hooks/redirection_312_314.c") + HOOKS}
"""By suffix: the folder and the C files of pijit.core._hook that are specific to these versions."""

GENERATIONS = {"37_38": "37_310", "39_310": "37_310", "311": "311", "312": "311", "313_314": "311"}
"""By suffix: the suffix of C files that differ only between CPython 3.10 and 3.11."""

SANITIZE = ["-fsanitize=address,undefined", "-fno-omit-frame-pointer", "-g", "-O1"]
"""Compiler flags under PIJIT_BUILD_SANITIZE; they detect invalid memory accesses and undefined behaviour.

See docs/extending.md.
"""

NO_COMPILER = """
pijit needs a C compiler to build its extension modules, and building them failed:

    {error}

Install one (Debian and Ubuntu: the packages build-essential and python3-dev; Fedora: gcc and python3-devel;
macOS: xcode-select --install) and run the same install command again.
"""


class Build(build):
    """build with a separate folder for instrumented files, so that up-to-date ones are not built again."""

    def initialize_options(self):
        super().initialize_options()
        if os.environ.get("PIJIT_BUILD_SANITIZE"):
            self.build_base = os.path.join(self.build_base, "sanitize")


class BuildExtensions(build_ext):
    """build_ext that reports which packages to install if there is no C compiler."""

    def run(self):
        try:
            super().run()
        except (CompileError, ExecError, LinkError, PlatformError, FileNotFoundError) as error:
            raise SystemExit(NO_COMPILER.format(error=error))

    def build_extensions(self):
        """Compile the files of a module at the same time, as many as there are processors.

        Compilers that compile all files in one call (MSVC) never call `_compile`, and stay as they are.
        """
        compile_file, compile_files, running = getattr(self.compiler, "_compile", None), self.compiler.compile, []
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            def compile_and_wait(*args, **kwargs):
                objects = compile_files(*args, **kwargs)
                while running:
                    running.pop().result()
                return objects

            self.compiler._compile = lambda *args: running.append(pool.submit(compile_file, *args))
            self.compiler.compile = compile_and_wait
            super().build_extensions()


class Binary(Distribution):
    """Tags wheels for the Python that builds them: another Python could not load their extension modules."""

    def has_ext_modules(self):
        return True


def native(*names):
    """Paths of C files of the compiler."""
    return [os.path.join("core", "native", *name.split("/")) for name in names]


def folder(name):
    """Paths of all C files of a folder of the compiler."""
    return sorted(glob.glob(os.path.join("core", "native", name, "**", "*.c"), recursive=True))


def extensions():
    """The extension modules for the running CPython; none on other versions, or if there is no GIL."""
    family = FAMILIES.get(sys.version_info[:2])
    if family is None or sys.implementation.name != "cpython" or sysconfig.get_config_var("Py_GIL_DISABLED"):
        return []
    import numpy

    flags = ["-std=c99", "-O2", "-fvisibility=hidden", "-Wall", "-Wextra", "-Wno-unused-parameter",
             "-Wno-missing-field-initializers", "-Wno-cast-function-type"]
    # CPython lets integers wrap around, and from 3.12 on pointers as well. With these flags only integers do.
    flags += ["-fstrict-overflow", "-fwrapv"]
    if sys.platform == "linux":
        flags.append("-fno-plt")  # saves one jump per call of CPython
        # Alignment of functions and jump targets changes the cost of a call by up to a quarter.
        flags += ["-falign-functions=64", "-falign-jumps=32", "-falign-loops=32"]
    if os.environ.get("PIJIT_BUILD_DEBUG"):
        flags += ["-O0", "-g", "-UNDEBUG"]
    sanitizers = SANITIZE if os.environ.get("PIJIT_BUILD_SANITIZE") else []
    flags += sanitizers
    headers = sorted(glob.glob("core/native/**/*.h", recursive=True) + glob.glob("core/native/**/*.inc", recursive=True)
                     + glob.glob("guards/native/**/*.h", recursive=True)
                     + glob.glob("guards/native/**/*.inc", recursive=True))
    numpy_headers = [numpy.get_include()]
    modules = [
        Extension("pijit.core._hook",
                  folder("function") + folder(CALLS[family][0]) + native(*CALLS[family][1:]),
                  depends=headers, include_dirs=["core/native", "guards/native"],
                  extra_compile_args=flags + ["-pthread"], extra_link_args=["-pthread"] + sanitizers),
        Extension("pijit.core._launcher",
                  folder("launcher") + folder("runtime") + native("cpython/eval_breaker/eval_breaker_%s.c" % family,
                                                                  "cpython/generators_%s.c" % GENERATIONS[family],
                                                                  "cpython/int_keys_%s.c" % GENERATIONS[family])
                  + [COMPARE],
                  depends=headers,
                  include_dirs=["core/native", "guards/native"] + numpy_headers,
                  extra_compile_args=flags + ["-pthread"], extra_link_args=["-pthread"] + sanitizers),
        Extension("pijit.core._signals", folder("signals"), depends=headers,
                  include_dirs=["core/native", "guards/native"], extra_compile_args=flags + ["-pthread"],
                  extra_link_args=["-pthread"] + sanitizers),
        Extension("pijit.core._tape", folder("tape"), depends=headers,
                  include_dirs=["core/native", "guards/native"] + numpy_headers, extra_compile_args=flags,
                  extra_link_args=sanitizers),
        Extension("pijit.core._ufuncs", folder("ufuncs"), depends=headers,
                  include_dirs=["core/native", "guards/native"] + numpy_headers, extra_compile_args=flags,
                  extra_link_args=sanitizers),
        Extension("pijit.guards._evaluate",
                  sorted(glob.glob("guards/native/**/*.c", recursive=True)),
                  depends=headers,
                  include_dirs=["guards/native"] + numpy_headers, extra_compile_args=flags,
                  extra_link_args=sanitizers),
    ]
    only = os.environ.get("PIJIT_ONLY")
    return [module for module in modules if only in (None, module.name)]


setup(ext_modules=extensions(), cmdclass={"build": Build, "build_ext": BuildExtensions}, distclass=Binary)
