"""Bounds prover: shows that a linear form of a graph's integers is never above 0 at a block.

The facts at a block are forms that are not above 0 there. They come from conditions of dominating branches, from
properties of operations' results, and from loop *invariants*. An invariant bounds a loop's variable: by 0, by its first
value, or by the bound tested at the end of an iteration.

A goal is proved by a bounded Fourier-Motzkin elimination. Facts that cancel the goal's values are added one after the
other, until the value ranges of the rest suffice. Invariants are guessed, then checked on each edge into the loop under
all assumptions. Those that fail are dropped, until none fails (Houdini, Flanagan and Leino, 2001). Called by
passes/eliminate_checks.py.
"""

from __future__ import annotations

from typing import Any, Dict, FrozenSet, Iterator, List, Optional, Set, Tuple, cast

from pijit.core.graph.ir import Block, Branch, Graph, Jump, Op, Value
from pijit.core.graph.linear_forms import Form, Forms, is_whole, number_of, plus
from pijit.core.graph.ops import KEEPS_TRUTH
from pijit.core.graph.types import Scalar
from pijit.core.graph.verify import dominators
from pijit.core.named_tuples import NamedTuple

DEPTH = 6
EFFORT = 80
"""Limits of one proof: facts that are added one after the other, and goals that are visited."""

MOST_TERMS = 40
"""Larger forms are not proved: the time of a step grows with the square of the number of terms."""

FAR = 2 ** 62
"""Magnitude beyond which a bound counts as none: no count in a program reaches it."""

NEGATED = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}


class IncomingEdge(NamedTuple):
    """An edge into a block: its source, its jump, and the facts that hold on it."""

    block: Block
    jump: Jump
    facts: List[Form]


class Case(NamedTuple):
    """The form of a value while some facts hold."""

    facts: List[Form]
    form: Form


class Proofs:
    """The facts at each block of a graph, and proofs from them."""

    def __init__(self, graph: Graph) -> None:
        self.forms = Forms(graph)
        self.dominators = dominators(graph)
        self.home = {value: block for block in graph.blocks for value in block.params}
        self.home.update((op.result, block) for block in graph.blocks for op in block.ops if op.result is not None)
        self.home.update((value, self.home[op.args[0]]) for value, op in self.forms.made.items() if op.name == "dim")
        self._at: Dict[Block, List[Form]] = {}
        self._conditions: Dict[Tuple[Value, bool], List[Form]] = {}
        self._known_cases: Dict[Op, List[Case]] = {}
        self._headers: Dict[Block, bool] = {}
        self._promised: Dict[Value, List[Form]] = {}
        self._effort = 0
        self.invariants: Dict[Value, List[Form]] = {}
        self.edges: Dict[Block, List[IncomingEdge]] = {block: [] for block in graph.blocks}
        for block in graph.blocks:
            for jump in block.terminator.targets():
                self.edges[jump.block].append(IncomingEdge(block, jump, self._edge_facts(block, jump)))
        self._find_invariants(graph)

    # ---- queries ----

    def holds(self, goal: Optional[Form], block: Block) -> bool:
        """Whether the goal is proved not to be above 0 in a block."""
        if goal is None:
            return False
        self._effort = EFFORT
        return self._prove(goal, block, [], DEPTH, set())

    def fits(self, form: Form, low: int, high: int, block: Block) -> bool:
        """Whether a form is proved to be between two numbers in a block."""
        return (self.holds(plus(form, {None: -high}), block)
                and self.holds(plus({None: low}, form, -1), block))

    # ---- facts ----

    def at(self, block: Block) -> List[Form]:
        """The facts that branches and requirements on the dominator path prove for a block."""
        if block not in self._at:
            found: List[Form] = []
            for over in self.dominators[block]:
                edges = self.edges[over]
                if len(edges) == 1:
                    found += edges[0].facts
                for op in over.ops:
                    if op.name == "require" and over is not block:
                        found += self.condition(op.args[0], True)
            self._at[block] = found + [more for fact in found for more in self._implied(fact)]
        return self._at[block]

    def _implied(self, fact: Form) -> List[Form]:
        """The facts of a value's first case, if its second case is 0 and the fact says that the value is above 0."""
        for atom, factor in fact.items():
            op = self.forms.made.get(atom) if atom is not None and factor == -1 else None
            cases = self._cases(op) if op is not None else []
            if len(cases) == 2 and not cases[1].form and self.forms.extent(plus(fact, {atom: 1}))[0] > 0:
                same = plus({atom: 1}, cases[0].form, -1)
                return cases[0].facts + [same, plus({}, same, -1)]
        return []

    def _edge_facts(self, block: Block, jump: Jump) -> List[Form]:
        last = block.terminator
        if not isinstance(last, Branch) or last.then is last.other:
            return []
        return self.condition(last.condition, jump is last.then)

    def condition(self, flag: Value, truth: bool) -> List[Form]:
        """The facts that follow from a FLAG being true, or false."""
        if (flag, truth) not in self._conditions:
            self._conditions[flag, truth] = self._facts_of(flag, truth)
        return self._conditions[flag, truth]

    def _facts_of(self, flag: Value, truth: bool) -> List[Form]:
        op = self.forms.made.get(flag)
        if op is None:
            return []
        if op.name == "not":
            return self.condition(op.args[0], not truth)
        if op.name in KEEPS_TRUTH:
            return self.condition(op.args[0], truth)
        if op.name == ("and" if truth else "or"):
            return [fact for value in op.args for fact in self.condition(value, truth)]
        if op.name != "compare" or not all(map(is_whole, op.args)):
            return []
        symbol = op.attrs["operator"] if truth else NEGATED[op.attrs["operator"]]
        return _comparison(symbol, *map(self.forms.of, op.args))

    def _about(self, atom: Value) -> List[Form]:
        """The facts about a value that hold everywhere."""
        if atom not in self._promised:
            op = self.forms.made.get(atom)
            self._promised[atom] = _PROMISES[op.name](self, op) if op is not None and op.name in _PROMISES else []
        return self._promised[atom] + self.invariants.get(atom, [])

    # ---- proofs ----

    def _prove(self, goal: Form, block: Block, extra: List[Form], depth: int, visited: Set[FrozenSet[Any]]) -> bool:
        if self.forms.extent(goal)[1] <= 0:
            return True
        key = frozenset(goal.items())
        if not depth or len(goal) > MOST_TERMS or key in visited or not self._effort:
            return False
        visited.add(key)
        self._effort -= 1
        known = extra + self.at(block)
        choices: List[List[Form]] = []
        for atom, factor in goal.items():
            if atom is not None:
                rests = [_without(goal, factor, fact, atom) for fact in known + self._about(atom) if atom in fact]
                choices.append([rest for rest in rests if rest is not None])
                if not choices[-1] and self._is_hopeless(atom, factor, goal):
                    return False
        few: List[Form] = min(filter(None, choices), key=len, default=[])
        return (any(self._prove(rest, block, extra, depth - 1, visited) for rest in few)
                or any(self._by_cases(goal, atom, block, extra, depth) for atom in goal if atom is not None))

    def _is_hopeless(self, atom: Value, factor: int, goal: Form) -> bool:
        """Whether no fact can ever bound a value that the proof has to bound."""
        if max(factor * end for end in self.forms.span(atom)) < FAR or goal.get(None, 0) < -FAR:
            return False
        op = self.forms.made.get(atom)
        return not self._cases(op) if op is not None else self._is_header(self.home[atom])

    def _by_cases(self, goal: Form, atom: Value, block: Block, extra: List[Form], depth: int) -> bool:
        """Whether the goal holds in each case of a value."""
        def again(case: Case) -> bool:
            given = plus(goal, plus(case.form, {atom: 1}, -1), goal[atom])
            return self._prove(given, block, extra + case.facts, depth - 1, set())

        op = self.forms.made.get(atom)
        if op is None:
            return not extra and atom in self.home and self._on_all_edges(goal, self.home[atom], depth)
        cases = self._cases(op)
        if len(cases) == 2 and not cases[1].form and self._prove({None: 1, atom: -1}, block, extra, depth - 1, set()):
            return again(cases[0])
        return bool(cases) and all(map(again, cases))

    def _cases(self, op: Op) -> List[Case]:
        """The cases of an operation's result; the second case is often that it is 0."""
        if op not in self._known_cases:
            self._known_cases[op] = self._find_cases(op)
        return self._known_cases[op]

    def _find_cases(self, op: Op) -> List[Case]:
        if op.name == "select":
            return [Case(self.condition(op.args[0], truth), self.forms.of(value))
                    for truth, value in zip((True, False), op.args[1:])]
        if op.name == "mul":
            for flag, other in (op.args, op.args[::-1]):
                maker = self.forms.made.get(flag)
                if maker is not None and maker.name == "cast" and cast(Scalar, maker.args[0].type).dtype.kind == "b":
                    return [Case(self.condition(maker.args[0], True), self.forms.of(other)),
                            Case(self.condition(maker.args[0], False), {})]
        return []

    def _on_all_edges(self, goal: Form, block: Block, depth: int) -> bool:
        """Whether a goal about parameters of a join block holds at the end of each edge into it."""
        over = self.dominators[block]
        around = all(atom in block.params or self.home[atom] is not block and self.home[atom] in over
                     for atom in goal if atom is not None)
        edges = self.edges[block]
        return around and bool(edges) and not self._is_header(block) and all(
            self._prove(self._along(goal, edge), edge.block, edge.facts, depth - 1, set()) for edge in edges)

    def _along(self, goal: Form, edge: IncomingEdge) -> Form:
        """A goal with a block's parameters replaced by an edge's arguments."""
        given = dict(zip(edge.jump.block.params, edge.jump.args))
        moved: Form = {None: goal[None]} if None in goal else {}
        for atom, factor in goal.items():
            if atom is not None:
                moved = plus(moved, self.forms.of(given.get(atom, atom)), factor)
        return moved

    # ---- invariants ----

    def _is_header(self, block: Block) -> bool:
        if block not in self._headers:
            self._headers[block] = any(block in self.dominators[edge.block] for edge in self.edges[block])
        return self._headers[block]

    def _find_invariants(self, graph: Graph) -> None:
        """Guess invariants, and drop those that an edge into the loop does not preserve."""
        headers = [block for block in graph.blocks if self._is_header(block)]
        for header in headers:
            for param in filter(is_whole, header.params):
                guesses = {frozenset(guess.items()): guess for guess in self._guesses(header, param)}
                self.invariants[param] = list(guesses.values())
        changed = True
        while changed:
            changed = False
            for header in headers:
                for param in filter(is_whole, header.params):
                    kept = [guess for guess in self.invariants[param] if self._is_kept(guess, header)]
                    changed |= len(kept) < len(self.invariants[param])
                    self.invariants[param] = kept

    def _guesses(self, header: Block, param: Value) -> Iterator[Form]:
        """Candidate invariants of a loop's variable."""
        entering = [edge for edge in self.edges[header] if header not in self.dominators[edge.block]]
        yield {param: -1}
        if len(entering) == 1:
            start = self.forms.of(entering[0].jump.args[header.params.index(param)])
            if number_of(start) != 0:
                yield plus(start, {param: 1}, -1)
            yield plus({param: 1}, start, -1)
            yield from self._counted(header, param, entering[0])
        for edge in self.edges[header]:
            if edge not in entering:
                yield from self._from_back_edge(header, param, edge)

    def _counted(self, header: Block, param: Value, entry: IncomingEdge) -> Iterator[Form]:
        """Candidates: a variable changes in total by at most the number of iterations times its largest step."""
        back_edges = [edge for edge in self.edges[header] if edge is not entry]
        begin = {value: self.forms.of(arg) for value, arg in zip(header.params, entry.jump.args)}

        def steps(value: Value, sign: int = 1) -> List[Form]:
            place = header.params.index(value)
            return [plus({}, plus(self.forms.of(edge.jump.args[place]), {value: 1}, -1), sign) for edge in back_edges]

        counters = [value for value in header.params if value is not param and is_whole(value)
                    and all((number_of(step) or 0) > 0 for step in steps(value))]
        for sign in (1, -1) if counters else ():
            most = max(self._most(step, param, 4) for step in steps(param, sign))
            if 0 < most < FAR:
                grown = plus({}, plus({param: 1}, begin[param], -1), sign)
                for counter in counters:
                    yield plus(grown, plus({counter: 1}, begin[counter], -1), -most)

    def _most(self, step: Form, param: Value, depth: int) -> int:
        """The largest value of a step on any path, as if the variable was 0 where it is assigned a new start."""
        for atom in step if depth else ():
            choices = self._choices(atom) if atom is not None and atom is not param else []
            if choices:
                rest = plus(step, {atom: 1}, -step[atom])
                return max(self._most(plus(rest, choice, step[atom]), param, depth - 1) for choice in choices)
        return self.forms.extent(plus(step, {param: 1}, -step.get(param, 0)))[1]

    def _choices(self, atom: Value) -> List[Form]:
        """The forms of a value, one for each path to it, if all are known."""
        op = self.forms.made.get(atom)
        if op is not None:
            return [case.form for case in self._cases(op)]
        block = self.home.get(atom)
        if block is None or self._is_header(block):
            return []
        place = block.params.index(atom)
        return [self.forms.of(edge.jump.args[place]) for edge in self.edges[block]]

    def _from_back_edge(self, header: Block, param: Value, edge: IncomingEdge) -> Iterator[Form]:
        """Candidates from facts at the end of an iteration, about the next one's variables and unchanged values."""
        given = {value: self.forms.of(arg) for value, arg in zip(header.params, edge.jump.args) if is_whole(value)}
        names: Dict[Any, Any] = {next(iter(form)): value for value, form in given.items()
                                 if list(form.values()) == [1]}
        around = self.dominators[header] - {header}
        for fact in self.at(edge.block) + edge.facts:
            for sign in (1, -1):
                rest = plus(fact, given[param], -sign)
                if len(rest) < len(fact):
                    moved = {names.get(atom, atom): factor for atom, factor in rest.items()}
                    if len(moved) == len(rest) and all(atom is None or atom in given or self.home[atom] in around
                                                       for atom in moved):
                        yield plus(moved, {param: sign})

    def _is_kept(self, guess: Form, header: Block) -> bool:
        """Whether the guess holds on each edge into the loop's header."""
        for edge in self.edges[header]:
            self._effort = EFFORT
            if not self._prove(self._along(guess, edge), edge.block, edge.facts, DEPTH, set()):
                return False
        return True


def _comparison(symbol: str, a: Form, b: Form) -> List[Form]:
    """The facts that follow from a true comparison."""
    less, more = plus(a, b, -1), plus(b, a, -1)
    one: Form = {None: 1}
    return {"<": [plus(less, one)], "<=": [less], ">": [plus(more, one)], ">=": [more], "==": [less, more],
            "!=": []}[symbol]


def _without(goal: Form, factor: int, fact: Form, atom: Value) -> Optional[Form]:
    """The rest of the goal after the fact has cancelled a value, or None if it cannot.

    Sometimes only a multiple of the goal can be cancelled. The rest may then be above 0 by less than the multiple,
    because the goal is a whole number.
    """
    own = fact.get(atom, 0)
    if own * factor <= 0:
        return None
    if factor % own == 0:
        return plus(goal, fact, -(factor // own))
    if own % factor == 0:
        times = own // factor
        return plus(plus(plus({}, goal, times), {None: 1 - times}), fact, -1)
    return None


# ---- facts about operations' results ----


def _of_quotient(proofs: Proofs, op: Op) -> List[Form]:
    by = number_of(proofs.forms.of(op.args[1]))
    return _between(proofs, op, by) if by else []


def _between(proofs: Proofs, op: Op, by: int) -> List[Form]:
    """``0 <= a - by * result <= by - 1``, and the same for negative divisors."""
    sign = 1 if by > 0 else -1
    rest = plus({}, plus(proofs.forms.of(op.args[0]), {op.result: by}, -1), sign)
    return [plus({}, rest, -1), plus(rest, {None: 1 - abs(by)})]


def _of_remainder(proofs: Proofs, op: Op) -> List[Form]:
    by = proofs.forms.of(op.args[1])
    return [plus({op.result: 1, None: 1}, by, -1)] if proofs.forms.extent(by)[0] >= 1 else []


def _of_choice(proofs: Proofs, op: Op) -> List[Form]:
    """The result is at most, or at least, both operands, if the condition selects the smaller or the larger one."""
    chosen = [proofs.forms.of(value) for value in op.args[1:]]
    first_is_more = plus(chosen[0], chosen[1], -1)
    for sign in (1, -1):
        if all(any(number_of(plus(fact, first_is_more, by)) in (0, 1)
                   for fact in proofs.condition(op.args[0], truth)) for truth, by in ((True, -sign), (False, sign))):
            return [plus({}, plus({op.result: 1}, form, -1), sign) for form in chosen]
    return []


def _of_part(proofs: Proofs, op: Op) -> List[Form]:
    """A range iterator's index is at most its length."""
    path = op.attrs["path"]
    if path[-1] != "index":
        return []
    wanted = path[:-1] + ("length",)
    return [{op.result: 1, other.result: -1} for other in proofs.forms.made.values()
            if other.name == "iterator_part" and other.args == op.args and other.attrs["path"] == wanted]


def _of_shift(proofs: Proofs, op: Op) -> List[Form]:
    by = number_of(proofs.forms.of(op.args[1]))
    return _between(proofs, op, 2 ** by) if by is not None and 0 <= by < 63 else []


_PROMISES: Dict[str, Any] = {"floordiv": _of_quotient, "shr": _of_shift, "mod": _of_remainder, "select": _of_choice,
                             "iterator_part": _of_part}
