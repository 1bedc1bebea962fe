"""Jits the Python functions of given files, and counts entries and kernels.

That is when their code first runs, or, where there is no frame hook, once all are imported.
"""

from __future__ import annotations

import gc
import logging
from types import CodeType
from typing import Any, Dict, List, Sequence

from decorating import Decorating, attached, imported

from pijit.core import _hook, function_state
from pijit.options import Options


class Jitting(logging.Handler):
    """The captures of the functions of some files and folders, without those of files whose path has ``but`` in it.

    ``faults`` are the internal errors so far.
    """

    def __init__(self, places: Sequence[str], config: Dict[str, Any], but: str = "") -> None:
        super().__init__(logging.ERROR)
        self.but = but
        self.places = tuple(places)
        self.options = Options(config)
        self.states: List[function_state.State] = []
        self.faults: List[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """An internal error was logged."""
        self.faults.append(record.getMessage())

    def start(self) -> None:
        """Jit what runs from now on."""
        logging.getLogger("pijit").addHandler(self)
        _hook.set_error_handler(lambda code, error: self.faults.append("%s: %r" % (code.co_name, error)))
        gc.freeze()  # collections leave out all that was imported
        if hasattr(_hook, "set_code_filter"):
            _hook.set_code_filter(self._attach)
            _hook.hold()
        else:
            self._replace()

    def _chosen(self, path: str) -> bool:
        return path.startswith(self.places) and not (self.but and self.but in path)

    def _attach(self, code: CodeType) -> None:
        if self._chosen(code.co_filename):
            self._keep(attached(code, self.options))

    def _replace(self) -> None:
        decorating = Decorating(self.options)
        for module in imported(self._chosen):
            decorating.replace(module)
        for state in decorating.states:
            self._keep(state)

    def _keep(self, state: function_state.State) -> None:
        state.cache.warned = True  # that a function has met many types is no business of the tests
        self.states.append(state)

    def counts(self) -> Dict[str, int]:
        """How many functions were met, captures made and kept, kernels in these, and calls of kernels."""
        entries = [entry for state in self.states for entry in state.entries]
        found = [launcher for entry in entries for launcher in list(entry.launchers) + list(entry.reentries)]
        launchers = {id(launcher): launcher for launcher in found if launcher is not None}.values()
        return {
            "functions": len(self.states),
            "entries": len(entries),
            "kernels": len(launchers),
            "calls": sum(launcher.calls for launcher in launchers),
            "hits": _hook.stats()["hits"],
        }
