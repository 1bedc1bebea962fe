/* Events that tools of sys.monitoring listen to, on CPython 3.12 and 3.13.
 *
 * Included by eval_breaker_*.c and monitoring_*.c. Only internal headers declare the state of the interpreter, so other
 * headers follow, or Py_BUILD_CORE is defined before them. A tool counts while its id is in use: a tool that frees its
 * id may leave events of code objects on, as coverage does. */
#ifndef PIJIT_CPYTHON_EVAL_BREAKER_MONITORING_TOOLS_INL_H
#define PIJIT_CPYTHON_EVAL_BREAKER_MONITORING_TOOLS_INL_H

#ifndef Py_BUILD_CORE
#define Py_BUILD_CORE
#endif
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <internal/pycore_interp.h>

/* The number of tool ids that programs can use; the ids above them belong to sys.settrace and sys.setprofile. */
#define MONITORING_TOOLS 6

/* A bit mask of the tools whose id is in use. */
static inline unsigned
monitors_in_use(const PyInterpreterState *interpreter)
{
    PyObject *const *names = interpreter->monitoring_tool_names; /* borrowed */
    unsigned used = 0;
    if (((uintptr_t)names[0] | (uintptr_t)names[1] | (uintptr_t)names[2] | (uintptr_t)names[3] | (uintptr_t)names[4]
         | (uintptr_t)names[5])
        == 0) {
        return 0; /* a call costs no loop where no program asks for events */
    }
    for (int tool = 0; tool < MONITORING_TOOLS; tool++) {
        used |= (unsigned)(interpreter->monitoring_tool_names[tool] != NULL) << tool;
    }
    return used;
}

/* Whether a tool has switched on events of all code. `version` changes when those events do. */
static inline int
monitors_listen(const PyInterpreterState *interpreter, uint64_t version)
{
    static uint64_t known_version = UINT64_MAX;
    static unsigned listening;
    unsigned used = monitors_in_use(interpreter);
    if (used == 0) {
        return 0;
    }
    if (version != known_version) {
        listening = 0;
        for (size_t event = 0; event < sizeof(interpreter->monitors.tools); event++) {
            listening |= interpreter->monitors.tools[event];
        }
        known_version = version;
    }
    return (listening & used) != 0;
}

/* Whether one of the tools `used` has switched on events of a code object, or of one nested in it. */
static inline int
monitors_listen_to(PyCodeObject *code, unsigned used)
{
    if (code->_co_monitoring != NULL) {
        const uint8_t *tools = code->_co_monitoring->local_monitors.tools;
        for (size_t event = 0; event < sizeof(code->_co_monitoring->local_monitors.tools); event++) {
            if (tools[event] & used) {
                return 1;
            }
        }
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(code->co_consts); i++) {
        PyObject *constant = PyTuple_GET_ITEM(code->co_consts, i); /* borrowed */
        if (PyCode_Check(constant) && monitors_listen_to((PyCodeObject *)constant, used)) {
            return 1;
        }
    }
    return 0;
}

#endif
