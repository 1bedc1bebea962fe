/* The state of the frame hook, and its installation.
 *
 * All state belongs to the process and is guarded by the GIL, except `here`, which belongs to the thread. */
#include "hook/install.h"

HookState hook;

__thread HookThread here;

void
hook_acquire(void)
{
    hook.needs++;
    Evaluator current = evaluator_get();
    if (current == evaluator_hook()) {
        return;
    }
    /* Another hook was installed over this one and calls it: installing this one over it would make an endless loop. */
    if (hook.linked && current != evaluator_default()) {
        return;
    }
    hook.previous = current;
    hook.linked = 1;
    evaluator_set(evaluator_hook());
}

void
hook_drop(void)
{
    if (--hook.needs > 0 || evaluator_get() != evaluator_hook()) {
        return;
    }
    evaluator_set(hook.previous);
    hook.linked = 0;
}
