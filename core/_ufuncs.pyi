import numpy as np

erf: np.ufunc
"""``erf(x)``: the error function of each element, for float32 and float64; float16 gives float32."""
