/* What tools of sys.monitoring listen to, on CPython 3.12 and 3.13. Part of breaker_*.c and monitoring_*.c, behind the
 * interpreter's own headers.
 *
 * A tool counts while its id is in use. One that gives its id back may leave events of code objects behind, as coverage does. */
#ifndef PIJIT_MONITORS_H
#define PIJIT_MONITORS_H

/* The tools that sys.monitoring lets programs use; those above are sys.settrace's and sys.setprofile's. */
#define MONITORING_TOOLS 6

/* A bit for each tool whose id is in use. */
static inline unsigned
monitors_in_use(const PyInterpreterState *interpreter)
{
    unsigned used = 0;
    for (int tool = 0; tool < MONITORING_TOOLS; tool++) {
        used |= (unsigned)(interpreter->monitoring_tool_names[tool] != NULL) << tool;
    }
    return used;
}

/* Whether a tool has events of all code on. `version` changes when those events do. */
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

/* Whether one of some tools has events of a code object on, or of one of a function in it. */
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
        PyObject *constant = PyTuple_GET_ITEM(code->co_consts, i);  /* borrowed */
        if (PyCode_Check(constant) && monitors_listen_to((PyCodeObject *)constant, used)) {
            return 1;
        }
    }
    return 0;
}

#endif
