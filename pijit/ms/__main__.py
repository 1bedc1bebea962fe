"""`python -m pijit.ms program.py`: runs a program in which `import mindspore` imports `pijit.ms`."""

from __future__ import annotations

import os
import runpy
import sys
from typing import List, Optional

from pijit.ms.install import install

USAGE = """usage: python -m pijit.ms [--shadow] SCRIPT [ARGUMENTS ...]
       python -m pijit.ms [--shadow] -m MODULE [ARGUMENTS ...]

Runs a Python program. Its `import mindspore` gives pijit.ms.

  --shadow   do so even if a package named mindspore is installed
"""


def main(arguments: Optional[List[str]] = None) -> int:
    """Run a program; returns the exit status."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if not given or given[0] in ("-h", "--help"):
        (sys.stdout if given else sys.stderr).write(USAGE)
        return 0 if given else 2
    shadow = given[0] == "--shadow"
    given = given[1:] if shadow else given
    is_module = bool(given) and given[0] == "-m"
    given = given[1:] if is_module else given
    if not given or given[0].startswith("-"):
        sys.stderr.write(USAGE)
        return 2
    try:
        install(shadow)
    except RuntimeError as error:
        sys.stderr.write("{}\nUse --shadow to run the program with pijit.ms all the same.\n".format(error))
        return 2
    sys.argv[:] = given
    if is_module:
        runpy.run_module(given[0], run_name="__main__", alter_sys=True)
    elif not os.path.isfile(given[0]):
        sys.stderr.write("python -m pijit.ms: there is no file {!r}\n".format(given[0]))
        return 2
    else:
        sys.path[0] = os.path.dirname(os.path.abspath(given[0]))
        runpy.run_path(given[0], run_name="__main__")
    return 0


if __name__ == "__main__":
    sys.exit(main())
