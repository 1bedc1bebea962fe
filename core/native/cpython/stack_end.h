/* Where the C stack of a thread ends: part of run.c.
 *
 * A call of a JitFunction takes C stack, and up to 3.13 CPython counts levels instead of bytes. Programs that raise the recursion
 * limit far get a RecursionError shortly before the end. */
#ifndef PIJIT_CORE_STACK_END_H
#define PIJIT_CORE_STACK_END_H

#include <pthread.h>
#include <stdint.h>

#define STACK_RESERVE (256 * 1024)
#define SMALL_PART 4             /* of a small stack this part is kept; of any stack, so that a capture may begin */

/* The bounds of a thread's stack. A library may run code on another stack, of which nothing is known. */
typedef struct {
    uintptr_t low;               /* 0: nobody has asked yet */
    uintptr_t limit;             /* what is below this, and not below `low`, is close to the end */
    uintptr_t room;              /* what is not below this has room for a capture */
} StackBounds;

#define STACK_UNKNOWN {0, UINTPTR_MAX, 0}

static void
stack_bounds_set(StackBounds *bounds, uintptr_t low, size_t size)
{
    size_t part = size / SMALL_PART;
    bounds->low = low;
    bounds->limit = low + (part < STACK_RESERVE ? part : STACK_RESERVE);
    bounds->room = low + part;
}

static void
stack_bounds_find(StackBounds *bounds)
{
    stack_bounds_set(bounds, 1, 0);  /* nothing is close to the end of a stack that is not known */
#if defined(__APPLE__)
    size_t size = pthread_get_stacksize_np(pthread_self());
    stack_bounds_set(bounds, (uintptr_t)pthread_get_stackaddr_np(pthread_self()) - size, size);
#elif defined(__linux__)
    pthread_attr_t attributes;
    void *low;
    size_t size;
    if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
        if (pthread_attr_getstack(&attributes, &low, &size) == 0) {
            stack_bounds_set(bounds, (uintptr_t)low, size);
        }
        pthread_attr_destroy(&attributes);
    }
#endif
}

/* Whether an address on the stack is close to its end. */
static inline int
stack_is_low(StackBounds *bounds, uintptr_t address)
{
    if (address >= bounds->limit) {
        return 0;
    }
    if (bounds->low == 0) {
        stack_bounds_find(bounds);
    }
    return address < bounds->limit && address >= bounds->low;
}

#endif
