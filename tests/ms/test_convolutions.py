"""Convolution and pooling layers: against loops over the elements, capture as a whole, gradients, errors."""

import numpy as np
import pytest

from tests.ms.layer_checks import captured_whole, gradients_agree

RANDOM = np.random.RandomState(5)


@pytest.fixture
def ms():
    import pijit.ms

    pijit.ms.set_seed(4)
    return pijit.ms


def pairs(value):
    return value if isinstance(value, tuple) else (value, value)


def sides(mode, padding, lengths, kernel, stride, dilation):
    """(before, after) of each axis."""
    if mode == "pad":
        p = padding if isinstance(padding, tuple) else (padding,) * 4
        return (p[0], p[1]), (p[2], p[3])
    if mode == "valid":
        return (0, 0), (0, 0)
    total = [max((-(-n // s) - 1) * s + d * (k - 1) + 1 - n, 0) for n, k, s, d in zip(lengths, kernel, stride, dilation)]
    return tuple((one // 2, one - one // 2) for one in total)


def convolved(x, w, bias, stride, mode, padding, dilation, group):
    """A convolution by its definition, element by element."""
    stride, dilation, kernel = pairs(stride), pairs(dilation), w.shape[2:]
    x = np.pad(x, ((0, 0), (0, 0)) + sides(mode, padding, x.shape[2:], kernel, stride, dilation))
    rows, columns = ((x.shape[k + 2] - dilation[k] * (kernel[k] - 1) - 1) // stride[k] + 1 for k in (0, 1))
    r, per_group = np.zeros((x.shape[0], w.shape[0], rows, columns)), w.shape[0] // group
    for o, i, j in np.ndindex(w.shape[0], rows, columns):
        first = o // per_group * w.shape[1]
        for c, p, q in np.ndindex(*w.shape[1:]):
            r[:, o, i, j] += w[o, c, p, q] * x[:, first + c, i * stride[0] + p * dilation[0], j * stride[1] + q * dilation[1]]
    return r if bias is None else r + bias[:, None, None]


def spread(x, w, bias, stride, mode, padding, extra, dilation, group):
    """A transposed convolution by its definition: each element is added to the elements of its window."""
    stride, dilation, extra, kernel = pairs(stride), pairs(dilation), pairs(extra), w.shape[2:]
    big = [(x.shape[k + 2] * stride[k] + dilation[k] * kernel[k]) + 9 for k in (0, 1)]
    r = np.zeros((x.shape[0], w.shape[1] * group, big[0], big[1]))
    per_group = x.shape[1] // group
    for c, o, p, q, i, j in np.ndindex(x.shape[1], *(w.shape[1:] + x.shape[2:])):
        r[:, c // per_group * w.shape[1] + o, i * stride[0] + p * dilation[0], j * stride[1] + q * dilation[1]] += x[:, c, i, j] * w[c, o, p, q]
    lengths, reach = [], [d * (k - 1) + 1 for d, k in zip(dilation, kernel)]
    edges = sides(mode, padding, [n * s for n, s in zip(x.shape[2:], stride)], kernel, stride, dilation)
    for k, n in enumerate(x.shape[2:]):
        lengths.append({"same": n * stride[k], "valid": n * stride[k] + max(reach[k] - stride[k], 0),
                        "pad": (n - 1) * stride[k] + reach[k] - sum(edges[k]) + extra[k]}[mode])
    r = r[:, :, edges[0][0]:edges[0][0] + lengths[0], edges[1][0]:edges[1][0] + lengths[1]]
    return r if bias is None else r + bias[:, None, None]


def parts(cell):
    return cell.weight.asnumpy(), cell.bias.asnumpy() if cell.has_bias else None


SEQUENCES = [dict(stride=2, has_bias=True), dict(pad_mode="valid", dilation=2), dict(pad_mode="pad", padding=2, stride=3, group=2),
             dict(pad_mode="pad", padding=(1, 0), has_bias=True), dict(dilation=2, group=4)]
IMAGES = [dict(stride=2, has_bias=True), dict(stride=(3, 1), pad_mode="valid", dilation=(1, 2)), dict(pad_mode="valid", stride=4),
          dict(pad_mode="pad", padding=(1, 0, 2, 1), stride=2, output_padding=(0, 1), group=2, has_bias=True),
          dict(pad_mode="pad", padding=1, output_padding=1, dilation=2, group=4), dict(stride=4)]


def case(options, **others):
    return dict(dict(stride=1, pad_mode="same", padding=0, dilation=1, group=1), **dict(options, **others))


@pytest.mark.parametrize("options", SEQUENCES, ids=str)
def test_sequences(ms, options):
    x, o = RANDOM.uniform(-1, 1, (2, 4, 8)), case(options)
    cell = ms.nn.Conv1d(4, 8, 3, dtype=ms.float64, **options)
    assert cell.weight.shape == (8, 4 // o["group"], 1, 3)
    padding = o["padding"] if isinstance(o["padding"], tuple) else (o["padding"],) * 2
    wanted = convolved(x[:, :, None], *parts(cell), (1, o["stride"]), o["pad_mode"], (0, 0) + padding, (1, o["dilation"]), o["group"])
    found = captured_whole(cell, ms.Tensor(x))
    np.testing.assert_allclose(found, wanted[:, :, 0], rtol=1e-12, atol=1e-13)
    function = ms.ops.conv1d(ms.Tensor(x), ms.Tensor(cell.weight.asnumpy()[:, :, 0]), cell.bias, o["stride"], o["pad_mode"],
                             o["padding"], o["dilation"], o["group"])
    assert function.asnumpy().tobytes() == found.tobytes()
    gradients_agree(cell, ms.Tensor(x), every=3)


@pytest.mark.parametrize("options", [one for one in SEQUENCES if not isinstance(one.get("padding"), tuple)], ids=str)
def test_transposed_sequences(ms, options):
    x, o = RANDOM.uniform(-1, 1, (2, 4, 5)), case(options)
    cell = ms.nn.Conv1dTranspose(4, 8, 3, dtype=ms.float64, **options)
    assert cell.weight.shape == (4, 8 // o["group"], 1, 3)
    wanted = spread(x[:, :, None], *parts(cell), (1, o["stride"]), o["pad_mode"], (0, 0) + (o["padding"],) * 2, 0, (1, o["dilation"]), o["group"])
    np.testing.assert_allclose(captured_whole(cell, ms.Tensor(x)), wanted[:, :, 0], rtol=1e-12, atol=1e-13)
    gradients_agree(cell, ms.Tensor(x), every=3)


@pytest.mark.parametrize("options", IMAGES, ids=str)
def test_transposed_images(ms, options):
    x, o = RANDOM.uniform(-1, 1, (2, 4, 3, 4)), case(options, output_padding=options.get("output_padding", 0))
    cell = ms.nn.Conv2dTranspose(4, 8, (3, 2), dtype=ms.float64, **options)
    wanted = spread(x, *parts(cell), o["stride"], o["pad_mode"], o["padding"], o["output_padding"], o["dilation"], o["group"])
    np.testing.assert_allclose(captured_whole(cell, ms.Tensor(x)), wanted, rtol=1e-12, atol=1e-13)
    gradients_agree(cell, ms.Tensor(x), every=5)


def test_images(ms):
    x = RANDOM.uniform(-1, 1, (2, 4, 6, 5))
    for options in IMAGES:
        options = {name: one for name, one in options.items() if name != "output_padding"}
        cell, o = ms.nn.Conv2d(4, 8, (3, 2), dtype=ms.float64, **options), case(options)
        wanted = convolved(x, *parts(cell), o["stride"], o["pad_mode"], o["padding"], o["dilation"], o["group"])
        np.testing.assert_allclose(cell(ms.Tensor(x)).asnumpy(), wanted, rtol=1e-12, atol=1e-13)


def test_a_transposed_convolution_is_the_gradient_of_a_convolution(ms):
    w, g = ms.Tensor(RANDOM.uniform(-1, 1, (6, 2, 3, 3))), ms.Tensor(RANDOM.uniform(-1, 1, (2, 6, 3, 2)))
    x = ms.Tensor(RANDOM.uniform(-1, 1, (2, 4, 6, 4)))
    wanted = ms.grad(lambda a: (ms.ops.conv2d(a, w, None, 2, "pad", (1, 1, 1, 1), 1, 2) * g).sum())(x)
    found = ms.ops.conv_transpose2d(g, w, stride=2, padding=1, output_padding=1, groups=2)
    np.testing.assert_allclose(found.asnumpy(), wanted.asnumpy(), rtol=1e-12, atol=1e-13)


def test_wrong_arguments_of_convolutions(ms):
    nn, x = ms.nn, ms.Tensor(np.ones((1, 2, 5), "f"))
    for error, text, make in (
            (ValueError, "Conv1d: pad_mode must be 'same', 'valid' or 'pad'; not 'full'", lambda: nn.Conv1d(2, 2, 3, pad_mode="full")),
            (TypeError, "Conv1d: kernel_size must be an int or a tuple of one; not 2.5", lambda: nn.Conv1d(2, 2, 2.5)),
            (ValueError, "Conv1d: stride must be positive; not 0", lambda: nn.Conv1d(2, 2, 3, stride=0)),
            (ValueError, "Conv1d: x must have 3 dimensions; not 4", lambda: nn.Conv1d(2, 2, 3)(ms.Tensor(np.ones((1, 2, 5, 5), "f")))),
            (ValueError, "Conv1dTranspose: padding must be 0 unless pad_mode is 'pad'", lambda: nn.Conv1dTranspose(2, 2, 3, padding=1)),
            (ValueError, "multiples of group 2; not 3 and 2", lambda: nn.Conv1d(3, 2, 3, group=2)),
            (ValueError, "Conv2dTranspose: output_padding must be 0 unless", lambda: nn.Conv2dTranspose(2, 2, 3, output_padding=1)),
            (ValueError, "Conv2dTranspose: padding must not be negative", lambda: nn.Conv2dTranspose(2, 2, 3, pad_mode="pad", padding=-1)),
            (TypeError, "MaxPool1d: kernel_size must be an int or a tuple of one; not '2'", lambda: nn.MaxPool1d("2")),
            (ValueError, "AvgPool1d: ceil_mode must be False", lambda: nn.AvgPool1d(2, ceil_mode=True)),
            (ValueError, "MaxPool1d: x must have 2 or 3 dimensions; not 1", lambda: nn.MaxPool1d(2)(x[0, 0])),
            (TypeError, "AdaptiveAvgPool2d: output_size must be an int, None or a tuple of two", lambda: nn.AdaptiveAvgPool2d((1, 2, 3))),
            (ValueError, "AdaptiveMaxPool2d: output_size must be positive; not 0", lambda: nn.AdaptiveMaxPool2d(0)),
            (TypeError, "AdaptiveAvgPool1d: output_size must be an int; not None", lambda: nn.AdaptiveAvgPool1d(None))):
        with pytest.raises(error, match=text):
            make()


def windows(x, kernel, stride, dilation, before, after, value):
    x = np.pad(x, ((0, 0), (0, 0), (before, after)), constant_values=value)
    count = (x.shape[2] - dilation * (kernel - 1) - 1) // stride + 1
    return np.stack([x[:, :, k * stride:k * stride + dilation * (kernel - 1) + 1:dilation] for k in range(count)], axis=2)


def test_pooling_of_sequences(ms):
    nn, x = ms.nn, RANDOM.uniform(-1, 1, (2, 3, 9))
    for cell, wanted in (
            (nn.MaxPool1d(3, 2), np.max(windows(x, 3, 2, 1, 0, 0, 0), axis=3)),
            (nn.MaxPool1d(3, 2, "same", dilation=2), np.max(windows(x, 3, 2, 2, 2, 2, -np.inf), axis=3)),
            (nn.MaxPool1d(3, 1, "pad", (1, 0)), np.max(windows(x, 3, 1, 1, 1, 0, -np.inf), axis=3)),
            (nn.AvgPool1d(3, 2), np.mean(windows(x, 3, 2, 1, 0, 0, 0), axis=3)),
            (nn.AvgPool1d(4, 2, "SAME"), np.nanmean(windows(x, 4, 2, 1, 1, 2, np.nan), axis=3)),
            (nn.AvgPool1d(3, 2, "pad", 1), np.mean(windows(x, 3, 2, 1, 1, 1, 0), axis=3)),
            (nn.AvgPool1d(3, 2, "pad", 1, count_include_pad=False), np.nanmean(windows(x, 3, 2, 1, 1, 1, np.nan), axis=3))):
        np.testing.assert_allclose(cell(ms.Tensor(x)).asnumpy(), wanted, rtol=1e-13)
        np.testing.assert_allclose(cell(ms.Tensor(x[0])).asnumpy(), wanted[0], rtol=1e-13)
        gradients_agree(cell, ms.Tensor(x))
    captured_whole(nn.MaxPool1d(3, 2, "same", dilation=2), ms.Tensor(x))
    captured_whole(nn.MaxPool1d(3, 2), ms.Tensor(x[0]))
    captured_whole(nn.AvgPool1d(4, 2, "same"), ms.Tensor(x[0]))
    captured_whole(nn.AvgPool1d(3, 2, "pad", 1, count_include_pad=False), ms.Tensor(x))
    found = ms.ops.avg_pool1d(ms.Tensor(x), 3, 2, 1, count_include_pad=False)
    np.testing.assert_allclose(found.asnumpy(), np.nanmean(windows(x, 3, 2, 1, 1, 1, np.nan), axis=3), rtol=1e-13)


def by_parts(x, sizes, reduction):
    """Adaptive pooling by its definition."""
    r = np.zeros(x.shape[:-2] + tuple(sizes))
    for i, j in np.ndindex(*sizes):
        (top, bottom), (left, right) = ((k * n // s, -(-(k + 1) * n // s)) for k, n, s in zip((i, j), x.shape[-2:], sizes))
        r[..., i, j] = reduction(x[..., top:bottom, left:right], axis=(-2, -1))
    return r


def test_adaptive_pooling(ms):
    nn, x = ms.nn, RANDOM.uniform(-1, 1, (2, 3, 5, 7))
    for size, sizes in ((1, (1, 1)), ((2, 3), (2, 3)), ((None, 4), (5, 4)), (7, (7, 7))):
        for layer, reduction in ((nn.AdaptiveAvgPool2d, np.mean), (nn.AdaptiveMaxPool2d, np.max)):
            found = layer(size)(ms.Tensor(x)).asnumpy()
            np.testing.assert_allclose(found, by_parts(x, sizes, reduction), rtol=1e-12, atol=1e-14)
            gradients_agree(layer(size), ms.Tensor(x), every=7)
            if size in ((2, 3), (None, 4)):
                captured_whole(layer(size), ms.Tensor(x))
    for layer, reduction in ((nn.AdaptiveAvgPool1d, np.mean), (nn.AdaptiveMaxPool1d, np.max)):
        wanted = by_parts(x[:, :, :1], (1, 3), reduction)[:, :, 0]
        np.testing.assert_allclose(captured_whole(layer(3), ms.Tensor(x[:, :, 0])), wanted, rtol=1e-12, atol=1e-14)
        gradients_agree(layer(3), ms.Tensor(x[:, :, 0]), every=3)
    assert np.isinf(nn.AdaptiveAvgPool2d(2)(ms.Tensor(np.where(x == x.max(), np.inf, x))).asnumpy()).sum() in (1, 2, 4)


def test_pooling_of_one_image(ms):
    x = ms.Tensor(RANDOM.uniform(-1, 1, (3, 5, 7)))
    assert captured_whole(ms.nn.MaxPool2d(3, 2), x).tobytes() == ms.nn.MaxPool2d(3, 2)(x[None]).asnumpy()[0].tobytes()
