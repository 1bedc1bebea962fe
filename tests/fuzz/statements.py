"""What generated programs do: templates of statements by group, and of the statements that hold blocks.

A slot `{kind=}` is filled with a variable that the statement binds. The rest is as in `expressions`.
"""

from __future__ import annotations

from typing import Dict, NamedTuple, Tuple

from tests.fuzz.expressions import Templates


SIMPLE: Templates = {
    "core": ("{vec=} = {vec}", "{num=} = {num}", "{int=} = {int}", "{vec!} += {vec}", "{num!} += {num}",
             "{vec!} *= {num}",
             "{vec!}[{index}] = {num}", "{vec!}[{index}] += {num}", "{vec!}[1:] = {short}", "{vec!}[:] = {vec}",
             "{short=} = {short}", "{int!} += {int}", "{vec!}[1:] = {vec!}[:-1]", "{vec!} -= {num}", "x, y = y, x",
             "{vec!}[1:-1] = {vec!}[2:] * 0.5", "{num=}, {int=} = {num}, {int}", "{vec!}[::2] = {vec!}[::2] + 1"),
    "maths": ("{vec!} /= {num}", "{vec!}[{mask}] = {num}", "{num!} /= {num}", "{int!} //= {int}", "{vec!} **= 2",
              "{num!} -= {num}", "{vec!} %= {num}", "np.multiply({vec}, {num}, out={vec!})", "{int!} *= 3"),
    "library": ("seen = {mask}; {vec!}[seen] = {vec}[seen]", "{vec!}[[0, -1]] = {num}",
                "{vec!}[np.argsort({vec})] = {vec}",
                "{vec!}[{mask}] += 1", "np.add.at({vec!}, np.arange(len(x)) % 2, {vec})",
                "{vec!}[np.arange(len(x)) - {int}] = {vec}", "{vec!}[np.argsort({vec})[1:]] += {num}",
                "seen = {mask}; {vec!}[seen] = {vec}[seen] * {num}"),
    "views": ("{vec!}[::-1] = {vec}", "{vec!}[:-1] += {vec!}[1:]", "{vec!}[1:] += {vec!}[:-1]",
              "{vec=} = {vec!}[::-1]", "{vec!}[::-1] += {vec!}", "{vec!}[-2::-1] = {vec!}[:-1]",
              "{vec!}[::-2] = {num}", "{vec!}[:-1] = {vec!}[::-1][1:]",
              "np.add({vec!}[1:], {vec!}[:-1], out={vec!}[1:])",
              "part = slice({int}, None); {vec!}[part] += {num}", "part = slice(1, {int}, 2)",
              "{vec=} = {vec!}[part]", "out.append(part)",
              "{vec!}[...] = {num}", "{vec!}[:2] = {num}", "{vec!}[-1:] = {vec!}[:1]", "{vec=} = {vec!}"),
    "matrices": ("{mat=} = {mat}", "{mat!}[{index}] = {vec}", "{mat!}[:, {index}] = {num}",
                 "{mat!}[{index}, {index}] = {num}",
                 "{mat!} += {vec}", "{mat!}[1:] = {mat!}[:-1]", "{mat!}[0] += {mat!}[1]", "{mat!}.T[{index}] = {num}",
                 "{mat!}[:, 1:] = {mat!}[:, :-1]", "{mat!} *= {num}", "{vec=} = {mat!}[{index}]",
                 "{mat!}[1, 1:-1] = {mat!}[0, 2:] + {mat!}[2, :-2]"),
    "containers": ("xs[0] = {vec}", "xs[-1] += {vec}", "xs.reverse()", "xs[{index}][{index}] = {num}",
                   "c['k'] = {num}",
                   "c['k'] += {num}", "d['a'] = {vec}", "d['b'] += {vec}", "c.update(k={num}, q={int})",
                   "d['a'][{index}] = {num}",
                   "{vec=}, {vec=} = pair", "xs[0], xs[-1] = xs[-1], xs[0]", "xs.insert(0, xs.pop())",
                   "c.setdefault('z', {num})",
                   "pair = ({vec}, {vec})", "{vec=} = xs[{index}]", "xs = [{vec}, {vec}]",
                   "d = {'a': {vec}, 'b': {vec}}",
                   "c.pop('q', None)", "{num=} = c.pop('q', {num})", "{vec=}, *rest = xs", "c[{int}] = {num}",
                   "c[{int}, 1] = c.get({int}, {num})",
                   "xs = xs + [{vec}]", "d['b'][:] = {vec}", "xs[:2] = [{vec}, {vec}]", "del xs[2:]",
                   "xs[{index}:{index}] = pair; del xs[3:]",  # a loop over xs has to end
                   "c.update(k={num})", "xs.extend({vec}); del xs[3:]"),
    "objects": ("box.gain = {num}", "box.w = {vec}", "box.w += {vec}", "box.gain += {num}", "box.items.append({num})",
                "box.w[{index}] = {num}", "box.bump({num})", "box.w[1:] = {short}", "setattr(box, 'gain', {num})",
                "box.items[-1] = {num}", "box.label = 'seen'", "box = Box({vec}, {num})",
                "box.extra = {num}; {num=} = box.extra; del box.extra",
                "box.label = 1; del box.label; box.label = None",
                "box.extra = {num}; delattr(box, 'extra')",
                "step = box.mixed", "{num=} = step({num})", "{num=} = step({num}, b={num})"),
    "helpers": ("{vec=} = h0({vec}, {num})", "{num=} = h1({vec})", "poke({vec!}, {index}, {num})", "note({num})",
                "{vec=}, {num=} = two({vec}, {num})", "{num=} = watch({vec!}, {num})", "tell({num}, {vec}, k={num})",
                "{num!} += tell({num}) + watch({vec!}, tell({num}, 1))"),
    "globals": ("GAIN = {num}", "GAIN += {num}", "LOG.append({num})", "STATE['total'] = {num}",
                "STATE['total'] += {num}",
                "TABLE[{index}] = {num}", "TABLE[:2] = [{num}, {num}]", "del GAIN; GAIN = {num}",
                "STATE.update(last={int})", "change({int})"),
    "closures": ("rate = {num}", "rate += {num}", "{num=} = rate"),
    "iteration": ("{num=} = sum([e for e in {vec}])", "out.extend([e + {num} for e in {vec}])",
                  "out += [i for i in range({bound})]",
                  "{num=} = sum(e for v in ({vec}, {vec}) for e in v)",
                  "out.append({i: e for i, e in enumerate({vec})})",
                  "{num=} = max([{num}] + [e for e in {vec}])", "out.append(sorted([{int}, {int}]))",
                  "queue = deque({vec}, {bound})", "queue = deque([{num}, {num}])", "queue.append({num})",
                  "queue.appendleft({num})",
                  "heap = [{num}]", "heappush(heap, {num})", "heappush(heap, {num})", "{num=} = heappop(heap)",
                  "out.append(heap[:])",
                  "{num=} = queue.popleft()", "{num=} = queue.pop()",
                  "out.append((len(queue), queue[0], bool(queue)))",
                  "{num=}, *rest = {vec}", "out.append([e for e, n in rising({vec}, {num})])"),
    "builtins": ("{num=}, {num=} = divmod({num}, {num})", "out.append([0.0] * {bound} + [{num}])",
                 "{num=}, {num=} = {vec}[:2]", "out += sorted({vec}, key=lambda e: e * e)",
                 "out.append({int(e) for e in {vec}})",
                 "{num=} = max({num!}, {num})",
                 "out.append(f\"\"\"{({num}):.3g} of {({int})}\"\"\")", "out.append(list({vec})[1:])",
                 "out.append({e: {num} for e in {vec}})",
                 "out.append(x.shape + ({int},))",
                 "ranks = sorted({vec}); ranks.sort(reverse=True); out.append(ranks)",
                 "out.append('%g %s' % ({num}, {int}))"),
    "lists": ("got.append({num})", "got.append(float({num}))", "got = []", "got = [{num}]",
              "got += [{num}, {num}]", "del got[40:]",
              "got.extend(e * {num!} for e in {vec})", "got.extend(range({bound}))", "got.sort(key=lambda e: -e)",
              "got.extend(map(abs, {vec}))", "got[{index}] = {num}", "pairs.append(({num}, {int}))", "pairs = []",
              "pairs.append([{num}, {num}])", "pairs.sort(key=lambda p: p[0])", "out.append(got[:])",
              "out.append(pairs[:])",
              "{num=} = got.pop()", "{vec!}[:2] = [{num}, {int}]", "{vec!}[:] = list({vec})",
              "out.append(np.array(pairs[:20]))",
              "kept = {'a': {num}}; kept.update([('b', {num}), ('a', {int})], c={num}); out.append(kept)",
              "kept = {0: {num}, 1: {num}}; {num=} = kept.get({int}); out.append(max(kept, key=kept.get))",
              "kept = {'g': []}; kept['g'].append({num}); {num=} = np.array(kept['g']).sum()"),
    "dtypes": ("{vec!} += np.int8(1)", "{vec!}[{index}] = np.float32(0.5)", "{vec!} += np.array(1)",
               "{vec=} = {vec}.astype('f4')",
               "{vec=} = {vec}.astype(int)", "{vec!}[:0] = {num}", "{vec!}[...] = np.array({num})",
               "{vec!}[{index}] += True",
               "{vec!} |= True", "{vec!} //= 2", "{vec!}[:] = {vec} > 0",
               "cell = np.array({num}); cell += 1; {num=} = cell[()]",
               "cell = np.zeros(()); cell[()] = {num}; {num=} = float(cell)", "{num=} = np.float32({int} % 9)",
               "out.append({vec}[:0])", "out.append(np.array({num}))", "{vec!} ^= 1", "{vec!} <<= 1"),
    "records": ("point.b = {num}", "point.b += {num}", "point.a = {vec}", "point[0] = {vec}", "point += {vec}",
                "point = Vec({vec}, {num})",
                "{vec=}, {num=} = point", "{vec=}, {num=} = Row({vec}, {num})",
                "row = Row({vec}, {num}); {num=} = row.b; out.append(row)",
                "point = point + {vec}", "point.norm = {num}", "out.append(point.b)", "point = Deep({vec}, {num})",
                "point.a[{index}] = {num}",
                "{num=} = point(2)", "del point[0]", "with point: {num=} = point.b"),
    "texts": ("word = word + 'a'", "word += str({int})", "out.append(word.upper())", 'out.append(f"""{({num}):}""")',
              "word = word[::-1]",
              "word = ','.join(['a', word])", "out.append(word.split(','))", "word = '%d-%s' % ({int}, word)",
              "print(word, end='')",
              "word = word.replace('a', 'b')", "out.extend(word)", 'word = f"""{(word)}{({int})}"""',
              "out.append([ord(e) for e in word])"),
    "local": ("{vec=} = times({vec}, {num})", "{num=} = tally({num})", "tally()", "{num=} = sum(steps({vec}, 2))",
              "out.append(list(steps({vec}, 1)))",
              "hold = lambda e: e + {num!}; {num=} = hold({num})",
              "hold = lambda e, k={num}: e * k; {vec=} = hold({vec})",
              "out.append([times(e) for e in {vec}])", "out.append({k: tally(k) for k in range(2)})"),
    "errors": ("assert {cond}", "del {num!}", "out.append(out[{int}])", "raise ValueError({num})",
               "{vec!}[{int}] = {num}",
               "warnings.warn('seen')", "{num=} = {num!} / {num}"),
    "output": ("print({num})", "out.append({num})", "put = out.append; put({num})", "put({num})",
               "print({int}, {num}, sep='-')", "out.append({vec})", "print({vec}.shape)",
               "out.append(({int}, {num}))", "print({vec})", 'print(f"{({num}):}")', "out.append('%s' % {num})"),
}

LOOPS: Templates = {
    "core": ("for {loop=} in range({bound}):", "for {loop=} in range(len({vec!})):",
             "for {loop=} in range(1, len(x) - 1):",
             "for {loop=} in range({bound}, 0, -1):", "for {loop=} in range(0, len(x), 2):", "while"),
    "matrices": ("for {loop=} in range(M.shape[0]):", "for {vec=} in {mat}:",
                 "for {loop=}, {vec=} in enumerate({mat}):"),
    "iteration": ("for {num=} in {vec}:", "for {loop=}, {num=} in enumerate({vec}):",
                  "for {num=}, {num=} in zip({vec}, {vec}):",
                  "for {num=} in reversed({vec}):", "for {num=} in ({num}, {num}):", "for {loop=} in [{int}, {int}]:",
                  "for {loop=}, {num=} in zip(range({bound}), {vec}):", "for {num=} in [e * 2 for e in {vec}]:",
                  "for {num=} in (e * {num!} for e in {vec} if e > 0):",
                  "for {num=} in map(lambda e: e + {num!}, {vec}):",
                  "for {num=} in filter(lambda e: e < {num!}, {vec}):",
                  "for {num=}, {loop=} in rising({vec}, {num}):",
                  "for {loop=}, {num=} in enumerate(every({vec}, {int})):", "for {num=} in map(max, {vec}, {vec}):",
                  "for {num=} in (e - g for e in {vec} for g in range(2)):"),
    "builtins": ("for {num=} in list({vec}) * 5:", "for {loop=}, {num=} in list(enumerate({vec})) * 5:",
                 "for {num=}, {num=} in np.stack(({vec}, {vec}), 1):", "for {num=} in sorted({vec}):",
                 "for {loop=}, {num=} in dict(enumerate(list({vec}) * 3)).items():",
                 "for {num=} in {i: e for i, e in enumerate(list({vec}) * 5)}.values():"),
    "lists": ("for {num=} in got[:20]:", "for {num=}, {num=} in pairs[:20]:",
              "for {loop=}, {num=} in enumerate(got[:20]):",
              "for {num=} in sorted(got[:20], key=lambda e: e):"),
    "containers": ("for {vec=} in xs:", "for {vec=} in pair:", "for {loop=}, {vec=} in enumerate(xs):",
                   "for {num=} in c.values():",
                   "for {vec=}, {vec=} in zip(xs, pair):", "for {vec=} in reversed(xs):",
                   "for key, {vec=} in d.items():",
                   "for key in d:", "for key, {num=} in sorted(c.items()):"),
}

CONTEXTS: Templates = {
    "core": ("with np.errstate(all='ignore'):",),
    "maths": ("with np.errstate(divide='raise', invalid='ignore'):", "with np.errstate(over='raise'):",
              "with np.errstate(all='warn'):", "with np.errstate(all='raise', under='ignore'):"),
    "globals": ("with Note(LOG, 'one'):", "with Note(LOG, 'two', ZeroDivisionError):",
                "with Note(LOG, 'three', Exception) as seen:"),
}

HANDLERS = ("except Exception:", "except IndexError:", "except (ZeroDivisionError, ValueError) as error:",
            "except FloatingPointError:", "except (LookupError, OverflowError):",
            "except (TypeError, AttributeError, KeyError):",
            "except UnboundLocalError:")

STARTS: Dict[str, str] = {
    "out": "out = []", "part": "part = slice(1, None)", "queue": "queue = deque([s, t])", "heap": "heap = [0.5]",
    "got": "got = []", "pairs": "pairs = []", "put": "put = out.append", "step": "step = box.mixed",
    "word": "word = 'a,b'", "point": "point = Vec(x, s)",
}
"""Names that templates use as they are, and what binds them where a function begins."""

RETURNS = {"vec": "return {vec}", "num": "return {num}", "any": "return {vec}, {num}"}


class Variables(NamedTuple):
    """Names by kind: those that a statement may bind, and those that are there from the start."""

    bound: Dict[str, Tuple[str, ...]]
    parameters: Dict[str, Tuple[str, ...]]


MAIN = Variables({"vec": ("x", "y", "u", "v"), "num": ("s", "t", "a", "b"), "int": ("m", "k"), "short": ("p", "q"),
                  "mat": ("M", "W"), "loop": ("i", "j", "l")},
                 {"vec": ("x", "y"), "num": ("s", "t"), "int": ("m", "n"), "mat": ("M",)})
HELPER = Variables({"vec": ("v", "w"), "num": ("k", "r"), "int": ("g",), "short": ("p",), "loop": ("i", "j")},
                   {"vec": ("v",), "num": ("k",), "int": ("len(v)",)})
