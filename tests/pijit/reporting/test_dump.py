"""The files that `pijit.dump` writes, and what is in them."""

import io
import linecache
import pathlib
import pdb
import re

import numpy as np
import pytest

import pijit
from pijit.reporting import printing
from tests.harness import fail_unless_captured, jitted

X = np.linspace(0.0, 1.0, 200)


def half(value):
    return value * 0.5


def walk(x, out):
    total = 0.0
    for i in range(len(x)):
        y = x[i] * 2.0 + half(1.0)
        out[i] = y
        total += y * y
        if i % 100 == 0:
            print("at", i)
    return total


def texts(paths):
    return {pathlib.Path(path).name: pathlib.Path(path).read_text() for path in paths}


def test_every_entry_has_a_folder_and_every_part_a_file(tmp_path, capsys):
    with fail_unless_captured():
        f = jitted(walk)
        f(X, np.zeros(200)), f(X, np.zeros(200)), f(X.astype(np.float32), np.zeros(200))
    capsys.readouterr()
    before = f.cache_info(), pijit.info(f)
    paths = pijit.dump(f, tmp_path / "dumps")
    assert (f.cache_info(), pijit.info(f)) == before and capsys.readouterr() == ("", "")
    folders = sorted({str(pathlib.Path(path).parent.relative_to(tmp_path)) for path in paths})
    assert folders == ["dumps/walk/entry_{}".format(number) for number in range(len(f.state.entries))]
    newest = texts(path for path in paths if folders[-1] in path)
    kernels = {name for name in newest if name.startswith("kernel_")}
    assert kernels and set(newest) - kernels == {"explain.txt"} | {
        part.attribute + ".txt" for part in printing.PARTS if part.attribute not in ("source", "passes")}
    assert newest["explain.txt"] == str(pijit.explain(f)) + "\n"
    assert all("def kernel" in newest[name] for name in kernels)


def test_what_the_parts_say(tmp_path):
    with fail_unless_captured():
        f = jitted(walk)
        f(X, np.zeros(200)), f(X, np.zeros(200))
    found = texts(pijit.dump(f, str(tmp_path)))
    first = walk.__code__.co_firstlineno
    assert "Loop at block" in found["blocks.txt"] and "FOR_ITER" in found["bytecode.txt"]
    assert "  # line {}\n".format(first + 3) in found["graph.txt"] and "# line {}, inlined from half\n".format(
        half.__code__.co_firstlineno + 1) in found["graph.txt"]
    assert " inlined, " in found["segments.txt"] and "PJ201" in found["segments.txt"]
    assert "effect line {}: store of array elements in k".format(first + 4) in found["segments.txt"]
    assert "takes " in found["uses.txt"] and "computed total" in found["uses.txt"]
    assert found["linked.txt"] != found["bytecode.txt"]
    assert "entry: L['x'] is a float64 array" in found["guards.txt"] and "walk_" in found["guards.txt"]
    assert [line.split(":")[0] for line in found["times.txt"].splitlines()[:3]] == ["capture", "compile", "link"]


def test_with_arguments_nothing_is_called_and_the_passes_are_there(tmp_path, capsys):
    f, out = jitted(walk, {"print_after_all": True}), np.zeros(200)
    found = texts(pijit.dump(f, tmp_path, X, out))
    assert any(name.startswith("kernel_walk_") for name in found)
    assert capsys.readouterr() == ("", "") and not out.any() and f.state.entries == []
    assert "before passes:\ngraph walk_" in found["passes.txt"] and "\nafter " in found["passes.txt"]


def test_passes_are_printed_under_print_after_all(capsys):
    with fail_unless_captured():
        f = jitted(walk, {"print_after_all": True})
        f(X, np.zeros(200))
    assert "*** Graph passes: walk ***\nbefore passes:\ngraph walk_" in capsys.readouterr().out


def test_tracebacks_and_debuggers_find_the_source_of_a_kernel():
    with fail_unless_captured():
        f = jitted(walk, {"backend": "python"})
        f(X, np.zeros(200)), f(X, np.zeros(200))
    filename = f.state.entries[-1].launchers[-1].owner.__code__.co_filename
    assert filename.startswith("<pijit kernel walk_")
    linecache.checkcache()
    assert linecache.getline(filename, 1).startswith("def kernel(")


def loop(x):
    total = 0.0
    for i in range(len(x)):
        total += x[i] * 2.0
    return total


def test_a_debugger_steps_through_the_lines_of_a_kernel():
    with fail_unless_captured():
        f = jitted(loop, {"backend": "python", "force_breaks": None})
        f(X)
    kernel, out = f.state.entries[-1].launchers[-1].owner, io.StringIO()
    debugger = pdb.Pdb(stdin=io.StringIO("next\nnext\nlist 1, 3\ncontinue\n"), stdout=out, nosigint=True, readrc=False)
    debugger.runcall(kernel, X)
    filename, lines = kernel.__code__.co_filename, out.getvalue().splitlines()
    source = [line.strip() for line in linecache.getlines(filename)]
    stops = [int(re.search(r"\((\d+)\)kernel", line).group(1)) for line in lines if filename in line]
    shown = [line.partition("-> ")[2] for line in lines if line.startswith("-> ")]
    assert len(set(stops)) >= 2 and shown == [source[number - 1] for number in stops]
    assert "def kernel(" in out.getvalue()


def breaks_inside(x):
    y = x * 2.0 + 1.0
    print("inside")
    return y * y + x


def calls_it(x):
    z = breaks_inside(x) * 3.0 + x
    return z * z - x


def test_functions_compiled_on_their_own_have_folders_too(tmp_path, capsys):
    with fail_unless_captured():
        f = jitted(calls_it)
        for _ in range(4):
            f(X)
    folders = {pathlib.Path(path).relative_to(tmp_path).parts[0] for path in pijit.dump(f, tmp_path)}
    assert folders == {"calls_it", "breaks_inside"}


def test_names_that_are_no_file_names_and_functions_without_entries(tmp_path):
    def inner(x):
        return x

    (path,) = pijit.dump(jitted(inner), tmp_path)
    assert pathlib.Path(path).relative_to(tmp_path).parts == (
        "test_names_that_are_no_file_names_and_functions_without_entries._locals_.inner", "explain.txt")


@pytest.mark.parametrize("wrong", [3, None, ["a"]])
def test_refuses_what_is_no_folder(wrong):
    with pytest.raises(TypeError, match="dump: folder must be a str or an os.PathLike, not"):
        pijit.dump(walk, wrong)


def wave(x, steps):
    u = x.copy()
    for _ in range(steps):
        u[1:-1] = u[1:-1] - 0.1 * u[1:-1] * (u[2:] - u[:-2])
    return (u * u).sum()


PARTS = ("graph_%s.txt", "passes_%s.txt", "plan_%s.txt", "kernel_%s.py")


def test_a_gradient_has_its_joint_function_and_the_parts_of_its_kernels(tmp_path, capsys):
    gradient = pijit.value_and_grad(jitted(wave, {"backend": "numba"}))
    found = texts(pijit.dump(gradient, tmp_path, X, 5))
    names = "joint_wave_segment_0", "joint_wave_segment_0_backward"
    assert set(found) == {"explain.txt", "joint.py"} | {part % name for part in PARTS for name in names}
    assert all("def %s(" % name in found["joint.py"] for name in names)
    assert "later calls are one kernel" in found["explain.txt"].splitlines()[0]
    assert "before passes:\ngraph %s\n" % names[1] in found[PARTS[1] % names[1]]
    assert "store into" in found[PARTS[2] % names[0]] and "def kernel" in found[PARTS[3] % names[0]]
    assert capsys.readouterr() == ("", "") and gradient._kernels is None


def test_a_gradient_with_an_auxiliary_result_has_its_kernels(tmp_path):
    gradient = pijit.grad(lambda x: ((x * x).sum(), x * 2.0), has_aux=True)
    assert "joint.py" in texts(pijit.dump(gradient, tmp_path, X))


def test_print_after_all_prints_the_kernels_of_gradients(capsys):
    gradient = pijit.grad(jitted(wave, {"backend": "numba", "print_after_all": True}))
    for _ in range(3):
        gradient(X, 5)
    out = capsys.readouterr().out
    assert "*** Kernel plan: joint_wave_segment_0 ***" in out
    assert "*** Graph passes: joint_wave_segment_0_backward ***" in out


def test_a_gradient_on_the_tape_has_its_explanation(tmp_path):
    (path,) = pijit.dump(pijit.grad(lambda x: x * 2.0 if str(x) else x), tmp_path, 3.0)
    assert "PJ510" in pathlib.Path(path).read_text() and path.endswith("explain.txt")
    with pytest.raises(TypeError, match="dump: a gradient is dumped for one call"):
        pijit.dump(pijit.grad(wave), tmp_path)
