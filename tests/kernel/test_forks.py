"""Forked children of programs whose threads compile: none waits for a thread that it does not have."""

import os
import subprocess
import sys
import textwrap

import pytest

LIMIT = 120
"""Seconds after which a program hangs; they take about two."""

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks")

PRELUDE = """
import faulthandler, multiprocessing, os, signal, sys, threading, time
import numpy as np, pijit

CONFIG = dict(perf_statistics=False, cache=False)

def made(number):
    '''A jitted function whose kernel no other has.'''
    names = {}
    exec('def f(x):\\n  s = 0.0\\n  for i in range(len(x)): s += x[i] * %r\\n  return s' % float(number), names)
    return pijit.jit(names['f'], jit_config=CONFIG)

def right(number, kernels=None):
    f = made(number)
    answers = [f(np.ones(3)) for _ in range(2)] == [3.0 * number] * 2
    compiled = sum(one.kind == 'kernel' for entry in f.state.entries for one in entry.reports.segments)
    return answers and kernels in (None, compiled)

def child(run):
    '''Whether a child runs a function to its end, and that returns True.'''
    one = os.fork()
    if not one:
        faulthandler.dump_traceback_later(60, exit=True)
        os._exit(0 if run() is True else 1)
    return os.waitpid(one, 0)[1] == 0
"""


def run(program):
    """What a program prints, line by line; it must end in time."""
    done = subprocess.run([sys.executable, "-c", PRELUDE + textwrap.dedent(program)], timeout=LIMIT,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines(), done.stderr


@needs_fork
def test_children_compile_while_threads_of_the_parent_do():
    printed, errors = run("""
        over = []
        def work(first):
            number = first
            while not over:
                number += 1
                made(number)(np.ones(3))
        threads = [threading.Thread(target=work, args=(first,)) for first in (1000, 10**6)]
        [one.start() for one in threads]
        for number in range(6):
            time.sleep(0.1 * (number % 3))
            print(child(lambda: right(-1 - number, 1)))
        def process(number):
            os._exit(0 if right(number, 1) else 1)
        processes = [multiprocessing.get_context('fork').Process(target=process, args=(number,)) for number in (-8, -9)]
        [one.start() for one in processes]
        [one.join() for one in processes]
        print([one.exitcode for one in processes])
        over.append(1)
        [one.join() for one in threads]
        print(right(7))
    """)
    assert printed == ["True"] * 6 + ["[0, 0]", "True"], errors


@needs_fork
@pytest.mark.parametrize("module", ["pijit.cli.cold_functions", "pijit.function", "pijit.reporting.html_page",
                                    "pijit.core.bytecode.linker.link", "numba.core.codegen"])
def test_a_fork_waits_while_another_thread_imports(module):
    printed, errors = run("""
        import importlib
        module, inside = {!r}, threading.Event()
        class Slow:
            def find_spec(self, name, path=None, target=None):
                if name == module:
                    inside.set()
                    time.sleep(0.5)
        sys.meta_path.insert(0, Slow())
        def work():
            right(5)
            importlib.import_module(module)
        thread = threading.Thread(target=work)
        thread.start()
        print(inside.wait(60))
        print(child(lambda: right(6, 1) and importlib.import_module(module) is sys.modules[module]))
        thread.join()
        print(right(7, 1))
    """.format(module))
    assert printed == ["True"] * 3, errors


@needs_fork
@pytest.mark.parametrize("place", ["llvmlite.binding.ffi.lib._lock", "pijit.core.kernel.fork_safety.writing"])
def test_a_child_of_a_compiler_that_takes_too_long_says_that_it_compiles_nothing(place):
    printed, errors = run("""
        import gc, importlib, logging
        from pijit.core.kernel import fork_safety
        logging.basicConfig()
        before = made(1)
        print(before(np.ones(3)))
        fork_safety.WAIT = 0.1
        held, over = threading.Event(), threading.Event()
        module, _, name = {!r}.partition('ffi.lib')[0].rstrip('.').rpartition('.')
        lock = importlib.import_module(module) if module != 'llvmlite' else None
        lock = getattr(lock, name) if lock else importlib.import_module('llvmlite.binding.ffi').lib._lock
        def hold():
            with lock:
                held.set()
                over.wait()
        thread = threading.Thread(target=hold)
        thread.start()
        held.wait()
        def run():
            global before
            again = before(np.ones(3)) == 3.0
            del before
            gc.collect()
            f = made(2)
            return (again and right(3, kernels=0) and f(np.ones(3)) == 6.0 and 'PJ406' in str(pijit.explain(f))
                    and 'PJ406' in str(pijit.explain(made(8), np.ones(3))))
        print(child(run))
        over.set()
        thread.join()
        print(right(5), child(lambda: right(6)))
    """.format(place))
    assert printed == ["3.0", "True", "True True"], errors
    assert errors.count("PJ406") == 1


@needs_fork
def test_forks_in_the_middle_of_a_call():
    printed, _ = run("""
        def forks():
            answers.append(child(lambda: right(-2)))
            return 1.0
        def f(x):
            s = 0.0
            for i in range(2):
                s += x[i] * forks()
            return s
        answers = []
        f = pijit.jit(f, jit_config=CONFIG)
        print([float(f(np.ones(3))) for _ in range(2)], answers)

        from pijit.core import function_state
        make, answers, number = function_state.make_entry, [], [10]
        def run():
            number[0] += 1
            return right(number[0])
        def captures(*args):
            function_state.make_entry = make
            answers.append(child(run))
            return make(*args)
        function_state.make_entry = captures
        print(right(2, 1), answers)
    """)
    assert printed == ["[2.0, 2.0] " + str([True] * 4), "True [True]"]


@needs_fork
def test_a_signal_handler_forks_while_the_main_thread_waits_for_its_compiler():
    printed, _ = run("""
        from pijit.core.kernel.llvm import codegen
        main, answers = os.getpid(), []
        def handler(number, frame):
            if os.getpid() == main:
                one = os.fork()
                if one:
                    answers.append(os.waitpid(one, 0)[1])
                else:
                    faulthandler.dump_traceback_later(60, exit=True)
        signal.signal(signal.SIGUSR1, handler)
        object_code = codegen.object_code
        def slow(*args):
            if os.getpid() == main:
                os.kill(main, signal.SIGUSR1)
                time.sleep(0.3)
            return object_code(*args)
        codegen.object_code = slow
        answer = right(3)
        if os.getpid() != main:
            os._exit(0 if answer and right(4) else 1)
        print(answer, answers)
    """)
    assert printed == ["True [0]"]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="other systems have other object files")
def test_kernels_have_no_unwind_tables():
    """LLVM registers tables under a lock. Each thread takes it while it unwinds, as threads of 3.7 do to end."""
    printed, _ = run("""
        from pijit.core.kernel.llvm import codegen
        object_code, codes = codegen.object_code, []
        codegen.object_code = lambda *args: codes.append(object_code(*args)) or codes[-1]
        f = pijit.jit(lambda x, y: (np.exp(x[:, None] * y) * 3 + x.sum(), x[3], y @ x), jit_config=CONFIG)
        x = np.arange(5000.0)
        f(x[:200], x[:200]), f(x[:200], x[:200])
        print(right(8, 1), len(codes), any(b'eh_frame' in code for code in codes))
    """)
    answer, count, found = printed[0].split()
    assert answer == "True" and int(count) > 1 and found == "False"


@needs_fork
def test_a_function_that_another_thread_captured_is_captured_in_the_child():
    printed, _ = run("""
        inside, over = threading.Event(), threading.Event()
        from pijit.core import function_state
        make = function_state.make_entry
        def captures(*args):
            if threading.current_thread() is not threading.main_thread():
                inside.set()
                over.wait()
            return make(*args)
        function_state.make_entry = captures
        f = made(2)
        thread = threading.Thread(target=f, args=(np.ones(3),))
        thread.start()
        inside.wait()
        print(f(np.ones(3)), len(f.state.entries))
        print(child(lambda: f(np.ones(3)) == 6.0 and len(f.state.entries) == 1))
        over.set()
        thread.join()
    """)
    assert printed == ["6.0 0", "True"]


def test_calls_while_the_interpreter_ends():
    printed, _ = run("""
        class Last:
            def __init__(self, *found):
                self.found = found
            def __del__(self):
                f, x, write, finalizing = self.found
                write(1, b'%g %r' % (f(x), finalizing()))
        last = Last(made(2), np.ones(3), os.write, sys.is_finalizing)
    """)
    assert printed == ["6 True"]
