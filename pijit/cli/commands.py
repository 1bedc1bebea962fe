"""The subcommands of `python -m pijit`: a table of names, and the function that runs each of them."""

from __future__ import annotations

import argparse
import os
import sys
import time
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

from pijit import logs, options
from pijit.cli.kernel_files import look_after_cache, write_archive
from pijit.core import reasons
from pijit.core.named_tuples import NamedTuple
from pijit.core.pythons import why_not_python


class Subcommand(NamedTuple):
    """A subcommand: its line of help, its function, and whether it runs on unsupported Python versions too.

    `run` takes the arguments and returns the exit status.
    """

    text: str
    run: Callable[[List[str]], int]
    anywhere: bool = False


def _parsed(name: str, arguments: Sequence[str], *rows: Any) -> argparse.Namespace:
    """The parsed arguments of a subcommand; each row holds names and keywords for `add_argument`."""
    parser = argparse.ArgumentParser(prog=("python -m pijit " + name).strip())
    for names, keywords in rows:
        parser.add_argument(*names, **keywords)
    return parser.parse_args(arguments)


SCRIPT = (
    (("-m",), {"action": "store_true", "dest": "is_module", "help": "run a module, as python -m does"}),
    (("script",), {"help": "the Python file; after -m the name of a module"}),
    (("arguments",), {"nargs": argparse.REMAINDER, "help": "what the program gets"}),
)
BACKEND = (("--backend",), {"choices": ("numba", "python"), "default": "numba", "help": "what runs kernels"})
CHECK = (("--check",), {"action": "store_true", "help": "compare each call with a plain one"})
INTERPRET = (("--interpret",), {"default": "", "metavar": "KERNELS", "help": "kernels to run as bytecode, by name"})
KERNELS = (("--kernels",), {"metavar": "FILE", "help": argparse.SUPPRESS})
EAGER = (("--eager",), {"action": "store_true", "help": "compile each function at its first call"})
TO = (("--to",), {"metavar": "FILE", "help": "the archive of kernels to write; before the script or at the very end"})
PROFILE = (("--profile",), {"action": "store_true", "help": "print where the time of the functions went"})
REPORT = (("--report",), {"metavar": "FILE", "help": "write a page on what was compiled"})


def run_program(arguments: List[str]) -> int:
    """`python -m pijit script.py`: run it. `--report` writes a page, `--profile` prints the times of functions."""
    known = _parsed("", arguments, REPORT, PROFILE, CHECK, EAGER, BACKEND, INTERPRET, KERNELS, *SCRIPT)
    return _run_profiled(known) if known.profile else _run(known, _write_files)


def _run_profiled(known: argparse.Namespace) -> int:
    from pijit.reporting.profile import Profile

    profile = Profile()

    def write(program: Any, known: argparse.Namespace) -> None:
        profile.stop()
        _write_files(program, known)
        sys.stdout.write("\n{}\n".format(profile))

    with profile:
        return _run(known, write)


def explain_program(arguments: List[str]) -> int:
    """`python -m pijit explain script.py`: run it, then print the report on each function that was called."""
    return _run(_parsed("explain", arguments, CHECK, BACKEND, *SCRIPT), _print_reports)


def compile_program(arguments: List[str]) -> int:
    """`python -m pijit compile script.py --to cache.tar`: run it, and pack the kernels that it used."""
    known = _parsed("compile", arguments, TO, *SCRIPT)
    if known.to is None:
        known.to, known.arguments = _last_option("--to", known.arguments)
    if not known.to:
        sys.stderr.write("python -m pijit compile: --to FILE is missing; it names the archive to write\n")
        return 2
    path = os.path.abspath(known.to)  # the program may change the working directory
    written = []

    def write(program: Any, known: argparse.Namespace) -> None:
        written.append(write_archive(path, None))

    return _run(known, write) or max(written, default=0)


def _last_option(name: str, arguments: List[str]) -> Tuple[Optional[str], List[str]]:
    """The value of an option that ends a program's arguments, or None, and the arguments before the option."""
    if len(arguments) > 1 and arguments[-2] == name:
        return arguments[-1], arguments[:-2]
    if arguments and arguments[-1].startswith(name + "="):
        return arguments[-1][len(name) + 1:], arguments[:-1]
    return None, arguments


def _budget() -> Any:
    """The compile time that a program may spend; None if nothing is compiled."""
    if why_not_python() is not None:
        return None
    from pijit.core.warm_up import Budget  # needs an extension module

    return Budget(startup=time.process_time())


def _run(known: argparse.Namespace, afterwards: Callable[[Any, argparse.Namespace], None]) -> int:
    """Run a program and report on it afterwards, even if it raises; returns the program's exit status."""
    from pijit.cli.program import Program
    from pijit.reporting.progress import shown_progress

    names = [name for name in getattr(known, "interpret", "").split(",") if name]
    config = {"backend": getattr(known, "backend", "numba"), "check": getattr(known, "check", False),
              "interpret": names}
    # Subcommands report on everything that can be compiled, and bisection must compile the same code in each run.
    eager = getattr(known, "eager", True) or known.kernels or names
    program = Program(known.script, config, None if eager else _budget(), known.is_module)
    if not known.is_module and not os.path.isfile(known.script):
        sys.stderr.write("python -m pijit: there is no file {!r}, and no command of that name; see --help\n".format(
            known.script))
        return 2
    try:
        with shown_progress(sys.stderr):
            program.run(known.arguments)
    except SystemExit:
        afterwards(program, known)
        raise
    except BaseException as error:
        _show(error)
        afterwards(program, known)
        return 130 if isinstance(error, KeyboardInterrupt) else 1
    afterwards(program, known)
    return 0


def _show(error: BaseException) -> None:
    """Report an error through `sys.excepthook`, as Python does, without the frames of pijit that ran the program."""
    entry = error.__traceback__
    package = os.path.dirname(os.path.dirname(__file__))
    here = [os.path.join(package, *path) for path in (
        ("cli", "commands.py"), ("cli", "program.py"), ("reporting", "progress.py"))]
    while entry is not None and entry.tb_frame.f_code.co_filename in here:
        entry = entry.tb_next
    sys.stdout.flush()
    sys.excepthook(type(error), error.with_traceback(entry), entry)


def _write_files(program: Any, known: argparse.Namespace) -> None:
    if known.report:
        from pijit.reporting.html_page import write_page

        write_page(known.report, program.reports(), os.path.basename(known.script))
    if known.kernels:
        import json

        from pijit.cli.bisection import kernels_of

        with open(known.kernels, "w", encoding="utf-8") as stream:
            json.dump(kernels_of(program.reports()), stream)


def _print_reports(program: Any, known: argparse.Namespace) -> None:
    reports = program.reports()
    for report in reports:
        sys.stdout.write("{}\n\n".format(report))
    if not reports:
        sys.stdout.write("no function of the program's own modules was called\n")


def _page(text: str, page: Callable[[], str]) -> Subcommand:
    def write(arguments: List[str]) -> int:
        _parsed("", arguments)
        sys.stdout.write(page())
        return 0

    return Subcommand(text, write, anywhere=True)


def examine(arguments: List[str]) -> int:
    """`python -m pijit doctor`: whether pijit works here."""
    from pijit.cli.doctor import findings

    _parsed("doctor", arguments)
    found = findings()
    width = max(len(one.name) for one in found)
    for one in found:
        sys.stdout.write("{}  {:{}}  {}\n".format("ok " if one.well else "BAD", one.name, width, one.text))
    return 0 if all(one.well for one in found) else 1


def find_wrong_kernel(arguments: List[str]) -> int:
    """`python -m pijit bisect script.py`: find the kernel whose result differs from Python's."""
    from pijit.cli.bisection import bisect

    known = _parsed("bisect", arguments, BACKEND, *SCRIPT)
    program = ["-m"] * known.is_module + [known.script, *known.arguments]
    return bisect(program, known.backend, sys.stdout.write)


def derivatives_page() -> str:
    """The page of differentiable functions; only this page imports their table."""
    from pijit.core.graph.derivatives.page import page

    return page()


def models_page() -> str:
    """The page of functions and methods that kernels know; only this page imports the models."""
    from pijit.core.capture.models.page import page

    return page()


SUBCOMMANDS: Dict[str, Subcommand] = {
    "explain": Subcommand("run a program and print what was compiled of the functions that were called",
                          explain_program),
    "bisect": Subcommand("find the kernel because of which a program gives another answer", find_wrong_kernel),
    "doctor": Subcommand("say whether pijit works here: versions, compiler, cache folder, frame hook", examine,
                         anywhere=True),
    "cache": Subcommand("the kernels on disk: where and how many; remove, export or import them", look_after_cache),
    "compile": Subcommand("run a program and write the kernels that it used to a file, for other machines",
                          compile_program),
    "logs": _page("print the words that PIJIT_LOGS and pijit.set_logs accept", logs.help_text),
    "options": _page("print the jit_config keys, as Markdown", options.page),
    "derivatives": _page("print the functions whose derivative is known, as Markdown", derivatives_page),
    "models": _page("print the functions and methods that kernels know, as Markdown", models_page),
    "reasons": _page("print every reason for which something is not compiled, as Markdown", reasons.page),
}
"""The subcommands of `python -m pijit NAME`."""


def run_subcommand(name: str, arguments: List[str]) -> int:
    """`python -m pijit NAME`; the exit status is 1 if the subcommand needs a supported Python and this is none."""
    command, refusal = SUBCOMMANDS[name], why_not_python()
    if refusal is not None and not command.anywhere and not set(arguments) & {"-h", "--help"}:
        sys.stderr.write("python -m pijit {}: {}\n".format(name, refusal))
        return 1
    return command.run(arguments)
