"""All intrinsics that mean the same in every kernel, by the name under which kernel source calls them.

The modules beside this one have a table each. An emitter adds the intrinsics that are made for one kernel: loop nests,
scans of exponents, and symbols outside the kernel.
"""

from __future__ import annotations

from typing import Dict

from pijit.core.kernel.llvm.complex_intrinsics import COMPLEX_INTRINSICS
from pijit.core.kernel.llvm.exponent_intrinsics import EXPONENT_INTRINSICS
from pijit.core.kernel.llvm.float_intrinsics import FLOAT_INTRINSICS
from pijit.core.kernel.llvm.fp_check_intrinsics import CHECK_INTRINSICS
from pijit.core.kernel.llvm.fp_status import STATUS_INTRINSICS
from pijit.core.kernel.llvm.intrinsics import WORD_INTRINSICS, Intrinsic
from pijit.core.kernel.llvm.stack_slots import SLOT_INTRINSICS
from pijit.core.kernel.llvm.strip_intrinsics import STRIP_INTRINSICS

INTRINSICS: Dict[str, Intrinsic] = {
    **WORD_INTRINSICS, **FLOAT_INTRINSICS, **COMPLEX_INTRINSICS, **CHECK_INTRINSICS, **EXPONENT_INTRINSICS,
    **SLOT_INTRINSICS, **STATUS_INTRINSICS, **STRIP_INTRINSICS}
