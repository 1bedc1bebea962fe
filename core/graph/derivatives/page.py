"""The documentation page docs/derivatives.md, generated from the table of derivatives.

`python -m pijit derivatives` prints it. It must have no list of its own.
"""

from __future__ import annotations

from typing import Dict, List

import numpy as np

from pijit.core.graph.derivatives.table import CUTS, ELEMENTWISE, FUNCTIONS


def page() -> str:
    """The page docs/derivatives.md, as Markdown."""
    lines = ["# Derivatives", "",
             "Functions whose derivative [gradients](gradients.md) know. "
             "Functions that are written in Python need no row.",
             "This page is generated: `python -m pijit derivatives > docs/derivatives.md`.", "",
             "## Elementwise functions", "",
             "`g` is the adjoint of the result `r`; `x` and `y` are the operands. "
             "`complex`: the rule holds for complex operands.",
             "", "| function | adjoints of the operands | complex |", "|---|---|---|"]
    rows: Dict[str, str] = {}
    for function, rule in ELEMENTWISE.items():
        kinds = getattr(function, "types", [])
        known = any(kind.startswith("D") for kind in kinds)
        module = "math" if not kinds else "numpy" if hasattr(np, rule.name) else "pijit.ms.ops"
        rows["{}.{}".format(module, rule.name)] = "{} | {}".format(
            rule.formula.replace("|x|", "abs(x)"), "yes" if known else "")
    lines += ["| `{}` | {} |".format(name, text) for name, text in sorted(rows.items())]
    lines += ["", "## Functions over arrays", ""] + _listed({_path(function) for function in FUNCTIONS})
    lines += ["", "## Derivative zero", "", "Integers, truth values and steps: nothing flows through these.", ""]
    lines += _listed({_path(function) for function in CUTS})
    return "\n".join(lines) + "\n"


def _path(function: object) -> str:
    module = str(getattr(function, "__module__", None) or "")
    name = str(getattr(function, "__name__", function))
    if module.startswith("numpy.linalg") or module.startswith("numpy.fft"):
        return "numpy.{}.{}".format(module.split(".")[1], name)
    if module.startswith("pijit."):
        return "pijit.ms.ops." + name
    return name if module == "builtins" else "math." + name if module == "math" else "numpy." + name


def _listed(names: object) -> List[str]:
    ordered = sorted(names)  # type: ignore[call-overload]
    return [", ".join("`{}`".format(name) for name in ordered)]
