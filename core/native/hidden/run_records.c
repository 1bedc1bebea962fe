/* Records of running hidden functions.
 *
 * They are allocated on the heap: libraries that switch C stacks may move the contents of a stack, and end calls in any
 * order. */
#include "hidden/run_records.h"
#include "function/dispatch.h"
#include "function/marks/marks_inl.h"
#include "hidden/hidden.h"
#include "hidden/hidden_functions.h"
#include "hidden/make_function_inl.h"
#include "hidden/osr.h"
#include "hidden/thread_runs.h"

#define MOST_FREE 256

static RunRecord *free_records; /* owned; a free list, linked by `older` */

static int free_count;

RunRecord *
record_new(PyCodeObject *code, PyCodeObject *linked, PyObject *entrance)
{
    RunRecord *record = free_records; /* owned, given away */
    if (record != NULL) {
        free_records = record->older;
        free_count--;
    }
    else if ((record = PyMem_New(RunRecord, 1)) == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    Py_INCREF(code);
    Py_INCREF(linked);
    record->code = code;
    record->linked = linked;
    Py_XINCREF(entrance);
    record->entrance = entrance;
    record->payload = NULL;
    record->moves = 0;
    record->leaves = 0;
    return record;
}

static void
record_free(RunRecord *record)
{
    Py_DECREF(record->code);
    Py_DECREF(record->linked);
    Py_XDECREF(record->entrance);
    Py_XDECREF(record->payload);
    if (free_count >= MOST_FREE) {
        PyMem_Free(record);
        return;
    }
    record->older = free_records;
    free_records = record;
    free_count++;
}

static void
record_begin(RunRecord *record, PyFunctionObject *hidden)
{
    record->hidden = hidden;
    marks.shadow_frames++;
    record->newer = NULL;
    record->list = &here.newest;
    record->older = *record->list;
    if (record->older != NULL) {
        record->older->newer = record;
    }
    *record->list = record;
    if (record->leaves) {
        launch_api->hand_over(&record->over, (void *)record);
    }
}

static void
record_end(RunRecord *record)
{
    if (record->leaves) {
        launch_api->hand_over_end(&record->over);
    }
    *(record->newer != NULL ? &record->newer->older : record->list) = record->older;
    if (record->older != NULL) {
        record->older->newer = record->newer;
    }
    record_free(record);
}

/* Release a record whose linked code cannot run after all; the exception that is set stays set. */
static void
record_drop(RunRecord *record)
{
    if (record->leaves) {
        record->over.taken = 1;
        launch_api->hand_over_end(&record->over);
    }
    record_free(record);
}

const void *
record_running(void)
{
    return here.newest;
}

PyObject *
hook_arrive(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(args))
{
    RunRecord *record = here.newest;
    if (record == NULL || record->payload == NULL) {
        PyErr_SetString(PyExc_SystemError, "nothing was handed over to the function that runs");
        return NULL;
    }
    PyObject *payload = record->payload; /* moved */
    record->payload = NULL;
    return payload;
}

/* ---- Moves --------------------------------------------------------------------------------------------- */

/* Resume in the code of a Move, which is taken over, in place of *hidden. NEW reference, or NULL with an exception
 * set. */
static Py_NO_INLINE PyObject *
record_move(RunRecord *record, Move *move, PyFunctionObject **hidden)
{
    PyFunctionObject *next = hidden_make(*hidden, move->code); /* owned, then the caller's */
    if (next != NULL) {
        Py_SETREF(*hidden, next);
        record->hidden = next;
        Py_INCREF(move->code);
        Py_SETREF(record->linked, move->code);
        Py_XSETREF(record->payload, move->payload); /* moved */
        move->payload = NULL;
        record->moves++;
    }
    Py_DECREF(move);
    return next != NULL ? hidden_arrive(next) : NULL;
}

/* The final result of a hidden function, after all moves; `result` is taken over. */
static inline PyObject *
record_finish(RunRecord *record, PyObject **kept, PyFunctionObject **hidden, PyObject *result)
{
    while (result != NULL && Py_TYPE(result) == &Move_Type) {
        result = record_move(record, (Move *)result, hidden);
    }
    if (kept == NULL && record->entrance != NULL && record->moves == 0) {
        hidden_rest(*hidden, entrance_pooled(record->entrance));
    }
    else {
        Py_DECREF(*hidden);
    }
    record_end(record);
    return result;
}

/* ---- Runs ---------------------------------------------------------------------------------------------- */

PyObject *
record_run(RunRecord *record, PyObject **kept, PyFunctionObject *function, PyObject *const *args, size_t nargsf,
           PyObject *kwnames)
{
    PyFunctionObject *hidden = kept != NULL ? hidden_find(kept, function, record->linked)
                                            : hidden_take(record->entrance, function, record->linked); /* owned */
    if (hidden == NULL || hidden_refresh(hidden, function) < 0) {
        Py_XDECREF(hidden);
        record_drop(record);
        return NULL;
    }
    record_begin(record, hidden);
    PyObject *result = PyObject_Vectorcall((PyObject *)hidden, args, nargsf, kwnames); /* owned, given away */
    return record_finish(record, kept, &hidden, result);
}

PyObject *
record_arrive(PyFunctionObject *function, PyCodeObject *code, PyObject *payload)
{
    PyFunctionObject *hidden = hidden_make(function, code);                   /* owned */
    RunRecord *record = hidden != NULL ? record_new(code, code, NULL) : NULL; /* owned, then the run's */
    if (record == NULL) {
        Py_XDECREF(hidden);
        Py_DECREF(payload);
        return NULL;
    }
    record->payload = payload;
    record_begin(record, hidden);
    return record_finish(record, NULL, &hidden, hidden_arrive(hidden));
}
