/* The runtime table: the functions that kernels call, and the start of the runtime.
 *
 * entries.inc documents every entry. All take and return int64_t, so that generated code needs one kind of call. The
 * first argument of most is the frame, whose word 1 points to the references that this call owns. NumPy makes NumPy
 * objects, by its allocator, its rules for bases and its assignment. */
#include "cpython/eval_breaker/eval_breaker.h"
#include "launcher/abi.h"
#include "runtime/arrays/array_cache.h"
#include "runtime/arrays/buffer_pool.h"
#include "runtime/arrays/large_results.h"
#include "runtime/entries.h"
#include "runtime/iteration/iteration_order.h"
#include "runtime/iteration/iteration_plan.h"
#include "runtime/linalg/small_matmul.h"
#include "runtime/objects/deques.h"
#include <fenv.h>
#include "runtime/objects/stores.h"
#include "runtime/runtime_inl.h"
#include "runtime/thread_pool.h"
#include "runtime/ufuncs/error_state.h"
#include "runtime/ufuncs/loops.h"
#include "runtime/ufuncs/random.h"
#include "runtime/ufuncs/symbols.h"

int64_t
runtime_clear_exception(void)
{
    PyErr_Clear();
    return OK;
}

int64_t
runtime_asked(int64_t signals)
{
    return breaker_polled(signals != 0);
}

/* NEW reference to a function in Python that does nothing; NULL with an exception set. */
static PyObject *
idle_new(void)
{
    PyObject *names = PyDict_New(); /* owned */
    PyObject *idle = names != NULL && PyDict_SetItemString(names, "__builtins__", PyEval_GetBuiltins()) == 0
                         ? PyRun_String("lambda: None", Py_eval_input, names, names)
                         : NULL; /* owned, given away */
    Py_XDECREF(names);
    return idle;
}

int64_t
runtime_served(void)
{
    static PyObject *idle; /* owned */
    fexcept_t flags;       /* those of the kernel, which the code that runs must not change */
    if (idle == NULL && (idle = idle_new()) == NULL) {
        return LAUNCHER_ERROR;
    }
    fegetexceptflag(&flags, FE_ALL_EXCEPT);
    PyObject *done = PyObject_CallObject(idle, NULL); /* owned; the interpreter handles requests where it begins */
    fesetexceptflag(&flags, FE_ALL_EXCEPT);
    Py_XDECREF(done);
    return done != NULL ? OK : LAUNCHER_ERROR;
}

int64_t
runtime_parallel(int64_t body, int64_t arguments, int64_t count, int64_t align, int64_t work, int64_t least)
{
    pool_run((PoolBody)body, (int64_t *)arguments, count, align, work, least);
    return OK;
}

void *const runtime_table[] = {
#define ENTRY(name, result, gil, count, words) (void *)runtime_##name,
#include "runtime/entries.inc"
};

/* One line for each entry: its name, its result, its use of the GIL and its words, as in entries.inc. */
static const char entry_lines[] =
#define ENTRY(name, result, gil, count, words) #name " " #result " " #gil " " #words "\n"
#include "runtime/entries.inc"
    ;

int
runtime_register(PyObject *module)
{
    if (PyType_Ready(&block_type) < 0 || nest_probe() < 0 || iterator_probe() < 0 || loops_probe() < 0 || results_probe() < 0
        || deques_ready() < 0 || quiet_ends_init() < 0 || errors_find() < 0
        || PyModule_AddFunctions(module, symbol_functions) < 0 || PyModule_AddFunctions(module, draw_functions) < 0
        || PyModule_AddIntConstant(module, "RESULTS_COME_BACK", results_come_back()) < 0
        || PyModule_AddFunctions(module, product_functions) < 0) {
        return -1;
    }
    array_cache_start();
    PyObject *address = PyLong_FromVoidPtr((void *)runtime_table); /* owned */
    int status = address == NULL ? -1 : PyObject_SetAttrString(module, "RUNTIME_TABLE", address);
    Py_XDECREF(address);
    return status < 0 ? -1 : PyModule_AddStringConstant(module, "RUNTIME_ENTRIES", entry_lines);
}
