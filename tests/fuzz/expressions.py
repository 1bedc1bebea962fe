"""What generated programs compute: for each kind of value, templates by group.

Kinds: `vec` (1-d, all of one length), `short` (one item less), `mat` (three rows of that length), `mask` (comparisons
    of vectors), `num` (any scalar), `int` (Python and NumPy ints), `index`, `bound` (a few loop rounds), `cond`.
    `constant_shapes` has those of the group "constants".
A slot `{kind}` is filled with an expression, `{kind!}` with the name of a variable that exists. The first templates
    are the ones that shrinking ends with. A program uses the group "core" and some of the others.
"""

from __future__ import annotations

from typing import Dict, Tuple

from tests.fuzz import constant_shapes

Templates = Dict[str, Tuple[str, ...]]

GROUPS = ("core", "matrices", "maths", "views", "containers", "objects", "helpers", "globals", "closures",
          "iteration",
          "errors", "output", "library", "complex", "builtins", "dtypes", "records", "texts", "local",
          "lists", "grown", "factories", "draws", constant_shapes.GROUP)

# Expressions without slots, besides the names in scope.
LEAVES: Dict[str, Tuple[str, ...]] = {
    "vec": (), "short": (), "mat": (), "mask": (),
    "num": ("0.5", "2", "-1.5", "3", "0", "True", "1e3", "np.float32(1.5)", "2 ** 40"),
    "int": ("1", "2", "3", "-1", "0", "5"),
    "index": ("0", "-1", "1", "2", "-2"),
    "bound": ("3", "2", "4", "n", "len(x)"),
    "cond": ("flag", "n > 2"),
    **constant_shapes.LEAVES,
}

VECTORS: Templates = {
    "core": ("({vec} + {vec})", "({vec} * {num})", "({vec} - {vec})", "({vec} * {vec})", "({vec} / {num})", "-{vec}",
             "({num} - {vec})", "({vec} + {int})", "np.maximum({vec}, {vec})", "np.where({mask}, {vec}, {vec})",
             "np.sqrt({vec})", "abs({vec})", "{vec}[::-1]", "({vec} if {cond} else {vec})"),
    "maths": ("({vec} / {vec})", "({vec} // {num})", "({vec} % {num})", "({vec} ** 2)", "np.exp({vec})",
              "np.tanh({vec})", "np.floor({vec})", "np.minimum({vec}, {num})", "np.clip({vec}, 0, 2)",
              "{vec}.astype(np.float32)", "{vec}.astype(int)", "({vec} & {vec})", "({mask} * {vec})",
              "np.add({vec}, {vec}, out={vec!})", "{vec}.round(1)"),
    "views": ("{vec}[:]", "{vec}.copy()", "{vec}[None, :][0]", "{vec}.reshape(-1)", "{vec}[..., ::1]",
              "np.squeeze({vec}[:, None])", "{vec}[None].squeeze()", "{vec} * np.squeeze({vec}[:1])",
              "np.zeros_like({vec})", "np.full(len(x), {num})", "np.arange(len(x))", "(np.arange(x.shape[0]) * 0.5)",
              "np.concatenate(({short}, {short}[:1]))", "np.array({vec})", "np.asarray({vec})", "{vec}.T"),
    "matrices": ("{mat}[{index}]", "{mat}.sum(axis=0)", "{mat}.T[:, 0]", "{mat}.max(axis=0)", "{mat}[1, :]",
                 "({vec} @ np.eye(len(x)))", "{mat}[tuple(np.stack((np.arange(len(x)) % 3, np.arange(len(x)))))]",
                 "sum(tuple({mat}))"),
    "containers": ("xs[{index}]", "d['a']", "pair[0]", "d.get('b', {vec})", "[{vec}, {vec}][{int} % 2]", "pair[-1]",
                   "({vec}, {vec})[0]", "{'u': {vec}, 'v': {vec}}['u']", "xs[0:2][-1]",
                   "({vec} if x in (x, {num}) else x)"),
    "objects": ("box.w", "box.scale({vec})", "box.half({vec})", "box({vec})", "getattr(box, 'w')",
                "box.mixed({vec}, b={num})"),
    "helpers": ("h0({vec}, {num})", "h0({vec})", "h0(k={num}, v={vec})", "h0(*({vec}, {num}))",
                "down({vec}, {bound})",
                "h0(**{'v': {vec}, 'k': {num}})", "both(h0, {vec})", "spread({vec}, {vec})",
                "partial(h0, k={num})({vec})"),
    "closures": ("inner({vec})", "(lambda v: v * {num})({vec})"),
    "globals": ("({vec} * GAIN)", "TABLE[:len(x)]", "(TABLE[0] + {vec})"),
    "iteration": ("np.array([e * 2 for e in {vec}])", "np.array([e for e in reversed({vec})])",
                  "sum([v for v in ({vec}, {vec})])", "np.array(list(map(float, {vec})))"),
    "lists": ("({vec} * np.array([{num}, {num}, {num}]).sum())",
              "(np.array([[{num}, {num}], [{num}, 1]])[0, {int} % 2] * {vec})",
              "({vec} + np.asarray(got[:20]).sum())", "np.array([e for e in {vec}])", "np.multiply({vec}, [{num}])",
              "({vec} + ({num},))", "np.array(list({vec}), dtype=float)"),
    "library": ("np.sort({vec})", "{vec}[np.argsort({vec})]", "np.cumsum({vec})", "np.roll({vec}, {int})",
                "{vec}[[0, 1, 2]]",
                "np.linspace(0.0, 1.0, len(x))", "np.repeat({vec}, 2)[::2]", "np.flip({vec}, 0)",
                "np.interp({vec}, {vec}, {vec})",
                "{mat}.std(axis=0)", "np.linalg.norm({mat}, axis=0)", "np.median({mat}, axis=0)",
                "{mat}[0][::-1].cumsum()",
                "({mat} * {mat}).sum(axis=1)[:1] * {vec}", "np.take({vec}, [0, 1, 1, 0])[:len(x)]", "{vec}.flatten()",
                "({vec}[(np.arange(len(x)) * 2) % len(x)] * {num} + {vec})", "{vec}[np.arange(len(x)) - {int}]",
                "({mat}.T @ ({mat} @ {vec}))", "np.dot({mat}.T, np.dot({mat}, {vec}))", "(({vec} @ {mat}.T) @ {mat})",
                "np.linalg.solve(np.eye(len(x)) + {num}, {vec})", "{mat}[np.arange(len(x)) % 3, np.arange(len(x))]"),
    "dtypes": ("{vec}.astype(np.int8)", "{vec}.astype(bool)", "{vec}.astype('c8')", "np.zeros(len(x), 'f4')",
               "({vec} * np.float32(0.5))",
               "np.ones(len(x), bool)", "np.arange(len(x), dtype='i2')", "({vec} + np.array(2))",
               "({vec}.astype('u1') - 1)",
               "({vec} * np.array(0.5, 'f4'))", "np.full(len(x), 3, 'i4')", "np.array([{num}] * len(x))",
               "np.concatenate(({vec}[:0], {vec}))", "({vec}.astype('f4') + {vec})", "({vec}.astype(int) >> 1)",
               "np.zeros((0, len(x))).sum(axis=0)", "{vec}[None][0]", "np.broadcast_to(np.array({num}), (len(x),))"),
    "records": ("(point + {vec}).a", "(point * 2)[0]", "point.moved({vec}).a", "Row({vec}, {num}).a",
                "Row({vec}, 1)._replace(b=2)[0]",
                "Vec({vec}, {num}).a", "sum(list(point)[:1], {vec})", "Deep({vec}, {num}).moved({vec}).a"),
    "grown": ("(np.array([e for e in {vec}]) + {num})", "np.array([{num} for _ in range(len(x))])",
              "np.array(list({vec})[::-1])",
              "np.array([float(e) for e in x])", "np.array([[e, {num}] for e in {vec}]).reshape(-1, 2)[:, 0]"),
    "factories": ("factory({num})({vec})", "made({vec})", "made({vec}, by={num})", "loud({vec}, {num})",
                  "partial(loud, k={num})({vec})",
                  "partial(factory(2), by={num})({vec})", "both(factory({num}), {vec})",
                  "[made, abs][{int} % 2]({vec})"),
    "local": ("times({vec})", "times({vec}, {num})", "(lambda *vs: vs[-1])({num}, {vec})",
              "list(steps({vec}, 1))[-1]"),
    "draws": ("rng.normal(size=len(x))", "({vec} * rng.random())", "np.array([rng.random() for _ in {vec}])"),
    "errors": ("({vec} + {short})", "{vec}[{int}:]", "np.reshape({vec}, (2, -1))", "({vec} / 0)"),
    "complex": ("({vec} * 1j)", "({vec} + {num} * 1j).real", "({vec} * (1 + 2j)).imag", "np.conj({vec})",
                "abs({vec} - 0.5j)",
                "({vec}.conj() * {vec})", "np.exp(1j * {vec})", "({vec} / (2 - 1j))", "{vec}.real",
                "np.array([e * e for e in {vec}])"),
}

SHORTS: Templates = {
    "core": ("{vec}[1:]", "{vec}[:-1]", "({short} + {short})", "({short} * {num})", "({vec}[1:] - {vec}[:-1])"),
    "maths": ("np.diff({vec})", "np.sqrt({short})", "(0.5 * ({vec}[1:] + {vec}[:-1]))"),
    "views": ("{short}[::-1]", "{vec}[::-1][1:]", "{short}.copy()"),
    "matrices": ("{mat}[0, 1:]", "{mat}[1, :-1]"),
    "library": ("np.sort({vec})[1:]", "{vec}[np.arange(1, len(x))]", "np.diff({vec}, 1)"),
}

MATRICES: Templates = {
    "core": ("M", "({mat} + {mat})", "({mat} * {num})", "({mat} * {vec})", "({mat} - {vec})"),
    "maths": ("np.exp({mat})", "({mat} / {mat})", "np.maximum({mat}, {vec})", "({mat} ** 2)"),
    "views": ("{mat}[::-1]", "{mat}[:, ::-1]", "{mat}.T.T", "({mat} * {vec}[None, :])", "{mat}.copy()",
              "np.transpose({mat}.T)", "({mat}[:, :1] + {vec})"),
    "matrices": ("({mat} - {mat}.mean(axis=0))", "({mat} - {mat}.sum(axis=1)[:, None])",
                 "np.where({mat} > 0, {mat}, {num})",
                 "(np.eye(3) @ {mat})"),
    "library": ("{mat}[[2, 1, 0]]", "np.sort({mat}, axis=0)", "{mat}.reshape(3, -1)", "np.vstack(({vec}, {mat}[:2]))",
                "np.outer({vec}[:3], {vec})", "np.where({mat} > {num}, {mat}, 0)", "{mat}.cumsum(axis=1)"),
    "containers": ("np.stack([{vec}, {vec}, {vec}])", "np.array([{vec}, {vec}, {vec}])"),
}

MASKS: Templates = {
    "core": ("({vec} < {num})", "({vec} >= {vec})", "({vec} == {num})", "({mask} & {mask})", "~{mask}"),
    "library": ("np.isin({vec}, {vec})", "({vec} > np.sort({vec}))", "np.isclose({vec}, {vec})"),
    "maths": ("np.isnan({vec})", "np.isfinite({vec})", "({mask} | {mask})", "np.logical_not({vec})"),
}

NUMBERS: Templates = {
    "core": ("({num} + {num})", "({num} - {num})", "({num} * 0.5)", "{vec}[{index}]", "({num} / {num})", "-{num}",
             "{vec}.sum()", "abs({num})", "float({num})", "min({num}, {num})", "max({num}, {num})", "len({vec})",
             "({num} if {cond} else {num})", "({int} * 2.5)", "(x[0] * x[-1])"),
    "maths": ("({num} // {num})", "({num} % {num})", "math.sqrt({num})", "math.floor({num})", "int({num})",
              "2 ** {bound}",
              "round({num}, 2)", "math.exp({num})", "np.float64({num})", "np.float32({num})", "np.sqrt({num})",
              "np.int64({int})", "{vec}.mean()", "{vec}.max()", "np.dot({vec}, {vec})", "({vec} @ {vec})",
              "({num} and {num})", "({num} or {num})", "divmod({num}, {num})[0]", "complex({num})", "bool({num})",
              "{vec}.min()", "np.max({vec})", "{vec}.argmax()", "({mask}).sum()", "np.uint8({index})"),
    "matrices": ("M[{index}, {index}]", "{mat}[{index}][{index}]", "{mat}.sum()", "{mat}.mean()", "M.shape[1]"),
    "library": ("{vec}.std()", "np.median({vec})", "{vec}[{mask}].sum()", "np.argmin({vec})", "np.linalg.norm({vec})",
                "np.any({mask})", "np.count_nonzero({mask})", "np.searchsorted({vec}, {num})", "np.ptp({vec})",
                "{vec}.prod()",
                "np.trace({mat})", "len(np.nonzero({mask})[0])", "len(np.unique({vec}))", "np.percentile({vec}, 25)",
                "({vec} * {vec}).sum()", "np.where({mask})[0].size", "np.einsum('i,i->', {vec}, {vec})",
                "np.all({vec} == {vec})"),
    "views": ("{vec}[-2:].sum()", "{vec}[::2].sum()", "{short}.sum()", "{vec}.item({index})"),
    "containers": ("c['k']", "c.get('q', {num})", "len(xs)", "sum([{num}, {num}])", "xs[{index}][{index}]",
                   "max(c.values())",
                   "[{num}, {num}][{index}]", "d['a'][{index}]", "({num}, {num}).index({num})"),
    "objects": ("box.gain", "box.total", "box.bump({num})", "len(box.items)", "box.w[{index}]", "box.items[{index}]",
                "Box.seen", "box.seen"),
    "helpers": ("h1({vec}, {vec})", "h1({vec})", "h1(*pair)", "operator.add({num}, {num})", "fact({bound})"),
    "closures": ("rate", "(lambda a, b=2: a + b)({num})"),
    "globals": ("GAIN", "TABLE[{index}]", "STATE['total']", "len(LOG)"),
    "iteration": ("sum(e * 2 for e in {vec})", "sum([e for e in {vec} if e > 0])", "max([e + 1 for e in {vec}])",
                  "len([e for e in {vec} if {cond}])", "sum([e * g for e, g in zip({vec}, {vec})])",
                  "any(e > 1 for e in {vec})", "sum(i * e for i, e in enumerate({vec}))", "sum(map(abs, {vec}))"),
    "builtins": ("divmod({num}, {num})[1]", "math.modf({num})[0]", "min({num}, {num})", "max(0, {num})",
                 "max({num}, 0.5)", "math.log({num} * {num} + 1, 2)", "math.fsum({vec})",
                 "sorted({vec}, key=lambda e: -e)[0]", "float('2.5')",
                 "[{num}, {num}][{int} % 2]", "(list({vec}) * 4)[{int}]", "round({num}, 1)"),
    "lists": ("np.array(got[:20]).sum()", "sum(got[:20])", "np.mean(got[:9])", "max(got[:20] + [{num}])",
              "np.max([{num}, {num}])",
              "max(({num}, {int}), ({num}, 1))[0]", "got[{index}]", "len(got)", "np.sum(({num}, {num}))",
              "np.array(pairs[:20])[{index}, 1]", "pairs[{index}][{int} % 2]", "np.std(got[:9])"),
    "complex": ("({num} * 1j)", "abs({num} * 1j + {num})", "complex({num}, {num})", "({num}).real", "({num}).imag",
                "({num}).conjugate()", "({num} ** 2)", "({num} * (0.5 - 1j))", "({num} / (1 + 1j))",
                "sum(e * 1j for e in {vec})",
                "np.complex128({num})", "({vec} * 1j).sum()", "np.complex64({num})", "({num} + 1j) ** {int}"),
    "draws": ("rng.random()", "rng.uniform(-1.0, 2.0)", "rng.normal()", "rng.standard_normal()", "gen.rand()",
              "rng.normal({num}, 0.5)", "rng.uniform(0.0, {num})", "gen.randn()", "gen.uniform({num}, 1.0)",
              "rng.exponential(2.0)", "gen.normal(scale={num})", "sum(rng.random() for _ in {vec})"),
    "errors": ("out[-1]", "({num} / 0)", "int('q')", "({int} // 0)", "{vec}[{int}]", "({num} % 0)"),
    "output": ("len(out)",),
    "dtypes": ("{vec}.astype('f4').sum()", "np.array({num})[()]", "np.array({num}).item()",
               "{vec}.astype('i1').sum()", "np.int8(7)",
               "np.bool_({cond})", "{vec}.astype(bool).sum()", "{vec}[:0].sum()", "np.float16(0.5)",
               "{vec}.astype('u1')[{index}]",
               "np.add.reduce({vec})", "({vec} > 0).mean()", "np.array(2.5).sum()", "{vec}.itemsize",
               "np.int64({int} % 7)",
               "np.float32({int} % 5)", "np.result_type({vec}).itemsize"),
    "records": ("point.b", "point[1]", "len(point)", "point.norm", "Row({num}, {num}).b", "abs(point)", "-point.b",
                "Row({num}, 2).b",
                "float(point == point)", "({num} in point)", "point.count", "Deep({vec}, {num}).b", "point(1)"),
    "grown": ("len(rows)", "sum(rows)", "np.array(rows).sum()", "np.sum(rows)", "max(rows, default={num})",
              "len(table)",
              "table.get({int} % 4, {num})", "sum(table.values())", "rows.count({num})", "len(set(rows))",
              "np.array(rows, 'f4').sum()",
              "np.count_nonzero({mask})", "np.sum({mask})", "min(rows + [{num}])"),
    "factories": ("factory({num})({num})", "made({num})", "made({num}, {num})", "loud({num})",
                  "partial(made, {num})()",
                  "{'u': made, 'v': abs}['u']({num})", "sum(map(made, ({num}, {num})))"),
    "texts": ("len(word)", "len(format({num}, ''))", "int('1' * ({int} % 5 + 1))", "word.count('a')",
              "ord(word[{index}])", "float('%.2f' % 2.5)",
              "len(word.split(','))", "len(word + str({int}))"),
    "local": ("times({num})", "times({num}, k={num})", "next(steps({vec}, 2))", "sum(steps({vec}, 1))",
              "(lambda a, *b: a + len(b))({num}, 1, 2)",
              "sum(1 for _ in steps({vec}, 2))", "tally()"),
}

INTEGERS: Templates = {
    "core": ("({int} + {int})", "({int} - {int})", "({int} * 3)", "({int} // 2)", "({int} % 3)", "len({vec})",
             "x.shape[0]", "-{int}", "min({int}, {int})", "({int} if {cond} else {int})"),
    "maths": ("({int} & 3)", "({int} << 2)", "({int} >> 1)", "({int} // {int})", "({int} % {int})", "~{int}",
              "int({num})",
              "abs({int})", "({int} ^ {int})", "({int} * 2 ** 61)", "({int} + 2 ** 62)"),
    "views": ("x.size", "x.ndim", "{vec}.size"),
    "matrices": ("M.shape[0]", "M.shape[1]", "M.ndim"),
    "containers": ("len(xs)", "len(d)", "sum([{int}, {int}])"),
    "globals": ("len(LOG)",),
    "draws": ("gen.randint(3)", "rng.integers(5)", "int(rng.integers({int}, 4))", "gen.randint(-2, {int})"),
}

INDICES: Templates = {
    "core": ("(len(x) - 1)", "({int} % 3)", "-({int} % 3)", "-(1 + {int} % 2)", "len(x) // 2"),
    "errors": ("len(x)", "99", "{int}"),
}

BOUNDS: Templates = {"core": ("({int} % 5)", "min(n, 3)"), "matrices": ("M.shape[0]",), "containers": ("len(xs)",
                                                                                            )}

CONDITIONS: Templates = {
    "core": ("({num} < {num})", "({int} % 2 == 1)", "({int} > n)", "(not {cond})", "({cond} and {cond})",
             "({num} == {num})",
             "({cond} or {cond})", "(0 < {num} <= 2)", "{vec}[{index}] > {num}", "{mask}.any()", "({int} % 3 == 0)"),
    "maths": ("{mask}.all()", "isinstance({num}, float)", "({int} in (1, 2))", "{num}", "(type({num}) is int)",
              "bool({num})"),
    "builtins": ("({int} in {1, 2})", "({int} in list(range(20)))", "(str({int}) == '1')", "({num} in list({vec}))",
                 "isinstance({num}, numbers.Real)"),
    "lists": ("(({num}, ({int}, 1)) == ({num}, (2, 1)))", "(({num}, {int}) < ({num}, {int}))", "([{int}, {num}] >= [{int}])",
              "(pairs[{index}] > ({num}, {num}))", "got[:1]"),
    "complex": ("({num} * 1j == {num})", "bool({num} * 1j)", "(abs({num} - 1j) > 2)", "isinstance({num}, complex)"),
    "views": ("({vec!} is {vec!})", "(x.dtype == np.float64)", "{vec}.size > 2"),
    "containers": ("len(xs) > 1", "('k' in c)", "('a' in d)", "xs", "(c['k'] == {num})"),
    "objects": ("(box.gain > {num})", "hasattr(box, 'w')", "isinstance(box, Box)", "(box.label is None)"),
    "globals": ("(GAIN > {num})", "LOG"),
    "iteration": ("any(e > 1 for e in {vec})", "all([e < 2 for e in {vec}])"),
    "output": ("(len(out) > 2)",),
    "records": ("(point == point)", "bool(point)", "isinstance(point, Vec)", "(point is not None)"),
    "draws": ("(rng.random() < 0.5)", "(gen.rand() < {num})"),
    "texts": ("word.startswith('a')", "('a' in word)", "(word < 'b')", "(word[:1] == 'a')", "word.isdigit()"),
    "dtypes": ("(x.dtype == bool)", "({vec}.dtype.kind in 'iu')", "({vec}[:0].size == 0)",
               "bool(np.array({num}) > 1)"),
}

EXPRESSIONS: Dict[str, Templates] = {
    "vec": VECTORS, "short": SHORTS, "mat": MATRICES, "mask": MASKS, "num": NUMBERS, "int": INTEGERS,
    "index": INDICES,
    "bound": BOUNDS, "cond": CONDITIONS,
}
for _kind, _templates in constant_shapes.EXPRESSIONS.items():
    EXPRESSIONS.setdefault(_kind, {})[constant_shapes.GROUP] = _templates

# Products of two scalars: ints would get too many digits for a run where loops repeat them.
GROWING: Dict[str, Tuple[str, ...]] = {
    "num": ("({num} * {num})", "({num} ** 2)", "({num} * {int})"),
    "int": ("({int} * {int})", "({int} ** 3 % 2 ** 90)", "({int} * m)"),
}
