"""First calls: what is measured is what a process does that finds its kernels on disk."""

from benchmarks.first_calls import in_new_processes


def test_a_later_process_takes_less():
    compiled, found = in_new_processes(1, runs=2)
    assert found < compiled / 2
