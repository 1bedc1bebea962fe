"""The documentation page docs/models.md, generated from the registry of models.

`python -m pijit models` prints it. It must have no list of its own.
"""

from __future__ import annotations

import re
from typing import Any, Dict, Iterable, List, Tuple

from pijit.core.capture.models.catalogue import MODULES
from pijit.core.capture.models.registry import CLASS_METHOD, CODE, FUNCTION, METHOD, Model, all_models
from pijit.core.graph.draws import BY_NAME
from pijit.core.graph.library import INTO
from pijit.core.graph.library_helpers import UFUNCS

SUBJECTS = {"numpy": "NumPy", "scalars": "Numbers", "containers": "Containers and strings", "objects": "Objects",
            "iteration": "Iterators and consumers", "functions": "Functions", "stdlib": "Standard library"}
"""Title of the section of each package of models."""

PUBLIC = {"_operator": "operator", "_heapq": "heapq", "_functools": "functools", "pijit.core.hinting": "pijit"}
"""Modules from which programs import functions of other modules."""

INTERNAL = "pijit.core."
"""Modules of functions that only rewritten bytecode calls."""


def page() -> str:
    """The page docs/models.md, as Markdown."""
    lines = ["# Models", "",
             "Functions and methods that kernels know. Functions that are written in Python are inlined and need no "
             "model. Calls of other functions stay bytecode, with the [reason](reasons.md) PJ201 or PJ210.",
             "This page is generated: `python -m pijit models > docs/models.md`. It lists the functions of NumPy 2.2.",
             "",
             "A model serves some calls only, for example those of arrays with certain layouts. Where a name has "
             "a star, kernels call the function itself in other cases.", ""]
    for package in dict.fromkeys(package_of(module.__name__) for module in MODULES):
        rows = _rows(package)
        if rows:
            lines += ["## " + SUBJECTS[package], "", "| callable | model |", "|---|---|"]
            lines += ["| {} | {} |".format(names, text) for names, text in rows] + [""]
    lines += ["## NumPy functions that are called unchanged", "", "Also every ufunc with one output.", ""]
    lines += _listed(_name(model) for model in all_models() if _is_unchanged(model))
    lines += ["", "## Random numbers", "",
              "Methods that draw one number. Those of NumPy's generators also draw arrays, of the shape `size`.", ""]
    lines += _listed("{}.{}".format(owner.replace("_generator.", "").replace("mtrand.", "").lstrip("_"), method)
                     for owner, method in BY_NAME)
    return "\n".join(lines) + "\n"


def package_of(module: str) -> str:
    """The package of models that a module belongs to."""
    return module.split(".models.")[-1].split(".")[0]


def _rows(package: str) -> List[Tuple[str, str]]:
    """(names, text) for each docstring of a package's models; a name has a star if the function is called otherwise."""
    texts: Dict[str, List[str]] = {}
    for model in all_models():
        handler: Any = model.handler
        if handler is None or package_of(handler.__module__) != package or _is_internal(model):
            continue
        texts.setdefault(summary(handler), []).append("`{}`{}".format(_name(model), "\\*" if model.row else ""))
    return sorted((", ".join(sorted(names)), text) for text, names in texts.items())


def summary(handler: Any) -> str:
    """The first paragraph of a model's docstring, as the cell of a table."""
    paragraph = (handler.__doc__ or "").strip().split("\n\n")[0]
    return re.sub(r"\s+", " ", paragraph).replace("``", "`").replace("|", "\\|")


def _name(model: Model) -> str:
    """The name of a target as programs write it."""
    if model.use == CODE:
        return model.name
    if model.use in (METHOD, CLASS_METHOD):
        return "{}.{}".format(_path(model.target), model.method)
    return _path(model.target) if model.handler is not None or model.row is None else "numpy." + model.row.path


def _path(target: Any) -> str:
    module = getattr(target, "__module__", None) or "builtins"
    name = getattr(target, "__qualname__", None) or target.__name__
    return name if module == "builtins" else "{}.{}".format(PUBLIC.get(module, module), name)


def _is_internal(model: Model) -> bool:
    return model.use == FUNCTION and _path(model.target).startswith(INTERNAL)


def _is_unchanged(model: Model) -> bool:
    """Whether a model is a library function alone that programs can name, and no ufunc or method of one."""
    path = model.row.path if model.row is not None and model.handler is None else INTO
    if path.startswith((INTO, "helpers.", "operator.")) or path.split(".")[0] in UFUNCS:
        return False
    return model.use == METHOD or not path.startswith("ndarray.")


def _listed(names: Iterable[str]) -> List[str]:
    return [", ".join("`{}`".format(name) for name in sorted(set(names)))]
