/* The frame of a kernel run: what is in it besides the inputs; inlined functions. */
#ifndef PIJIT_LAUNCHER_KERNEL_FRAME_INL_H
#define PIJIT_LAUNCHER_KERNEL_FRAME_INL_H

#include "cpython/eval_breaker/eval_breaker.h"
#include "launcher/launcher.h"
#include <string.h>

/* Prepare a frame whose inputs are set. `owned` is cleared by owned_clear when the exit's values have been read. */
static inline void
frame_begin(const Launcher *launcher, int64_t *frame, OwnedList *owned)
{
    owned->count = 0;
    owned->capacity = OWNED_INLINE;
    owned->items = owned->inline_items;
    owned->kept_end = 0;
    owned->kept_next = 0;
#if BREAKER_PER_THREAD
    owned->breaker = breaker_word();
#endif
    frame[0] = (int64_t)(launcher->nogil ? runtime_table_nogil : runtime_table);
    frame[1] = (int64_t)owned;
    memset(frame + launcher->output_word, 0, (launcher->words - launcher->output_word) * sizeof(int64_t));
}

#endif
