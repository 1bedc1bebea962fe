"""`python -m pijit options` and `reasons` print generated pages of the documentation; `cache` shows or clears what is on
disk."""

from __future__ import annotations

import argparse
import sys
from typing import List, Optional

from pijit import options
from pijit.core import reasons

PAGES = {
    "options": (options.page, "the jit_config keys, as Markdown"),
    "reasons": (reasons.page, "every reason for which something is not compiled, as Markdown"),
}


def main(arguments: Optional[List[str]] = None) -> int:
    """Run a subcommand; returns the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m pijit", description="Print a generated page of the documentation, or look after the cache.")
    commands = parser.add_subparsers(dest="command", metavar="command")
    commands.required = True
    for name, (_, text) in PAGES.items():
        commands.add_parser(name, help=text)
    cache = commands.add_parser("cache", help="the kernels on disk: where and how many, or remove them")
    cache.add_argument("action", nargs="?", choices=("info", "clear"), default="info")
    known = parser.parse_args(arguments)
    if known.command == "cache":
        return _cache(known.action)
    sys.stdout.write(PAGES[known.command][0]())
    return 0


def _cache(action: str) -> int:
    """Look at the cache folder, or clear it."""
    from pijit.core.kernel.store import SIZE_CAP, Distrust, Store

    store = Store()
    if action == "clear":
        try:
            sys.stdout.write("removed {} kernels from {}\n".format(store.clear(), store.path))
        except (OSError, Distrust) as error:
            sys.stderr.write("nothing was removed from {}: {}\n".format(store.path, error))
            return 1
        return 0
    found = store.contents()
    sys.stdout.write("folder: {}\nkernels: {}\nsize: {:.1f} of at most {:.0f} MiB\n".format(
        found.path, found.kernels, found.size / 2.0 ** 20, SIZE_CAP / 2.0 ** 20))
    if found.problem:
        sys.stdout.write("not used: {}\n".format(found.problem))
    return 0


if __name__ == "__main__":
    sys.exit(main())
