"""`python -m pijit bisect`: finds a kernel with wrong results by running a program with fewer and fewer kernels.

`pijit.cli.commands` runs it. It must import nothing of the program: each run is a process of its own.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from typing import Any, Callable, Dict, List, Sequence, Tuple

from pijit.core.named_tuples import NamedTuple
from pijit.names import count_of

Write = Callable[[str], Any]


class ProgramRun(NamedTuple):
    """Observed behaviour of a run: exit status, output, and the last error message on stderr."""

    status: int
    output: bytes
    error: str


class RunKernel(NamedTuple):
    """A kernel of a run: its name, its function, and its lines."""

    name: str
    function: str
    filename: str
    first: int
    last: int

    def __str__(self) -> str:
        return "{}, of {} ({}:{}-{})".format(self.name, self.function, self.filename, self.first, self.last)


def bisect(program: List[str], backend: str, write: Write) -> int:
    """Find a kernel that makes a program behave differently.

    The program runs without pijit, then with all kernels, then with more and more of them replaced by bytecode. Each
    call of a jitted function is also compared with a plain one. The program must be deterministic.

    Args:
        program: the script, or -m and a module, and the arguments.
        backend: how kernels run, "numba" or "python".
        write: takes the lines of the report.

    Returns:
        0 if there is no difference, 1 if a kernel was found, 2 if the runs are inconclusive.
    """
    plain = _plain(program)
    if _plain(program) != plain:
        write("without pijit two runs already differ: there is nothing to compare with\n")
        return 2

    def differs(interpreted: Sequence[str]) -> str:
        found, _ = _jitted(program, backend, interpreted)
        return "" if _same(found, plain) else found.error or "the output or the exit status"

    with_all, kernels = _jitted(program, backend, ())
    write("{}\n".format(count_of(len(kernels), "kernel")))
    if _same(with_all, plain):
        write("no difference: the program does the same with pijit and without\n")
        return 0
    write("with all kernels: {}\n".format(with_all.error or "another output or exit status"))
    names = sorted({kernel.name for kernel in kernels})
    if differs(names):
        write("without any kernel it differs as well: no kernel is to blame, please report this\n")
        return 2
    guilty = _narrow(names, differs, write)
    write("\nwith {} alone in machine code the program differs: {}\n".format(
        " and ".join(guilty), differs([name for name in names if name not in guilty])))
    for kernel in kernels:
        if kernel.name in guilty:
            write("  {}\n".format(kernel))
    write("please report it; until then: jit_config={{\"interpret\": {!r}}}\n".format(guilty))
    return 1


def _narrow(names: List[str], differs: Callable[[Sequence[str]], str], write: Write) -> List[str]:
    """A small group of kernels that causes the difference, found by halving and by dropping single kernels."""
    group = names
    while len(group) > 1:
        middle = len(group) // 2
        half = next((half for half in (group[:middle], group[middle:])
                     if differs([name for name in names if name not in half])), None)
        if half is None:
            break
        write("narrowed down to {}\n".format(", ".join(half)))
        group = half
    for name in list(group):
        fewer = [other for other in group if other != name]
        if fewer and differs([other for other in names if other not in fewer]):
            group = fewer
    return group


def _plain(program: List[str]) -> ProgramRun:
    return _run([sys.executable, *program], PIJIT_DISABLE="1")


def _same(one: ProgramRun, other: ProgramRun) -> bool:
    return (one.status, one.output) == (other.status, other.output)


def _jitted(program: List[str], backend: str, interpreted: Sequence[str]) -> Tuple[ProgramRun, List[RunKernel]]:
    """Run the program with all kernels except the given ones; returns the run and its kernels."""
    handle, path = tempfile.mkstemp(suffix=".json")
    os.close(handle)
    try:
        found = _run([sys.executable, "-m", "pijit", "--check", "--backend", backend, "--kernels", path,
                      "--interpret", ",".join(interpreted), *program])
        with open(path, encoding="utf-8") as stream:
            text = stream.read()
        return found, [RunKernel(*row) for row in json.loads(text or "[]")]
    finally:
        os.unlink(path)


def _run(command: List[str], **environment: str) -> ProgramRun:
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          env=dict(os.environ, **environment))
    said = done.stderr.decode("utf-8", "replace").strip().splitlines()
    marks = [number for number, line in enumerate(said) if line.startswith("pijit.")]
    failure = " ".join(line.strip() for line in said[marks[-1]:]) if marks else ""
    return ProgramRun(done.returncode, done.stdout, failure)


def kernels_of(reports: Sequence[Any]) -> List[RunKernel]:
    """The kernels of these reports, including those of callees, as rows for `bisect`."""
    found: Dict[RunKernel, None] = {}
    for report in reports:
        for one in (report,) + report.callees:
            for record in one.records:
                found.update((RunKernel(name, one.name, one.filename, first, last), None)
                             for name, first, last in record.kernel_lines)
    return list(found)
