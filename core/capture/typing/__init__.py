"""Result types: runs of NumPy on samples say which dtype and shape an operation returns.

Models call it. It calls NumPy, never code of the user.
"""
