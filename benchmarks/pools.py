"""``python -m benchmarks.pools``: how long the first call of a jitted function takes in workers of process pools.

For each engine: with an empty cache folder, where one worker compiles and the others wait for its file; with the folder
that this has filled; and, for workers that are forks of a process that has called the function. A time is the slowest
worker's, and the median of several pools.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import importlib.util
import json
import multiprocessing
import os
import statistics
import subprocess
import sys
import tempfile
import time
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

import numpy as np

from pijit import jit

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LONGER = 0.05
"""Seconds that a task takes at least, so that each worker gets some."""
TASKS_OF_WORKER = 4

Answer = Tuple[int, float, float]
"""The process of a task, the seconds of its first call of the function, and those of the call after it."""


@jit
def smooth(x: Any, steps: int) -> Any:
    """Smooth an array, and return its sum."""
    for _ in range(steps):
        x = 0.25 * x[:-2] + 0.5 * x[1:-1] + 0.25 * x[2:]
    return x.sum()


def task(number: int) -> Answer:
    """One task of a pool: two calls."""
    x, clock = np.full(100, float(number)), time.perf_counter
    start = clock()
    smooth(x, 3)
    middle = clock()
    smooth(x, 3)
    end = clock()
    time.sleep(LONGER)
    return os.getpid(), middle - start, end - middle


def _multiprocessing(method: str) -> Callable[[int], List[Answer]]:
    def run(workers: int) -> List[Answer]:
        with multiprocessing.get_context(method).Pool(workers) as pool:
            return pool.map(task, range(workers * TASKS_OF_WORKER), chunksize=1)
    return run


def _futures(method: str) -> Callable[[int], List[Answer]]:
    def run(workers: int) -> List[Answer]:
        with concurrent.futures.ProcessPoolExecutor(workers, multiprocessing.get_context(method)) as pool:
            return list(pool.map(task, range(workers * TASKS_OF_WORKER)))
    return run


def _joblib(workers: int) -> List[Answer]:
    import joblib

    return list(joblib.Parallel(workers)(joblib.delayed(task)(number) for number in range(workers * TASKS_OF_WORKER)))


def _dask(workers: int) -> List[Answer]:
    import distributed

    with distributed.LocalCluster(n_workers=workers, threads_per_worker=1, processes=True,
                                  dashboard_address=None) as cluster, distributed.Client(cluster) as client:
        return list(client.gather(client.map(task, range(workers * TASKS_OF_WORKER), pure=False)))


def _ray(workers: int) -> List[Answer]:
    import ray

    ray.init(num_cpus=workers, include_dashboard=False, log_to_driver=False)
    try:
        remote = ray.remote(task)
        return list(ray.get([remote.remote(number) for number in range(workers * TASKS_OF_WORKER)]))
    finally:
        ray.shutdown()


def _alone(workers: int) -> List[Answer]:
    return [task(number) for number in range(TASKS_OF_WORKER)]


ENGINES: Dict[str, Tuple[str, Callable[[int], List[Answer]]]] = {
    "one process": ("numpy", _alone),
    "multiprocessing, spawn": ("numpy", _multiprocessing("spawn")),
    "multiprocessing, fork": ("numpy", _multiprocessing("fork")),
    "concurrent.futures, spawn": ("numpy", _futures("spawn")),
    "concurrent.futures, fork": ("numpy", _futures("fork")),
    "joblib": ("joblib", _joblib),
    "dask": ("distributed", _dask),
    "ray": ("ray", _ray),
}
"""By the name of an engine: the module that it needs, and a function of the number of workers that runs a pool."""


def times_of(answers: Sequence[Answer]) -> Tuple[float, float]:
    """(seconds of the slowest first call of a worker, median seconds of later calls)."""
    first: Dict[int, float] = {}
    for process, seconds, _ in answers:
        first[process] = max(seconds, first.get(process, 0.0))
    return max(first.values()), statistics.median(later for _, _, later in answers)


def in_new_process(engine: str, workers: int, folder: str, called: bool = False) -> Tuple[float, float]:
    """The times of a pool that a new process makes; ``called``: this process calls the function before."""
    environment = dict(os.environ, PIJIT_CACHE_DIR=folder, NUMBA_NUM_THREADS="1",
                       PYTHONPATH=os.pathsep.join(path or os.getcwd() for path in sys.path))
    command = [sys.executable, "-m", "benchmarks.pools", "--one", engine, "--workers", str(workers)]
    command += ["--called"] * called
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, env=environment, cwd=ROOT)
    first, later = json.loads(done.stdout.splitlines()[-1])
    return first, later


def measured(engine: str, workers: int, rounds: int) -> List[Optional[float]]:
    """Seconds: first call with an empty folder, with a full one, in forks of a process that has called; later calls."""
    found: List[List[float]] = [[], [], [], []]
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as folder:
            found[0].append(in_new_process(engine, workers, folder)[0])
            first, later = in_new_process(engine, workers, folder)
            found[1].append(first)
            found[3].append(later)
            if engine.endswith("fork"):
                found[2].append(in_new_process(engine, workers, folder, called=True)[0])
    return [statistics.median(seconds) if seconds else None for seconds in found]


def main(argv: Optional[List[str]] = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.pools", description=__doc__)
    parser.add_argument("--engines", nargs="+", choices=list(ENGINES), default=list(ENGINES), metavar="NAME")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5, help="pools of each kind (default: 5)")
    parser.add_argument("--one", choices=list(ENGINES), help=argparse.SUPPRESS)
    parser.add_argument("--called", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args(argv)
    if options.one:
        if options.called:
            task(0)
        print(json.dumps(times_of(ENGINES[options.one][1](options.workers))))
        return 0
    print("| engine | empty folder | full folder | fork of a caller | later calls |\n|---|---|---|---|---|")
    for engine in options.engines:
        if importlib.util.find_spec(ENGINES[engine][0]) is None:
            print("| {} | not installed | | | |".format(engine))
            continue
        *first, later = measured(engine, options.workers, options.rounds)
        cells = ["" if one is None else "{:.1f} ms".format(one * 1e3) for one in first]
        print("| {} | {} | {:.1f} us |".format(engine, " | ".join(cells), (later or 0.0) * 1e6), flush=True)
    return 0


if __name__ == "__main__":
    from benchmarks.pools import main as imported  # workers import the function by its module's name

    sys.exit(imported())
