"""The control flow of a graph as a region: loops, conditionals, and one return (`structure`)."""
