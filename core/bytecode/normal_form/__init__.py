"""Normal form: one instruction set for all CPythons, which capture interprets.

`analysed_code` calls it. It changes how an effect is written, never which effects there are.
"""
