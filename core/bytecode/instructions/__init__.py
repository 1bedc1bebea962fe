"""Instruction sets: opcodes, operands, line and position tables, exception tables.

The rest of `bytecode` uses it. It knows single instructions, not their flow.
"""
