"""CPython's test modules that pijit is run against, how to run one, and which of its tests may fail."""

import json
import os
import subprocess
import sys
from typing import Any, Dict, Optional

HERE = os.path.dirname(os.path.abspath(__file__))
VERSION = "%d.%d" % sys.version_info[:2]
MODULES = [
    "test_grammar", "test_scope", "test_generators", "test_with", "test_exceptions", "test_contextlib",
    "test_functools", "test_dictcomps", "test_unpack", "test_unpack_ex", "test_keywordonlyarg",
    "test_extcall", "test_raise", "test_sys_settrace", "test_gc", "test_weakref", "test_collections",
]


def run_module(mode: str, module: str, folder: str, environment: Optional[Dict[str, str]] = None) -> Dict[str, Any]:
    """What run_module.py prints, run in a folder of its own: some tests leave files behind."""
    command = [sys.executable, os.path.join(HERE, "run_module.py"), mode, module]
    done = subprocess.run(command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=600)
    assert done.returncode == 0, done.stderr.decode(errors="replace")[-4000:]
    return json.loads(done.stdout.decode().splitlines()[-1])


def expected_failures(module: str) -> Dict[str, str]:
    """The kind (see expected_failures.txt) of each test of a module that is expected to fail on this version."""
    expected = {}
    with open(os.path.join(HERE, "expected_failures.txt")) as lines:
        for line in lines:
            if line.strip() and not line.startswith("#"):
                version, kind, name, _reason = line.split(None, 3)
                if version == VERSION and name.startswith("test.%s." % module):
                    expected[name] = kind
    return expected
