"""Check elimination: remove side exits that are proved never to be taken, of index and overflow checks.

Before::

    b1(%i):  %m = compare %i, %n {<}               %n = dim %a {axis=0}
             branch %m ? b2() : b3()
    b2():    %x = load %a, %i  else exit1(%i)
             %j = add %i, %one  else exit1(%i)     jump b1(%j)

After::

    b2():    %x = load %a, %i {inside=True}
             %j = add %i, %one                     jump b1(%j)

If an element's indices are only partly known, the attribute ``checks`` tells which checks are left for each index.
Other checks stay as they were. Nothing moves, so no operation leaves earlier than bytecode would fail.
"""

from __future__ import annotations

from typing import Any, Dict

from pijit.core.graph.bounds_prover import Proofs
from pijit.core.graph.ir import Block, Graph, Op, Value
from pijit.core.graph.linear_forms import HIGH, LOW, Form, is_whole, plus
from pijit.core.graph.types import Scalar


def eliminate_checks(graph: Graph) -> None:
    """Drop the checks that are proved unnecessary, in place."""
    wanted = [(block, op) for block in graph.blocks for op in block.ops
              if op.exit is not None and op.name in _CHECKED]
    if not wanted:
        return
    proofs = Proofs(graph)
    for block, op in wanted:
        _CHECKED[op.name](proofs, block, op)


def _element(first: int, last: int) -> Any:
    """A check for an operation whose indices are these operands."""
    def check(proofs: Proofs, block: Block, op: Op) -> None:
        if "inside" in op.attrs:
            return
        left = "".join(_index(proofs, block, op.args[0], axis, value)
                       for axis, value in enumerate(op.args[first:len(op.args) + last]))
        if set(left) <= {"-"}:
            op.attrs, op.exit = dict(op.attrs, inside=True), None
        elif set(left) != {"w"}:
            op.attrs = dict(op.attrs, checks=left)
    return check


def _index(proofs: Proofs, block: Block, array: Value, axis: int, value: Value) -> str:
    """The check that an index still needs: "w" wrap and compare, "c" compare, "-" none."""
    index = proofs.forms.of(value)
    if not proofs.holds(plus({}, index, -1), block):
        return "w"
    size = proofs.forms.size(array, axis)
    return "-" if size is not None and proofs.holds(plus(plus(index, {None: 1}), size, -1), block) else "c"


def _arithmetic(form: Any) -> Any:
    """A check for an operation on int64 whose exact result is a form."""
    def check(proofs: Proofs, block: Block, op: Op) -> None:
        kind = op.args[0].type
        if is_whole(op.args[0]) and isinstance(kind, Scalar) and kind.dtype.char in "lq":
            exact = form(proofs, op)
            if exact is not None and proofs.fits(exact, LOW, HIGH, block):
                op.exit = None
    return check


def _difference(proofs: Proofs, op: Op) -> Form:
    left, right = map(proofs.forms.of, op.args)
    return plus(left, right, 1 if op.name == "add" else -1)


def _product(proofs: Proofs, op: Op) -> Any:
    """By the ranges of the operands, because a product of two values is no linear form."""
    corners = [a * b for a in proofs.forms.ends(op.args[0]) for b in proofs.forms.ends(op.args[1])]
    return {None: 0} if LOW <= min(corners) and max(corners) <= HIGH else None


def _quotient(proofs: Proofs, block: Block, op: Op) -> None:
    """By a number that is not 0. If the divisor may be -1, the dividend must not be the least int64."""
    low, high = proofs.forms.ends(op.args[1])
    if is_whole(op.args[0]) and op.args[0].type.dtype.char in "lq" and (  # type: ignore[union-attr]
            low > 0 or high < 0):
        if low > -1 or high < -1 or proofs.holds(plus({None: LOW + 1}, proofs.forms.of(op.args[0]), -1), block):
            op.exit = None


_CHECKED: Dict[str, Any] = {
    "load": _element(1, 0), "store": _element(1, -1),
    "add": _arithmetic(_difference), "sub": _arithmetic(_difference), "mul": _arithmetic(_product),
    "neg": _arithmetic(lambda proofs, op: plus({}, proofs.forms.of(op.args[0]), -1)),
    "floordiv": _quotient, "mod": _quotient,
}
