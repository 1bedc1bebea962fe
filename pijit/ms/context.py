"""`set_context` and `get_context` with MindSpore's keys; the CPU is the only device."""

from __future__ import annotations

import warnings
from typing import Any, Dict

from pijit import context as core
from pijit.ms import special_calls
from pijit.names import closest

GRAPH_MODE, PYNATIVE_MODE = core.GRAPH_MODE, core.PYNATIVE_MODE
"""Values that `set_context(mode=...)` accepts."""

STRICT, LAX = "STRICT", "LAX"

CORE = ("mode", "jit_syntax_level")
"""Keys that change how functions are compiled."""

IGNORED: Dict[str, Any] = {
    "device_id": 0, "save_graphs": False, "save_graphs_path": ".", "enable_graph_kernel": False, "enable_sparse": False,
    "max_call_depth": 1000, "pynative_synchronize": False, "deterministic": "OFF", "jit_config": {}, "jit_level": "O0",
    "enable_compile_cache": False, "compile_cache_path": "", "precompile_only": False,
    "reserve_class_name_in_scope": True, "grad_for_scalar": False, "runtime_num_threads": 30,
    "memory_optimize_level": "O0", "max_device_memory": "1024GB",
    "mempool_block_size": "1GB", "print_file_path": "", "env_config_path": "", "inter_op_parallel_num": 0,
    "ascend_config": {}, "gpu_config": {}, "graph_kernel_flags": "", "check_bprop": False, "aoe_tune_mode": "",
    "enable_reduce_precision": True, "enable_profiling": False, "debug_level": 0, "op_timeout": 900,
}
"""Keys that are accepted and stored, because programs set them, but have no effect here."""

_values: Dict[str, Any] = {}


def set_context(**kwargs: Any) -> None:
    """Set how cells and jitted functions run.

    Args:
        mode: `GRAPH_MODE`: each cell runs as one graph; `PYNATIVE_MODE`, the default: only jitted functions do.
        jit_syntax_level: "STRICT" or "LAX", as for `pijit.set_context`.
        device_target: "CPU".
        **kwargs: other keys of MindSpore; they are stored and have no effect.

    Raises:
        ValueError: a device other than the CPU, an unknown key, or a wrong value.
        TypeError: a value has a wrong type.

    Example:
        >>> set_context(mode=PYNATIVE_MODE, device_target="CPU")
    """
    for key, value in kwargs.items():
        if key == "device_target":
            _require_cpu("set_context: device_target", value)
        elif key in CORE:
            core.set_context(**{key: value})
            special_calls.graph_mode = "graph" if core.get_context("mode") == GRAPH_MODE else None
        elif key in IGNORED:
            _values[key] = value
        else:
            raise ValueError("set_context: key must be {}".format(
                closest(key, list(CORE) + ["device_target"] + sorted(IGNORED))))


def get_context(attr_key: str) -> Any:
    """The value that `set_context` has set, or the default.

    Raises:
        ValueError: there is no such key.

    Example:
        >>> get_context("device_target")
        'CPU'
    """
    if attr_key in CORE or attr_key == "device_target":
        return core.get_context(attr_key)
    if attr_key not in IGNORED:
        raise ValueError("get_context: attr_key must be {}".format(
            closest(attr_key, list(CORE) + ["device_target"] + sorted(IGNORED))))
    return _values.get(attr_key, IGNORED[attr_key])


def set_device(device_target: str, device_id: Any = None) -> None:
    """Choose the device; only the CPU is supported.

    Raises:
        ValueError: another device.
    """
    _require_cpu("set_device: device_target", device_target)


def _require_cpu(name: str, value: Any) -> None:
    if value != "CPU":
        raise ValueError("{} must be 'CPU', the only device there is; not {!r}".format(name, value))


def set_ps_context(**kwargs: Any) -> None:
    """Accepted; there are no parameter servers."""


def reset_ps_context() -> None:
    """Accepted; there are no parameter servers."""


def set_auto_parallel_context(**kwargs: Any) -> None:
    """Accepted for one process.

    Warns:
        UserWarning: the program requests several devices.
    """
    if kwargs.get("device_num", 1) != 1:
        warnings.warn("set_auto_parallel_context: there is one device", stacklevel=2)


def reset_auto_parallel_context() -> None:
    """Accepted; there is nothing to reset."""


def get_auto_parallel_context(attr_key: str) -> Any:
    """The setting for one process."""
    return {"device_num": 1, "global_rank": 0, "parallel_mode": "stand_alone"}.get(attr_key)
