"""Runs generated programs for a while: ``python -m tests.fuzz --seconds 3600 --backend numba --seed 7``."""

from __future__ import annotations

import argparse
import faulthandler
import gc
import os
import sys
import tempfile
from typing import Any, Dict, List, Optional

from pijit.core import errors
from tests import conftest  # noqa: F401 - it puts the installed pijit before the source tree
from tests.fuzz.campaign import Campaign
from tests.fuzz.expressions import GROUPS

BATCH = 300  # programs for one seed


def parser() -> argparse.ArgumentParser:
    """The command line."""
    parsed = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parsed.add_argument("--seconds", type=float, default=60.0, help="how long to run (60)")
    parsed.add_argument("--backend", choices=("python", "numba"), default="python",
                        help="what runs segments (python)")
    parsed.add_argument("--force-breaks", choices=("every",), default=None, help="break wherever that is possible")
    parsed.add_argument("--groups", nargs="+", choices=GROUPS, default=(), metavar="GROUP",
                        help="groups of templates that each program has, besides those that it draws: "
                        + ", ".join(GROUPS))
    parsed.add_argument("--seed", type=int, default=1, help="of the first batch of {} programs; the others "
                        "follow (1)".format(BATCH))
    parsed.add_argument("--save", default=os.path.join(tempfile.gettempdir(), "pijit-fuzz"),
                        help="folder for failing programs; running.py there is the program that runs (%(default)s)")
    return parsed


def main(arguments: Optional[List[str]] = None) -> int:
    """Run; the exit code is 1 if a program differed."""
    options = parser().parse_args(arguments)
    config: Dict[str, Any] = {"backend": options.backend}
    if options.force_breaks:
        config["force_breaks"] = options.force_breaks
    os.makedirs(options.save, exist_ok=True)
    faulthandler.enable(sys.__stderr__)
    errors.set_strict(True)
    gc.freeze()  # the collector does not go through all that was imported, again and again
    gc.set_threshold(5000)
    running = os.path.join(options.save, "running.py")
    campaign = Campaign(config, options.seconds, before=lambda text: _write(running, text),
                        groups=options.groups)
    found = _batches(campaign, options.seed, options.save)
    os.remove(running)
    return 1 if found else 0


def _batches(campaign: Campaign, first: int, folder: str) -> int:
    """Run batches until the time is up, and tell; returns how many found a difference."""
    found, number = 0, first
    while not campaign.over:
        failure = campaign.batch(number, BATCH)
        if failure is not None:
            found += 1
            path = os.path.join(folder, "seed_{}.py".format(number))
            _write(path, failure.source)
            _tell("{}\nsaved as {}".format(failure, path))
        _tell("seed {}: {}, {} differences".format(number, campaign.counts, found))
        number += 1
    return found


def _write(path: str, text: str) -> None:
    with open(path, "w") as file:
        file.write(text)


def _tell(text: str) -> None:
    sys.stderr.write(text + "\n")
    sys.stderr.flush()


if __name__ == "__main__":
    sys.exit(main())
