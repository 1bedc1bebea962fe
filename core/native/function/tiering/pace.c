/* The rate at which calls of a function ask the cache: what is not on the path of each call. */
#include "function/dispatch.h"
#include "function/tiering/entry_timing_inl.h"

int
cache_in_vain(const GuardsAPI *guards, PyObject *cache)
{
    int in_vain = 1;
    PyObject *payload; /* borrowed */
    for (Py_ssize_t i = 0; in_vain && (payload = guards->cache_payload(cache, i)) != NULL; i++) {
        in_vain = timing_payload(payload) == Py_None;
    }
    return in_vain;
}
