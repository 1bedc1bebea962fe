"""Templates of the group "constants": arrays whose shapes are constants of the program, along all axes or along some.

Kinds: `tall` (len(x) rows of a few columns), `few` (a single row), `grid` (four rows), `cube` (len(x) pairs of rows),
    `column` (the index of a column). The slot `{columns}` is the number of columns, one for each program.
`expressions` and `statements` merge these tables into theirs. No template may read memory that it has not written.
"""

from __future__ import annotations

from typing import Dict, Tuple

GROUP = "constants"
COLUMNS = ("3", "2", "4", "1", "3")

BOUND: Dict[str, Tuple[str, ...]] = {"tall": ("P", "Q", "R"), "few": ("edge", "g3", "h3"), "grid": ("F", "H"),
                                     "cube": ("B", "D"), "column": ("ci", "cj")}
PARAMETERS: Dict[str, Tuple[str, ...]] = {"tall": ("P",), "few": ("edge",), "grid": ("F",), "cube": ("B",)}
STARTS: Dict[str, str] = {"F": "F = np.ones((4, {columns}))", "B": "B = np.zeros((len(x), 2, {columns}))"}
LEAVES: Dict[str, Tuple[str, ...]] = {"tall": (), "few": (), "grid": (), "cube": (), "column": ("0", "-1")}

EXPRESSIONS: Dict[str, Tuple[str, ...]] = {
    "tall": (
        "np.zeros((len(x), {columns}))", "({tall} + {tall})", "({tall} * {num})", "({tall} - {few})",
        "({tall} * {vec}[:, None])", "({vec}[:, None] * {few})", "np.ones((x.shape[0], {columns}))",
        "np.full((len(x), {columns}), {num})", "np.zeros_like({tall})", "np.full_like({tall}, {num})", "({tall} / {few})",
        "{tall}[::-1]", "{tall}[:, ::-1]", "{tall}.copy()", "np.asfortranarray({tall})", "{tall}.T.copy().T",
        "{tall}.reshape(-1, {columns})", "{tall}.reshape(len(x), {columns})", "{tall}.reshape(-1).reshape(-1, {columns})",
        "np.concatenate(({tall}[:, 1:], {tall}[:, :1]), axis=1)", "np.concatenate(({grid}, {tall}))[4:]",
        "np.concatenate(({tall}, np.zeros((2, {columns}))))[2:]", "np.stack([{vec}] * {columns}, axis=1)",
        "np.stack([{vec}, {vec}, {vec}, {vec}][:{columns}], axis=-1)", "np.repeat({vec}, {columns}).reshape(-1, {columns})",
        "np.column_stack([{vec}, {vec}, {vec}, {vec}])[:, :{columns}]", "np.tile({few}, (len(x), 1))",
        "np.broadcast_to({few}, (len(x), {columns}))", "np.outer({vec}, {few})", "{grid}[np.arange(len(x)) % 4]",
        "({tall} @ np.eye({columns}))", "np.where({tall} > {num}, {tall}, {few})", "np.maximum({tall}, {few})",
        "np.sqrt(abs({tall}))", "({tall} - {tall}.mean(axis=0))", "({tall} / {tall}.sum(axis=1)[:, None])",
        "({tall} - {tall}.max(axis=1, keepdims=True))", "{tall}.cumsum(axis=1)", "np.sort({tall}, axis=1)",
        "np.roll({tall}, 1, axis=0)", "{cube}[:, 1]", "{cube}.sum(axis=1)", "({cube}[:, 0] * {tall})", "{tall}.astype('f4')",
        "({tall}[:, :1] + {few})", "np.arange(len(x) * {columns}).reshape(-1, {columns})", "({tall} if {cond} else {tall})",
        "np.zeros((len(x), {columns}), 'f4')", "np.ones((len(x), {columns}), int)", "{tall}.astype(int)", "(-{tall})",
        "np.array([{few} for _ in {vec}])", "np.clip({tall}, {few}, 2.0)", "np.add({tall}, {few}, out={tall!})",
        "({vec}[:, None] + np.zeros((1, {columns})))"),
    "few": (
        "np.zeros({columns})", "np.arange({columns} * 1.0)", "({few} + {few})", "({few} * {num})", "{tall}[{index}]",
        "{tall}.sum(axis=0)", "{tall}.max(axis=0)", "{tall}.mean(axis=0)", "{grid}[1]", "{grid}[{int} % 4]",
        "{grid}.sum(axis=0)", "{grid}.max(axis=0)", "np.full({columns}, {num})", "np.array([{num}] * {columns})",
        "np.array([{num}, {num}, {num}, {num}][:{columns}])", "{few}[::-1]", "({vec} @ {tall})", "np.sqrt({few})",
        "np.concatenate(({few}[1:], {few}[:1]))", "{cube}.sum(axis=(0, 1))", "np.maximum({few}, {num})",
        "np.ones({columns}, 'f4')", "np.array([0.5, -1.0, 2.0, 3.0])[:{columns}]", "{few}.copy()", "({few} / {few}.sum())",
        "np.where({few} > {num}, {few}, {few})", "{few}.cumsum()", "np.ones_like({few})", "(np.eye({columns}) @ {few})",
        "{few}.reshape(1, -1)[0]", "np.linspace(0.0, 1.0, {columns})", "{grid}.T[:, 2]", "np.ones({columns}, int)",
        "np.concatenate((np.zeros(1), {few}[1:]))"),
    "grid": (
        "np.zeros((4, {columns}))", "np.ones((4, {columns}))", "({grid} + {grid})", "({grid} * {few})", "({grid} - {num})",
        "np.full((4, {columns}), {num})", "np.arange(4.0 * {columns}).reshape(4, {columns})", "{grid}[::-1]",
        "np.array([[1.0, 2.0, 3.0, 4.0]] * 4)[:, :{columns}]", "np.array([[{num}] * {columns}] * 4)", "{grid}[:, ::-1]",
        "np.zeros_like({grid})", "np.vstack(({few}, {few}, {few}, {few}))", "np.sort({grid}, axis=0)", "{grid}.copy()",
        "{grid}.T.reshape(-1).reshape(4, {columns})", "np.concatenate(({grid}[2:], {grid}[:2]))", "np.exp({grid})",
        "np.where({grid} > {num}, {grid}, {few})", "np.cumsum({grid}, axis=1)", "np.roll({grid}, 1, axis=0)",
        "({grid} * np.arange(4)[:, None])", "np.stack(({few}, {few}, {few}, {few}))", "({grid} / {grid}.sum(axis=0))",
        "({grid} - {grid}.max(axis=1, keepdims=True))", "np.asfortranarray({grid})", "np.zeros((4, {columns}), 'f4')",
        "np.ones((4, {columns}), int)", "np.resize({few}, (4, {columns}))", "{grid}.reshape(2, 2, -1)[::-1].reshape(4, -1)",
        "np.concatenate(({grid}[:, 1:], np.ones((4, 1))), axis=1)"),
    "cube": (
        "np.zeros((len(x), 2, {columns}))", "np.ones((len(x), 2, {columns}))", "({cube} + {few})", "({cube} * {num})",
        "({cube} + {tall}[:, None])", "np.stack(({tall}, {tall}), axis=1)", "{cube}[:, ::-1]", "{cube}.copy()",
        "({cube} * {cube})", "{cube}[..., ::-1]", "{cube}.reshape(-1, {columns}).reshape(-1, 2, {columns})",
        "({cube} * {vec}[:, None, None])", "np.stack(({tall}, {tall})).transpose(1, 0, 2)", "({cube} - {grid}[:2])",
        "{cube}[::-1]", "({cube} - {cube}.mean(axis=1, keepdims=True))"),
    "column": ("({int} % {columns})", "-(1 + {int} % {columns})"),
    "vec": (
        "{tall}[:, {column}]", "{tall}.sum(axis=1)", "{tall}.mean(axis=1)", "({tall} @ {few})", "{tall}.max(axis=1)",
        "{tall}.min(axis=-1)", "{tall}.argmin(axis=1)", "np.linalg.norm({tall}, axis=1)", "{tall}.reshape(-1)[::{columns}]",
        "sum({tall}[:, i] for i in range({columns}))", "({tall} * {tall}).sum(axis=-1)", "{tall}.prod(axis=1)",
        "np.einsum('ij,ij->i', {tall}, {tall})", "{tall}.T[{column}]", "({vec} * {few}[{column}])", "{cube}.sum(axis=(1, 2))",
        "({tall}[:, {column}] - {tall}[:, {column}])", "{cube}[:, {int} % 2, {column}]", "({tall} > {num}).any(axis=1)",
        "({tall} == {few}).all(axis=1)", "{tall}.std(axis=1)"),
    "mat": (
        "np.zeros((3, len(x)))", "np.ones((3, len(x)))", "np.full((3, len(x)), {num})", "np.zeros_like({mat})",
        "{tall}.T[[0, -1, 0]]", "({mat} * np.array([[0.5], [1.0], [2.0]]))", "(np.arange(3.0)[:, None] + {vec})",
        "np.concatenate((np.zeros((1, len(x))), {mat}[1:]))", "{mat}.reshape(-1).reshape(3, len(x))",
        "np.concatenate(({mat}, {tall}.T))[:3]", "({mat} + np.ones((3, 1)))", "np.empty((0, len(x))).sum(axis=0) + {mat}"),
    "num": (
        "{few}.sum()", "{few}[{column}]", "{tall}[{index}, {column}]", "{grid}[1, {column}]", "{grid}.sum()",
        "({few} @ {few})", "{tall}.sum()", "{tall}.shape[1]", "{few}.max()", "{grid}.mean()", "{grid}.argmax()",
        "{few}.prod()", "({few} > 0).sum()", "{tall}[:, {column}].sum()", "{grid}[:, {column}].max()", "{tall}.max()",
        "np.linalg.norm({few})", "np.zeros(5).sum()", "{cube}[{index}, 0, {column}]", "{cube}.sum()", "{grid}.std()",
        "{tall}[1:, :1].sum()", "sum({few})", "max({few})", "len({few})", "np.dot({grid}[0], {few})"),
}

STATEMENTS: Tuple[str, ...] = (
    "{tall=} = {tall}", "{few=} = {few}", "{grid=} = {grid}", "{cube=} = {cube}", "{mat=} = {mat}",
    "space = np.empty((len(x), {columns})); space[:] = {tall}; {tall=} = space",
    "space = np.empty((4, {columns})); space[...] = {grid}; {grid=} = space",
    "space = np.empty((len(x), {columns})); np.multiply({tall}, {num}, out=space); {tall=} = space",
    "space = np.empty_like({tall}); space[:, :1] = {num}; space[:, 1:] = {tall}[:, 1:]; {tall=} = space",
    "space = np.empty((3, len(x))); space[:] = {mat}; {mat=} = space",
    "block = np.zeros((n, {columns})); block[:] = {few} * {num}; block[1:] += block[:-1]; out.append(block)",
    "block = np.zeros((n, {columns})); block[:len(x)] = {tall}[:n]; block[:, 1:] *= {num}; out.append(block)",
    "{tall!}[:] = {tall}", "{tall!}[1:] += {tall}[1:]", "{tall!}[1:] = {tall!}[:-1]", "{tall!}[:-1] -= {tall}[1:]",
    "{tall!}[:, {column}] = {vec}", "{tall!}[:, {column}] += {vec}", "{tall!}[:, 1:] += {tall}[:, 1:]",
    "{tall!}[:, :-1] = {tall!}[:, 1:]", "{tall!}[{index}] = {few}", "{tall!}[{index}] += {few}", "{tall!}[::-1] = {tall}",
    "{tall!}[::2] *= {num}", "{tall!}[::2] = {tall!}[::2] + {few}", "{tall!}[:, ::-1] += {tall}", "{tall!}[:, ::2] = {num}",
    "{tall!} += {few}", "{tall!} *= {vec}[:, None]", "{tall!} -= {tall}", "{tall!}[{index}, {column}] = {num}",
    "{tall!}[1:-1] = {tall!}[2:] * 0.5 + {tall!}[:-2]", "{tall!}[...] = {vec}[:, None]", "{tall!}[{tall} > {num}] = {num}",
    "{tall!}[:2] = {grid}[:len(x)][:2]", "{tall!}[1:, 1:] += {tall!}[:-1, :-1]", "{tall!}.T[{column}] = {vec}",
    "{tall!}[:, 0], {tall!}[:, -1] = {vec}, {vec}", "{tall!}[::-2, ::-1] = {few}", "np.add({tall}, {few}, out={tall!})",
    "np.multiply({tall}, {tall}, out={tall!})", "{tall!}[:] = {few}", "{tall!}[1:] = {num}",
    "{few!}[:] = {tall}[{index}]", "{few!}[1:] += {few}[:-1]", "{few!}[{column}] = {num}", "{few!}[{column}] += {num}",
    "{few!} *= {num}", "{few!} += {tall}.sum(axis=0)", "{few!}[::-1] = {few}", "{few!}[:-1] = {few!}[1:]", "{few!} -= {few}",
    "{grid!}[1:] += {grid}[1:]", "{grid!}[:] = {grid}", "{grid!}[{int} % 4] = {few}", "{grid!}[:, {column}] = {num}",
    "{grid!}[1:3] *= {few}", "{grid!}[::-1] += {grid}", "{grid!}[::2] = {grid!}[1::2]", "{grid!}[:, 1:] = {grid!}[:, :-1]",
    "{grid!}[1:-1] = {grid!}[2:] - {grid!}[:-2]", "{grid!} += {few}", "{grid!}[2] += {tall}[{index}]", "{grid!} *= {grid}",
    "{grid!}[:, {column}] = {grid!}[:, {column}] * {num}", "{grid!}[1, {column}] += {num}", "{grid!}[2:][::-1] -= {few}",
    "{grid!}[1:, 1:] = {grid!}[:-1, :-1] + {num}", "{grid!}[[0, 2]] = {few}", "{grid!}[{grid} > {num}] = {num}",
    "np.add({grid}, {few}, out={grid!})", "{grid!}.T[{column}] = {num}", "{grid!}.reshape(-1)[1:] = {num}",
    "{cube!}[:, 0] = {tall}", "{cube!}[:, 1] += {tall}", "{cube!}[1:] *= {cube}[:-1]", "{cube!}[:, :, {column}] = {num}",
    "{cube!}[:] = {tall}[:, None]", "{cube!}[:, ::-1, 1:] -= {few}[1:]", "{cube!}[..., :1] = {vec}[:, None, None]",
    "{cube!}[:, 1:] += {cube!}[:, :1]", "{cube!} += {few}", "{cube!}[{index}] = {grid}[:2]", "{cube!}[{index}, 0] = {few}",
    "{mat!}[1:] += {mat}[1:]", "{mat!}[:2, 1:] = {mat!}[1:, :-1]", "{mat!}[::-1] = {mat}", "{mat!}[:] = {vec}",
    "{mat!}[1] = {tall}[:, {column}]", "{mat!} *= np.array([[1.0], [2.0], [0.5]])", "{mat!}[::2] -= {vec}",
    "for i in range({columns}): {tall!}[:, i] = {vec} * {few}[i]", "for i in range(4): {grid!}[i] += {few} * i",
    "for i in range({columns}): {vec!} += {tall}[:, i] * {num}", "for i in range({columns}): {few!}[i] += {tall}[:, i].sum()",
    "for i in range(1, {columns}): {tall!}[:, i] += {tall!}[:, i - 1]", "for i in range(len(x)): {tall!}[i] = {few} * i",
    "for i in range(len(x)): {tall!}[i, {column}] = {vec}[i]", "for i in range(1, 4): {grid!}[i] = {grid!}[i - 1] + {few}",
    "for i in range(len(x)): {few!} += {tall}[i]", "for i in range({columns}): {num=} = {few}[i] * {num}",
    "{num=} = 0.0", "pad = np.zeros(5); pad[1:4] = {num}; pad[2:] += pad[:-2]; out.append(pad)",
    "pad = np.zeros(5); pad[1:1 + {columns}] = {few}; {num=} = pad.sum(); out.append(pad)",
    "pad = np.zeros((len(x) + 2, {columns})); pad[1:-1] = {tall}; {tall=} = pad[2:] + pad[:-2]",
    "pad = np.zeros((len(x), {columns} + 2)); pad[:, 1:-1] = {tall}; {tall=} = pad[:, 2:] - pad[:, :-2]; out.append(pad)",
    "pad = np.ones((4, len(x))); pad[1:] *= {vec}; pad[:, :1] = {num}; out.append(pad)",
    "pad = np.zeros((2, 3)); pad[:] = {num}; pad[1:, 1:] += pad[:1, :-1]; out.append(pad)",
)

LOOPS: Tuple[str, ...] = (
    "for {column=} in range({columns}):", "for {loop=} in range(4):", "for {few=} in {tall}:", "for {few=} in {grid}:",
    "for {loop=}, {few=} in enumerate({grid}):", "for {column=}, {num=} in enumerate({few}):", "for {vec=} in {tall}.T:",
)
