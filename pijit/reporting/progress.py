"""Progress line on a terminal during long compilations; requires tqdm.

`pijit.cli.commands` starts it. It must print nothing if the output is no terminal.
"""

from __future__ import annotations

import contextlib
import importlib.util
import threading
import time
from typing import Any, Iterator

from pijit.names import count_of

PATIENCE = 1.0
"""Seconds of compilation before the line is shown."""
PAUSE = 0.5
"""Seconds without compilation after which the count of `PATIENCE` restarts."""
TICK = 0.2


class Progress:
    """Shows the kernel that is being compiled, once compilation takes long; the line is removed afterwards.

    Args:
        stream: a terminal.
    """

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self._began = self._ended = float("-inf")
        self._done = 0

    @contextlib.contextmanager
    def __call__(self, name: str) -> Iterator[None]:
        """Callback for `set_watch`: the kernel of this name is compiled inside the context."""
        now = time.time()
        if now - self._ended > PAUSE:
            self._began, self._done = now, 0
        over = threading.Event()
        ticker = threading.Thread(target=self._show, args=(name, over), name="pijit progress", daemon=True)
        ticker.start()
        try:
            yield
        finally:
            over.set()
            ticker.join()
            self._ended = time.time()
            self._done += 1

    def _show(self, name: str, over: threading.Event) -> None:
        if over.wait(max(self._began + PATIENCE - time.time(), 0.0)):
            return
        from tqdm import tqdm

        def text() -> str:
            elapsed = tqdm.format_interval(time.time() - self._began)
            return "pijit: compiling {}: {} done, {}".format(name, count_of(self._done, "kernel"), elapsed)

        with tqdm(desc=text(), bar_format="{desc}", file=self._stream, leave=False, dynamic_ncols=True) as line:
            while not over.wait(TICK):
                line.set_description_str(text())


@contextlib.contextmanager
def shown_progress(stream: Any) -> Iterator[None]:
    """Show compilations inside the context on a stream; nothing if it is no terminal, or without tqdm."""
    if stream is None or not stream.isatty() or importlib.util.find_spec("tqdm") is None:
        yield
        return
    from pijit.core.kernel.compile import set_watch

    previous = set_watch(Progress(stream))
    try:
        yield
    finally:
        set_watch(previous)
