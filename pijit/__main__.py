"""The command line: `python -m pijit script.py` runs a program with its functions jitted; it also has subcommands."""

from __future__ import annotations

import sys
from typing import List, Optional

from pijit._version import __version__
from pijit.cli import commands

SUBCOMMANDS = commands.SUBCOMMANDS


def usage() -> str:
    """The text that `python -m pijit --help` prints."""
    width = max(map(len, SUBCOMMANDS))
    lines = ["usage: python -m pijit [OPTIONS] SCRIPT [ARGUMENTS ...]",
             "       python -m pijit [OPTIONS] -m MODULE [ARGUMENTS ...]",
             "       python -m pijit COMMAND ...", "       python -m pijit --version", "",
             "Runs a Python program with each function of its own modules jitted. Its files stay as they are.",
             "Options stand before SCRIPT; what follows SCRIPT is for the program.", "",
             "  -m MODULE       run a module, as python -m does; installed modules are not jitted",
             "  --profile       print at the end where the time of the functions went",
             "  --report FILE   write a page on what was compiled",
             "  --eager         compile each function at its first call, not when it has earned it",
             "  --check         compare each call with a plain one, and raise if anything differs",
             "  --backend NAME  numba (machine code) or python", "", "commands:"]
    lines += ["  {:{}}  {}".format(name, width, command.text) for name, command in SUBCOMMANDS.items()]
    return "\n".join(lines) + "\n"


def main(arguments: Optional[List[str]] = None) -> int:
    """Run a program or a subcommand; returns the exit status."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if not given or given[0] in ("-h", "--help"):
        (sys.stdout if given else sys.stderr).write(usage())
        return 0 if given else 2
    if given[0] == "--version":
        sys.stdout.write("pijit {}\n".format(__version__))
        return 0
    if given[0] in SUBCOMMANDS:
        return commands.run_subcommand(given[0], given[1:])
    return commands.run_program(given)


if __name__ == "__main__":
    sys.exit(main())
