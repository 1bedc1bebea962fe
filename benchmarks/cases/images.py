"""Benchmarks: images and convolution."""

from __future__ import annotations

import math

import numpy as np

from benchmarks.cases.case import Case, grids, side, uniform


def blur(image):
    result = image.copy()
    result[1:-1, 1:-1] = (image[:-2, :-2] + image[:-2, 1:-1] + image[:-2, 2:]
                          + image[1:-1, :-2] + image[1:-1, 1:-1] + image[1:-1, 2:]
                          + image[2:, :-2] + image[2:, 1:-1] + image[2:, 2:]) / 9.0
    return result


def blur_tuned(image):
    rows, columns = image.shape
    nine, result = image.dtype.type(9.0), image.copy()
    for i in range(1, rows - 1):
        for j in range(1, columns - 1):
            result[i, j] = (image[i - 1, j - 1] + image[i - 1, j] + image[i - 1, j + 1]
                            + image[i, j - 1] + image[i, j] + image[i, j + 1]
                            + image[i + 1, j - 1] + image[i + 1, j] + image[i + 1, j + 1]) / nine
    return result


def sobel(image):
    gx = (image[:-2, 2:] + 2.0 * image[1:-1, 2:] + image[2:, 2:]) - (
        image[:-2, :-2] + 2.0 * image[1:-1, :-2] + image[2:, :-2])
    gy = (image[2:, :-2] + 2.0 * image[2:, 1:-1] + image[2:, 2:]) - (
        image[:-2, :-2] + 2.0 * image[:-2, 1:-1] + image[:-2, 2:])
    return np.hypot(gx, gy)


def sobel_tuned(image):
    rows, columns = image.shape
    two, result = image.dtype.type(2.0), np.empty((rows - 2, columns - 2), image.dtype)
    for i in range(1, rows - 1):
        for j in range(1, columns - 1):
            gx = (image[i - 1, j + 1] + two * image[i, j + 1] + image[i + 1, j + 1]) - (
                image[i - 1, j - 1] + two * image[i, j - 1] + image[i + 1, j - 1])
            gy = (image[i + 1, j - 1] + two * image[i + 1, j] + image[i + 1, j + 1]) - (
                image[i - 1, j - 1] + two * image[i - 1, j] + image[i - 1, j + 1])
            result[i - 1, j - 1] = math.hypot(gx, gy)
    return result


def convolve(image, kernel):
    rows, columns = kernel.shape
    height, width = image.shape[0] - rows + 1, image.shape[1] - columns + 1
    result = np.zeros((height, width), dtype=image.dtype)
    for i in range(rows):
        for j in range(columns):
            result += kernel[i, j] * image[i:i + height, j:j + width]
    return result


def convolve_tuned(image, kernel):
    rows, columns = kernel.shape
    height, width = image.shape[0] - rows + 1, image.shape[1] - columns + 1
    result = np.zeros((height, width), image.dtype)
    for y in range(height):
        for i in range(rows):
            for j in range(columns):
                weight = kernel[i, j]
                for x in range(width):
                    result[y, x] += weight * image[y + i, x + j]
    return result


def grey(rgb):
    return 0.299 * rgb[..., 0] + 0.587 * rgb[..., 1] + 0.114 * rgb[..., 2]


def grey_tuned(rgb):
    rows, columns, _ = rgb.shape
    t, result = rgb.dtype.type, np.empty((rows, columns), rgb.dtype)
    r, g, b = t(0.299), t(0.587), t(0.114)
    for i in range(rows):
        for j in range(columns):
            result[i, j] = r * rgb[i, j, 0] + g * rgb[i, j, 1] + b * rgb[i, j, 2]
    return result


def contrast(image, gain, offset):
    return np.clip(gain * (image - 128.0) + 128.0 + offset, 0, 255).astype(np.uint8)


def contrast_tuned(image, gain, offset):
    rows, columns = image.shape
    t, result = image.dtype.type, np.empty(image.shape, np.uint8)
    g, o, middle, low, high = t(gain), t(offset), t(128.0), t(0.0), t(255.0)
    for i in range(rows):
        for j in range(columns):
            result[i, j] = min(max(g * (image[i, j] - middle) + middle + o, low), high)
    return result


def erode(image):
    rows = np.minimum(np.minimum(image[:-2], image[1:-1]), image[2:])
    return np.minimum(np.minimum(rows[:, :-2], rows[:, 1:-1]), rows[:, 2:])


def erode_tuned(image):
    rows, columns = image.shape
    result, line = np.empty((rows - 2, columns - 2), image.dtype), np.empty(columns, image.dtype)
    for i in range(rows - 2):
        for j in range(columns):
            line[j] = min(min(image[i, j], image[i + 1, j]), image[i + 2, j])
        for j in range(columns - 2):
            result[i, j] = min(min(line[j], line[j + 1]), line[j + 2])
    return result


def threshold(image, level):
    mean = image.mean()
    return np.where(image > mean * level, 1.0, image / mean)


def threshold_tuned(image, level):
    rows, columns = image.shape
    total, result = image.dtype.type(0.0), np.empty_like(image)
    for i in range(rows):
        for j in range(columns):
            total += image[i, j]
    mean = total / image.dtype.type(image.size)
    limit, one = mean * image.dtype.type(level), image.dtype.type(1.0)
    for i in range(rows):
        for j in range(columns):
            result[i, j] = one if image[i, j] > limit else image[i, j] / mean
    return result


def blend(below, above, alpha):
    return above * alpha[:, :, np.newaxis] + below * (1.0 - alpha[:, :, np.newaxis])


def blend_tuned(below, above, alpha):
    rows, columns, channels = below.shape
    one, result = below.dtype.type(1.0), np.empty_like(below)
    for i in range(rows):
        for j in range(columns):
            a = alpha[i, j]
            for k in range(channels):
                result[i, j, k] = above[i, j, k] * a + below[i, j, k] * (one - a)
    return result


def _pixels(edge, dtype, seed=0):
    return uniform(dtype, edge, edge, 3, seed=seed)


CASES = (
    Case("box blur 3 x 3", blur, grids(1), blur_tuned, passes=2),
    Case("Sobel edges", sobel, grids(1), sobel_tuned),
    Case("convolution with 5 x 5", convolve, lambda n, d: (uniform(d, side(n), side(n)), uniform(d, 5, 5, seed=1)),
         convolve_tuned),
    Case("grey from colours", grey, lambda n, d: (_pixels(side(n // 3), d),), grey_tuned),
    Case("contrast to bytes", contrast, lambda n, d: (uniform(d, side(n), side(n), high=255.0), 1.3, -10.0),
         contrast_tuned),
    Case("erosion 3 x 3", erode, grids(1), erode_tuned, passes=2),
    Case("threshold at the mean", threshold, grids(1, 1.2), threshold_tuned, fastmath=True),
    Case("two images blended", blend, lambda n, d: (_pixels(side(n // 3), d), _pixels(side(n // 3), d, 1),
                                                    uniform(d, side(n // 3), side(n // 3), seed=2)), blend_tuned),
)
