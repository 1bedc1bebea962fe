"""LoopTiming: launchers that are measured against bytecode while the loop that they are in runs."""

import gc
import sys
import weakref

import pytest

from pijit.core._launcher import MISS, Launcher, LoopTiming

ENOUGH = 6000


def spin(rounds):
    for _ in range(rounds):
        pass


class Loop:
    """A loop with one launcher; kernel and bytecode spin so many rounds."""

    def __init__(self, kernel, plain, limit=0):
        self.plain, self.verdicts, self.declined = plain, [], []
        self.timing = LoopTiming(lambda *verdict: self.verdicts.append(verdict), limit)

        def run(number):
            spin(kernel)
            return 0, number

        self.launcher = Launcher(None, {}, {}, (("int",),), 3, 3, run, ((("int", 2),),), 1, "spinning")
        self.launcher.timing, self.launcher.clock = self.timing, True

    def run(self, calls=ENOUGH):
        for number in range(calls):
            declined = self.launcher.callable(number)[0] == MISS
            self.declined.append(declined)
            if declined:
                spin(self.plain)


def test_kernels_that_win_are_kept():
    loop = Loop(20, 400)
    loop.run()
    assert loop.timing.state == "kept" and loop.launcher.timing is None and loop.launcher.enabled
    [(lost, kernels, plain)] = loop.verdicts
    assert not lost and plain > kernels > 0
    assert 0 < sum(loop.declined) < ENOUGH // 4 and not any(loop.declined[-100:])


def test_kernels_that_lose_answer_no_more():
    loop = Loop(400, 20)
    loop.run(12000)
    assert loop.timing.state == "lost" and loop.launcher.timing is None and not loop.launcher.enabled
    [(lost, kernels, plain)] = loop.verdicts
    assert lost and kernels > plain > 0 and all(loop.declined[-100:])
    assert not any(loop.declined[:1000])


def test_what_takes_long_is_not_tried_in_bytecode():
    loop = Loop(20, 400, limit=1)
    loop.run()
    [(lost, _, plain)] = loop.verdicts
    assert not lost and plain == -1 and not any(loop.declined)


@pytest.mark.skipif(sys.version_info >= (3, 11), reason="there a run of linked code counts; see test_running_records.py")
def test_short_loops_are_left_alone():
    loop = Loop(20, 5)
    for _ in range(3000):
        loop.run(2)
        list(map(loop.launcher.callable, [1]))  # a frame of another call
    assert loop.timing.state in ("kept", "measuring") and loop.declined.count(True) == 0


def test_launchers_that_are_no_clock_follow():
    loop = Loop(400, 20)
    other = Loop(1, 1).launcher
    other.timing, other.clock = loop.timing, False
    loop.run(12000)
    assert loop.timing.state == "lost" and other.callable(1)[0] == MISS and not other.enabled and other.timing is None


def test_verdicts_that_fail_do_no_harm(monkeypatch):
    monkeypatch.setattr(sys, "unraisablehook", lambda told: None, raising=False)
    timing = LoopTiming(lambda *verdict: 1 / 0, 0)
    loop = Loop(20, 400)
    loop.launcher.timing = timing
    loop.run()
    assert timing.state == "kept" and loop.launcher.enabled


@pytest.mark.parametrize("arguments, text", [((3, 0), "on_result must be callable, not int"), ((len, "x"), None)])
def test_refuses_arguments(arguments, text):
    with pytest.raises(TypeError, match=text):
        LoopTiming(*arguments)


def test_refuses_other_timings():
    launcher = Loop(1, 1).launcher
    with pytest.raises(TypeError, match="timing must be a LoopTiming or None"):
        launcher.timing = 3
    launcher.timing = None
    assert launcher.timing is None


def test_nothing_is_kept():
    class Owner:
        pass

    owner = Owner()
    gone = weakref.ref(owner)
    loop = Loop(1, 1)
    timing = LoopTiming(lambda *verdict, owner=owner: None, 0)
    loop.launcher.timing = timing
    owner.timing = timing
    del owner, timing, loop
    gc.collect()
    assert gone() is None
