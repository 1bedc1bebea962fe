"""Derivatives of products of vectors and matrices, of einsum and of convolutions.

`derivatives` imports it. A rule must be plain NumPy code.
"""

from __future__ import annotations

from typing import Any, Tuple

import numpy as np

from pijit.core.graph.derivatives.adjoints import adjoint_matrix, conjugated, sum_to, unstacked
from pijit.core.graph.derivatives.table import NEW, PRODUCT, derivative

Adjoints = Tuple[Any, ...]


def _stack_left(g: Any, r: Any, a: Any, b: Any) -> Any:
    """The adjoint of the left operand, if broadcasting repeats none of its matrices."""
    return np.matmul(g, adjoint_matrix(b))


def _stack_right(g: Any, r: Any, a: Any, b: Any) -> Any:
    """The adjoint of the right operand, if broadcasting repeats none of its matrices."""
    return np.matmul(adjoint_matrix(a), g)


def _matmul_left(g: Any, r: Any, a: Any, b: Any, **kwargs: Any) -> Any:
    if np.ndim(b) == 1:
        return g * conjugated(b) if np.ndim(a) == 1 else unstacked(np.asarray(g)[..., None] * conjugated(b), a)
    if np.ndim(a) == 1:
        return unstacked(np.matmul(conjugated(b), np.asarray(g)[..., None])[..., 0], a)
    return unstacked(_stack_left(g, r, a, b), a)


def _matmul_right(g: Any, r: Any, a: Any, b: Any, **kwargs: Any) -> Any:
    if np.ndim(a) == 1:
        return g * conjugated(a) if np.ndim(b) == 1 else unstacked(
            conjugated(a)[:, None] * np.asarray(g)[..., None, :], b)
    if np.ndim(b) == 1:
        return unstacked(np.matmul(adjoint_matrix(a), np.asarray(g)[..., None])[..., 0], b)
    return unstacked(_stack_right(g, r, a, b), b)


OF_EQUAL_STACKS = {_matmul_left: _stack_left, _matmul_right: _stack_right}
"""The partials for operands of which broadcasting repeats nothing. They have no branches, so kernels stay small."""


@derivative(np.matmul, operands=2, partials=(_matmul_left, _matmul_right), result=PRODUCT)
def _matmul(g: Any, r: Any, a: Any, b: Any, **kwargs: Any) -> Adjoints:
    return _matmul_left(g, r, a, b), _matmul_right(g, r, a, b)


def _is_matmul(a: Any, b: Any) -> bool:
    """Whether `np.dot` of two arrays with axes is their `np.matmul`."""
    return np.ndim(b) == 1 or np.ndim(a) <= 2 and np.ndim(b) == 2


def _dot_left(g: Any, r: Any, a: Any, b: Any, out: Any = None) -> Any:
    if np.ndim(a) == 0 or np.ndim(b) == 0:
        return sum_to(g * conjugated(b), np.shape(a))
    if _is_matmul(a, b):
        return _matmul_left(g, r, a, b)
    return np.tensordot(g, conjugated(b), axes=(tuple(range(np.ndim(a) - 1, np.ndim(g))),
                                                tuple(k for k in range(np.ndim(b)) if k != np.ndim(b) - 2)))


def _dot_right(g: Any, r: Any, a: Any, b: Any, out: Any = None) -> Any:
    if np.ndim(a) == 0 or np.ndim(b) == 0:
        return sum_to(g * conjugated(a), np.shape(b))
    if _is_matmul(a, b):
        return _matmul_right(g, r, a, b)
    axes = tuple(range(np.ndim(a) - 1))
    return np.moveaxis(np.tensordot(conjugated(a), g, axes=(axes, axes)), 0, np.ndim(b) - 2)


@derivative(np.dot, operands=2, method="dot", partials=(_dot_left, _dot_right), result=PRODUCT)
def _dot(g: Any, r: Any, a: Any, b: Any, out: Any = None) -> Adjoints:
    return _dot_left(g, r, a, b), _dot_right(g, r, a, b)


@derivative(np.inner, operands=2, result=NEW)
def _inner(g: Any, r: Any, a: Any, b: Any) -> Adjoints:
    if np.ndim(a) == 0 or np.ndim(b) == 0:
        return sum_to(g * conjugated(b), np.shape(a)), sum_to(g * conjugated(a), np.shape(b))
    lead = np.ndim(a) - 1
    to_a = np.tensordot(g, conjugated(b), axes=(tuple(range(lead, np.ndim(g))), tuple(range(np.ndim(b) - 1))))
    to_b = np.tensordot(g, conjugated(a), axes=(tuple(range(lead)), tuple(range(lead))))
    return to_a, to_b


@derivative(np.vdot, operands=2, result=NEW)
def _vdot(g: Any, r: Any, a: Any, b: Any) -> Adjoints:
    to_a = np.conj(g) * np.reshape(b, -1) if np.iscomplexobj(r) else g * np.reshape(b, -1)
    return np.reshape(to_a, np.shape(a)), np.reshape(g * np.reshape(a, -1), np.shape(b))


@derivative(np.outer, operands=2, result=NEW)
def _outer(g: Any, r: Any, a: Any, b: Any, out: Any = None) -> Adjoints:
    """Sums of products, as of `a[:, None] * b`."""
    to_a = np.sum(g * conjugated(np.reshape(b, -1)), axis=1)
    to_b = 0.0 + np.sum(g * conjugated(np.reshape(a, -1))[:, None], axis=0)
    return np.reshape(to_a, np.shape(a)), np.reshape(to_b, np.shape(b))


def _letters(subscripts: str, operands: Any) -> Tuple[Tuple[str, ...], str]:
    """The subscripts of operands and result in full: no ellipsis, no implicit result."""
    text = subscripts.replace(" ", "")
    free = [letter for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz" if letter not in text]
    inputs, arrow, output = text.partition("->")
    terms, longest = inputs.split(","), 0
    for k, (term, operand) in enumerate(zip(terms, operands)):
        if "..." in term:
            n = np.ndim(operand) - len(term.replace("...", ""))
            longest = max(longest, n)
    batch = "".join(free[:longest])
    for k, (term, operand) in enumerate(zip(terms, operands)):
        if "..." in term:
            n = np.ndim(operand) - len(term.replace("...", ""))
            terms[k] = term.replace("...", batch[longest - n:])
    if not arrow:
        joined = "".join(terms)
        output = batch + "".join(sorted(letter for letter in set(joined) if joined.count(letter) == 1
                                        and letter not in batch))
    return tuple(terms), output.replace("...", batch)


@derivative(np.einsum, operands=0)
def _einsum(g: Any, r: Any, *operands: Any, **kwargs: Any) -> Adjoints:
    if not isinstance(operands[0], str):
        raise NotImplementedError("no derivative is known of np.einsum without a string of subscripts")
    arrays = operands[1:]
    terms, output = _letters(operands[0], arrays)
    found = [None]
    for k, (term, array) in enumerate(zip(terms, arrays)):
        if len(set(term)) != len(term):
            raise NotImplementedError("no derivative is known of np.einsum with a repeated subscript in one operand")
        others = [(one, conjugated(value)) for j, (one, value) in enumerate(zip(terms, arrays)) if j != k]
        known = set(output).union(*(one for one, _ in others)) if others else set(output)
        target = "".join(letter for letter in term if letter in known)
        part = np.einsum(",".join([output] + [one for one, _ in others]) + "->" + target, g,
                         *[value for _, value in others])
        sizes = dict(zip(target, np.shape(part)))
        part = np.reshape(part, tuple(sizes.get(letter, 1) for letter in term))
        wide = tuple(sizes.get(letter, n) for letter, n in zip(term, np.shape(array)))
        found.append(sum_to(np.broadcast_to(part, wide), np.shape(array)))
    return tuple(found)


@derivative(np.convolve, operands=2, result=NEW)
def _convolve(g: Any, r: Any, a: Any, v: Any, mode: str = "full") -> Adjoints:
    n, m = np.size(a), np.size(v)
    whole = np.zeros(n + m - 1, dtype=np.asarray(g).dtype)
    start = {"full": 0, "same": (min(n, m) - 1) // 2, "valid": min(n, m) - 1}[mode]
    whole[start:start + np.size(g)] = g
    return np.correlate(whole, v, "valid")[:n] if m <= n else _correlated(whole, v, n), \
        np.correlate(whole, a, "valid")[:m] if n <= m else _correlated(whole, a, m)


def _correlated(whole: Any, kernel: Any, n: int) -> Any:
    """sum over k of whole[i + k] conj(kernel[k]) for i below ``n``."""
    windows = np.stack([whole[k:k + n] for k in range(np.size(kernel))])
    return np.matmul(conjugated(np.asarray(kernel)), windows)


@derivative(np.correlate, operands=2, result=NEW)
def _correlate(g: Any, r: Any, a: Any, v: Any, mode: str = "valid") -> Adjoints:
    if np.iscomplexobj(a) or np.iscomplexobj(v):
        raise NotImplementedError("no derivative is known of np.correlate of complex arrays")
    if np.size(v) > np.size(a):
        to_v, to_a = _convolve(g[::-1], r, v, a[::-1], mode)
        return to_a[::-1], to_v
    to_a, to_v = _convolve(g, r, a, v[::-1], mode)
    return to_a, to_v[::-1]
