"""Reports: what was compiled, what was not and why, as text, HTML and pictures.

`pijit.explain`, `inspect` and the command line use it. It reads captures and changes none.
"""
