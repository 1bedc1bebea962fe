"""What the tests of effects share."""

from tests.harness import mode_config

CUT = bool(mode_config().get("force_breaks"))


def launches(j, *args):
    """How many kernels one call of a warm function runs."""
    for _ in range(5):
        j(*args)
    launchers = [launcher for entry in j.state.entries for launcher in entry.launchers]
    before = sum(launcher.calls - launcher.misses for launcher in launchers)
    j(*args)
    return sum(launcher.calls - launcher.misses for launcher in launchers) - before
