"""Gives the interpreter the name of one that pijit does not compile on."""

import sys

sys.implementation.name = "otherpython"
