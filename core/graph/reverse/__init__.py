"""Reverse mode on graphs: the joint function of a captured graph, which computes its value and its gradients.

The joint function is NumPy code that calls the rules of `graph/derivatives`. So it is captured and compiled as any
function is. Graphs of operations and counted loops without effects on anything outside are reversed; others raise
`Irreversible`.
"""
