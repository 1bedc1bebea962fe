"""`install`: makes `import mindspore` import `pijit.ms` in this process."""

from __future__ import annotations

import importlib
import importlib.machinery
import importlib.util
import sys
import types
from typing import Any, Callable, Dict, List, Optional

from pijit.core.bytecode.instructions.scan import is_importing_name
from pijit.names import nearest

NAME = "mindspore"

MODULES: Dict[str, str] = {
    "": "pijit.ms", "nn": "pijit.ms.nn", "ops": "pijit.ms.ops", "context": "pijit.ms.context",
    "numpy": "pijit.ms.numpy",
    "dtype": "pijit.ms.dtype", "mint": "pijit.ms.ops", "mint.nn": "pijit.ms.nn", "mint.nn.functional": "pijit.ms.ops",
    "common": "pijit.ms.common", "common.dtype": "pijit.ms.dtype", "common.tensor": "pijit.ms.tensor",
    "common.parameter": "pijit.ms.parameter", "common.api": "pijit.ms.compilation",
    "common.initializer": "pijit.ms.initializer", "common.seed": "pijit.ms.ops.creation",
    "common._pijit_context": "pijit.ms.compilation", "common.jit_config": "pijit.ms.compilation",
    "common.mutable": "pijit.ms.compilation", "_c_expression": "pijit.ms.compilation", "_extends": "pijit.ms.extends",
    "_extends.parse": "pijit.ms.extends", "ops.operations": "pijit.ms.ops", "ops.functional": "pijit.ms.ops",
    "ops.function": "pijit.ms.ops", "ops.composite": "pijit.ms.ops", "ops.primitive": "pijit.ms.ops.primitive",
    "ops.operations.math_ops": "pijit.ms.ops", "ops.operations.nn_ops": "pijit.ms.ops",
    "ops.operations.array_ops": "pijit.ms.ops", "ops.operations._grad_ops": "pijit.ms.ops",
    "ops.operations._inner_ops": "pijit.ms.ops", "ops.auto_generate": "pijit.ms.ops",
    "ops._grad.grad_base": "pijit.ms.derivatives", "ops._grad": "pijit.ms.derivatives",
    "ops._grad_experimental.grad_base": "pijit.ms.derivatives", "ops._grad_experimental": "pijit.ms.derivatives",
    "nn.cell": "pijit.ms.cell", "nn.layer": "pijit.ms.nn", "nn.loss": "pijit.ms.nn", "nn.optim": "pijit.ms.nn",
    "nn.wrap": "pijit.ms.nn", "nn.wrap.cell_wrapper": "pijit.ms.nn", "log": "pijit.ms.log", "train": "pijit.ms.train",
    "amp": "pijit.ms.amp", "train.amp": "pijit.ms.amp", "nn.dynamic_lr": "pijit.ms.nn",
    "nn.learning_rate_schedule": "pijit.ms.nn", "nn.wrap.loss_scale": "pijit.ms.nn",
    "train.serialization": "pijit.ms.train", "communication": "pijit.ms.communication",
    "communication.management": "pijit.ms.communication", "parallel": "pijit.ms.communication",
}
"""For each module below `mindspore`, the module that provides its names."""


def _facade(name: str, answers: types.ModuleType) -> types.ModuleType:
    """A module with a MindSpore name that has the names of a module of `pijit.ms`.

    It is a plain module, so that captured code reads its attributes as constants.
    """
    made = types.ModuleType(name, answers.__doc__)
    public = {key: value for key, value in vars(answers).items() if not key.startswith("__")}
    made.__dict__.update(public, __path__=[], __getattr__=_missing(
        name, [one for one in public if not one.startswith("_")]))
    return made


def _missing(module: str, known: List[str]) -> Callable[[str], Any]:
    """The `__getattr__` of a module; its error names the missing name and the closest known one."""
    def missing(name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if (module + "." + name)[len(NAME) + 1:] in MODULES:
            return importlib.import_module(module + "." + name)
        message = "{}.{} is not part of pijit.ms; the nearest name that is there is {!r}".format(
            module, name, nearest(name, known))
        if _is_imported(sys._getframe(1)):
            raise ImportError(message, name=module)
        raise AttributeError(message)
    return missing


def _is_imported(frame: types.FrameType) -> bool:
    """Whether a frame is executing `from module import name`."""
    return is_importing_name(frame.f_code, frame.f_lasti)


class _MindSporeFinder:
    """Finds `mindspore` and the modules below it."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Optional[importlib.machinery.ModuleSpec]:
        """The spec of a module below `mindspore`."""
        if name != NAME and not name.startswith(NAME + "."):
            return None
        below = name[len(NAME) + 1:]
        if below not in MODULES:
            raise ModuleNotFoundError("{} is not part of pijit.ms; the nearest module that is there is {!r}".format(
                name, NAME + "." + nearest(below, [one for one in MODULES if one])), name=name)
        return importlib.machinery.ModuleSpec(name, self, is_package=True)  # type: ignore[arg-type]

    def create_module(self, spec: Any) -> types.ModuleType:
        """The module."""
        return _facade(spec.name, importlib.import_module(MODULES[spec.name[len(NAME) + 1:]]))

    def exec_module(self, module: types.ModuleType) -> None:
        """The module is already complete."""


_finder = _MindSporeFinder()


def install(shadow: bool = False) -> None:
    """Make `import mindspore` import `pijit.ms` in this process.

    Args:
        shadow: do so even if a package of that name is installed.

    Raises:
        RuntimeError: a package of that name is already installed or imported.

    Example:
        >>> install()
        >>> import mindspore
    """
    if _finder in sys.meta_path:
        return
    other = sys.modules.get(NAME) or importlib.util.find_spec(NAME)
    if other is not None and not shadow:
        raise RuntimeError("pijit.ms.install: a package {!r} is installed; call install(shadow=True) to use pijit.ms "
                           "in its place".format(NAME))
    for name in [one for one in sys.modules if one == NAME or one.startswith(NAME + ".")]:
        del sys.modules[name]
    sys.meta_path.insert(0, _finder)


def uninstall() -> None:
    """Undo `install`; existing references to imported modules stay valid."""
    if _finder in sys.meta_path:
        sys.meta_path.remove(_finder)
        for name in [one for one in sys.modules if one == NAME or one.startswith(NAME + ".")]:
            del sys.modules[name]
