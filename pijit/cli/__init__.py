"""The command line `python -m pijit`: whole programs, bisection, doctor, generated tables.

`pijit.__main__` calls it, and `pijit.decorator` for functions of whole programs.
"""
