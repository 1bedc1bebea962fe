/* Exits: the part of a launcher's answer that is inlined into the hot path. */
#ifndef PIJIT_LAUNCHER_EXITS_INL_H
#define PIJIT_LAUNCHER_EXITS_INL_H

#include "cpython/eval_breaker/eval_breaker.h"
#include "launcher/exits.h"
#include "launcher/marshal/outputs_inl.h"

/* The path of a call from linked code to the kernel is one function. */
#define ALWAYS_INLINE static inline __attribute__((always_inline))

/* The caller's globals, and how the call has ended. */
typedef struct {
    PyObject *globals; /* borrowed; NULL: those of the calling frame */
    Left *left;        /* for a function without a frame; else NULL */
    int returned, landed;
} Caller;

/* The answer for one exit: new reference. The GIL is held. */
ALWAYS_INLINE PyObject *
exit_build(Launcher *self, int64_t left, ValueSource *source, Caller *caller)
{
    int64_t id = left & (((int64_t)1 << CAUSE_SHIFT) - 1), cause = left >> CAUSE_SHIFT;
    if (left >= 0 && cause > 0) {
        cause_count(self, cause);
    }
    if (left < 0 || id >= self->nexits) {
        return unknown_exit(self, left);
    }
    Exit *exit = &self->exits[id];
    if (caller->left != NULL && exit->returns) {
        exit->taken++;
        caller->returned = 1;
        return output_build(&exit->items[exit->count - 1], source);
    }
    if (caller->left != NULL && id < caller->left->nexits && caller->left->lands[id] == exit->count + 1) {
        exit->taken++;
        caller->landed = 1;
        return exit_land(exit, id, source, caller->left);
    }
    int hold = exit->poll || (exit->held != NULL && breaker_is_set());
    PyObject *only = NULL; /* owned, then the result or its last item */
    if (exit->bare && !hold && !self->gate.exists) {
        only = output_value(&exit->items[0], source);
        if (only == NULL || answers_itself(only)) {
            exit->taken += only != NULL;
            return only;
        }
    }
    return tuple_answer(self, exit, hold, only, source);
}

#endif
