"""Profile: types and values that earlier runs, samples and hints have shown.

The pipeline records it, and the analysis reads it. It is evidence, so that guards check it.
"""
