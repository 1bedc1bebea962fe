"""Process pools: workers call jitted functions, find each other's kernels on disk, and give the answers of plain code."""

import concurrent.futures
import multiprocessing
import os
import subprocess
import sys

import pool_functions
import pytest

TASKS = range(12)
METHODS = multiprocessing.get_all_start_methods()


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """An empty cache folder, which workers inherit."""
    monkeypatch.setenv("PIJIT_CACHE_DIR", str(tmp_path / "kernels"))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(path or os.getcwd() for path in sys.path))
    return tmp_path / "kernels"


def check(answers, compiles=True):
    """Answers have the bits of plain code, and kernels gave them; at most one process compiled."""
    answers = list(answers)
    check_bits(answers)
    assert all(ran for _, _, _, ran in answers)
    if compiles:
        assert len({process for process, compiled, _, _ in answers if compiled}) <= 1


def check_bits(answers):
    assert [bits for _, _, bits, _ in answers] == [pool_functions.expected(number) for number in TASKS]


@pytest.mark.parametrize("method", METHODS)
def test_multiprocessing(method, folder):
    with multiprocessing.get_context(method).Pool(3) as pool:
        check(pool.map(pool_functions.task, TASKS, chunksize=1), compiles=method != "fork")
        assert pool.map(pool_functions.filtered, [1, 2]) == [28.0, 56.0]
    assert any(folder.iterdir())


@pytest.mark.parametrize("method", METHODS)
def test_concurrent_futures(method):
    if method == "forkserver":
        pytest.skip("one more start method adds nothing here")
    with concurrent.futures.ProcessPoolExecutor(2, multiprocessing.get_context(method)) as pool:
        check(pool.map(pool_functions.task, TASKS), compiles=method != "fork")


def test_threads_of_a_pool_share_one_entry():
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        check_bits(list(pool.map(pool_functions.task, TASKS)))  # plain code runs while one thread compiles
    assert pool_functions.smooth.cache_info().currsize == 1


@pytest.mark.unshared
def test_joblib():
    joblib = pytest.importorskip("joblib")
    joblib.externals.loky.get_reusable_executor().shutdown(wait=True)  # other tests' workers may have compiled
    check(joblib.Parallel(2)(joblib.delayed(pool_functions.task)(number) for number in TASKS))


@pytest.mark.unshared
def test_dask():
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster, \
            distributed.Client(cluster) as client:
        check(client.gather(client.map(pool_functions.task, TASKS, pure=False)))


@pytest.mark.unshared
def test_ray():
    ray = pytest.importorskip("ray")
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    try:
        remote = ray.remote(pool_functions.task)
        check(ray.get([remote.remote(number) for number in TASKS]))
    finally:
        ray.shutdown()


SCRIPT = """
import sys
import numpy as np
from pijit import jit

@jit
def doubled(x):
    return x * 2.0 + 1.0

if __name__ == "__main__":
    joblib = __import__("joblib")
    arrays = [np.arange(3.0) + k for k in range(4)]
    answers = joblib.Parallel(2)(joblib.delayed(doubled)(x) for x in arrays)
    assert all((a == x * 2.0 + 1.0).all() for a, x in zip(answers, arrays))
    print("right")
"""


@pytest.mark.unshared
def test_functions_of_a_script_are_pickled(tmp_path):
    pytest.importorskip("joblib")
    path = tmp_path / "script.py"
    path.write_text(SCRIPT)
    done = subprocess.run([sys.executable, str(path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          universal_newlines=True)
    assert (done.returncode, done.stdout) == (0, "right\n"), done.stderr
