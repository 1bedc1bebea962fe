"""`mindspore.common`: re-exports of names of `pijit.ms`."""

from __future__ import annotations

from pijit.ms import compilation as api  # noqa: F401
from pijit.ms import dtype, initializer  # noqa: F401
from pijit.ms.compilation import jit, jit_class, ms_class, ms_function, mutable  # noqa: F401
from pijit.ms.dtype import *  # noqa: F401,F403
from pijit.ms.dtype import Type, dtype_to_nptype, dtype_to_pytype, pytype_to_dtype  # noqa: F401
from pijit.ms.initializer import Initializer  # noqa: F401
from pijit.ms.ops.creation import get_seed, set_seed  # noqa: F401
from pijit.ms.parameter import Parameter, ParameterTuple  # noqa: F401
from pijit.ms.tensor import Tensor, tensor  # noqa: F401
