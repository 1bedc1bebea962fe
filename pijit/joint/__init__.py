"""Joint functions of `pijit.grad`: what calls of their parts run, and joint functions on disk."""
