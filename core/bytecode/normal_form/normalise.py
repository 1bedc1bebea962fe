"""The normal form of functions: the instruction set that the capturer reads on all versions.

Attributes:
    decode_normal: decodes a code object to a function in normal form.
    normal_code: rewrites code to plainer code of the same version, which `decode_normal` expects.
"""

import sys
from types import CodeType

if sys.version_info >= (3, 11):
    from pijit.core.bytecode.normal_form.normalise_311 import normal_function as decode_normal
    from pijit.core.bytecode.normal_form.split_instructions_311 import plain_code

    def normal_code(code: CodeType, returns: bool) -> CodeType:
        """The code with each compound instruction split in two; `returns` is for earlier versions."""
        return plain_code(code)
else:
    from pijit.core.bytecode.codec.decode import decode as decode_normal
    from pijit.core.bytecode.normal_form.expand_finally_37 import normal_code

__all__ = ["decode_normal", "normal_code"]
