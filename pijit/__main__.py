"""`python -m pijit options` and `python -m pijit reasons`: print the generated pages of the documentation."""

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
    parser = argparse.ArgumentParser(prog="python -m pijit",
                                     description="Print the generated pages of the documentation.")
    commands = parser.add_subparsers(dest="command", metavar="command")
    commands.required = True
    for name, (_, text) in PAGES.items():
        commands.add_parser(name, help=text)
    page, _ = PAGES[parser.parse_args(arguments).command]
    sys.stdout.write(page())
    return 0


if __name__ == "__main__":
    sys.exit(main())
