"""What the tests of effects share."""

import copy

from tests.harness import mode_config

CUT = bool(mode_config().get("force_breaks"))


def launches(j, *args):
    """How many kernels one call of a warm function runs; the fewest of some, as other threads may poll a loop.

    Each call gets copies of containers, which it may lengthen.
    """
    for _ in range(5):
        j(*map(copy.copy, args))
    launchers = [launcher for entry in j.state.entries for launcher in entry.launchers]
    counts = [_served(launchers)]
    for _ in range(3):
        j(*map(copy.copy, args))
        counts.append(_served(launchers))
    return min(after - before for before, after in zip(counts, counts[1:]))


def _served(launchers):
    return sum(launcher.calls - launcher.misses for launcher in launchers)
