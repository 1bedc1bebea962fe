"""Store-to-load forwarding across iterations: later iterations load a stored element from a register.

Before::

    b1(%i):         %j = sub %i, %one
    b2():           %x = load %a, %j                an operation on %x gives %y
                    store %a, %i, %y                jump b1(%i2)

After::

    b1(%i, %kept):  %j = sub %i, %one
    b2():           an operation on %kept gives %y
                    store %a, %i, %y                jump b1(%i2, %y)

So a chain of dependent operations goes through registers, not through memory. Before the loop, the element is loaded if
it exists; an index in the loop keeps its check. Nothing else may write to the array. So each iteration stores one
element of it, and all other stores are to arrays that share no memory with it.
"""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Tuple, cast

from pijit.core.graph.ir import Block, Branch, Graph, Jump, Op, Value
from pijit.core.graph.linear_forms import Form, Forms, is_whole, number_of, plus
from pijit.core.graph.loops import Loop, innermost, leads_to
from pijit.core.graph.ops import ACCESSES_ELEMENT, CHEAP, MAKERS
from pijit.core.graph.passes.fusion import roots
from pijit.core.graph.passes.simplify import rename
from pijit.core.graph.types import FLAG, WORD, Scalar
from pijit.core.graph.verify import dominators
from pijit.core.named_tuples import NamedTuple

ITERATIONS = 3
"""The largest number of iterations for which a value is kept."""

ZERO = {"f": 0.0, "i": 0, "u": 0, "b": False}


class Stored(NamedTuple):
    """The element that a loop stores: the array, the indices, the stored value at each back edge."""

    array: Value
    indices: List[Form]
    values: List[Tuple[Block, Op]]


def forward_stores(graph: Graph) -> None:
    """Forward stored values in each innermost loop whose loads can use them, in place."""
    loops = [loop for loop in innermost(graph) if len(loop.entering) == 1 and _is_plain(loop)]
    if not loops:
        return
    forms = Forms(graph)
    home = _homes(graph, forms)
    names: Dict[Value, Value] = {}
    for loop in loops:
        stored = _stored(graph, loop, forms, home)
        steps = _steps(loop, forms)
        if stored is None or not all(_is_moving(form, loop, steps, home) for form in stored.indices):
            continue
        moves = stored.indices != [_before(form, steps, 1) for form in stored.indices]
        loads = [op for block in loop.body for op in block.ops
                 if op.name == "load" and op.args[0] is stored.array and _counts_from_front(op)
                 and (moves or not _follows_store(block, op, loop))]
        wanted = [(op, back) for op in loads for back in _iterations_back(op, stored, forms, steps)]
        if wanted:
            iterations = range(1, max(back for _, back in wanted) + 1)
            names.update(_carry(graph, loop, stored, wanted, forms,
                                [[_before(form, steps, back) for form in stored.indices] for back in iterations]))
    rename(graph, names)  # this rebuilds all jumps


# ---- analysis of a loop ----


def _homes(graph: Graph, forms: Forms) -> Dict[Value, Block]:
    """The block of each value. A length can be read anywhere, so its block is that of its array."""
    home = {value: block for block in graph.blocks
            for value in block.params + [op.result for op in block.ops if op.result is not None]}
    home.update((cast(Value, op.result), home[_length(forms, op)[0]]) for op in forms.made.values() if op.name == "dim")
    return home


def _length(forms: Forms, op: Op) -> Tuple[Value, int]:
    """The array and the axis whose length a ``dim`` reads, with transposed views resolved."""
    array, axis = op.args[0], op.attrs["axis"]
    while array in forms.made and forms.made[array].name == "transpose":
        array, axis = forms.made[array].args[0], forms.made[array].attrs["axes"][axis]
    return array, axis


def _is_plain(loop: Loop) -> bool:
    """Whether a loop stores and loads elements, and otherwise only computes scalars."""
    names = {op.name for block in loop.body for op in block.ops}
    return names >= ACCESSES_ELEMENT and all(
        op.name in CHEAP or op.name == "poll" or all(
            isinstance(value.type, Scalar) for value in op.args + (op.result,) if value is not None)
        for block in loop.body for op in block.ops)


def _counts_from_front(op: Op) -> bool:
    """Whether no index of an element can be negative."""
    return "inside" in op.attrs or "w" not in op.attrs.get("checks", "w")


def _stored(graph: Graph, loop: Loop, forms: Forms, home: Dict[Value, Block]) -> Optional[Stored]:
    """The one element that each iteration stores, into the first suitable array without overlapping elements."""
    over = dominators(graph)
    stores = [(block, op) for block in graph.blocks if block in loop.body for op in block.ops if op.name == "store"]
    for array in dict.fromkeys(op.args[0] for _, op in stores):
        own = [(block, op) for block, op in stores if op.args[0] is array]
        indices = [list(map(forms.of, op.args[1:-1])) for _, op in own]
        last = [[store for store in own if leads_to(store[0], latch, loop)] for latch, _ in loop.back]
        kind: Any = array.type
        if (home[array] not in loop.body and kind.layout in "CF" and kind.dtype.kind in ZERO
                and all(one == indices[0] for one in indices) and all(_counts_from_front(op) for _, op in own)
                and all(len(found) == 1 and found[0][0] in over[latch] for found, (latch, _) in zip(last, loop.back))
                and all(op.args[0] is array or _is_apart(graph, array, op.args[0], forms) for _, op in stores)):
            return Stored(array, indices[0], [found[0] for found in last])
    return None


def _is_apart(graph: Graph, one: Value, other: Value, forms: Forms) -> bool:
    """Whether two arrays never share memory: the graph makes one of them, and makes the other or has it as input."""
    looks_into = roots(graph)
    made = [forms.made.get(looks_into.get(array, array)) for array in (one, other)]
    known = [array in graph.inputs if op is None else op.name in MAKERS for op, array in zip(made, (one, other))]
    return all(known) and made[0] is not made[1] and any(op is not None and op.name == "alloc" for op in made)


def _steps(loop: Loop, forms: Forms) -> Dict[Value, int]:
    """The growth of each loop variable per iteration, if it is constant."""
    found = {}
    for position, param in enumerate(loop.header.params):
        by = {number_of(plus(forms.of(jump.args[position]), {param: 1}, -1)) for _, jump in loop.back
              if is_whole(param)}
        if len(by) == 1 and None not in by:
            found[param] = by.pop()
    return found  # type: ignore[return-value]


def _is_moving(form: Form, loop: Loop, steps: Dict[Value, int], home: Dict[Value, Block]) -> bool:
    """Whether an index is a sum of such variables and loop-invariant values."""
    return all(atom is None or atom in steps or home[atom] not in loop.body for atom in form)


def _follows_store(block: Block, load: Op, loop: Loop) -> bool:
    """Whether an iteration may already have stored into the array before it reaches a load."""
    stores = [(at, op) for at in loop.body for op in at.ops if op.name == "store" and op.args[0] is load.args[0]]
    return any(block.ops.index(op) < block.ops.index(load) if at is block else leads_to(at, block, loop)
               for at, op in stores)


def _iterations_back(op: Op, stored: Stored, forms: Forms, steps: Dict[Value, int]) -> List[int]:
    """The number of iterations since the loaded element was last stored, if it is constant."""
    indices = list(map(forms.of, op.args[1:]))
    return [back for back in range(1, ITERATIONS + 1)
            if indices == [_before(form, steps, back) for form in stored.indices]][:1]


def _before(form: Form, steps: Dict[Value, int], iterations: int) -> Form:
    """The index some iterations ago."""
    return plus(form, {None: -iterations * sum(factor * steps.get(atom, 0) for atom, factor in form.items()
                                           if atom is not None)})


# ---- the transformation ----


def _carry(graph: Graph, loop: Loop, stored: Stored, wanted: List[Any], forms: Forms,
           indices: List[List[Form]]) -> Dict[Value, Value]:
    """Add a loop variable for each iteration that loads look back; the result maps loads to their variables."""
    kind = wanted[0][0].result.type
    kept = [graph.new_value(kind, "kept") for _ in indices]
    (_, jump), = loop.entering
    given = dict(zip(loop.header.params, jump.args))
    entry = [[_sum(form, given) for form in one] for one in indices]
    for (_, back), (at, store) in zip(loop.back, stored.values):
        value = graph.new_value(kind)
        at.ops.insert(at.ops.index(store), Op("same", [store.args[-1]], {}, value, None, store.lineno))
        back.args += (value,) + tuple(kept[:-1])
    loop.header.params = loop.header.params + kept
    args = jump.args
    for one in entry:
        jump, value = _load_before(graph, jump, stored.array, one, kind, forms)
        args += (value,)
    jump.block, jump.args = loop.header, args
    for op, _ in wanted:
        for at in loop.body:
            at.ops = [other for other in at.ops if other is not op or op.exit is not None]
    return {op.result: kept[back - 1] for op, back in wanted}


def _sum(form: Form, given: Dict[Value, Value]) -> Form:
    """A form with the values before the loop's first iteration."""
    total: Form = {None: form[None]} if None in form else {}
    for atom, factor in form.items():
        if atom is not None:
            total = plus(total, {given.get(atom, atom): 1}, factor)
    return total


def _load_before(graph: Graph, jump: Jump, array: Value, indices: List[Form], kind: Any,
                 forms: Forms) -> Tuple[Jump, Value]:
    """Insert blocks after a jump that load an element if it exists; return the jump after them and the element."""
    test, found, merge = (graph.new_block(jump.block.lineno) for _ in range(3))
    jump.block, jump.args = test, ()
    positions, conditions = [], []
    for axis, form in enumerate(indices):
        positions.append(_word(graph, test, form, forms))
        size = _add(graph, test, "dim", [array], WORD, axis=axis)
        for operator, bound in ((">=", _word(graph, test, {}, forms)), ("<", size)):
            conditions.append(_add(graph, test, "compare", [positions[-1], bound], FLAG, operator=operator))
    there = conditions[0]
    for condition in conditions[1:]:
        there = _add(graph, test, "and", [there, condition], FLAG)
    nothing = _add(graph, test, "const", [], kind, value=ZERO[kind.dtype.kind])
    element = _add(graph, found, "load", [array] + positions, kind, inside=True)
    value = graph.new_value(kind)
    merge.params = [value]
    test.terminator = Branch(there, Jump(found, []), Jump(merge, [nothing]))
    found.terminator = Jump(merge, [element])
    merge.terminator = Jump(merge, [])
    return merge.terminator, value


def _word(graph: Graph, block: Block, form: Form, forms: Forms) -> Value:
    """A form as a WORD. Lengths are read again, because the atom of an axis may belong to another block."""
    total = _add(graph, block, "const", [], WORD, value=form.get(None, 0))
    for atom, factor in form.items():
        if atom is not None:
            made = forms.made.get(atom)
            if made is not None and made.name == "dim":
                array, axis = _length(forms, made)
                term = _add(graph, block, "dim", [array], WORD, axis=axis)
            else:
                term = _add(graph, block, "same", [atom], WORD)
            times = _add(graph, block, "const", [], WORD, value=factor)
            total = _add(graph, block, "add", [total, _add(graph, block, "mul", [term, times], WORD)], WORD)
    return total


def _add(graph: Graph, block: Block, name: str, args: List[Value], kind: Any, **attrs: Any) -> Value:
    result = graph.new_value(kind)
    block.ops.append(Op(name, args, attrs, result, None, block.lineno))
    return result
