"""Calls of every library function that kernels make, for tests of what results share with arguments.

In a call, ``x`` is what is tested: an array, list or number. ``y`` is like x, and ``o`` is an array of x's shape.
``i`` holds integers, ``s`` is a square array, and ``w`` gives the kernel work.
"""


from pijit.core.graph import library_helpers
from pijit.core.graph.library import FUNCTIONS, INTO, MODULES

MAY_SHARE = {
    "take": "np.take(x, i, axis=0, out=x[:2], mode='clip')",
    "compress": "np.compress([True, True], x, axis=0, out=o[:2])",
    "choose": "np.choose(i, [x[:2], y[:2]], out=o[:2], mode='wrap')",
    "flip": "np.flip(x)|np.flip(x, 0)|np.flip(x, ())", "fliplr": "np.fliplr(x)", "flipud": "np.flipud(x)",
    "rot90": "np.rot90(x)|np.rot90(x, 0)|np.rot90(x, k=2)|np.rot90(x, 4)",
    "reshape": "np.reshape(x, -1)|np.reshape(x, (-1, 1))|np.reshape(x, np.shape(x))",
    "ravel": "np.ravel(x)|np.ravel(x, 'K')|np.ravel(x, 'F')", "transpose": "np.transpose(x)|np.transpose(x, (1, 0))",
    "swapaxes": "np.swapaxes(x, 0, 0)|np.swapaxes(x, 0, -1)",
    "moveaxis": "np.moveaxis(x, 0, 0)|np.moveaxis(x, 0, -1)", "expand_dims": "np.expand_dims(x, 0)",
    "squeeze": "np.squeeze(x)|np.squeeze(x, axis=())", "diagonal": "np.diagonal(x)|np.diagonal(x, 1)",
    "diag": "np.diag(x)|np.diag(x, 1)", "atleast_1d": "np.atleast_1d(x)", "atleast_2d": "np.atleast_2d(x)",
    "atleast_3d": "np.atleast_3d(x)", "imag": "np.imag(x)",
    "operator.getitem": "x[:]|x[...]|x[()]|x[1:]|x[None]|x[::-1]", "ix_": "np.ix_(x)|np.ix_(x, i)",
    "meshgrid": "np.meshgrid(x, y, copy=False)|np.meshgrid(x, copy=False)|np.meshgrid(x)|"
        "np.meshgrid(x, y, sparse=True, copy=False)",
    "broadcast_to": "np.broadcast_to(x, np.shape(x))|np.broadcast_to(x, (2,) + np.shape(x))",
    "lib.stride_tricks.sliding_window_view": "np.lib.stride_tricks.sliding_window_view(x, 2, axis=0)",
    "rollaxis": "np.rollaxis(x, 0)|np.rollaxis(x, 0, 1)|np.rollaxis(x, -1)",
    "array_split": "np.array_split(x, 2)|np.array_split(x, 1)|np.array_split(x, [1])",
    "split": "np.split(x, 1)|np.split(x, [1])", "hsplit": "np.hsplit(x, 1)", "vsplit": "np.vsplit(x, 1)",
    "trim_zeros": "np.trim_zeros(x)|np.trim_zeros(x, 'f')|np.trim_zeros(x, '')",
    "ascontiguousarray": "np.ascontiguousarray(x)|np.ascontiguousarray(x, float)",
    "asarray": "np.asarray(x)|np.asarray(x, float)|np.asarray(x, order='F')|np.asarray(x, order='K')",
    "array": "np.array(x)|np.array(x, copy=False)|np.array(x, copy=None)|np.array(x, copy=True)|"
        "np.array(x, copy=False, ndmin=2)|np.array(x, copy=False, order='F')",
    "asanyarray": "np.asanyarray(x)|np.asanyarray(x, float)|np.asanyarray(x, order='C')",
    "asfortranarray": "np.asfortranarray(x)|np.asfortranarray(x, float)",
    "diff": "np.diff(x, n=0)|np.diff(x, 0)|np.diff(x)|np.diff(x, n=0, axis=0)|np.diff(x, n=2)|np.diff(x, prepend=0)|"
        "np.diff(a=x, n=0)",
    "einsum": "np.einsum('ij->ji', x)|np.einsum('i', x)|np.einsum('i->i', x)|np.einsum('ij', x)|"
        "np.einsum('ii->i', x)|np.einsum('...->...', x)",
    "clip": "np.clip(x, 0, 3, out=x)|np.clip(x, 0, 3, out=o)|np.clip(x, 0, 3)|np.clip(x, 0, None, out=x)",
    "around": "np.around(x)|np.around(x, 2)|np.around(x, 0, o)|np.around(x, out=x)|np.around(x, -1)",
    "round": "np.round(x)|np.round(x, 1)|np.round(x, out=x)|np.round(x, 0)",
    "histogram": "np.histogram(x, y)|np.histogram(x, x)|np.histogram(y, [0.0, 1.0, 2.0])|np.histogram(x, 3)|"
        "np.histogram(y, bins=x)",
    "linalg.matrix_power": "np.linalg.matrix_power(x, 1)|np.linalg.matrix_power(x, 0)|np.linalg.matrix_power(x, 2)",
    "polyder": "np.polyder(x, 0)|np.polyder(x)", "polyint": "np.polyint(x, 0)|np.polyint(x)|np.polyint(x, m=0)",
    "sum": "np.sum(x, axis=0, out=o[0])|np.sum(x, axis=())|np.sum(x)|np.sum(x, 0, None, i)|"
        "np.sum(x, axis=0, keepdims=True)",
    "cumsum": "np.cumsum(x, 0, out=x)|np.cumsum(x, axis=0, out=o)|np.cumsum(x)",
    "cumprod": "np.cumprod(x, 0, out=x)|np.cumprod(x)", "dot": "np.dot(s, s, out=s)|np.dot(x, 1)|np.dot(x, y)",
    "matmul": "np.matmul(s, s, out=s)|np.matmul(s, s)", "outer": "np.outer(x, y, out=s)|np.outer(x, y)",
    "concatenate": "np.concatenate([x])|np.concatenate([x, y])|np.concatenate([x[:1], y[1:]], out=o)|"
        "np.concatenate((x,))|np.concatenate(x)",
    "ndarray.reshape": "x.reshape(-1)|x.reshape(x.shape)|x.reshape((-1, 1))",
    "ndarray.ravel": "x.ravel()|x.ravel('K')|x.ravel(order='F')",
    "ndarray.transpose": "x.transpose()|x.transpose(1, 0)|x.transpose((1, 0))|x.T",
    "ndarray.swapaxes": "x.swapaxes(0, 0)|x.swapaxes(0, -1)", "ndarray.squeeze": "x.squeeze()|x.squeeze(())",
    "ndarray.diagonal": "x.diagonal()|x.diagonal(1)",
    "ndarray.astype": "x.astype(float)|x.astype(float, copy=False)|x.astype(x.dtype, copy=False)|"
        "x.astype(float, 'K', 'unsafe', True, False)|x.astype(float, order='F', copy=False)|"
        "x.astype(float, subok=False, copy=False)|x.astype('f', copy=False)",
    "ndarray.conj": "x.conj()", "ndarray.conjugate": "x.conjugate()",
    "ndarray.view": "x.view()|x.view(x.dtype)|x.view('i8')|x.view(np.uint8)",
    "ndarray.round": "x.round()|x.round(1)|x.round(out=x)|x.round(0, o)",
    "ndarray.clip": "x.clip(0, 3, out=x)|x.clip(0, 3)|x.clip(0)|x.clip(max=2, out=o)",
    "ndarray.cumsum": "x.cumsum(0, out=x)|x.cumsum()", "ndarray.cumprod": "x.cumprod(0, out=o)|x.cumprod()",
    "ndarray.take": "x.take(i, axis=0, out=o[:2], mode='clip')|x.take(i)|x.take(1)",
    "ndarray.compress": "x.compress([True, True], 0, out=o[:2])", "ndarray.dot": "s.dot(s, out=s)|x.dot(1)|x.dot(y)",
    "ndarray.sum": "x.sum(axis=0, out=o[0])|x.sum(axis=())|x.sum()",
    "amin": "np.amin(x, axis=0, out=o[0])|np.amin(x, axis=())|np.amin(x)",
    "amax": "np.amax(x, axis=0, out=o[0])|np.amax(x, axis=())|np.amax(x)",
    "nan_to_num": "np.nan_to_num(x)|np.nan_to_num(x, nan=1.0)|np.nan_to_num(x, copy=False)",
    "fft.fftn": "np.fft.fftn(x)|np.fft.fftn(x, axes=())", "fft.ifftn": "np.fft.ifftn(x)",
}
"""Functions whose result is, or shares memory with, an argument in some call; by their paths, calls split by ``|``."""

NEW = {
    "sort": "np.sort(x)|np.sort(x, axis=None)", "argsort": "np.argsort(x)",
    "searchsorted": "np.searchsorted(x, 1)|np.searchsorted(x, y)",
    "unique": "np.unique(x)|np.unique(x, return_index=True)|np.unique(x, axis=0)",
    "argmin": "np.argmin(x)|np.argmin(x, 0)", "argmax": "np.argmax(x)|np.argmax(x, 0)",
    "any": "np.any(x)|np.any(x, axis=0)|np.any(x, axis=())", "all": "np.all(x)|np.all(x, axis=())",
    "count_nonzero": "np.count_nonzero(x)", "nonzero": "np.nonzero(x)", "flatnonzero": "np.flatnonzero(x)",
    "argwhere": "np.argwhere(x)", "where": "np.where(x, x, y)|np.where(x)|np.where(True, x, x)|np.where(w > 0, x, y)",
    "extract": "np.extract(x, x)", "hstack": "np.hstack([x])|np.hstack((x, y))|np.hstack(x)",
    "vstack": "np.vstack([x])|np.vstack(x)", "dstack": "np.dstack([x])", "column_stack": "np.column_stack([x])",
    "append": "np.append(x, [])|np.append(x, y)|np.append([], x)", "triu": "np.triu(x)", "tril": "np.tril(x)",
    "copy": "np.copy(x)|np.copy(x, 'C')", "eye": "np.eye(3)", "identity": "np.identity(3)",
    "zeros_like": "np.zeros_like(x)", "ones_like": "np.ones_like(x)", "tri": "np.tri(3)",
    "array_equal": "np.array_equal(x, x)", "isin": "np.isin(x, y)",
    "bincount": "np.bincount(i)|np.bincount(i, x[:2])", "digitize": "np.digitize(x, [0, 1])|np.digitize(1.0, x)",
    "partition": "np.partition(x, 0)|np.partition(x, 0, axis=None)", "argpartition": "np.argpartition(x, 0)",
    "intersect1d": "np.intersect1d(x, x)", "union1d": "np.union1d(x, x)",
    "setdiff1d": "np.setdiff1d(x, [])|np.setdiff1d(x, y)",
    "take_along_axis": "np.take_along_axis(x, i, 0)|np.take_along_axis(x, i, None)",
    "lexsort": "np.lexsort((x, y))|np.lexsort(x)", "unravel_index": "np.unravel_index(i, (3, 3))",
    "ravel_multi_index": "np.ravel_multi_index((i, i), (3, 3))", "isreal": "np.isreal(x)",
    "iscomplex": "np.iscomplex(x)", "diagflat": "np.diagflat(x)", "triu_indices": "np.triu_indices(3)",
    "tril_indices": "np.tril_indices(3)", "diag_indices": "np.diag_indices(3)",
    "indices": "np.indices((2, 3))|np.indices((3,), sparse=True)", "array_equiv": "np.array_equiv(x, x)",
    "setxor1d": "np.setxor1d(x, y)|np.setxor1d(x, [])", "in1d": "np.in1d(x, y)", "size": "np.size(x)",
    "block": "np.block(x)|np.block([x])|np.block([x, y])|np.block([[x]])", "zeros": "np.zeros(3)",
    "ones": "np.ones(3)", "empty": "np.empty(0)", "empty_like": "np.empty_like(x, shape=0)",
    "isneginf": "np.isneginf(x)|np.isneginf(x, o > 0)", "isposinf": "np.isposinf(x)",
    "r_.__getitem__": "np.r_[x]|np.r_[x, y]", "c_.__getitem__": "np.c_[x]|np.c_[x, x]",
    "mgrid.__getitem__": "np.mgrid[0:3]", "ogrid.__getitem__": "np.ogrid[0:3, 0:2]",
    "min": "np.min(x)|np.min(x, axis=0)|np.min(x, axis=())", "max": "np.max(x)|np.max(x, axis=0)|np.max(x, axis=())",
    "ptp": "np.ptp(x)|np.ptp(x, axis=0)", "arange": "np.arange(3)", "full": "np.full(3, 1.0)|np.full(np.shape(x), x)",
    "full_like": "np.full_like(x, 1)|np.full_like(x, x)", "prod": "np.prod(x)|np.prod(x, axis=())",
    "ediff1d": "np.ediff1d(x)|np.ediff1d(x[:1])",
    "gradient": "np.gradient(x)|np.gradient(x, axis=())|np.gradient(x, 2.0)",
    "nansum": "np.nansum(x)|np.nansum(x, axis=0)|np.nansum(x, axis=())", "vdot": "np.vdot(x, x)",
    "inner": "np.inner(x, x)|np.inner(x, 1)", "kron": "np.kron(x, 1)|np.kron(x, y)",
    "tensordot": "np.tensordot(x, 1, 0)|np.tensordot(x, x, 1)", "trace": "np.trace(x)", "sinc": "np.sinc(x)",
    "hanning": "np.hanning(3)", "hamming": "np.hamming(3)", "blackman": "np.blackman(3)",
    "bartlett": "np.bartlett(3)", "angle": "np.angle(x)|np.angle(x, deg=True)", "fft.fft": "np.fft.fft(x)",
    "fft.ifft": "np.fft.ifft(x)", "fft.rfft": "np.fft.rfft(x)", "fft.irfft": "np.fft.irfft(x)",
    "fft.fft2": "np.fft.fft2(x)", "fft.ifft2": "np.fft.ifft2(x)", "fft.fftfreq": "np.fft.fftfreq(3)",
    "fft.rfftfreq": "np.fft.rfftfreq(3)", "interp": "np.interp(x, [0.0, 1.0], [2.0, 3.0])|np.interp(1.0, x, y)",
    "convolve": "np.convolve(x, [1.0])|np.convolve(x, y)", "correlate": "np.correlate(x, [1.0])|np.correlate(x, y)",
    "polyval": "np.polyval(x, 1)|np.polyval([1.0], x)|np.polyval([], x)|np.polyval(x, x)",
    "vander": "np.vander(x)|np.vander(x, 1)", "allclose": "np.allclose(x, x)", "isclose": "np.isclose(x, x)",
    "linalg.norm": "np.linalg.norm(x)|np.linalg.norm(x, axis=0)",
    "linalg.solve": "np.linalg.solve(s, s)|np.linalg.solve(s, x)", "linalg.inv": "np.linalg.inv(s)",
    "linalg.det": "np.linalg.det(s)", "linalg.slogdet": "np.linalg.slogdet(s)", "linalg.eigh": "np.linalg.eigh(s)",
    "linalg.eig": "np.linalg.eig(s)", "linalg.eigvals": "np.linalg.eigvals(s)", "linalg.qr": "np.linalg.qr(s)",
    "linalg.svd": "np.linalg.svd(s)|np.linalg.svd(s, compute_uv=False)",
    "linalg.lstsq": "np.linalg.lstsq(s, s, rcond=None)|np.linalg.lstsq(s, x, rcond=None)",
    "linalg.matrix_rank": "np.linalg.matrix_rank(s)", "linalg.cond": "np.linalg.cond(s)",
    "linalg.tensorsolve": "np.linalg.tensorsolve(s, s[0])", "cross": "np.cross(x, y)", "cov": "np.cov(x)",
    "corrcoef": "np.corrcoef(x)", "logspace": "np.logspace(0, 1, 3)|np.logspace(x, y, 2)",
    "geomspace": "np.geomspace(1, 2, 3)", "i0": "np.i0(x)", "trapz": "np.trapz(x)", "trapezoid": "np.trapezoid(x)",
    "roots": "np.roots(x)", "poly": "np.poly(x)",
    "polynomial.polynomial.polyval": "np.polynomial.polynomial.polyval(x, [1.0])|"
        "np.polynomial.polynomial.polyval(1.0, x)",
    "fft.rfft2": "np.fft.rfft2(x)", "fft.irfft2": "np.fft.irfft2(x)",
    "nancumsum": "np.nancumsum(x)|np.nancumsum(x, axis=0)", "nanprod": "np.nanprod(x)",
    "linalg.cholesky": "np.linalg.cholesky(s)", "linalg.eigvalsh": "np.linalg.eigvalsh(s)",
    "linalg.pinv": "np.linalg.pinv(s)", "mean": "np.mean(x)|np.mean(x, axis=0)|np.mean(x, axis=())",
    "var": "np.var(x)|np.var(x, axis=0)", "std": "np.std(x)|np.std(x, 0)",
    "average": "np.average(x)|np.average(x, axis=0)|np.average(x, weights=y)",
    "median": "np.median(x)|np.median(x, axis=0)|np.median(x, axis=0, overwrite_input=False)",
    "percentile": "np.percentile(x, 50)|np.percentile(x, [0, 100], axis=0)",
    "quantile": "np.quantile(x, 0.5)|np.quantile(x, x * 0)", "ndarray.prod": "x.prod()|x.prod(axis=())",
    "ndarray.min": "x.min()|x.min(0)|x.min(axis=())", "ndarray.max": "x.max()|x.max(0)", "ndarray.any": "x.any()",
    "ndarray.all": "x.all()", "ndarray.argmin": "x.argmin()", "ndarray.argmax": "x.argmax()",
    "ndarray.ptp": "x.ptp()", "ndarray.trace": "x.trace()", "ndarray.mean": "x.mean()|x.mean(axis=())",
    "ndarray.var": "x.var()", "ndarray.std": "x.std()|x.std(0)", "ndarray.flatten": "x.flatten()|x.flatten('F')",
    "ndarray.repeat": "x.repeat(1)|x.repeat(1, 0)", "ndarray.nonzero": "x.nonzero()",
    "ndarray.argsort": "x.argsort()", "ndarray.searchsorted": "x.searchsorted(1)",
    "ndarray.copy": "x.T.copy()|x.T.copy('F')|x.T.copy(order='K')", "ndarray.item": "x.item(0)|x[:1].item()",
    "ndarray.tolist": "x.tolist()", "ndarray.argpartition": "x.argpartition(0)",
    "putmask": "np.putmask(x, x > 1, y)|np.putmask(x, m, x[::-1])",
    "copyto": "np.copyto(x, y)|np.copyto(x, x[::-1])|np.copyto(x, y, where=x > 1)",
    "fill_diagonal": "np.fill_diagonal(x, 5)|np.fill_diagonal(x, x[::-1])",
    "put_along_axis": "np.put_along_axis(x, i, 0, 0)|np.put_along_axis(x, i, x[::-1], 0)",
    "operator.setitem": "x.__setitem__(0, 5)", "helpers.put": "np.put(x, i, 5)|np.put(x, i, x[::-1])",
    "fft.fftshift": "np.fft.fftshift(x, axes=())|np.fft.fftshift(x)",
    "fft.ifftshift": "np.fft.ifftshift(x, axes=())|np.fft.ifftshift(x)",
    "roll": "np.roll(x, 1)|np.roll(x, 0)|np.roll(x, (), ())|np.roll(x, 1, axis=0)",
    "delete": "np.delete(x, [])|np.delete(x, 0)|np.delete(x, [], axis=0)|np.delete(x, slice(0, 0))",
    "insert": "np.insert(x, 0, 5)|np.insert(x, [], [])", "pad": "np.pad(x, 0)|np.pad(x, 1)",
    "repeat": "np.repeat(x, 1)|np.repeat(x, 1, axis=0)", "tile": "np.tile(x, 1)|np.tile(x, (1, 1))|np.tile(x, ())",
    "unwrap": "np.unwrap(x)", "linalg.multi_dot": "np.linalg.multi_dot([s, s])|np.linalg.multi_dot([s, s, s])",
    "stack": "np.stack([x])|np.stack([x, y])|np.stack(x)", "linspace": "np.linspace(x, y, 3)|np.linspace(x, x, 1)",
    "select": "np.select([x > 1], [x], y)|np.select([x > 1, x < 0], [x, y])",
}
"""Functions whose result is always a new object; those that write an argument have none."""


def ufunc_calls(name):
    """(path, calls) of a ufunc and of its methods."""
    ufunc = library_helpers.UFUNCS[name]
    operands = ["x", "y", "x", "y"][:ufunc.nin]
    forms = ["np.%s(%s)" % (name, ", ".join(operands))]
    if ufunc.nout == 1:
        forms += ["np.%s(%s, out=%s)" % (name, ", ".join(operands), out) for out in ("x", "o")]
    yield name, "|".join(forms)
    if ufunc.nout == 1 and ufunc.nin <= 2:
        yield "helpers.at." + name, "np.%s.at(x, i%s)" % (name, ", 1" * (ufunc.nin - 1))
    if (ufunc.nin, ufunc.nout) == (2, 1):
        yield name + ".reduce", ("np.{0}.reduce(x)|np.{0}.reduce(x, axis=())|"
                                 "np.{0}.reduce(x, axis=0, out=o[0])").format(name)
        yield name + ".accumulate", "np.{0}.accumulate(x)|np.{0}.accumulate(x, out=x)".format(name)
        yield name + ".reduceat", "np.{0}.reduceat(x, [0, 1])|np.{0}.reduceat(x, [0])".format(name)


UFUNCS = dict(pair for name in library_helpers.UFUNCS for pair in ufunc_calls(name))
NAN = {"helpers.nan." + name: "np.{0}(x)|np.{0}(x, axis=0)".format(name) for name in library_helpers.PASS_OVER_NAN}


def calls_of_numpy(table):
    """(path, call) of each function in a table that this NumPy has."""
    for path, forms in table.items():
        if path in FUNCTIONS:
            for form in forms.split("|"):
                yield path, form


def rows_of_numpy():
    """The paths of all rows whose functions take arrays."""
    own = [name for name in MODULES if name != "helpers"] + ["helpers"]
    written = ("operator.getitem", "operator.setitem", "helpers.put")
    return [path for path in FUNCTIONS if not path.startswith(INTO) and (
        path.split(".")[0] not in own or path in written or path.startswith(("helpers.at.", "helpers.nan.")))]
