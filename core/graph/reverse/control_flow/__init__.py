"""The control flow of a graph as a region: loops, conditionals, and one return (`structure`).

`joint` calls `structure.region_of`. Control flow of another kind must raise `Irreversible`.
"""
