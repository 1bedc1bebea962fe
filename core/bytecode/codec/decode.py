"""The decoder: code objects to instructions with resolved arguments, jump targets and line numbers.

It is the inverse of `encode`. It rejects inconsistent code and never guesses.
"""

from types import CodeType

from pijit.core.bytecode.codec.layout import read_instructions
from pijit.core.bytecode.instructions.instruction import Function, Instr, count_arguments

__all__ = ["Function", "Instr", "count_arguments", "decode"]


def decode(code: CodeType) -> Function:
    """Decode a code object.

    Args:
        code: of the running CPython version.

    Returns:
        The function; jump targets are instruction indices.

    Raises:
        ValueError: a jump leads between an EXTENDED_ARG and its instruction, or out of the code. From 3.11 on also: the
            exception table or the location table does not fit the code.

    Example:
        decode((lambda x: x + 1).__code__).instructions[0].value == "x"
    """
    return Function(code, read_instructions(code))
