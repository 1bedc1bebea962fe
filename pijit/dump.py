"""`pijit.dump`: writes the texts of `print_after_all` to files.

`pijit` exports it. It writes no file outside of the given folder.
"""

from __future__ import annotations

import linecache
import os
import re
from typing import Any, Callable, Dict, Iterator, List, Tuple, Union

from pijit.explain import explain
from pijit.reporting.printing import PARTS
from pijit.reporting.report import Report

SOURCE = "source"


def dump(f: Callable[..., Any], folder: Union[str, "os.PathLike[str]"], *args: Any, **kwargs: Any) -> List[str]:
    """Write the output of `print_after_all` to files: a folder per function and entry, a file per part.

    `folder/NAME/entry_0` has `explain.txt`, `bytecode.txt`, `blocks.txt`, `graph.txt` and so on, and the source of
    each kernel as a Python file. Tracebacks and debuggers show this source for Python kernels (`backend="python"`).
    Functions that `f` calls and that are compiled separately get folders beside it. Existing files are overwritten.

    Args:
        f: a function, jitted or not, or the result of `grad`.
        folder: the target folder; created if it does not exist.
        args, kwargs: with arguments, write the capture of a call with them, without making the call, as `explain`
            does. Without arguments, write every entry that calls have made. `passes.txt`, the graphs before and after
            each pass, is written with arguments and under `print_after_all`. A gradient needs arguments, and makes
            the call once, as `explain` does: `folder/gradient_NAME` has the joint function, `joint.py`, and for each
            of its kernels the graph, the passes, the plan and the source.

    Returns:
        The paths of the files.

    Raises:
        TypeError: `f` is not a Python function or a jitted one, or `folder` is not a path; or `f` is a gradient, and
            there are no arguments.
        OSError: a file cannot be written.

    Example:
        >>> dump(f, "dumps", x)             # doctest: +SKIP
        ['dumps/f/entry_0/explain.txt', ...]
    """
    try:
        target = os.fspath(folder)
    except TypeError:
        raise TypeError("dump: folder must be a str or an os.PathLike, not {!r}".format(folder)) from None
    if hasattr(type(f), "gradient_files"):
        return list(_write_gradient(target, f, args, kwargs))
    return list(_write(target, explain(f, *args, **kwargs)))


def _write_gradient(folder: str, f: Any, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Iterator[str]:
    if not args and not kwargs:
        raise TypeError("dump: a gradient is dumped for one call; pass its arguments as well")
    name = re.sub(r"[^\w.]+", "_", getattr(f, "__qualname__", "function"))
    return _write_files(os.path.join(folder, "gradient_" + name), f.gradient_files(*args, **kwargs))


def _write(folder: str, report: Report) -> Iterator[str]:
    for one in (report,) + report.callees:
        home = os.path.join(folder, re.sub(r"[^\w.]+", "_", one.name))
        for number, record in enumerate(one.records):
            files = dict(_files(record))
            if record is one.records[-1]:
                files["explain.txt"] = str(one) + "\n"
            yield from _write_files(os.path.join(home, "entry_{}".format(number)), files)
        if not one.records:
            yield from _write_files(home, {"explain.txt": str(one) + "\n"})


def _files(record: Any) -> Iterator[Tuple[str, str]]:
    """The files of one entry and their texts; a part without text gets no file."""
    for part in PARTS:
        text = getattr(record, part.attribute).rstrip("\n")
        if text and part.attribute != SOURCE:
            yield part.attribute + ".txt", text + "\n"
    for kernel in record.kernels:
        yield "kernel_{}.py".format(re.sub(r"\W+", "_", kernel.name)), kernel.source


def _write_files(folder: str, files: Dict[str, str]) -> Iterator[str]:
    os.makedirs(folder, exist_ok=True)
    for name, text in files.items():
        path = os.path.join(folder, name)
        with open(path, "w", encoding="utf-8") as stream:
            stream.write(text)
        linecache.checkcache(path)
        yield path
