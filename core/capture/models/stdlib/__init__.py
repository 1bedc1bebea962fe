"""Models of the standard library: context managers and the environment.

`registry` collects them. They must not enter a manager or change the environment while code is captured.
"""
