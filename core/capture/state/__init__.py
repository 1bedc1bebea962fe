"""State of the abstract frame: locals, operand stack, heap locations, effects, edges.

The interpreter and the graph builder change it. It does not interpret.
"""
