"""Makes `benchmarks` importable: it lies beside `tests`, in a folder that is kept off the path."""

import importlib.util
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2] / "benchmarks"

if "benchmarks" not in sys.modules:
    spec = importlib.util.spec_from_file_location("benchmarks", str(ROOT / "__init__.py"),
                                                  submodule_search_locations=[str(ROOT)])
    sys.modules["benchmarks"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(sys.modules["benchmarks"])
