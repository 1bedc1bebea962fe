"""Guards: conditions on what a call can reach, guard programs, and the entry cache.

Capture makes them, and C checks them before each call. They run no code of the user.
"""
