"""`%load_ext pijit` and `%%pijit`: jits the functions of a notebook cell, as `python -m pijit` does for files.

IPython is not imported at module level: the caller that loads the extension passes its shell.
"""

from __future__ import annotations

import argparse
import ast
import shlex
from typing import Any, List, NoReturn, Type

MAGIC = "pijit"


class _Parser(argparse.ArgumentParser):
    """A parser that raises instead of ending the process."""

    def error(self, message: str) -> NoReturn:
        """Raise ValueError with the error and the usage."""
        raise ValueError("%%{}: {}\n{}".format(MAGIC, message, self.format_usage().rstrip()))


def _parser() -> argparse.ArgumentParser:
    from pijit.cli.commands import BACKEND, CHECK

    parser = _Parser(prog="%%" + MAGIC, add_help=False)
    parser.add_argument("--report", action="store_true",
                        help="report on functions that were called, and on loops outside functions")
    for names, keywords in (CHECK, BACKEND):
        parser.add_argument(*names, **keywords)
    return parser


class CellRunner:
    """The magic `%%pijit` of one shell.

    Args:
        shell: the InteractiveShell; its `compile`, `transform_cell`, `execution_count` and `user_ns` are used.
        display: shows an object in the cell's output.
        wrong: the exception for an unknown option; IPython shows its own without a traceback.
    """

    def __init__(self, shell: Any, display: Any, wrong: Type[Exception] = ValueError) -> None:
        self._wrong = wrong
        self._shell = shell
        self._display = display

    def __call__(self, line: str, cell: str) -> Any:
        """Run a cell and jit the functions that it defines.

        Args:
            line: options: `--report`, `--check`, `--backend numba|python`.
            cell: the cell's source.

        Returns:
            The value of the cell's last line, if it is an expression that no semicolon follows.

        Raises:
            ValueError: an option is not known; the class is `wrong`, if one was given.
        """
        from pijit.cli.program import Program

        try:
            known = _parser().parse_args(shlex.split(line))
        except ValueError as error:
            raise self._wrong(str(error)) from None
        program = Program("", {"backend": known.backend, "check": known.check})
        program.serve()
        result = self._run(cell, program)
        if known.report:
            for report in program.reports():
                self._display(report)
        return result

    def _run(self, cell: str, program: Any) -> Any:
        shell = self._shell
        source = shell.transform_cell(cell)
        name = shell.compile.cache(source, shell.execution_count)  # tracebacks and reports find the source by it
        tree = shell.compile.ast_parse(source, name)
        last: List[Any] = []
        if tree.body and isinstance(tree.body[-1], ast.Expr) and not source.rstrip().endswith(";"):
            last = [tree.body.pop()]
        program.prepare(tree.body, name)
        exec(compile(tree, name, "exec", shell.compile.flags, True), shell.user_ns)
        if not last:
            return None
        return eval(compile(ast.Expression(last[0].value), name, "eval", shell.compile.flags, True), shell.user_ns)


def load_ipython_extension(ipython: Any) -> None:
    """Called by `%load_ext pijit`: registers `%%pijit`.

    Args:
        ipython: the shell.

    Example:
        >>> %load_ext pijit                                                     # doctest: +SKIP
    """
    from IPython.core.error import UsageError
    from IPython.display import display

    ipython.register_magic_function(CellRunner(ipython, display, UsageError), "cell", MAGIC)


def unload_ipython_extension(ipython: Any) -> None:
    """Called by `%unload_ext pijit`: removes `%%pijit`; functions that cells have jitted stay jitted.

    Args:
        ipython: the shell.

    Example:
        >>> %unload_ext pijit                                                   # doctest: +SKIP
    """
    ipython.magics_manager.magics["cell"].pop(MAGIC, None)
