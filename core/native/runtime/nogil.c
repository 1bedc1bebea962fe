/* Runtime functions for kernels that run without the GIL.
 *
 * Functions that make or release objects take the GIL for that time. Functions that compute do not. Functions on
 * objects that the program may reach from elsewhere are missing here. Kernels that call these keep the GIL. */
#include "launcher/abi.h"
#include "cpython/eval_breaker/eval_breaker.h"
#include "runtime/entries.h"
#include "runtime/gil.h"
#include "runtime/linalg/small_matmul.h"
#include "runtime/ufuncs/gufunc.h"

#define WITHOUT_GIL_SAME(name, count, words)
#define WITHOUT_GIL_OWN(name, count, words)
#define WITHOUT_GIL_NEVER(name, count, words)

#define WITHOUT_GIL_TAKES(name, count, words) \
    static int64_t nogil_##name(WORDS_##count words) \
    { \
        PyGILState_STATE gil = PyGILState_Ensure(); \
        int64_t answer = runtime_##name words; \
        PyGILState_Release(gil); \
        return answer; \
    }
#define ENTRY(name, result, gil, count, words) WITHOUT_GIL_##gil(name, count, words)

#include "runtime/entries.inc"

static int64_t
nogil_missing(void)
{
    error_set(PyExc_SystemError, "a kernel without the GIL called what needs it");
    return LAUNCHER_ERROR;
}

static int64_t
nogil_asked(int64_t signals)
{
    PyThreadState *tstate = PyGILState_GetThisThreadState(); /* borrowed */
    return tstate != NULL && breaker_asks(tstate);
}

#define ADDRESS_SAME(name) (void *)runtime_##name
#define ADDRESS_OWN(name) (void *)nogil_##name
#define ADDRESS_TAKES(name) (void *)nogil_##name
#define ADDRESS_NEVER(name) (void *)nogil_missing

void *const runtime_table_nogil[] = {
#define ENTRY(name, result, gil, count, words) ADDRESS_##gil(name),
#include "runtime/entries.inc"
};
