/* Tools of sys.monitoring, from CPython 3.12 on: part of monitoring_312.c and monitoring_313_314.c.
 *
 * The interpreter counts a version up when a tool asks for other events of all code. While that is the version last seen,
 * nothing has changed. Events of one code object are in what that has about monitoring. */
#ifndef PIJIT_CORE_MONITORING_H
#define PIJIT_CORE_MONITORING_H

#include "thread_311.h"

/* The tools that sys.monitoring lets programs use; those above are sys.settrace's and sys.setprofile's. */
#define TOOLS 6
#define TOOL_BITS ((1 << TOOLS) - 1)

static struct {
    uint64_t version;
    int events;                  /* whether a tool has events of all code on */
} seen = {UINT64_MAX, 0};

/* Whether a tool has asked for events of all code: 1, 0, or -1 with an exception set. */
static int
tools_ask(void)
{
    PyObject *monitoring = PySys_GetObject("monitoring");  /* borrowed */
    int found = monitoring == NULL ? -1 : 0;
    for (int tool = 0; found == 0 && tool < TOOLS; tool++) {
        PyObject *events = PyObject_CallMethod(monitoring, "get_events", "i", tool);  /* owned */
        found = events == NULL ? -1 : PyObject_IsTrue(events);
        Py_XDECREF(events);
    }
    return found;
}

/* Whether a tool has events on, at this version. Where that cannot be told, it has. */
static int
tools_have_events(uint64_t version)
{
    if (version != seen.version) {
        int events = tools_ask();
        if (events < 0) {
            PyErr_Clear();
            return 1;
        }
        seen.version = version;
        seen.events = events;
    }
    return seen.events;
}

/* Whether a tool has asked for events of a code object. */
static int
code_has_events(PyCodeObject *code)
{
    if (code->_co_monitoring == NULL) {
        return 0;
    }
    const uint8_t *tools = code->_co_monitoring->local_monitors.tools;
    for (size_t i = 0; i < sizeof(code->_co_monitoring->local_monitors.tools); i++) {
        if (tools[i] & TOOL_BITS) {
            return 1;
        }
    }
    return 0;
}

#endif
