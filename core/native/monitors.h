/* Whether a tool of sys.monitoring listens to events of all code (CPython 3.12 and 3.13). Part of breaker_*.c. */
#ifndef PIJIT_MONITORS_H
#define PIJIT_MONITORS_H

/* The bits of the six tools that programs may use; sys.settrace and sys.setprofile have the others. */
#define MONITORING_TOOLS 0x3F

/* `version` changes when the monitors do. */
static inline int
monitors_listen(const _Py_GlobalMonitors *monitors, uint64_t version)
{
    static uint64_t known_version;
    static unsigned listening;
    if (version != known_version) {
        listening = 0;
        for (size_t event = 0; event < sizeof(monitors->tools); event++) {
            listening |= monitors->tools[event];
        }
        known_version = version;
    }
    return (listening & MONITORING_TOOLS) != 0;
}

#endif
