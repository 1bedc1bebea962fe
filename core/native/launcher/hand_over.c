/* Hand-over of answers from kernels that ran before their function had a frame, and the C API of this module.
 *
 * Such a kernel may leave where bytecode has to go on. Then its function gets a frame. Its linked code begins with
 * the call of the launcher, which returns the answer that the kernel has left, as if it had run there. The frame
 * identifies the call that an answer is for, from CPython 3.11 on the record of the run (launch_api.h). So other code
 * that runs meanwhile is not affected. Requests to the interpreter are held back until the answer is taken: bytecode
 * would not have seen them earlier either. */
#include "launcher/abi.h"
#include "launcher/answers.h"
#include "launcher/callbacks/c_callback.h"
#include "cpython/caller.h"
#include "launcher/timing/kernel_profile.h"
#include "launcher/launcher.h"
#include "module_inl.h"

HandOver *hand_overs;

static PyTypeObject *launcher_type; /* borrowed: static */

static void
hand_over_begin(HandOver *over, const void *running)
{
    over->running = running;
    over->taken = 0;
    over->outer = hand_overs;
    hand_overs = over;
    breaker_hold();
}

static void
hand_over_unlink(HandOver *over)
{
    HandOver **link = &hand_overs;
    while (*link != over) {
        link = &(*link)->outer;
    }
    *link = over->outer;
    over->taken = 1;
}

/* Whether an answer is that of a poll exit, whose linked code restores requests itself. */
static int
answer_polls(const Launcher *launcher, PyObject *answer)
{
    int is_value = answer != NULL && launcher->is_bare && Py_TYPE(answer) != &answer_type;
    for (Py_ssize_t i = 0; answer != NULL && !is_value && i < launcher->nexits; i++) {
        if (launcher->exits[i].poll && launcher->exits[i].id == PyTuple_GET_ITEM(answer, 0)) {
            return 1;
        }
    }
    return 0;
}

int
hand_over_take(Launcher *launcher, PyObject **answer)
{
    HandOver *over = hand_overs;
    const void *running = caller_running(PyThreadState_Get());
    while (over != NULL && over->running != running) {
        over = over->outer;
    }
    if (over == NULL) {
        return 0;
    }
    if (over->launcher != (PyObject *)launcher) {
        launcher->misses++;
        launcher->calls++;
        Py_INCREF(launcher->miss);
        *answer = launcher->miss;
        return 1;
    }
    hand_over_unlink(over);
    *answer = over->answer; /* moved */
    over->answer = NULL;
    if (*answer == NULL) {
        PyErr_Restore(over->type, over->value, over->traceback);
        over->type = over->value = over->traceback = NULL;
    }
    if (!answer_polls(launcher, *answer)) {
        breaker_restore();
    }
    return 1;
}

static void
hand_over_end(HandOver *over)
{
    if (!over->taken) {
        hand_over_unlink(over);
        breaker_restore();
    }
    Py_XDECREF(over->answer);
    Py_XDECREF(over->type);
    Py_XDECREF(over->value);
    Py_XDECREF(over->traceback);
}

static int
is_launcher(PyObject *object)
{
    return Py_TYPE(object) == launcher_type;
}

#if PY_VERSION_HEX >= 0x030B0000
const void *(*running_record)(void);
#endif

static void
set_running(const void *(*running)(void))
{
#if PY_VERSION_HEX >= 0x030B0000
    running_record = running;
#endif
}

static void
set_off(int (*off)(void))
{
    thread_off = off;
}

static LaunchAPI api = {LAUNCH_API_VERSION, launcher_launch, hand_over_begin, hand_over_end, is_launcher, &loop_windows,
                        &kernel_clock,      set_running,     span_begin,      span_end,      set_off};

int
launch_api_register(PyObject *module, PyTypeObject *type)
{
    launcher_type = type;
    return module_give(module, "_C_API", PyCapsule_New(&api, LAUNCH_API_CAPSULE, NULL));
}
