"""The layout of code objects of the running version, which `decode` and `encode` share.

Attributes:
    first_place: the first instruction before which new code may be inserted.
    Layout: the rows of the code object under construction.
    kind_of_argument: the kind of argument that a new instruction must have.
    read_instructions: the instructions of a code object.
    stack_size: the size of the operand stack that a function needs.
    why_not_before: the reason why nothing may be inserted before an instruction, or None.
"""

import sys

if sys.version_info >= (3, 11):
    from pijit.core.bytecode.codec.layout_311 import (
        Layout,
        first_place,
        kind_of_argument,
        read_instructions,
        stack_size,
        why_not_before,
    )
else:
    from pijit.core.bytecode.codec.layout_37 import (
        Layout,
        first_place,
        kind_of_argument,
        read_instructions,
        stack_size,
        why_not_before,
    )

__all__ = ["Layout", "first_place", "kind_of_argument", "read_instructions", "stack_size", "why_not_before"]
