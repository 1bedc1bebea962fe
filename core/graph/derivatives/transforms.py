"""Derivatives of `numpy.fft`: the transforms are linear, so each adjoint is a transform again.

`derivatives` imports it. A rule must be plain NumPy code.
"""

from __future__ import annotations

from typing import Any, Optional, Tuple

import numpy as np

from pijit.core.graph.derivatives.table import derivative

Adjoints = Tuple[Any, ...]


def _fitted(whole: Any, n: int, axis: int) -> Any:
    """Cut or zero-pad an axis to the length ``n``: this reverses the parameter `n` of a transform."""
    length = np.shape(whole)[axis]
    if length == n:
        return whole
    if length > n:
        return np.take(whole, np.arange(n), axis=axis)
    widths = [(0, 0)] * np.ndim(whole)
    widths[axis] = (0, n - length)
    return np.pad(whole, widths)


def _scale(norm: Optional[str], n: int, forward: bool) -> float:
    """The scale factor of a transform of length ``n``."""
    if norm == "ortho":
        scale: float = float(n) ** -0.5
        return scale
    return 1.0 / n if (norm == "forward") == forward else 1.0


@derivative(np.fft.fft)
def _fft(g: Any, r: Any, a: Any, n: Optional[int] = None, axis: int = -1, norm: Optional[str] = None) -> Adjoints:
    length = np.shape(r)[axis]
    back = np.conj(np.fft.fft(np.conj(g), axis=axis)) * _scale(norm, length, True)
    return _fitted(back, np.shape(a)[axis], axis),


@derivative(np.fft.ifft)
def _ifft(g: Any, r: Any, a: Any, n: Optional[int] = None, axis: int = -1, norm: Optional[str] = None) -> Adjoints:
    length = np.shape(r)[axis]
    back = np.fft.fft(g, axis=axis) * _scale(norm, length, False)
    return _fitted(back, np.shape(a)[axis], axis),


@derivative(np.fft.rfft)
def _rfft(g: Any, r: Any, a: Any, n: Optional[int] = None, axis: int = -1, norm: Optional[str] = None) -> Adjoints:
    length = np.shape(a)[axis] if n is None else n
    whole = _fitted(g, length, axis)
    back = np.real(np.conj(np.fft.fft(np.conj(whole), axis=axis))) * _scale(norm, length, True)
    return _fitted(back, np.shape(a)[axis], axis),


@derivative(np.fft.irfft)
def _irfft(g: Any, r: Any, a: Any, n: Optional[int] = None, axis: int = -1, norm: Optional[str] = None) -> Adjoints:
    length = np.shape(r)[axis]
    half = length // 2 + 1
    weights = np.full(half, 2.0)
    weights[0] = 1.0
    if length % 2 == 0:
        weights[-1] = 1.0
    shape = [1] * np.ndim(a)
    shape[axis] = half
    back = np.fft.rfft(g, axis=axis) * np.reshape(weights, shape) * _scale(norm, length, False)
    return _fitted(back, np.shape(a)[axis], axis),


def _axes(a: Any, s: Any, axes: Any) -> Tuple[int, ...]:
    if axes is not None:
        return tuple(axes)
    return tuple(range(np.ndim(a))) if s is None else tuple(range(-len(s), 0))


def _each_axis(rule: Any, transform: Any, g: Any, a: Any, s: Any, axes: Tuple[int, ...], norm: Any) -> Any:
    """Adjoints of a transform along several axes; the last axis is transformed first, as in NumPy."""
    lengths = [np.shape(a)[axis] for axis in axes] if s is None else list(s)
    steps, value = [], a
    for axis, n in list(zip(axes, lengths))[::-1]:
        result = transform(value, n, axis, norm)
        steps.append((value, result, n, axis))
        value = result
    for value, result, n, axis in steps[::-1]:
        g = rule(g, result, value, n, axis, norm)[0]
    return g


@derivative(np.fft.fftn)
def _fftn(g: Any, r: Any, a: Any, s: Any = None, axes: Any = None, norm: Any = None) -> Adjoints:
    return _each_axis(_fft, np.fft.fft, g, a, s, _axes(a, s, axes), norm),


@derivative(np.fft.ifftn)
def _ifftn(g: Any, r: Any, a: Any, s: Any = None, axes: Any = None, norm: Any = None) -> Adjoints:
    return _each_axis(_ifft, np.fft.ifft, g, a, s, _axes(a, s, axes), norm),


@derivative(np.fft.fft2)
def _fft2(g: Any, r: Any, a: Any, s: Any = None, axes: Any = (-2, -1), norm: Any = None) -> Adjoints:
    return _fftn(g, r, a, s, axes, norm)


@derivative(np.fft.ifft2)
def _ifft2(g: Any, r: Any, a: Any, s: Any = None, axes: Any = (-2, -1), norm: Any = None) -> Adjoints:
    return _ifftn(g, r, a, s, axes, norm)


@derivative(np.fft.fftshift)
def _fftshift(g: Any, r: Any, x: Any, axes: Any = None) -> Adjoints:
    return np.fft.ifftshift(g, axes),


@derivative(np.fft.ifftshift)
def _ifftshift(g: Any, r: Any, x: Any, axes: Any = None) -> Adjoints:
    return np.fft.fftshift(g, axes),


