"""The normal form of functions: the instruction set that the capturer reads on all versions.

Attributes:
    normal_function: rewrites a decoded function to its normal form.
    plain_function: decodes a code object and rewrites it to plainer code of the same version, for `normal_function`.
"""

import sys
from types import CodeType

from pijit.core.bytecode.codec.decode import Function, decode

if sys.version_info >= (3, 11):
    from pijit.core.bytecode.normal_form.normalise_311 import normal_function
    from pijit.core.bytecode.normal_form.split_instructions_311 import without_compounds

    def plain_function(code: CodeType, returns: bool) -> Function:
        """The decoded code with each compound instruction split in two; `returns` is for earlier versions."""
        return without_compounds(decode(code))
else:
    from pijit.core.bytecode.normal_form.expand_finally_37 import plain_function

    def normal_function(source: Function) -> Function:
        """The function itself: these versions need no other instructions."""
        return source

__all__ = ["normal_function", "plain_function"]
