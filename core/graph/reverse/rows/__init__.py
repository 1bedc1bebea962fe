"""Saved rows of loops: how many iterations are saved, where arrays live meanwhile, and what is computed again."""
