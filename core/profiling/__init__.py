"""Profiles: the counts and times of calls and kernels while profiling is on."""
