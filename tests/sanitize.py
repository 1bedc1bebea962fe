"""Run tests of the C parts with GCC's sanitizers: `tox -e sanitize`, or `python tests/sanitize.py [pytest arguments]`.

pijit has to be built with PIJIT_BUILD_SANITIZE=1. Without arguments, the tests of the hook, the launcher, the guards and
the tape run, and a tenth of those of captures. Findings are written to stderr. The status is 0 if all tests pass and
there are no findings, else 1.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Dict, List

TESTS = Path(__file__).resolve().parent
RUNS = [({}, ["native", "guards"]), ({}, ["gradients/test_tape_in_c.py", "gradients/test_rules.py"]),
        ({"PIJIT_TEST_DEAL": "1/10"}, ["capture"])]
"""Variables and folders of each run."""

DESELECTED = [
    "guards/test_weak_guards.py::test_a_new_object_at_the_same_address_is_another",  # no address is used again
    "native/function/test_entry_timing.py::test_an_interrupt_decides_nothing",  # it compares times
]

LIBRARIES = ["libasan.so", "libubsan.so", "libstdc++.so"]
"""What has to be loaded before the interpreter; LLVM's exceptions need the last."""
FOUND = ("ERROR: AddressSanitizer", "runtime error:")


def main(arguments: List[str]) -> int:
    """Run pytest on the arguments, or all runs; return the status."""
    runs = [({}, arguments)] if arguments else [
        (variables, [str(TESTS / folder) for folder in folders]) for variables, folders in RUNS]
    options = ["-q", "-s", "-p", "no:cacheprovider"]  # pytest would keep what passing tests write to stderr
    options += ["--deselect=tests/" + name for name in DESELECTED]
    with tempfile.TemporaryDirectory() as logs:
        environment = _environment(logs)
        _check_build(environment)
        with open(os.path.join(logs, "stderr"), "wb") as errors:
            statuses = [subprocess.call([sys.executable, "-m", "pytest"] + options + chosen, stderr=errors,
                                        env=dict(environment, **variables)) for variables, chosen in runs]
        texts = [path.read_text(errors="replace") for path in sorted(Path(logs).iterdir())]
    found = [text for text in texts if any(words in text for words in FOUND)]
    for text in texts if any(statuses) else found:
        print(text, file=sys.stderr)
    print("sanitizers: {} logs with findings".format(len(found)), file=sys.stderr)
    return int(bool(found) or any(statuses))


def _check_build(environment: Dict[str, str]) -> None:
    """End with a message if the C parts were built without sanitizers."""
    path = subprocess.check_output([sys.executable, "-c", "import pijit.guards._evaluate as m; print(m.__file__)"],
                                   env=environment, universal_newlines=True).strip()
    if b"__asan_init" not in Path(path).read_bytes():
        raise SystemExit("{} is built without sanitizers: set PIJIT_BUILD_SANITIZE=1 and build again".format(path))


def _environment(logs: str) -> Dict[str, str]:
    """The variables under which the interpreter runs instrumented modules."""
    preloaded = [subprocess.check_output(["gcc", "-print-file-name=" + name], universal_newlines=True).strip()
                 for name in LIBRARIES]
    # Leaks are left out: an interpreter does not free all it has. MemoryError instead of an end is what tests expect.
    asan = {"detect_leaks": 0, "allocator_may_return_null": 1, "log_path": os.path.join(logs, "asan")}
    # Undefined behaviour is reported on stderr, whatever the path: libasan's setting hides that of libubsan. It ends the
    # process, so that tests fail that start one and read its stderr.
    ubsan = {"print_stacktrace": 1, "halt_on_error": 1}
    return dict(os.environ, LD_PRELOAD=" ".join(preloaded), PYTHONMALLOC="malloc", PIJIT_TEST_BACKEND="numba",
                ASAN_OPTIONS=_joined(asan), UBSAN_OPTIONS=_joined(ubsan))


def _joined(options: Dict[str, object]) -> str:
    return ":".join("{}={}".format(*item) for item in options.items())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
